"""Refinement by single-point moves (Hartigan): take one point to the cluster that gains most, until none gains.

Each accepted move lowers the energy, no cluster is ever emptied, and a move costs the degree of its point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem
from ..tensors import Floats, Ints, Places


def improve_by_moves(
    problem: RatioProblem,
    labels: Ints,
    n_clusters: int,
    *,
    max_iter: int = 100,
    rng: np.random.Generator | None = None,
    movable: Places | None = None,
) -> tuple[Ints, list[float], bool]:
    """Labels after sweeps of moves, the energy after each sweep, and whether no move was left.

    Parameters
    ----------
    problem : RatioProblem
        With a dense or CSR matrix.
    labels : ndarray of shape (n,)
        Start, with every cluster in use.
    n_clusters : int
    max_iter : int
        Most sweeps.
    rng : Generator, optional
        Draws the order of points in each sweep; in the order given without it.
    movable : ndarray, optional
        The points that may move; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> pairs = np.kron(np.eye(2), np.ones((2, 2)))
    >>> improve_by_moves(normalized_cut(pairs), np.array([0, 1, 1, 1]), 2)[0]
    array([0, 0, 1, 1])
    """
    from . import _move_loops

    labels = labels.astype(np.int64)
    matrix, n_points = problem.matrix, problem.n_points
    diagonal = np.zeros(n_points) if problem.diagonal is None else problem.diagonal
    count = np.bincount(labels, minlength=n_clusters)
    everyone = np.arange(n_points) if movable is None else movable
    trace: list[float] = []
    graph = matrix.graph
    entries = None if graph is not None else np.ascontiguousarray(matrix.array)
    # Links of all points to all clusters, which a dense sweep keeps up to date.
    table = None if graph is not None else np.ascontiguousarray(matrix.links(labels, n_clusters).T)
    for _ in range(max_iter):
        order = everyone if rng is None else rng.permutation(everyone)
        # Sums are taken afresh in every sweep, so that rounding does not pile up.
        inside, weight = _sums(problem, labels, n_clusters, table)
        clusters = (labels, inside, weight, count)
        if graph is not None:
            rows = (graph.indptr, graph.indices, graph.data, diagonal, problem.weights)
            moved = _move_loops.sweep_csr(rows, clusters, order)
        else:
            moved = _move_loops.sweep_dense(entries, diagonal, problem.weights, clusters, order, table)
        if not moved:
            return labels, trace, True
        inside, weight = _sums(problem, labels, n_clusters, table)
        trace.append(float(-np.sum(inside / weight)))
    return labels, trace, False


def _sums(problem: RatioProblem, labels: Ints, n_clusters: int, table: NDArray | None) -> tuple[Floats, Floats]:
    """Association and weight of each cluster; from the table of links where there is one."""
    if table is None:
        return problem.associations(labels, n_clusters)
    inside = np.bincount(labels, table[labels, np.arange(len(labels))], n_clusters).astype(np.float64)
    if problem.diagonal is not None:
        inside += np.bincount(labels, problem.diagonal, n_clusters)
    return inside, np.bincount(labels, problem.weights, n_clusters).astype(float)
