"""Many points as a few thousand weighted ones: the middles of small groups, as dense where the data are dense.

What is chosen for them, a partition or a number of clusters, holds for the points they stand for; the noise inside a
group averages out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors import array_namespace, first_of_each, group_least, group_sums
from .distinct import DistinctPoints
from .neighbors import MAX_TREE_FEATURES, NeighborSearch

__all__ = ["condense", "kmeans_sweeps"]

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
    pilot = _evenly(points, _POINTS_PER_CENTRE * n_centres)
    n_sweeps = _SWEEPS if points.shape[1] <= MAX_TREE_FEATURES else _SWEEPS_WITHOUT_TREE
    centres = points[pilot][_evenly(pilot, n_centres)]
    centres = kmeans_sweeps(centres, points[pilot], table.weights[pilot], n_sweeps, n_jobs=n_jobs)
    nearest = NeighborSearch(centres, n_jobs=n_jobs).query(points, 1)[1][:, 0]
    one_of_each, number = first_of_each(nearest)
    n_used = len(one_of_each)
    weights, first = group_sums(table.weights, number, n_used), group_least(table.first_row, number, n_used)
    return DistinctPoints(centres[nearest[one_of_each]], weights, number[table.of_row], first)


def kmeans_sweeps(centres: Any, points: Any, weights: Any, n_sweeps: int, *, n_jobs: int | None = None) -> Any:
    """The centres after some sweeps of weighted k-means; a centre with no points stays.

    Examples
    --------
    >>> import numpy as np
    >>> kmeans_sweeps(np.array([[0.0], [9.0]]), np.array([[0.0], [1.0], [8.0]]), np.ones(3), 1)
    array([[0.5],
           [8. ]])
    """
    xp = array_namespace(points)
    for _ in range(n_sweeps):
        nearest = NeighborSearch(centres, n_jobs=n_jobs).query(points, 1)[1][:, 0]
        mass = group_sums(weights, nearest, len(centres))[:, None]
        sums = group_sums(points, nearest, len(centres), weights)
        middle = xp.where(mass > 0, sums / xp.where(mass > 0, mass, 1.0), centres)
        centres = xp.asarray(middle, dtype=centres.dtype)
    return centres


def _evenly(points: Any, n_wanted: int) -> Any:
    """The numbers of so many rows, as far apart as can be."""
    n_points, xp = len(points), array_namespace(points)
    wanted = min(n_wanted, n_points)
    where = {} if xp is np else {"device": points.device}
    return xp.asarray(xp.linspace(0, n_points - 1, wanted, dtype=xp.float64, **where), dtype=xp.int64)
