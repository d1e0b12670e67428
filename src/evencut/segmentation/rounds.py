"""The rounds of kernel cut: bound the criterion by costs of single pixels, minimise bound plus boundary, repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .moves import GridLabeler
from .terms import Term, TermState

__all__ = ["Outcome", "minimize_energy"]

_LARGEST_SHIFT = 1e3


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where the rounds ended.

    Parameters
    ----------
    labels : ndarray of int of shape (height, width)
    state : TermState
        The criterion at these labels.
    trace : tuple of float
        Energy of the start and after each round.
    converged : bool
        Whether a fixed point or a cycle was reached.
    lost_label : bool
        Whether the minimum lost a label altogether: the boundary term was too strong.
    """

    labels: NDArray[np.int64]
    state: TermState
    trace: tuple[float, ...]
    converged: bool
    lost_label: bool = False


def minimize_energy(
    term: Term, labeler: GridLabeler, start: NDArray[np.integer], *, max_iter: int = 15
) -> Outcome:
    """Lower criterion plus boundary from a start in which every label occurs.

    The energy of a ratio criterion never rises: a step that would raise it is repeated with a diagonal shift, doubled
    until it does not. The entropy criterion has no such bound; it keeps the best labelling it saw and stops when one
    comes back.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> from evencut.segmentation.terms import RatioTerm
    >>> blocks = np.kron(np.eye(2), np.ones((2, 2)))
    >>> labeler = GridLabeler(np.zeros((1, 4, 8)), np.full((1, 4), -1), 2)
    >>> minimize_energy(RatioTerm(average_association(blocks)), labeler, np.array([[0, 1, 1, 1]])).labels
    array([[0, 0, 1, 1]])
    """
    labels = np.asarray(start, dtype=np.int64)
    state = term.at(labels.ravel(), labeler.n_labels)
    follow = _descend if state.shift is not None else _keep_best
    return follow(term, labeler, labels, state, max_iter)


def _descend(term: Term, labeler: GridLabeler, labels, state, max_iter: int) -> Outcome:
    total = state.energy + labeler.boundary(labels)
    trace = [total]
    for _ in range(max_iter):
        shift = 0.0
        while True:
            proposal = labeler.improve(state.costs + shift * state.shift, labels)
            if (proposal == labels).all():
                return Outcome(labels, state, tuple(trace), True)
            lost = _loses_label(proposal, labeler.n_labels)
            if not lost:
                next_state = term.at(proposal.ravel(), labeler.n_labels)
                next_total = next_state.energy + labeler.boundary(proposal)
                if next_total < total - 1e-12 * abs(total):
                    break
            shift = 2 * shift if shift else 1 / 16
            if shift > _LARGEST_SHIFT:
                return Outcome(labels, state, tuple(trace), True, lost and len(trace) == 1)
        labels, state, total = proposal, next_state, next_total
        trace.append(total)
    return Outcome(labels, state, tuple(trace), False)


def _keep_best(term: Term, labeler: GridLabeler, labels, state, max_iter: int) -> Outcome:
    total = state.energy + labeler.boundary(labels)
    trace = [total]
    best = (total, labels, state)
    seen = {labels.tobytes()}
    for _ in range(max_iter):
        labels = labeler.improve(state.costs, labels)
        if _loses_label(labels, labeler.n_labels):
            return Outcome(best[1], best[2], tuple(trace), True, True)
        key = labels.tobytes()
        if key in seen:
            return Outcome(best[1], best[2], tuple(trace), True)
        seen.add(key)
        state = term.at(labels.ravel(), labeler.n_labels)
        total = state.energy + labeler.boundary(labels)
        trace.append(total)
        if total < best[0]:
            best = (total, labels, state)
    return Outcome(best[1], best[2], tuple(trace), False)


def _loses_label(labels: NDArray[np.integer], n_labels: int) -> bool:
    return not np.bincount(labels.ravel(), minlength=n_labels).all()
