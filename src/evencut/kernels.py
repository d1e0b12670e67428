"""From points to an affinity: fixed, adaptive, neighbour and geodesic kernels.

A kernel is a small object with scikit-learn parameters. `affinity(X)` gives the symmetric affinity of the
points; `extend(X)` gives a function from new points to their affinities with `X`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from .affinity import Affinity, check_affinity
from .density import knn_density, knn_radius, squared_distances, whiten
from .equalization import density_law
from .kernel import Extension, Kernel, Points
from .lazy import GaussianBlocks, LazyAffinity, fits_in_memory
from .neighbors import NeighborSearch, kneighbors, neighbor_graph
from .shared_neighbors import Auto, SharedNeighbors

__all__ = [
    "KERNELS",
    "KNN",
    "AdaptiveGaussian",
    "Auto",
    "Gaussian",
    "Geodesic",
    "Kernel",
    "LocalScaling",
    "Precomputed",
    "SharedNeighbors",
]


class Gaussian(Kernel):
    r"""Gaussian kernel of one bandwidth for all points (eq. gauss_k).

    .. math:: A_{pq} = \exp\left(-\tfrac12 (f_p-f_q)^T \Sigma^{-1} (f_p-f_q)\right)

    Parameters
    ----------
    bandwidth : float, array or {"scott", "silverman", "median"}, default="scott"
        One sigma, one sigma a feature, a full matrix Sigma, or a rule.
    memory : float, optional
        Bytes the affinity may take, by default a quarter of the free memory; above, rows are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(bandwidth=1.0).affinity(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(self, bandwidth: float | str | ArrayLike = "scott", memory: float | None = None):
        self.bandwidth = bandwidth
        self.memory = memory

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The affinity of all pairs."""
        points = whiten(X, self.bandwidth)[0].astype(X.dtype, copy=False)
        if fits_in_memory(len(X), X.dtype, self.memory):
            return _exp_half(squared_distances(points))
        return LazyAffinity(GaussianBlocks(points), len(X), X.dtype, n_jobs=n_jobs)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, at the bandwidth of `X`."""
        points = whiten(X, self.bandwidth)[0]
        return lambda Y: _exp_half(squared_distances(whiten(Y, self.bandwidth, like=X)[0], points))


class AdaptiveGaussian(Kernel):
    r"""Gaussian kernel with a bandwidth of its own at each point (eq. non normalized adaptive).

    .. math:: \kappa_p(f_p, f_q) = \exp\left(-\tfrac12 (f_p-f_q)^T \Sigma_p^{-1} (f_p-f_q)\right)

    The affinity is the mean of :math:`\kappa_p` and :math:`\kappa_q`. Bandwidths come from the
    density law (eq. adaptive_sigma) on nearest-neighbour densities; with the constant transform
    they are the distances to the K-th nearest other point (eq. knn bandwidth).

    Parameters
    ----------
    n_neighbors : int, default=7
        K, for the density.
    transform : {"constant", "log", "identity"} or callable, default="constant"
        The density wanted, as in :func:`evencut.equalization.density_law`.
    alpha : float, default=1.0
        Of the `"log"` transform.
    covariances : array of shape (n_samples, n_features, n_features), optional
        A matrix :math:`\Sigma_p` for each point, instead of the density law.
    memory : float, optional
        Bytes the affinity may take, by default a quarter of the free memory; above, rows are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> AdaptiveGaussian(n_neighbors=1).affinity(np.array([[0.0], [1.0], [3.0]])).round(3)
    array([[1.   , 0.607, 0.168],
           [0.607, 1.   , 0.371],
           [0.168, 0.371, 1.   ]])
    """

    def __init__(
        self,
        n_neighbors: int = 7,
        transform: str | Callable[[NDArray[np.float64]], ArrayLike] = "constant",
        alpha: float = 1.0,
        covariances: ArrayLike | None = None,
        memory: float | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.transform = transform
        self.alpha = alpha
        self.covariances = covariances
        self.memory = memory

    def bandwidths(self, X: Points, n_jobs: int | None = None) -> NDArray[np.float64]:
        """The bandwidth of each point, in the mean (of logarithms) its distance to the K-th neighbour."""
        radius = knn_radius(X, self.n_neighbors, n_jobs=n_jobs)
        if self.transform == "constant":
            return radius
        density = knn_density(X, self.n_neighbors, n_jobs=n_jobs)
        law = density_law(density, self.transform, X.shape[1], alpha=self.alpha)
        return law * np.exp(np.mean(np.log(radius)) - np.mean(np.log(law)))

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The affinity of all pairs; a matrix for each point needs all of it in memory."""
        if self.covariances is None and not fits_in_memory(len(X), X.dtype, self.memory):
            blocks = GaussianBlocks(X, self.bandwidths(X, n_jobs), "mean")
            return LazyAffinity(blocks, len(X), X.dtype, n_jobs=n_jobs)
        one_way = self._from_centres(X, X, n_jobs)
        one_way += one_way.T.copy()
        one_way *= 0.5
        return one_way

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, at the bandwidths of the points of `X`."""
        return lambda Y: self._from_centres(X, np.asarray(Y), n_jobs).T

    def _from_centres(self, X: Points, Y: Points, n_jobs: int | None) -> Affinity:
        """Row p: the kernel at point p of X, at its own bandwidth, for all points of Y."""
        if self.covariances is None:
            squared = squared_distances(X, None if Y is X else Y)
            squared /= (self.bandwidths(X, n_jobs) ** 2).astype(squared.dtype)[:, None]
            return _exp_half(squared)
        squared = np.empty((len(X), len(Y)), dtype=X.dtype)
        for p, covariance in enumerate(_matrix_per_point(self.covariances, X, "covariances")):
            offsets = Y - X[p]
            squared[p] = np.einsum("qi,qi->q", offsets, np.linalg.solve(covariance, offsets.T).T)
        return _exp_half(squared)


class LocalScaling(Kernel):
    r"""Kernel of Zelnik-Manor and Perona, each pair at the geometric mean of two bandwidths.

    .. math:: A_{pq} = \exp\left(-\frac{\|f_p-f_q\|^2}{2\sigma_p\sigma_q}\right), \qquad \sigma_p = R_p^K

    Parameters
    ----------
    n_neighbors : int, default=7
        K: the bandwidth is the distance to the K-th nearest other point.
    memory : float, optional
        Bytes the affinity may take, by default a quarter of the free memory; above, rows are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> LocalScaling(n_neighbors=1).affinity(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(self, n_neighbors: int = 7, memory: float | None = None):
        self.n_neighbors = n_neighbors
        self.memory = memory

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The affinity of all pairs."""
        sigma = knn_radius(X, self.n_neighbors, n_jobs=n_jobs).astype(X.dtype, copy=False)
        if not fits_in_memory(len(X), X.dtype, self.memory):
            return LazyAffinity(GaussianBlocks(X, sigma, "product"), len(X), X.dtype, n_jobs=n_jobs)
        squared = squared_distances(X)
        squared /= sigma[:, None] * sigma
        return _exp_half(squared)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, each at its own distance to the K-th point of `X`."""
        sigma = knn_radius(X, self.n_neighbors, n_jobs=n_jobs)

        def rows(Y: Points) -> Affinity:
            own = knn_radius(X, self.n_neighbors, at=Y, n_jobs=n_jobs)
            return _exp_half(squared_distances(np.asarray(Y, dtype=float), X) / (own[:, None] * sigma))

        return rows


class KNN(Kernel):
    r"""Nearest-neighbour kernel (example KNN kernel), a sparse affinity of ones.

    .. math:: u_p(f_p, f_q) = [f_q \in KNN(f_p)]

    A point counts among its own neighbours, so the diagonal is kept.

    Parameters
    ----------
    n_neighbors : int, default=10
        K, the point itself included; where it is more than the number of points, all are neighbours.
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

    is_graph = True

    def __init__(self, n_neighbors: int = 10, symmetrize: str = "mean", neighbors: Any = "auto"):
        self.n_neighbors = n_neighbors
        self.symmetrize = symmetrize
        self.neighbors = neighbors

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The sparse affinity of the neighbour graph."""
        near = kneighbors(X, self.n_neighbors, n_jobs=n_jobs, method=self.neighbors)[1]
        return neighbor_graph(near, self.symmetrize, X.dtype)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """One for the K nearest points of `X`, seen from the new point alone."""
        search = NeighborSearch(X, n_jobs=n_jobs, method=self.neighbors)
        return lambda Y: _indicator(search.query(Y, self.n_neighbors)[1], len(X), X.dtype)


class Geodesic(Kernel):
    r"""Gaussian of distances along the neighbour graph under a metric tensor (eq. geo_kernel).

    .. math:: A_{pq} = \exp\left(-\frac{d_g(f_p, f_q)^2}{2\sigma^2}\right)

    An edge between neighbours has the Mahalanobis length of the mean of their tensors
    (eq. geodesic_dist); distances are shortest paths (Dijkstra).

    Parameters
    ----------
    n_neighbors : int, default=10
        Of the graph the paths run along.
    metric : {"density", "euclidean"} or array of shape (n_samples,) or (n_samples, n_features, n_features)
        The tensor :math:`g_p` at the points: :math:`I/(R_p^K)^2`, which evens the density out; I; a
        multiple of I for each point; or any matrix for each point.
    bandwidth : float, default=1.0
        Sigma, in the unit of the metric.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> Geodesic(n_neighbors=2, metric="euclidean").affinity(X).round(3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """

    def __init__(self, n_neighbors: int = 10, metric: str | ArrayLike = "density", bandwidth: float = 1.0):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.bandwidth = bandwidth

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The dense affinity; zero between points that no path joins."""
        return self._psi(self._paths(X, n_jobs)).astype(X.dtype, copy=False)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, whose paths begin at their nearest points of `X`."""
        tensor = self._tensor(X, n_jobs)
        paths = self._paths(X, n_jobs)

        def rows(Y: Points) -> Affinity:
            Y = np.asarray(Y, dtype=float)
            _, near = kneighbors(X, self.n_neighbors, at=Y, n_jobs=n_jobs)
            found = np.full((len(Y), len(X)), np.inf)
            for column in near.T:
                length = _edge_lengths(Y - X[column], tensor[column])
                np.minimum(found, length[:, None] + paths[column], out=found)
            return self._psi(found)

        return rows

    def distances(self, X: Points) -> NDArray[np.float64]:
        """Geodesic distances between the points, infinite where no path joins them.

        Examples
        --------
        >>> import numpy as np
        >>> Geodesic(n_neighbors=2, metric="euclidean").distances(np.array([[0.0], [1.0], [3.0]]))
        array([[0., 1., 3.],
               [1., 0., 2.],
               [3., 2., 0.]])
        """
        return self._paths(np.asarray(X), None)

    def _paths(self, X: Points, n_jobs: int | None) -> NDArray[np.float64]:
        tensor = self._tensor(X, n_jobs)
        near = kneighbors(X, self.n_neighbors, n_jobs=n_jobs)[1]
        p, q = np.repeat(np.arange(len(X)), near.shape[1]), near.ravel()
        length = _edge_lengths(X[p] - X[q], 0.5 * (tensor[p] + tensor[q]))
        # scipy reads a stored zero as no edge, but coinciding points are joined: give them the least length.
        length = np.maximum(length, np.finfo(float).tiny)
        graph = sparse.csr_array((length, (p, q)), shape=(len(X),) * 2)
        paths = dijkstra(graph, directed=False)
        # The two directions of a path add its edges in different order and differ by rounding.
        return np.minimum(paths, paths.T)

    def _tensor(self, X: Points, n_jobs: int | None) -> NDArray[np.float64]:
        if isinstance(self.metric, str):
            if self.metric == "euclidean":
                return np.ones(len(X))
            if self.metric == "density":
                return knn_radius(X, self.n_neighbors, n_jobs=n_jobs) ** -2.0
            raise ValueError(f"metric={self.metric!r} is not known; choose 'density', 'euclidean' or give an array.")
        tensor = np.asarray(self.metric, dtype=np.float64)
        if tensor.ndim == 1:
            if tensor.shape != (len(X),) or not (tensor > 0).all():
                raise ValueError(f"metric must hold one positive number for each of {len(X)} points.")
            return tensor
        return _matrix_per_point(tensor, X, "metric")

    def _psi(self, distance: NDArray[np.float64]) -> Affinity:
        if not self.bandwidth > 0:
            raise ValueError(f"bandwidth={self.bandwidth!r} must be positive.")
        return _exp_half((distance / self.bandwidth) ** 2)


class Precomputed(Kernel):
    """The affinity itself is given in place of points: a square, symmetric array or sparse matrix.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed().affinity(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    def affinity(self, X: Any, *, n_jobs: int | None = None) -> Affinity:
        """The matrix given, checked and in canonical form."""
        return check_affinity(X)

    def extend(self, X: Any, *, n_jobs: int | None = None) -> Extension:
        """New rows are given as they are: one row a new point, one column a fitted point."""
        return lambda Y: Y


#: The kernels by the names the estimators take.
KERNELS: dict[str, type[Kernel]] = {
    "auto": Auto,
    "shared_neighbors": SharedNeighbors,
    "knn": KNN,
    "gaussian": Gaussian,
    "adaptive_gaussian": AdaptiveGaussian,
    "local_scaling": LocalScaling,
    "geodesic": Geodesic,
    "precomputed": Precomputed,
}


def _exp_half(squared: NDArray[np.floating]) -> NDArray[np.floating]:
    squared *= -0.5
    return np.exp(squared, out=squared)


def _indicator(indices: NDArray[np.integer], n_columns: int, dtype: np.dtype) -> sparse.csr_array:
    n_rows, n_neighbors = indices.shape
    indptr = np.arange(0, indices.size + 1, n_neighbors)
    parts = (np.ones(indices.size, dtype=dtype), indices.ravel(), indptr)
    return sparse.csr_array(parts, shape=(n_rows, n_columns))


def _edge_lengths(offsets: NDArray, tensor: NDArray) -> NDArray[np.float64]:
    if tensor.ndim == 1:
        return np.sqrt(tensor * np.einsum("pi,pi->p", offsets, offsets))
    return np.sqrt(np.einsum("pi,pij,pj->p", offsets, tensor, offsets))


def _matrix_per_point(matrices: ArrayLike, X: Points, name: str) -> NDArray[np.float64]:
    matrices = np.asarray(matrices, dtype=np.float64)
    n_samples, n_features = X.shape
    if matrices.shape != (n_samples, n_features, n_features):
        raise ValueError(
            f"{name} has shape {matrices.shape}; {n_samples} points with {n_features} features "
            f"need ({n_samples}, {n_features}, {n_features})."
        )
    if not np.isfinite(matrices).all() or np.linalg.eigvalsh(matrices).min() <= 0:
        raise ValueError(f"{name} must hold symmetric positive definite matrices.")
    return matrices
