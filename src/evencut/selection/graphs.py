"""The points in one coordinate system, and what every number of clusters shares: neighbours, graphs, trees, rows.

Everything is made when it is first used, and once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._runtime import in_threads, n_threads
from ..affinity import equalizing_scale
from ..criteria import RatioProblem
from ..kernels import Points, shared_neighbor_affinities
from ..neighbors import NeighborSearch
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
    has_coordinates: bool
    _trees: dict[int, SpanningTree] = field(default_factory=dict, init=False)
    _affinities: dict[int, sparse.csr_array] = field(default_factory=dict, init=False)
    _spectra: dict[int, list[Floats]] = field(default_factory=dict, init=False)
    problems: dict[int, dict[str, RatioProblem]] = field(default_factory=dict, init=False)
    merges: list = field(default_factory=list, init=False)

    @classmethod
    def of(
        cls,
        X: Points,
        weights: Floats | None = None,
        *,
        system: CoordinateSystem | None = None,
        n_jobs: int | None = None,
    ) -> NeighborGraphs:
        """Bring points to the system and search their neighbours.

        Examples
        --------
        >>> import numpy as np
        >>> NeighborGraphs.of(np.random.default_rng(0).normal(size=(50, 2))).indices.shape
        (50, 41)
        """
        search = NeighborSearch(X if system is None else system(X), n_jobs=n_jobs)
        # The largest neighbourhood, and the point itself.
        distances, indices = search.query_self(41)
        counts = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        joins = join_pieces(search, indices)
        system, has_coordinates = system or CoordinateSystem(GIVEN), isinstance(X, np.ndarray)
        return cls(system, search, counts, distances, indices, joins, intrinsic_dimension(distances), has_coordinates)

    @property
    def X(self) -> Points:
        """The points."""
        return self.search.X

    def trees(self, cores: Sequence[int]) -> list[SpanningTree]:
        """The spanning trees with core distances to these neighbours."""
        new = [core for core in cores if core not in self._trees]
        if new:
            trees = [spanning_tree(self.distances, self.indices, self.joins, core, self.weights) for core in new]
            self._trees.update(zip(new, trees))
        return [self._trees[core] for core in cores]

    def affinities(self, sizes: Sequence[int]) -> list[sparse.csr_array]:
        """The shared-neighbour affinities with these numbers of neighbours."""
        new = [size for size in sizes if size not in self._affinities]
        if new:
            made = shared_neighbor_affinities(self.X, self.distances, self.indices, new, n_jobs=self.search.n_jobs)
            self._affinities.update(zip(new, made))
        return [self._affinities[size] for size in sizes]

    @cached_property
    def rows(self) -> Floats:
        """The points as rows about their mean."""
        X = np.asarray(self.X, dtype=np.float64)
        return X - self.weights @ X / self.weights.sum()

    @cached_property
    def neighbor_graph(self) -> sparse.csr_array:
        """The symmetric graph of the nearest neighbours, each edge 1."""
        neighbors = self.indices[:, : SMOOTHING_NEIGHBORS + 1]
        starts = np.arange(0, neighbors.size + 1, neighbors.shape[1])
        graph = sparse.csr_array((np.ones(neighbors.size), neighbors.ravel(), starts), shape=(len(neighbors),) * 2)
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
        n_vectors = min(n_vectors, len(self.weights) - 2)
        # Vectors computed for a larger number serve a smaller one too.
        known = [n for n in self._spectra if n >= n_vectors]
        if not known:
            [shared] = self.affinities([neighborhood_sizes(len(self.weights), 2)[-1]])
            scale = sparse.diags_array(equalizing_scale(shared))
            graphs = (self.neighbor_graph, scale @ shared @ scale)
            self._spectra[n_vectors] = [_leading_vectors(graph, self.weights, n_vectors) for graph in graphs]
            known = [n_vectors]
        return [vectors[:, :n_vectors] for vectors in self._spectra[known[0]]]

    def centre_partitions(self, numbers: Sequence[int], n_iter: int) -> list[tuple[int, str, str, int, Ints]]:
        """Clusters of spectral rows, rows and smoothed rows: for each number the principle, kind, scale and labels."""
        partitions = []
        for k in numbers:
            # The eigenvectors of nearly as many clusters as points are not defined.
            if k < len(self.weights) - 2:
                for kind, vectors in zip(("neighbours", "equalised"), self.spectral_rows(k)):
                    rows = unit_length(vectors)
                    partitions.append((k, "spectral", kind, 0, kmeans(rows, self.weights, pivot_labels(rows), n_iter)))
            if self.has_coordinates:
                ward, smoothed = self.ward.cut(k), self.smoothed_ward.cut(k)
                unit = unit_length(self.smoothed_rows)
                partitions += [
                    (k, "centre", "k-means", 0, kmeans(self.rows, self.weights, ward, n_iter)),
                    (k, "centre", "Ward", 0, ward),
                    (k, "smoothed", "k-means", 0, kmeans(unit, self.weights, smoothed, n_iter)),
                    (k, "smoothed", "Ward", 0, smoothed),
                ]
        return partitions


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


def unit_length(rows: Floats) -> Floats:
    """The rows divided by their lengths; empty rows stay zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def kmeans(rows: Floats, weights: Floats, start: Ints, n_iter: int = 15) -> Ints:
    """Weighted k-means from a partition; a cluster that loses all its rows is left out.

    Examples
    --------
    >>> kmeans(np.array([[0.0], [1.0], [8.0]]), np.ones(3), np.array([0, 1, 1]))
    array([0, 0, 1])
    """
    labels, starts = start, np.arange(len(rows) + 1)
    for _ in range(n_iter):
        n_clusters = int(labels.max()) + 1
        members = sparse.csc_array((weights, labels, starts), shape=(n_clusters, len(rows)))
        mass = members.sum(axis=1)
        means = np.asarray(members @ rows)[mass > 0] / mass[mass > 0, None]
        moved = nearest_mean(rows, means)
        if len(means) == n_clusters and (moved == labels).all():
            break
        labels = moved
    return labels


def pivot_labels(rows: Floats) -> Ints:
    """Clusters of spectral rows by pivoted QR: each row goes to the pivot that it is most aligned with.

    Examples
    --------
    >>> pivot_labels(np.array([[1.0, 0.0], [0.0, 1.0], [0.1, 0.9]]))
    array([0, 1, 1])
    """
    from scipy.linalg import polar, qr

    n_clusters = rows.shape[1]
    pivots = qr(rows.T, pivoting=True, mode="r", check_finite=False)[1][:n_clusters]
    rotation = polar(rows[pivots].T)[0]
    return np.unique(np.argmax(np.abs(rows @ rotation), axis=1), return_inverse=True)[1]


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
    systems = coordinate_systems(X, counts, feature_scale)
    if len(systems) == 1:
        return [NeighborGraphs.of(X, counts, system=systems[0], n_jobs=n_jobs)]
    return in_threads(
        lambda system: NeighborGraphs.of(X, counts, system=system, n_jobs=n_jobs), systems, n_threads(n_jobs)
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
