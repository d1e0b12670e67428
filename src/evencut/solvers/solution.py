"""What a solver answers, and how a labelling is put in its final form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..criteria import RatioProblem
from ..tensors import AnyFloats, Ints, to_array


@dataclass(frozen=True, eq=False)
class Solution:
    """A labelling and how it was found.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Clusters numbered by falling weight; an array wherever the problem is.
    energy : float
    n_iter : int
        Sweeps or steps of the start that won, the last one that found nothing to do included.
    trace : tuple of float
        Energy of that start and after each of its steps; it never rises.
    converged : bool
        Whether no step was left to make.
    """

    labels: Ints
    energy: float
    n_iter: int
    trace: tuple[float, ...]
    converged: bool

    @classmethod
    def after(cls, problem: RatioProblem, labels: Ints, trace: list[float], converged: bool, n_iter: int) -> Solution:
        """The solution that ends with these labels, their clusters renumbered."""
        labels = heaviest_first(to_array(labels), to_array(problem.weights))
        return cls(labels, trace[-1], n_iter, tuple(trace), converged)


def heaviest_first(labels: Ints, weights: AnyFloats) -> Ints:
    """Renumber the clusters by decreasing weight, independent of the order of the points.

    Among equal clusters the one with the first point leads.

    Examples
    --------
    >>> import numpy as np
    >>> heaviest_first(np.array([0, 1, 1]), np.ones(3))
    array([1, 0, 0])
    """
    total = np.bincount(labels, weights)
    # Rounding must not decide between equal clusters; the one that appears first does.
    first = np.full(len(total), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, -np.round(total / total.max(), 9)))
    rank = np.empty(len(total), dtype=np.int64)
    rank[order] = np.arange(len(total))
    return rank[labels]
