"""The rounds of kernel cut: bound the criterion by costs of single pixels, minimise bound plus boundary, repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..solvers.descent import Descent, descend
from .moves import GridLabeler
from .terms import Term, TermState


@dataclass(frozen=True, eq=False)
class Round:
    """Labels of shape (height, width), their energy with the boundary, and the criterion at them."""

    labels: NDArray[np.int64]
    energy: float
    state: TermState


def minimize_energy(
    term: Term, labeler: GridLabeler, start: NDArray[np.integer], *, max_iter: int = 15, rest: float = 0.0
) -> Descent[Round]:
    """Lower criterion plus boundary from a start in which every label occurs.

    The energy of a ratio criterion never rises: a step that would raise it is repeated with a diagonal shift, doubled
    until it does not. The entropy criterion has no such bound; it keeps the best labelling it saw and stops when one
    comes back, or when a round would change no more than a share `rest` of the pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> from evencut.segmentation.terms import RatioTerm
    >>> blocks = np.kron(np.eye(2), np.ones((2, 2)))
    >>> labeler = GridLabeler(np.zeros((1, 4, 8)), np.full((1, 4), -1), 2)
    >>> minimize_energy(RatioTerm(average_association(blocks)), labeler, np.array([[0, 1, 1, 1]])).step.labels
    array([[0, 0, 1, 1]])
    """

    def at(labels: NDArray[np.int64], before: Round | None = None) -> Round:
        state = term.at(labels.ravel(), labeler.n_labels)
        return Round(labels, state.energy + labeler.boundary(labels), state)

    def propose(step: Round, shift: float) -> NDArray[np.int64]:
        return np.asarray(labeler.improve(step.state.shifted(shift), step.labels), dtype=np.int64)

    first = at(np.asarray(start, dtype=np.int64))
    if first.state.shift is not None:
        return descend(first, propose, at, labeler.n_labels, max_iter=max_iter)
    best, step, trace, seen = first, first, [first.energy], {_key(first.labels)}
    for _ in range(max_iter):
        labels = propose(step, 0.0)
        if not np.bincount(labels.ravel(), minlength=labeler.n_labels).all():
            return Descent(best, tuple(trace), True, lost_label=True)
        key = _key(labels)
        if key in seen or np.count_nonzero(labels != step.labels) <= rest * labels.size:
            return Descent(best, tuple(trace), True)
        seen.add(key)
        step = at(labels)
        trace.append(step.energy)
        if step.energy < best.energy:
            best = step
    return Descent(best, tuple(trace), False)


def _key(labels: NDArray[np.int64]) -> bytes:
    """The labels in few bytes, to know them again."""
    return labels.astype(np.int16).tobytes()
