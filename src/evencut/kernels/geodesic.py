"""The geodesic kernel: a Gaussian of the lengths of shortest paths along the neighbour graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from ..affinity import AffinityLike, knn_radius
from ..neighbors import NeighborSearch, kneighbors
from ..tensors import AnyFloats, Floats
from .base import BANDWIDTH, NEIGHBORS, Extension, Kernel, Points, check_neighbors, exp_half


@dataclass(eq=False, repr=False)
class Geodesic(Kernel):
    r"""Gaussian of distances along the neighbour graph under a metric tensor (eq. 46).

    .. math:: A_{pq} = \exp\left(-\frac{d_g(f_p, f_q)^2}{2\sigma^2}\right)

    An edge between neighbours has the Mahalanobis length of the mean of their tensors
    (eq. 47); distances are shortest paths (Dijkstra).

    Parameters
    ----------
    n_neighbors : int, default=10
        Of the graph the paths run along.
    metric : {"density", "euclidean"}, callable or array of shape (n_samples,) or (n_samples, n_features, n_features)
        The tensor :math:`g_p` at the points: :math:`I/(R_p^K)^2`, which equalises the density; I; a function that
        returns the multiple of I at any points; a multiple of I for each point; or any matrix for each point.
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

    title = "Geodesic"
    settings = (NEIGHBORS, replace(BANDWIDTH, rules=()))

    n_neighbors: int = 10
    metric: str | Callable[[Points], ArrayLike] | ArrayLike = "density"
    bandwidth: float = 1.0

    @property
    def has_units(self) -> bool:  # type: ignore[override]
        """Only under the metric of the density are lengths free of units."""
        return not (isinstance(self.metric, str) and self.metric == "density")

    @property
    def needs_coordinates(self) -> bool:
        """Edges are measured along their coordinates."""
        return True

    @property
    def is_tied_to_rows(self) -> bool:
        """With a tensor for each point."""
        return not isinstance(self.metric, str) and not callable(self.metric)

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The dense affinity; zero between points that no path joins."""
        return self._psi(self._paths(X, n_jobs)).astype(X.dtype, copy=False)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, whose paths begin at their nearest points of `X`."""
        search = NeighborSearch(X, n_jobs=n_jobs)
        return partial(self._rows, search, self._tensor(X, n_jobs), self._paths(X, n_jobs))

    def _rows(self, search: NeighborSearch, tensor: Floats, paths: Floats, Y: Points) -> AffinityLike:
        Y = np.asarray(Y, dtype=float)
        _, nearest = search.query(Y, self.n_neighbors)
        distance = np.full((len(Y), len(search.X)), np.inf)
        for column in nearest.T:
            length = _edge_lengths(Y - search.X[column], tensor[column])
            np.minimum(distance, length[:, None] + paths[column], out=distance)
        return self._psi(distance)

    def distances(self, X: Points) -> Floats:
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

    def _paths(self, X: Points, n_jobs: int | None) -> Floats:
        check_neighbors(self, len(X), itself=1)
        if len(X) > 6000:
            raise ValueError(
                f"the geodesic kernel finds shortest paths between all pairs, which takes minutes for {len(X)} points; "
                "give at most 6000, or use kernel='knn'."
            )
        tensor = self._tensor(X, n_jobs)
        nearest = kneighbors(X, self.n_neighbors, n_jobs=n_jobs)[1]
        p, q = np.repeat(np.arange(len(X)), nearest.shape[1]), nearest.ravel()
        length = _edge_lengths(X[p] - X[q], 0.5 * (tensor[p] + tensor[q]))
        # scipy reads a stored zero as no edge, but coinciding points are joined: give them the least length.
        length = np.maximum(length, np.finfo(float).tiny)
        graph = sparse.csr_array((length, (p, q)), shape=(len(X),) * 2)
        paths = dijkstra(graph, directed=False)
        # The two directions of a path add its edges in different order and differ by rounding.
        return np.minimum(paths, paths.T)

    def _tensor(self, X: Points, n_jobs: int | None) -> Floats:
        """The metric at the points."""
        if isinstance(self.metric, str):
            if self.metric == "euclidean":
                return np.ones(len(X))
            if self.metric == "density":
                return knn_radius(X, self.n_neighbors, n_jobs=n_jobs) ** -2.0
            raise ValueError(
                f"metric={self.metric!r} is not known; choose 'density', 'euclidean' or give a function or an array."
            )
        tensor = np.asarray(self.metric(X) if callable(self.metric) else self.metric, dtype=np.float64)
        if tensor.ndim == 1:
            if tensor.shape != (len(X),) or not (tensor > 0).all():
                raise ValueError(f"metric must hold one positive number for each of {len(X)} points.")
            return tensor
        if tensor.shape != (len(X), X.shape[1], X.shape[1]):
            raise ValueError(
                f"metric has shape {tensor.shape}; {len(X)} points with {X.shape[1]} features "
                f"need ({len(X)}, {X.shape[1]}, {X.shape[1]})."
            )
        if not np.isfinite(tensor).all() or np.linalg.eigvalsh(tensor).min() <= 0:
            raise ValueError("metric must hold symmetric positive definite matrices.")
        return tensor

    def _psi(self, distance: Floats) -> AnyFloats:
        if not self.bandwidth > 0:
            raise ValueError(f"bandwidth={self.bandwidth!r} must be positive.")
        return exp_half((distance / self.bandwidth) ** 2)


def _edge_lengths(offsets: NDArray, tensor: NDArray) -> Floats:
    if tensor.ndim == 1:
        return np.sqrt(tensor * np.einsum("pi,pi->p", offsets, offsets))
    return np.sqrt(np.einsum("pi,pij,pj->p", offsets, tensor, offsets))
