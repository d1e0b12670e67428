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
# A group apart with fewer centres than the broadest neighbourhood has points is no cluster to anybody. It is apart
# where the reach to so many centres is this many times that of those it leads to.
_NEIGHBORHOOD = 40
_APART = 3.0
# Points kept as they are: as a share of the centres, and at most of one centre.
_SHARE_KEPT = 0.1
_KEPT_AT_MOST = 40


def condense(table: DistinctPoints, n_centres: int, *, n_jobs: int | None = None) -> DistinctPoints:
    """The points as weighted centres; the table itself where there are no more than `n_centres`.

    A small group far from all others keeps points of its own beside the centres, a tenth of their number at most: it
    would have too few centres to be seen.

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
    pilot = _evenly(len(points), _POINTS_PER_CENTRE * n_centres)
    centres = points[pilot][_evenly(len(pilot), n_centres)].astype(points.dtype)
    for _ in range(sweeps_for(points.shape[1])):
        centres = _to_the_middle(centres, points[pilot], table.weights[pilot], n_jobs)
    search = NeighborSearch(centres, n_jobs=n_jobs)
    distances, indices = search.query(points, 1)
    away, nearest = distances[:, 0], indices[:, 0].astype(np.intp)
    kept, asked = _apart(search, away, nearest, int(_SHARE_KEPT * n_centres))
    if len(kept):
        closer, there = (answer[:, 0] for answer in NeighborSearch(points[kept]).query(points[asked], 1))
        moved = closer < away[asked]
        nearest[asked[moved]] = len(centres) + there[moved]
        centres = np.concatenate([centres, points[kept]])
    weights = np.bincount(nearest, table.weights, len(centres)).astype(np.float64)
    used = np.flatnonzero(weights > 0)
    number = np.full(len(centres), -1, dtype=np.intp)
    number[used] = np.arange(len(used))
    first = np.full(len(centres), np.iinfo(np.intp).max)
    np.minimum.at(first, nearest, table.first_row)
    return DistinctPoints(centres[used], weights[used], number[nearest][table.of_row], first[used])


def _apart(
    search: NeighborSearch, away: NDArray[np.float64], nearest: NDArray[np.intp], n_kept: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Points of groups apart from all others that are kept, `n_kept` at most, and all points that share their centres.

    Given are the distance of each point to the nearest centre, and which it is.
    """
    distances, indices = search.query_self(_NEIGHBORHOOD + 1)
    reach = np.maximum(distances[:, -1], np.finfo(float).tiny)
    # Where a group has centres, they reach far for others; where it has none, its points reach far for a centre.
    apart = np.maximum(_farthest(away, nearest, len(reach)) / reach, reach / np.median(reach[indices[:, 1:]], axis=1))
    order = np.argsort(-apart, kind="stable")
    count = np.minimum(np.bincount(nearest, minlength=len(reach)), _KEPT_AT_MOST)[order]
    chosen = order[(apart[order] >= _APART) & (np.cumsum(count) <= n_kept)]
    rank = np.full(len(reach), -1)
    rank[chosen] = np.arange(len(chosen))
    asked = np.flatnonzero(rank[nearest] >= 0)
    # The farthest of each centre first.
    asked = asked[np.lexsort((-away[asked], rank[nearest[asked]]))]
    own = rank[nearest[asked]]
    return asked[np.arange(len(own)) - np.searchsorted(own, own) < _KEPT_AT_MOST], asked


def _farthest(away: NDArray[np.float64], nearest: NDArray[np.intp], n_centres: int) -> NDArray[np.float64]:
    farthest = np.zeros(n_centres)
    np.maximum.at(farthest, nearest, away)
    return farthest


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
