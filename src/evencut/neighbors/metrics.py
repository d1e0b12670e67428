"""Metrics: sparse rows, given distances and points of another metric as points with a method `distances`.

Searches and kernels use that method, whatever the points are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from .._runtime import counted
from ..tensors import AnyFloats, Floats, Places, is_tensor
from .float_range import check_pairs, check_rows, moderate_rows

#: How points are compared: one of `METRICS`, or a function of two points.
Metric = str | Callable[[Any, Any], float]

#: The metrics by name: those of coordinates without angles, and "precomputed" distances.
METRICS = (
    "euclidean",
    "cosine",
    "precomputed",
    "manhattan",
    "chebyshev",
    "canberra",
    "braycurtis",
    "correlation",
    "haversine",
    "hamming",
    "jaccard",
    "dice",
    "l1",
    "l2",
    "cityblock",
)
#: Other names of the same.
_SYNONYMS = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}
#: Those that measure lengths, in the unit of the columns, and those that look at the directions of rows; under the
#: others only the unit of the whole table cancels.
LENGTHS = ("euclidean", "precomputed", "manhattan", "chebyshev", "l1", "l2", "cityblock")
DIRECTIONS = ("cosine", "correlation", "haversine")


class _ByDistances:
    """Points that are known by their method `distances`, of no norm that a KD-tree knows."""

    shape: tuple[int, int]
    norm: float | None = None

    def __len__(self) -> int:
        return self.shape[0]


class GivenDistances(_ByDistances):
    """Points known by their distances to the fitted ones.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_fitted)
    rows : ndarray, optional
        The rows of the table that are meant, all by default; where the table is square these are also the columns
        that count when something is searched among them.

    Examples
    --------
    >>> import numpy as np
    >>> line = GivenDistances(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    >>> line[[0, 2]].distances(line[[2]])
    array([[3.],
           [0.]])
    """

    def __init__(self, table: AnyFloats, rows: Places | None = None):
        self.table = table
        self.rows = np.arange(len(table)) if rows is None else rows
        self.shape, self.dtype = (len(self.rows), table.shape[1]), table.dtype

    def __getitem__(self, chosen: Any) -> GivenDistances:
        return GivenDistances(self.table, np.atleast_1d(self.rows[chosen]))

    def distances(self, to: GivenDistances) -> AnyFloats:
        """Distances of these points (rows) to others (columns)."""
        return self.table[self.rows[:, None], to.rows]


class SparsePoints(_ByDistances):
    """Sparse rows under Euclidean distance.

    Parameters
    ----------
    rows : CSR array of shape (n, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> points = SparsePoints(sparse.csr_array(np.diag([3.0, 4.0])))
    >>> points.distances(points)
    array([[0., 5.],
           [5., 0.]])
    """

    def __init__(self, rows: sparse.csr_array):
        self.rows = rows
        self.shape, self.dtype = rows.shape, rows.dtype

    def __getitem__(self, chosen: Any) -> SparsePoints:
        return SparsePoints(self.rows[chosen])

    def distances(self, to: SparsePoints) -> AnyFloats:
        """Distances of these points (rows) to others (columns)."""
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(self.rows, to.rows)


class MetricPoints(_ByDistances):
    """Points with coordinates under a metric of scikit-learn other than the Euclidean one.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    metric : str or callable
    rows : ndarray of shape (n,), optional
        Their numbers in the table they come from, for errors; in order by default.

    Examples
    --------
    >>> import numpy as np
    >>> corners = MetricPoints(np.eye(2), "manhattan")
    >>> corners.distances(corners)
    array([[0., 2.],
           [2., 0.]])
    """

    def __init__(self, X: AnyFloats, metric: Any, rows: Places | None = None):
        self.X, self.metric = X, metric
        self.rows = np.arange(len(X)) if rows is None else rows
        self.shape, self.dtype = X.shape, X.dtype
        # Exponent of the norm, if a KD-tree knows it.
        self.norm = {"manhattan": 1.0, "chebyshev": float("inf")}.get(metric)

    def __getitem__(self, chosen: Any) -> MetricPoints:
        return MetricPoints(np.atleast_2d(self.X[chosen]), self.metric, np.atleast_1d(self.rows[chosen]))

    def distances(self, to: MetricPoints) -> AnyFloats:
        """Distances of these points (rows) to others (columns)."""
        from sklearn.metrics import pairwise_distances

        # These compare which columns are not zero.
        if self.metric in ("jaccard", "dice"):
            return np.asarray(pairwise_distances(self.X != 0, to.X != 0, metric=self.metric))
        table = np.asarray(pairwise_distances(self.X, to.X, metric=self.metric), dtype=np.float64)
        if callable(self.metric):
            _check_own(table, self.rows, to.rows, self.metric)
        return check_pairs(np.maximum(table, 0, out=table), self.rows, to.rows, self.metric)


def is_dense(X: Any) -> bool:
    """Whether the points are rows of coordinates in one array, compared by Euclidean distance."""
    return not hasattr(X, "distances")


def _check_own(table: Floats, rows: Places, columns: Places, metric: Any) -> None:
    """Raise for distances of a function that are none."""
    bad = np.argwhere(~(table >= 0))
    if bad.size:
        p, q = bad[0]
        raise ValueError(
            f"metric={getattr(metric, '__name__', metric)!r} gives {table[p, q]:g} for rows {rows[p]} and "
            f"{columns[q]}; distances are numbers from 0."
        )


def fill_distances(graph: Any) -> Floats:
    """Sparse distances, such as a neighbour graph, as a table.

    Of two directions the one that is stored counts, or the shorter one. If a row of a square graph stores few, pairs
    that are not stored are as far as the shortest path between them. All other pairs are twice as far as the longest.

    Examples
    --------
    >>> fill_distances(sparse.csr_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(4, 4)))
    array([[0., 1., 3., 6.],
           [1., 0., 2., 6.],
           [3., 2., 0., 6.],
           [6., 6., 6., 0.]])
    """
    n_rows, n_columns = graph.shape
    if max(n_rows, n_columns) > 20_000:
        raise ValueError(
            f"sparse distances of {max(n_rows, n_columns)} points are more than the 20000 that fit in memory; "
            "make an affinity of them, for KernelClustering(kernel='precomputed'), which stays sparse."
        )
    entries = sparse.coo_array(graph)
    table = np.full(graph.shape, np.inf)
    np.minimum.at(table, (entries.row, entries.col), entries.data)
    if n_rows == n_columns:
        table = np.minimum(table, table.T)
        np.fill_diagonal(table, 0.0)
        # The graphs that candidates come from need more neighbours than these.
        if (np.isfinite(table).sum(axis=1) <= 30).any():
            table = shortest_path(sparse.csr_array(entries), method="D", directed=False)
    known = np.isfinite(table)
    table[~known] = 2 * float(table.max(initial=0.0, where=known)) or 1.0
    return table


def _on_the_sphere(X: AnyFloats) -> AnyFloats:
    """Latitudes and longitudes, in radians, as points of the unit sphere, whose chords are in the order of the arcs."""
    if X.shape[1] != 2:
        raise ValueError(f"metric='haversine' takes latitude and longitude, but X has {X.shape[1]} columns.")
    latitude, longitude = X.T
    beyond = np.flatnonzero(np.abs(latitude) > np.pi / 2 + 1e-6)
    if beyond.size:
        raise ValueError(
            f"row {beyond[0]} has the latitude {latitude[beyond[0]]:g}, and metric='haversine' takes radians, at most "
            "pi/2, as scikit-learn does; pass np.radians(X)."
        )
    across = np.cos(latitude)
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])


def points_in(X: Any, metric: Any = "euclidean") -> Any:
    """Rows as points of a metric, for any kernel or search: themselves, of unit length, or an object with distances.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, n_features), or distances of shape (n, n)
    metric : str or callable
        One of `METRICS`, or a function from two rows to their distance. Cosine is Euclidean distance between rows of
        unit length, exactly: its square is twice the cosine distance. Haversine is that between points of the sphere.

    Examples
    --------
    >>> import numpy as np
    >>> points_in(np.array([[3.0, 4.0]]), "cosine")
    array([[0.6, 0.8]])
    """
    if not is_dense(X):
        return X
    metric = _SYNONYMS.get(metric, metric)
    if metric in ("euclidean", "cosine"):
        rows = X if metric == "euclidean" else unit_rows(X)
        return SparsePoints(sparse.csr_array(rows)) if sparse.issparse(rows) else rows
    if sparse.issparse(X):
        raise ValueError(f"metric={metric!r} does not take sparse rows; use 'euclidean' or 'cosine', or X.toarray().")
    if metric == "precomputed":
        return GivenDistances(X)
    if metric == "haversine":
        return _on_the_sphere(X)
    check_rows(X, metric)
    return MetricPoints(moderate_rows(X) if metric == "correlation" else X, metric)


def coordinates(points: Any) -> Any:
    """Points as rows of one array whose Euclidean distances approximate theirs.

    Sparse rows along their 50 leading singular vectors; others by classical scaling of their distances.

    Examples
    --------
    >>> import numpy as np
    >>> square = points_in(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), "manhattan")
    >>> coordinates(square).shape
    (4, 2)
    """
    if is_dense(points):
        return points
    max_dimensions = 50
    if isinstance(points, SparsePoints):
        from sklearn.decomposition import TruncatedSVD

        n_components = max(min(max_dimensions, min(points.shape) - 1), 1)
        return TruncatedSVD(n_components, random_state=0).fit_transform(points.rows)
    # The eigenvectors of more take minutes.
    if len(points) > 5000:
        raise ValueError(
            f"{len(points)} points known by their distances are too many to give coordinates to; take a sample of "
            "at most 5000."
        )
    squared = points.distances(points).astype(np.float64) ** 2
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(-0.5 * squared)
    leading = np.flatnonzero(values > 1e-3 * max(values[-1], np.finfo(float).tiny))[::-1][:max_dimensions]
    # If all distances are zero all points are at one place, which is a place on a line.
    return vectors[:, leading] * np.sqrt(values[leading]) if leading.size else np.zeros((len(points), 1))


def unit_rows(X: Any, first: int = 0) -> Any:
    """Rows divided by their lengths, in the precision and kind given; `first` is the number of the first row.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[0.0, 2.0]], dtype=np.float32))
    array([[0., 1.]], dtype=float32)
    """
    from sklearn.preprocessing import normalize

    filled = abs(X).max(axis=1).toarray().ravel() > 0 if sparse.issparse(X) else (X != 0).any(axis=1)
    if not filled.all():
        rows = np.flatnonzero(~filled)
        raise ValueError(
            f"row {first + rows[0]} is zero throughout ({counted(len(rows), 'such row')}), and has no angle with "
            "others under metric='cosine'; leave such rows out, or use metric='euclidean'."
        )
    return normalize(moderate_rows(X))


def check_finite(X: Any, columns: Any = None) -> Any:
    """A matrix as it is, once it is seen to hold no infinity, and no NaN if it is sparse.

    Dense NaN and anything else are left to others. `columns` are names for the error.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> check_finite(sparse.csr_array(np.eye(2))).nnz
    2
    """
    is_sparse = sparse.issparse(X)
    values = X.data if is_sparse else np.asarray(X)
    is_matrix = values.dtype.kind == "f" and (is_sparse or values.ndim == 2)
    if is_matrix and (np.isinf(values).any() or (is_sparse and np.isnan(values).any())):
        raise ValueError(where_not_finite(X, "X", columns))
    return X


def where_not_finite(rows: Any, name: str, columns: Any = None, row_word: str = "row") -> str:
    """What to say of a matrix that holds infinity, or else NaN: where the first is.

    Examples
    --------
    >>> import numpy as np
    >>> where_not_finite(np.array([[1.0, np.inf]]), "X")
    'X contains infinity in row 0, column 1 (1 value in all); fill them in or leave those rows out.'
    """
    entries = sparse.coo_array(rows, dtype=np.float64)
    infinite = np.isinf(entries.data)
    bad = infinite if infinite.any() else np.isnan(entries.data)
    row, column = min(zip(entries.row[bad].tolist(), entries.col[bad].tolist()))
    which = column if columns is None else repr(columns[column])
    return (
        f"{name} contains {'infinity' if infinite.any() else 'NaN'} in {row_word} {row}, column {which} "
        f"({counted(bad.sum(), 'value')} in all); fill them in or leave those rows out."
    )


def check_distances(table: AnyFloats) -> AnyFloats:
    """A matrix of distances as it is, once it is seen to be one.

    Examples
    --------
    >>> import numpy as np
    >>> check_distances(np.array([[0.0, 1.0], [1.0, 0.0]])).shape
    (2, 2)
    """
    if table.shape[0] != table.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs distances between all points, a square matrix, but X has shape {table.shape}."
        )
    check_not_negative(table)
    tolerance = {4: 1e-4, 8: 1e-8}[table.dtype.itemsize] * float(table.max(initial=0))
    own = int(np.abs(table.diagonal()).argmax())
    if abs(table[own, own]) > tolerance:
        raise ValueError(
            f"the distance of point {own} to itself is {table[own, own]:g}, not 0; X looks like an affinity, for which "
            "there is KernelClustering(kernel='precomputed')."
        )
    gap = np.abs(table - table.T)
    if gap.max(initial=0) > tolerance:
        p, q = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"distances must be symmetric, but X[{p}, {q}] = {table[p, q]:g} and X[{q}, {p}] = {table[q, p]:g}; "
            "pass (X + X.T) / 2, or their minimum."
        )
    return table


def check_not_negative(table: AnyFloats) -> None:
    """Raise where a distance is negative."""
    if table.min(initial=0) < 0:
        p, q = np.unravel_index(int(table.argmin()), table.shape)
        raise ValueError(f"X[{p}, {q}] = {table[p, q]:g} is negative, but distances are not; check how X was made.")


def squared_distances(X: Any, Y: Any = None) -> AnyFloats:
    """Squared distances (Euclidean, save for points of another metric); exactly symmetric between the points of `X`.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0], [3.0]]))
    array([[0., 9.],
           [9., 0.]])
    """
    if not is_dense(X):
        squared = X.distances(X if Y is None else Y) ** 2
        if Y is None:
            np.fill_diagonal(squared, 0)
        return squared
    if is_tensor(X):
        from ..gpu.naive import squared_distances as of_tensors

        return of_tensors(X, X if Y is None else Y)
    # Far from the origin |x|^2 + |y|^2 - 2xy cancels; about the mean it does not.
    centre = X.mean(axis=0)
    X = X - centre
    Y_ = X if Y is None else Y - centre
    norms = np.einsum("ij,ij->i", X, X)
    other = norms if Y is None else np.einsum("ij,ij->i", Y_, Y_)
    squared = X @ Y_.T
    # A few rows at a time stay in the cache through all steps.
    step = max(1, 32_000 // max(1, len(other)))
    for first in range(0, len(norms), step):
        rows = squared[first : first + step]
        rows *= -2
        rows += norms[first : first + step, None] + other
        np.maximum(rows, 0, out=rows)
    if Y is None:
        np.fill_diagonal(squared, 0)
    return squared
