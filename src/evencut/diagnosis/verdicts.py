"""From measures to verdicts: one for every border and every cluster, with a confidence.

The constants of borders were chosen on generated clusterings of known truth (`benchmarks/diagnosis.py`) and judged on
others. The confidence of a report was measured on the tuning half of the labelled public sets by seven methods
(`benchmarks/diagnosis_trust.py`); the other half tests it. A bias is right where the reference labels disagree with the
clustering, ok and overlap where it agrees with them or nothing better is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm

from ..tensors import AnyFloats, Floats, Ints, Places
from .borders import NEAR, TINY, Border, Measures, TinyCluster
from .neighbor_table import NeighborTable

if TYPE_CHECKING:
    from .report import TriedCure


#: Every border lies in a valley of the density, or in a gap.
OK = "ok"
#: A dense piece cut out of a larger body (Breiman's bias).
MODE_ISOLATION = "mode isolation"
#: A few sparse or isolated points split off.
SPARSE_SUBSET = "sparse subset"
#: A body cut through into parts of like size.
EQUAL_SIZES = "equal sizes"
#: A border through a dense region where nothing that was tried finds a valley: density cannot tell.
OVERLAP = "overlap"
#: A part of one body: no border has a valley, neither a given one nor any that was tried.
ONE_BODY = "one body"
#: Labels that neither the neighbours of a point nor its density tell anything about.
UNRELATED = "unrelated"
#: Not ok, but of so few points that chance makes such borders, too.
TOO_FEW = "too few points"
#: The verdicts that call a clustering biased.
BIASES = (MODE_ISOLATION, SPARSE_SUBSET, EQUAL_SIZES)
#: What a cluster can be.
VERDICTS = (OK, *BIASES, OVERLAP, ONE_BODY, UNRELATED, TOO_FEW)

# A border has no valley when its score passes this; the steepness turns the distance from it into a confidence.
_THRESHOLD, _STEEPNESS = -0.67, 5.0
# A border that touches less than this share of a cluster is one with an island of strays.
_ISLAND = 0.1
# A cluster of this share of its neighbour, or more, is a part of like size.
_LIKE_SIZE = 0.5
# A difference of log density that a cut through an even body does not have.
_CONTRAST = 0.5
# A piece of this share of its neighbour is no part of like size, whatever its density.
_TINY = 0.1
# A difference of log density that makes the denser of two parts of like size a mode.
_STARK = 1.5


@dataclass(frozen=True)
class Finding:
    """The verdict on one cluster, its confidence from 0.5 to 1, and the border it rests on."""

    verdict: str
    confidence: float
    border: Border | None = None


def judge(measures: Measures) -> list[Finding]:
    """A finding for each cluster: the worst of its borders, or of its isolation where it is very small."""
    findings = []
    for cluster in range(len(measures.sizes)):
        if cluster in measures.shadowed:
            findings.append(Finding(OVERLAP, 1.0))
            continue
        if cluster in measures.tiny:
            findings.append(_judge_tiny(measures.tiny[cluster]))
            continue
        mine = [border for border in measures.borders if cluster in (border.first, border.second)]
        findings.append(_worst([_judge_border(border, cluster, measures.sizes) for border in mine]))
    return findings


def overall_verdict(findings: Sequence[Finding], sizes: AnyFloats) -> tuple[str, float]:
    """The verdict that touches most points, each counted by its confidence; a bias before overlap, ok last.

    A few stragglers as a cluster of their own come first: they cost the others a cluster, and so a border. The
    confidence is that of the surest cluster; of ok, that of the least sure one.
    """
    stragglers = [f.confidence for f in findings if f.verdict == SPARSE_SUBSET and f.border is None]
    if stragglers:
        return SPARSE_SUBSET, max(stragglers)
    for kinds in (BIASES, (OVERLAP,), (ONE_BODY,), (UNRELATED,), (TOO_FEW,)):
        weight = dict.fromkeys(kinds, 0.0)
        for finding, size in zip(findings, sizes):
            if finding.verdict in kinds:
                weight[finding.verdict] += size * finding.confidence
        verdict = max(weight, key=lambda kind: weight[kind])
        found = [finding.confidence for finding in findings if finding.verdict == verdict]
        if found:
            return verdict, max(found)
    return OK, min(finding.confidence for finding in findings)


def share_without_valley(findings: Sequence[Finding], sizes: AnyFloats) -> float:
    """How much of the clustering is not ok, in points or in clusters, whichever is more; each by its confidence.

    A few stragglers as a cluster of their own are few points, but half of two clusters.
    """
    wrong = np.array([finding.confidence * (finding.verdict != OK) for finding in findings])
    return float(max(wrong @ sizes / sizes.sum(), wrong.mean()))


def without_valley(border: Border) -> float:
    """Chance, from 0 to 1, that the border runs through a body instead of a valley of the density.

    It adds up how wide the border is against cuts parallel to it, how much of its surroundings is sparser than
    its highest pass, and how little the density climbs from that pass to the nearest peak on the flatter side.
    """
    if border.reach < _ISLAND:
        return 0.0  # a few strays of one cluster beside the other say nothing about either
    score = max(border.bottleneck, -5.0) + 0.5 * max(border.level) - 0.25 * min(border.climb)
    return float(1 / (1 + np.exp(-_STEEPNESS * (score - _THRESHOLD))))


def kind_of(border: Border, sizes: AnyFloats) -> tuple[str, tuple[int, ...]]:
    """What a border without a valley means, and the clusters to blame.

    The smaller cluster is the piece cut out: of a denser kind it is a mode, of a sparser kind a rim. Parts of
    like size and like density share the blame.
    """
    small, large = border.first, border.second
    contrast = border.contrast
    if sizes[small] > sizes[large]:
        small, large, contrast = large, small, -contrast
    ratio = sizes[small] / sizes[large]
    if ratio < _LIKE_SIZE:
        # The smaller the piece, the less contrast is needed to tell a mode or a rim from a part of like size.
        needed = _CONTRAST * np.clip((ratio - _TINY) / (_LIKE_SIZE - _TINY), 0, 1)
        if abs(contrast) >= needed:
            return (MODE_ISOLATION if contrast > 0 else SPARSE_SUBSET), (small,)
    elif abs(contrast) > _STARK:
        return MODE_ISOLATION, (small if contrast > 0 else large,)
    return EQUAL_SIZES, (small, large)


def _judge_border(border: Border, cluster: int, sizes: AnyFloats) -> Finding:
    chance = without_valley(border)
    if chance <= 0.5:
        return Finding(OK, 1 - chance, border)
    kind, blamed = kind_of(border, sizes)
    if cluster not in blamed:
        return Finding(OK, chance, border)
    return Finding(kind, chance, border)


def _judge_tiny(tiny: TinyCluster) -> Finding:
    """A few points: sparse, dense within a denser neighbourhood, or a small clump with a gap around it."""
    if tiny.density < 0.5:
        return Finding(SPARSE_SUBSET, 1 - tiny.density)
    if tiny.gap > 3.0:
        return Finding(OK, 0.6)
    return Finding(MODE_ISOLATION, tiny.density)


def _worst(findings: list[Finding]) -> Finding:
    """The surest bias; where there is none, the least sure acquittal."""
    biased = [finding for finding in findings if finding.verdict != OK]
    if biased:
        return max(biased, key=lambda finding: finding.confidence)
    return min(findings, key=lambda finding: finding.confidence, default=Finding(OK, 1.0))


# Root of n times the dip of n even values, the hardest of all distributions with one mode: 95 of 100 draws are below.
_CHANCE_DIP = 0.53
# Share of the variance along its leading direction from which on a set of points is a line.
_STRAIGHT = 0.99


def count_bodies(table: NeighborTable, measures: Measures) -> int:
    """Bodies that a clustering parts; clusters of very few points, which have no inside, are none.

    Two clusters that touch are one body unless their border lies in a valley, or the line through their middles shows
    two modes. Of values on a line this test alone decides: the graph takes every chance gap for a valley.
    """
    on_line = _lie_on_a_line(table)
    joined = [border for border in measures.borders if not _separates(border, table, measures.codes, on_line)]
    n_clusters = len(measures.sizes)
    ends = ([border.first for border in joined], [border.second for border in joined])
    links = sparse.csr_array((np.ones(len(joined)), ends), shape=(n_clusters, n_clusters))
    body = connected_components(links, directed=False)[1]
    return len({body[k] for k in range(n_clusters) if k not in measures.tiny and k not in measures.shadowed})


def _lie_on_a_line(table: NeighborTable) -> bool:
    """Whether neighbours lie before and behind a point, and the whole along one straight line."""
    if table.dimension >= 1.5:
        return False
    weights = table.weights[table.drawn]
    covariance = np.cov(table.X[table.drawn], rowvar=False, aweights=weights, dtype=np.float64)
    spread = np.linalg.eigvalsh(np.atleast_2d(covariance))
    return bool(spread[-1] > _STRAIGHT * spread.sum())


def _separates(border: Border, table: NeighborTable, codes: Ints, on_line: bool) -> bool:
    """Whether the border parts two bodies."""
    if not on_line and without_valley(border) <= 0.5:
        return True
    sides = [table.drawn[codes == k] for k in (border.first, border.second)]
    first, second = (table.X[side].astype(np.float64) for side in sides)
    across = second.mean(axis=0) - first.mean(axis=0)
    # Of a far larger cluster only what is near the border counts: the dip does not see a mode of few points.
    most = NEAR * min(len(first), len(second))
    one, two = first @ across, second @ across
    near = np.concatenate([sides[0][np.argsort(-one)[:most]], sides[1][np.argsort(two)[:most]]])
    return has_two_modes(table.X[near] @ across, table.weights[near])


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


#: Two clusters with an inside, or nothing is told but gaps.
MIN_POINTS = 2 * TINY
# Labels are related to the points if the clusters have a tenth fewer edges between them than chance would give.
_RELATED = 0.1
# Standard errors by which chance may miss what it gives in the mean, and quantiles of density by which it may.
_ERRORS, _DENSITY = 3.0, 0.1


def probability_unrelated(table: NeighborTable, measures: Measures) -> float:
    r"""Chance, from 0 to 1, that labels have nothing to do with the points: neither with neighbours nor with density.

    The weight of the edges between clusters, in the neighbour graph, is compared with that of labels in random order,
    :math:`\sum_k v_k (1 - v_k / v)` for volumes v: the agreement is 1 where no edge leaves a cluster, 0 by chance.
    Scattered outliers agree with no neighbour either, but are sparse; so the median density of every cluster must be
    that of all points, too. Clusters of very few points are left out; 0 where fewer than two others are left.
    """
    counts = np.bincount(measures.codes, minlength=len(measures.sizes))
    asked = counts >= TINY
    if not asked.any():
        asked = counts > 0
    if asked.sum() < 2:
        return 0.0
    volume = np.bincount(measures.codes, table.graph.sum(axis=1), len(counts))
    cut = float(measures.conductance[asked] @ volume[asked])
    by_chance = float(volume[asked] @ (1 - volume[asked] / volume.sum()))
    agreement = 1 - cut / by_chance
    share = by_chance / volume[asked].sum()
    error = np.sqrt((1 - share) / share / (table.graph.nnz / 2 * asked @ volume / volume.sum()))
    off = np.abs(measures.density[asked] - 0.5) - 0.5 * _ERRORS / np.sqrt(counts[asked])
    if off.max() > _DENSITY:
        return 0.0
    return float(norm.cdf((max(_RELATED, _ERRORS * error) - agreement) / error))


# Of a bias: a cure is offered; one is better but not offered; none is better; none was tried.
_OFFERED, _BETTER, _HELPLESS, _UNTRIED = 0.98, 0.93, 0.94, 0.82
# Of ok: offset, and slope over how clear its least clear border is.
_OK = (2.39, 0.88)
# Of overlap, and of one body, which is too rare in the sets for a curve of its own: offset, slope over
# how clearly a border has no valley, and what it adds that the cure draws it again.
_OVERLAP, _AGAIN = (4.54, -5.00), 0.32


def calibrated(verdict: str, clarity: float, cures: Sequence[TriedCure], n_points: int) -> float:
    """The confidence of a verdict whose borders are so clear (0.5 to 1), after these cures were tried.

    Examples
    --------
    >>> round(calibrated("ok", 1.0, [], 500), 2)
    0.96
    """
    if n_points < MIN_POINTS:
        return 0.5
    if verdict == UNRELATED:
        return clarity
    if verdict == OK:
        return _logistic(_OK[0] + _OK[1] * clarity)
    if verdict in (OVERLAP, ONE_BODY):
        again = _AGAIN if cures and not any(cure.moved for cure in cures) else 0.0
        return _logistic(_OVERLAP[0] + _OVERLAP[1] * clarity + again)
    if not cures:
        return _UNTRIED
    if any(cure.offered for cure in cures):
        return _OFFERED
    return _BETTER if any(cure.better for cure in cures) else _HELPLESS


def _logistic(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))
