r"""Starts that fit what a criterion likes: a mode of the density, single stragglers, small pieces.

Points are put in an order, by their affinity to a seed or along an eigenvector, and the beginning of it that is
cheapest to part from the rest becomes a cluster. All beginnings together cost one look at the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..affinity import Affinity
from ..criteria import RatioProblem
from .merging import merge_clusters
from .starts import fill_empty

__all__ = ["best_beginning", "sweep_starts"]

_EXTREMES = 2


def sweep_starts(
    problem: RatioProblem, labels: NDArray[np.int64], n_clusters: int, vectors: NDArray[np.float64] | None = None
) -> Iterator[NDArray[np.int64]]:
    """Labellings in which one cluster is the best beginning of an order.

    Parameters
    ----------
    problem : RatioProblem
        With a matrix in memory.
    labels : ndarray of shape (n,)
        A labelling into `n_clusters`, whose two cheapest clusters are merged to make room.
    n_clusters : int
    vectors : ndarray of shape (n, m), optional
        Coordinates to sweep along as well.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> x = np.array([0.0, 0.01, 0.02, 1.0, 2.0, 3.0])
    >>> problem = average_association(np.exp(-np.square(x[:, None] - x) / 0.02))
    >>> next(sweep_starts(problem, np.array([0, 0, 0, 0, 1, 1]), 2))
    array([1, 1, 1, 0, 0, 0])
    """
    rest = merge_clusters(problem, labels, n_clusters - 1) if n_clusters > 2 else np.zeros(len(labels), np.int64)
    for order in _orders(problem, vectors):
        start = rest.copy()
        start[order[: best_beginning(problem, order)]] = n_clusters - 1
        yield fill_empty(start, n_clusters)


def best_beginning(problem: RatioProblem, order: NDArray[np.intp]) -> int:
    """How many points of an order make, with the others as second cluster, the lowest energy.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> best_beginning(normalized_cut(np.kron(np.eye(2), np.ones((2, 2)))), np.arange(4))
    2
    """
    first, last = _insides(problem.matrix, order)
    if problem.diagonal is not None:
        diagonal = np.cumsum(problem.diagonal[order])
        first, last = first + diagonal, last + (diagonal[-1] - diagonal)
    weight = np.cumsum(problem.weights[order])
    energy = -(first[:-1] / weight[:-1] + last[:-1] / np.maximum(weight[-1] - weight[:-1], np.finfo(float).tiny))
    return int(np.argmin(energy)) + 1


def _insides(matrix: Affinity, order: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Affinities inside each beginning of the order, and inside what follows it."""
    n_points = len(order)
    if matrix.graph is not None:
        graph, place = matrix.graph, np.empty(n_points, dtype=np.intp)
        place[order] = np.arange(n_points)
        row, column = np.repeat(place, np.diff(graph.indptr)), place[graph.indices]
        joined = np.bincount(np.maximum(row, column), graph.data, n_points)
        left = np.bincount(np.minimum(row, column), graph.data, n_points)
    else:
        ordered = matrix.part(order, order).astype(np.float64, copy=False)
        own, total = ordered.diagonal(), ordered.sum(axis=1)
        before = np.tril(ordered).sum(axis=1) - own
        joined, left = 2 * before + own, 2 * (total - before - own) + own
    first = np.cumsum(joined, dtype=np.float64)
    return first, left.sum() - np.cumsum(left, dtype=np.float64)


def _orders(problem: RatioProblem, vectors: NDArray[np.float64] | None) -> Iterator[NDArray[np.intp]]:
    """From the densest and the sparsest points outwards, and along coordinates from both ends."""
    ratio = problem.matrix.degrees() / problem.weights
    density = problem.matrix.degrees()
    # Under the normalised cut all ratios are one; there the degree itself tells dense from sparse.
    by_density = np.argsort(-(ratio if np.ptp(ratio) > 1e-9 * abs(ratio).max() else density), kind="stable")
    for seed in (*by_density[:_EXTREMES], *by_density[-_EXTREMES:]):
        near = problem.matrix.part(np.array([seed]))[0] / problem.weights
        near[seed] = np.inf
        yield np.argsort(-near, kind="stable")
    yield by_density
    yield by_density[::-1]
    for column in () if vectors is None else vectors.T:
        along = np.argsort(column, kind="stable")
        yield along
        yield along[::-1]
