r"""The number of clusters: where methods of different principles agree, beyond what they would agree on by chance.

For each k of a grid, :math:`C_k` is the consensus of the best candidate, and :math:`C^0_k` the same for points drawn
from one Gaussian of the same covariance, the mean of three draws. With the gain
:math:`g_k = (C_k - C^0_k) / (1 - C^0_k)`, the number is the k of largest

.. math:: g_k \sqrt{1 - 1/k}

The fewest clusters are the easiest to agree on: of the pairs of points, k equal ones separate a share of 1 - 1/k. The
number is 1 unless there is a valley between two of the clusters (:mod:`evencut.valley`, p below 0.05, corrected for the
pairs), or the gain is at least 0.12, above a Gaussian and above a box along the principal axes. Below 2.2 intrinsic
dimensions only valleys count: points may be a strand, which every method cuts where chance made it thin.

There clusters with hardly a sign of a valley between them (p of 0.5 or more) are joined, too. Too many clusters do less
harm then than too few: of the two highest peaks of the score, that of higher :math:`g_k \sqrt{\log k}` is taken. And a
cluster may hold more: the number is found inside of it again, and it is split where most pairs of its parts have a
clear valley between them.

The points drawn and the starts of cuts are always the same: the number does not depend on `random_state`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..affinity import AffinityLike
from ..criteria import RatioProblem, normalized_cut
from ..points import COMPONENTS
from ..solvers.exchange import merge_levels
from ..solvers.multilevel import multilevel
from ..solvers.spectral import cut_embedding, normalized_rows, spectral_embedding
from ..tensors import Floats, Ints
from ..valley import pair_p_values
from .graphs import NeighborGraphs, neighbor_graphs
from .propose import SEED, middle_cuts, quick_proposals
from .vote import agreement, most_agreed

__all__ = ["NumberCandidate", "find_number", "fine_parts", "number_of_affinity"]

GRID = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 27, 36, 50, 64, 90, 128, 160)
# Points from which the number is found, and points of a population without clusters.
SAMPLE, NULL_SAMPLE = 1600, 600
# Populations without clusters that are drawn of each kind.
N_DRAWS = 3
# Gain below which there is one cluster, unless a valley is shown.
MIN_GAIN = 0.12
# Below this dimension points may be a strand, which can be cut anywhere; of so many points parts are joined again.
STRAND_DIMENSION, MIN_STRAND_POINTS = 2.2, 20
# Level of the test for a valley that establishes clusters.
LEVEL = 0.05
# Every cluster must be able to hold a few points.
_POINTS_PER_CLUSTER = 8


@dataclass(frozen=True)
class NumberCandidate:
    """A number of clusters and the agreement on it.

    Parameters
    ----------
    n_clusters : int
    agreement : float
        Consensus of the best candidate, from 0 to 1.
    chance : float
        The same for points without clusters.
    gain : float
        Agreement beyond chance, relative to the most there could be; the higher, the better.
    similarity : float
        Adjusted Rand index of its best candidate with that of the chosen number.
    """

    n_clusters: int
    agreement: float
    chance: float
    gain: float
    similarity: float = 1.0


class Population(NamedTuple):
    """Points, their weights, and what it takes to compare them in all coordinate systems."""

    X: Floats
    weights: Floats
    feature_scale: Floats | None
    unit: bool
    n_jobs: int | None

    def graphs(self) -> list[NeighborGraphs]:
        """The graphs of the points in every coordinate system."""
        return neighbor_graphs(self.X, self.weights, feature_scale=self.feature_scale, n_jobs=self.n_jobs)

    def subset(self, rows: Ints) -> Population:
        """Some of the points."""
        return self._replace(X=self.X[rows], weights=self.weights[rows])

    def without_clusters(self, kind: str, n_points: int, draw: int = 0) -> Population:
        """Points drawn from one Gaussian of the same covariance, or from a box along the principal axes."""
        rng = np.random.default_rng(SEED + draw)
        mean = self.X.mean(axis=0)
        _, lengths, axes = np.linalg.svd(self.X - mean, full_matrices=False)
        shape = n_points, len(lengths)
        if kind == "gaussian":
            points = rng.normal(size=shape) * lengths / np.sqrt(max(len(self.X) - 1, 1))
        else:
            along = (self.X - mean) @ axes.T
            points = rng.random(shape) * np.ptp(along, axis=0) + along.min(axis=0)
        points = mean + points @ axes
        if self.unit:
            points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(float).tiny)
        return self._replace(X=points, weights=np.ones(len(points)))


class Agreed(NamedTuple):
    """The consensus and the labels of the best candidate."""

    consensus: float
    labels: Ints


class Curve(NamedTuple):
    """Agreement at each number of clusters tried, that by chance, and the best number."""

    population: Population
    graphs: list[NeighborGraphs]
    agreed: dict[int, Agreed]
    chance: dict[int, float]
    best: int = 0

    def gain(self, k: int, chance: float | None = None) -> float:
        """Agreement beyond chance."""
        chance = self.chance[k] if chance is None else chance
        return (self.agreed[k].consensus - chance) / max(1 - chance, 1e-9)

    def score(self, k: int) -> float:
        """The gain, times a root of the share of pairs that k equal clusters separate."""
        return self.gain(k) * (1 - 1 / k) ** 0.5

    @property
    def dimension(self) -> float:
        """The largest intrinsic dimension of the systems."""
        return max(each.dimension for each in self.graphs)

    @property
    def may_be_strand(self) -> bool:
        """Whether clusters may be pieces of a strand: not if columns have two values."""
        return self.dimension < STRAND_DIMENSION and self.graphs[0].system.name != COMPONENTS


def find_number(population: Population) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters compared: the one found first, then the others by falling gain."""
    rows = np.unique(np.linspace(0, len(population.X) - 1, min(len(population.X), SAMPLE)).astype(np.intp))
    if len(rows) == 2 and population.weights.min() >= _POINTS_PER_CLUSTER:
        # Two points, each repeated often enough for a cluster.
        return (NumberCandidate(2, agreement=1.0, chance=0.0, gain=1.0),)
    if len(rows) < _POINTS_PER_CLUSTER * GRID[0]:
        return ()
    # A constant column would only change the points drawn.
    varying = np.ptp(population.X, axis=0) > 0
    scale = population.feature_scale
    scale = None if scale is None else scale[varying]
    sample = population.subset(rows)._replace(X=population.X[np.ix_(rows, varying)], feature_scale=scale)
    graphs = sample.graphs()
    if graphs[0].system.name == COMPONENTS:
        # One column of two values alone does not make a cluster: not inside another, and not in the reference sample.
        sample = sample._replace(X=np.asarray(graphs[0].X, dtype=np.float64), feature_scale=None)
    curve = agreement_curve(sample, graphs)
    labels = split(curve)
    if labels is not None and curve.may_be_strand:
        labels = split_inside(curve.population, labels)
    n_clusters = 1 if labels is None else int(labels.max()) + 1
    return ranked_numbers(curve, n_clusters)


def ranked_numbers(curve: Curve, n_clusters: int) -> tuple[NumberCandidate, ...]:
    """The chosen number first, then the others by falling gain."""
    ks = sorted(curve.agreed)
    if n_clusters > 1 and n_clusters not in curve.agreed:
        curve.agreed.update(best_candidates(curve.graphs, [n_clusters]))
        curve.chance[n_clusters] = float(np.interp(np.log(n_clusters), np.log(ks), [curve.chance[k] for k in ks]))
        ks = sorted(curve.agreed)
    labels = [curve.agreed[k].labels for k in ks]
    similar = agreement(np.array(labels), curve.population.weights)
    similar_to_chosen = similar[:, ks.index(n_clusters)] if n_clusters > 1 else np.zeros(len(ks))
    found = [
        NumberCandidate(k, curve.agreed[k].consensus, curve.chance[k], curve.gain(k), float(index))
        for k, index in zip(ks, similar_to_chosen)
    ]
    if n_clusters == 1:
        nan = float("nan")
        found.append(NumberCandidate(1, nan, nan, nan))
    return tuple(sorted(found, key=lambda number: (number.n_clusters != n_clusters, -number.gain)))


def agreement_curve(population: Population, graphs: list[NeighborGraphs]) -> Curve:
    """The agreement over a grid of numbers, then around the best of them."""
    grid = [k for k in GRID if k <= len(population.X) // _POINTS_PER_CLUSTER]
    agreed = best_candidates(graphs, grid)
    # One draw is uncertain by a tenth where clusters are few.
    draws = [by_chance(population, graphs, grid, "gaussian", NULL_SAMPLE, draw) for draw in range(N_DRAWS)]
    chance = np.mean(draws, axis=0)
    curve = Curve(population, graphs, agreed, dict(zip(grid, chance)))
    scores = [-np.inf, *map(curve.score, grid), -np.inf]
    peaks = [i for i in range(len(grid)) if scores[i] < scores[i + 1] >= scores[i + 2]]
    peaks.sort(key=lambda i: -scores[i + 1])
    # Where parts may be joined again, coarse and fine groups are compared, and too many preferred to too few.
    peaks = peaks[: 2 if curve.may_be_strand else 1]
    around = [{round(k) for k in np.linspace(grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)], 6)} for i in peaks]
    between = sorted(set().union(*around) - set(agreed))
    curve.chance.update(zip(between, np.interp(np.log(between), np.log(grid), chance).tolist()))
    agreed.update(best_candidates(graphs, between))
    best = [max(sorted({grid[i], *ks}), key=curve.score) for i, ks in zip(peaks, around)]
    return curve._replace(best=max(best, key=lambda k: curve.gain(k) * np.log(k) ** 0.5))


def split(curve: Curve) -> Ints | None:
    """The best partition of the number of highest score; None where one cluster explains as much."""
    graphs, labels = curve.graphs[0], np.unique(curve.agreed[curve.best].labels, return_inverse=True)[1]
    if not _are_several(labels):
        return None
    joined = join_strands(graphs, labels) if curve.may_be_strand else labels
    established = has_valley(graphs, labels) or (
        _has_valleys(graphs, joined) if curve.may_be_strand else agrees_beyond_chance(curve)
    )
    if not established:
        return None
    return joined if _are_several(joined) else labels


def _are_several(labels: Ints) -> bool:
    """A handful of points does not establish a second cluster."""
    return bool(np.sum(np.bincount(labels) >= _POINTS_PER_CLUSTER) > 1)


def agrees_beyond_chance(curve: Curve) -> bool:
    """Whether the best number has enough gain above Gaussians and boxes; near the limit, each is drawn three times."""
    gain = curve.gain(curve.best)
    for draw in range(N_DRAWS):
        for kind in ("box", "gaussian") if draw else ("box",):
            chance = float(by_chance(curve.population, curve.graphs, [curve.best], kind, SAMPLE, draw)[0])
            gain = min(gain, curve.gain(curve.best, chance))
        # One draw is uncertain by a fraction of this.
        if abs(gain - 2 * MIN_GAIN) > MIN_GAIN:
            break
    return gain >= MIN_GAIN


def has_valley(graphs: NeighborGraphs, labels: Ints) -> bool:
    """Whether there is a valley between at least one pair of clusters, corrected for the pairs."""
    p_values = pair_p_values(graphs.rows, labels, touching_pairs(graphs, labels))
    return any(p_value * len(p_values) < LEVEL for p_value in p_values)


def join_strands(graphs: NeighborGraphs, labels: Ints) -> Ints:
    """Clusters with hardly a sign of a valley to the one that they touch most are parts of it, again and again."""
    while labels.max() > 0:
        size = np.bincount(labels)
        # Scattered points are part of a cluster that they touch, not the cluster of them: they do not connect two.
        pairs = [
            (part, whole)
            for part, whole in touching_pairs(graphs, labels)
            if size[[part, whole]].min() >= MIN_STRAND_POINTS and 2 * size[whole] >= size[part]
        ]
        joined = [pair for pair, p_value in zip(pairs, pair_p_values(graphs.rows, labels, pairs)) if p_value >= 0.5]
        if not joined:
            break
        first, second = np.transpose(joined)
        links = sparse.csr_array((np.ones(len(joined)), (first, second)), shape=(len(size), len(size)))
        labels = np.unique(connected_components(links, directed=False)[1][labels], return_inverse=True)[1]
    return labels


def split_inside(population: Population, labels: Ints) -> Ints:
    """Clusters whose parts agree once more, and have valleys between them, are replaced by these, and so on."""
    labels = labels.copy()
    to_do = list(range(int(labels.max()) + 1))
    while to_do:
        cluster = to_do.pop()
        rows = np.flatnonzero(labels == cluster)
        # Both parts must be more than a piece of a strand.
        if len(rows) < 2 * MIN_STRAND_POINTS:
            continue
        part = population.subset(rows)
        graphs = part.graphs()
        # A look at a few cuts first: most clusters are one body, and the whole question costs a hundred times more.
        looks = [k for k in (2, 4, 8, 16) if k * _POINTS_PER_CLUSTER <= len(rows)]
        if not any(_has_valleys(graphs[0], labels) for labels in middle_cuts(graphs[0], looks)):
            continue
        curve = agreement_curve(part, graphs)
        parts = split(curve)
        if parts is not None and _has_valleys(graphs[0], parts) and agrees_beyond_chance(curve):
            new = int(labels.max()) + parts
            labels[rows] = np.where(parts == 0, cluster, new)
            to_do += [cluster, *np.unique(new[parts > 0]).tolist()]
    return labels


def touching_pairs(graphs: NeighborGraphs, labels: Ints) -> list[tuple[int, int]]:
    """Each cluster and the one that it touches most, each pair once: at most a dozen."""
    n_clusters = int(labels.max()) + 1
    members = np.eye(n_clusters)[labels]
    touching = members.T @ (graphs.neighbor_graph @ members)
    np.fill_diagonal(touching, -1)
    # The smaller cluster first: of two that touch each other most, it is the one named.
    order = np.argsort(np.bincount(labels), kind="stable").tolist()
    partner = touching.argmax(axis=1).tolist()
    pairs = {frozenset((k, partner[k])): (k, partner[k]) for k in reversed(order) if partner[k] != k}
    return sorted(pairs.values())[:12]


def _has_valleys(graphs: NeighborGraphs, labels: Ints) -> bool:
    """Whether more than half of the pairs of clusters that touch have a clear valley between them."""
    pairs = touching_pairs(graphs, labels)
    half = (len(pairs) + 1) // 2
    clear = [p_value < 0.01 for p_value in pair_p_values(graphs.rows, labels, pairs[:half])]
    # Without any in the first half, the others make no difference.
    if any(clear):
        clear += [p_value < 0.01 for p_value in pair_p_values(graphs.rows, labels, pairs[half:])]
    return 2 * sum(clear) > len(pairs)


def best_candidates(graphs: Sequence[NeighborGraphs], numbers: Iterable[int]) -> dict[int, Agreed]:
    """The quick candidate of highest consensus for each number of clusters."""
    numbers = sorted(numbers, reverse=True)
    systems = [quick_proposals(each, numbers) for each in graphs]
    return {k: Agreed(*most_agreed(of_number)) for k, of_number in zip(numbers, zip(*systems))}


def by_chance(
    population: Population, graphs: Sequence[NeighborGraphs], grid: Sequence[int], kind: str, most: int,
    draw: int = 0,
) -> Floats:  # fmt: skip
    """The consensus on at most so many points without clusters, with the votes of the points themselves."""
    null = population.without_clusters(kind, min(len(population.X), most), draw)
    n = len(null.X)
    # With few clusters the agreement by chance depends on their number, with many on their size.
    places = np.clip(np.array(grid) * n / len(population.X), np.minimum(grid, 20), n // 5)
    tried = np.unique(places[:: max(1, len(places) // 5)].round().astype(int).tolist() + [round(places[-1])])
    null_graphs = [replace(a, dimension=b.dimension) for a, b in zip(null.graphs(), graphs)]
    known = best_candidates(null_graphs, tried.tolist())
    return np.interp(np.log(places), np.log(tried), [known[k].consensus for k in tried.tolist()])


def number_of_affinity(affinity: AffinityLike, weights: Floats, seed: int | None = None) -> tuple[NumberCandidate, ...]:
    r"""The numbers of clusters of one given affinity, best first, by conductance.

    Many small parts are merged one by one. With :math:`\phi_k` the conductance of the worst of k clusters, the gain is
    :math:`1 - (\phi_k + \delta)/(\phi_{k+1} + \delta)`: one cluster more must cut where there is no gap.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.kron(np.eye(3), np.ones((20, 20))) + 1e-3
    >>> number_of_affinity(three, np.ones(60), seed=0)[0].n_clusters
    3
    """
    problem = normalized_cut(affinity, weights)
    largest = min(64, len(problem.weights) // _POINTS_PER_CLUSTER)
    if largest < 2:
        return ()
    parts = fine_parts(problem, max(min(100, len(problem.weights) // 3), largest + 1), seed)
    conductance = {
        len(level.weight): float(np.max(1 - level.inside / level.weight)) for level in merge_levels(problem, parts, 2)
    }
    small = 3e-3
    gains = {
        k: 1 - (conductance[k] + small) / (min(conductance.get(k + 1, 1.0), 1.0) + small)
        for k in range(2, largest + 1)
        if k in conductance
    }
    nan = float("nan")
    return tuple(NumberCandidate(k, nan, nan, gains[k]) for k in sorted(gains, key=lambda k: -gains[k]))


def fine_parts(problem: RatioProblem, n_parts: int, random_state: int | None) -> Ints:
    """Many small parts that follow the shapes."""
    if problem.matrix.is_graph:
        return multilevel(problem, n_parts, n_init=2, n_runs=1, random_state=random_state)[0]
    rng = np.random.default_rng(random_state)
    return cut_embedding(normalized_rows(spectral_embedding(problem.matrix, n_parts // 2, rng)[1]), n_parts, rng)
