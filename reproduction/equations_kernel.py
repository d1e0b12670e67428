"""Equations 1 to 19: k-means and kernel k-means, graph criteria, kernel densities, entropy and Gini criteria."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import entropy, multivariate_normal, norm

from evencut.affinity import parzen_density, scott_bandwidth
from evencut.criteria import average_association, energy
from evencut.estimators import ProbabilisticKMeans
from evencut.kernels import Gaussian
from evencut.neighbors import squared_distances
from evencut.tensors import Floats
from evencut.theory import entropy_criterion, gini_criterion, gini_impurity, kernel_pca, parzen_energy

from .equation_table import LABELS, POINTS, Checked, differ, exceed, matrix_of, points

_SIGMA = 0.8


# A kernel matrix, and points whose inner products it holds.
_KERNEL = matrix_of(Gaussian(_SIGMA), POINTS)
_PHI = kernel_pca(average_association(_KERNEL), len(POINTS))
# A discrete feature, and groups that have nothing to do with it.
_VALUES, _GROUPS = np.random.default_rng(0).integers(0, 8, 400), np.random.default_rng(1).integers(0, 3, 400)


def _means(phi: NDArray, labels: NDArray) -> Floats:
    return np.array([phi[labels == k].mean(axis=0) for k in range(3)])


def _squared_errors(phi: NDArray, labels: NDArray, means: NDArray) -> float:
    return float(np.sum((phi - means[labels]) ** 2))


def _inside(matrix: NDArray, labels: NDArray) -> Floats:
    """The sum of each cluster's entries, the slow way."""
    return np.array([matrix[np.ix_(labels == k, labels == k)].sum() for k in np.unique(labels)])


def eq_1() -> Checked:
    """The Gaussian kernel of one bandwidth."""
    return differ(matrix_of(Gaussian(_SIGMA), POINTS), np.exp(-squared_distances(POINTS) / (2 * _SIGMA**2)))


def eq_2() -> Checked:
    """The k-means criterion: squared distances to the means."""
    model = ProbabilisticKMeans(3, covariance="fixed", width=0.7, random_state=0).fit(POINTS)
    constant = POINTS.size * np.log(0.7 * np.sqrt(2 * np.pi))
    own = _squared_errors(POINTS, model.labels_, _means(POINTS, model.labels_))
    return differ(2 * 0.7**2 * (model.energy_ - constant), own)


def eq_3() -> Checked:
    """Kernel k-means is k-means in the space of the kernel."""
    value = _squared_errors(_PHI, LABELS, _means(_PHI, LABELS))
    return differ(value, np.trace(_KERNEL) + energy(_KERNEL, LABELS, "average_association"))


def eq_4() -> Checked:
    """The best parameters of clusters are their means there."""
    means, rng = _means(_PHI, LABELS), np.random.default_rng(1)
    lowest = _squared_errors(_PHI, LABELS, means)
    others = [_squared_errors(_PHI, LABELS, means + 0.01 * rng.normal(size=means.shape)) for _ in range(50)]
    return exceed(lowest, np.array(others))


def eq_5() -> Checked:
    """With the means put in, the energy depends on the partition alone."""
    # The least squares over all parameters, by regression on the indicators of the clusters.
    least = np.linalg.lstsq(np.eye(3)[LABELS], _PHI, rcond=None)[1].sum()
    return differ(least, np.trace(_KERNEL) + energy(_KERNEL, LABELS, "average_association"))


def eq_6() -> Checked:
    """It is a sum of inner products in clusters, up to a constant."""
    gram = _PHI @ _PHI.T
    pairs = -np.sum(_inside(gram, LABELS) / np.bincount(LABELS))
    return differ(_squared_errors(_PHI, LABELS, _means(_PHI, LABELS)) - np.trace(gram), pairs)


def eq_7() -> Checked:
    """A kernel is an inner product of embedded points."""
    return differ(_PHI @ _PHI.T, _KERNEL)


def eq_8() -> Checked:
    """The kernel k-means criterion by kernel values alone."""
    value = -np.sum(_inside(_KERNEL, LABELS) / np.bincount(LABELS))
    return differ(energy(_KERNEL, LABELS, "average_association"), value)


def eq_9() -> Checked:
    """Average association takes any affinity as its kernel."""
    improper = 1 - squared_distances(POINTS)
    value = energy(improper, LABELS, "average_association")
    return differ(value, -np.sum(_inside(improper, LABELS) / np.bincount(LABELS)))


def eq_10() -> Checked:
    """Normalised cut divides by the degrees."""
    value = -np.sum(_inside(_KERNEL, LABELS) / np.bincount(LABELS, _KERNEL.sum(axis=1)))
    return differ(energy(_KERNEL, LABELS, "normalized_cut"), value)


def eq_11() -> Checked:
    """Parzen's estimate of a density."""
    direct = [np.mean(multivariate_normal(x, _SIGMA**2).pdf(POINTS)) for x in POINTS]
    return differ(parzen_density(POINTS, _SIGMA), direct)


def eq_12() -> Checked:
    """A kernel of any bandwidth matrix that integrates to one."""
    matrix = np.array([[0.5, 0.2], [0.2, 0.3]])
    axis = np.linspace(-6, 6, 241)
    grid = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T
    total = parzen_density([[0.0, 0.0]], matrix, at=grid).sum() * (axis[1] - axis[0]) ** 2
    return differ(total, 1.0)


def eq_13() -> Checked:
    """The Gaussian profile."""
    t = np.linspace(0, 5, 40)[:, None]
    return differ(matrix_of(Gaussian(1.0), t)[0], norm.pdf(t[:, 0]) / norm.pdf(0))


def eq_14() -> Checked:
    """Scott's rule of thumb."""
    return differ(scott_bandwidth(POINTS), POINTS.std(axis=0, ddof=1) / len(POINTS) ** (1 / 6))


def eq_15() -> Checked:
    """Kernel k-means is minus the sum of the clusters' densities at their points."""
    normalized = matrix_of(Gaussian(_SIGMA), POINTS) / (2 * np.pi * _SIGMA**2)
    return differ(parzen_energy(POINTS, LABELS, _SIGMA), energy(normalized, LABELS, "average_association"))


def eq_16() -> Checked:
    """Probabilistic k-means: minus the log-likelihood of the points in clusters."""
    X, _, _ = points(200)
    model = ProbabilisticKMeans(3, random_state=0).fit(X)
    clusters = [X[model.labels_ == k] for k in range(3)]
    total = -sum(multivariate_normal(c.mean(axis=0), np.cov(c.T, bias=True)).logpdf(c).sum() for c in clusters)
    # The estimator adds a millionth of the data's variance to each cluster's.
    return differ(model.energy_, total, 1e-4)


def eq_17() -> Checked:
    """The entropy criterion."""
    entropies = [entropy(np.bincount(_VALUES[_GROUPS == k])) for k in range(3)]
    return differ(entropy_criterion(_VALUES, _GROUPS), np.bincount(_GROUPS) @ entropies)


def eq_18() -> Checked:
    """The discrete Gini criterion."""
    total = sum(np.sum(_GROUPS == k) * gini_impurity(np.bincount(_VALUES[_GROUPS == k])) for k in range(3))
    return differ(gini_criterion(_VALUES, _GROUPS), total)


def eq_19() -> Checked:
    """The Gini impurity of a histogram."""
    # The chance that two draws, with replacement, differ.
    return differ(gini_impurity(np.bincount(_VALUES)), np.mean(_VALUES[:, None] != _VALUES))
