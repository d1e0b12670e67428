r"""Is a split real? A test for a valley of the density between two sides, below both of them.

Two clusters are always different, because they were cut apart. This test asks whether the points thin out between them,
and it may be run on the points that were clustered.

1. The score of a point is its mean distance to the nearest points of one side minus that to the nearest points of the
   other side, itself and its label left out: a quarter of a side, fewer in less than three dimensions. It is computed
   in all columns and in the five leading principal axes; if a side has less than a quarter of the points, also in
   three.
2. Along the scores there must be an interval less dense than an interval on its left *and* one on its right. T is the
   largest, over all such intervals, of the smaller of the two z scores. Most of each side must lie on its own side.
3. On uniform points cut by a clustering, T is distributed like the largest of 40 normal variables:
   :math:`p = \min(1, 40\, P(N > T))`. This pays for the choice of the cut.
4. On a curve or a sheet the score runs faster at the cut. Up to three dimensions the valley must therefore be less
   dense than 0.8 of its sides (rising to 1 at five dimensions). On a folded curve, distances along the neighbour graph
   must show the valley too, below 3/4 of its sides (0.6 if it is rolled up). The two leading axes are searched for
   folds as well.
5. Columns with repeated values get uniform noise of one step first, so that ties are not taken for peaks.

"Cannot say" (p is NaN): a side has fewer than 8 points, or distinct points are repeated five times on average; or, in
more than five dimensions, a wide side lies around a narrow one.
The p value is calibrated by simulation, not proved; below about 0.001 read it as "small".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.special import ndtr

from .tensors import AnyFloats, Floats, Ints, Mask, Places

__all__ = ["Split", "Splits", "Valley", "find_valley", "tree_evidence"]

#: Points of a side below which nothing can be said, and the largest number of points that are compared.
MIN_SIDE, MAX_POINTS = 8, 600
_N_AXES = 5
# Joins below one whose corrected p value is larger are not tested.
_MAX_LEVEL = 0.2


class Valley(NamedTuple):
    """The result of the test: its p value (NaN: cannot say), and 1 - density in the valley / density beside it."""

    p_value: float
    depth: float


_CANNOT_SAY = Valley(float("nan"), float("nan"))


def find_valley(X: AnyFloats, side: Mask, max_points: int = MAX_POINTS, *, weights: Floats | None = None) -> Valley:
    """Test whether the density has a valley between the points of two sides.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    side : boolean ndarray of shape (n,)
    max_points : int, default=600
        More points are thinned out, in the same proportion on both sides.
    weights : ndarray of shape (n,), optional
        Copies of each point.

    Returns
    -------
    Valley

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.valley import find_valley
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> side = np.arange(300) < 150
    >>> bool(find_valley(X, X[:, 0] > 0).p_value > 0.05), bool(find_valley(X + 5 * side[:, None], side).p_value < 0.01)
    (True, True)
    """
    rng = np.random.default_rng(0)
    rows = _near_border(X, side) if len(side) > max_points else np.arange(len(side))
    rows = rows[_drawn(side[rows], None if weights is None else weights[rows], max_points, rng)]
    X, side = np.asarray(X[rows], dtype=np.float64), side[rows]
    side = side != side[:1]  # the result does not depend on which side is called the first
    n_side = int(side.sum())
    if min(n_side, len(side) - n_side) < MIN_SIDE:
        return _CANNOT_SAY
    varying = np.ptp(X, axis=0) > 0
    X = X[:, varying] / max(float(np.abs(X).max()), np.finfo(float).tiny)
    # Values of which five copies are common are too coarse for a density.
    if not X.size or len(np.unique(X, axis=0)) * 5 < len(X):
        return _CANNOT_SAY
    X = _without_ties(X, rng)
    centred = [X[rows] - X[rows].mean(axis=0) for rows in (side, ~side)]
    spread = _n_axes(np.concatenate(centred))
    radius = sorted(float(np.sqrt((rows**2).sum(axis=1).mean())) for rows in centred)
    distance = float(np.linalg.norm(X[side].mean(axis=0) - X[~side].mean(axis=0)))
    # In many dimensions nearly all of a wide side lies outside of a narrow one around the same centre.
    if spread > _N_AXES and radius[1] > 1.25 * radius[0] and distance < 0.75 * radius[1]:
        return _CANNOT_SAY
    left, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    axes = left[:, :_N_AXES] * lengths[:_N_AXES]
    spaces = [X]
    if X.shape[1] > _N_AXES:
        # A small side carries little variance: the noise of further axes would hide it.
        spaces += [axes, axes[:, :3]] if 4 * min(n_side, len(side) - n_side) < len(side) else [axes]
    fold_of_plane = cache(lambda: _fold(_distances(axes[:, :2])))
    statistic, depth = max(_deepest_valley(points, side, spread, fold_of_plane) for points in spaces)
    return Valley(min(1.0, 40 * float(ndtr(-statistic))), depth)


def pair_p_values(X: AnyFloats, labels: Ints, pairs: Sequence[tuple[int, int]]) -> list[float]:
    """The p value of a valley between the clusters of each pair; NaN: cannot say.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 6 * (np.arange(300) % 3)[:, None]
    >>> max(pair_p_values(X, np.arange(300) % 3, [(0, 1), (1, 2)])) < 0.01
    True
    """
    members = [np.flatnonzero((labels == first) | (labels == second)) for first, second in pairs]
    return [find_valley(X[rows], labels[rows] == first).p_value for rows, (first, _) in zip(members, pairs)]


@dataclass(frozen=True)
class Split:
    """The test of one join of a tree, or of two groups of clusters.

    Attributes
    ----------
    sides : tuple
        The two that are joined: nodes of the tree, or lists of cluster names.
    sizes : tuple of float
        Weight of the two sides.
    p_value : float
        Of this join alone; NaN if the test cannot say, or was not needed.
    adjusted : float
        Corrected for all joins of the tree: the share of trees of one population in which any join gets such a value.
    depth : float
        1 - density in the valley / density beside it: 1 for a gap, 0 without a valley.
    verdict : str
        At the level of 5 %: "two populations", "not shown", "cannot say", or "not tested" (a join above is not shown).
    """

    sides: tuple[Any, Any]
    sizes: tuple[float, float]
    p_value: float
    adjusted: float
    depth: float
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """Plain Python types; None instead of NaN."""
        plain = {name: None if value != value else value for name, value in vars(self).items()}
        return plain | {"sides": list(self.sides), "sizes": list(self.sizes)}


class Splits(tuple[Split, ...]):
    """The tests of all joins of a tree, in the order of the tree; prints as a table, the last join first."""

    def is_real(self, significance: float = 0.05) -> Mask:
        """Whether each join parts two populations, at this level for all joins together."""
        return np.array([split.adjusted <= significance for split in self], dtype=bool)

    def __str__(self) -> str:
        """One line for each join that was tested."""
        lines = [f"{'sizes':>17}  {'p value':>8}  {'corrected':>9}  {'valley':>6}  {'verdict':<15}  sides"]
        for split in reversed(self):
            if split.verdict != "not tested":
                sizes = " + ".join(f"{size:.6g}" for size in split.sizes)
                sides = " | ".join(
                    ", ".join(map(str, side)) if isinstance(side, list) else str(side) for side in split.sides
                )
                numbers = f"{split.p_value:8.2g}  {split.adjusted:9.2g}  {split.depth:6.0%}"
                lines.append(f"{sizes:>17}  {numbers}  {split.verdict:<15}  {sides}")
        return "\n".join(lines)


def tree_evidence(
    points: AnyFloats, weights: Floats, leaf_of_point: Ints, joins: Any, names: Sequence[Any] | None = None
) -> Splits:
    """Test the joins of a tree from the top down, corrected for all of them.

    The level is shared among the joins that are open, in proportion to their leaves; a join whose sides are shown to be
    two opens those below it, and what the finished ones leave goes to the others (Holm's step, Goeman and Finos 2012).
    A join about which the test cannot say anything passes its share on to those below it.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
    weights : ndarray of shape (n,)
    leaf_of_point : ndarray of shape (n,)
    joins : ndarray of shape (n_leaves - 1, 2 or more)
        The two nodes of each join, as in SciPy's linkage format.
    names : sequence, optional
        Names of the leaves: sides are then lists of names instead of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 9 * (np.arange(300) < 200)[:, None]
    >>> leaf = np.where(np.arange(300) < 200, X[:, 0] > 9, 2).astype(int)
    >>> tree_evidence(X, np.ones(300), leaf, np.array([[0, 1], [2, 3]])).is_real()
    array([False,  True])
    """
    pairs = np.asarray(joins)[:, :2].astype(int)
    n_leaves = len(pairs) + 1
    members: list[Places] = [np.flatnonzero(leaf_of_point == leaf) for leaf in range(n_leaves)]
    leaves = [[leaf] for leaf in range(n_leaves)]
    for a, b in pairs:
        members.append(np.sort(np.concatenate([members[a], members[b]])))
        leaves.append(leaves[a] + leaves[b])

    def tested(node: int) -> Valley:
        rows = members[node]
        return find_valley(points[rows], np.isin(rows, members[pairs[node - n_leaves, 0]]), weights=weights[rows])

    results: dict[int, tuple[Valley, float]] = {}
    open_joins = {2 * n_leaves - 2: tested(2 * n_leaves - 2)} if n_leaves > 1 else {}
    level = 0.0
    while open_joins and level <= _MAX_LEVEL:
        n_open = sum(len(leaves[node]) for node in open_joins)
        cost, node = min(
            (np.nan_to_num(valley.p_value) * n_open / len(leaves[node]), node) for node, valley in open_joins.items()
        )
        level, valley = max(level, float(cost)), open_joins.pop(node)
        results[node] = valley, min(level, 1.0)
        if level <= _MAX_LEVEL:
            open_joins |= {child: tested(child) for child in pairs[node - n_leaves].tolist() if child >= n_leaves}
    results |= {node: (valley, 1.0) for node, valley in open_joins.items()}

    splits = []
    for node, (a, b) in enumerate(pairs.tolist(), start=n_leaves):
        valley, adjusted = results.get(node, (_CANNOT_SAY, 1.0))
        verdict = "two populations" if adjusted <= 0.05 else "not shown"
        if np.isnan(valley.p_value):
            adjusted, verdict = float("nan"), "cannot say" if node in results else "not tested"
        sides: tuple[Any, Any] = (a, b)
        if names is not None:
            sides = [names[leaf] for leaf in leaves[a]], [names[leaf] for leaf in leaves[b]]
        sizes = float(weights[members[a]].sum()), float(weights[members[b]].sum())
        splits.append(Split(sides, sizes, valley.p_value, adjusted, valley.depth, verdict))
    return Splits(splits)


def _near_border(X: AnyFloats, side: Mask) -> Places:
    """All points, but of a far larger side only those nearest to the smaller one, so that thinning leaves both."""
    sides = sorted((np.flatnonzero(side), np.flatnonzero(~side)), key=len)
    n_near = 5 * max(len(sides[0]), MIN_SIDE)
    if len(sides[1]) <= n_near:
        return np.arange(len(side))
    some = X[sides[0][:: max(1, len(sides[0]) // 200)]].astype(np.float64)
    large = X[sides[1]].astype(np.float64)
    squared = (some**2).sum(axis=1) - 2 * large @ some.T
    nearest = np.argpartition(squared.min(axis=1) + (large**2).sum(axis=1), n_near)[:n_near]
    return np.sort(np.concatenate([sides[0], sides[1][nearest]]))


def _drawn(side: Mask, weights: Floats | None, max_points: int, rng: np.random.Generator) -> Places:
    """At most `max_points` rows, each as often as its weight says, in the same proportion on both sides."""
    if weights is None and len(side) <= max_points:
        return np.arange(len(side))
    order = rng.permutation(len(side))
    order = order[np.argsort(side[order], kind="stable")]
    upto = np.cumsum(np.ones(len(side)) if weights is None else weights[order])
    n_drawn = min(max_points, max(len(side), round(float(upto[-1]))))
    positions = np.searchsorted(upto, (np.arange(n_drawn) + 0.5) / n_drawn * upto[-1])
    return order[np.minimum(positions, len(side) - 1)]


def _without_ties(X: AnyFloats, rng: np.random.Generator) -> Floats:
    """Columns with repeated values, spread evenly over the steps between them; a step is that of half of the rows."""
    spread: Floats = np.array(X, dtype=np.float64)
    n_distinct = 1 + (np.diff(np.sort(spread, axis=0), axis=0) > 0).sum(axis=0)
    # A few equal values, as rounding leaves them, make no peak.
    for number in np.flatnonzero(n_distinct <= len(X) / 2):
        column = spread[:, number]
        values, place = np.unique(column, return_inverse=True)
        steps = np.diff(values)
        step = np.sort(np.append(steps, steps[-1])[place])[(len(column) - 1) // 2]
        below, above = (np.minimum(gaps, step)[place] / 2 for gaps in (np.append(step, steps), np.append(steps, step)))
        column += rng.uniform(size=len(column)) * (below + above) - below
    return spread


def _n_axes(X: Floats) -> float:
    """The number of axes that carry the variance (participation ratio)."""
    covariance = X.T @ X if X.shape[1] <= len(X) else X @ X.T
    return float(np.trace(covariance) ** 2 / max((covariance**2).sum(), np.finfo(float).tiny))


def _deepest_valley(
    X: Floats, side: Mask, spread: float, fold_of_plane: Callable[[], float]
) -> tuple[float, float]:
    """Statistic and depth in one space; `spread` is the number of axes that carry the variance of a side."""
    distances = _distances(X)
    dimension = min(_intrinsic_dimension(distances), spread)
    limit = float(np.clip(0.8 + 0.1 * (dimension - 3), 0.8, 1.0))
    share = 0.25 * float(np.clip((dimension - 1) / 2, 0, 1))
    valley = _compare_intervals(_scores(distances, side, share), side, limit)
    # Up to 3.02 the p value is above 0.05: distances along the graph cannot change the answer.
    if valley[0] > 3.02:
        fold = max(fold_of_plane(), _fold(distances)) if dimension < 2.5 else fold_of_plane()
        # Paths along the graph of a flat set are up to 1.2 times as long as straight lines; along a spiral, 5 times.
        if fold > 1.2:
            limit = min(limit, 0.6 if fold > 5.0 else 0.75)
            valley = min(valley, _compare_intervals(_scores(_along_graph(distances), side, 0.0), side, limit))
    return valley


def _distances(X: Floats) -> Floats:
    """Distances between all points, infinite to themselves."""
    X = X - X.mean(axis=0)
    lengths = np.einsum("ij,ij->i", X, X)
    # In place: large temporary arrays take longer than the arithmetic.
    distances = lengths[:, None] + lengths
    distances -= 2 * X @ X.T
    np.sqrt(np.maximum(distances, np.finfo(float).tiny, out=distances), out=distances)
    np.fill_diagonal(distances, np.inf)
    return distances


def _intrinsic_dimension(distances: Floats) -> float:
    """Levina and Bickel's estimate from the nearest neighbours, averaged as MacKay and Ghahramani do."""
    n_near = min(8, len(distances) - 2)
    nearest = np.sort(np.partition(distances, n_near, axis=1)[:, :n_near], axis=1)
    mean_log = float(np.log(nearest[:, -1:] / nearest[:, :-1]).mean())
    return 1 / mean_log if mean_log > 0 else 1.0


def _along_graph(distances: Floats, sources: Places | None = None) -> Floats:
    """Lengths of shortest paths in the graph of nearest neighbours, connected by the minimum spanning tree."""
    n_neighbors = 5
    neighbors = np.argpartition(distances, n_neighbors - 1, axis=1)[:, :n_neighbors]
    pairs = np.repeat(np.arange(len(distances)), n_neighbors), neighbors.ravel()
    graph, tree = (
        sparse.csr_array((distances[ends], ends), shape=distances.shape) for ends in (pairs, _spanning_tree(distances))
    )
    along = shortest_path(graph.maximum(tree), directed=False, indices=sources)
    along[along == 0] = np.inf
    return along


def _spanning_tree(distances: Floats) -> tuple[Ints, Ints]:
    """The parents and children of the minimum spanning tree, by Prim's algorithm, which suits dense distances."""
    outside = distances.copy()
    outside[:, 0] = np.inf
    nearest, parent = outside[0].copy(), np.zeros(len(distances), dtype=np.int64)
    for _ in range(len(distances) - 1):
        child = int(nearest.argmin())
        outside[:, child] = nearest[child] = np.inf
        parent[outside[child] < nearest] = child
        np.minimum(nearest, outside[child], out=nearest)
    return parent[1:], np.arange(1, len(distances))


def _fold(distances: Floats) -> float:
    """How many times longer than the straight line the paths between distant points often are."""
    some = np.arange(0, len(distances), max(1, len(distances) // 40))
    along = _along_graph(distances, some)
    far = np.isfinite(along) & (along >= np.median(along, axis=1)[:, None])
    return float(np.quantile(along[far] / distances[some][far], 0.9))


def _scores(distances: Floats, side: Mask, share: float) -> Floats:
    """Mean distance to the nearest points of the first side minus that to the second: a share, at least the root."""
    means = []
    for is_second in (False, True):
        members = np.flatnonzero(side == is_second)
        n_near = max(1, min(len(members) - 1, max(3, int(np.sqrt(len(members))), int(share * len(members)))))
        means.append(np.partition(distances[:, members], n_near - 1, axis=1)[:, :n_near].mean(axis=1))
    return means[0] - means[1]


def _compare_intervals(scores: Floats, side: Mask, limit: float) -> tuple[float, float]:
    """Statistic and depth of the deepest valley; intervals end at deciles of the scores of each side."""
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

    first_below, second_below = (np.searchsorted(np.sort(scores[rows]), marks) / rows.sum() for rows in (~side, side))
    # Most of each side must lie on its own side of the valley.
    between = (first_below[:, None] >= 0.5) & (second_below[None, :] <= 0.5)
    i, j, k = np.ogrid[:n_marks, :n_marks, :n_marks]
    ordered = (i < j) & (j < k)
    with np.errstate(all="ignore"):
        left = np.where(ordered, z_score(count[:, :, None], length[:, :, None], count[None], length[None]), -9)
        right = np.where(ordered, z_score(count[None], length[None], count[:, :, None], length[:, :, None]), -9)
        best = np.where(between, np.minimum(left.max(axis=0), right.max(axis=2)), -9.0)
        a, b = np.unravel_index(best.argmax(), best.shape)
        start, end = left[:, a, b].argmax(), right[a, b].argmax()
        side_density = min(count[start, a] / length[start, a], count[b, end] / length[b, end])
        depth = 1 - count[a, b] / length[a, b] / side_density
    return float(best[a, b]), float(np.clip(np.nan_to_num(depth), 0, 1))
