"""The points in one coordinate system, and what every number of clusters shares: neighbours, graphs, trees, rows.

Everything is made when it is first used, and once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._runtime import in_threads, n_threads
from ..affinity import as_affinity, equalizing_scale
from ..criteria import RatioProblem
from ..kernels import Points, shared_neighbor_affinity
from ..neighbors import NeighborSearch, is_dense
from ..points import GIVEN, CoordinateSystem, coordinate_systems
from ..tensors import Floats, Ints
from .trees import Joins, SpanningTree, join_pieces, spanning_tree

__all__ = ["NeighborGraphs", "intrinsic_dimension", "neighbor_graphs", "neighborhood_sizes"]

# Neighbours of the graph over which rows are smoothed, and how often.
SMOOTHING_NEIGHBORS, SMOOTHING_STEPS = 15, 3
# Ward's method takes the square of the number of points: more points than this are represented by a sample.
_WARD_SAMPLE = 2000


def neighborhood_sizes(n_points: int, n_clusters: int) -> list[int]:
    """Three sizes of a neighbourhood: 0.6, 1 and 1.6 times a sixth of an average cluster, that kept within 10 and 25.

    Examples
    --------
    >>> neighborhood_sizes(10_000, 2), neighborhood_sizes(150, 5)
    ([15, 25, 40], [6, 10, 16])
    """
    middle = min(max(n_points / (6 * n_clusters), 10), 25)
    return [min(round(scale * middle), n_points - 1) for scale in (0.6, 1.0, 1.6)]


@dataclass(frozen=True, eq=False)
class NeighborGraphs:
    """Points in one coordinate system with their neighbours, and the graphs, trees and rows that follow from them."""

    system: CoordinateSystem
    search: NeighborSearch
    weights: Floats
    distances: Floats
    indices: NDArray[np.integer]
    joins: Joins
    dimension: float
    _trees: dict[int, SpanningTree] = field(default_factory=dict, init=False)
    _affinities: dict[int, sparse.csr_array] = field(default_factory=dict, init=False)
    _spectra: dict[int, list[Floats]] = field(default_factory=dict, init=False)
    problems: dict[int, dict[str, RatioProblem]] = field(default_factory=dict, init=False)
    levels: dict = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls,
        X: Points,
        weights: Floats | None = None,
        *,
        system: CoordinateSystem | None = None,
        n_jobs: int | None = None,
    ) -> NeighborGraphs:
        """Search the neighbours of points that are in the system already.

        Examples
        --------
        >>> import numpy as np
        >>> NeighborGraphs.of(np.random.default_rng(0).normal(size=(50, 2))).indices.shape
        (50, 41)
        """
        search = NeighborSearch(X, n_jobs=n_jobs)
        # The largest neighbourhood, and the point itself.
        distances, indices = search.query_self(41)
        counts = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        joins = join_pieces(X, indices, n_jobs=n_jobs)
        system = CoordinateSystem(GIVEN) if system is None else system
        return cls(system, search, counts, distances, indices, joins, intrinsic_dimension(distances))

    @property
    def X(self) -> Points:
        """The points."""
        return self.search.X

    @property
    def has_coordinates(self) -> bool:
        """Whether the points are rows of numbers."""
        return is_dense(self.X)

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.weights)

    def tree(self, core: int) -> SpanningTree:
        """The spanning tree with core distances to neighbour number `core`."""
        if core not in self._trees:
            self._trees[core] = spanning_tree(self.distances, self.indices, self.joins, core, self.weights)
        return self._trees[core]

    def affinity(self, size: int) -> sparse.csr_array:
        """The shared-neighbour affinity with `size` neighbours."""
        if size not in self._affinities:
            near = slice(size + 1)
            self._affinities[size] = shared_neighbor_affinity(
                self.X, self.distances[:, near], self.indices[:, near], n_jobs=self.search.n_jobs
            )
        return self._affinities[size]

    @cached_property
    def rows(self) -> Floats:
        """The points as rows about their mean."""
        X = np.asarray(self.X, dtype=np.float64)
        return X - self.weights @ X / self.weights.sum()

    @cached_property
    def neighbor_graph(self) -> sparse.csr_array:
        """The symmetric graph of the nearest neighbours, each edge 1."""
        near = self.indices[:, : SMOOTHING_NEIGHBORS + 1]
        starts = np.arange(0, near.size + 1, near.shape[1])
        graph = sparse.csr_array((np.ones(near.size), near.ravel(), starts), shape=(self.n_points,) * 2)
        return sparse.csr_array(graph.maximum(graph.T))

    @cached_property
    def smoothed_rows(self) -> Floats:
        """The rows, each replaced by the weighted mean of its neighbours, and that repeated."""
        average = self.neighbor_graph @ sparse.diags_array(self.weights)
        average = sparse.diags_array(1 / average.sum(axis=1)) @ average
        rows = self.rows
        for _ in range(SMOOTHING_STEPS):
            rows = average @ rows
        return rows

    @cached_property
    def ward(self) -> WardTree:
        """Ward's tree of the rows."""
        return WardTree.of(self.rows)

    @cached_property
    def smoothed_ward(self) -> WardTree:
        """Ward's tree of the smoothed rows."""
        return WardTree.of(self.smoothed_rows)

    def spectral_rows(self, n_vectors: int) -> list[Floats]:
        """Leading eigenvectors of the neighbour graph and of the broadest graph equalised exactly, largest first."""
        n_vectors = min(n_vectors, self.n_points - 2)
        # More vectors than are asked for serve a smaller number too.
        known = [n for n in self._spectra if n >= n_vectors]
        if not known:
            shared = self.affinity(neighborhood_sizes(self.n_points, 2)[-1])
            scale = sparse.diags_array(equalizing_scale(as_affinity(shared)))
            graphs = (self.neighbor_graph, scale @ shared @ scale)
            self._spectra[n_vectors] = [_leading_vectors(graph, self.weights, n_vectors) for graph in graphs]
            known = [n_vectors]
        return [vectors[:, :n_vectors] for vectors in self._spectra[known[0]]]


@dataclass(frozen=True, eq=False)
class WardTree:
    """Ward's method on rows, or on an even sample of them, cut for any number of clusters."""

    rows: Floats
    sample: NDArray[np.intp]
    linkage: Floats

    @classmethod
    def of(cls, rows: Floats) -> WardTree:
        """Merge the rows; of more than 2000, as many evenly spaced ones."""
        from scipy.cluster.hierarchy import linkage

        sample = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _WARD_SAMPLE)).astype(np.intp))
        return cls(rows, sample, linkage(_pair_distances(rows[sample]), "ward"))

    def cut(self, n_clusters: int) -> Ints:
        """Labels of all rows: those outside of the sample have that of the nearest mean."""
        from scipy.cluster.hierarchy import fcluster

        labels = fcluster(self.linkage, min(n_clusters, len(self.sample)), "maxclust").astype(np.int64) - 1
        if len(self.sample) == len(self.rows):
            return labels
        means = group_means(self.rows[self.sample], labels, np.ones(len(labels)))
        labels_of_all = nearest_mean(self.rows, means)
        labels_of_all[self.sample] = labels
        return labels_of_all


def group_means(rows: Floats, labels: Ints, weights: Floats) -> Floats:
    """The weighted mean of each group of rows."""
    n_groups = int(labels.max()) + 1
    members = sparse.csr_array((weights, (labels, np.arange(len(rows)))), shape=(n_groups, len(rows)))
    return np.asarray(members @ rows / np.maximum(members.sum(axis=1), np.finfo(float).tiny)[:, None])


def nearest_mean(rows: Floats, means: Floats) -> Ints:
    """The nearest of some means to each row."""
    return np.argmin(np.einsum("ij,ij->i", means, means) - 2 * rows @ means.T, axis=1).astype(np.int64)


def neighbor_graphs(
    X: Points,
    weights: Floats | None = None,
    *,
    feature_scale: Floats | None = None,
    n_jobs: int | None = None,
) -> list[NeighborGraphs]:
    """The graphs of points in every coordinate system; without `feature_scale` only unchanged.

    Parameters
    ----------
    X : points
    weights : ndarray of shape (n,), optional
    feature_scale : ndarray of shape (n_features,), optional
        What the columns were divided by to be standardised.
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> [graphs.system.name for graphs in neighbor_graphs(X, feature_scale=np.ones(4))]
    ['as given', 'ranks']
    """
    if feature_scale is None:
        return [NeighborGraphs.of(X, weights, n_jobs=n_jobs)]
    counts = np.ones(len(X)) if weights is None else weights
    systems = [(system, system(X)) for system in coordinate_systems(X, counts, feature_scale)]
    return in_threads(
        lambda known: NeighborGraphs.of(known[1], counts, system=known[0], n_jobs=n_jobs), systems, n_threads(n_jobs)
    )


def intrinsic_dimension(distances: Floats) -> float:
    r"""Levina and Bickel's estimate from distances to neighbours: one over the mean of :math:`\log(R_K / R_j)`."""
    apart = np.where(distances[:, 1:] > 0, distances[:, 1:], np.nan)
    with np.errstate(over="ignore"):
        ratio = np.log(distances[:, -1:] / apart[:, :-1]) if distances.shape[1] > 2 else np.full((1, 1), np.nan)
    # Quotients outside of the range of floats are left out.
    ratio[np.isinf(ratio)] = np.nan
    mean = np.nanmean(ratio) if np.isfinite(ratio).any() else 0.0
    return float(1.0 / mean) if mean > 0 else 1.0


def _pair_distances(rows: Floats) -> Floats:
    """Distances between all pairs of rows, condensed; by products where there are many columns."""
    from scipy.spatial.distance import pdist, squareform

    if rows.shape[1] < 16:
        return pdist(rows)
    lengths = np.einsum("ij,ij->i", rows, rows)
    squared = lengths[:, None] + lengths - 2 * rows @ rows.T
    np.fill_diagonal(squared, 0.0)
    return np.sqrt(np.maximum(squareform(squared, checks=False), 0.0))


def _leading_vectors(graph: sparse.csr_array, weights: Floats, n_vectors: int) -> Floats:
    """Leading eigenvectors of a graph of weighted points, normalised by its degrees; largest eigenvalue first."""
    from scipy.sparse.linalg import eigsh

    scale = np.sqrt(weights / weights.mean())
    graph = sparse.diags_array(scale) @ graph @ sparse.diags_array(scale)
    inverse = sparse.diags_array(graph.sum(axis=1) ** -0.5)
    normalized = sparse.csr_array(inverse @ graph @ inverse)
    n_points = graph.shape[0]
    start = np.random.default_rng(0).normal(size=n_points)
    return eigsh(normalized, n_vectors, which="LA", v0=start, tol=1e-4)[1][:, ::-1]
