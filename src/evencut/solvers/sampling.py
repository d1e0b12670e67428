"""A start for large dense affinities, in memory or not: solve for a sample, then label the other points by it."""

from __future__ import annotations

import numpy as np

from ..affinity import DenseAffinity
from ..criteria import RatioProblem
from ..tensors import Ints, Places, is_tensor
from .lloyd import bound_costs
from .starts import fill_empty

_SAMPLE = 1500
# Eigenvectors of a larger sample cost a device little.
_SAMPLE_ON_DEVICE = 4000
_SAMPLE_PER_CLUSTER = 40


def sample_problem(problem: RatioProblem, n_clusters: int, rng: np.random.Generator) -> tuple[Places, RatioProblem]:
    """Rows of a random sample, and the problem among them, dense.

    Parameters
    ----------
    problem : RatioProblem
        With a matrix whose method `part(rows, columns)` gives dense blocks.
    n_clusters : int
    rng : Generator
    """
    n_points = problem.n_points
    least = _SAMPLE_ON_DEVICE if is_tensor(problem.weights) else _SAMPLE
    size = min(n_points, max(least, _SAMPLE_PER_CLUSTER * n_clusters))
    rows = problem.matrix.beside(np.sort(rng.choice(n_points, size, replace=False)))
    # Degrees count all points; among the sample they are smaller by its share.
    share = size / n_points
    diagonal = None if problem.diagonal is None else share * problem.diagonal[rows]
    return rows, RatioProblem(DenseAffinity(problem.matrix.part(rows, rows)), share * problem.weights[rows], diagonal)


def spread_labels(problem: RatioProblem, rows: Places, sample: RatioProblem, labels: Ints, n_clusters: int) -> Ints:
    """Labels of all points: each goes to the cluster of the sample that the bound of the Lloyd step makes cheapest."""
    share, labels = len(rows) / problem.n_points, sample.matrix.beside(labels)
    inside, weight = sample.associations(labels, n_clusters)
    links = problem.matrix.links_to_some(rows, labels, n_clusters)
    spread = bound_costs(links, share * problem.weights, inside, weight).argmin(axis=1)
    spread[rows] = labels
    return fill_empty(spread, n_clusters)
