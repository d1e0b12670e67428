r"""Repeated rows as one point with a weight: copies fill a neighbourhood and disconnect it.

A row that occurs c times is one point of weight c, so neighbours are counted among distinct rows, and weights and
repetition mean the same. Near-copies (a value written with another last digit) are found by the gap they leave in the
distances: nearer to each other than a thousandth of the distance to anyone else. A few tight groups, or all rows beside
one far away, leave the same gap and are clusters: without copies there must be many places left, none of which holds
most of the rows.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .. import tensors
from ..neighbors import MAX_TREE_FEATURES, GivenDistances, MetricPoints, NeighborSearch, SparsePoints, is_dense
from ..tensors import AnyInts, Floats, Places

# Places that must be left without copies: the number of points in a neighbourhood of the default. With fewer there
# would be nothing to cluster.
_PLACES = 25
# Points of a centre that are kept unchanged, at most; the size of the broadest neighbourhood.
_NEIGHBORHOOD = 40
_ROWS_AT_ONCE = 1 << 16
_ROWS_OF_A_DEVICE = 1 << 20


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """The distinct points of a table.

    Parameters
    ----------
    points : ndarray or tensor of shape (n_points, n_features), or points of another kind
    weights : ndarray of shape (n_points,)
        How many rows, or how much weight, each stands for; a tensor, as what follows, where the points are one.
    point_of_row : ndarray of shape (n_rows,)
        The point that each row became.
    first_row : ndarray of shape (n_points,)
        The first row of each point.
    """

    points: Any
    weights: Floats
    point_of_row: Places
    first_row: Places

    def taken(self, order: Places) -> DistinctPoints:
        """The same points in another order."""
        return DistinctPoints(
            self.points[order], self.weights[order], order.argsort()[self.point_of_row], self.first_row[order]
        )


def distinct_points(X: Any, weights: Floats | None = None) -> DistinctPoints:
    """The distinct rows of a table with their weights, near-copies merged.

    The order of the points depends on their values alone, not on the order of the rows or on how often one occurs;
    that of points known by their distances is the order given.

    Parameters
    ----------
    X : ndarray or tensor of shape (n_rows, n_features), or points of another kind (:mod:`evencut.neighbors.metrics`)
        Of sparse rows, equal ones are merged and near-copies left alone.
    weights : ndarray of shape (n_rows,), optional
        How many rows each stands for; one by default.

    Examples
    --------
    >>> import numpy as np
    >>> table = distinct_points(np.array([[1.0], [5.0], [1.0]]))
    >>> table.weights[table.point_of_row]
    array([2., 1., 2.])
    """
    weights = np.ones(len(X)) if weights is None else weights
    distinct = _exact(X, weights)
    copies = None if isinstance(X, SparsePoints) else _near_copies(distinct.points)
    if copies is None:
        return distinct
    group, n_groups = tensors.asarray_like(X, copies.astype(np.int64)), int(copies.max()) + 1
    total = tensors.group_sums(distinct.weights, group, n_groups)
    first = tensors.group_min(distinct.first_row, group, n_groups)
    if not is_dense(X):
        return DistinctPoints(X[first], total, group[distinct.point_of_row], first)
    sums = tensors.group_sums(distinct.points, group, n_groups, distinct.weights)
    middle = tensors.array_namespace(X).asarray(sums / total[:, None], dtype=X.dtype)
    return DistinctPoints(middle, total, group[distinct.point_of_row], first)


def _exact(X: Any, weights: Floats) -> DistinctPoints:
    """Equal rows put together, in the order of their values."""
    if isinstance(X, SparsePoints):
        return _exact_sparse(X.rows, weights)
    if isinstance(X, GivenDistances):
        return _exact_given(X, weights)
    values = X.X if isinstance(X, MetricPoints) else X
    first, point_of_row = distinct_rows(values)
    mass = tensors.group_sums(tensors.asarray_like(X, weights), point_of_row, len(first))
    distinct = DistinctPoints(X[first], mass, point_of_row, first)
    return distinct.taken(value_order(values[first]))


def distinct_rows(X: Any) -> tuple[Any, Any]:
    """The first row of each kind, in an order that depends on the values alone, and the kind of each row.

    Examples
    --------
    >>> import numpy as np
    >>> first, kind = distinct_rows(np.array([[1.0], [5.0], [1.0], [-0.0], [0.0]]))
    >>> sorted(first.tolist()), bool(kind[0] == kind[2] != kind[1])
    ([0, 1, 3], True)
    """
    first, point_of_row = tensors.unique_first(row_hashes(X))
    for begin in range(0, len(X), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        if not (X[first[point_of_row[rows]]] == X[rows]).all():
            return tensors.unique_first(X, axis=0)
    return first, point_of_row


def value_order(X: Any) -> Any:
    """An order of distinct rows that rounding, a unit and a shift leave as it is: by the distance from the mean.

    Distances that differ by less than a four-thousandth of their mean are equal, and the columns decide.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[9.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> value_order(X), value_order(7 * X.astype(np.float32) + 1)
    (array([2, 1, 0]), array([2, 1, 0]))
    """
    is_array = isinstance(X, np.ndarray)
    xp = np if is_array else tensors.array_namespace(X)
    in_order: Any = partial(np.argsort, kind="stable") if is_array else tensors.stable_order
    if not len(X):
        return xp.arange(0)
    # The mean of rows in the order of their hashes is the same whatever their order was.
    step = _ROWS_AT_ONCE if xp is np else _ROWS_OF_A_DEVICE
    blocks = [slice(begin, begin + step) for begin in range(0, len(X), step)]
    middle = sum((xp.asarray(X[rows], dtype=xp.float64) / len(X)).sum(axis=0) for rows in blocks)
    with np.errstate(over="ignore", invalid="ignore"):
        offsets = (xp.asarray(X[rows], dtype=xp.float64) - middle for rows in blocks)
        squared = xp.concatenate([(offset**2).sum(axis=1) for offset in offsets])
        unit = float(squared.mean()) / 4096
    # Where squares leave the range of floats all rows share a cell.
    cell = xp.asarray(squared / unit if 0 < unit < np.inf else xp.zeros_like(squared), dtype=xp.int64)
    order = in_order(cell)
    same = cell[order][1:] == cell[order][:-1]
    if bool(same.any()):
        # Only rows that share a cell are compared column by column.
        tied = xp.zeros_like(cell, dtype=bool if xp is np else xp.bool)
        tied[1:] |= same
        tied[:-1] |= same
        rows = order[tied]
        for column in range(X.shape[1] - 1, -1, -1):
            rows = rows[in_order(X[rows, column])]
        order[tied] = rows[in_order(cell[rows])]
    return order


def _exact_sparse(X: sparse.csr_array, weights: Floats) -> DistinctPoints:
    """Equal sparse rows put together; rows of the same hash are compared in full."""
    canonical = X.copy()
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    ends = zip(canonical.indptr[:-1], canonical.indptr[1:])
    rows = [(canonical.indices[i:j].tobytes(), canonical.data[i:j].tobytes()) for i, j in ends]
    first_of: dict[tuple[bytes, bytes], int] = {}
    same = np.array([first_of.setdefault(row, i) for i, row in enumerate(rows)])
    first = np.unique(same)
    # The order depends on the values alone.
    order = first[np.argsort([zlib.crc32(rows[i][0] + rows[i][1]) for i in first], kind="stable")]
    number = np.empty(X.shape[0], dtype=np.intp)
    number[order] = np.arange(len(order))
    point_of_row = number[same]
    total = np.bincount(point_of_row, weights).astype(np.float64)
    return DistinctPoints(SparsePoints(canonical[order]), total, point_of_row, order)


def _exact_given(X: GivenDistances, weights: Floats) -> DistinctPoints:
    """Points at distance zero whose distances to all others are equal, put together, in the order given."""
    first_of: dict[bytes, int] = {}
    same = np.arange(len(X))
    for i, row in enumerate(X.rows):
        distances = X.table[row][X.rows]
        # Its own distance is one zero.
        if np.count_nonzero(distances) < len(X) - 1:
            same[i] = first_of.setdefault(hashlib.blake2b((distances + 0.0).tobytes(), digest_size=16).digest(), i)
    first, point_of_row = np.unique(same, return_inverse=True)
    return DistinctPoints(X[first], np.bincount(point_of_row, weights).astype(np.float64), point_of_row, first)


def row_hashes(X: Any) -> Any:
    """One 64-bit number a row, from its values, the same for arrays and tensors.

    Examples
    --------
    >>> import numpy as np
    >>> hashes = row_hashes(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0]]))
    >>> bool(hashes[0] == hashes[2] != hashes[1])
    True
    """
    xp = tensors.array_namespace(X)
    total = xp.zeros_like(X[:, 0], dtype=xp.int64)
    # A block stays in the cache of the CPU; a device reads columns fast where they lie together.
    step = _ROWS_AT_ONCE if xp is np else _ROWS_OF_A_DEVICE
    # Odd, and near the golden ratio of 2^64, as a signed number; products wrap around, as a hash needs.
    factor = 0x9E3779B97F4A7C15 - 2**64
    for begin in range(0, len(X), step):
        rows = slice(begin, begin + step)
        for column in X[rows].T if xp is np else X[rows].T.contiguous():
            # Adding zero makes the two zeros one.
            mixed = (total[rows] ^ (xp.asarray(column, dtype=xp.float64) + 0.0).view(xp.int64)) * factor
            # A shift of signed numbers brings their sign along, which the mask takes away.
            total[rows] = mixed ^ (mixed >> 29 & 2**35 - 1)
    # In the order of numbers without a sign.
    return total ^ -(2**63)


def _near_copies(points: Any) -> AnyInts | None:
    """The group of each point, if some differ from each other by a last digit only; None without any."""
    n_points = len(points)
    if n_points < _PLACES:
        return None
    # Copies are looked for among the 10 nearest of 500 points; without any nothing is merged.
    step = max(1, n_points // 500)
    search = NeighborSearch(points, method="exact", n_jobs=1)
    nearest = search.query(points[::step], min(10, n_points - 1) + 1)[0][:, 1:]
    # A row with more copies than these has some among a few random points.
    apart = _distances_between(points[::step][:: -(-len(nearest) // 200)])
    if not isinstance(nearest, np.ndarray):
        nearest, apart = tensors.to_array(nearest), tensors.to_array(apart)
    for reach in _gaps(np.concatenate([nearest.ravel(), apart])):
        if _keeps_enough_points(apart, reach):
            distances, indices = NeighborSearch(points).query_self(min(32, n_points))
            p, place = tensors.array_namespace(distances).where(distances[:, 1:] <= reach)
            n_groups, group = _linked(tensors.to_array(p), tensors.to_array(indices[p, place + 1]), n_points)
            return group if n_groups < n_points else None
    return None


def _distances_between(points: Any) -> Any:
    """Distances between all pairs of some points."""
    from scipy.spatial.distance import pdist

    if isinstance(points, np.ndarray):
        return pdist(points)
    if not is_dense(points):
        return points.distances(points)[np.triu_indices(len(points), 1)]
    return tensors.array_namespace(points).pdist(tensors.as_float64(points))


def _gaps(distances: Floats) -> Floats:
    """Lengths, the shortest first, that no distance is near: those above are a thousand times larger than those below.

    One odd pair on either side is not a pattern.
    """
    lengths = np.sort(distances[distances > 0])
    low, high = lengths[1:-2], lengths[2:-1]
    wide = high >= 1000.0 * low
    return np.sqrt(low[wide]) * np.sqrt(high[wide])


def _keeps_enough_points(apart: Floats, reach: float) -> bool:
    """Whether some points, by the distances between all pairs of them, are many places at a distance of `reach`."""
    n_points = round((1 + np.sqrt(1 + 8 * len(apart))) / 2)
    p, q = (ends[apart <= reach] for ends in np.triu_indices(n_points, 1))
    n_places, place = _linked(p, q, n_points)
    return n_places >= _PLACES and np.bincount(place).max() <= max(0.5 * n_points, 2)


def _linked(p: AnyInts, q: AnyInts, n_points: int) -> tuple[int, Places]:
    """How many groups links between points make of them, and the group of each."""
    from scipy.sparse.csgraph import connected_components

    return connected_components(sparse.csr_array((np.ones(len(p)), (p, q)), shape=(n_points,) * 2), directed=False)


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
    >>> from evencut.points import distinct_points
    >>> few = condense(distinct_points(np.random.default_rng(0).normal(size=(5000, 2))), 100)
    >>> len(few.points), float(few.weights.sum())
    (100, 5000.0)
    """
    points = table.points
    if len(points) <= n_centres:
        return table
    pilot = _evenly(points, 20 * n_centres)
    # Without a tree for the nearest centre every sweep is a matrix product.
    n_sweeps = 5 if points.shape[1] <= MAX_TREE_FEATURES else 1
    centres = points[pilot][_evenly(pilot, n_centres)]
    centres = kmeans_sweeps(centres, points[pilot], table.weights[pilot], n_sweeps, n_jobs=n_jobs)
    search = NeighborSearch(centres, n_jobs=n_jobs)
    distance, nearest = (column[:, 0] for column in search.query(points, 1))
    rows = _isolated_points(search, distance, nearest, n_centres // 10)
    isolated, candidates = (tensors.asarray_like(points, indices) for indices in rows)
    if len(isolated):
        closer, owner = (column[:, 0] for column in NeighborSearch(points[isolated]).query(points[candidates], 1))
        moved = closer < distance[candidates]
        nearest[candidates[moved]] = len(centres) + owner[moved]
        centres = tensors.array_namespace(points).concatenate([centres, points[isolated]])
    one_of_each, number = tensors.unique_first(nearest)
    n_used = len(one_of_each)
    weights = tensors.group_sums(table.weights, number, n_used)
    first = tensors.group_min(table.first_row, number, n_used)
    return DistinctPoints(centres[nearest[one_of_each]], weights, number[table.point_of_row], first)


def _isolated_points(search: NeighborSearch, distance: Any, nearest: Any, n_kept: int) -> tuple[Places, Places]:
    """Points of groups apart from all others that are kept, `n_kept` at most, and all points that share their centres.

    Given are the distance of each point to the nearest centre, and which it is. Only what is known of the centres, and
    of points apart, leaves a device.
    """
    distances, indices = (tensors.to_array(table) for table in search.query_self(_NEIGHBORHOOD + 1))
    reach = np.maximum(distances[:, -1], np.finfo(float).tiny)
    n_centres, xp = len(reach), tensors.array_namespace(nearest)
    farthest = tensors.to_array(tensors.group_max(distance, nearest, n_centres))
    # Where a group has centres, they reach far for others; where it has none, its points reach far for a centre.
    apart = np.maximum(farthest / reach, reach / np.median(reach[indices[:, 1:]], axis=1))
    order = np.argsort(-apart, kind="stable")
    count = np.minimum(tensors.to_array(xp.bincount(nearest, minlength=n_centres)), _NEIGHBORHOOD)[order]
    # Isolated: three times as far from others as those are from each other.
    chosen = order[(apart[order] >= 3.0) & (np.cumsum(count) <= n_kept)]
    rank = np.full(n_centres, -1)
    rank[chosen] = np.arange(len(chosen))
    known = tensors.asarray_like(nearest, rank)[nearest]
    members = xp.where(known >= 0)[0]
    rows, own, far = (tensors.to_array(values) for values in (members, known[members], distance[members]))
    # The farthest of each centre first.
    order = np.lexsort((-far, own))
    rows, own = rows[order], own[order]
    return rows[np.arange(len(own)) - np.searchsorted(own, own) < _NEIGHBORHOOD], rows


def kmeans_sweeps(centres: Any, points: Any, weights: Any, n_sweeps: int, *, n_jobs: int | None = None) -> Any:
    """The centres after some sweeps of weighted k-means; a centre with no points stays.

    Examples
    --------
    >>> import numpy as np
    >>> kmeans_sweeps(np.array([[0.0], [9.0]]), np.array([[0.0], [1.0], [8.0]]), np.ones(3), 1)
    array([[0.5],
           [8. ]])
    """
    xp = tensors.array_namespace(points)
    for _ in range(n_sweeps):
        nearest = NeighborSearch(centres, n_jobs=n_jobs).query(points, 1)[1][:, 0]
        mass = tensors.group_sums(weights, nearest, len(centres))[:, None]
        sums = tensors.group_sums(points, nearest, len(centres), weights)
        middle = xp.where(mass > 0, sums / xp.where(mass > 0, mass, 1.0), centres)
        centres = xp.asarray(middle, dtype=centres.dtype)
    return centres


def _evenly(points: Any, n_wanted: int) -> Any:
    """The numbers of so many rows, as far apart as can be."""
    n_points, xp = len(points), tensors.array_namespace(points)
    device = {} if xp is np else {"device": points.device}
    rows = xp.linspace(0, n_points - 1, min(n_wanted, n_points), dtype=xp.float64, **device)
    return xp.asarray(rows, dtype=xp.int64)
