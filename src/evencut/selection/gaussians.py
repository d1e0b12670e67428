r"""How many Gaussians explain the points, if any number of them does.

Of mixtures of 1, 2, 3, ... Gaussians the one with the highest Bayesian information criterion is taken. What it misses
is

.. math:: D = \operatorname{mean}_p \log\frac{\hat\rho(p)}{m(p)}

with m the density of the mixture and :math:`\hat\rho` the density that the nearest neighbours show: an estimate of the
relative entropy between the points and the mixture. As many points drawn from the mixture itself tell what D is where
nothing is missed: the blur of that density. Only where D is no larger, where the blur is small, and where most points
know their component, is the number an answer.

One even area is no Gaussian, but no mixture splits it without doubt: with the doubts subtracted too,

.. math:: \operatorname{mean}_x \log m(x) - \frac{p \log n}{2 n} + \operatorname{mean}_x \max_k \log P(k | x)

(the integrated completed likelihood, p parameters) one Gaussian is best, and misses little of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from ..affinity import NeighborSearch
from .candidates import Neighborhoods
from .centres import neighbor_log_density, sample_of
from .mixtures import KINDS, Mixture, fit_mixture, n_parameters

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
# Nats a point that one Gaussian may miss of one even area: of a line or a box it misses less.
_MISSED_OF_AN_AREA = 0.2


class Explanation(NamedTuple):
    """The mixture with the best criterion: its number, and in nats a point what it misses and what neighbours blur.

    The sureness is the mean probability of the component that each point belongs to most. All but `is_one` are not
    numbers where dimensions are many or points few.
    """

    n_clusters: int
    missed: float
    blur: float
    sureness: float
    is_one: bool

    @property
    def holds(self) -> bool:
        """Whether the points look as if drawn from the mixture, and its components as if they were clusters."""
        return self.missed <= _MISSED and abs(self.blur) <= _BLUR and self.sureness >= _SURE


def explain_by_gaussians(
    around: Neighborhoods, starts: Mapping[int, NDArray[np.integer]], rng: np.random.Generator
) -> Explanation | None:
    """The best mixture of Gaussians, fitted from the partition that `starts` has for each number.

    There is none where there are no coordinates, or too few points for the parameters of one Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import look_around
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> X = rng.normal(size=(600, 2)) + 5 * y[:, None]
    >>> explain_by_gaussians(look_around(X), {2: y}, rng)
    Explanation(n_clusters=2, missed=..., blur=..., sureness=0.99..., is_one=False)
    """
    if not around.has_coordinates:
        return None
    X = around.X - around.X.mean(axis=0, dtype=np.float64)
    rows = sample_of(len(X), 1, rng)
    sample, mass = X[rows], around.weights[rows] / around.weights[rows].sum()
    of_rows = {1: np.zeros(len(rows), dtype=np.int64), **{k: start[rows] for k, start in starts.items()}}
    explained = [best for kind in KINDS if (best := _best_mixtures(sample, mass, of_rows, kind)) is not None]
    if not explained:
        return None
    surest = max((best.surest for best in explained), key=lambda valued: valued[0])[1]
    gain = surest.predictive - float(mass @ neighbor_log_density(around, rows))
    is_one = len(surest.size) == 1 and gain >= -_MISSED_OF_AN_AREA
    likeliest = explained[0].likeliest[1]
    few = len(X) < _POINTS_PER_PARAMETER * likeliest.n_parameters or len(X) <= _NEIGHBORS
    if likeliest.kind != KINDS[0] or X.shape[1] > _MOST_FEATURES or few:
        return Explanation(len(likeliest.size), np.nan, np.nan, np.nan, is_one)
    seen = _relative_entropy(X, around.weights, around.distances, around.indices, likeliest)
    drawn = likeliest.draw(len(X), rng)
    away, near = NeighborSearch(drawn, n_jobs=around.search.n_jobs).query_self(_NEIGHBORS + 1)
    blur = _relative_entropy(drawn, np.ones(len(drawn)), away, near, likeliest)
    sureness = _sureness(X, around.weights, likeliest)
    return Explanation(len(likeliest.size), seen - blur, blur, sureness, is_one)


class _Best(NamedTuple):
    """The mixtures of one kind with the best criteria, and these: without doubts, and with doubts subtracted."""

    likeliest: tuple[float, Mixture]
    surest: tuple[float, Mixture]


def _best_mixtures(
    X: NDArray[np.float64], mass: NDArray[np.float64], starts: Mapping[int, NDArray[np.integer]], kind: str
) -> _Best | None:
    """Mixtures of 1, 2, ... Gaussians of one kind, until no more are better; none where points are too few for one."""
    best = None
    for k in range(1, _MOST_GAUSSIANS + 1):
        # With fewer than two points a parameter, enough Gaussians fit anything.
        if k not in starts or 2 * n_parameters(kind, k, X.shape[1]) > len(X):
            break
        mixture = fit_mixture(X, mass, starts[k], k, kind)
        value = mixture.criterion
        joint = mixture.log_joint(X)
        doubt = float(mass @ (np.logaddexp.reduce(joint, axis=1) - joint.max(axis=1)))
        here = _Best((value, mixture), (value - doubt, mixture))
        best = here if best is None else _Best(*(max(old, new, key=lambda one: one[0]) for old, new in zip(best, here)))
        if k >= max(len(valued[1].size) for valued in best) + _PATIENCE:
            break
    return best


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
