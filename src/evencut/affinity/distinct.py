r"""Repeated rows as one point with a weight: copies fill a neighbourhood and cut it off from the world.

A row that occurs c times is one point of weight c, so neighbours are counted among distinct rows, and weights and
repetition mean the same. Near-copies (a value written with another last digit) are found by the gap they leave in the
distances: nearer to each other than a thousandth of the distance to anyone else.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..tensors import (
    array_namespace,
    beside,
    double,
    first_of_each,
    group_least,
    group_sums,
    is_tensor,
    stable_order,
    to_array,
)
from .neighbors import NeighborSearch
from .spaces import SparsePoints

__all__ = ["DistinctPoints", "distinct_points", "distinct_rows"]

# Distances between copies and between points must differ so many times; copies differ by rounding or small noise.
_GAP = 1000.0
# Near-copies are looked for around so many random points; there are none worth merging if none shows up there.
_SAMPLE = 500
_LOOKED_AT = 10
_PAIRED = 200
_MERGED_AT_ONCE = 32
_ROWS_AT_ONCE = 1 << 16
# Odd, and near the golden ratio of 2^64, as a signed number; products wrap around, which is what a hash wants.
_FACTOR = 0x9E3779B97F4A7C15 - 2**64


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """The distinct points of a table.

    Parameters
    ----------
    points : ndarray or tensor of shape (n_points, n_features), or SparsePoints
    weights : ndarray of shape (n_points,)
        How many rows, or how much weight, each stands for; a tensor, as what follows, where the points are one.
    of_row : ndarray of shape (n_rows,)
        The point that each row became.
    first_row : ndarray of shape (n_points,)
        The first row of each point.
    """

    points: Any
    weights: NDArray[np.float64]
    of_row: NDArray[np.intp]
    first_row: NDArray[np.intp]

    def taken(self, order: NDArray[np.intp]) -> DistinctPoints:
        """The same points in another order."""
        return DistinctPoints(
            self.points[order], self.weights[order], stable_order(order)[self.of_row], self.first_row[order]
        )


def distinct_points(X: Any, weights: NDArray[np.float64] | None = None) -> DistinctPoints:
    """The distinct rows of a table with their weights, near-copies merged.

    The order of the points depends on their values alone, not on the order of the rows or on how often one occurs.

    Parameters
    ----------
    X : ndarray or tensor of shape (n_rows, n_features), or SparsePoints
        Of sparse rows, equal ones are merged and near-copies left alone.
    weights : ndarray of shape (n_rows,), optional
        How many rows each stands for; one by default.

    Examples
    --------
    >>> import numpy as np
    >>> table = distinct_points(np.array([[1.0], [5.0], [1.0]]))
    >>> table.weights[table.of_row]
    array([2., 1., 2.])
    """
    weights = np.ones(len(X)) if weights is None else weights
    found = _exact(X, weights)
    copies = None if isinstance(X, SparsePoints) else _near_copies(found.points)
    if copies is None:
        return found
    group, n_groups = beside(X, copies.astype(np.int64)), int(copies.max()) + 1
    total = group_sums(found.weights, group, n_groups)
    sums = group_sums(found.points, group, n_groups, found.weights)
    middle = array_namespace(X).asarray(sums / total[:, None], dtype=X.dtype)
    return DistinctPoints(middle, total, group[found.of_row], group_least(found.first_row, group, n_groups))


def _exact(X: Any, weights: NDArray[np.float64]) -> DistinctPoints:
    """Equal rows put together, sorted by a hash of their values."""
    if isinstance(X, SparsePoints):
        return _exact_sparse(X.rows, weights)
    first, of_row = distinct_rows(X)
    return DistinctPoints(X[first], group_sums(beside(X, weights), of_row, len(first)), of_row, first)


def distinct_rows(X: Any) -> tuple[Any, Any]:
    """The first row of each kind, in an order that depends on the values alone, and the kind of each row.

    Examples
    --------
    >>> import numpy as np
    >>> first, kind = distinct_rows(np.array([[1.0], [5.0], [1.0], [-0.0], [0.0]]))
    >>> sorted(first.tolist()), bool(kind[0] == kind[2] != kind[1])
    ([0, 1, 3], True)
    """
    first, of_row = first_of_each(_hash(X))
    blocks = [slice(begin, begin + _ROWS_AT_ONCE) for begin in range(0, len(X), _ROWS_AT_ONCE)]
    if not all((X[first[of_row[rows]]] == X[rows]).all() for rows in blocks):
        first, of_row = first_of_each(X, axis=0)
    return first, of_row


def _exact_sparse(X: sparse.csr_array, weights: NDArray[np.float64]) -> DistinctPoints:
    """Equal sparse rows put together; rows of the same hash are compared in full."""
    canonical = X.copy()
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    ends = zip(canonical.indptr[:-1], canonical.indptr[1:])
    rows = [(canonical.indices[i:j].tobytes(), canonical.data[i:j].tobytes()) for i, j in ends]
    first_of: dict[tuple[bytes, bytes], int] = {}
    same = np.array([first_of.setdefault(row, i) for i, row in enumerate(rows)])
    kept = np.unique(same)
    # The order depends on the values alone.
    order = kept[np.argsort([zlib.crc32(rows[i][0] + rows[i][1]) for i in kept], kind="stable")]
    place = np.empty(X.shape[0], dtype=np.intp)
    place[order] = np.arange(len(order))
    of_row = place[same]
    total = np.bincount(of_row, weights).astype(np.float64)
    return DistinctPoints(SparsePoints(canonical[order]), total, of_row, order)


def _hash(X: Any) -> Any:
    """One 64-bit number a row, from its values, the same for arrays and tensors."""
    xp = array_namespace(X)
    total = xp.zeros_like(X[:, 0], dtype=xp.int64)
    # A block stays in the cache of the CPU; a device takes a column at once.
    step = len(X) if is_tensor(X) else _ROWS_AT_ONCE
    for begin in range(0, len(X), step):
        rows = slice(begin, begin + step)
        for column in X[rows].T:
            # Adding zero makes the two zeros one.
            mixed = (total[rows] ^ (double(column) + 0.0).view(xp.int64)) * _FACTOR
            # A shift of signed numbers brings their sign along, which the mask takes away.
            total[rows] = mixed ^ (mixed >> 29 & 2**35 - 1)
    # In the order of numbers without a sign.
    return total ^ -(2**63)


def _near_copies(points: Any) -> NDArray[np.integer] | None:
    """The group of each point, where some are copies of each other but for a last digit; None where there are none."""
    from scipy.sparse.csgraph import connected_components

    n_points = len(points)
    if n_points < 4:
        return None
    step = max(1, n_points // _SAMPLE)
    near = NeighborSearch(points, method="exact").query(points[::step], min(_LOOKED_AT, n_points - 1) + 1)[0][:, 1:]
    # Where a row has more copies than are looked at, these are met among a few random points.
    some = points[::step][:: -(-len(near) // _PAIRED)]
    reach = _gap_below(np.concatenate([to_array(near).ravel(), to_array(_distances_between(some))]))
    if reach is None:
        return None
    distances, indices = NeighborSearch(points).query_self(min(_MERGED_AT_ONCE, n_points))
    p, place = array_namespace(distances).where(distances[:, 1:] <= reach)
    pairs = to_array(p), to_array(indices[p, place + 1])
    links = sparse.csr_array((np.ones(len(p)), pairs), shape=(n_points, n_points))
    n_groups, group = connected_components(links, directed=False)
    return group if 1 < n_groups < n_points else None


def _distances_between(points: Any) -> Any:
    """Distances between all pairs of some points."""
    if is_tensor(points):
        return array_namespace(points).pdist(double(points))
    from scipy.spatial.distance import pdist

    return pdist(points)


def _gap_below(distances: NDArray[np.float64]) -> float | None:
    """A length between the distances of copies and those of points, where these are a thousand times larger."""
    found = np.sort(distances[distances > 0])
    if len(found) < 2:
        return None
    ratio = found[1:] / found[:-1]
    widest = int(ratio.argmax())
    # Copies are the rule below the gap, points above: one odd pair on either side is no pattern.
    if ratio[widest] < _GAP or widest < 1 or len(found) - widest < 3:
        return None
    return float(np.sqrt(found[widest]) * np.sqrt(found[widest + 1]))
