"""What the data say about a clustering: density, neighbour graph, and every border between two clusters.

Nothing here knows how the labels were made; density and graph are estimated from the points alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..neighbors import kneighbors
from ..selection.candidates import intrinsic_dimension
from ..tensors import AnyFloats, AnyInts, Floats, Ints, Mask, Places
from .borders import Border, Ground, border_between, edges, peaks, pieces, settle, weighted_quantile

#: Neighbours of the graph on which borders and conductance are measured.
GRAPH_NEIGHBORS = 10
#: Clusters with fewer points are judged by density and distance alone.
LONE = 10
_LONE_NEIGHBORS = 5


@dataclass(frozen=True)
class Lone:
    """A cluster of very few points, which has no inside: how dense it is, and how far from the others.

    Attributes
    ----------
    density : float
        Quantile of its median density in that of all points.
    gap : float
        Median distance of its points to the nearest outsider over that to the nearest member; 0 for one point.
    """

    density: float
    gap: float


@dataclass(frozen=True, eq=False)
class Surroundings:
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
    """

    X: AnyFloats
    weights: Floats
    has_copies: Mask
    drawn: Places
    distances: Floats
    indices: AnyInts
    graph: sparse.csr_array
    dimension: float
    n_jobs: int | None

    @property
    def n_neighbors(self) -> int:
        """Neighbours a point of the graph."""
        return min(GRAPH_NEIGHBORS, self.indices.shape[1] - 1)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is measured on one clustering.

    Attributes
    ----------
    codes : ndarray
        Clusters of the points looked at.
    log_density : ndarray
        Of the points looked at, up to a constant.
    middle : ndarray
        Median log density of each cluster.
    sizes : ndarray
        Weight of each cluster, all points of it.
    density, conductance : ndarray
        Of each cluster: median density as a quantile of the data's, and share of edges that leave it.
    borders : list of Border
    lone : dict
        Clusters too small to have an inside.
    unseen : frozenset
        Clusters without a point of their own: all of theirs coincide with points that are mostly another's.
    """

    codes: Ints
    log_density: Floats
    middle: Floats
    sizes: Floats
    density: Floats
    conductance: Floats
    borders: list[Border]
    lone: dict[int, Lone]
    unseen: frozenset[int]


def survey(X: AnyFloats, weights: Floats, drawn: Places, n_jobs: int | None = None) -> Surroundings:
    """Neighbours and graph of the points `drawn`."""
    points, has_copies, weights = X[drawn], weights >= 2, weights / weights.mean()
    distances, indices = kneighbors(points, _most_neighbors(len(points)) + 1, n_jobs=n_jobs)
    dimension = min(max(1.0, intrinsic_dimension(distances)), float(X.shape[1]))
    graph = _graph(indices[:, 1 : GRAPH_NEIGHBORS + 1], weights[drawn])
    return Surroundings(X, weights, has_copies, drawn, distances, indices, graph, dimension, n_jobs)


def gather(around: Surroundings, codes: Ints, n_clusters: int) -> Evidence:
    """Measure the clustering `codes` (0 to k-1, no noise) of all points."""
    sizes = np.bincount(codes, around.weights, n_clusters).astype(np.float64)
    seen, weights, graph = codes[around.drawn], around.weights[around.drawn], around.graph
    in_sample = np.bincount(seen, minlength=n_clusters)
    raw = _log_density(around, weights, seen, in_sample)
    log_density = _smooth(raw, graph, seen, weights)
    unseen = frozenset(np.flatnonzero(np.bincount(codes, minlength=n_clusters) == 0).tolist())
    few = set(np.flatnonzero(in_sample < LONE).tolist()) - unseen
    lone = {k: _lone(around, codes, k, raw) for k in sorted(few)}
    settled = settle(seen, graph, in_sample)
    cuts = _cuts(graph, settled, n_clusters)
    peak, piece = peaks(log_density, graph, settled), pieces(graph, settled)
    ground = Ground(graph, settled, weights, log_density, peak, piece, in_sample, cuts.sum(axis=1))
    borders = [
        border_between(first, second, ground)
        for first, second in zip(*np.nonzero(np.triu(cuts, 1)))
        if first not in lone and second not in lone
    ]
    middle, density = _cluster_densities(log_density, seen, weights, n_clusters)
    for k, one in lone.items():
        density[k] = one.density
    return Evidence(
        codes=seen,
        log_density=log_density,
        middle=middle,
        sizes=sizes,
        density=density,
        conductance=_conductance(_cuts(graph, seen, n_clusters)),
        borders=borders,
        lone=lone,
        unseen=unseen,
    )


def _cluster_densities(log_density: Floats, seen: Ints, weights: Floats, n_clusters: int) -> tuple[Floats, Floats]:
    """Median log density of each cluster, and its quantile among all points."""
    order = np.argsort(log_density, kind="stable")
    upto = np.r_[0.0, np.cumsum(weights[order])] / weights.sum()
    middle = np.full(n_clusters, log_density[order[0]])
    for k in np.unique(seen):
        middle[k] = weighted_quantile(log_density[seen == k], weights[seen == k])
    return middle, upto[np.searchsorted(log_density[order], middle, "right")]


def _lone(around: Surroundings, codes: Ints, cluster: int, log_density: Floats) -> Lone:
    """A small cluster against all points, also where the rest was judged on a sample."""
    X, n_jobs, tiny = around.X, around.n_jobs, np.finfo(float).tiny
    members = np.flatnonzero(codes == cluster)[:200]
    others = np.flatnonzero(codes != cluster)
    n_near = min(_LONE_NEIGHBORS, len(X) - 1)
    distance, near = kneighbors(X, n_near + 1, at=X[members], n_jobs=n_jobs, method="exact")
    mass = n_near * around.weights[near].mean(axis=1)
    own = np.log(mass / len(X)) - around.dimension * np.log(np.maximum(distance[:, -1], tiny))
    gap = 0.0
    if np.average(around.has_copies[members], weights=around.weights[members]) > 0.5:
        gap = float("inf")  # heaps of copies: nothing else is as near as they are to each other
    elif len(members) > 1:
        outside = kneighbors(X[others], 1, at=X[members], n_jobs=n_jobs, method="exact")[0][:, 0]
        inside = kneighbors(X[members], 2)[0][:, 1]
        gap = float(np.median(outside) / max(np.median(inside), tiny))
    level, seen = np.median(own), around.weights[around.drawn]
    below, upto = (np.average(part, weights=seen) for part in (log_density < level, log_density <= level))
    return Lone(float(below + upto) / 2, gap)


def _most_neighbors(n_points: int) -> int:
    """Neighbours of the density estimate: more points bear a smoother one."""
    return int(min(n_points - 1, max(GRAPH_NEIGHBORS, round(n_points**0.4))))


def _log_density(around: Surroundings, weights: Floats, codes: Ints, sizes: Ints) -> Floats:
    """K/(n V_K) with K no more than a third of the point's cluster, so that small clusters are seen.

    A neighbour that stands for more rows counts for more.
    """
    distances = around.distances
    most, rows = distances.shape[1] - 1, np.arange(len(codes))
    neighbors = np.clip(sizes // 3, min(5, most), most)[codes]
    radius = distances[rows, neighbors]
    positive = radius[radius > 0]
    radius = np.maximum(radius, positive.min() if positive.size else 1.0)
    mean_weight = np.cumsum(weights[around.indices], axis=1)[rows, neighbors] / (neighbors + 1)
    return np.log(neighbors * mean_weight / len(codes)) - around.dimension * np.log(radius)


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


def _smooth(values: Floats, graph: sparse.csr_array, codes: Ints, weights: Floats) -> Floats:
    """Mean over a point and its neighbours in its own cluster: less noise, and no leak across the border."""
    p, q = edges(graph)
    same = codes[p] == codes[q]
    p, q = p[same], q[same]
    total = weights * values + np.bincount(p, weights[q] * values[q], len(values))
    return total / (weights + np.bincount(p, weights[q], len(values)))


def _cuts(graph: sparse.csr_array, codes: Ints, n_clusters: int) -> Floats:
    p, q = edges(graph)
    pairs = codes[p] * n_clusters + codes[q]
    return np.bincount(pairs, graph.data, minlength=n_clusters**2).reshape(n_clusters, -1).astype(np.float64)


def _conductance(cuts: Floats) -> Floats:
    volume = cuts.sum(axis=1)
    inside = np.divide(np.diag(cuts), volume, out=np.zeros(len(cuts)), where=volume > 0)
    return 1 - inside
