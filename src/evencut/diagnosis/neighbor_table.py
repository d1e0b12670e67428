"""The neighbours of the points without their labels: every clustering of them is measured on the same table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..neighbors import kneighbors
from ..selection import intrinsic_dimension
from ..tensors import AnyFloats, AnyInts, Floats, Mask, Places

#: Neighbours of the graph on which borders and conductance are measured.
GRAPH_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class NeighborTable:
    """The points without their labels: what every clustering of them is judged on.

    Attributes
    ----------
    X, weights : ndarray
        All points and what each stands for, one in the mean.
    has_copies : ndarray
        Whether each stands for two rows or more.
    drawn : ndarray
        The points looked at.
    distances, indices : ndarray
        Neighbours of those, the point itself first.
    graph : CSR array
        Their neighbour graph; an edge weighs the mean of its two ends.
    dimension : float
        Intrinsic dimension of the data.
    mean_weight : float
        By which the weights were divided.
    """

    X: AnyFloats
    weights: Floats
    has_copies: Mask
    drawn: Places
    distances: Floats
    indices: AnyInts
    graph: sparse.csr_array
    dimension: float
    mean_weight: float
    n_jobs: int | None

    @property
    def n_neighbors(self) -> int:
        """Neighbours a point of the graph."""
        return min(GRAPH_NEIGHBORS, self.indices.shape[1] - 1)



def measure_points(X: AnyFloats, weights: Floats, drawn: Places, n_jobs: int | None = None) -> NeighborTable:
    """Neighbours and graph of the points `drawn`."""
    points, has_copies, mean_weight = X[drawn], weights >= 2, float(weights.mean())
    weights = weights / mean_weight
    distances, indices = kneighbors(points, _most_neighbors(len(points)) + 1, n_jobs=n_jobs)
    dimension = min(max(1.0, intrinsic_dimension(distances)), float(X.shape[1]))
    graph = _graph(indices[:, 1 : GRAPH_NEIGHBORS + 1], weights[drawn])
    return NeighborTable(X, weights, has_copies, drawn, distances, indices, graph, dimension, mean_weight, n_jobs)



def _most_neighbors(n_points: int) -> int:
    """Neighbours of the density estimate: more points bear a smoother one."""
    return int(min(n_points - 1, max(GRAPH_NEIGHBORS, round(n_points**0.4))))



def _graph(indices: AnyInts, weights: Floats) -> sparse.csr_array:
    """The symmetric graph of neighbours, without loops; an edge weighs the mean of its two ends."""
    n_points, n_neighbors = indices.shape
    parts = (np.ones(indices.size), indices.ravel(), np.arange(0, indices.size + 1, n_neighbors))
    one_way = sparse.csr_array(parts, shape=(n_points, n_points))
    both = sparse.csr_array(one_way + one_way.T)
    both.setdiag(0)
    both.eliminate_zeros()
    p, q = edges(both)
    both.data = (weights[p] + weights[q]) / 2
    return both



def edges(graph: sparse.csr_array) -> tuple[AnyInts, AnyInts]:
    """Both ends of every edge, each edge in both directions."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices
