r"""Mixtures of Gaussians of weighted points: full covariances, one covariance for all, or variances alone.

How well a mixture with p parameters fitted on n points predicts a point that it has not seen is its mean
log-likelihood less :math:`p / (n - p - 1)` (Akaike's criterion for small samples).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tensors import Floats, Ints
from .graphs import NeighborGraphs

__all__ = ["KINDS", "Mixture", "MixtureCandidates", "fit_mixture", "mixture_candidates", "n_parameters"]

#: The kinds of covariance.
KINDS = ("full", "tied", "diagonal")

# A mixture that predicts worse than the neighbours by this many nats per point has 1/e of the votes.
GAIN_SCALE = 0.025
# Points that mixtures are fitted to; as many per cluster, if that is more.
_SAMPLE, _SAMPLE_PER_CLUSTER = 2000, 50

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
        """Mean log-likelihood of points that it was not fitted on, as expected from the number of parameters."""
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
    previous = -np.inf
    for _ in range(_STEPS if n_steps is None else n_steps):
        weighted = mass[:, None] * share
        size = weighted.sum(axis=0) + 1e-12
        means = weighted.T @ X / size[:, None]
        moments = _Moments(X, weighted, size, means, floor)
        mixture = Mixture(kind, size, means, _FACTORS[kind](moments), previous, len(X))
        joint = mixture.log_joint(X)
        highest = joint.max(axis=1, keepdims=True)
        share = np.exp(joint - highest)
        total = share.sum(axis=1, keepdims=True)
        share /= total
        likelihood = float(mass @ (highest + np.log(total))[:, 0])
        # A component of few points changes the mean little.
        if likelihood - previous < _TOLERANCE * min(1.0, 100.0 * float(size.min())):
            break
        previous = likelihood
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

    points, centres = (solve_triangular(factor, rows.T, lower=True, check_finite=False).T for rows in (X, means))
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


class MixtureCandidates(NamedTuple):
    """Partitions by mixtures, how they share the votes of mixtures, and the gain from 0 to 1."""

    kinds: list[str]
    labels: list[Ints]
    shares: Floats
    gain: float


def mixture_candidates(
    graphs: NeighborGraphs, n_clusters: int, starts: Sequence[Ints], rng: np.random.Generator
) -> MixtureCandidates:
    """Mixtures of each kind of covariance with enough points, from the likeliest start.

    Parameters
    ----------
    graphs : NeighborGraphs
    n_clusters : int
    starts : sequence of ndarrays of shape (n_points,)
    rng : Generator

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> overlapping = rng.normal(size=(300, 2)) + 3 * (np.arange(300) % 2)[:, None]
    >>> angle = rng.uniform(0, 6.28, 300)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(300, 2))
    >>> start = [np.arange(300) % 2]
    >>> [round(mixture_candidates(NeighborGraphs.of(X), 2, start, rng).gain, 1) for X in (overlapping, ring)]
    [1.0, 0.0]
    """
    none = MixtureCandidates([], [], np.empty(0), 0.0)
    X = graphs.rows
    n_sample = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    sample = np.unique(np.linspace(0, len(X) - 1, min(len(X), n_sample)).astype(np.intp))
    kinds = [kind for kind in KINDS if 2 * n_parameters(kind, n_clusters, X.shape[1]) < len(sample)]
    sample_starts = [np.unique(start[sample], return_inverse=True)[1] for start in starts]
    sample_starts = [start for start in sample_starts if start.max() < n_clusters]
    if not kinds or not sample_starts:
        return none
    mass = graphs.weights[sample] / graphs.weights[sample].sum()
    by_neighbors = float(mass @ neighbor_log_density(graphs, sample))
    jittered = dequantize(X[sample], rng)
    # All kinds are special cases of the first: if it is far from likely enough, so are the others.
    if kinds[0] == "full":
        first = [fit_mixture(jittered, mass, start, n_clusters, n_steps=10) for start in sample_starts]
        highest = max(mixture.log_likelihood for mixture in first)
        if highest - by_neighbors < GAIN_SCALE * np.log(0.01):
            return none
    mixtures = [_likeliest(jittered, mass, sample_starts, n_clusters, kind) for kind in kinds]
    gains = np.array([mixture.predictive for mixture in mixtures]) - by_neighbors
    shares = np.exp((gains - gains.max()) / GAIN_SCALE)
    labels = [np.argmax(mixture.log_joint(X), axis=1) for mixture in mixtures]
    gain = float(np.exp(min(gains.max(), 0.0) / GAIN_SCALE))
    return MixtureCandidates(kinds, labels, shares / shares.sum(), gain)


def _likeliest(X: Floats, mass: Floats, starts: Sequence[Ints], n_clusters: int, kind: str) -> Mixture:
    """A mixture from the start that is likeliest after ten steps: after one it says little of the end."""
    first = [fit_mixture(X, mass, start, n_clusters, kind, n_steps=10) for start in starts]
    return fit_mixture(X, mass, max(first, key=lambda mixture: mixture.log_likelihood), n_clusters, kind)


def dequantize(X: Floats, rng: np.random.Generator) -> Floats:
    """Add uniform noise as wide as the median gap between the distinct values of each column.

    Otherwise the likelihood of a column with few values, such as yes and no, is unbounded and decides alone.

    Examples
    --------
    >>> import numpy as np
    >>> dequantize(np.array([[0.0], [1.0], [1.0]]), np.random.default_rng(0)).round(2).ravel()
    array([0.14, 0.77, 0.54])
    """
    gaps = [np.diff(np.unique(column)) for column in X.T]
    width = np.array([np.median(gap) if gap.size else 0.0 for gap in gaps])
    return np.asarray(X + width * (rng.random(X.shape) - 0.5))


def neighbor_log_density(graphs: NeighborGraphs, rows: NDArray[np.integer]) -> Floats:
    r"""Logarithm of the leave-one-out density at some points, with the bandwidth of highest likelihood.

    .. math:: \hat\rho(p) = \frac1W \sum_{q \ne p} w_q \, \mathcal N\left(p; q, c R_q^2\right)

    with :math:`R_q` the distance of q to its tenth neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> entropy = 0.5 * np.log(2 * np.pi * np.e)
    >>> bool(abs(neighbor_log_density(NeighborGraphs.of(X), np.arange(2000)).mean() + entropy) < 0.05)
    True
    """
    squared, neighbors = graphs.distances[rows, 1:] ** 2, graphs.indices[rows, 1:]
    n_features = graphs.rows.shape[1]
    radius = graphs.distances[:, min(10, graphs.distances.shape[1] - 1)]
    smallest = radius[radius > 0].min() if (radius > 0).any() else 1.0
    variance = (np.maximum(radius, smallest) ** 2 / n_features)[neighbors]
    prior = graphs.weights[neighbors] / graphs.weights.sum()
    log_peak = np.log(prior) - n_features / 2 * np.log(2 * np.pi * variance)
    densities = [
        np.logaddexp.reduce(log_peak - n_features / 2 * np.log(factor) - squared / (2 * factor * variance), axis=1)
        for factor in (0.25, 0.5, 1.0, 2.0, 4.0)
    ]
    return max(densities, key=lambda density: float(graphs.weights[rows] @ density))
