r"""How many Gaussians explain the points, if any number of them does.

Of mixtures m of 1, 2, 3, ... Gaussians of several kinds (:mod:`evencut.selection.mixtures`) the one with the highest

.. math:: \operatorname{mean}_x \log m(x) - \frac{p \log n}{2 n} + \operatorname{mean}_x \max_k \log P(k | x)

(the integrated completed likelihood, p parameters) is taken: it describes the points well, with few numbers, and knows
which component each belongs to. What it misses is

.. math:: g_m - \operatorname{mean}_x \log\frac{m(x)}{\hat\rho(x)}

with :math:`\hat\rho` the density that neighbours show (:mod:`evencut.selection.centres`), which knows any shape but is
blurred, and :math:`g_m` the same mean over as many points drawn from the mixture itself: what it is where nothing is
missed but the blur. Where the points look as if drawn from it, the number of Gaussians is an answer. One even area is
no Gaussian, but no mixture splits it without doubt: there one is best, and misses little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .candidates import Neighborhoods, find_neighborhoods
from .centres import neighbor_log_density, sample_of
from .mixtures import KINDS, Mixture, fit_mixture, n_parameters

__all__ = ["Explanation", "explain_by_gaussians"]

# After how many numbers in a row that are no better the search ends.
_PATIENCE = 4
# With fewer points a parameter, enough Gaussians look like anything.
_POINTS_PER_PARAMETER = 30
# Nats a point that may be missed, and of one even area: of a line one Gaussian misses less.
_MISSED = 0.07
_MISSED_OF_AN_AREA = 0.2


class Explanation(NamedTuple):
    """The number of Gaussians, what they miss, in nats a point, and the points there are for each parameter."""

    n_clusters: int
    missed: float
    points_per_parameter: float

    @property
    def holds(self) -> bool:
        """Whether the points look as if drawn from so many Gaussians, and are enough to tell."""
        return abs(self.missed) <= _MISSED and self.points_per_parameter >= _POINTS_PER_PARAMETER

    @property
    def is_one(self) -> bool:
        """Whether the points are one Gaussian, or one even area."""
        return self.n_clusters == 1 and self.missed <= _MISSED_OF_AN_AREA


def explain_by_gaussians(
    neighborhoods: Neighborhoods, starts: Mapping[int, NDArray[np.integer]], rng: np.random.Generator
) -> Explanation | None:
    """The best mixture of Gaussians, fitted from the partition that `starts` has for each number.

    There is none where there are no coordinates, or too few points for the parameters of one Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import find_neighborhoods
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 300)
    >>> X = rng.normal(size=(600, 2)) + 5 * y[:, None]
    >>> explained = explain_by_gaussians(find_neighborhoods(X), {2: y}, rng)
    >>> explained.n_clusters, explained.holds
    (2, True)
    """
    if not neighborhoods.has_coordinates:
        return None
    X = neighborhoods.X - neighborhoods.X.mean(axis=0, dtype=np.float64)
    rows = sample_of(len(X), 1, rng)
    sample, mass = X[rows], neighborhoods.weights[rows] / neighborhoods.weights[rows].sum()
    of_rows = {1: np.zeros(len(rows), dtype=np.int64), **{k: start[rows] for k, start in starts.items()}}
    explained = [best for kind in KINDS if (best := _surest(sample, mass, of_rows, kind)) is not None]
    if not explained:
        return None
    mixture = max(explained, key=lambda valued: valued[0])[1]
    drawn = find_neighborhoods(mixture.draw(len(X), rng), n_jobs=neighborhoods.search.n_jobs)
    gain = mixture.predictive - float(mass @ neighbor_log_density(neighborhoods, rows))
    of_drawn = np.logaddexp.reduce(mixture.log_joint(drawn.X[rows]), axis=1) - neighbor_log_density(drawn, rows)
    return Explanation(len(mixture.size), float(of_drawn.mean()) - gain, len(X) / mixture.n_parameters)


def _surest(
    X: NDArray[np.float64], mass: NDArray[np.float64], starts: Mapping[int, NDArray[np.integer]], kind: str
) -> tuple[float, Mixture] | None:
    """The best mixture of one kind and its value, of 1, 2, ... Gaussians, until no more are better."""
    best: tuple[float, Mixture] | None = None
    for k, start in sorted(starts.items()):
        # With fewer than two points a parameter, enough Gaussians fit anything.
        if 2 * n_parameters(kind, k, X.shape[1]) > len(X):
            break
        mixture = fit_mixture(X, mass, start, k, kind)
        joint = mixture.log_joint(X)
        value = mixture.criterion - float(mass @ (np.logaddexp.reduce(joint, axis=1) - joint.max(axis=1)))
        if best is None or value > best[0]:
            best = value, mixture
        elif k >= len(best[1].size) + _PATIENCE:
            break
    return best
