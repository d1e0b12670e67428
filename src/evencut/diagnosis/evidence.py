"""What the data say about a clustering: density, neighbour graph, and every border between two clusters.

Nothing here knows how the labels were made; density and graph are estimated from the points alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..neighbors import kneighbors

__all__ = ["Border", "Evidence", "gather"]

#: Neighbours of the graph on which borders and conductance are measured.
GRAPH_NEIGHBORS = 10
#: Layers of the graph, from the border inwards, that the profile of a border looks at.
DEPTH = 6


@dataclass(frozen=True)
class Border:
    """The border between clusters `first` and `second`, seen from both sides (sides in that order).

    Attributes
    ----------
    first, second : int
        Codes of the two clusters.
    cut : int
        Edges of the neighbour graph across the border.
    bottleneck : float
        Log of the cut over the larger cuts parallel to it on the poorer side: negative in a valley.
    climb : tuple of float
        Rise of log density from the highest pass of the border to the nearest peak, on each side.
    level : tuple of float
        Share of the points on each side, near the border, that are less dense than its highest pass.
    mixing : tuple of float
        Share of the border's cut in all edges of each cluster.
    profile : tuple of two ndarrays
        Median log density of the layers of each side, the first at the border.
    """

    first: int
    second: int
    cut: int
    bottleneck: float
    climb: tuple[float, float]
    level: tuple[float, float]
    contrast: float
    mixing: tuple[float, float]
    profile: tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Evidence:
    """All that is measured on one clustering."""

    log_density: NDArray[np.float64]
    graph: sparse.csr_array
    sizes: NDArray[np.int64]
    conductance: NDArray[np.float64]
    borders: list[Border]
    dimension: float


def gather(X: NDArray[np.float64], codes: NDArray[np.int64], n_jobs: int | None = None) -> Evidence:
    """Measure the clustering `codes` (0 to k-1, no noise) of the points `X`."""
    sizes = np.bincount(codes)
    distances, indices = kneighbors(X, _most_neighbors(len(X)) + 1, n_jobs=n_jobs)
    dimension = intrinsic_dimension(distances)
    log_density = _log_density(distances, codes, sizes, dimension)
    graph = _graph(indices[:, 1 : GRAPH_NEIGHBORS + 1])
    log_density = _smooth(log_density, graph, codes)
    cuts = _cuts(graph, codes, len(sizes))
    volume = cuts.sum(axis=1)
    conductance = 1 - np.diag(cuts) / volume
    peaks = _peaks(log_density, graph, codes)
    borders = [
        _border(first, second, graph, codes, log_density, peaks, sizes, volume)
        for first, second in zip(*np.nonzero(np.triu(cuts, 1)))
    ]
    return Evidence(log_density, graph, sizes, conductance, borders, dimension)


def intrinsic_dimension(distances: NDArray[np.float64]) -> float:
    r"""Levina and Bickel's estimate, :math:`1 / \mathrm{mean} \log (R_K / R_j)`, of a table of neighbour distances."""
    last = distances[:, -1:]
    inner = distances[:, 1:-1]
    usable = (inner > 0).all(axis=1) & (last[:, 0] > 0)
    if not usable.any() or inner.shape[1] < 2:
        return 1.0
    mean_log = np.log(last[usable] / inner[usable]).mean(axis=1)
    return float(max(1.0, 1.0 / np.median(np.maximum(mean_log, 1e-3))))


def _most_neighbors(n_points: int) -> int:
    """Neighbours of the density estimate: more points bear a smoother one."""
    return int(min(n_points - 1, max(GRAPH_NEIGHBORS, round(n_points**0.4))))


def _log_density(distances, codes, sizes, dimension):
    """K/(n V_K) with K no more than a third of the point's cluster, so that small clusters are seen."""
    most = distances.shape[1] - 1
    neighbors = np.clip(sizes // 3, min(5, most), most)[codes]
    radius = distances[np.arange(len(codes)), neighbors]
    positive = radius[radius > 0]
    radius = np.maximum(radius, positive.min() if positive.size else 1.0)
    return np.log(neighbors / len(codes)) - dimension * np.log(radius)


def _graph(indices: NDArray[np.intp]) -> sparse.csr_array:
    """The symmetric 0-1 graph of neighbours, without loops."""
    n_points, n_neighbors = indices.shape
    parts = (np.ones(indices.size, np.int32), indices.ravel(), np.arange(0, indices.size + 1, n_neighbors))
    one_way = sparse.csr_array(parts, shape=(n_points, n_points))
    both = sparse.csr_array(one_way + one_way.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.data[:] = 1
    return both


def _edges(graph):
    """Both ends of every edge, each edge in both directions."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


def _smooth(values, graph, codes):
    """Mean over a point and its neighbours in its own cluster: less noise, and no leak across the border."""
    p, q = _edges(graph)
    same = codes[p] == codes[q]
    total = values + np.bincount(p[same], values[q[same]], len(values))
    return total / (1 + np.bincount(p[same], minlength=len(values)))


def _cuts(graph, codes, n_clusters):
    p, q = _edges(graph)
    return np.bincount(codes[p] * n_clusters + codes[q], minlength=n_clusters**2).reshape(n_clusters, -1)


def _peaks(log_density, graph, codes):
    """Log density of the peak reached from each point by steepest ascent inside its own cluster."""
    p, q = _edges(graph)
    same = codes[p] == codes[q]
    p, q = p[same], q[same]
    order = np.lexsort((log_density[q], p))
    uphill = np.arange(len(codes))
    uphill[p[order]] = q[order]  # the last write of each p is its densest neighbour
    uphill = np.where(log_density[uphill] > log_density, uphill, np.arange(len(codes)))
    while True:
        further = uphill[uphill]
        if np.array_equal(further, uphill):
            return log_density[uphill]
        uphill = further


def _border(first, second, graph, codes, log_density, peaks, sizes, volume) -> Border:
    p, q = _cross_edges(graph, codes, first, second)
    passes = np.minimum(log_density[p], log_density[q])
    high = passes >= np.quantile(passes, 0.75)
    level = float(np.median(passes[high]))
    sides = []
    for cluster, ends in ((first, p), (second, q)):
        enough = 2 * min(sizes[first], sizes[second])
        layers, cuts = _layers(np.unique(ends), cluster, graph, codes, enough)
        near = np.concatenate(layers)
        sides.append(
            (
                max(cuts, default=0),
                float(np.median(peaks[ends[high]]) - level),
                float(np.mean(log_density[near] < level)),
                float(np.median(log_density[near])),
                np.array([np.median(log_density[layer]) for layer in layers]),
            )
        )
    widest, climb, below, middle, profile = zip(*sides)
    return Border(
        int(first),
        int(second),
        len(p),
        float(np.log((len(p) + 1) / (min(widest) + 1))),
        climb,
        below,
        middle[0] - middle[1],
        (len(p) / volume[first], len(p) / volume[second]),
        profile,
    )


def _cross_edges(graph, codes, first, second):
    members = np.flatnonzero(codes == first)
    starts, stops = graph.indptr[members], graph.indptr[members + 1]
    q = graph.indices[_ranges(starts, stops)]
    p = np.repeat(members, stops - starts)
    across = codes[q] == second
    return p[across], q[across]


def _ranges(starts, stops):
    """All whole numbers of the half-open ranges, one range after the other."""
    lengths = stops - starts
    first = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - first, lengths)


def _layers(seeds, cluster, graph, codes, enough):
    """Layers of a cluster from the border inwards, and the number of edges between each and the next."""
    seen = np.zeros(len(codes), bool)
    seen[seeds] = True
    layers, cuts, found = [seeds], [], len(seeds)
    while len(layers) < DEPTH and found < enough:
        last = layers[-1]
        reached = graph.indices[_ranges(graph.indptr[last], graph.indptr[last + 1])]
        reached = reached[(codes[reached] == cluster) & ~seen[reached]]
        if not len(reached):
            break
        cuts.append(len(reached))
        layers.append(np.unique(reached))
        seen[layers[-1]] = True
        found += len(layers[-1])
    return layers, cuts
