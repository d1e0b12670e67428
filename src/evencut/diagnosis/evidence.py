"""What the data say about a clustering: density, neighbour graph, and every border between two clusters.

Nothing here knows how the labels were made; density and graph are estimated from the points alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..affinity import kneighbors

__all__ = ["Border", "Evidence", "Lone", "gather"]

#: Neighbours of the graph on which borders and conductance are measured.
GRAPH_NEIGHBORS = 10
#: Clusters with fewer points are judged by density and distance alone.
LONE = 10
_LONE_NEIGHBORS = 5
#: Layers of the graph, from the border inwards, that the profile of a border looks at.
DEPTH = 4
#: Share of a point's neighbours in one other cluster from which on it counts as a stray there.
STRAY = 0.7
#: Points near a border, on each side, in sizes of the smaller cluster.
NEAR = 2


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
        Log of the cut over the mean of the cuts parallel to it on the poorer side: negative in a valley.
    climb : tuple of float
        Rise of log density from the highest pass of the border to the nearest peak, on each side.
    level : tuple of float
        Share of the points on each side, near the border, that are less dense than its highest pass.
    contrast : float
        Median log density near the border of the first side, less that of the second.
    height : float
        Log density of the highest pass.
    reach : float
        Points around the border, on the poorer side, in sizes of the smaller cluster.
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
    height: float
    reach: float
    mixing: tuple[float, float]
    profile: tuple[NDArray[np.float64], NDArray[np.float64]]

    def other(self, cluster: int) -> int:
        """The cluster on the other side."""
        return self.second if cluster == self.first else self.first


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


@dataclass(frozen=True)
class Evidence:
    """All that is measured on one clustering.

    Attributes
    ----------
    codes : ndarray
        Clusters of the points looked at.
    log_density : ndarray
        Of the points looked at, up to a constant.
    graph : CSR array
        Their neighbour graph of ones.
    n_neighbors : int
        Of the graph.
    neighbors : ndarray
        More neighbours of each point, nearest first.
    sizes : ndarray
        Points of each cluster, all of them.
    density, conductance : ndarray
        Of each cluster: median density as a quantile of the data's, and share of edges that leave it.
    borders : list of Border
    lone : dict
        Clusters too small to have an inside.
    dimension : float
        Intrinsic dimension of the data.
    """

    codes: NDArray[np.int64]
    log_density: NDArray[np.float64]
    graph: sparse.csr_array
    n_neighbors: int
    neighbors: NDArray[np.integer]
    sizes: NDArray[np.int64]
    density: NDArray[np.float64]
    conductance: NDArray[np.float64]
    borders: list[Border]
    lone: dict[int, Lone]
    dimension: float


def gather(
    X: NDArray[np.float64], codes: NDArray[np.int64], drawn: NDArray[np.intp], n_jobs: int | None = None
) -> Evidence:
    """Measure the clustering `codes` (0 to k-1, no noise) of `X`, on the points `drawn` for it."""
    sizes = np.bincount(codes)
    points, seen = X[drawn], codes[drawn]
    in_sample = np.bincount(seen, minlength=len(sizes))
    distances, indices = kneighbors(points, _most_neighbors(len(points)) + 1, n_jobs=n_jobs)
    dimension = min(intrinsic_dimension(distances), float(X.shape[1]))
    raw = _log_density(distances, seen, in_sample, dimension)
    graph = _graph(indices[:, 1 : GRAPH_NEIGHBORS + 1])
    log_density = _smooth(raw, graph, seen)
    lone = {int(k): _lone(X, codes, int(k), raw, dimension, n_jobs) for k in np.flatnonzero(in_sample < LONE)}
    conductance = _conductance(_cuts(graph, seen, len(sizes)))
    settled = _settle(seen, graph, in_sample)
    cuts = _cuts(graph, settled, len(sizes))
    volume = cuts.sum(axis=1)
    peaks = _peaks(log_density, graph, settled)
    borders = [
        _border(first, second, graph, settled, log_density, peaks, in_sample, volume)
        for first, second in zip(*np.nonzero(np.triu(cuts, 1)))
        if first not in lone and second not in lone
    ]
    order = np.sort(log_density)
    middle = np.array([np.median(log_density[seen == k]) if in_sample[k] else order[0] for k in range(len(sizes))])
    density = np.searchsorted(order, middle, "right") / len(order)
    for k, one in lone.items():
        density[k] = one.density
    n_neighbors = min(GRAPH_NEIGHBORS, indices.shape[1] - 1)
    return Evidence(
        codes=seen,
        log_density=log_density,
        graph=graph,
        n_neighbors=n_neighbors,
        neighbors=indices[:, 1:],
        sizes=sizes,
        density=density,
        conductance=conductance,
        borders=borders,
        lone=lone,
        dimension=dimension,
    )


def _lone(
    X: NDArray[np.float64],
    codes: NDArray[np.int64],
    cluster: int,
    log_density: NDArray[np.float64],
    dimension: float,
    n_jobs: int | None,
) -> Lone:
    """A small cluster against all points, also where the rest was judged on a sample."""
    members = np.flatnonzero(codes == cluster)[:200]
    others = np.flatnonzero(codes != cluster)
    around = min(_LONE_NEIGHBORS, len(X) - 1)
    radius = kneighbors(X, around + 1, at=X[members], n_jobs=n_jobs, method="exact")[0][:, -1]
    own = np.log(around / len(X)) - dimension * np.log(np.maximum(radius, np.finfo(float).tiny))
    gap = 0.0
    if len(members) > 1:
        outside = kneighbors(X[others], 1, at=X[members], n_jobs=n_jobs, method="exact")[0][:, 0]
        inside = kneighbors(X[members], 2)[0][:, 1]
        gap = float(np.median(outside) / max(np.median(inside), np.finfo(float).tiny))
    return Lone(float(np.mean(log_density < np.median(own))), gap)


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


def _log_density(
    distances: NDArray[np.float64], codes: NDArray[np.int64], sizes: NDArray[np.int64], dimension: float
) -> NDArray[np.float64]:
    """K/(n V_K) with K no more than a third of the point's cluster, so that small clusters are seen."""
    most = distances.shape[1] - 1
    neighbors = np.clip(sizes // 3, min(5, most), most)[codes]
    radius = distances[np.arange(len(codes)), neighbors]
    positive = radius[radius > 0]
    radius = np.maximum(radius, positive.min() if positive.size else 1.0)
    return np.log(neighbors / len(codes)) - dimension * np.log(radius)


def _graph(indices: NDArray[np.integer]) -> sparse.csr_array:
    """The symmetric 0-1 graph of neighbours, without loops."""
    n_points, n_neighbors = indices.shape
    parts = (np.ones(indices.size, np.int32), indices.ravel(), np.arange(0, indices.size + 1, n_neighbors))
    one_way = sparse.csr_array(parts, shape=(n_points, n_points))
    both = sparse.csr_array(one_way + one_way.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.data[:] = 1
    return both


def _edges(graph: sparse.csr_array) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Both ends of every edge, each edge in both directions."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


def _smooth(values: NDArray[np.float64], graph: sparse.csr_array, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean over a point and its neighbours in its own cluster: less noise, and no leak across the border."""
    p, q = _edges(graph)
    same = codes[p] == codes[q]
    total = values + np.bincount(p[same], values[q[same]], len(values))
    return total / (1 + np.bincount(p[same], minlength=len(values)))


def _cuts(graph: sparse.csr_array, codes: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    p, q = _edges(graph)
    return np.bincount(codes[p] * n_clusters + codes[q], minlength=n_clusters**2).reshape(n_clusters, -1)


def _conductance(cuts: NDArray[np.int64]) -> NDArray[np.float64]:
    volume = cuts.sum(axis=1)
    return np.where(volume > 0, 1 - np.diag(cuts) / np.maximum(volume, 1), 1.0)


def _settle(codes: NDArray[np.int64], graph: sparse.csr_array, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels without strays: points deep inside another cluster are no part of the border between the two.

    A cluster with many such points is not astray but astride, which is what borders are asked about; it is kept.
    """
    counts = np.zeros((len(codes), len(sizes)), np.int32)
    p, q = _edges(graph)
    np.add.at(counts, (p, codes[q]), 1)
    home = counts.argmax(axis=1)
    astray = (home != codes) & (counts.max(axis=1) >= STRAY * counts.sum(axis=1))
    few = np.bincount(codes[astray], minlength=len(sizes)) <= 0.1 * sizes
    return np.where(astray & few[codes], home, codes)


def _peaks(log_density: NDArray[np.float64], graph: sparse.csr_array, codes: NDArray[np.int64]) -> NDArray[np.float64]:
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


def _border(
    first: int,
    second: int,
    graph: sparse.csr_array,
    codes: NDArray[np.int64],
    log_density: NDArray[np.float64],
    peaks: NDArray[np.float64],
    sizes: NDArray[np.int64],
    volume: NDArray[np.int64],
) -> Border:
    p, q = _cross_edges(graph, codes, first, second)
    passes = np.minimum(log_density[p], log_density[q])
    high = passes >= np.quantile(passes, 0.75)
    level = float(np.median(passes[high]))
    smaller = min(sizes[first], sizes[second])
    sides = []
    for cluster, ends in ((first, p), (second, q)):
        layers, cuts = _layers(np.unique(ends), cluster, graph, codes)
        around = np.concatenate(layers)
        near = around[: max(len(layers[0]), NEAR * smaller)]
        sides.append(
            (
                float(np.mean(cuts)) if cuts else 0.0,
                float(np.median(peaks[ends[high]]) - level),
                float(np.mean(log_density[near] < level)),
                float(np.median(log_density[near])),
                len(around) / smaller,
                np.array([np.median(log_density[layer]) for layer in layers]),
            )
        )
    parallel, climb, below, middle, reach, profile = zip(*sides)
    return Border(
        int(first),
        int(second),
        len(p),
        float(np.log((len(p) + 1) / (min(parallel) + 1))),
        climb,
        below,
        middle[0] - middle[1],
        level,
        min(reach),
        (len(p) / volume[first], len(p) / volume[second]),
        profile,
    )


def _cross_edges(
    graph: sparse.csr_array, codes: NDArray[np.int64], first: int, second: int
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    members = np.flatnonzero(codes == first)
    starts, stops = graph.indptr[members], graph.indptr[members + 1]
    q = graph.indices[_ranges(starts, stops)]
    p = np.repeat(members, stops - starts)
    across = codes[q] == second
    return p[across], q[across]


def _ranges(starts: NDArray[np.integer], stops: NDArray[np.integer]) -> NDArray[np.intp]:
    """All whole numbers of the half-open ranges, one range after the other."""
    lengths = stops - starts
    first = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - first, lengths)


def _layers(
    seeds: NDArray[np.integer], cluster: int, graph: sparse.csr_array, codes: NDArray[np.int64]
) -> tuple[list[NDArray[np.integer]], list[int]]:
    """Layers of a cluster from the border inwards, and the number of edges between each and the next."""
    seen = np.zeros(len(codes), bool)
    seen[seeds] = True
    layers, cuts = [seeds], []
    while len(layers) < DEPTH:
        last = layers[-1]
        reached = graph.indices[_ranges(graph.indptr[last], graph.indptr[last + 1])]
        reached = reached[(codes[reached] == cluster) & ~seen[reached]]
        if not len(reached):
            break
        cuts.append(len(reached))
        layers.append(np.unique(reached))
        seen[layers[-1]] = True
    return layers, cuts
