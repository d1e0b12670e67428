r"""Coordinate systems of a table: what a distance between two rows means is a choice like any other.

As the columns come; at one deviation each; or in ranks, every column turned into normal scores

.. math:: z_p = \Phi^{-1}\left(F(x_p)\right)

with F the share of the weight below a value, half of its own included. Ranks even out the density of each column, as
an adaptive kernel does for all of them together: neither units nor long tails matter. They are compared from four
columns on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..tensors import AnyFloats, Floats, array_namespace, beside, double, is_tensor, to_array
from .magnitude import SMALLEST

__all__ = ["GIVEN", "ONE_DEVIATION", "RANKS", "CoordinateSystem", "coordinate_systems"]

#: The names of the systems.
GIVEN, ONE_DEVIATION, RANKS = "as given", "one deviation", "ranks"

# Columns whose lengths differ by less are in one unit already, and two systems are one.
_ONE_UNIT = 2.0
# Up to three columns are usually coordinates of one space, whose shapes ranks would bend.
_MOST_COORDINATES = 3


@dataclass(frozen=True, eq=False)
class CoordinateSystem:
    """How points become the points that distances are taken between.

    Parameters
    ----------
    name : str
        `"as given"`, `"one deviation"` or `"ranks"`.
    votes : int
        How many systems it stands for; two where the columns come in one unit, or cannot be compared as given.
    factor : ndarray of shape (n_features,), optional
        What columns are multiplied by.
    values, scores : tuples of ndarrays, optional
        For each column, its distinct values in order and their normal scores.
    """

    name: str
    votes: int = 1
    factor: Floats | None = None
    values: tuple[Floats, ...] = ()
    scores: tuple[Floats, ...] = ()

    def __call__(self, X: Any) -> Any:
        """The points in this system; between known values ranks are interpolated."""
        if self.factor is not None:
            return X * beside(X, self.factor.astype(to_array(X[:0]).dtype))
        if not self.values:
            return X
        xp = array_namespace(X)
        columns = [_between(X[:, column], *known) for column, known in enumerate(zip(self.values, self.scores))]
        return xp.stack(columns, axis=1)


def coordinate_systems(X: AnyFloats, weights: Floats, units: Floats) -> list[CoordinateSystem]:
    """The systems of points whose columns have one deviation each: as given, as they are, and in ranks.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    weights : ndarray of shape (n,)
    units : ndarray of shape (n_features,)
        What the columns were divided by.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(9, 4))
    >>> [(s.name, s.votes) for s in coordinate_systems(X, np.ones(9), np.array([1.0, 1.0, 1.0, 1000.0]))]
    [('as given', 1), ('one deviation', 1), ('ranks', 1)]
    >>> [(s.name, s.votes) for s in coordinate_systems(X, np.ones(9), np.ones(4))]
    [('as given', 2), ('ranks', 1)]
    """
    # Relative to the largest, so that no value leaves the range of floats.
    given = units / units.max()
    varying = given[np.ptp(X, axis=0) > 0]
    if not varying.size or varying.max() <= _ONE_UNIT * varying.min():
        systems = [CoordinateSystem(GIVEN, votes=2, factor=given)]
    elif varying.min() < SMALLEST[X.dtype.itemsize]:
        # Beside so large a value as given all others are one point.
        systems = [CoordinateSystem(ONE_DEVIATION, votes=2)]
    else:
        systems = [CoordinateSystem(GIVEN, factor=given), CoordinateSystem(ONE_DEVIATION)]
    if X.shape[1] > _MOST_COORDINATES:
        values, scores = zip(*(_normal_scores(column, weights) for column in X.T))
        systems.append(CoordinateSystem(RANKS, values=values, scores=scores))
    return systems


def _between(column: Any, values: Floats, scores: Floats) -> Any:
    """The scores at some values, straight lines between those that are known and level beyond them."""
    if not is_tensor(column):
        return np.interp(column, values, scores).astype(column.dtype, copy=False)
    if len(values) == 1:
        return 0.0 * column + float(scores[0])
    xp, exact = array_namespace(column), double(column).contiguous()
    values, scores = beside(exact, values), beside(exact, scores)
    after = xp.searchsorted(values, exact).clip(1, len(values) - 1)
    low, high = values[after - 1], values[after]
    share = ((exact - low) / (high - low)).clip(0.0, 1.0)
    return xp.asarray(scores[after - 1] + share * (scores[after] - scores[after - 1]), dtype=column.dtype)


def _normal_scores(column: AnyFloats, weights: Floats) -> tuple[Floats, Floats]:
    """The distinct values of a column, in order, and their normal scores."""
    known, place = np.unique(column, return_inverse=True)
    mass = np.bincount(place, weights)
    return known.astype(np.float64), ndtri((np.cumsum(mass) - mass / 2) / mass.sum())
