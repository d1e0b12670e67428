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
    pilot = _evenly(len(points), _POINTS_PER_CENTRE * n_centres)
    centres = points[pilot][_evenly(len(pilot), n_centres)].astype(points.dtype)
    for _ in range(sweeps_for(points.shape[1])):
        centres = _to_the_middle(centres, points[pilot], table.weights[pilot], n_jobs)
    nearest = NeighborSearch(centres, n_jobs=n_jobs).query(points, 1)[1][:, 0].astype(np.intp)
    weights = np.bincount(nearest, table.weights, len(centres)).astype(np.float64)
    used = np.flatnonzero(weights > 0)
    number = np.full(len(centres), -1, dtype=np.intp)
    number[used] = np.arange(len(used))
    first = np.full(len(centres), np.iinfo(np.intp).max)
    np.minimum.at(first, nearest, table.first_row)
    return DistinctPoints(centres[used], weights[used], number[nearest][table.of_row], first[used])


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
