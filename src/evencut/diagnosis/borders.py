"""What the points say about a clustering: density, neighbour graph, and the border between every two clusters.

Nothing here knows how the labels were made. A point that stands for more rows counts for more: edges, medians and
shares are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..neighbors import kneighbors
from ..tensors import AnyInts, Floats, Ints
from .labelled import NeighborTable, edges

#: Layers of the graph, from the border inwards, that the profile of a border looks at.
DEPTH = 4


@dataclass(frozen=True)
class Border:
    """The border between clusters `first` and `second`, seen from both sides (sides in that order).

    Attributes
    ----------
    first, second : int
        Codes of the two clusters.
    cut : float
        Weight of the edges of the neighbour graph across the border.
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
        Points of the connected pieces that touch the border, on the poorer side, in sizes of the smaller cluster:
        little for strays, much for a border however short.
    profile : tuple of two ndarrays
        Median log density of the layers of each side, the first at the border.
    ignores_gap : bool
        Whether it cuts through a connected piece of the neighbour graph while one of the two spans several pieces.
    """

    first: int
    second: int
    cut: float
    bottleneck: float
    climb: tuple[float, float]
    level: tuple[float, float]
    contrast: float
    height: float
    reach: float
    profile: tuple[Floats, Floats]
    ignores_gap: bool = False

    def other(self, cluster: int) -> int:
        """The cluster on the other side."""
        return self.second if cluster == self.first else self.first

    def profile_from(self, cluster: int) -> tuple[Floats, Floats]:
        """The profile of this side, then that of the other."""
        return self.profile if cluster == self.first else self.profile[::-1]


@dataclass(frozen=True, eq=False)
class BorderGraph:
    """What borders run over.

    Attributes
    ----------
    graph : CSR array
        Neighbours; an edge weighs the mean of its two ends.
    codes : ndarray
        Clusters of the points, strays relabelled.
    weights : ndarray
        Of the points, one in the mean.
    log_density, peak : ndarray
        Of each point, and of the peak above it inside its cluster.
    piece : ndarray
        The connected piece of its cluster that each point belongs to.
    sizes : ndarray
        Points of each cluster.
    """

    graph: sparse.csr_array
    codes: Ints
    weights: Floats
    log_density: Floats
    peak: Floats
    piece: NDArray[np.int32]
    sizes: Ints


def weighted_quantile(values: Floats, weights: Floats, share: float = 0.5) -> float:
    """The value below which a share of the weight lies, interpolated; for equal weights that of NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantile(np.array([1.0, 2.0, 4.0]), np.ones(3)), weighted_quantile(np.arange(4.0), np.ones(4), 0.75)
    (2.0, 2.25)
    """
    order = np.argsort(values, kind="stable")
    heavy = weights[order]
    place = np.cumsum(heavy) - heavy / 2
    return float(np.interp(place[0] + share * (place[-1] - place[0]), place, values[order]))


def relabel_strays(codes: Ints, graph: sparse.csr_array, sizes: Ints) -> Ints:
    """Labels without strays: points deep inside another cluster do not belong to the border between the two.

    A cluster with many such points spans both; its points stay.
    """
    p, q = edges(graph)
    pairs = sparse.csr_array((np.ones(len(p), np.int32), (p, codes[q])), shape=(len(codes), len(sizes)))
    pairs.sum_duplicates()
    home = np.asarray(pairs.argmax(axis=1)).ravel()
    n_there = pairs.max(axis=1).toarray().ravel()
    # A stray has this share of its neighbours in one other cluster, or more.
    astray = (home != codes) & (n_there >= 0.7 * np.diff(graph.indptr)) & (n_there > 0)
    few = np.bincount(codes[astray], minlength=len(sizes)) <= 0.1 * sizes
    return np.where(astray & few[codes], home, codes)


def peaks(log_density: Floats, graph: sparse.csr_array, codes: Ints) -> Floats:
    """Log density of the peak reached from each point by steepest ascent inside its own cluster."""
    p, q = _inner_edges(graph, codes)
    order = np.lexsort((log_density[q], p))
    uphill = np.arange(len(codes))
    uphill[p[order]] = q[order]  # the last write of each p is its densest neighbour
    uphill = np.where(log_density[uphill] > log_density, uphill, np.arange(len(codes)))
    while True:
        further = uphill[uphill]
        if np.array_equal(further, uphill):
            return log_density[uphill]
        uphill = further


def pieces(graph: sparse.csr_array, codes: Ints) -> NDArray[np.int32]:
    """The connected pieces that the graph falls into when all edges between clusters are cut."""
    ends = _inner_edges(graph, codes)
    inner_graph = sparse.csr_array((np.ones(len(ends[0]), np.int8), ends), shape=graph.shape)
    return np.asarray(connected_components(inner_graph, directed=False)[1], dtype=np.int32)


def _inner_edges(graph: sparse.csr_array, codes: Ints) -> tuple[AnyInts, AnyInts]:
    """Both ends of the edges inside clusters."""
    p, q = edges(graph)
    is_inner = codes[p] == codes[q]
    return p[is_inner], q[is_inner]


def border_between(first: int, second: int, border_graph: BorderGraph) -> Border:
    """Measure the border of two clusters that touch."""
    p, q, weight = _cross_edges(border_graph, first, second)
    passes = np.minimum(border_graph.log_density[p], border_graph.log_density[q])
    high = passes >= weighted_quantile(passes, weight, 0.75)
    level = weighted_quantile(passes[high], weight[high])
    smaller = int(min(border_graph.sizes[first], border_graph.sizes[second]))
    density, weights = border_graph.log_density, border_graph.weights

    def side(cluster: int, ends: AnyInts) -> tuple[Any, ...]:
        """The mean parallel cut, climb, share below the pass, median density, reach and profile of one side."""
        layers, cuts = _layers(np.unique(ends), cluster, border_graph)
        near_border = np.concatenate(layers)[: max(len(layers[0]), 2 * smaller)]
        return (
            float(np.mean(cuts)) if cuts else 0.0,
            weighted_quantile(border_graph.peak[ends[high]], weight[high]) - level,
            float(np.average(density[near_border] < level, weights=weights[near_border])),
            weighted_quantile(density[near_border], weights[near_border]),
            int(np.isin(border_graph.piece, border_graph.piece[ends]).sum()) / smaller,
            np.array([weighted_quantile(density[layer], weights[layer]) for layer in layers]),
        )

    parallel, climb, below, middle, reach, profile = zip(side(first, p), side(second, q))
    cut = float(weight.sum())
    bottleneck = float(np.log((cut + 1) / (min(parallel) + 1)))
    contrast = middle[0] - middle[1]
    return Border(int(first), int(second), cut, bottleneck, climb, below, contrast, level, min(reach), profile)


def _cross_edges(border_graph: BorderGraph, first: int, second: int) -> tuple[AnyInts, AnyInts, Floats]:
    """The edges from one cluster to the other: their ends on either side, and their weights."""
    members = np.flatnonzero(border_graph.codes == first)
    rows = border_graph.graph[members]
    p, q = np.repeat(members, np.diff(rows.indptr)), rows.indices
    across = border_graph.codes[q] == second
    return p[across], q[across], rows.data[across]


def _layers(seeds: AnyInts, cluster: int, border_graph: BorderGraph) -> tuple[list[AnyInts], list[float]]:
    """Layers of a cluster from the border inwards, and the weight of the edges between each and the next."""
    graph, codes = border_graph.graph, border_graph.codes
    visited = np.zeros(len(codes), bool)
    visited[seeds] = True
    layers: list[AnyInts] = [seeds]
    cuts: list[float] = []
    while len(layers) < DEPTH:
        rows = graph[layers[-1]]
        reached = rows.indices
        inwards = (codes[reached] == cluster) & ~visited[reached]
        if not inwards.any():
            break
        cuts.append(float(rows.data[inwards].sum()))
        layers.append(np.unique(reached[inwards]))
        visited[layers[-1]] = True
    return layers, cuts


#: Clusters with fewer points are judged by density and distance alone.
TINY = 10


@dataclass(frozen=True)
class TinyCluster:
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
class Measures:
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
    tiny : dict
        Clusters too small to have an inside.
    shadowed : frozenset
        Clusters without points: all of theirs coincide with points that are mostly another's.
    """

    codes: Ints
    log_density: Floats
    middle: Floats
    sizes: Floats
    density: Floats
    conductance: Floats
    borders: list[Border]
    tiny: dict[int, TinyCluster]
    shadowed: frozenset[int]


def measure_clusters(table: NeighborTable, codes: Ints, n_clusters: int) -> Measures:
    """Measure the clustering `codes` (0 to k-1, no noise) of all points."""
    sizes = np.bincount(codes, table.weights, n_clusters).astype(np.float64)
    sampled, weights, graph = codes[table.drawn], table.weights[table.drawn], table.graph
    in_sample = np.bincount(sampled, minlength=n_clusters)
    raw = _log_density(table, weights, sampled, in_sample)
    log_density = _smooth(raw, graph, sampled, weights)
    shadowed = frozenset(np.flatnonzero(np.bincount(codes, minlength=n_clusters) == 0).tolist())
    few = np.flatnonzero(in_sample < TINY).tolist()
    tiny = {k: _measure_tiny(table, codes, k, raw) for k in few if k not in shadowed}
    relabelled = relabel_strays(sampled, graph, in_sample)
    cuts = _cuts(graph, relabelled, n_clusters)
    peak, piece = peaks(log_density, graph, relabelled), pieces(graph, relabelled)
    border_graph = BorderGraph(graph, relabelled, weights, log_density, peak, piece, in_sample)
    ignored = _ignored_gaps(graph, relabelled, n_clusters)
    borders = [
        replace(border_between(first, second, border_graph), ignores_gap=bool(ignored[first, second]))
        for first, second in zip(*np.nonzero(np.triu(cuts, 1)))
        if not {first, second} & set(tiny)
    ]
    middle, density = _cluster_densities(log_density, sampled, weights, n_clusters)
    density[list(tiny)] = [cluster.density for cluster in tiny.values()]
    conductance = _conductance(_cuts(graph, sampled, n_clusters))
    return Measures(sampled, log_density, middle, sizes, density, conductance, borders, tiny, shadowed)


def large_pieces(graph: sparse.csr_array) -> tuple[Ints, Ints, Ints]:
    """The connected piece of each point, the sizes of all pieces, and those that could be clusters (5 % and more)."""
    piece = connected_components(graph, directed=False)[1]
    size = np.bincount(piece)
    return piece, size, np.flatnonzero(size >= max(TINY, 0.05 * len(piece)))


def _ignored_gaps(graph: sparse.csr_array, codes: Ints, n_clusters: int) -> NDArray[np.bool_]:
    """Pairs of clusters that share a connected piece of the graph while one of them spans several pieces.

    Only large pieces count, and only if there are no more of them than clusters: then each could be one.
    """
    piece, size, large = large_pieces(graph)
    if not 2 <= len(large) <= n_clusters:
        return np.zeros((n_clusters, n_clusters), dtype=bool)
    inside = np.array([np.bincount(codes[piece == number], minlength=n_clusters) for number in large])
    # A tenth of a piece, or of a cluster, is more than strays.
    holds = inside >= 0.1 * size[large][:, None]
    spans = (inside >= 0.1 * np.bincount(codes, minlength=n_clusters)).sum(axis=0) > 1
    together = (holds[:, :, None] & holds[:, None, :]).any(axis=0)
    return np.asarray(together & (spans[:, None] | spans))


def _cluster_densities(log_density: Floats, codes: Ints, weights: Floats, n_clusters: int) -> tuple[Floats, Floats]:
    """Median log density of each cluster, and its quantile among all points."""
    order = np.argsort(log_density, kind="stable")
    upto = np.r_[0.0, np.cumsum(weights[order])] / weights.sum()
    middle = np.full(n_clusters, log_density[order[0]])
    for k in np.unique(codes):
        middle[k] = weighted_quantile(log_density[codes == k], weights[codes == k])
    return middle, upto[np.searchsorted(log_density[order], middle, "right")]


def _measure_tiny(table: NeighborTable, codes: Ints, cluster: int, log_density: Floats) -> TinyCluster:
    """A small cluster against all points, also if the rest is measured on a sample."""
    X, n_jobs, tiny = table.X, table.n_jobs, np.finfo(float).tiny
    members = np.flatnonzero(codes == cluster)[:200]
    n_neighbors = min(5, len(X) - 1)
    distance, neighbors = kneighbors(X, n_neighbors + 1, at=X[members], n_jobs=n_jobs, method="exact")
    mass = n_neighbors * table.weights[neighbors].mean(axis=1)
    own = np.log(mass / len(X)) - table.dimension * np.log(np.maximum(distance[:, -1], tiny))
    gap = 0.0
    if np.average(table.has_copies[members], weights=table.weights[members]) > 0.5:
        gap = float("inf")  # heaps of copies: nothing else is as near
    elif len(members) > 1:
        outside = kneighbors(X[codes != cluster], 1, at=X[members], n_jobs=n_jobs, method="exact")[0][:, 0]
        inside = kneighbors(X[members], 2)[0][:, 1]
        gap = float(np.median(outside) / max(np.median(inside), tiny))
    level, weights = np.median(own), table.weights[table.drawn]
    below, upto = (np.average(rows, weights=weights) for rows in (log_density < level, log_density <= level))
    return TinyCluster(float(below + upto) / 2, gap)


def _log_density(table: NeighborTable, weights: Floats, codes: Ints, sizes: Ints) -> Floats:
    """K/(n V_K) with K no more than a third of the point's cluster, so that small clusters are seen.

    A neighbour that stands for more rows counts for more.
    """
    distances = table.distances
    n_known, rows = distances.shape[1] - 1, np.arange(len(codes))
    neighbors = np.clip(sizes // 3, min(5, n_known), n_known)[codes]
    radius = distances[rows, neighbors]
    positive = radius[radius > 0]
    radius = np.maximum(radius, positive.min() if positive.size else 1.0)
    mean_weight = np.cumsum(weights[table.indices], axis=1)[rows, neighbors] / (neighbors + 1)
    return np.log(neighbors * mean_weight / len(codes)) - table.dimension * np.log(radius)


def _smooth(values: Floats, graph: sparse.csr_array, codes: Ints, weights: Floats) -> Floats:
    """Mean over a point and its neighbours in its own cluster: less noise, and no leak across the border."""
    p, q = _inner_edges(graph, codes)
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
