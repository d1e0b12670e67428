"""Kernels that are sparse graphs: nearest neighbours, discs of one radius, and shared neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from .._runtime import free_memory, in_threads, n_threads
from ..affinity import AffinityLike, whiten
from ..affinity.lazy import NeighborRows
from ..neighbors import NeighborSearch, is_dense, neighbor_graph, squared_distances
from ..tensors import AnyFloats, AnyInts, Floats, arange_like, array_namespace, asarray_like, is_tensor, to_array
from .base import Extension, FixedBandwidth, NeighborKernel, Points, check_neighbors, for_tensors

# Affinity of a point with itself, which keeps degrees positive: negligible compared with any neighbour.
_SELF_AFFINITY = 1e-10


@dataclass(eq=False, repr=False)
class KNN(NeighborKernel):
    r"""Nearest-neighbour kernel (example KNN kernel), a sparse affinity of ones.

    .. math:: u_p(f_p, f_q) = [f_q \in KNN(f_p)]

    A point counts among its own neighbours, so the diagonal is kept.

    Parameters
    ----------
    n_neighbors : int, default=10
        K, the point itself included; where there are fewer points, all are neighbours, with a warning unless it is the
        default.
    symmetrize : {"mean", "union", "mutual"}, default="mean"
        An affinity of 1/2 for one-sided neighbours, 1, or 0.
    neighbors : {"auto", "exact", "approximate"} or neighbours transformer, default="auto"
        How neighbours are searched for, as in :class:`evencut.neighbors.NeighborSearch`.

    Examples
    --------
    >>> import numpy as np
    >>> KNN(n_neighbors=2).affinity(np.array([[0.0], [1.0], [3.0]])).toarray()
    array([[1. , 1. , 0. ],
           [1. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """

    title = "Nearest neighbours"

    n_neighbors: int = 10
    symmetrize: str = "mean"
    neighbors: Any = "auto"

    @property
    def takes_tensors(self) -> bool:
        """Where exact neighbours will do, which are the only ones there."""
        return super().takes_tensors and isinstance(self.neighbors, str) and self.neighbors in ("auto", "exact")

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """One for the K nearest points of `X`, seen from the new point alone."""
        return self._extension(NeighborSearch(X, n_jobs=n_jobs, method=self.neighbors))

    def _both(self, X: Points, n_jobs: int | None) -> tuple[AffinityLike, Extension]:
        check_neighbors(self, len(X), itself=1)
        search = NeighborSearch(X, n_jobs=n_jobs, method=self.neighbors)
        indices = search.query_self(self.n_neighbors)[1]
        return neighbor_graph(indices, self.symmetrize, X.dtype), self._extension(search)

    def _extension(self, search: NeighborSearch) -> Extension:
        return partial(_indicators, search, self.n_neighbors)


def _indicators(search: NeighborSearch, n_neighbors: int, Y: Points) -> AffinityLike:
    """Rows of ones at the nearest points."""
    indices = search.query(Y, n_neighbors)[1]
    if is_tensor(indices):
        return NeighborRows(indices, indices >= 0, search.n_points)
    n_rows, n_neighbors = indices.shape
    indptr = np.arange(0, indices.size + 1, n_neighbors)
    parts = (np.ones(indices.size, dtype=search.X.dtype), indices.ravel(), indptr)
    return sparse.csr_array(parts, shape=(n_rows, search.n_points))


class Disc(FixedBandwidth):
    r"""The 0-1 kernel of one radius for all points (Section 2.3): the affinity of a disc graph.

    .. math:: A_{pq} = [\|f_p - f_q\| \le \sigma]

    Its maximal cliques lie in discs that hold many points, that is at modes of the density, and kernel k-means with it
    isolates such a mode (Breiman's bias) just as with the Gaussian kernel of a small bandwidth (eq. 1). Where the
    radius adapts to the density it is the :class:`KNN` kernel (Example 3).

    Parameters
    ----------
    bandwidth : float, array or {"scott", "silverman", "median"}, default="scott"
        The radius sigma; one a feature or a full matrix Sigma make the discs ellipsoids; or a rule.
    memory : float, optional
        Bytes the graph may take, by default half of the free memory; a larger one is refused.

    Examples
    --------
    >>> import numpy as np
    >>> Disc(bandwidth=1.0).affinity(np.array([[0.0], [1.0], [3.0]])).toarray()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    title = "Disc of one radius"
    is_graph = True

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The sparse affinity of the disc graph; every point is joined to itself."""
        if not is_dense(X):
            graph = sparse.csr_array(squared_distances(X) <= self._length(X) ** 2, dtype=X.dtype)
        else:
            points = whiten(X, self.bandwidth)[0]
            graph = self._within(cKDTree(points), points, X.dtype, n_jobs)
        # Rounding may see a distance of exactly the radius from one side only.
        return graph.maximum(graph.T).tocsr()

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """One for the points of `X` within the radius of a new point."""
        if not is_dense(X):
            return partial(self._rows_elsewhere, X, self._length(X))
        return partial(self._rows, X, cKDTree(whiten(X, self.bandwidth)[0]), n_jobs)

    def _rows(self, X: Points, tree: cKDTree, n_jobs: int | None, Y: Points) -> sparse.csr_array:
        return self._within(tree, whiten(Y, self.bandwidth, like=X)[0], X.dtype, n_jobs)

    def _rows_elsewhere(self, X: Any, length: float, Y: Any) -> sparse.csr_array:
        return sparse.csr_array(squared_distances(Y, X) <= length**2, dtype=X.dtype)

    def _within(self, tree: cKDTree, queries: Points, dtype: Any, n_jobs: int | None) -> sparse.csr_array:
        """Ones at the points within one bandwidth of the queries."""
        workers = n_threads(n_jobs)
        sizes = np.asarray(tree.query_ball_point(queries, 1.0, workers=workers, return_length=True), dtype=np.int64)
        limit = 0.5 * free_memory() if self.memory is None else self.memory
        # A column number and a value for each pair, and lists of the same size while they become rows.
        n_bytes = 24 * sizes.sum()
        if n_bytes > limit:
            raise ValueError(
                f"discs of bandwidth={self.bandwidth!r} hold {sizes.mean():.0f} points in the mean, a graph of "
                f"{n_bytes / 1e9:.2g} GB, more than {limit / 1e9:.2g} GB; give a smaller bandwidth or kernel='knn'."
            )
        lists = tree.query_ball_point(queries, 1.0, workers=workers, return_sorted=True)
        indices = np.concatenate([np.asarray(members, dtype=np.int64) for members in lists])
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        return sparse.csr_array((np.ones(len(indices), dtype=dtype), indices, indptr), shape=(len(queries), tree.n))


class _Side(NamedTuple):
    """Distances and numbers of neighbours, and the radius around each point: what the compiled loop reads of a side."""

    distances: AnyFloats
    radius: Floats
    lists: AnyInts

    @classmethod
    def of(cls, distances: AnyFloats, indices: AnyInts) -> _Side:
        """From the tables that a search gives."""
        if not isinstance(indices, np.ndarray):
            return cls(distances, _radius(distances), indices.contiguous())
        return cls(np.ascontiguousarray(distances), _radius(distances), np.ascontiguousarray(indices))


@dataclass(eq=False, repr=False)
class SharedNeighbors(NeighborKernel):
    r"""Locally scaled Gaussian of neighbours times a power of the share of neighbours in common.

    .. math:: A_{pq} = \exp\left(-\frac{\|f_p-f_q\|^2}{s\,R_p R_q}\right)
              \left(\frac{|N_p \cap N_q|}{K + 1}\right)^{\gamma}, \qquad q \in N_p \text{ or } p \in N_q

    :math:`N_p` holds the point and its K nearest others and :math:`R_p` is the distance to the (K/2)-th of
    them. Two points across a gap are far for their surroundings and share few neighbours; so are the points
    of a bridge or of sparse noise. Under the normalised cut such points are cheap to cut. The diagonal is next to
    nothing (1e-10): with an affinity of its own, an outlier would make a cluster by itself.

    Parameters
    ----------
    n_neighbors : int, default=25
        K; where there are fewer other points, all are neighbours, with a warning unless it is the default.
    sharpness : float, default=0.5
        :math:`1/s`: larger values let the affinity fall faster with distance.
    power : float, default=6
        :math:`\gamma`; 0 ignores common neighbours.

    Notes
    -----
    Local scaling is Zelnik-Manor and Perona's (2004), similarity by shared neighbours Jarvis and Patrick's
    (1973).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> float(SharedNeighbors(n_neighbors=2).affinity(X).toarray()[:3, 3:].max())
    0.0
    """

    title = "Shared neighbours"

    n_neighbors: int = 25
    sharpness: float = 0.5
    power: float = 6.0

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points with their K + 1 nearest points of `X`."""
        self._check(len(X))
        search = NeighborSearch(X, n_jobs=n_jobs)
        return self.extend_from(search, *search.query_self(self.n_neighbors + 1))

    def _both(self, X: Points, n_jobs: int | None) -> tuple[AffinityLike, Extension]:
        self._check(len(X))
        search = NeighborSearch(X, n_jobs=n_jobs)
        distances, indices = search.query_self(self.n_neighbors + 1)
        options: dict[str, Any] = {"sharpness": self.sharpness, "power": self.power, "n_jobs": search.n_jobs}
        affinity = shared_neighbor_affinity(X, distances, indices, **options)
        return affinity, self.extend_from(search, distances, indices)

    def extend_from(self, search: NeighborSearch, distances: AnyFloats, indices: AnyInts) -> Extension:
        """The extension from neighbours already found, as in :func:`shared_neighbor_affinity`."""
        return partial(self._rows, search, _Side.of(distances, indices))

    def _rows(self, search: NeighborSearch, theirs: _Side, Y: Points) -> AffinityLike:
        distances, nearest = search.query(Y, self.n_neighbors + 1)
        if is_tensor(nearest):
            rows = arange_like(nearest)[:, None].expand(nearest.shape)
            pairs = rows.reshape(-1), nearest.reshape(-1)
            shape = float(self.sharpness), float(self.power)
            values = _of_pairs(Y, search.X, pairs, _Side.of(distances, nearest), theirs, shape)
            return NeighborRows(nearest, values.reshape(nearest.shape), search.n_points)
        indptr = np.arange(0, nearest.size + 1, nearest.shape[1])
        data = np.empty(nearest.size)
        mine = _Side.of(distances, nearest)
        _fill(mine, theirs, False, (indptr, nearest.ravel(), data), (self.sharpness, self.power), search.n_jobs)
        return sparse.csr_array((data, nearest.ravel(), indptr), shape=(len(nearest), search.n_points))

    def _check(self, n_points: int) -> None:
        check_neighbors(self, n_points)
        if not self.sharpness > 0:
            raise ValueError(f"sharpness={self.sharpness!r} must be positive.")
        if not self.power >= 0:
            raise ValueError(f"power={self.power!r} must not be negative; 0 ignores common neighbours.")


def shared_neighbor_affinity(
    X: Points,
    distances: AnyFloats,
    indices: AnyInts,
    *,
    sharpness: float = 0.5,
    power: float = 6.0,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """The affinity of :class:`SharedNeighbors` from neighbours already found.

    Parameters
    ----------
    X : points, n of them
        Of any kind: only their precision is looked at, which the affinity keeps.
    distances, indices : ndarrays of shape (n, K + 1)
        Each point first among its own neighbours, as :func:`evencut.neighbors.kneighbors` gives them; one
        search serves every smaller K by its first columns.
    sharpness, power : float
        As in :class:`SharedNeighbors`.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.neighbors import kneighbors
    >>> X = np.arange(4.0)[:, None]
    >>> found = kneighbors(X, 4)
    >>> shared_neighbor_affinity(X, found[0][:, :2], found[1][:, :2]).shape
    (4, 4)
    """
    sizes = [indices.shape[1] - 1]
    return shared_neighbor_affinities(X, distances, indices, sizes, sharpness=sharpness, power=power, n_jobs=n_jobs)[0]


def shared_neighbor_affinities(
    X: Points,
    distances: AnyFloats,
    indices: AnyInts,
    sizes: Sequence[int],
    *,
    sharpness: float = 0.5,
    power: float = 6.0,
    n_jobs: int | None = None,
) -> list[sparse.csr_array]:
    """The affinities of :func:`shared_neighbor_affinity` for several numbers of neighbours."""
    sides = [_Side.of(distances[:, : size + 1], indices[:, : size + 1]) for size in sizes]
    affinities = [neighbor_graph(side.lists, "union", X.dtype) for side in sides]
    if not isinstance(indices, np.ndarray):
        for side, affinity in zip(sides, affinities):
            columns = asarray_like(X, affinity.indices)
            rows = arange_like(X).repeat_interleave(asarray_like(X, np.diff(affinity.indptr)))
            values = _of_pairs(X, X, (rows, columns), side, side, (float(sharpness), float(power)))
            values[rows == columns] = _SELF_AFFINITY
            affinity.data = to_array(array_namespace(X).asarray(values, dtype=X.dtype))
        return affinities
    for side, affinity in zip(sides, affinities):
        _fill(side, side, True, (affinity.indptr, affinity.indices, affinity.data), (sharpness, power), n_jobs)
        affinity.setdiag(_SELF_AFFINITY)
    return affinities


def _of_pairs(Y: Any, X: Any, pairs: tuple, mine: _Side, theirs: _Side, shape: tuple[float, float]) -> Any:
    """Affinities of listed pairs of tensors."""
    from ..gpu.graph import shared_affinities

    return shared_affinities(Y, X, pairs, (mine.lists, theirs.lists), (mine.radius, theirs.radius), shape)


def _fill(
    mine: _Side, theirs: _Side, is_symmetric: bool, pattern: tuple[Any, Any, Any], shape: tuple[float, float],
    n_jobs: int | None,
) -> None:
    """Affinities of the entries of a CSR pattern; each thread takes a range of its rows."""
    from ._shared_neighbor_loops import pair_affinities

    def fill(rows: tuple[int, int]) -> None:
        pair_affinities(rows, mine, theirs, is_symmetric, *pattern, shape)

    n_workers = 1 if n_jobs == 1 else n_threads(n_jobs)
    if n_workers == 1:
        return fill((0, len(mine.lists)))
    ends = np.linspace(0, len(mine.lists), n_workers + 1).astype(int)
    in_threads(fill, zip(ends[:-1], ends[1:]), n_workers)


def _radius(distances: AnyFloats) -> Floats:
    """Distance to the (K/2)-th other neighbour; where copies of the point fill that place, to the next one apart."""
    half = max((distances.shape[1] - 1) // 2, 1)
    xp = np if isinstance(distances, np.ndarray) else array_namespace(distances)
    # A copy, since compiled loops take no column of a table.
    radius = xp.asarray(distances[:, min(half, distances.shape[1] - 1)], dtype=xp.float64) + 0.0
    if (radius > 0).all():
        return radius
    apart = xp.amin(xp.where(distances > 0, distances, xp.inf), axis=1)
    return xp.where(radius > 0, radius, xp.where(xp.isfinite(apart), apart, 1.0))
