"""The paper's theory, one function an equation: Gini and entropy criteria, Breiman's bias, density laws, inversion.

The functions are small on purpose: each has the shape of its formula and a test of the statement it stands for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..affinity import AffinityLike, degrees, parzen_density, scale_affinity, scott_bandwidth, silverman_bandwidth
from ..tensors import Floats, Ints

__all__ = [
    "breiman_split", "continuous_gini_criterion", "density_inversion", "density_inversion_minimum", "entropy_criterion",
    "gini_approximation", "gini_criterion", "gini_impurity", "gini_supremum", "mode_split", "modified_distances",
    "normalized_affinity", "parzen_energy", "sample_gini_criterion", "transformed_density",
]  # fmt: skip


# ---- criteria on discrete features (Section "Discrete Gini impurity and criterion") --------------------------


def gini_impurity(histogram: ArrayLike) -> float:
    r"""Gini impurity of a histogram (eq. 19).

    .. math:: G = 1 - \sum_l P(l)^2

    Examples
    --------
    >>> gini_impurity([1, 1])
    0.5
    """
    return float(1.0 - np.sum(_probabilities(histogram) ** 2))


def gini_criterion(features: ArrayLike, labels: ArrayLike) -> float:
    r"""Discrete Gini criterion of a clustering of discrete features (eq. 18); lower is better.

    .. math:: \sum_k |S^k| \cdot G(S^k)

    Parameters
    ----------
    features : array of shape (n_samples,)
        One discrete value for each point: numbers or strings.
    labels : array of shape (n_samples,)

    Examples
    --------
    >>> gini_criterion(["a", "a", "b", "c"], [0, 0, 1, 1])
    1.0
    """
    return float(sum(row.sum() * gini_impurity(row) for row in _histograms(features, labels)))


def entropy_criterion(features: ArrayLike, labels: ArrayLike) -> float:
    r"""Entropy criterion of a clustering of discrete features (eq. 17), in nats; lower is better.

    .. math:: \sum_k |S^k| \cdot H(S^k), \qquad H = -\sum_l P(l) \log P(l)

    Unlike the Gini criterion it prefers clusters of equal size.

    Examples
    --------
    >>> round(entropy_criterion(["a", "a", "b", "c"], [0, 0, 1, 1]), 4)
    1.3863
    """
    total = 0.0
    for row in _histograms(features, labels):
        counts = row[row > 0]
        total -= float(np.sum(counts * np.log(counts / row.sum())))
    return total


def breiman_split(histogram: ArrayLike) -> Ints:
    r"""The two clusters of feature values with the lowest Gini criterion (Theorem 1, Breiman).

    Cluster 1 holds the most frequent value, cluster 0 all others.

    Examples
    --------
    >>> breiman_split([2, 5, 3])
    array([0, 1, 0])
    """
    probabilities = _probabilities(histogram)
    if np.count_nonzero(probabilities) < 2:
        raise ValueError("histogram has fewer than 2 non-empty bins; a split into two clusters needs at least 2.")
    split = np.zeros(len(probabilities), dtype=np.int64)
    split[np.argmax(probabilities)] = 1
    return split


# ---- the continuous Gini criterion (Section "Breiman's bias") ------------------------------------------------


def continuous_gini_criterion(density: ArrayLike, labels: ArrayLike, cell: float = 1.0) -> float:
    r"""Continuous Gini criterion of a density on a grid (eq. 20); lower is better.

    .. math:: \sum_k w_k \Big(1 - \int \rho_k(x)^2 dx\Big), \qquad \rho_k = \rho\,[s = k] / w_k

    The inner difference is the impurity (eq. 21) of a conditional density (eq. 27). One minus its value is the
    objective L(s) of eqs 26, 28 and 29.

    Parameters
    ----------
    density : array of any shape
        Values of the density at the cells of a grid; they are scaled to integrate to one.
    labels : array of the same shape
        The assignment function s at the cells.
    cell : float, default=1.0
        Volume of one cell.

    Examples
    --------
    >>> continuous_gini_criterion([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1], cell=0.25)
    -1.0
    """
    values, codes = _grid(density, labels, cell)
    weight = np.bincount(codes, values) * cell
    square = np.bincount(codes, values**2) * cell
    filled = weight > 0
    return float(np.sum(weight[filled] - square[filled] / weight[filled]))


def gini_supremum(density: ArrayLike, cell: float = 1.0) -> float:
    r"""The supremum of one minus the Gini criterion over all two-cluster labellings (eq. 32).

    .. math:: \sup_s L(s) = E\rho + \sup_x \rho(x)

    No labelling exceeds it (eqs 30, 33 and 34), and that of :func:`mode_split` tends to it (eq. 38, Theorem 2).

    Examples
    --------
    >>> gini_supremum([1.0, 3.0], cell=0.5)
    2.75
    """
    values, _ = _grid(density, np.zeros(np.shape(density)), cell)
    return float(np.sum(values**2) * cell + values.max())


def mode_split(density: ArrayLike, epsilon: float) -> Ints:
    r"""The labelling :math:`s_\varepsilon`: 1 within epsilon of the highest density, 2 elsewhere (eq. 31).

    As epsilon falls, the mean density inside tends to the highest (eqs 36, 37), outside to that of all (eq. 35).

    Examples
    --------
    >>> mode_split([1.0, 3.0, 2.9], epsilon=0.2)
    array([2, 1, 1])
    """
    density = np.asarray(density, dtype=np.float64)
    if not epsilon >= 0:
        raise ValueError(f"epsilon={epsilon!r} must be zero or more.")
    return np.where(density >= density.max() - epsilon, 1, 2)


def sample_gini_criterion(X: ArrayLike, labels: ArrayLike, bandwidth: float | str | ArrayLike = "scott") -> float:
    r"""Continuous Gini criterion estimated from a sample, each cluster's density by Parzen (eq. 11).

    .. math:: \sum_k w_k \Big(1 - \frac1{|S^k|} \sum_{p \in S^k} P_\Sigma(f_p | S^k)\Big), \qquad w_k = |S^k|/n

    By Monte-Carlo (eq. 22) the inner mean estimates the integral of the squared density; so the
    criterion is one plus :func:`parzen_energy` over n.

    Examples
    --------
    >>> round(sample_gini_criterion([[0.0], [0.0], [9.0], [9.0]], [0, 0, 1, 1], bandwidth=1.0), 4)
    0.6011
    """
    return 1.0 + parzen_energy(X, labels, bandwidth) / len(np.asarray(labels))


def parzen_energy(X: ArrayLike, labels: ArrayLike, bandwidth: float | str | ArrayLike = "scott") -> float:
    r"""Kernel k-means with a Gaussian kernel, written with kernel densities (eq. 15).

    .. math:: F(S) = -\sum_k \sum_{p \in S^k} P_\Sigma(f_p | S^k)

    It is about the sum of the clusters' mean densities (eqs 23, 40), and equals average association (eq. 9) of
    the Gaussian kernel normalised as a density. A rule for the bandwidth is applied to all points, so every cluster
    has the same kernel.

    Examples
    --------
    >>> round(parzen_energy([[0.0], [0.0], [9.0], [9.0]], [0, 0, 1, 1], bandwidth=1.0), 4)
    -1.5958
    """
    X = np.asarray(X, dtype=np.float64)
    codes = _codes(labels, len(X))
    if isinstance(bandwidth, str):
        rules = {"scott": scott_bandwidth, "silverman": silverman_bandwidth}
        if bandwidth not in rules:
            raise ValueError(f"bandwidth={bandwidth!r} is not a rule; give a number, array or one of {sorted(rules)}.")
        bandwidth = rules[bandwidth](X)
    return float(-sum(parzen_density(X[codes == k], bandwidth).sum() for k in np.unique(codes)))


def gini_approximation(density: ArrayLike, labels: ArrayLike, n_samples: int, cell: float = 1.0) -> float:
    r"""What kernel k-means energy tends to for bandwidths good for density estimation (eq. 25).

    .. math:: F(S) \approx -\sum_k |S^k| \int \rho_k(x)^2 dx = n\,(\text{Gini criterion} - 1)

    Compare with :func:`parzen_energy` of `n_samples` points drawn from the density.

    Examples
    --------
    >>> gini_approximation([1.0, 1.0], [0, 1], n_samples=10, cell=0.5)
    -20.0
    """
    return float(n_samples * (continuous_gini_criterion(density, labels, cell) - 1.0))


# ---- density laws and inversion (Sections "Adaptive kernels" and "Normalization as density inversion") -------


def transformed_density(density: ArrayLike, metric: ArrayLike) -> Floats:
    r"""Density after the embedding implied by a metric tensor: the general density law (eq. 57).

    Ellipsoids of the tensor (eqs 52, 53) become balls that hold the same number of points (eq. 56).

    .. math:: \rho'_p = \rho_p \, |\det g_p|^{-1/2}

    For :math:`g_p = I/\sigma_p^2` in N dimensions it is :math:`\rho_p \sigma_p^N` (eq. 58).

    Parameters
    ----------
    density : array of shape (n_samples,)
    metric : array of shape (n_samples, n_features, n_features)
        The tensor at each point, symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> transformed_density([1.0, 3.0], np.array([[[1.0]], [[9.0]]]))
    array([1., 1.])
    """
    density = np.asarray(density, dtype=np.float64)
    metric = np.asarray(metric, dtype=np.float64)
    if metric.ndim != 3 or metric.shape[0] != density.shape[0] or metric.shape[1] != metric.shape[2]:
        raise ValueError(
            f"metric has shape {metric.shape}; {len(density)} points need a square matrix each, "
            f"that is ({len(density)}, n_features, n_features)."
        )
    sign, log_det = np.linalg.slogdet(metric)
    if not (sign > 0).all():
        raise ValueError("metric must hold positive definite matrices; use g_p = inverse of a covariance.")
    return density * np.exp(-0.5 * log_det)


def normalized_affinity(affinity: AffinityLike) -> Any:
    r"""The affinity that turns average association into normalised cut, with weights d (eq. 62).

    .. math:: \hat A_{pq} = \frac{A_{pq}}{d_p d_q}

    Examples
    --------
    >>> import numpy as np
    >>> normalized_affinity(np.ones((2, 2)))
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    return scale_affinity(affinity, 1.0 / _positive_degrees(affinity))


def modified_distances(squared_distances: ArrayLike, sigma: float) -> Floats:
    r"""Squared distances that a Gaussian kernel would turn into the normalised affinity (eq. 63).

    .. math:: \hat d^2_{pq} = d^2_{pq} + 2\sigma^2 \log (d_p d_q), \qquad
              d_p = \sum_q \exp\left(-\frac{d^2_{pq}}{2\sigma^2}\right)

    Examples
    --------
    >>> modified_distances([[0.0]], sigma=1.0)
    array([[0.]])
    """
    squared = np.asarray(squared_distances, dtype=np.float64)
    if not sigma > 0:
        raise ValueError(f"sigma={sigma!r} must be positive.")
    log_degree = np.log(np.exp(-squared / (2 * sigma**2)).sum(axis=1))
    return squared + 2 * sigma**2 * (log_degree[:, None] + log_degree)


def density_inversion(
    density: ArrayLike,
    *,
    embedding_dimension: float,
    offset: float = 1.0,
    sigma: float = 0.5,
    weighted: bool = True,
) -> Floats:
    r"""Density after the embedding implied by normalisation, with the degrees read as densities.

    .. math:: \bar\rho = \frac{\rho}{(\varepsilon^2 + h^2 + 4\sigma^2\log\rho)^{\bar N/2}}, \qquad
              \rho' = \rho\,\bar\rho

    The first is eq. 65 (kernel normalisation alone), the second, with point weights
    :math:`w_p = d_p`, is eq. 66: exactly what normalised cut does. A constant
    factor :math:`\varepsilon^N` is left out. In sparse regions both fall where the density rises.

    Parameters
    ----------
    density : array
        Node degrees :math:`d_p \propto \rho_p` (eq. 67), in units in which an isolated point has one.
    embedding_dimension : float
        :math:`\bar N`, up to the number of points.
    offset : float, default=1.0
        :math:`\varepsilon^2 + h^2`.
    sigma : float, default=0.5
        Bandwidth; the defaults give the paper's :math:`x/(1 + \log x)^{\bar N/2}`.
    weighted : bool, default=True
        With the point weights of normalised cut, or without.

    Examples
    --------
    >>> density_inversion([1.0, 50.0, 1000.0], embedding_dimension=20).round(5)
    array([1.00e+00, 3.10e-04, 1.05e-03])
    """
    density = np.asarray(density, dtype=np.float64)
    radius = offset + 4 * sigma**2 * np.log(density)
    if not (radius > 0).all():
        raise ValueError(
            f"the smallest density is {density.min():g}, where the embedded ball has no radius; densities must be "
            f"above {np.exp(-offset / (4 * sigma**2)):g} (a degree is at least 1), or raise offset."
        )
    return density ** (2 if weighted else 1) / radius ** (embedding_dimension / 2)


def density_inversion_minimum(
    *, embedding_dimension: float, offset: float = 1.0, sigma: float = 0.5, weighted: bool = True
) -> float:
    r"""The density below which :func:`density_inversion` falls as the density rises: where it is least.

    .. math:: x^* = \exp\left(\frac{\bar N}{2a} - \frac{\varepsilon^2 + h^2}{4\sigma^2}\right), \qquad
              a = 1, \text{ or } 2 \text{ with point weights}

    It grows exponentially with the dimension of the embedding.

    Examples
    --------
    >>> round(density_inversion_minimum(embedding_dimension=20, weighted=False))
    8103
    """
    power = 2 if weighted else 1
    return float(np.exp(embedding_dimension / (2 * power) - offset / (4 * sigma**2)))


def _positive_degrees(affinity: AffinityLike) -> Floats:
    degree = degrees(affinity)
    if not (degree > 0).all():
        raise ValueError(f"the smallest degree is {degree.min():g}; it must be positive: keep the diagonal.")
    return degree


def _probabilities(histogram: ArrayLike) -> Floats:
    counts = np.asarray(histogram, dtype=np.float64)
    if counts.ndim != 1 or not (counts >= 0).all() or not counts.sum() > 0:
        raise ValueError("histogram must be a list of counts, none negative and not all zero.")
    return counts / counts.sum()


def _codes(labels: ArrayLike, n_points: int) -> Ints:
    labels = np.asarray(labels)
    if labels.shape != (n_points,):
        raise ValueError(f"labels has shape {labels.shape}; it must have one entry for each of {n_points} points.")
    return np.unique(labels, return_inverse=True)[1]


def _histograms(features: ArrayLike, labels: ArrayLike) -> Ints:
    """A table of counts: one row a cluster, one column a feature value."""
    values = np.unique(np.asarray(features), return_inverse=True)[1]
    codes = _codes(labels, len(values))
    table = np.zeros((codes.max() + 1, values.max() + 1), dtype=np.int64)
    np.add.at(table, (codes, values), 1)
    return table


def _grid(density: ArrayLike, labels: ArrayLike, cell: float) -> tuple[Floats, Ints]:
    values, names = np.asarray(density, dtype=np.float64), np.asarray(labels)
    if names.shape != values.shape:
        raise ValueError(f"labels has shape {names.shape}, but the density's grid has {values.shape}.")
    if not (cell > 0 and np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
        raise ValueError("density must be finite, not negative and not all zero, and the volume of a cell positive.")
    codes = np.unique(names.ravel(), return_inverse=True)[1].astype(np.int64)
    return values.ravel() / (values.sum() * cell), codes
