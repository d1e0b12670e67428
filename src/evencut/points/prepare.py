"""What every estimator and the diagnosis do to a table before distances are taken: scale it, take rows to unit length
for cosine, and merge copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .. import _runtime
from ..neighbors import NeighborSearch, SparsePoints, check_magnitude, exact_scale, is_dense, points_in
from ..neighbors.float_range import sum_scale
from ..neighbors.metrics import DIRECTIONS, LENGTHS, check_not_negative
from ..tensors import AnyFloats, Floats, Places, arange_like, asarray_like, is_tensor, stable_order, to_array
from .distinct import DistinctPoints, condense, distinct_points
from .scale import CoordinateSystem, feature_scale


@dataclass(frozen=True, eq=False)
class PreparedPoints:
    """The points that are clustered, and how the rows of a table became them.

    Parameters
    ----------
    points : ndarray or tensor of shape (n_points, n_features), or sparse points, or points of another metric
        Distinct, scaled, in an order that depends on their values alone. Whatever is said of them is an array.
    weights : ndarray of shape (n_points,)
        Weight of the rows that each stands for.
    point_of_row : ndarray of shape (n_rows,)
        The point of each row; -1 for rows of weight zero.
    first_row : ndarray of shape (n_points,)
        The first row of each point.
    feature_scale : ndarray of shape (n_features,)
        What the columns were divided by before they were brought to a system.
    metric : str
        As in :func:`evencut.neighbors.points_in`.
    system : CoordinateSystem, optional
        The system that the points were brought to after their columns were divided.
    """

    points: Any
    weights: Floats
    point_of_row: Places
    first_row: Places
    feature_scale: Floats
    metric: Any = "euclidean"
    system: CoordinateSystem | None = None

    @property
    def in_memory(self) -> PreparedPoints:
        """The same with the points in the memory of the CPU."""
        return replace(self, points=to_array(self.points)) if is_tensor(self.points) else self

    @property
    def given_order(self) -> Places:
        """The points in the order of their first rows."""
        return np.argsort(self.first_row, kind="stable")

    @property
    def divisor(self) -> Floats:
        """What the columns were divided by in all, that of a system of other units included."""
        factor = None if self.system is None else self.system.factor
        return self.feature_scale if factor is None else self.feature_scale / factor

    def condensed(self, max_points: int | None, n_jobs: int | None = None) -> PreparedPoints:
        """The same points as at most so many weighted centres, where they can be averaged."""
        if max_points is None or not is_dense(self.points) or len(self.points) <= max_points:
            return self
        weights, first_row = asarray_like(self.points, self.weights), asarray_like(self.points, self.first_row)
        distinct = DistinctPoints(self.points, weights, arange_like(self.points), first_row)
        few = condense(distinct, max_points, n_jobs=n_jobs)
        point_of_row = np.where(self.point_of_row >= 0, to_array(few.point_of_row)[self.point_of_row], -1)
        weights, first_row = to_array(few.weights), to_array(few.first_row)
        return replace(self, points=few.points, weights=weights, point_of_row=point_of_row, first_row=first_row)

    def taken(self, indices: Places) -> PreparedPoints:
        """Some of the points, each as one row."""
        points, weights, first_row = _taken(self.points, indices), self.weights[indices], self.first_row[indices]
        return replace(self, points=points, weights=weights, point_of_row=np.arange(len(indices)), first_row=first_row)

    def scaled(self, X: Any) -> Any:
        """New rows as points: in the units, and under the metric, of those that were prepared."""
        if self.metric == "precomputed":
            check_not_negative(X)
        if isinstance(self.points, SparsePoints) and not sparse.issparse(X):
            X = sparse.csr_array(X)
        elif sparse.issparse(X) and is_dense(self.points):
            X = X.toarray()
        points = points_in(_divided(X, self.feature_scale), self.metric)
        return points if self.system is None else self.system(points)


def prepare_points(
    X: Any,
    weights: Floats | None = None,
    *,
    scale: str | None = "auto",
    has_units: bool = False,
    merge: bool = True,
    max_points: int | None = None,
    names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    metric: Any = "euclidean",
) -> PreparedPoints:
    """The points of a table: rows of weight zero left out, columns scaled, copies merged.

    Parameters
    ----------
    X : ndarray, tensor or CSR array of shape (n_rows, n_features), or distances of shape (n_rows, n_rows)
    weights : array of shape (n_rows,), optional
        How many rows each stands for; one by default.
    scale : {"auto", "standard", None}
        As in :func:`feature_scale`; `"auto"` scales nothing under another metric than the Euclidean, where columns have
        one unit, and in sparse rows, whose columns are counts of one kind.
    has_units : bool
        Whether lengths have a meaning; otherwise a table of very large or small values is rescaled, exactly.
    merge : bool
        Whether copies become one point; otherwise every row stays as it is, in its order.
    max_points : int, optional
        More points than this are condensed to so many centres (:func:`condense`).
    names : sequence, optional
        Of the columns, for errors.
    n_jobs : int, optional
    metric : str
        As in :func:`evencut.neighbors.points_in`; columns are scaled before rows take unit length.

    Examples
    --------
    >>> import numpy as np
    >>> table = prepare_points(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]))
    >>> len(table.points), table.weights[table.point_of_row].tolist()
    (2, [2.0, 1.0, 2.0])
    """
    weights = check_weights(weights, X.shape[0])
    positive = np.flatnonzero(weights > 0)
    rows, counts = (X, weights) if len(positive) == X.shape[0] else (_taken(X, positive), weights[positive])
    if scale == "auto" and (metric not in ("euclidean", "l2") or sparse.issparse(X)):
        scale = None
    if scale is not None and sparse.issparse(X):
        raise ValueError(f"scale={scale!r} does not take sparse rows; scale them first, or leave it to 'auto'.")
    if metric == "precomputed":
        divisor = np.full(X.shape[1], _unit_of(X, metric, has_units, names))
        points = points_in(_divided(X, divisor), metric)[positive]
    else:
        divisor = np.ones(X.shape[1]) if scale is None else feature_scale(rows, scale, counts)
        scaled = _divided(rows, divisor)
        if not sparse.issparse(X) and (unit := _unit_of(scaled, metric, has_units, names, divisor)) != 1:
            divisor = divisor * unit
            scaled = _divided(rows, divisor)
        points = points_in(scaled, metric)
    has_coordinates = is_dense(points)
    if isinstance(points, SparsePoints):
        _check_sparse_magnitude(points.rows)
    if not merge:
        return unmerged_points(points, weights, positive, divisor, metric)
    distinct = distinct_points(points, counts)
    # Middles of sparse rows would be dense.
    if max_points is not None and has_coordinates:
        distinct = condense(distinct, max_points, n_jobs=n_jobs)
    if has_coordinates and len(distinct.points) > _runtime.MANY_POINTS:
        distinct = distinct.taken(asarray_like(distinct.weights, near_order(distinct.points)))
    point_of_row = np.full(X.shape[0], -1, dtype=np.intp)
    point_of_row[positive] = to_array(distinct.point_of_row)
    first = positive[to_array(distinct.first_row)]
    return PreparedPoints(distinct.points, to_array(distinct.weights), point_of_row, first, divisor, metric)


def check_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Weights of the rows as an array; ones if none are given."""
    weights = np.ones(n_rows) if sample_weight is None else to_array(sample_weight).astype(np.float64)
    weights = np.full(n_rows, weights) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of {n_rows} rows.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every point; give at least one non-zero weight.")
    return weights


def unmerged_points(points: Any, weights: Floats, rows: Places, divisor: Floats, metric: str) -> PreparedPoints:
    """Every row a point, in the order given."""
    point_of_row = np.full(len(weights), -1, dtype=np.intp)
    point_of_row[rows] = np.arange(len(rows))
    return PreparedPoints(points, weights[rows], point_of_row, rows, divisor, metric)


def _taken(X: Any, rows: Places) -> Any:
    return X[asarray_like(X, rows)] if is_tensor(X) else X[rows]


def _unit_of(
    X: Any, metric: str, has_units: bool, names: Sequence[Any] | None, divisor: Floats | None = None
) -> float:
    """What values are divided by, so that distances can be computed and squared; lengths with a meaning are refused."""
    if metric in DIRECTIONS or callable(metric):
        return 1.0
    if metric not in LENGTHS:
        return sum_scale(X)
    if has_units:
        check_magnitude(X, names)
        return 1.0
    return exact_scale(X, names, divisor)


def _divided(rows: Any, divisor: Floats) -> Any:
    if np.all(divisor == 1):
        return rows
    if hasattr(rows, "astype"):
        return (rows / divisor).astype(rows.dtype, copy=False)
    return (rows / asarray_like(rows, divisor).to(rows.dtype)).contiguous()


def _check_sparse_magnitude(X: sparse.csr_array) -> None:
    """Raise where squares of the values leave the range of floats."""
    largest = float(np.abs(X.data).max(initial=0.0))
    if largest > 1e140 or (0 < largest < 1e-140):
        raise ValueError(
            f"the values of X reach {largest:.3g}, and squares of such values leave the range of floating-point "
            "numbers; divide X by that first."
        )


def near_order(X: AnyFloats) -> Places:
    """An order of the points in which those near each other mostly follow one another (the Z-order curve).

    Loops over a large graph of points in this order find their neighbours in the cache and take half the time. Tensors
    are ordered by the nearest of some of them, and these by their distance from the first.

    Examples
    --------
    >>> import numpy as np
    >>> near_order(np.array([[0.0, 0.0], [9.0, 9.0], [1.0, 0.0], [8.0, 9.0]]))
    array([0, 2, 3, 1])
    """
    if is_tensor(X):
        pivots = X[:: max(256, -(-len(X) // 4096))]
        distance = ((pivots - pivots[:1]) ** 2).sum(axis=1)
        own = NeighborSearch(pivots[stable_order(distance)]).query(X, 1)[1][:, 0]
        return to_array(stable_order(own))
    # Far outliers share the outermost cells rather than squeeze all others into one.
    low, high = np.quantile(X[:: -(-len(X) // 4096)], (0.01, 0.99), axis=0)
    widest = np.argsort(low - high, kind="stable")[:8]
    n_bits = min(16, 62 // len(widest))
    code = np.zeros(len(X), dtype=np.uint64)
    for place, feature in enumerate(widest):
        reach = high[feature] - low[feature] or 1.0
        cells = np.clip((X[:, feature] - low[feature]) / reach, 0, 1) * (2**n_bits - 1)
        column = cells.astype(np.uint64)
        for bit in range(n_bits):
            code |= (column >> np.uint64(bit) & np.uint64(1)) << np.uint64(bit * len(widest) + place)
    return np.argsort(code, kind="stable")
