"""The border between two clusters in the neighbour graph: how wide, how dense, and what lies on either side.

A point that stands for more rows counts for more: edges, medians and shares are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..tensors import AnyInts, Floats, Ints

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

    def other(self, cluster: int) -> int:
        """The cluster on the other side."""
        return self.second if cluster == self.first else self.first


@dataclass(frozen=True, eq=False)
class Ground:
    """What borders run over.

    Attributes
    ----------
    graph : CSR array
        Neighbours; an edge weighs the mean of its two ends.
    codes : ndarray
        Clusters of the points, strays settled.
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


def edges(graph: sparse.csr_array) -> tuple[AnyInts, AnyInts]:
    """Both ends of every edge, each edge in both directions."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


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


def settle(codes: Ints, graph: sparse.csr_array, sizes: Ints) -> Ints:
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
class _Side:
    """One side of a border: the mean parallel cut, the climb, the share below the pass, and what is around."""

    parallel: float
    climb: float
    below: float
    middle: float
    around: float
    profile: Floats


def border_between(first: int, second: int, ground: Ground) -> Border:
    """Measure the border of two clusters that touch."""
    p, q, weight = _cross_edges(ground, first, second)
    passes = np.minimum(ground.log_density[p], ground.log_density[q])
    high = passes >= weighted_quantile(passes, weight, 0.75)
    level = weighted_quantile(passes[high], weight[high])
    smaller = int(min(ground.sizes[first], ground.sizes[second]))
    cut = float(weight.sum())
    one, two = (
        _side(cluster, ends, ends[high], weight[high], level, smaller, ground)
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
        min(one.around, two.around),
        (cut / ground.volume[first], cut / ground.volume[second]),
        (one.profile, two.profile),
    )


def _side(
    cluster: int,
    ends: AnyInts,
    high_ends: AnyInts,
    high_weight: Floats,
    level: float,
    smaller: int,
    ground: Ground,
) -> _Side:
    layers, cuts = _layers(np.unique(ends), cluster, ground)
    around = np.concatenate(layers)
    near = around[: max(len(layers[0]), NEAR * smaller)]
    density, weights = ground.log_density, ground.weights
    return _Side(
        parallel=float(np.mean(cuts)) if cuts else 0.0,
        climb=weighted_quantile(ground.peak[high_ends], high_weight) - level,
        below=float(np.average(density[near] < level, weights=weights[near])),
        middle=weighted_quantile(density[near], weights[near]),
        around=int(np.isin(ground.piece, ground.piece[ends]).sum()) / smaller,
        profile=np.array([weighted_quantile(density[layer], weights[layer]) for layer in layers]),
    )


def _cross_edges(ground: Ground, first: int, second: int) -> tuple[AnyInts, AnyInts, Floats]:
    """The edges from one cluster to the other: their ends on either side, and their weights."""
    members = np.flatnonzero(ground.codes == first)
    rows = ground.graph[members]
    p, q = np.repeat(members, np.diff(rows.indptr)), rows.indices
    across = ground.codes[q] == second
    return p[across], q[across], rows.data[across]


def _layers(
    seeds: AnyInts, cluster: int, ground: Ground
) -> tuple[list[AnyInts], list[float]]:
    """Layers of a cluster from the border inwards, and the weight of the edges between each and the next."""
    graph, codes = ground.graph, ground.codes
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
