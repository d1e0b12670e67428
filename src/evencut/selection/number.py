r"""The number of clusters: where methods of different principles agree, beyond what they would agree on by chance.

For each k of a grid, :math:`C_k` is the consensus of the best candidate, and :math:`C^0_k` the same for points drawn
from one Gaussian of the same covariance. The number is the k with the largest gain

.. math:: g_k = \frac{C_k - C^0_k}{1 - C^0_k}

It is 1 if that gain, above a Gaussian and above a box along the principal axes alike, is below 0.12. A strand can be
cut anywhere, and every method cuts it where chance made it thin: below 2.2 intrinsic dimensions, clusters with hardly
a sign of a valley between them (:mod:`evencut.valley`, p of 0.5 or more) are one.

The coarsest clusters often agree best. Therefore the same question is asked again inside every cluster, which is
split where the gain is at least 0.15 and most pairs of its parts have a valley between them.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from ..valley import find_valley
from .graphs import NeighborGraphs, neighbor_graphs, neighborhood_sizes
from .propose import propose
from .vote import agreement, consensus

__all__ = ["MAX_CLUSTERS", "NumberCandidate", "find_number", "fine_parts", "number_of_affinity"]

#: The largest number of clusters that is tried.
MAX_CLUSTERS = 160

GRID = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 27, 36, 50, 64, 90, 128, 160)
# Points from which the number is found, and points of a population without clusters.
SAMPLE, NULL_SAMPLE = 1600, 1000
# Gain below which there is one cluster, and below which a cluster is not split again.
MIN_GAIN, MIN_INNER_GAIN = 0.12, 0.15
# Clusters of fewer points are not split again.
MIN_INNER_POINTS = 50
# Below this dimension points may be a strand, which can be cut anywhere; of so many points parts are joined again.
STRAND_DIMENSION, MIN_STRAND_POINTS = 2.2, 20
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
    seed: int
    n_jobs: int | None

    def graphs(self) -> list[NeighborGraphs]:
        """The graphs of the points in every coordinate system."""
        return neighbor_graphs(self.X, self.weights, feature_scale=self.feature_scale, n_jobs=self.n_jobs)

    def subset(self, rows: Ints) -> Population:
        """Some of the points."""
        return self._replace(X=self.X[rows], weights=self.weights[rows])

    def without_clusters(self, kind: str) -> Population:
        """Points drawn from one Gaussian of the same covariance, or from a box along the principal axes."""
        rng = np.random.default_rng(self.seed)
        mean = self.X.mean(axis=0)
        _, lengths, axes = np.linalg.svd(self.X - mean, full_matrices=False)
        shape = min(len(self.X), NULL_SAMPLE), len(lengths)
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
    """Agreement at each number of clusters tried, and that by chance."""

    population: Population
    graphs: list[NeighborGraphs]
    agreed: dict[int, Agreed]
    chance: dict[int, float]

    def gain(self, k: int, chance: float | None = None) -> float:
        """Agreement beyond chance."""
        chance = self.chance[k] if chance is None else chance
        return (self.agreed[k].consensus - chance) / max(1 - chance, 1e-9)

    @property
    def best(self) -> int:
        """The number of largest gain."""
        return max(sorted(self.agreed), key=self.gain)

    @property
    def dimension(self) -> float:
        """The largest intrinsic dimension of the systems."""
        return max(each.dimension for each in self.graphs)


def find_number(population: Population) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters compared: the one found first, then the others by falling gain."""
    rows = np.unique(np.linspace(0, len(population.X) - 1, min(len(population.X), SAMPLE)).astype(np.intp))
    if len(rows) < _POINTS_PER_CLUSTER * GRID[0]:
        return ()
    sample = population.subset(rows)
    graphs = sample.graphs()
    if graphs[0].system.name == COMPONENTS:
        # What one column of two values says alone is no cluster inside of another either, and not in the draw.
        sample = sample._replace(X=np.asarray(graphs[0].X, dtype=np.float64), feature_scale=None)
    curve = agreement_curve(sample, graphs)
    labels = split(curve, MIN_GAIN)
    if labels is not None:
        labels = split_inside(curve.population, labels)
    n_clusters = 1 if labels is None else int(labels.max()) + 1
    return ranked_numbers(curve, n_clusters)


def ranked_numbers(curve: Curve, n_clusters: int) -> tuple[NumberCandidate, ...]:
    """The chosen number first, then the others by falling gain."""
    ks = sorted(curve.agreed)
    if n_clusters > 1 and n_clusters not in curve.agreed:
        curve.agreed[n_clusters] = best_candidate(curve.graphs, n_clusters, curve.population.seed)
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
    # The largest first: its eigenvectors serve the others.
    agreed = {k: best_candidate(graphs, k, population.seed) for k in reversed(grid)}
    chance = by_chance(population, graphs, grid, "gaussian")
    curve = Curve(population, graphs, agreed, dict(zip(grid, chance)))
    i = grid.index(curve.best)
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    for k in sorted({round(k) for k in np.linspace(low, high, 6)} - set(agreed)):
        curve.chance[k] = float(np.interp(np.log(k), np.log(grid), chance))
        agreed[k] = best_candidate(graphs, k, population.seed)
    return curve


def split(curve: Curve, min_gain: float) -> Ints | None:
    """The best partition of the number of largest gain; None where one cluster explains as much."""
    k = curve.best
    if curve.gain(k) < min_gain:
        return None
    box = by_chance(curve.population, curve.graphs, [k], "box")[0]
    gain = min(curve.gain(k), curve.gain(k, float(box)))
    if gain < min_gain:
        return None
    labels = np.unique(curve.agreed[k].labels, return_inverse=True)[1]
    if curve.dimension < STRAND_DIMENSION:
        labels = join_strands(curve.graphs[0], labels)
    # A handful of points is no evidence of a second cluster.
    return labels if np.sum(np.bincount(labels) >= _POINTS_PER_CLUSTER) > 1 else None


def join_strands(graphs: NeighborGraphs, labels: Ints) -> Ints:
    """Clusters with hardly a sign of a valley to the one that they touch most are parts of it, again and again."""
    while labels.max() > 0:
        pairs, p_values = touching_pairs(graphs, labels)
        size = np.bincount(labels)
        joined = [pair for pair, p in zip(pairs, p_values) if p >= 0.5 and size[list(pair)].min() >= MIN_STRAND_POINTS]
        if not joined:
            break
        first, second = (np.array([pair[end] for pair in joined]) for end in (0, 1))
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
        if len(rows) < MIN_INNER_POINTS:
            continue
        part = population.subset(rows)
        graphs = part.graphs()
        # A look at a few cuts first: most clusters are one body, and the whole question costs a hundred times more.
        looks = [k for k in (2, 4, 8, 16) if k * _POINTS_PER_CLUSTER <= len(rows)]
        if not any(_has_valleys(graphs[0], _cut(graphs[0], k)) for k in looks):
            continue
        parts = split(agreement_curve(part, graphs), MIN_INNER_GAIN)
        if parts is not None and _has_valleys(graphs[0], parts):
            new = int(labels.max()) + parts
            labels[rows] = np.where(parts == 0, cluster, new)
            to_do += [cluster, *np.unique(new[parts > 0]).tolist()]
    return labels


def touching_pairs(graphs: NeighborGraphs, labels: Ints) -> tuple[list[tuple[int, int]], Floats]:
    """Each cluster with the one that it touches most, and the p value of the valley between; NaN: cannot say."""
    n_clusters = int(labels.max()) + 1
    members = np.eye(n_clusters)[labels]
    touching = members.T @ (graphs.neighbor_graph @ members)
    np.fill_diagonal(touching, -1)
    pairs = list(dict.fromkeys((min(k, j), max(k, j)) for k, j in enumerate(touching.argmax(axis=1).tolist())))[:12]
    p_values = []
    for a, b in pairs:
        rows = np.flatnonzero((labels == a) | (labels == b))
        p_values.append(find_valley(graphs.rows[rows], labels[rows] == a).p_value)
    return pairs, np.array(p_values)


def _has_valleys(graphs: NeighborGraphs, labels: Ints) -> bool:
    """Whether most pairs of clusters that touch have a valley between them."""
    return bool(np.median(np.nan_to_num(touching_pairs(graphs, labels)[1], nan=1.0)) < 0.001)


def _cut(graphs: NeighborGraphs, n_clusters: int) -> Ints:
    """One normalised cut at the middle scale."""
    problem = normalized_cut(graphs.affinity(neighborhood_sizes(graphs.n_points, n_clusters)[1]), graphs.weights)
    return multilevel(problem, n_clusters, n_init=1, n_runs=1, random_state=0)[0]


def best_candidate(graphs: Sequence[NeighborGraphs], n_clusters: int, seed: int) -> Agreed:
    """The quick candidate of highest consensus."""
    proposals = [propose(each, n_clusters, seed, quick=True) for each in graphs]
    labels = np.array([candidate.point_labels for proposal in proposals for candidate in proposal.candidates])
    votes = np.concatenate([proposal.votes for proposal in proposals])
    votes /= votes.sum()
    scores = np.where(votes > 0, consensus(agreement(labels, graphs[0].weights), votes), 0.0)
    return Agreed(float(scores.max()), labels[np.argmax(scores.round(9))])


def by_chance(population: Population, graphs: Sequence[NeighborGraphs], grid: Sequence[int], kind: str) -> Floats:
    """The consensus on points without clusters, with the votes of the points themselves."""
    null = population.without_clusters(kind)
    n = len(null.X)
    # With few clusters the agreement by chance depends on their number, with many on their size.
    places = np.clip(np.array(grid) * n / len(population.X), np.minimum(grid, 20), n // 5)
    tried = np.unique(places[:: max(1, len(places) // 8)].round().astype(int).tolist() + [round(places[-1])])
    null_graphs = [replace(a, dimension=b.dimension) for a, b in zip(null.graphs(), graphs)]
    known = [best_candidate(null_graphs, int(k), population.seed).consensus for k in tried[::-1]][::-1]
    return np.interp(np.log(places), np.log(tried), known)


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
    largest = min(64, problem.n_points // _POINTS_PER_CLUSTER)
    if largest < 2:
        return ()
    parts = fine_parts(problem, max(min(100, problem.n_points // 3), largest + 1), seed)
    conductance = {len(level.weight): float(np.max(1 - level.inside / level.weight))
                   for level in merge_levels(problem, parts, 2)}
    small = 3e-3
    gains = {k: 1 - (conductance[k] + small) / (min(conductance.get(k + 1, 1.0), 1.0) + small)
             for k in range(2, largest + 1) if k in conductance}
    nan = float("nan")
    return tuple(NumberCandidate(k, nan, nan, gains[k]) for k in sorted(gains, key=lambda k: -gains[k]))


def fine_parts(problem: RatioProblem, n_parts: int, random_state: int | None) -> Ints:
    """Many small parts that follow the shapes."""
    if problem.matrix.is_graph:
        return multilevel(problem, n_parts, n_init=2, n_runs=1, random_state=random_state)[0]
    rng = np.random.default_rng(random_state)
    return cut_embedding(normalized_rows(spectral_embedding(problem.matrix, n_parts // 2, rng)[1]), n_parts, rng)
