r"""Mixtures of Gaussians of weighted points: full covariances, one covariance for all, or variances alone.

How well a mixture with p parameters fitted on n points predicts a point that it has not seen is its mean
log-likelihood less :math:`p / (n - p - 1)` (Akaike's criterion for small samples).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "Mixture", "fit_mixture", "n_parameters"]

#: The kinds of covariance.
KINDS = ("full", "tied", "diagonal")

# Steps of expectation and maximisation, and the gain in nats a point below which they end.
_STEPS = 30
_TOLERANCE = 1e-3
# Share of the mean variance that is added to every variance: no component may shrink to a point or a line.
_FLOOR = 1e-3


class Mixture(NamedTuple):
    """A fitted mixture: weights and means of its components, and what their covariances are made of.

    Parameters
    ----------
    kind : str
    size : ndarray of shape (n_clusters,)
    means : ndarray of shape (n_clusters, n_features)
    factors : ndarray
        Cholesky factors of the covariances; of the one covariance; or standard deviations.
    log_likelihood : float
        Mean over the points it was fitted on.
    n_fitted : int
        How many these are.
    """

    kind: str
    size: NDArray[np.float64]
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    log_likelihood: float
    n_fitted: int

    @property
    def n_parameters(self) -> int:
        """How many numbers were fitted."""
        return n_parameters(self.kind, *self.means.shape)

    @property
    def predictive(self) -> float:
        """Mean log-likelihood of points that it was not fitted on, as the number of parameters lets expect."""
        n_free = self.n_parameters
        return self.log_likelihood - n_free / max(self.n_fitted - n_free - 1, 1)

    @property
    def criterion(self) -> float:
        """The Bayesian information criterion in nats a point, higher is better."""
        return self.log_likelihood - self.n_parameters * float(np.log(self.n_fitted)) / (2 * self.n_fitted)

    def log_joint(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Logarithm of the weight of each component times its density at each point."""
        constant = np.log(self.size) - X.shape[1] / 2 * np.log(2 * np.pi)
        return constant + _LOG_DENSITY[self.kind](X, self.means, self.factors)

    def draw(self, n_points: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Points drawn from it."""
        component = rng.choice(len(self.size), n_points, p=self.size / self.size.sum())
        noise = rng.normal(size=(n_points, self.means.shape[1]))
        if self.kind == "full":
            return self.means[component] + np.einsum("pij,pj->pi", self.factors[component], noise)
        return self.means[component] + (
            noise @ self.factors.T if self.kind == "tied" else noise * self.factors[component]
        )


def n_parameters(kind: str, n_clusters: int, n_features: int) -> int:
    """How many numbers a mixture of that kind has.

    Examples
    --------
    >>> n_parameters("full", 2, 3), n_parameters("tied", 2, 3), n_parameters("diagonal", 2, 3)
    (19, 13, 13)
    """
    each = n_features * (n_features + 1) // 2
    shape = {"full": n_clusters * each, "tied": each, "diagonal": n_clusters * n_features}[kind]
    return n_clusters - 1 + n_clusters * n_features + shape


def fit_mixture(
    X: NDArray[np.floating],
    mass: NDArray[np.float64],
    start: NDArray[np.integer] | Mixture,
    n_clusters: int,
    kind: str = "full",
    n_steps: int | None = None,
) -> Mixture:
    """A mixture fitted by expectation and maximisation from a partition or another mixture; `mass` sums to one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.zeros(3), np.ones(1)])[:, None] + [[0.0], [0.1], [0.2], [0.1]]
    >>> fit_mixture(X, np.full(4, 0.25), np.array([0, 0, 0, 1]), 2).size.round(2)
    array([0.75, 0.25])
    """
    if isinstance(start, Mixture):
        joint = start.log_joint(X)
        share = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    else:
        share = np.eye(n_clusters)[start]
    floor = _FLOOR * max(float(np.mean(np.var(X, axis=0))), np.finfo(float).tiny)
    before = -np.inf
    for _ in range(_STEPS if n_steps is None else n_steps):
        weighted = mass[:, None] * share
        size = weighted.sum(axis=0) + 1e-12
        means = weighted.T @ X / size[:, None]
        moments = _Moments(X, weighted, size, means, floor)
        mixture = Mixture(kind, size, means, _FACTORS[kind](moments), before, len(X))
        joint = mixture.log_joint(X)
        highest = joint.max(axis=1, keepdims=True)
        share = np.exp(joint - highest)
        total = share.sum(axis=1, keepdims=True)
        share /= total
        likelihood = float(mass @ (highest + np.log(total))[:, 0])
        if likelihood - before < _TOLERANCE:
            break
        before = likelihood
    return mixture._replace(log_likelihood=likelihood)


class _Moments(NamedTuple):
    """What covariances are fitted to: the points, their shares of each component, its size and mean, and the floor."""

    X: NDArray[np.floating]
    share: NDArray[np.float64]
    size: NDArray[np.float64]
    means: NDArray[np.float64]
    floor: float


def _full_factors(of: _Moments) -> NDArray[np.float64]:
    from ._mixture_loops import covariance_factors

    return covariance_factors(*of)


def _tied_factor(of: _Moments) -> NDArray[np.float64]:
    inside = (of.X * of.share.sum(axis=1)[:, None]).T @ of.X - (of.means * of.size[:, None]).T @ of.means
    # What rounding takes from a direction without any spread is given back.
    inside[np.diag_indices(len(inside))] += of.floor + 1e-12 * np.trace(inside)
    return np.linalg.cholesky(inside)


def _deviations(of: _Moments) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(of.share.T @ of.X**2 / of.size[:, None] - of.means**2, 0) + of.floor)


def _full_density(
    X: NDArray[np.floating], means: NDArray[np.float64], factors: NDArray[np.float64]
) -> NDArray[np.float64]:
    from ._mixture_loops import log_joint_of_factors

    return log_joint_of_factors(X, np.ones(len(means)), means, factors)


def _tied_density(
    X: NDArray[np.floating], means: NDArray[np.float64], factor: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.linalg import solve_triangular

    points, centres = (solve_triangular(factor, part.T, lower=True, check_finite=False).T for part in (X, means))
    squared = np.sum(points**2, axis=1)[:, None] - 2 * points @ centres.T + np.sum(centres**2, axis=1)
    return -np.log(np.diag(factor)).sum() - 0.5 * squared


def _diagonal_density(
    X: NDArray[np.floating], means: NDArray[np.float64], deviations: NDArray[np.float64]
) -> NDArray[np.float64]:
    # Two products for all components: in high dimension the cost is theirs.
    precision = deviations**-2
    squared = X**2 @ precision.T - 2 * (X @ (means * precision).T) + np.sum(means**2 * precision, axis=1)
    return -np.log(deviations).sum(axis=1) - 0.5 * squared


_FACTORS = {"full": _full_factors, "tied": _tied_factor, "diagonal": _deviations}
_LOG_DENSITY = {"full": _full_density, "tied": _tied_density, "diagonal": _diagonal_density}
