r"""Refinement: Lloyd steps, that is weighted kernel k-means, and moves of single points.

In a Lloyd step every point goes to its best cluster at once.

At a labelling S the energy is bounded from above by costs of single points (the "bound"),

.. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

exact at S where the matrix is positive semidefinite. Elsewhere a diagonal shift, doubled until the energy
falls, restores the descent. Arrays and tensors take the same steps, each where it is.

A move (Hartigan) takes one point to the cluster that gains most. Each accepted move lowers the energy, no cluster is
ever emptied, and a move costs the degree of its point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem
from ..tensors import AnyFloats, Floats, Ints, Places, arange_like, array_namespace

#: A labelling: its `labels`, and their `energy`.
AnyStep = TypeVar("AnyStep", bound=Any)


def bound_costs(links: AnyFloats, point_weights: AnyFloats, inside: AnyFloats, weight: AnyFloats) -> Floats:
    r"""Cost of each point in each cluster under the bound; `links` holds :math:`(M S_k)_p`.

    Examples
    --------
    >>> import numpy as np
    >>> bound_costs(np.array([[2.0, 0.0]]), np.array([1.0]), np.array([4.0, 4.0]), np.array([2.0, 2.0]))
    array([[-1.,  1.]])
    """
    return -2.0 * links / weight + point_weights[:, None] * (inside / weight**2)


def lloyd_descent(problem: RatioProblem, labels: Ints, n_clusters: int, *, max_iter: int = 100) -> Descent[_LloydStep]:
    """Lloyd steps from some labels, with the energy of the start and after each step.

    Works for every matrix that can be multiplied with an array; memory is one column a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> x = np.array([[0.0], [0.1], [3.0], [3.1]])
    >>> lloyd_descent(average_association(x @ x.T), np.array([0, 1, 1, 1]), 2).step.labels
    array([0, 0, 1, 1])
    """

    def at(proposal: Ints, previous: _LloydStep | None = None) -> _LloydStep:
        if previous is None:
            links = problem.matrix.links(proposal, n_clusters)
        else:
            links = problem.matrix.updated_links(previous.links, previous.labels, proposal, n_clusters)
        with_diagonal, inside, weight = problem.cluster_links(proposal, n_clusters, links)
        costs = bound_costs(with_diagonal, problem.weights, inside, weight)
        return _LloydStep(proposal, float(-(inside / weight).sum()), links, costs, weight)

    def propose(step: _LloydStep, shift: float) -> Ints:
        # The shift is measured in the mean association of a unit of weight.
        unit = max(abs(step.energy) / n_clusters, np.finfo(float).tiny)
        return _shifted_choice(step.costs, step.labels, problem.weights, step.weight, shift * unit)

    start = array_namespace(labels).asarray(labels, dtype=array_namespace(labels).int64)
    return descend(at(start), propose, at, n_clusters, max_iter=max_iter, least_gain=problem.matrix.rounding)


@dataclass(frozen=True, eq=False)
class Descent(Generic[AnyStep]):
    """Where a descent ended.

    Parameters
    ----------
    step : object
        The last labelling: its `labels`, and their `energy`.
    trace : tuple of float
        Energy of the start and after each step.
    converged : bool
        Whether no step was left to make.
    lost_label : bool
        Whether not even a first step was found because every proposal emptied a label.
    """

    step: AnyStep
    trace: tuple[float, ...]
    converged: bool
    lost_label: bool = False


def descend(
    start: AnyStep,
    propose: Callable[[AnyStep, float], Ints],
    at: Callable[[Ints, AnyStep], AnyStep],
    n_labels: int,
    *,
    max_iter: int,
    least_gain: float = 1e-12,
) -> Descent[AnyStep]:
    """Lower the energy step by step; a proposal that would not is made again with a diagonal shift, doubled each time.

    Parameters
    ----------
    start : object
        A labelling: its `labels`, and their `energy`.
    propose : callable
        Labels of least bound at a step, given the shift (in units of the proposer).
    at : callable
        The step at proposed labels, none of which is empty, given the step before.
    n_labels : int
    max_iter : int
        Most steps.
    least_gain : float
        Relative to the energy; what falls by less has not fallen.
    """
    step, trace = start, [start.energy]
    for _ in range(max_iter):
        shift = 0.0
        while True:
            proposal = propose(step, shift)
            if (proposal == step.labels).all():
                return Descent(step, tuple(trace), True)
            lost = not array_namespace(proposal).bincount(proposal.ravel(), minlength=n_labels).all()
            if not lost:
                lower = at(proposal, step)
                if lower.energy < step.energy - least_gain * abs(step.energy):
                    break
            shift = 2 * shift if shift else 1 / 16
            if shift > 1e3:
                return Descent(step, tuple(trace), True, lost and len(trace) == 1)
        step = lower
        trace.append(step.energy)
    return Descent(step, tuple(trace), False)


@dataclass(frozen=True, eq=False)
class _LloydStep:
    labels: Ints
    energy: float
    links: Floats
    costs: Floats
    weight: Floats


def _shifted_choice(costs: Floats, labels: Ints, point_weights: AnyFloats, weight: Floats, shift: float) -> Ints:
    """Best cluster of each point where the matrix has `shift` times the weights on its diagonal; ties stay."""
    rows = arange_like(labels)
    shifted = costs + shift * (point_weights[:, None] / weight)
    shifted[rows, labels] -= 2 * shift * point_weights / weight[labels]
    choice = shifted.argmin(axis=1)
    stays = shifted[rows, labels] <= shifted[rows, choice]
    return array_namespace(labels).where(stays, labels, choice)


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
    matrix, n_points = problem.matrix, len(problem.weights)
    diagonal = np.zeros(n_points) if problem.diagonal is None else problem.diagonal
    count = np.bincount(labels, minlength=n_clusters)
    everyone = np.arange(n_points) if movable is None else np.ascontiguousarray(movable)
    trace: list[float] = []
    graph = matrix.graph
    entries = None if graph is not None else np.ascontiguousarray(matrix.array)
    # Links of all points to all clusters; a dense sweep updates them.
    table = None if graph is not None else np.ascontiguousarray(matrix.links(labels, n_clusters).T)
    for _ in range(max_iter):
        order = everyone if rng is None else rng.permutation(everyone)
        # Sums are taken afresh in every sweep, so that rounding does not pile up.
        inside, weight = _sums(problem, labels, n_clusters, table)
        clusters = _move_loops.Clusters(labels, inside, weight, count)
        if graph is not None:
            rows = (graph.indptr.astype(np.int64), graph.indices, graph.data, diagonal, problem.weights)
            moved = _move_loops.sweep_graph(*rows, clusters, order)
        else:
            moved = _move_loops.sweep_dense(entries, diagonal, problem.weights, clusters, order, table)
        if not moved:
            return labels, trace, True
        inside, weight = _sums(problem, labels, n_clusters, table)
        trace.append(float(-np.sum(inside / weight)))
    return labels, trace, False


def _sums(problem: RatioProblem, labels: Ints, n_clusters: int, table: NDArray | None) -> tuple[Floats, Floats]:
    """Association and weight of each cluster; from the table of links if it is known."""
    if table is None:
        inside = problem.matrix.inside(labels, n_clusters)
    else:
        inside = np.bincount(labels, table[labels, np.arange(len(labels))], n_clusters).astype(np.float64)
    if problem.diagonal is not None:
        inside += np.bincount(labels, problem.diagonal, n_clusters)
    return inside, np.bincount(labels, problem.weights, n_clusters).astype(float)
