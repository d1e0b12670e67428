r"""Clustering with some labels known: labelled points keep their label, and steer the rest.

The labelled points of a cluster count together as at least half an average cluster, so that their neighbours follow
them; then free points move as in every other fit, and labelled ones stay where they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ..affinity import Affinity, PreparedPoints
from ..criteria import RatioProblem
from ..solvers import Solution
from ..solvers.moves import improve_by_moves

__all__ = ["UNKNOWN", "check_partial", "emphasis", "labels_of_points", "steer"]

#: What stands for a label that is not known.
UNKNOWN = -1

# The labelled points of a cluster count as at least this share of an average cluster.
_SHARE = 0.5
# Steps of the walk that spreads labels over the graph, and the chance to go on.
_STEPS = 60
_GO_ON = 0.95


def check_partial(y: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Partial labels as whole numbers; None where there are none, or where no label is missing.

    Complete labels say nothing about how to cluster: scikit-learn hands them to every estimator, for scoring.
    """
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}; give one label for each of {n_rows} rows, -1 where unknown.")
    if labels.dtype.kind not in "iub" or not (labels == UNKNOWN).any() or (labels == UNKNOWN).all():
        return None
    if labels.min() < UNKNOWN:
        raise ValueError(f"y holds {labels.min()}; labels are whole numbers from 0, and -1 where unknown.")
    return labels.astype(np.int64)


def labels_of_points(labels: NDArray[np.int64], prepared: PreparedPoints, n_clusters: int) -> NDArray[np.int64]:
    """The label of each point: that of most of its labelled rows, -1 where none is labelled."""
    if labels.max() >= n_clusters:
        raise ValueError(
            f"y holds the label {labels.max()}, but n_clusters={n_clusters} allows labels from 0 to {n_clusters - 1}; "
            "ask for more clusters or number the labels from 0."
        )
    known = np.flatnonzero((labels >= 0) & (prepared.of_row >= 0))
    n_points = len(prepared.weights)
    votes = np.bincount(prepared.of_row[known] * n_clusters + labels[known], minlength=n_points * n_clusters)
    votes = votes.reshape(n_points, n_clusters)
    return np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)


def emphasis(held: NDArray[np.int64], weights: NDArray[np.float64], n_clusters: int) -> NDArray[np.float64]:
    """By how much each labelled point counts more; one for the others."""
    factor = np.ones(len(held))
    for label in np.unique(held[held >= 0]):
        members = held == label
        factor[members] = max(1.0, _SHARE * weights.sum() / n_clusters / weights[members].sum())
    return factor


def steer(
    problem: RatioProblem, start: NDArray[np.int64], held: NDArray[np.int64], n_clusters: int, max_iter: int, seed: int
) -> Solution:
    """The better of two starts with labelled points held: clusters found without labels, and labels spread along the
    graph."""
    if problem.matrix.is_lazy:
        raise ValueError(
            "partial labels need an affinity in memory; use a neighbour kernel, or give the kernel more memory."
        )
    matched = _matched(start, held, problem.weights, n_clusters)
    free = np.flatnonzero(held < 0)
    found = []
    for labels in (matched, _spread(problem.matrix, matched, held, n_clusters)):
        labels = _every_cluster(np.where(held >= 0, held, labels), held, n_clusters)
        first = problem.energy(labels)
        how: dict[str, Any] = {"max_iter": max_iter, "rng": np.random.default_rng(seed), "movable": free}
        refined, trace, converged = improve_by_moves(problem, labels, n_clusters, **how)
        energies = (first, *trace)
        found.append(Solution(refined, energies[-1], len(trace) + converged, energies, converged))
    return min(found, key=lambda solution: solution.energy)


def _matched(
    start: NDArray[np.int64], held: NDArray[np.int64], weights: NDArray[np.floating], n_clusters: int
) -> NDArray[np.int64]:
    """The clusters renumbered so that they hold as much labelled weight of their own number as they can."""
    overlap = np.zeros((n_clusters, n_clusters))
    known = np.flatnonzero(held >= 0)
    np.add.at(overlap, (start[known], held[known]), weights[known])
    clusters, numbers = linear_sum_assignment(overlap, maximize=True)
    number = np.empty(n_clusters, dtype=np.int64)
    number[clusters] = numbers
    return number[start]


def _spread(
    matrix: Affinity, matched: NDArray[np.int64], held: NDArray[np.int64], n_clusters: int
) -> NDArray[np.int64]:
    """Where a walk that starts at the labelled points is most likely to come by; clusters without any start whole."""
    labelled = np.isin(np.arange(n_clusters), held)
    source = np.where(held >= 0, held, np.where(labelled[matched], UNKNOWN, matched))
    seeds = np.zeros((len(held), n_clusters))
    known = np.flatnonzero(source >= 0)
    seeds[known, source[known]] = 1.0
    seeds /= np.maximum(seeds.sum(axis=0), 1.0)
    degree = np.maximum(matrix.degrees(), np.finfo(float).tiny)
    reached = seeds
    for _ in range(_STEPS):
        reached = (1 - _GO_ON) * seeds + _GO_ON * np.asarray(matrix @ (reached / degree[:, None]), dtype=np.float64)
    return np.where(reached.max(axis=1) > 0, reached.argmax(axis=1), matched)


def _every_cluster(labels: NDArray[np.int64], held: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """The labels with every empty cluster given a free point of the largest."""
    labels = labels.copy()
    for k in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        size = np.bincount(labels[held < 0], minlength=n_clusters)
        candidates = np.flatnonzero((labels == size.argmax()) & (held < 0))
        if not candidates.size:
            raise ValueError(f"all points are labelled, and none as cluster {k}; ask for fewer clusters.")
        labels[candidates[-1]] = k
    return labels
