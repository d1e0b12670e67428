r"""Refinement by Lloyd steps, that is weighted kernel k-means: every point goes to its best cluster at once.

At a labelling S the energy is bounded from above by costs of single points (the "bound"),

.. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

exact at S where the matrix is positive semidefinite. Elsewhere a diagonal shift, doubled until the energy
falls, restores the descent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem

__all__ = ["bound_costs", "improve_by_lloyd"]

_LARGEST_SHIFT = 1e3


def bound_costs(
    links: NDArray[np.floating],
    point_weights: NDArray[np.floating],
    inside: NDArray[np.floating],
    weight: NDArray[np.floating],
) -> NDArray[np.float64]:
    r"""Cost of each point in each cluster under the bound; `links` holds :math:`(M S_k)_p`.

    Examples
    --------
    >>> import numpy as np
    >>> bound_costs(np.array([[2.0, 0.0]]), np.array([1.0]), np.array([4.0, 4.0]), np.array([2.0, 2.0]))
    array([[-1.,  1.]])
    """
    return -2.0 * links / weight + np.multiply.outer(point_weights, inside / weight**2)


def improve_by_lloyd(
    problem: RatioProblem, labels: NDArray[np.int64], n_clusters: int, *, max_iter: int = 100
) -> tuple[NDArray[np.int64], list[float], bool]:
    """Labels after Lloyd steps, the energy after each step, and whether a fixed point was reached.

    Works for every matrix that can be multiplied with an array; memory is one column a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> x = np.array([[0.0], [0.1], [3.0], [3.1]])
    >>> improve_by_lloyd(average_association(x @ x.T), np.array([0, 1, 1, 1]), 2)[0]
    array([0, 0, 1, 1])
    """
    labels = labels.astype(np.int64)
    links, inside, weight = _state(problem, labels, n_clusters)
    energy = -np.sum(inside / weight)
    trace: list[float] = []
    for _ in range(max_iter):
        costs = bound_costs(links, problem.weights, inside, weight)
        # The shift is measured in the mean association of a unit of weight.
        shift, unit = 0.0, max(abs(energy) / n_clusters, np.finfo(float).tiny)
        while True:
            proposal = _shifted_choice(costs, labels, problem.weights, weight, shift * unit)
            if (proposal == labels).all():
                return labels, trace, True
            if np.bincount(proposal, minlength=n_clusters).all():
                state = _state(problem, proposal, n_clusters)
                lower = -np.sum(state[1] / state[2])
                if lower < energy - 1e-12 * abs(energy):
                    break
            shift = 2 * shift if shift else 1 / 16
            if shift > _LARGEST_SHIFT:
                return labels, trace, True
        labels, energy, (links, inside, weight) = proposal, lower, state
        trace.append(float(energy))
    return labels, trace, False


def _shifted_choice(
    costs: NDArray[np.float64],
    labels: NDArray[np.int64],
    point_weights: NDArray[np.floating],
    weight: NDArray[np.float64],
    shift: float,
) -> NDArray[np.int64]:
    """Best cluster of each point where the matrix has `shift` times the weights on its diagonal; ties stay."""
    rows = np.arange(len(labels))
    shifted = costs + shift * np.divide.outer(point_weights, weight)
    shifted[rows, labels] -= 2 * shift * point_weights / weight[labels]
    choice = shifted.argmin(axis=1)
    stays = shifted[rows, labels] <= shifted[rows, choice]
    return np.where(stays, labels, choice)


def _state(
    problem: RatioProblem, labels: NDArray[np.integer], n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Links of every point to every cluster, and the association and weight of each cluster."""
    rows = np.arange(len(labels))
    links = problem.matrix.links(labels, n_clusters)
    if problem.diagonal is not None:
        links[rows, labels] += problem.diagonal
    inside = np.bincount(labels, links[rows, labels], n_clusters).astype(np.float64)
    return links, inside, np.bincount(labels, problem.weights, n_clusters).astype(np.float64)
