"""A mixture of Gaussians of weighted points: the voter that knows overlapping blobs of any size and shape.

It is fitted on a sample where there are many points, since its few parameters need no more.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mixture", "fit_mixture", "mixture_labels", "mixture_sample"]

# Points a mixture is fitted on at most, and at most so many a component.
_SAMPLE = 2000
_SAMPLE_PER_CLUSTER = 60
_STEPS = 30
_TOLERANCE = 1e-3
# Share of the mean variance that is added to every variance: no component may shrink to a point or a line.
_FLOOR = 1e-5


def mixture_labels(
    X: NDArray[np.floating], weights: NDArray[np.floating], n_clusters: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Most likely component of each point under a mixture of `n_clusters` Gaussians, each with its own covariance.

    Where components have too few points for a covariance, only variances are fitted.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (90, 2)), rng.normal(9, 1, (10, 2))])
    >>> sorted(np.bincount(mixture_labels(X, np.ones(100), 2, rng)).tolist())
    [10, 90]
    """
    from sklearn.cluster import KMeans

    rows = mixture_sample(len(X), n_clusters, rng)
    # About the mean, where variances are not small differences of large squares.
    X = X - X.mean(axis=0, dtype=np.float64)
    sample, mass = X[rows], weights[rows] / weights[rows].sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct points than clusters leave some without any
        start = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31))).fit(sample, sample_weight=mass)
    return np.argmax(fit_mixture(sample, mass, start.labels_, n_clusters).log_joint(X), axis=1)


def mixture_sample(n_points: int, n_clusters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The points a mixture is fitted on, in their order: all, or as many as its parameters need."""
    n_sample = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    return np.sort(rng.choice(n_points, n_sample, replace=False)) if n_points > n_sample else np.arange(n_points)


class Mixture(NamedTuple):
    """A mixture of Gaussians: weights, means, and Cholesky factors of the covariances, or standard deviations."""

    size: NDArray[np.float64]
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    log_likelihood: float

    @property
    def n_parameters(self) -> int:
        """How many numbers were fitted."""
        k, d = self.means.shape
        return k * (1 + d + (d if self.factors.ndim == 2 else d * (d + 1) // 2)) - 1

    def log_joint(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Logarithm of the weight of each component times its density at each point."""
        return _log_joint(X, self.size, self.means, self.factors) - X.shape[1] / 2 * np.log(2 * np.pi)

    def draw(self, n_points: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Points drawn from the mixture."""
        component = rng.choice(len(self.size), n_points, p=self.size / self.size.sum())
        noise, factor = rng.normal(size=(n_points, self.means.shape[1])), self.factors[component]
        away = noise * factor if factor.ndim == 2 else np.einsum("pij,pj->pi", factor, noise)
        return self.means[component] + away


def fit_mixture(
    X: NDArray[np.floating], mass: NDArray[np.float64], start: NDArray[np.integer], n_clusters: int
) -> Mixture:
    """A mixture fitted by expectation and maximisation from a partition; `mass` sums to one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.zeros(3), np.ones(1)])[:, None] + [[0.0], [0.1], [0.2], [0.1]]
    >>> fit_mixture(X, np.full(4, 0.25), np.array([0, 0, 0, 1]), 2).size.round(2)
    array([0.75, 0.25])
    """
    share = np.zeros((len(X), n_clusters))
    share[np.arange(len(X)), start] = 1.0
    diagonal_only = len(X) < n_clusters * X.shape[1] * (X.shape[1] + 3)
    floor = _FLOOR * max(float(np.average(np.var(X, axis=0))), np.finfo(float).tiny)
    before = -np.inf
    for _ in range(_STEPS):
        parts = _fitted(X, mass[:, None] * share, floor, diagonal_only)
        joint = _log_joint(X, *parts)
        highest = joint.max(axis=1, keepdims=True)
        share = np.exp(joint - highest)
        total = share.sum(axis=1, keepdims=True)
        share /= total
        likelihood = float(mass @ (highest + np.log(total))[:, 0])
        if likelihood - before < _TOLERANCE:
            break
        before = likelihood
    return Mixture(*parts, likelihood - X.shape[1] / 2 * np.log(2 * np.pi))


def _fitted(
    X: NDArray[np.floating], share: NDArray[np.float64], floor: float, diagonal_only: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weights, means and Cholesky factors of the covariances, or standard deviations where these are all."""
    from ._mixture_loops import covariance_factors

    size = share.sum(axis=0) + 1e-12
    means = share.T @ X / size[:, None]
    if diagonal_only:
        variance = share.T @ X**2 / size[:, None] - means**2
        return size, means, np.sqrt(np.maximum(variance, 0) + floor)
    return size, means, covariance_factors(X, share, size, means, floor)


def _log_joint(
    X: NDArray[np.floating], size: NDArray[np.float64], means: NDArray[np.float64], factors: NDArray[np.float64]
) -> NDArray[np.float64]:
    from ._mixture_loops import log_joint_of_factors

    if factors.ndim == 2:
        # Two products for all components: in high dimension the cost is theirs.
        precision = factors**-2
        squared = X**2 @ precision.T - 2 * (X @ (means * precision).T) + np.sum(means**2 * precision, axis=1)
        return np.log(size) - np.log(factors).sum(axis=1) - 0.5 * squared
    return log_joint_of_factors(X, size, means, factors)
