r"""The number of clusters: where methods of different principles agree, beyond what they would agree on by chance.

For each k of a grid, :math:`C_k` is the consensus (with squares) of the best candidate, and :math:`C^0_k` the same for
points drawn from one population: a Gaussian of the same covariance or a box along its axes, the higher of the two. The number
is the k with the largest gain

.. math:: g_k = \frac{C_k - C^0_k}{1 - C^0_k}

and 1 if that is below 0.12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..affinity import AffinityLike
from ..criteria import RatioProblem, normalized_cut
from ..solvers.merging import merge_levels
from ..solvers.multilevel import multilevel
from ..solvers.spectral import cut_embedding, spectral_embedding, unit_rows
from ..tensors import Floats, Ints
from .graphs import NeighborGraphs, neighbor_graphs
from .propose import propose
from .vote import agreement, consensus

__all__ = ["MAX_CLUSTERS", "NumberCandidate", "find_number", "fine_parts", "number_of_affinity"]

#: The largest number of clusters that is tried.
MAX_CLUSTERS = 160

GRID = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 27, 36, 50, 64, 90, 128, 160)
# Points from which the number is found, and points of a population without clusters.
SAMPLE, NULL_SAMPLE = 2000, 1000
NULL_GRID = (2, 3, 4, 6, 10, 20, 50, 160)
N_NULLS = 2
# Gain below which there is one cluster.
MIN_GAIN = 0.12
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
    """

    n_clusters: int
    agreement: float
    chance: float
    gain: float


def find_number(
    X: Floats, weights: Floats, feature_scale: Floats | None, seed: int, n_jobs: int | None = None, unit: bool = False
) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters of points, the largest gain first."""
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(np.intp))
    X, weights = X[rows], weights[rows]
    grid = [k for k in GRID if k <= len(X) // _POINTS_PER_CLUSTER]
    if not grid:
        return ()
    graphs = neighbor_graphs(X, weights, feature_scale=feature_scale, n_jobs=n_jobs)
    # The largest first: its eigenvectors serve the others.
    curve = {k: best_consensus(graphs, k, seed) for k in reversed(grid)}
    chance = chance_curve(X, graphs, feature_scale, grid, seed, n_jobs, unit)

    def gain(k: int) -> float:
        by_chance = float(np.interp(np.log(k), np.log(grid), chance))
        return (curve[k] - by_chance) / (1 - by_chance)

    best = grid.index(max(grid, key=gain))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for k in sorted({round(k) for k in np.linspace(low, high, 6)} - set(curve)):
        curve[k] = best_consensus(graphs, k, seed)
    found = [
        NumberCandidate(k, curve[k], float(np.interp(np.log(k), np.log(grid), chance)), gain(k)) for k in sorted(curve)
    ]
    return tuple(sorted(found, key=lambda number: -number.gain))


def choose_number(numbers: Sequence[NumberCandidate]) -> int:
    """The number of largest gain, or 1 if that is small."""
    return numbers[0].n_clusters if numbers and numbers[0].gain >= MIN_GAIN else 1


def best_consensus(graphs: Sequence[NeighborGraphs], n_clusters: int, seed: int) -> float:
    """The consensus, with squares, of the best quick candidate."""
    proposals = [propose(each, n_clusters, seed, quick=True) for each in graphs]
    labels = np.array([candidate.point_labels for proposal in proposals for candidate in proposal.candidates])
    votes = np.concatenate([proposal.votes for proposal in proposals])
    votes /= votes.sum()
    scores = consensus(agreement(labels, graphs[0].weights), votes, power=2)
    return float(scores[votes > 0].max())


def chance_curve(
    X: Floats, graphs: Sequence[NeighborGraphs], feature_scale: Floats | None, grid: list[int], seed: int,
    n_jobs: int | None, unit: bool,
) -> Floats:  # fmt: skip
    """The consensus by chance at each number of clusters of the grid."""
    rng = np.random.default_rng(seed)
    mean = X.mean(axis=0)
    _, lengths, axes = np.linalg.svd(X - mean, full_matrices=False)
    along = (X - mean) @ axes.T
    n_null = min(len(X), NULL_SAMPLE)
    nulls = [rng.normal(size=(n_null, len(lengths))) * lengths / np.sqrt(max(len(X) - 1, 1)),
             rng.random((n_null, len(lengths))) * np.ptp(along, axis=0) + along.min(axis=0)]
    # With few clusters the agreement by chance depends on their number, with many on their size.
    places = np.clip(np.array(grid) * n_null / len(X), np.minimum(grid, 20), n_null // 5)
    tried = sorted({round(places[0]), *(round(place) for place in places[[k in NULL_GRID for k in grid]]), round(places[-1])})
    curves = []
    for null in nulls:
        points = mean + null @ axes
        if unit:
            points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
        null_graphs = neighbor_graphs(points, np.ones(n_null), feature_scale=feature_scale, n_jobs=n_jobs)
        null_graphs = [replace(a, dimension=b.dimension) for a, b in zip(null_graphs, graphs)]
        known = [best_consensus(null_graphs, k, seed) for k in reversed(tried)][::-1]
        curves.append(np.interp(np.log(places), np.log(tried), known))
    chance_curve.last = curves
    return np.max(curves[:N_NULLS], axis=0)


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
    return tuple(NumberCandidate(k, float("nan"), float("nan"), gains[k]) for k in sorted(gains, key=lambda k: -gains[k]))


def fine_parts(problem: RatioProblem, n_parts: int, random_state: int | None) -> Ints:
    """Many small parts that follow the shapes."""
    if problem.matrix.is_graph:
        return multilevel(problem, n_parts, n_init=2, n_runs=1, random_state=random_state)[0]
    rng = np.random.default_rng(random_state)
    return cut_embedding(unit_rows(spectral_embedding(problem.matrix, n_parts // 2, rng)[1]), n_parts, rng)
