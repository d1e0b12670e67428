"""Refinement by single-point moves (Hartigan): take one point to the cluster that gains most, until none gains.

Each accepted move lowers the energy, no cluster is ever emptied, and a move costs the degree of its point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..criteria import RatioProblem, link_table

__all__ = ["improve_by_moves"]


def improve_by_moves(
    problem: RatioProblem,
    labels: NDArray[np.int64],
    n_clusters: int,
    *,
    max_iter: int = 100,
    rng: np.random.Generator | None = None,
) -> tuple[NDArray[np.int64], list[float], bool]:
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
    trace: list[float] = []
    for _ in range(max_iter):
        order = np.arange(n_points) if rng is None else rng.permutation(n_points)
        # Sums are taken afresh in every sweep, so that rounding does not pile up.
        inside, weight = problem.associations(labels, n_clusters)
        if sparse.issparse(matrix):
            entries = (matrix.indptr, matrix.indices, matrix.data)
            moved = _move_loops.sweep_csr(
                *entries, diagonal, problem.weights, labels, inside, weight, count, order
            )
        else:
            table = np.ascontiguousarray(link_table(matrix, labels, n_clusters).T)
            moved = _move_loops.sweep_dense(
                matrix, diagonal, problem.weights, labels, inside, weight, count, order, table
            )
        if not moved:
            return labels, trace, True
        trace.append(problem.energy(labels))
    return labels, trace, False
