"""Every clustering criterion of the paper as one problem: a symmetric matrix M and positive weights w.

A criterion is an object: the `RatioProblem` it poses on an affinity, and the weight it gives a point. Solvers see
nothing but the problem; equalisation works for every criterion alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import tensors
from ._runtime import counted
from .affinity import Affinity, AffinityLike, as_affinity, density_law, equalizing_scale
from .affinity.matrix import LARGEST_SUM, SMALLEST_SUM, weighted
from .tensors import AnyFloats, AnyInts, Floats

__all__ = [
    "CRITERIA", "EQUALIZATIONS", "Criterion", "PosedProblem", "RatioProblem", "average_association", "average_cut",
    "energy", "normalized_cut", "normalized_cuts", "pose",
]  # fmt: skip

#: The ways of making the density even, by the names the estimators take.
EQUALIZATIONS = (None, "weights", "exact")


@dataclass(frozen=True, eq=False)
class RatioProblem:
    r"""Maximise the ratio association of a partition.

    .. math:: \max_S \sum_k \frac{M(S_k, S_k)}{w(S_k)}

    where M is `matrix` with `diagonal` added to its diagonal.

    Parameters
    ----------
    matrix : Affinity of shape (n, n)
        The symmetric part that links points; spectral starts are taken from it.
        :func:`evencut.affinity.as_affinity` makes one of an array, a tensor or a CSR array.
    weights : ndarray of shape (n,), or tensor beside the entries of an affinity on a device
        Positive point weights w.
    diagonal : ndarray of shape (n,), optional
        Added to the diagonal of `matrix`, kept apart so that a cut needs no second matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> average_association(np.ones((4, 4))).energy([0, 0, 1, 1])
    -4.0
    """

    matrix: Affinity
    weights: AnyFloats
    diagonal: AnyFloats | None = None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.weights)

    def associations(self, labels: AnyInts, n_clusters: int) -> tuple[Floats, Floats]:
        """M(S_k, S_k) and w(S_k) of each cluster."""
        inside = self.matrix.inside(labels, n_clusters)
        if self.diagonal is not None:
            inside += tensors.group_sums(self.diagonal, labels, n_clusters)
        return inside, tensors.group_sums(self.weights, labels, n_clusters)

    def cluster_links(
        self, labels: AnyInts, n_clusters: int, links: Floats | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Links of each point to each cluster, M(S_k, S_k) and w(S_k); `links` are those of `matrix`, if known."""
        links = self.matrix.links(labels, n_clusters) if links is None else links
        if self.diagonal is not None:
            links = links + tensors.one_hot(labels, n_clusters, self.diagonal)
        inside = tensors.group_sums(links[tensors.arange_like(labels), labels], labels, n_clusters)
        return links, inside, tensors.group_sums(self.weights, labels, n_clusters)

    def energy(self, labels: ArrayLike) -> float:
        """Minus the ratio association: the paper's sign and scale, lower is better."""
        first, codes = tensors.unique_first(self.matrix.asarray(labels))
        inside, weight = self.associations(codes, len(first))
        return float(-(inside / weight).sum())


class Criterion(ABC):
    """What is minimised: a map from an affinity and point weights to a `RatioProblem`; called, it poses the problem."""

    def __call__(self, affinity: AffinityLike, weights: ArrayLike | None = None) -> RatioProblem:
        """The problem on an affinity; weights count each point as that many copies of itself."""
        return self.problem(*weighted(affinity, weights))

    @abstractmethod
    def problem(self, matrix: Affinity, counts: Floats) -> RatioProblem:
        """The problem, given the entries w_p w_q A_pq and the weights w of the points."""

    def point_weight(self, degree: Floats) -> Floats:
        """The weight in the problem of new points whose affinities sum to `degree`: one, unless it is the degree."""
        return tensors.array_namespace(degree).ones_like(degree)


class _AverageAssociation(Criterion):
    r"""Average association, that is kernel k-means (eqs 6, 8, 9 and 39; with weights, eqs 41 and 42).

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} w_p w_q A_{pq}}{\sum_{p \in S_k} w_p}

    Examples
    --------
    >>> import numpy as np
    >>> average_association(np.eye(3)).energy([0, 0, 1])
    -2.0
    """

    def problem(self, matrix: Affinity, counts: Floats) -> RatioProblem:
        return RatioProblem(matrix, counts)


class _NormalizedCut(Criterion):
    r"""Normalised cut (eq. 10); weights count each point as that many copies of itself.

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p}, \qquad d_p = \sum_q A_{pq}

    The value is Shi and Malik's cut ratio minus the number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> normalized_cut(np.ones((4, 4))).energy([0, 0, 1, 1])
    -1.0
    """

    def problem(self, matrix: Affinity, counts: Floats) -> RatioProblem:
        return self.of_degrees(matrix, matrix.degrees())

    @staticmethod
    def of_degrees(matrix: Affinity, degree: Floats) -> RatioProblem:
        """The problem with the degrees known, which must be positive."""
        bad = out_of_range(degree)
        if len(bad):
            raise ValueError(
                f"normalized_cut needs positive degrees, but the affinities of point {int(bad[0])} sum to "
                f"{float(degree[bad[0]]):g} ({counted(len(bad), 'such point')}); use criterion='average_association', "
                "or keep the diagonal of a non-negative affinity."
            )
        return RatioProblem(matrix, degree)

    def point_weight(self, degree: Floats) -> Floats:
        """The degree."""
        return degree


class _AverageCut(Criterion):
    r"""Average cut, also called ratio cut (eq. 68, the right side).

    .. math:: \sum_k \frac{\sum_{p \in S_k, q \notin S_k} A_{pq}}{|S_k|}

    Examples
    --------
    >>> import numpy as np
    >>> average_cut(np.ones((4, 4))).energy([0, 0, 1, 1])
    4.0
    """

    def problem(self, matrix: Affinity, counts: Floats) -> RatioProblem:
        return RatioProblem(matrix, counts, -matrix.degrees())


average_association = _AverageAssociation()
normalized_cut = _NormalizedCut()
average_cut = _AverageCut()


def normalized_cuts(affinities: Sequence[AffinityLike], weights: Floats) -> list[RatioProblem]:
    """The normalised cut on each of several affinities of the same points.

    Examples
    --------
    >>> import numpy as np
    >>> [problem.energy([0, 0, 1, 1]) for problem in normalized_cuts([np.ones((4, 4)), 2 * np.eye(4)], np.ones(4))]
    [-1.0, -2.0]
    """
    weighed = [(matrix := weighted(affinity, weights)[0], matrix.degrees()) for affinity in affinities]
    return [_NormalizedCut.of_degrees(matrix, degree) for matrix, degree in weighed]


#: The criteria by the names the estimators take.
CRITERIA: dict[str, Criterion] = {
    "average_association": average_association,
    "normalized_cut": normalized_cut,
    "average_cut": average_cut,
}


@dataclass(frozen=True, eq=False)
class PosedProblem:
    """A criterion on an equalised affinity, with the weights and scale of the equalisation.

    Parameters
    ----------
    problem : RatioProblem
    criterion : Criterion
    weights : ndarray of shape (n,)
        Point weights: those given times adaptive weights; an array wherever the problem is.
    scale : ndarray of shape (n,)
        The scale of exact equalisation, ones without it.
    is_even : bool
        Whether all degrees were made equal; a new point is then scaled to the same degree.
    """

    problem: RatioProblem
    criterion: Criterion
    weights: Floats
    scale: Floats
    is_even: bool


def pose(
    affinity: AffinityLike, weights: Floats, criterion: str, equalize: str | None = None, *, tol: float = 1e-10
) -> PosedProblem:
    r"""The problem of a criterion, after equalisation of the density.

    Parameters
    ----------
    affinity : array, CSR array or affinity of shape (n, n)
    weights : ndarray of shape (n,)
        How many points each point stands for.
    criterion : str
        A name in :data:`CRITERIA`.
    equalize : {None, "weights", "exact"}
        `"weights"`: adaptive weights :math:`w_p = 1/\rho_p` (eq. 43), the density read off the degrees
        (eq. 67). `"exact"`: all degrees are made equal.
    tol : float
        Largest relative error of a degree that is made equal.

    Examples
    --------
    >>> import numpy as np
    >>> affinity = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    >>> cut = pose(affinity, np.ones(3), "normalized_cut", "exact").problem
    >>> association = pose(affinity, np.ones(3), "average_association", "exact").problem
    >>> bool(abs(cut.energy([0, 0, 1]) - association.energy([0, 0, 1])) < 1e-9)
    True
    """
    affinity = as_affinity(affinity)
    chosen, weights = CRITERIA[criterion], affinity.asarray(weights)
    scale = affinity.asarray(np.ones(affinity.shape[0]))
    if equalize == "exact":
        # Copies of a point share its scale: s_p sum_q w_q A_pq s_q = 1. The weights are then degrees too.
        scale = equalizing_scale(affinity, weights=weights, tol=tol) / weights
    elif equalize == "weights":
        weights = weights * _adaptive_weights(affinity, weights)
    problem = chosen(affinity.rescaled(scale), weights)
    return PosedProblem(problem, chosen, tensors.to_array(weights), tensors.to_array(scale), equalize == "exact")


def energy(
    affinity: AffinityLike, labels: ArrayLike, criterion: str = "normalized_cut", weights: ArrayLike | None = None
) -> float:
    """Energy of a labelling in the paper's sign and scale (eqs 9, 10, 42): lower is better.

    Examples
    --------
    >>> import numpy as np
    >>> energy(np.ones((4, 4)), [0, 0, 1, 1], criterion="average_cut")
    4.0
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {sorted(CRITERIA)}.")
    return CRITERIA[criterion](affinity, weights).energy(labels)


def out_of_range(sums: AnyFloats) -> AnyInts:
    """Places of the sums of affinities that are not positive, or cannot be squared.

    Examples
    --------
    >>> import numpy as np
    >>> out_of_range(np.array([1.0, 0.0, np.inf]))
    array([1, 2])
    """
    outside = ~((sums >= SMALLEST_SUM[8]) & (sums <= LARGEST_SUM[8]))
    return np.flatnonzero(outside) if isinstance(outside, np.ndarray) else outside.nonzero()[:, 0]


def _adaptive_weights(affinity: Affinity, weights: Floats) -> Floats:
    density = tensors.as_float64(affinity @ weights)
    if not (density > 0).all():
        raise ValueError(
            f"equalize='weights' reads densities off the degrees, and the smallest is {float(density.min()):g}; "
            "they must be positive, so use equalize=None for this affinity."
        )
    law = density_law(density, "constant", dimension=1)
    return law / law.mean()
