r"""How many Gaussians explain the points, if any number of them does.

Of mixtures of 1, 2, 3, ... Gaussians the one with the highest Bayesian information criterion is taken. What it misses
is

.. math:: D = \operatorname{mean}_p \log\frac{\hat\rho(p)}{m(p)}

with m the density of the mixture and :math:`\hat\rho` the density that the nearest neighbours show: an estimate of the
relative entropy between the points and the mixture. As many points drawn from the mixture itself tell what D is where
nothing is missed: the blur of that density. Only where D is no larger, where the blur is small, and where most points
know their component, is the number an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from ..affinity import NeighborSearch, is_dense
from .candidates import Neighborhoods
from .mixtures import Mixture, fit_mixture, mixture_sample

__all__ = ["Explanation", "explain_by_gaussians"]

# Neighbours that show the density, and the dimension up to which they show that of a place.
_NEIGHBORS = 10
_MOST_FEATURES = 10
# The largest number tried, and after how many in a row that are no better the search ends.
_MOST_GAUSSIANS = 24
_PATIENCE = 4
# What may be missed and how much be blurred, in nats a point; how sure points must be of their component in the mean.
_MISSED = 0.02
_BLUR = 0.1
_SURE = 0.87
# With fewer points a parameter, enough Gaussians fit anything.
_POINTS_PER_PARAMETER = 30


class Explanation(NamedTuple):
    """The mixture with the best criterion: its number, and in nats a point what it misses and what neighbours blur.

    The sureness is the mean probability of the component that each point belongs to most.
    """

    n_clusters: int
    missed: float
    blur: float
    sureness: float

    @property
    def holds(self) -> bool:
        """Whether the points look as if drawn from the mixture, and its components as if they were clusters."""
        return self.missed <= _MISSED and abs(self.blur) <= _BLUR and self.sureness >= _SURE


def explain_by_gaussians(
    around: Neighborhoods, starts: Mapping[int, NDArray[np.integer]], rng: np.random.Generator
) -> Explanation | None:
    """The best mixture of Gaussians, fitted from the partition that `starts` has for each number; or none to trust.

    There is none where dimensions are many or points few.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import look_around
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> X = rng.normal(size=(600, 2)) + 5 * y[:, None]
    >>> explain_by_gaussians(look_around(X), {2: y}, rng)
    Explanation(n_clusters=2, missed=..., blur=..., sureness=0.99...)
    """
    if not is_dense(around.X) or around.X.shape[1] > _MOST_FEATURES or around.n_points <= _NEIGHBORS:
        return None
    X = around.X - around.X.mean(axis=0, dtype=np.float64)
    rows = mixture_sample(len(X), rng)
    sample, mass = X[rows], around.weights[rows] / around.weights[rows].sum()
    best, best_value, best_number = None, -np.inf, 0
    for k in range(1, _MOST_GAUSSIANS + 1):
        start = np.zeros(len(X), dtype=np.int64) if k == 1 else starts.get(k)
        if start is None or k > best_number + _PATIENCE:
            break
        mixture = fit_mixture(sample, mass, start[rows], k)
        value = mixture.log_likelihood - mixture.n_parameters * np.log(len(rows)) / (2 * len(rows))
        if value > best_value:
            best, best_value, best_number = mixture, value, k
    if best is None or len(X) < _POINTS_PER_PARAMETER * best.n_parameters:
        return None
    seen = _relative_entropy(X, around.weights, around.distances, around.indices, best)
    drawn = best.draw(len(X), rng)
    away, near = NeighborSearch(drawn, n_jobs=around.search.n_jobs).query_self(_NEIGHBORS + 1)
    blur = _relative_entropy(drawn, np.ones(len(drawn)), away, near, best)
    return Explanation(best_number, seen - blur, blur, _sureness(X, around.weights, best))


def _relative_entropy(
    X: NDArray[np.float64],
    weights: NDArray[np.float64],
    distances: NDArray[np.float64],
    indices: NDArray[np.integer],
    mixture: Mixture,
) -> float:
    d, radius = X.shape[1], distances[:, _NEIGHBORS]
    counted = radius > 0
    mass = weights[indices[:, 1 : _NEIGHBORS + 1]].sum(axis=1)[counted] / weights.sum()
    volume = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1) + d * np.log(radius[counted])
    seen = np.log(mass) + digamma(_NEIGHBORS) - np.log(_NEIGHBORS) - volume
    expected = np.logaddexp.reduce(mixture.log_joint(X[counted]), axis=1)
    return float(np.average(seen - expected, weights=weights[counted]))


def _sureness(X: NDArray[np.float64], weights: NDArray[np.float64], mixture: Mixture) -> float:
    joint = mixture.log_joint(X)
    most = np.exp(joint.max(axis=1) - np.logaddexp.reduce(joint, axis=1))
    return float(np.average(most, weights=weights))
