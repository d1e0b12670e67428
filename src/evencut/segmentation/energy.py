r"""The kernel criterion as costs of single pixels at the current labelling, and the rounds that lower it by max-flow.

Average association, normalised cut and average cut go through their `RatioProblem`; the entropy criterion is the
probabilistic k-means of eq. 16 on kernel densities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..affinity import AffinityLike, as_affinity
from ..criteria import RatioProblem
from ..solvers.descent import Descent, bound_costs, descend
from .cuts import GridLabeler
from .grid import boundary_energy

_PRIOR_SHARE = 1 / 40


@dataclass(frozen=True, eq=False)
class TermState:
    """A criterion at one labelling.

    Parameters
    ----------
    energy : float
        Its value.
    costs : ndarray of shape (n_pixels, n_labels)
        Cost of each pixel for each label.
    shift : ndarray of shape (n_pixels, n_labels) or None
        What a diagonal shift of the mean association adds to the costs; None where no shift is needed.
    """

    energy: float
    costs: NDArray[np.float64]
    shift: NDArray[np.float64] | None = None

    def shifted(self, amount: float) -> NDArray[np.float64]:
        """The costs with so much of the diagonal shift."""
        return self.costs if self.shift is None or not amount else self.costs + amount * self.shift


class Term(Protocol):
    """What the rounds need to know of a criterion."""

    #: One unit of the boundary weight against which smoothness is measured.
    unit: float

    #: The weight of a nat of evidence about one pixel.
    nat: float

    def at(self, labels: NDArray[np.integer], n_labels: int) -> TermState:
        """The criterion at a labelling in which no label is empty."""


class RatioTerm:
    r"""Upper bound of a ratio problem at the labelling S.

    .. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

    It touches the energy at S, and lies above it everywhere else if M is positive semidefinite. Where M is not, a
    multiple of the weights on its diagonal repairs the bound and changes the energy by a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> RatioTerm(average_association(np.ones((4, 4)))).at(np.array([0, 0, 1, 1]), 2).energy
    -4.0
    """

    def __init__(self, problem: RatioProblem):
        self.problem = problem
        # Of everything: the mean degree for AA, one for NC, so that one smoothness fits both.
        self._association = float(problem.matrix.degrees().sum() / problem.weights.sum())
        self.unit = self._association / np.sqrt(len(problem.weights))
        self.nat = self._association / len(problem.weights)

    def at(self, labels: NDArray[np.integer], n_labels: int) -> TermState:
        """Energy, bound and diagonal shift."""
        problem = self.problem
        links, inside, weight = problem.cluster_links(labels, n_labels)
        shift = np.divide.outer(self._association * problem.weights, weight)
        shift[np.arange(len(labels)), labels] *= -1
        costs = bound_costs(links, problem.weights, inside, weight)
        return TermState(float(-np.sum(inside / weight)), costs, shift)


class EntropyTerm:
    r"""The entropy criterion on kernel densities (eqs 16, 17).

    .. math:: -\sum_k \sum_{p \in S_k} \log \frac{(A S_k)_p + \epsilon f_k}{|S_k|} + \sum_k b_k |S_k|,
        \qquad f_k = |S_k| / n

    The density of a label at a pixel is read off the affinity; :math:`\epsilon`, a fortieth of the mean degree, keeps
    the logarithm finite and says "no evidence" where a pixel has no neighbours of either label.

    Parameters
    ----------
    affinity : Affinity
    surcharge : tuple of float
        :math:`b_k`, what a pixel of each label pays beside its density.

    Examples
    --------
    >>> import numpy as np
    >>> state = EntropyTerm(np.kron(np.eye(2), np.ones((2, 2))), (0.0, 0.0)).at(np.array([0, 0, 1, 1]), 2)
    >>> bool((state.costs.argmin(axis=1) == [0, 0, 1, 1]).all())
    True
    """

    unit = 1.0
    nat = 1.0

    def __init__(self, affinity: AffinityLike, surcharge: tuple[float, ...]):
        self.affinity = as_affinity(affinity)
        self.degrees = self.affinity.degrees()
        self.surcharge = np.asarray(surcharge)
        self._prior = _PRIOR_SHARE * float(self.degrees.mean())

    def at(self, labels: NDArray[np.integer], n_labels: int) -> TermState:
        """Energy, and the costs at the densities of this labelling."""
        sizes = np.bincount(labels, minlength=n_labels).astype(float)
        if n_labels == 2:
            object_links = self.affinity @ (labels == 1).astype(np.float64)
            links = [self.degrees - object_links, object_links]
        else:
            links = list(self.affinity.links(labels, n_labels).T)
        costs = np.empty((len(labels), n_labels))
        for k, density in enumerate(links):
            # One array all the way: memory traffic is what this costs.
            np.maximum(density, 0, out=density)
            density += self._prior * sizes[k] / len(labels)
            density /= sizes[k]
            np.log(density, out=density)
            np.subtract(self.surcharge[k], density, out=costs[:, k])
        return TermState(_sum_of_own(costs, labels), costs)


class EvidenceTerm:
    """A criterion with evidence about single pixels from elsewhere, such as clicks.

    Parameters
    ----------
    term : Term
    evidence : ndarray of shape (n_pixels, n_labels)
        What a pixel pays for each label, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> plain = EntropyTerm(np.ones((2, 2)), (0.0, 0.0))
    >>> state = EvidenceTerm(plain, np.array([[0.0, 3.0], [0.0, 0.0]])).at(np.array([0, 1]), 2)
    >>> (state.costs - plain.at(np.array([0, 1]), 2).costs).tolist()
    [[0.0, 3.0], [0.0, 0.0]]
    """

    def __init__(self, term: Term, evidence: NDArray[np.float64]):
        self.term = term
        self.unit, self.nat = term.unit, term.nat
        self.evidence = evidence * term.nat

    def at(self, labels: NDArray[np.integer], n_labels: int) -> TermState:
        """The criterion with the evidence added to energy and costs."""
        state = self.term.at(labels, n_labels)
        own = _sum_of_own(self.evidence, labels)
        return TermState(state.energy + own, state.costs + self.evidence, state.shift)


def _sum_of_own(costs: NDArray[np.float64], labels: NDArray[np.integer]) -> float:
    """What the pixels pay for the labels they have."""
    if costs.shape[1] == 2:
        return float(np.where(labels == 1, costs[:, 1], costs[:, 0]).sum())
    return float(costs[np.arange(len(labels)), labels].sum())


@dataclass(frozen=True, eq=False)
class Round:
    """Labels of shape (height, width), their energy with the boundary, and the criterion at them."""

    labels: NDArray[np.int64]
    energy: float
    state: TermState


def minimize_energy(
    term: Term, labeler: GridLabeler, start: NDArray[np.integer], *, max_iter: int = 15
) -> Descent[Round]:
    """Lower criterion plus boundary from a start in which every label occurs.

    The energy of a ratio criterion never rises: a step that would raise it is repeated with a diagonal shift, doubled
    until it does not. The entropy criterion has no such bound; it keeps the best labelling it saw and stops when one
    comes back.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> from evencut.segmentation.energy import RatioTerm
    >>> blocks = np.kron(np.eye(2), np.ones((2, 2)))
    >>> labeler = GridLabeler(np.zeros((1, 4, 8)), np.full((1, 4), -1), 2)
    >>> minimize_energy(RatioTerm(average_association(blocks)), labeler, np.array([[0, 1, 1, 1]])).step.labels
    array([[0, 0, 1, 1]])
    """

    def at(labels: NDArray[np.int64], previous: Round | None = None) -> Round:
        state = term.at(labels.ravel(), labeler.n_labels)
        return Round(labels, state.energy + boundary_energy(labeler.weights, labels), state)

    def propose(step: Round, shift: float) -> NDArray[np.int64]:
        return np.asarray(labeler.improve(step.state.shifted(shift), step.labels), dtype=np.int64)

    first = at(np.asarray(start, dtype=np.int64))
    if first.state.shift is not None:
        return descend(first, propose, at, labeler.n_labels, max_iter=max_iter)
    best, step, trace, visited = first, first, [first.energy], {_key(first.labels)}
    for _ in range(max_iter):
        labels = propose(step, 0.0)
        if not np.bincount(labels.ravel(), minlength=labeler.n_labels).all():
            return Descent(best, tuple(trace), True, lost_label=True)
        key = _key(labels)
        if key in visited:
            return Descent(best, tuple(trace), True)
        visited.add(key)
        step = at(labels)
        trace.append(step.energy)
        if step.energy < best.energy:
            best = step
    return Descent(best, tuple(trace), False)


def _key(labels: NDArray[np.int64]) -> bytes:
    """The labels in few bytes, to know them again."""
    return labels.astype(np.int16).tobytes()
