"""From points to their nearest neighbours and the graph of these.

A KD-tree in low dimension, above it matrix products of all pairs or of near cells, fused kernels for tensors: one
search chooses among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._runtime import in_threads, n_threads, warn_user
from ..tensors import AnyFloats, AnyInts, Floats, to_array
from .metrics import SparsePoints, points_in
from .products import CellSearch, DenseProducts, SparseProducts

#: Beyond this many features a KD-tree visits most of its leaves and matrix products win.
MAX_TREE_FEATURES = 15
# Beyond this many pairs in high dimension, near cells take less time than all of them.
_MAX_PAIRS = 6000**2
# Cells pay while few of them hold the neighbours; beyond so many points all pairs are out of the question.
_MAX_SHARE = 0.25
_MANY_POINTS = 100_000
_QUERIES_PER_BLOCK = 1 << 16
_METHODS = ("auto", "exact", "approximate")
_Found = tuple[Floats, AnyInts]


class NeighborSearch:
    """A neighbour search, built once and queried many times.

    Parameters
    ----------
    X : ndarray, tensor or CSR array of shape (n_samples, n_features), or points of another metric
        The points searched, tensors exactly and on their device, which answers with tensors;
        :func:`evencut.neighbors.points_in` makes points of another metric.
    n_jobs : int, optional
        Threads; -1 uses all cores. The result does not depend on it.
    method : {"auto", "exact", "approximate"} or neighbours transformer, default="auto"
        `"exact"`: a KD-tree up to 15 features, matrix products of all pairs above. `"approximate"`: only the cells of
        a short k-means that are near, as many as hold 99 % of the neighbours of a sample. `"auto"`: exact, save above
        15 features where there are more than 6000 x 6000 pairs of points and queries when it is first asked; then
        cells are searched if few of them suffice. Or an object such as
        scikit-learn's `KNeighborsTransformer`, whose `transform` gives a sparse matrix of distances.

    Attributes
    ----------
    recall : float
        Share of the true neighbours found, as far as it is known: 1 for exact searches, that of a sample for
        approximate ones once they were asked.

    Examples
    --------
    >>> import numpy as np
    >>> search = NeighborSearch(np.array([[0.0], [1.0], [3.0]]))
    >>> search.query(np.array([[0.9]]), 2)[1]
    array([[1, 0]], dtype=int32)
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None, method: Any = "auto"):
        self.X: Any = X if isinstance(X, np.ndarray) else points_in(X)
        self.n_points = len(self.X)
        self.n_jobs = 1 if n_jobs == 1 else n_threads(n_jobs)
        self.method = _choose_method(method, self.X)
        self.recall = 1.0
        self._index: Any = None

    def query(self, at: Any, n_neighbors: int) -> _Found:
        """Distances and indices of the nearest points, nearest first, for each row of `at`."""
        at = at if isinstance(at, np.ndarray) else points_in(at)
        n_neighbors = _check_count(n_neighbors, self.n_points)
        if not len(at) and self.method != "device":
            return np.empty((0, n_neighbors)), np.empty((0, n_neighbors), dtype=index_type(self.n_points))
        distances, indices = self._query(at, n_neighbors)
        _check_found(distances)
        return distances, indices

    def _query(self, at: Any, n_neighbors: int) -> _Found:
        """What the search gives, which may be too few points or none: infinite distances, and no right indices."""
        if self.method == "device":
            from ..gpu.nearest import nearest

            return nearest(self.X, n_neighbors, at)
        if self.method == "tree":
            return self._query_tree(at, n_neighbors)
        if self.method == "metric":
            return self._query_metric(at, n_neighbors)
        if self._index is None:
            self._index = self._make_index(n_neighbors, len(at))
        if isinstance(self._index, DenseProducts | SparseProducts | CellSearch):
            queries = at.rows if isinstance(at, SparsePoints) else at
            distances, indices = self._index.query(queries, n_neighbors, self.n_jobs)
            return distances, indices.astype(index_type(self.n_points), copy=False)
        return _from_graph(self._index.transform(at), n_neighbors, self.n_points)

    def query_self(self, n_neighbors: int) -> _Found:
        """Neighbours of the points themselves, each point first among its own (also where others coincide)."""
        n_neighbors = _check_count(n_neighbors, self.n_points)
        if self.method == "device":
            from ..gpu.nearest import nearest_to_points

            distances, indices = nearest_to_points(self.X, n_neighbors)
            _check_found(distances)
            return distances, indices
        if self.method == "tree" and isinstance(self.X, np.ndarray) and _has_heavy_ties(self.X):
            distances, indices = self._query_distinct(n_neighbors)
        else:
            distances, indices = self.query(self.X, n_neighbors)
        _put_self_first(distances, indices)
        return distances, indices

    def _make_index(self, n_neighbors: int, n_queries: int) -> Any:
        """The index that is searched, made when the number of neighbours is known."""
        if not isinstance(self.method, str):
            from sklearn.base import clone

            return clone(self.method).fit(self.X)
        if self.method == "sparse":
            return SparseProducts(self.X.rows)
        if self.method == "pairs" or (self.method == "auto" and self.n_points * n_queries <= _MAX_PAIRS):
            return DenseProducts(self.X)
        cells = CellSearch(self.X, n_neighbors, self.n_jobs)
        if cells.share > _MAX_SHARE and self.method == "auto":
            if self.n_points <= _MANY_POINTS:
                return cells.exact
            cells.limit(_MAX_SHARE)
            warn_user(
                f"neighbours of {self.n_points} points in {self.X.shape[1]} dimensions are approximate (recall "
                f"{cells.recall:.3f} on a sample); ask for method 'exact', or reduce the dimension first.",
            )
        self.recall = cells.recall
        return cells

    def _query_tree(self, at: Any, n_neighbors: int) -> _Found:
        from scipy.spatial import cKDTree

        points, queries, norm = self.X, at, 2.0
        if not isinstance(points, np.ndarray):
            points, queries, norm = self.X.X, at.X, self.X.norm
        if self._index is None:
            self._index = cKDTree(points, leafsize=20)
        distances = np.empty((len(at), n_neighbors))
        indices = np.empty((len(at), n_neighbors), dtype=index_type(self.n_points))
        # Points in the order of the tree's leaves find their neighbours in the cache.
        order = self._index.indices if at is self.X else np.arange(len(at))
        for first in range(0, len(at), _QUERIES_PER_BLOCK):
            rows = order[first : first + _QUERIES_PER_BLOCK]
            # A list of ranks keeps two axes also for one neighbour.
            ranks = np.arange(1, n_neighbors + 1)
            distances[rows], indices[rows] = self._index.query(queries[rows], k=ranks, p=norm, workers=self.n_jobs)
        return distances, indices

    def _query_metric(self, at: Any, n_neighbors: int) -> _Found:
        """All distances that the points give, a block of rows at a time."""
        from ._nearest_loops import keep_nearest

        best = np.full((len(at), n_neighbors), np.inf)
        indices = np.full(best.shape, -1, dtype=np.int64)
        no_offset = np.zeros(self.n_points)
        step = max(1, (1 << 22) // self.n_points)

        def search(first: int) -> None:
            rows = np.arange(first, min(first + step, len(at)))
            scores = np.ascontiguousarray(at[rows].distances(self.X), dtype=np.float64)
            keep_nearest(scores, no_offset, 0, rows, best, indices)

        in_threads(search, range(0, len(at), step), self.n_jobs)
        return best, indices.astype(index_type(self.n_points), copy=False)

    def _query_distinct(self, n_neighbors: int) -> tuple[Floats, AnyInts]:
        """Neighbours by way of the distinct points: crowds of equal points would fill a leaf of the tree."""
        distinct, kind = np.unique(self.X, axis=0, return_inverse=True)
        kind = kind.ravel()
        search = NeighborSearch(distinct, n_jobs=self.n_jobs, method="exact")
        distances, nearest = search.query(distinct, min(n_neighbors, len(distinct)))
        sizes = np.bincount(kind)
        members, starts = np.argsort(kind, kind="stable"), np.cumsum(sizes) - sizes
        rank = np.empty(len(kind), dtype=np.int64)
        rank[members] = np.arange(len(kind)) - np.repeat(starts, sizes)
        # How many points nearer kinds have, and how many of each kind are then taken.
        nearer = np.cumsum(sizes[nearest], axis=1) - sizes[nearest]
        taken = np.clip(n_neighbors - nearer, 0, sizes[nearest]).ravel()
        tables: tuple[Any, ...] = (distances, nearest, nearer)
        reach, group, first = (np.repeat(table.ravel(), taken).reshape(-1, n_neighbors)[kind] for table in tables)
        # Equal points in a ring from each on: they are neighbours of each other in turn.
        place = (rank[:, None] + np.arange(n_neighbors) - first) % sizes[group]
        return reach, members[starts[group] + place].astype(index_type(len(self.X)))


def kneighbors(
    X: AnyFloats, n_neighbors: int, *, at: AnyFloats | None = None, n_jobs: int | None = None, method: Any = "auto"
) -> tuple[Floats, AnyInts]:
    """Distances and indices of the nearest points of `X`, nearest first.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points searched.
    n_neighbors : int
        How many; where it is more than `n_samples`, all points are neighbours.
    at : ndarray of shape (n_queries, n_features), optional
        Where to look from. Without it, from every point of `X`, and each point comes first among
        its own neighbours (also where others coincide with it).
    n_jobs, method
        As in :class:`NeighborSearch`.

    Returns
    -------
    distances, indices : ndarrays of shape (n_queries, n_neighbors)
        Indices are 32-bit while they fit.

    Examples
    --------
    >>> import numpy as np
    >>> distances, indices = kneighbors(np.array([[0.0], [1.0], [3.0]]), 2)
    >>> indices
    array([[0, 1],
           [1, 0],
           [2, 1]], dtype=int32)
    """
    search = NeighborSearch(X, n_jobs=n_jobs, method=method)
    return search.query_self(n_neighbors) if at is None else search.query(at, n_neighbors)


def neighbor_recall(X: AnyFloats, indices: AnyInts, *, n_sample: int = 200, random_state: int = 0) -> float:
    """Share of correct neighbours, measured on a random sample that is searched exactly.

    A neighbour is right if no farther than the farthest true one, so that ties count.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(5.0)[:, None]
    >>> neighbor_recall(X, np.array([[0, 4], [1, 2], [2, 3], [3, 2], [4, 3]]))
    0.9
    """
    rng = np.random.default_rng(random_state)
    sample = np.sort(rng.choice(len(X), min(n_sample, len(X)), replace=False))
    reach = kneighbors(X, indices.shape[1], at=X[sample], method="exact")[0][:, -1]
    offsets = X[indices[sample]] - X[sample][:, None]
    return float(np.mean(np.linalg.norm(offsets, axis=2) <= reach[:, None] * (1 + 1e-5)))


def _choose_method(method: Any, X: Any) -> Any:
    """The search behind a method's name, or the transformer itself."""
    if not isinstance(method, str):
        if not (hasattr(method, "fit") and hasattr(method, "transform")):
            raise ValueError(f"method={method!r} must be one of {_METHODS} or a neighbours transformer.")
        return method
    if method not in _METHODS:
        raise ValueError(f"method={method!r} is not known; choose one of {_METHODS} or give a neighbours transformer.")
    if isinstance(X, SparsePoints):
        return "sparse"
    if hasattr(X, "distances"):
        return "tree" if X.norm is not None and X.shape[1] <= MAX_TREE_FEATURES else "metric"
    if not isinstance(X, np.ndarray):
        return "device"
    if method == "approximate":
        return method
    if X.shape[1] <= MAX_TREE_FEATURES:
        return "tree"
    return "auto" if method == "auto" else "pairs"


def _from_graph(graph: Any, n_neighbors: int, n_samples: int) -> tuple[Floats, AnyInts]:
    """Rows of a sparse matrix of distances as tables of neighbours, nearest first."""
    graph = sparse.csr_array(graph)
    fewest = int(np.diff(graph.indptr).min())
    if fewest < n_neighbors:
        raise ValueError(
            f"the neighbours transformer found {fewest} neighbours of some point, but {n_neighbors} are needed (the "
            f"point itself among them); raise its n_neighbors to {n_neighbors} or more."
        )
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, graph.data, rows))
    chosen = order[(graph.indptr[:-1, None] + np.arange(n_neighbors)).ravel()]
    shape = (graph.shape[0], n_neighbors)
    indices = graph.indices[chosen].reshape(shape).astype(index_type(n_samples), copy=False)
    return graph.data[chosen].astype(np.float64).reshape(shape), indices


def _has_heavy_ties(X: NDArray) -> bool:
    """Whether one value of X makes up a fair share of it, judged by evenly spaced rows."""
    rows = X[:: -(-len(X) // 4096)]
    return len(X) > 4096 and bool(np.unique(rows, axis=0, return_counts=True)[1].max() >= 8)


def _put_self_first(distances: NDArray, indices: NDArray) -> None:
    """Swap each point to the front of its row; among coinciding points any order is right."""
    late = np.flatnonzero(indices[:, 0] != np.arange(len(indices)))
    is_self = indices[late] == late[:, None]
    position = np.where(is_self.any(axis=1), is_self.argmax(axis=1), indices.shape[1] - 1)
    indices[late, position] = indices[late, 0]
    distances[late, position] = distances[late, 0]
    indices[late, 0] = late
    distances[:, 0] = 0.0


def _check_found(distances: Any) -> None:
    """Raise if a search has found fewer points at a finite distance than are needed."""
    is_finite = np.isfinite(distances) if isinstance(distances, np.ndarray) else distances.isfinite()
    if not is_finite.all():
        is_finite = to_array(is_finite)
        bad = np.flatnonzero(~is_finite.all(axis=1))
        raise ValueError(
            f"point {bad[0]} has {is_finite[bad[0]].sum()} points at a finite distance, but {distances.shape[1]} are "
            f"needed ({bad.size} such points): distances leave the range of floating-point numbers; divide all columns "
            "by one number first."
        )


def _check_count(n_neighbors: int, n_points: int) -> int:
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors} must be at least 1.")
    return min(int(n_neighbors), n_points)


def index_type(largest: int) -> type[np.integer]:
    """The smaller integer type that holds the largest index."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def neighbor_graph(indices: AnyInts, symmetrize: str = "mean", dtype: Any = np.float64) -> sparse.csr_array:
    r"""The symmetric graph of nearest neighbours, rows sorted.

    .. math:: A_{pq} = \tfrac12 [q \in KNN(p)] + \tfrac12 [p \in KNN(q)]

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors)
        As given by :func:`kneighbors`; no point twice in a row.
    symmetrize : {"mean", "union", "mutual"}
        One-sided neighbours get an affinity of 1/2, 1, or none.
    dtype : float type

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_graph(np.array([[0, 1], [1, 0], [2, 1]])).toarray()
    array([[1. , 1. , 0. ],
           [1. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    if symmetrize not in ("mean", "union", "mutual"):
        raise ValueError(f"symmetrize={symmetrize!r} is not known; choose one of ('mean', 'union', 'mutual').")
    n_samples, n_neighbors = indices.shape
    if not isinstance(indices, np.ndarray):
        from ..gpu.graph import union_of_lists

        parts = union_of_lists(indices, one_sided=symmetrize != "mutual")
        indptr, columns, both = (to_array(table) for table in parts)
        data = np.where(both, 1.0, 0.5 if symmetrize == "mean" else 1.0).astype(str(dtype).removeprefix("torch."))
        return sparse.csr_array((data, columns, indptr), shape=(n_samples,) * 2)
    kind = index_type(2 * indices.size)
    ends = np.arange(0, indices.size + 1, n_neighbors, dtype=kind)
    parts = (np.ones(indices.size, dtype=np.int8), indices.ravel().astype(kind, copy=False), ends)
    theirs = sparse.csr_array(parts, shape=(n_samples,) * 2).T.tocsr()
    # Transposed twice, the rows are sorted.
    mine = theirs.T.tocsr()
    graph = sparse.csr_array(mine * theirs if symmetrize == "mutual" else mine + theirs)
    graph.data = (0.5 * graph.data if symmetrize == "mean" else graph.data > 0).astype(dtype)
    return graph
