"""What an affinity is: a symmetric matrix to be multiplied, rescaled and looked into, wherever its entries are kept.

Arrays, tensors and sparse graphs are wrapped once, at the door (`as_affinity`); criteria and solvers ask the object
what it can do and never look at its type, so that a new kind of affinity is one class.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from .. import tensors
from ..tensors import AnyFloats, AnyInts, Floats, Places

# Solvers square sums of affinities; single precision has less of a range.
LARGEST_SUM = {8: 1e140, 4: 1e30}
SMALLEST_SUM = {8: 1e-140, 4: 1e-30}
#: What users give and get: a dense array, a scipy sparse matrix, or an affinity whose rows are computed when needed.
AffinityLike: TypeAlias = "AnyFloats | sparse.csr_array | Affinity"


class Affinity(Protocol):
    """A symmetric matrix of affinities.

    A new class needs `shape`, `dtype`, `@`, `diagonal`, `block`, `rescaled` and `submatrix`; the rest follows
    from products.

    Attributes
    ----------
    shape : tuple of two int
    dtype : float type
    graph : CSR array or None
        The entries, where the affinity is a sparse graph.
    array : ndarray, tensor or None
        The entries, where all of them are in memory.
    is_graph, is_array, is_lazy : bool
        Whether it is a sparse matrix in memory, a dense one, or its entries are computed or kept elsewhere.
    rounding : float
        The relative gain of energy below which products to clusters are too inexact to tell.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    graph: sparse.csr_array | None = None
    array: AnyFloats | None = None
    is_graph: bool = False
    is_array: bool = False
    is_lazy: bool = True
    rounding: float = 1e-12

    def __matmul__(self, other: AnyFloats) -> AnyFloats: ...

    def asarray(self, values: Any) -> Any:
        """Values as arrays of the kind that the affinity is multiplied with."""
        return values if isinstance(values, np.ndarray) else tensors.to_array(values)

    def matmul_fast(self, other: AnyFloats) -> AnyFloats:
        """The product with as many digits as a start needs, where that is quicker."""
        return self @ other

    def diagonal(self) -> AnyFloats:
        """The affinity of each point with itself."""
        ...

    def block(self, rows: Any, columns: Any = slice(None)) -> AnyFloats:
        """The dense block at some rows and columns (slices or index arrays)."""
        ...

    def rescaled(self, scale: AnyFloats) -> Affinity:
        r"""The affinity :math:`s_p s_q A_{pq}`."""
        ...

    def submatrix(self, points: Places) -> Affinity:
        """The affinity among some of the points, in the order given."""
        ...

    @property
    def entries(self) -> Any:
        """What a user holds: the sparse graph, the array, or this object where rows are computed when needed."""
        return self.graph if self.graph is not None else self.array if self.array is not None else self

    def least(self) -> float:
        """The smallest entry; zero where only products are known, whose entries are never negative."""
        return 0.0

    def degrees(self) -> Floats:
        r"""Node degrees :math:`d_p = \sum_q A_{pq}`."""
        return tensors.as_float64(self @ self.asarray(np.ones(self.shape[1])))

    def links(self, labels: AnyInts, n_clusters: int, scale: AnyFloats | None = None) -> Floats:
        """Sum of the affinities of each point (row) with each cluster (column), columns scaled where asked for."""
        members = tensors.one_hot(labels, n_clusters, scale)
        return tensors.as_float64(self @ tensors.array_namespace(members).asarray(members, dtype=self.dtype))

    def updated_links(self, links: Floats, old_labels: AnyInts, labels: AnyInts, n_clusters: int) -> Floats:
        """The links to clusters of new labels, from those of the old ones."""
        return self.links(labels, n_clusters)

    def links_to_some(self, points: AnyInts, labels: AnyInts, n_clusters: int) -> Floats:
        """The links of every point to clusters of some points, a block of rows at a time."""
        step = max(1, 4_000_000 // len(points))
        blocks = [slice(first, first + step) for first in range(0, self.shape[0], step)]
        links = [DenseAffinity(self.block(rows, points)).links(labels, n_clusters) for rows in blocks]
        return tensors.array_namespace(labels).concatenate(links)

    def inside(self, labels: AnyInts, n_clusters: int) -> Floats:
        """Sum of the affinities inside each cluster."""
        own = self.links(labels, n_clusters)[tensors.arange_like(labels), labels]
        return tensors.group_sums(own, labels, n_clusters)


class DenseAffinity(Affinity):
    """All entries in one array or tensor.

    Examples
    --------
    >>> import numpy as np
    >>> DenseAffinity(np.ones((2, 2))).rescaled(np.array([1.0, 2.0])).array
    array([[1., 2.],
           [2., 4.]])
    """

    array: AnyFloats
    is_array, is_lazy = True, False

    def __init__(self, array: AnyFloats):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __matmul__(self, other: AnyFloats) -> AnyFloats:
        return self.array @ other

    def asarray(self, values: Any) -> Any:
        """Values of the kind of the entries, where those are."""
        return tensors.asarray_like(self.array, values)

    def diagonal(self) -> AnyFloats:
        """The affinity of each point with itself."""
        return self.array.diagonal()

    def block(self, rows: Any, columns: Any = slice(None)) -> AnyFloats:
        """A block of the array."""
        return self.array[rows][:, columns]

    def rescaled(self, scale: AnyFloats) -> DenseAffinity:
        """A new array, or this one where every scale is one."""
        if (scale == 1).all():
            return self
        scale = tensors.array_namespace(self.array).asarray(self.asarray(scale), dtype=self.dtype)
        return DenseAffinity(self.array * scale * scale[:, None])

    def submatrix(self, points: Places) -> DenseAffinity:
        """A copy of the entries among some of the points."""
        points = self.asarray(points)
        return DenseAffinity(self.array[points[:, None], points])

    def least(self) -> float:
        """The smallest entry."""
        return float(self.array.min()) if len(self.array) else np.inf

    def degrees(self) -> Floats:
        """Sums of the rows, in double precision."""
        xp = tensors.array_namespace(self.array)
        return xp.sum(self.array, axis=1, dtype=xp.float64)


class GraphAffinity(Affinity):
    """The entries of a sparse graph, as CSR rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> pairs = GraphAffinity(sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2)))))
    >>> pairs.links(np.array([0, 0, 0, 1]), 2)
    array([[2., 0.],
           [2., 0.],
           [1., 1.],
           [1., 1.]])
    """

    graph: sparse.csr_array
    is_graph, is_lazy = True, False

    def __init__(self, graph: sparse.csr_array):
        self.graph = graph
        self.shape, self.dtype = graph.shape, graph.dtype

    def __matmul__(self, other: AnyFloats) -> AnyFloats:
        return self.graph @ other

    def diagonal(self) -> AnyFloats:
        """The affinity of each point with itself."""
        return self.graph.diagonal()

    def block(self, rows: Any, columns: Any = slice(None)) -> AnyFloats:
        """A dense block of the graph."""
        return self.graph[rows][:, columns].toarray()

    def rescaled(self, scale: AnyFloats) -> GraphAffinity:
        """The same graph with new entries, or this one where every scale is one."""
        if np.all(scale == 1):
            return self
        graph, scale = self.graph, scale.astype(self.dtype, copy=False)
        data = graph.data * np.repeat(scale, np.diff(graph.indptr)) * scale[graph.indices]
        return GraphAffinity(sparse.csr_array((data, graph.indices, graph.indptr), shape=graph.shape))

    def submatrix(self, points: Places) -> GraphAffinity:
        """The graph of some of the points."""
        return GraphAffinity(self.graph[points][:, points])

    def least(self) -> float:
        """The smallest entry, those that are not stored counted as zero."""
        return float(self.graph.data.min(initial=0))

    def degrees(self) -> Floats:
        """Sums of the rows, in double precision."""
        return np.asarray(self.graph.sum(axis=1, dtype=np.float64)).ravel()

    def links(self, labels: AnyInts, n_clusters: int, scale: AnyFloats | None = None) -> Floats:
        """Entry by entry: a table of all members would cost as much for a few rows as for all."""
        graph = self.graph
        data = graph.data if scale is None else graph.data * scale[graph.indices]
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        cells = rows * n_clusters + labels[graph.indices]
        links = np.bincount(cells, data, graph.shape[0] * n_clusters).astype(np.float64, copy=False)
        return links.reshape(-1, n_clusters)

    def inside(self, labels: AnyInts, n_clusters: int) -> Floats:
        """Sum of the affinities inside each cluster, in blocks of bounded size."""
        graph, indptr = self.graph, self.graph.indptr
        inside = np.zeros(n_clusters)
        first = 0
        while first < len(labels):
            full = int(np.searchsorted(indptr, indptr[first] + 100_000, "right")) - 1
            last = max(full, first + 1)
            entries = slice(indptr[first], indptr[last])
            row_labels = np.repeat(labels[first:last], np.diff(indptr[first : last + 1]))
            same = row_labels == labels[graph.indices[entries]]
            inside += np.bincount(row_labels[same], graph.data[entries][same], n_clusters)
            first = last
        return inside


def as_affinity(matrix: Any) -> Affinity:
    """A matrix of any kind as an affinity: an array, a tensor, a sparse graph, sums of kernels; an affinity as it is.

    Examples
    --------
    >>> import numpy as np
    >>> as_affinity(np.eye(2)).degrees()
    array([1., 1.])
    """
    if isinstance(matrix, np.ndarray):
        return DenseAffinity(matrix)
    if hasattr(matrix, "links"):
        return matrix
    if sparse.issparse(matrix):
        return GraphAffinity(sparse.csr_array(matrix))
    if hasattr(matrix, "in_float64"):
        from .lazy import PairsAffinity

        return PairsAffinity(matrix)
    if not tensors.is_tensor(matrix):
        return DenseAffinity(np.asarray(matrix))
    if matrix.layout != tensors.array_namespace(matrix).strided:
        return GraphAffinity(tensors.in_memory(matrix.detach()))
    # Tensors of two precisions do not multiply.
    return DenseAffinity(matrix.detach().double())


def weighted(affinity: AffinityLike, weights: Any = None) -> tuple[Affinity, Floats]:
    r"""The affinity :math:`w_p w_q A_{pq}` of points that count as many times, checked, and the weights.

    Examples
    --------
    >>> import numpy as np
    >>> weighted(np.ones((2, 2)), [1.0, 2.0])[0].array
    array([[1., 2.],
           [2., 4.]])
    """
    affinity = as_affinity(affinity)
    n_points = affinity.shape[0]
    weights = affinity.asarray(np.ones(n_points) if weights is None else weights)
    weights = weights if weights.dtype == np.float64 else tensors.as_float64(weights)
    if weights.shape != (n_points,):
        raise ValueError(f"weights has shape {tuple(weights.shape)}; give one weight for each of {n_points} points.")
    if not ((weights > 0) & (weights < np.inf)).all():
        raise ValueError(f"weights must be positive and finite, but the smallest is {float(weights.min()):g}.")
    with np.errstate(over="ignore"):
        matrix = affinity.rescaled(weights)
    check_entries(matrix, "the affinity" if (weights == 1).all() else "the affinity times the weights")
    return matrix, weights


def degrees(affinity: AffinityLike) -> Floats:
    r"""Node degrees :math:`d_p = \sum_q A_{pq}`, for a Gaussian kernel proportional to the density (eq. 67).

    Examples
    --------
    >>> import numpy as np
    >>> degrees(np.ones((2, 2)))
    array([2., 2.])
    """
    return as_affinity(affinity).degrees()


def scale_affinity(affinity: AffinityLike, scale: AnyFloats) -> Any:
    r"""The affinity :math:`s_p s_q A_{pq}`, of the kind given; the affinity itself where every scale is one.

    Examples
    --------
    >>> import numpy as np
    >>> scale_affinity(np.ones((2, 2)), np.array([1.0, 2.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    scaled = as_affinity(affinity).rescaled(scale)
    return scaled if hasattr(affinity, "rescaled") else scaled.entries


def check_entries(affinity: Any, what: str = "the affinity") -> None:
    """Raise where entries of an affinity are not finite, or so large or small that their sums or squares are not.

    Entries that are computed when needed are not looked at: their degrees are, once they are known.

    Examples
    --------
    >>> import numpy as np
    >>> check_entries(np.eye(2))
    """
    matrix = as_affinity(affinity)
    if matrix.is_lazy:
        return
    values: Any = matrix.array if matrix.graph is None else matrix.graph.data
    n_values = math.prod(values.shape)
    if not n_values:
        return
    largest = max(float(values.max()), -float(values.min()))
    size = matrix.dtype.itemsize
    if largest == 0 or (largest >= SMALLEST_SUM[size] and largest * n_values <= LARGEST_SUM[size]):
        return
    entries: Any = sparse.coo_array(tensors.to_array(matrix.array) if matrix.graph is None else matrix.graph)
    if not np.isfinite(largest):
        first = np.flatnonzero(~np.isfinite(entries.data))[0]
        p, q = entries.row[first], entries.col[first]
        raise ValueError(
            f"{what} of points {p} and {q} is {entries.data[first]:g}; entries must be finite: check the values of "
            "these rows."
        )
    first = np.abs(entries.data).argmax()
    raise ValueError(
        f"{what} reaches {largest:.3g}, at points {entries.row[first]} and {entries.col[first]}, and sums or squares "
        f"of such entries leave the range of floating-point numbers; divide all of them by {largest:.3g}."
    )


def check_affinity(affinity: AffinityLike, what: str = "a precomputed affinity") -> Any:
    """A given matrix as an affinity: square, finite, symmetric, CSR rows sorted and free of duplicates.

    The matrix passed in is never changed. Integers become floats; indices become 32-bit where they fit. An affinity
    whose rows are computed when needed passes as it is. Errors call it `what`.

    Examples
    --------
    >>> check_affinity([[1, 0], [0, 1]]).dtype
    dtype('float64')
    """
    if hasattr(affinity, "rescaled"):
        return affinity
    if tensors.is_tensor(affinity):
        return _checked(as_affinity(affinity).entries, what)
    return _checked(_canonical_csr(affinity) if sparse.issparse(affinity) else _float_array(affinity), what)


def _checked(affinity: Any, what: str) -> Any:
    if affinity.ndim != 2 or affinity.shape[0] != affinity.shape[1]:
        raise ValueError(f"{what} must be square, but its shape is {tuple(affinity.shape)}.")
    values: AnyFloats = affinity.data if sparse.issparse(affinity) else affinity
    check_entries(affinity, what)
    if not len(values):
        return affinity
    gap = abs(affinity - affinity.T)
    if float(gap.max()) > {4: 1e-4, 8: 1e-8}[affinity.dtype.itemsize] * float(abs(values).max()):
        p, q = np.unravel_index(int(gap.argmax()), affinity.shape)
        raise ValueError(
            f"{what} must be symmetric, but A[{p}, {q}] = {affinity[p, q]:g} and "
            f"A[{q}, {p}] = {affinity[q, p]:g}; pass (A + A.T) / 2."
        )
    return affinity


def _float_array(affinity: Any) -> AnyFloats:
    affinity = np.asarray(affinity)
    return affinity if affinity.dtype in (np.float32, np.float64) else affinity.astype(np.float64)


def _canonical_csr(affinity: Any) -> sparse.csr_array:
    dtype = affinity.dtype if affinity.dtype in (np.float32, np.float64) else np.float64
    csr = sparse.csr_array(affinity, dtype=dtype)
    # Neither duplicates nor explicit zeros, sorted: on a copy wherever something must change.
    if not csr.has_canonical_format or (csr.data == 0).any():
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    if csr.indices.dtype != np.int32 and max(csr.nnz, csr.shape[0]) < np.iinfo(np.int32).max:
        parts = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        csr = sparse.csr_array(parts, shape=csr.shape)
    return csr
