r"""How many Gaussians explain the points, if any number of them does.

Of mixtures of 1, 2, 3, ... Gaussians the one is taken whose likelihood, less what its p parameters and its doubts cost,

.. math:: \operatorname{mean}_x \log m(x) - \frac{p \log n}{2 n} + \operatorname{mean}_x \max_k \log P(k | x)

is highest (the integrated completed likelihood): components that overlap are no clusters. It is an answer where the
mixture predicts points at least as well as their neighbours do (:mod:`evencut.selection.centres`). Then one Gaussian
is one cluster, as are an even box and a ball, which no mixture splits without doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .candidates import Neighborhoods
from .centres import neighbor_log_density, sample_of
from .mixtures import KINDS, Mixture, fit_mixture, n_parameters

__all__ = ["Explanation", "explain_by_gaussians"]

# The largest number tried, and after how many in a row that are no better the search ends.
_MOST_GAUSSIANS = 24
_PATIENCE = 3
# Nats a point that one Gaussian may miss of one even area: of a line or a box it misses less.
_MISSED = 0.2


class Explanation(NamedTuple):
    """The mixture with the best criterion: its number, its kind, and in nats a point how much better it predicts."""

    n_clusters: int
    kind: str
    gain: float

    @property
    def holds(self) -> bool:
        """Whether the mixture predicts points at least as well as their neighbours do."""
        return self.gain >= 0.0

    @property
    def is_one(self) -> bool:
        """Whether no mixture is better than one Gaussian, which misses no more of the points than of an even area."""
        return self.n_clusters == 1 and self.gain >= -_MISSED


def explain_by_gaussians(
    around: Neighborhoods, starts: Mapping[int, NDArray[np.integer]], rng: np.random.Generator
) -> Explanation | None:
    """The best mixture of Gaussians, fitted from the partition that `starts` has for each number; or none to trust.

    There is none where there are no coordinates, or too few points for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import look_around
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> X = rng.normal(size=(600, 2)) + 5 * y[:, None]
    >>> explanation = explain_by_gaussians(look_around(X), {2: y}, rng)
    >>> explanation.n_clusters, explanation.holds
    (2, True)
    """
    if not around.has_coordinates:
        return None
    X = around.X - around.X.mean(axis=0, dtype=np.float64)
    rows = sample_of(len(X), 1, rng)
    sample, mass = X[rows], around.weights[rows] / around.weights[rows].sum()
    best, best_value = None, -np.inf
    for kind in KINDS:
        own_value, own_number = -np.inf, 0
        for k in range(1, _MOST_GAUSSIANS + 1):
            start = np.zeros(len(X), dtype=np.int64) if k == 1 else starts.get(k)
            # With fewer than two points a parameter, enough Gaussians fit anything.
            if start is None or k > own_number + _PATIENCE or 2 * n_parameters(kind, k, X.shape[1]) > len(rows):
                break
            mixture = fit_mixture(sample, mass, start[rows], k, kind)
            value = _completed_likelihood(mixture, sample, mass)
            if value > own_value:
                own_value, own_number = value, k
            if value > best_value:
                best, best_value = mixture, value
    if best is None:
        return None
    gain = best.predictive - float(mass @ neighbor_log_density(around, rows))
    return Explanation(len(best.size), best.kind, gain)


def _completed_likelihood(mixture: Mixture, X: NDArray[np.float64], mass: NDArray[np.float64]) -> float:
    joint = mixture.log_joint(X)
    doubt = float(mass @ (np.logaddexp.reduce(joint, axis=1) - joint.max(axis=1)))
    return mixture.log_likelihood - mixture.n_parameters * np.log(len(X)) / (2 * len(X)) - doubt
