"""Many points as a few thousand weighted ones: the middles of small groups, as dense where the data are dense.

What is chosen for them, a partition or a number of clusters, holds for the points they stand for; the noise inside a
group averages out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .distinct import DistinctPoints
from .neighbors import MAX_TREE_FEATURES, NeighborSearch

__all__ = ["condense", "sweeps_for"]

# Sweeps of k-means that bring centres to the middle of their groups, on so many points a centre; without a tree to
# find the nearest centre by, every sweep is a matrix product, and one will do.
_SWEEPS = 5
_SWEEPS_WITHOUT_TREE = 1
_POINTS_PER_CENTRE = 20
# Share of the centres that are points of sparse areas, kept as they are; as many centres as the broadest neighbourhood
# has points, fewer of which are no cluster to anybody; and points kept at most of one group.
_SHARE_KEPT = 0.1
_NEIGHBORHOOD = 40
_KEPT_AT_MOST = 40


def condense(table: DistinctPoints, n_centres: int, *, n_jobs: int | None = None) -> DistinctPoints:
    """The points as weighted centres; the table itself where there are no more than `n_centres`.

    Centres start from points drawn evenly from the table, whose order depends on the values alone, so that the result
    does not depend on the order of the rows.

    Parameters
    ----------
    table : DistinctPoints
    n_centres : int
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.affinity import distinct_points
    >>> few = condense(distinct_points(np.random.default_rng(0).normal(size=(5000, 2))), 100)
    >>> len(few.points), float(few.weights.sum())
    (100, 5000.0)
    """
    points = table.points
    if len(points) <= n_centres:
        return table
    n_kept = int(_SHARE_KEPT * n_centres)
    pilot = _evenly(len(points), _POINTS_PER_CENTRE * n_centres)
    centres = points[pilot][_evenly(len(pilot), n_centres - n_kept)].astype(points.dtype)
    for _ in range(sweeps_for(points.shape[1])):
        centres = _to_the_middle(centres, points[pilot], table.weights[pilot], n_jobs)
    search = NeighborSearch(centres, n_jobs=n_jobs)
    away, nearest = (found[:, 0] for found in search.query(points, 1))
    centres, nearest = _with_sparse_points(points, centres, search, away, nearest.astype(np.intp), n_kept)
    weights = np.bincount(nearest, table.weights, len(centres)).astype(np.float64)
    used = np.flatnonzero(weights > 0)
    number = np.full(len(centres), -1, dtype=np.intp)
    number[used] = np.arange(len(used))
    first = np.full(len(centres), np.iinfo(np.intp).max)
    np.minimum.at(first, nearest, table.first_row)
    return DistinctPoints(centres[used], weights[used], number[nearest][table.of_row], first[used])


def _with_sparse_points(
    points: NDArray[np.floating],
    centres: NDArray[np.floating],
    search: NeighborSearch,
    away: NDArray[np.float64],
    nearest: NDArray[np.intp],
    n_kept: int,
) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
    """The centres with `n_kept` points of the sparsest areas added, and the centre of each point.

    A group apart from all others that has fewer centres than a neighbourhood is none to anyone who looks at the
    centres alone. Its centres reach far to so many others, or, where it has none, its points to their centre.
    """
    reach = search.query_self(_NEIGHBORHOOD + 1)[0][:, -1]
    np.maximum.at(reach, nearest, away)
    # Sparsest areas first, in each the points that are farthest from their centre.
    rank = np.argsort(np.argsort(-reach, kind="stable"))
    few = np.cumsum(np.minimum(np.bincount(nearest, minlength=len(centres)), _KEPT_AT_MOST)[np.argsort(rank)]) <= n_kept
    asked = np.flatnonzero(few[rank][nearest])
    order = asked[np.lexsort((-away[asked], rank[nearest[asked]]))]
    own = nearest[order]
    place = np.arange(len(order)) - np.searchsorted(rank[own], rank[own])
    kept = order[place < _KEPT_AT_MOST]
    if not len(kept):
        return centres, nearest
    closer, there = (found[:, 0] for found in NeighborSearch(points[kept]).query(points[asked], 1))
    moved = closer < away[asked]
    nearest[asked[moved]] = len(centres) + there[moved]
    return np.concatenate([centres, points[kept]]), nearest


def sweeps_for(n_features: int) -> int:
    """How many sweeps of k-means bring centres to the middle of their groups.

    Examples
    --------
    >>> sweeps_for(2), sweeps_for(384)
    (5, 1)
    """
    return _SWEEPS if n_features <= MAX_TREE_FEATURES else _SWEEPS_WITHOUT_TREE


def _evenly(n_points: int, n_wanted: int) -> NDArray[np.intp]:
    if n_wanted >= n_points:
        return np.arange(n_points)
    return np.linspace(0, n_points - 1, n_wanted).astype(np.intp)


def _to_the_middle(
    centres: NDArray[np.floating], points: NDArray[np.floating], weights: NDArray[np.float64], n_jobs: int | None
) -> NDArray[np.floating]:
    """One sweep of weighted k-means; a centre with no points stays."""
    nearest = NeighborSearch(centres, n_jobs=n_jobs).query(points, 1)[1][:, 0]
    mass = np.bincount(nearest, weights, len(centres))
    sums = np.column_stack([np.bincount(nearest, weights * column, len(centres)) for column in points.T])
    middle = np.where(mass[:, None] > 0, sums / np.where(mass > 0, mass, 1.0)[:, None], centres)
    return middle.astype(centres.dtype)
