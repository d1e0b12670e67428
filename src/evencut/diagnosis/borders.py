"""What the points say about a clustering: density, neighbour graph, and the border between every two clusters.

Nothing here knows how the labels were made. A point that stands for more rows counts for more: edges, medians and
shares are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..neighbors import kneighbors
from ..tensors import AnyInts, Floats, Ints
from .neighbor_table import NeighborTable, edges

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
    mixing : tuple of float
        Share of the border's cut in all edges of each cluster.
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
    mixing: tuple[float, float]
    profile: tuple[Floats, Floats]
    ignores_gap: bool = False

    def other(self, cluster: int) -> int:
        """The cluster on the other side."""
        return self.second if cluster == self.first else self.first


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
    sizes, volume : ndarray
        Points, and weight of all edges, of each cluster.
    """

    graph: sparse.csr_array
    codes: Ints
    weights: Floats
    log_density: Floats
    peak: Floats
    piece: NDArray[np.int32]
    sizes: Ints
    volume: Floats


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
    """Labels without strays: points deep inside another cluster are no part of the border between the two.

    A cluster with many such points is not astray but astride, which is what borders are asked about; it is kept.
    """
    p, q = edges(graph)
    pairs = sparse.csr_array((np.ones(len(p), np.int32), (p, codes[q])), shape=(len(codes), len(sizes)))
    pairs.sum_duplicates()
    home = np.asarray(pairs.argmax(axis=1)).ravel()
    most = pairs.max(axis=1).toarray().ravel()
    astray = (home != codes) & (most >= STRAY * np.diff(graph.indptr)) & (most > 0)
    few = np.bincount(codes[astray], minlength=len(sizes)) <= 0.1 * sizes
    return np.where(astray & few[codes], home, codes)


def peaks(log_density: Floats, graph: sparse.csr_array, codes: Ints) -> Floats:
    """Log density of the peak reached from each point by steepest ascent inside its own cluster."""
    p, q = edges(graph)
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


def pieces(graph: sparse.csr_array, codes: Ints) -> NDArray[np.int32]:
    """The connected pieces that the graph falls into when all edges between clusters are cut."""
    p, q = edges(graph)
    inner = codes[p] == codes[q]
    kept = sparse.csr_array((np.ones(int(inner.sum()), np.int8), (p[inner], q[inner])), shape=graph.shape)
    found: NDArray[np.int32] = connected_components(kept, directed=False)[1]
    return found


@dataclass(frozen=True)
class _BorderSide:
    """One side of a border: the mean parallel cut, the climb, the share below the pass, and what is around."""

    parallel: float
    climb: float
    below: float
    middle: float
    table: float
    profile: Floats


def border_between(first: int, second: int, border_graph: BorderGraph) -> Border:
    """Measure the border of two clusters that touch."""
    p, q, weight = _cross_edges(border_graph, first, second)
    passes = np.minimum(border_graph.log_density[p], border_graph.log_density[q])
    high = passes >= weighted_quantile(passes, weight, 0.75)
    level = weighted_quantile(passes[high], weight[high])
    smaller = int(min(border_graph.sizes[first], border_graph.sizes[second]))
    cut = float(weight.sum())
    one, two = (
        _side(cluster, ends, ends[high], weight[high], level, smaller, border_graph)
        for cluster, ends in ((first, p), (second, q))
    )
    return Border(
        int(first),
        int(second),
        cut,
        float(np.log((cut + 1) / (min(one.parallel, two.parallel) + 1))),
        (one.climb, two.climb),
        (one.below, two.below),
        one.middle - two.middle,
        level,
        min(one.table, two.table),
        (cut / border_graph.volume[first], cut / border_graph.volume[second]),
        (one.profile, two.profile),
    )


def _side(
    cluster: int,
    ends: AnyInts,
    high_ends: AnyInts,
    high_weight: Floats,
    level: float,
    smaller: int,
    border_graph: BorderGraph,
) -> _BorderSide:
    layers, cuts = _layers(np.unique(ends), cluster, border_graph)
    table = np.concatenate(layers)
    near = table[: max(len(layers[0]), NEAR * smaller)]
    density, weights = border_graph.log_density, border_graph.weights
    return _BorderSide(
        parallel=float(np.mean(cuts)) if cuts else 0.0,
        climb=weighted_quantile(border_graph.peak[high_ends], high_weight) - level,
        below=float(np.average(density[near] < level, weights=weights[near])),
        middle=weighted_quantile(density[near], weights[near]),
        table=int(np.isin(border_graph.piece, border_graph.piece[ends]).sum()) / smaller,
        profile=np.array([weighted_quantile(density[layer], weights[layer]) for layer in layers]),
    )


def _cross_edges(border_graph: BorderGraph, first: int, second: int) -> tuple[AnyInts, AnyInts, Floats]:
    """The edges from one cluster to the other: their ends on either side, and their weights."""
    members = np.flatnonzero(border_graph.codes == first)
    rows = border_graph.graph[members]
    p, q = np.repeat(members, np.diff(rows.indptr)), rows.indices
    across = border_graph.codes[q] == second
    return p[across], q[across], rows.data[across]


def _layers(
    seeds: AnyInts, cluster: int, border_graph: BorderGraph
) -> tuple[list[AnyInts], list[float]]:
    """Layers of a cluster from the border inwards, and the weight of the edges between each and the next."""
    graph, codes = border_graph.graph, border_graph.codes
    seen = np.zeros(len(codes), bool)
    seen[seeds] = True
    layers: list[AnyInts] = [seeds]
    cuts: list[float] = []
    while len(layers) < DEPTH:
        rows = graph[layers[-1]]
        reached = rows.indices
        inwards = (codes[reached] == cluster) & ~seen[reached]
        if not inwards.any():
            break
        cuts.append(float(rows.data[inwards].sum()))
        layers.append(np.unique(reached[inwards]))
        seen[layers[-1]] = True
    return layers, cuts


#: Clusters with fewer points are judged by density and distance alone.
TINY = 10
_TINY_NEIGHBORS = 5
# Share of all points in a piece that could be a cluster, and of a piece or cluster that is more than strays.
_LARGE_PIECE, _SUBSTANTIAL = 0.05, 0.1


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
        Clusters without a point of their own: all of theirs coincide with points that are mostly another's.
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
    seen, weights, graph = codes[table.drawn], table.weights[table.drawn], table.graph
    in_sample = np.bincount(seen, minlength=n_clusters)
    raw = _log_density(table, weights, seen, in_sample)
    log_density = _smooth(raw, graph, seen, weights)
    shadowed = frozenset(np.flatnonzero(np.bincount(codes, minlength=n_clusters) == 0).tolist())
    few = set(np.flatnonzero(in_sample < TINY).tolist()) - shadowed
    tiny = {k: _measure_tiny(table, codes, k, raw) for k in sorted(few)}
    relabelled = relabel_strays(seen, graph, in_sample)
    cuts = _cuts(graph, relabelled, n_clusters)
    peak, piece = peaks(log_density, graph, relabelled), pieces(graph, relabelled)
    border_graph = BorderGraph(graph, relabelled, weights, log_density, peak, piece, in_sample, cuts.sum(axis=1))
    ignored = _ignored_gaps(graph, relabelled, n_clusters)
    borders = [
        replace(border_between(first, second, border_graph), ignores_gap=bool(ignored[first, second]))
        for first, second in zip(*np.nonzero(np.triu(cuts, 1)))
        if first not in tiny and second not in tiny
    ]
    middle, density = _cluster_densities(log_density, seen, weights, n_clusters)
    for k, one in tiny.items():
        density[k] = one.density
    return Measures(
        codes=seen,
        log_density=log_density,
        middle=middle,
        sizes=sizes,
        density=density,
        conductance=_conductance(_cuts(graph, seen, n_clusters)),
        borders=borders,
        tiny=tiny,
        shadowed=shadowed,
    )


def _ignored_gaps(graph: sparse.csr_array, codes: Ints, n_clusters: int) -> NDArray[np.bool_]:
    """Pairs of clusters that share a connected piece of the graph while one of them spans several pieces.

    Only large pieces count, and only if there are no more of them than clusters: then each could be one.
    """
    piece = connected_components(graph, directed=False)[1]
    size = np.bincount(piece)
    large = np.flatnonzero(size >= max(TINY, _LARGE_PIECE * len(codes)))
    if not 2 <= len(large) <= n_clusters:
        return np.zeros((n_clusters, n_clusters), dtype=bool)
    inside = np.array([np.bincount(codes[piece == one], minlength=n_clusters) for one in large])
    holds = inside >= _SUBSTANTIAL * size[large][:, None]
    spans = (inside >= _SUBSTANTIAL * np.bincount(codes, minlength=n_clusters)).sum(axis=0) > 1
    together = (holds[:, :, None] & holds[:, None, :]).any(axis=0)
    return np.asarray(together & (spans[:, None] | spans))


def _cluster_densities(log_density: Floats, seen: Ints, weights: Floats, n_clusters: int) -> tuple[Floats, Floats]:
    """Median log density of each cluster, and its quantile among all points."""
    order = np.argsort(log_density, kind="stable")
    upto = np.r_[0.0, np.cumsum(weights[order])] / weights.sum()
    middle = np.full(n_clusters, log_density[order[0]])
    for k in np.unique(seen):
        middle[k] = weighted_quantile(log_density[seen == k], weights[seen == k])
    return middle, upto[np.searchsorted(log_density[order], middle, "right")]


def _measure_tiny(table: NeighborTable, codes: Ints, cluster: int, log_density: Floats) -> TinyCluster:
    """A small cluster against all points, also where the rest was judged on a sample."""
    X, n_jobs, tiny = table.X, table.n_jobs, np.finfo(float).tiny
    members = np.flatnonzero(codes == cluster)[:200]
    others = np.flatnonzero(codes != cluster)
    n_near = min(_TINY_NEIGHBORS, len(X) - 1)
    distance, near = kneighbors(X, n_near + 1, at=X[members], n_jobs=n_jobs, method="exact")
    mass = n_near * table.weights[near].mean(axis=1)
    own = np.log(mass / len(X)) - table.dimension * np.log(np.maximum(distance[:, -1], tiny))
    gap = 0.0
    if np.average(table.has_copies[members], weights=table.weights[members]) > 0.5:
        gap = float("inf")  # heaps of copies: nothing else is as near as they are to each other
    elif len(members) > 1:
        outside = kneighbors(X[others], 1, at=X[members], n_jobs=n_jobs, method="exact")[0][:, 0]
        inside = kneighbors(X[members], 2)[0][:, 1]
        gap = float(np.median(outside) / max(np.median(inside), tiny))
    level, seen = np.median(own), table.weights[table.drawn]
    below, upto = (np.average(part, weights=seen) for part in (log_density < level, log_density <= level))
    return TinyCluster(float(below + upto) / 2, gap)


def _log_density(table: NeighborTable, weights: Floats, codes: Ints, sizes: Ints) -> Floats:
    """K/(n V_K) with K no more than a third of the point's cluster, so that small clusters are seen.

    A neighbour that stands for more rows counts for more.
    """
    distances = table.distances
    most, rows = distances.shape[1] - 1, np.arange(len(codes))
    neighbors = np.clip(sizes // 3, min(5, most), most)[codes]
    radius = distances[rows, neighbors]
    positive = radius[radius > 0]
    radius = np.maximum(radius, positive.min() if positive.size else 1.0)
    mean_weight = np.cumsum(weights[table.indices], axis=1)[rows, neighbors] / (neighbors + 1)
    return np.log(neighbors * mean_weight / len(codes)) - table.dimension * np.log(radius)


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
