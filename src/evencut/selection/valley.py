r"""A test of one split: is there a valley of the density between two clusters, below both of them?

Two clusters are always different, because they were cut apart. This test asks whether the points thin out between them.
A point is scored by the mean distance to its nearest points of one side minus that to the other side, itself and its
label left out. Along these scores there must be an interval less dense than an interval on its left *and* one on its
right; T is the largest over all intervals of the smaller of the two z scores. On uniform points, with the cut placed where it looks
best, T is distributed like the largest of 100 normal variables: :math:`p = \min(1, 100\, P(N > T))`.

On a curve or a sheet the score runs faster at the cut and bent ends look denser, so that up to three dimensions the
valley must be less dense than 0.8 of its sides (rising to 1 at five dimensions).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..tensors import Floats, Ints, Mask
from .graphs import NeighborGraphs, intrinsic_dimension

__all__ = ["Valley", "find_valley", "valleys_between"]

# Points of a side below which nothing can be said; points that are compared at most.
MIN_SIDE, MAX_POINTS = 8, 600


class Valley(NamedTuple):
    """The result of the test: its p value (NaN if a side is too small), and 1 - density / density of the sides."""

    p_value: float
    depth: float


def find_valley(X: Floats, side: Mask, max_points: int = MAX_POINTS) -> Valley:
    """Test whether the density has a valley between the points of two sides.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    side : boolean ndarray of shape (n,)
    max_points : int
        More points are thinned out evenly, on both sides alike.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> side = np.arange(300) < 150
    >>> bool(find_valley(X, X[:, 0] > 0).p_value > 0.05), bool(find_valley(X + 5 * side[:, None], side).p_value < 0.01)
    (True, True)
    """
    if len(X) > max_points:
        kept = np.concatenate([
            np.flatnonzero(side == one)[np.linspace(0, n - 1, int(np.ceil(max_points * n / len(X)))).astype(int)]
            for one in (False, True) if (n := int(np.sum(side == one)))
        ])  # fmt: skip
        X, side = X[kept], side[kept]
    if min(side.sum(), (~side).sum()) < MIN_SIDE:
        return Valley(float("nan"), float("nan"))
    X = X - X.mean(axis=0)
    covariance = np.atleast_2d(X.T @ X)
    # The number of axes that carry the variance (participation ratio).
    spread = np.trace(covariance) ** 2 / max((covariance**2).sum(), np.finfo(float).tiny)
    spaces = [X]
    if X.shape[1] > 5:
        left, lengths, _ = np.linalg.svd(X, full_matrices=False)
        spaces.append(left[:, :5] * lengths[:5])
    found = []
    for points in spaces:
        distances = _distances(points)
        nearest = np.sort(np.partition(distances, min(8, len(X) - 2), axis=1)[:, : min(8, len(X) - 2)], axis=1)
        dimension = min(intrinsic_dimension(np.hstack([np.zeros((len(X), 1)), nearest])), spread)
        limit = float(np.clip(0.8 + 0.1 * (dimension - 3), 0.8, 1.0))
        found.append(_deepest(_scores(distances, side), side, limit))
    statistic, depth = max(found)
    return Valley(min(1.0, 100 * float(ndtr(-statistic))), depth)


def valleys_between(graphs: NeighborGraphs, labels: Ints, max_pairs: int = 12) -> Floats:
    """The p values of pairs of clusters, each cluster beside the one that it touches most; 1 where nothing can be said."""
    n_clusters = int(labels.max()) + 1
    members = np.eye(n_clusters)[labels]
    touching = members.T @ (graphs.neighbor_graph @ members)
    np.fill_diagonal(touching, -1)
    pairs = dict.fromkeys(tuple(sorted((k, int(touching[k].argmax())))) for k in range(n_clusters))
    values = []
    for a, b in list(pairs)[:max_pairs]:
        rows = np.flatnonzero((labels == a) | (labels == b))
        values.append(find_valley(graphs.rows[rows], labels[rows] == a).p_value)
    return np.nan_to_num(np.array(values), nan=1.0)


def _distances(X: Floats) -> Floats:
    lengths = np.einsum("ij,ij->i", X, X)
    distances = np.sqrt(np.maximum(lengths[:, None] + lengths - 2 * X @ X.T, 0.0))
    np.fill_diagonal(distances, np.inf)
    return distances


def _scores(distances: Floats, side: Mask) -> Floats:
    """Mean distance to the nearest points of the first side less that to the second; as many as the root of a side."""
    means = []
    for one in (False, True):
        members = np.flatnonzero(side == one)
        n_nearest = max(1, min(len(members) - 1, max(3, int(np.sqrt(len(members))))))
        means.append(np.partition(distances[:, members], n_nearest - 1, axis=1)[:, :n_nearest].mean(axis=1))
    return means[0] - means[1]


def _deepest(scores: Floats, side: Mask, limit: float) -> tuple[float, float]:
    """The statistic and the depth of the deepest valley; intervals end at deciles of the scores of each side."""
    deciles = np.linspace(0, 1, 11)
    marks = np.unique(np.concatenate([np.quantile(scores[~side], deciles), np.quantile(scores[side], deciles)]))
    n_marks = len(marks)
    if n_marks < 4:
        return -9.0, 0.0
    below = np.searchsorted(np.sort(scores), marks, "left")
    below[-1] = len(scores)
    # Points and length between two marks.
    count, length = (below[None, :] - below[:, None]).astype(float), marks[None, :] - marks[:, None]

    def z_score(n_side: Floats, l_side: Floats, n_valley: Floats, l_valley: Floats) -> Floats:
        share = l_side / (l_side + limit * l_valley)
        n = n_side + n_valley
        return (n_side - n * share) / np.sqrt(n * share * (1 - share) + 0.5)

    i, j, k = np.ogrid[:n_marks, :n_marks, :n_marks]
    ordered = (i < j) & (j < k)
    with np.errstate(all="ignore"):
        left = np.where(ordered, z_score(count[:, :, None], length[:, :, None], count[None], length[None]), -9)
        right = np.where(ordered, z_score(count[None], length[None], count[:, :, None], length[:, :, None]), -9)
        best = np.minimum(left.max(axis=0), right.max(axis=2))
        a, b = np.unravel_index(best.argmax(), best.shape)
        before, after = left[:, a, b].argmax(), right[a, b].argmax()
        beside = min(count[before, a] / length[before, a], count[b, after] / length[b, after])
        depth = 1 - count[a, b] / length[a, b] / beside
    return float(best[a, b]), float(np.clip(np.nan_to_num(depth), 0, 1))
