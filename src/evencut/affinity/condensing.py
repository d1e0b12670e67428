"""Many points as a few thousand weighted ones: the middles of small groups, as dense where the data are dense.

What is chosen for them, a partition or a number of clusters, holds for the points they stand for; the noise inside a
group averages out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors import Places, array_namespace, beside, first_of_each, group_greatest, group_least, group_sums, to_array
from .distinct import DistinctPoints
from .neighbors import MAX_TREE_FEATURES, NeighborSearch

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
    pilot = _evenly(points, _POINTS_PER_CENTRE * n_centres)
    n_sweeps = _SWEEPS if points.shape[1] <= MAX_TREE_FEATURES else _SWEEPS_WITHOUT_TREE
    centres = points[pilot][_evenly(pilot, n_centres)]
    centres = kmeans_sweeps(centres, points[pilot], table.weights[pilot], n_sweeps, n_jobs=n_jobs)
    search = NeighborSearch(centres, n_jobs=n_jobs)
    away, nearest = (answer[:, 0] for answer in search.query(points, 1))
    kept, asked = (beside(points, rows) for rows in _apart(search, away, nearest, int(_SHARE_KEPT * n_centres)))
    if len(kept):
        closer, there = (answer[:, 0] for answer in NeighborSearch(points[kept]).query(points[asked], 1))
        moved = closer < away[asked]
        nearest[asked[moved]] = len(centres) + there[moved]
        centres = array_namespace(points).concatenate([centres, points[kept]])
    one_of_each, number = first_of_each(nearest)
    n_used = len(one_of_each)
    weights, first = group_sums(table.weights, number, n_used), group_least(table.first_row, number, n_used)
    return DistinctPoints(centres[nearest[one_of_each]], weights, number[table.of_row], first)


def _apart(
    search: NeighborSearch, away: Any, nearest: Any, n_kept: int
) -> tuple[Places, Places]:
    """Points of groups apart from all others that are kept, `n_kept` at most, and all points that share their centres.

    Given are the distance of each point to the nearest centre, and which it is. Only what is known of the centres, and
    of points apart, leaves a device.
    """
    distances, indices = (to_array(answer) for answer in search.query_self(_NEIGHBORHOOD + 1))
    reach = np.maximum(distances[:, -1], np.finfo(float).tiny)
    n_centres, xp = len(reach), array_namespace(nearest)
    farthest = to_array(group_greatest(away, nearest, n_centres))
    # Where a group has centres, they reach far for others; where it has none, its points reach far for a centre.
    apart = np.maximum(farthest / reach, reach / np.median(reach[indices[:, 1:]], axis=1))
    order = np.argsort(-apart, kind="stable")
    count = np.minimum(to_array(xp.bincount(nearest, minlength=n_centres)), _KEPT_AT_MOST)[order]
    chosen = order[(apart[order] >= _APART) & (np.cumsum(count) <= n_kept)]
    rank = np.full(n_centres, -1)
    rank[chosen] = np.arange(len(chosen))
    known = beside(nearest, rank)[nearest]
    there = xp.where(known >= 0)[0]
    asked, own, far = (to_array(values) for values in (there, known[there], away[there]))
    # The farthest of each centre first.
    order = np.lexsort((-far, own))
    asked, own = asked[order], own[order]
    return asked[np.arange(len(own)) - np.searchsorted(own, own) < _KEPT_AT_MOST], asked


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
