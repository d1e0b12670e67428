"""The walk of `EvenCut` through this room: graphs, number of clusters, proposals, vote."""

from __future__ import annotations

import numpy as np

from .._runtime import counted_step, in_threads, n_threads, part_of_step, step
from ..kernels import Points
from ..points import draw_in
from ..tensors import Floats
from .graphs import NeighborGraphs, neighbor_graphs, neighborhood_sizes
from .number import NumberCandidate, Population, find_number, number_of_affinity
from .propose import SEED, Candidate, Proposal, propose
from .vote import Selection, rank_candidates

__all__ = ["select"]


def select(
    X: Points,
    n_clusters: int | str,
    *,
    weights: Floats | None = None,
    feature_scale: Floats | None = None,
    min_clusters: int = 1,
    unit: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Selection:
    """The partition of distinct points that proposals of all principles and coordinate systems agree on.

    Parameters
    ----------
    X : points
    n_clusters : int or "auto"
    weights : ndarray of shape (n,), optional
        How many rows each point represents.
    feature_scale : ndarray of shape (n_features,), optional
        What the columns were divided by to be standardised; without it the points are compared only as they are.
    min_clusters : int, default=1
        The fewest clusters `"auto"` may find.
    unit : bool, default=False
        Whether the rows have unit length.
    random_state : int
    n_jobs : int, optional

    Examples
    --------
    >>> from evencut.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> found = select(X, 2)
    >>> found.n_clusters, found.best.principle
    (2, 'cut')
    """
    weights = np.ones(len(X)) if weights is None else weights
    n_jobs = 1 if n_threads(n_jobs) == 1 else n_jobs
    # Of twenty steps of equal length, the number takes fourteen; without it partitions take most.
    n_steps, is_number_set = 20, not isinstance(n_clusters, str)
    step("neighbours", 1, n_steps)
    X = draw_in(X) if isinstance(X, np.ndarray) else X
    graphs = neighbor_graphs(X, weights, feature_scale=feature_scale, n_jobs=n_jobs)
    numbers: tuple[NumberCandidate, ...] = ()
    if isinstance(n_clusters, str):
        if graphs[0].has_coordinates:
            population = Population(np.asarray(X, dtype=np.float64), weights, feature_scale, unit, n_jobs)
            # The numbers of the grid, those near the best, and as many for points without clusters, in two halves each.
            with counted_step("number of clusters", 2, 16, n_steps, n_parts=60 * len(graphs)):
                numbers = find_number(population)
        else:
            [broadest] = graphs[0].affinities([neighborhood_sizes(len(X), 2)[-1]])
            numbers = number_of_affinity(broadest, weights, SEED)
        n_clusters = max(numbers[0].n_clusters if numbers else 1, min_clusters)
    if n_clusters in (1, len(X)):
        return _single(graphs[0], n_clusters, numbers)
    with counted_step("partitions", 3 if is_number_set else 16, n_steps, n_steps, len(graphs)):
        proposals = in_threads(lambda each: _proposed(each, n_clusters, random_state), graphs, n_threads(n_jobs))
    return rank_candidates(proposals, n_clusters, numbers)


def _proposed(graphs: NeighborGraphs, n_clusters: int, seed: int) -> Proposal:
    part_of_step()
    return propose(graphs, n_clusters, seed)


def _single(graphs: NeighborGraphs, n_clusters: int, numbers: tuple[NumberCandidate, ...]) -> Selection:
    """The only partition there is: all points in one cluster, or each in its own."""
    labels = np.zeros(len(graphs.weights), dtype=np.int64) if n_clusters == 1 else np.arange(n_clusters)
    only = Candidate("cut", "only", 0, graphs.system.name, labels)
    # A partition into as many clusters as points is certain; whether all points are one cluster is not known.
    confidence = float("nan") if n_clusters == 1 else 1.0
    return Selection(n_clusters, (only,), np.ones(1), np.ones(1), np.ones((1, 1)), confidence, numbers, (graphs,))
