"""How many bodies a clustering parts: clusters are one body where the border between them has no valley.

Along one line a valley can be tested: Hartigan and Hartigan's dip is the least distance of their distribution to one
with a single mode, and what chance makes of it is known.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..tensors import Floats, Ints, Places
from .borders import NEAR, Border
from .evidence import Evidence, Surroundings
from .verdicts import without_valley

# Root of n times the dip of n even values, the hardest of all distributions with one mode: 95 of 100 draws are below.
_CHANCE_DIP = 0.53
# Share of the variance along its leading direction from which on a set of points is a line.
_STRAIGHT = 0.99


def count_bodies(around: Surroundings, evidence: Evidence) -> int:
    """Bodies that a clustering parts; clusters of very few points, which have no inside, are none.

    Two clusters that touch are one body unless their border lies in a valley, or the line through their middles shows
    two modes. Of values on a line this test alone decides: the graph takes every chance gap for a valley.
    """
    on_line = _lie_on_a_line(around)
    joined = [border for border in evidence.borders if not _parts(border, around, evidence.codes, on_line)]
    n_clusters = len(evidence.sizes)
    ends = ([border.first for border in joined], [border.second for border in joined])
    links = sparse.csr_array((np.ones(len(joined)), ends), shape=(n_clusters, n_clusters))
    body = connected_components(links, directed=False)[1]
    return len({body[k] for k in range(n_clusters) if k not in evidence.lone and k not in evidence.unseen})


def _lie_on_a_line(around: Surroundings) -> bool:
    """Whether neighbours lie before and behind a point, and the whole along one straight line."""
    if around.dimension >= 1.5:
        return False
    weights = around.weights[around.drawn]
    covariance = np.cov(around.X[around.drawn], rowvar=False, aweights=weights, dtype=np.float64)
    spread = np.linalg.eigvalsh(np.atleast_2d(covariance))
    return bool(spread[-1] > _STRAIGHT * spread.sum())


def _parts(border: Border, around: Surroundings, codes: Ints, on_line: bool) -> bool:
    """Whether the border parts two bodies."""
    if not on_line and without_valley(border) <= 0.5:
        return True
    sides = [around.drawn[codes == k] for k in (border.first, border.second)]
    first, second = (around.X[side].astype(np.float64) for side in sides)
    across = second.mean(axis=0) - first.mean(axis=0)
    # Of a far larger cluster only what is near the border counts: the dip does not see a mode of few points.
    most = NEAR * min(len(first), len(second))
    one, two = first @ across, second @ across
    near = np.concatenate([sides[0][np.argsort(-one)[:most]], sides[1][np.argsort(two)[:most]]])
    return has_two_modes(around.X[near] @ across, around.weights[near])


def has_two_modes(values: Floats, weights: Floats | None = None) -> bool:
    """Whether values on a line have a valley that chance does not make, at the level of 5 %.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(0).normal(size=200)
    >>> has_two_modes(values), has_two_modes(np.r_[values, values + 4])
    (False, True)
    """
    return bool(np.sqrt(len(values)) * dip(values, weights) > _CHANCE_DIP)


def dip(values: Floats, weights: Floats | None = None) -> float:
    r"""Hartigan and Hartigan's dip, :math:`\min_G \sup_x |F(x) - G(x)|` over the distributions G with one mode.

    G is convex up to its mode and concave beyond. The interval that holds the mode shrinks until the greatest convex
    minorant and the least concave majorant of F are nowhere farther apart in it than what was left outside.

    Examples
    --------
    >>> import numpy as np
    >>> round(dip(np.arange(10.0)), 3), dip(np.array([0.0, 1.0]), weights=np.array([5.0, 5.0]))
    (0.05, 0.25)
    """
    x, place = np.unique(values, return_inverse=True)
    upto = np.cumsum(np.bincount(place, weights)) / (len(values) if weights is None else weights.sum())
    before = np.r_[0.0, upto[:-1]]
    low, high, apart = 0, len(x) - 1, 0.0
    while True:
        below, above = _hull(x, before, low, high), _hull(x, -upto, low, high)
        inside = slice(low, high + 1)
        minorant = np.interp(x[inside], x[below], before[below])
        majorant = np.interp(x[inside], x[above], upto[above])
        knots = np.union1d(below, above) - low
        widest = int(knots[np.argmax((majorant - minorant)[knots])])
        if majorant[widest] - minorant[widest] <= apart:
            break
        left, right = int(below[below <= low + widest][-1]), int(above[above >= low + widest][0])
        outside = (upto[inside] - minorant)[: left - low + 1], (majorant - before[inside])[right - low :]
        apart = max(apart, float(outside[0].max()), float(outside[1].max()))
        if (left, right) == (low, high):
            break
        low, high = left, right
    return apart / 2


def _hull(x: Floats, y: Floats, low: int, high: int) -> Places:
    """Knots of the lower convex hull of the points from `low` to `high`."""
    knots: list[int] = []
    for i in range(low, high + 1):
        while len(knots) > 1:
            a, b = knots[-2], knots[-1]
            if (x[b] - x[a]) * (y[i] - y[a]) > (x[i] - x[a]) * (y[b] - y[a]):
                break
            knots.pop()
        knots.append(i)
    return np.array(knots)
