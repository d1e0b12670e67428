"""The geodesic kernel: a Gaussian of the lengths of shortest paths, along the neighbour graph or over a grid."""

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
from .base import BANDWIDTH, NEIGHBORS, Extension, Kernel, Points, check_neighbors, exp_half, matrix_per_point
from .fast_marching import MetricGrid

# Shortest paths between all pairs of more points take minutes.
_MOST_POINTS = 6000
_PATHS = ("graph", "fast_marching")


@dataclass(eq=False, repr=False)
class Geodesic(Kernel):
    r"""Gaussian of distances along the neighbour graph under a metric tensor (eq. 46).

    .. math:: A_{pq} = \exp\left(-\frac{d_g(f_p, f_q)^2}{2\sigma^2}\right)

    An edge between neighbours has the Mahalanobis length of the mean of their tensors
    (eq. 47); distances are shortest paths (Dijkstra). Or fronts march over a grid of up to three dimensions,
    which needs scikit-fmm and a tensor that is a multiple of the identity (fast marching).

    Parameters
    ----------
    n_neighbors : int, default=10
        Of the graph the paths run along.
    metric : {"density", "euclidean"}, callable or array of shape (n_samples,) or (n_samples, n_features, n_features)
        The tensor :math:`g_p` at the points: :math:`I/(R_p^K)^2`, which equalises the density; I; a function that
        returns the multiple of I at any points; a multiple of I for each point; or any matrix for each point.
    bandwidth : float, default=1.0
        Sigma, in the unit of the metric.
    paths : {"graph", "fast_marching"}, default="graph"
        Along edges between neighbours, or over a grid; a grid needs a metric known everywhere, so no array.
    n_cells : int, default=100
        Of the grid, along its longest side.

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
    paths: str = "graph"
    n_cells: int = 100

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
        if self._marches():
            return partial(self._rows_over_grid, X, self._grid(X, n_jobs))
        search = NeighborSearch(X, n_jobs=n_jobs)
        return partial(self._rows, search, self._tensor(X, n_jobs), self._paths(X, n_jobs))

    def _rows(self, search: NeighborSearch, tensor: Floats, paths: Floats, Y: Points) -> AffinityLike:
        Y = np.asarray(Y, dtype=float)
        _, near = search.query(Y, self.n_neighbors)
        found = np.full((len(Y), len(search.X)), np.inf)
        for column in near.T:
            length = _edge_lengths(Y - search.X[column], tensor[column])
            np.minimum(found, length[:, None] + paths[column], out=found)
        return self._psi(found)

    def _rows_over_grid(self, X: Points, grid: MetricGrid, Y: Points) -> AffinityLike:
        return self._psi(grid.distances(Y, X))

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
        if len(X) > _MOST_POINTS:
            raise ValueError(
                f"the geodesic kernel finds shortest paths between all pairs, which takes minutes for {len(X)} points; "
                f"give at most {_MOST_POINTS}, or use kernel='knn'."
            )
        if self._marches():
            lengths = self._grid(X, n_jobs).distances(X, X)
            return 0.5 * (lengths + lengths.T)
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

    def _marches(self) -> bool:
        if self.paths not in _PATHS:
            raise ValueError(f"paths={self.paths!r} is not known; choose one of {_PATHS}.")
        return self.paths == "fast_marching"

    def _grid(self, X: Points, n_jobs: int | None) -> MetricGrid:
        check_neighbors(self, len(X), itself=1)
        if not self.n_cells >= 2:
            raise ValueError(f"n_cells={self.n_cells!r} must be at least 2.")
        return MetricGrid.around(X, partial(self._tensor, X, n_jobs), self.n_cells)

    def _tensor(self, X: Points, n_jobs: int | None, at: Points | None = None) -> Floats:
        """The metric at the points, or `at` others where it is known everywhere."""
        places = X if at is None else at
        if isinstance(self.metric, str):
            if self.metric == "euclidean":
                return np.ones(len(places))
            if self.metric == "density":
                return knn_radius(X, self.n_neighbors, at=at, n_jobs=n_jobs) ** -2.0
            raise ValueError(
                f"metric={self.metric!r} is not known; choose 'density', 'euclidean' or give a function or an array."
            )
        if at is not None and not callable(self.metric):
            raise ValueError("paths='fast_marching' needs the metric between points too: give a name or a function.")
        tensor = np.asarray(self.metric(places) if callable(self.metric) else self.metric, dtype=np.float64)
        if tensor.ndim == 1:
            if tensor.shape != (len(places),) or not (tensor > 0).all():
                raise ValueError(f"metric must hold one positive number for each of {len(places)} points.")
            return tensor
        return matrix_per_point(tensor, X, "metric")

    def _psi(self, distance: Floats) -> AnyFloats:
        if not self.bandwidth > 0:
            raise ValueError(f"bandwidth={self.bandwidth!r} must be positive.")
        return exp_half((distance / self.bandwidth) ** 2)


def _edge_lengths(offsets: NDArray, tensor: NDArray) -> Floats:
    if tensor.ndim == 1:
        return np.sqrt(tensor * np.einsum("pi,pi->p", offsets, offsets))
    return np.sqrt(np.einsum("pi,pij,pj->p", offsets, tensor, offsets))
