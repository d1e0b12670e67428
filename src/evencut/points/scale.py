r"""How columns are compared: their scales, extreme rows, and coordinate systems.

Coordinate systems of a table: what a distance between two rows means is a choice like any other.

As the columns come; at one deviation each; or in ranks, every column turned into normal scores

.. math:: z_p = \Phi^{-1}\left(F(x_p)\right)

with F the share of the weight below a value, half of its own included. Ranks even out the density of each column, as
an adaptive kernel does for all of them together: neither units nor long tails matter. They are compared from four
columns on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from .. import tensors
from ..neighbors.float_range import SMALLEST, column_ends
from ..tensors import AnyFloats, Floats, Ints, Mask, Places

#: The ways of scaling by the names the estimators take.
SCALES = ("auto", "standard", None)
#: The names of the systems.
GIVEN, ONE_DEVIATION, RANKS, COMPONENTS = "as given", "one deviation", "ranks", "components"


def feature_scale(X: Any, scale: str | None, weights: Floats | None = None) -> Floats:
    """What each column is divided by.

    Parameters
    ----------
    X : ndarray or tensor of shape (n_samples, n_features)
    scale : {"auto", "standard", None}
        `"standard"`: the standard deviation of the column (one where it is constant), without a row that is a
        hundred times farther from the median than nine in ten (one, or one in a thousand). `None`: one. `"auto"`:
        as standard where the deviations of the columns differ by more than 10 times, which tells a table of different
        units from coordinates; one otherwise.
    weights : ndarray of shape (n_samples,), optional
        How many rows each stands for.

    Examples
    --------
    >>> import numpy as np
    >>> feature_scale(np.array([[0.0, 0.0], [2.0, 200.0]]), "auto")
    array([  1., 100.])
    >>> feature_scale(np.array([[0.0, 0.0], [2.0, 8.0]]), "auto")
    array([1., 1.])
    """
    n_features = X.shape[1]
    if scale is None:
        return np.ones(n_features)
    deviation = _deviations(X, weights)
    varying = deviation > 0
    # Columns in different units differ more than coordinates of one space.
    if scale == "auto" and (not varying.any() or deviation.max() <= 10.0 * deviation[varying].min()):
        return np.ones(n_features)
    return np.where(varying, deviation, 1.0)


def _usual_ranges(X: Any) -> tuple[Floats, Floats]:
    """The range outside which values of a column are extreme, from 10 000 evenly spaced rows.

    It reaches 100 times as far from the median as nine in ten values.
    """
    # A quarter of each, so that sums do not overflow.
    values = tensors.as_float64(X[:: -(-len(X) // 10_000)]) / 4
    n_rows = len(values)
    below, above = tensors.order_statistics(values, (n_rows - 1) // 2, n_rows // 2)
    middle = (below + above) / 2
    offset = abs(values - middle)
    (usual,) = tensors.order_statistics(offset, int(0.9 * (n_rows - 1)))
    middle, usual = tensors.to_array(middle), tensors.to_array(usual) + 0.0
    # If a column has one value almost everywhere: what the others usually differ by; if it is constant, any value.
    for column in np.flatnonzero(usual == 0):
        nonzero = tensors.to_array(offset[:, column])
        nonzero = nonzero[nonzero > 0]
        usual[column] = np.median(nonzero) if nonzero.size else np.inf
    with np.errstate(over="ignore"):
        return 4 * (middle - 100.0 * usual), 4 * (middle + 100.0 * usual)


def _deviations(X: Any, weights: Floats | None) -> Floats:
    """Standard deviations of the columns, without extreme rows: these would decide on the units of all others."""
    far = extreme_rows(X)
    if far.size:
        usual = np.delete(np.arange(len(X)), far)
        X, weights = X[tensors.asarray_like(X, usual)], None if weights is None else weights[usual]
    low, high = column_ends(X)
    largest = np.maximum(abs(low), abs(high))
    # A unit for each column, so that squares of its values stay within the range of floats.
    unit = 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0)).clip(-1000, 1000))
    # Squares of usual values are held by double precision, and a tensor need not be copied.
    is_rescaled = isinstance(X, np.ndarray) or bool(((unit < 1e-100) | (unit > 1e100)).any())
    if is_rescaled:
        X = X / (unit if isinstance(X, np.ndarray) else tensors.asarray_like(X, unit))
    variance = column_moments(X, weights)[1]
    # A column is constant also where its mean is rounded.
    deviation = np.where(low == high, 0.0, np.sqrt(variance) * (unit if is_rescaled else 1.0))
    # The last digits depend on the order of the rows, and what is divided by them must not.
    return np.float64(np.float32(deviation / unit)) * unit


def extreme_rows(X: Any) -> Places:
    """The rows far away: one, or one in a thousand, with a value a hundred times farther off than nine in ten.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> extreme_rows(X), extreme_rows(np.vstack([X, [1e6, 0]]))
    (array([], dtype=int64), array([50]))
    """
    low, high = _usual_ranges(X)
    lowest, highest = column_ends(X)
    outside = np.flatnonzero((lowest < low) | (highest > high))
    if not outside.size:
        return outside
    some, low, high = (tensors.asarray_like(X, values) for values in (outside, low[outside], high[outside]))
    some = X[:, some]
    far = np.flatnonzero(tensors.to_array(((some < low) | (some > high)).any(axis=1)))
    # More of them are part of the data.
    return far if far.size <= max(1, 1e-3 * len(X)) else far[:0]


def draw_in(X: AnyFloats) -> AnyFloats:
    """The rows with extreme ones drawn in towards the median, to half again the distance of the farthest other row.

    That is outside of all others, and too near to be split off before all clusters are found.

    Examples
    --------
    >>> import numpy as np
    >>> draw_in(np.array([[-1.0], [0.0], [1.0], [2.0], [1e9]])).ravel()
    array([-1.,  0.,  1.,  2.,  4.])
    """
    far = extreme_rows(X)
    if not far.size:
        return X
    centre = np.median(X, axis=0)
    offset = X - centre
    with np.errstate(over="ignore"):
        length = np.linalg.norm(offset, axis=1)
    reach = 1.5 * np.delete(length, far).max()
    far = far[length[far] > reach]
    # In two steps, since the length may leave the range of floats.
    unit = offset[far] / abs(offset[far]).max(axis=1)[:, None]
    drawn = X.copy()
    drawn[far] = centre + reach * unit / np.linalg.norm(unit, axis=1)[:, None]
    return drawn if reach > 0 else X


@dataclass(frozen=True, eq=False)
class CoordinateSystem:
    """How points become the points that distances are taken between.

    Parameters
    ----------
    name : str
        `"as given"`, `"one deviation"`, `"ranks"` or `"components"`.
    votes : int
        How many systems it stands for; two where the columns come in one unit, or cannot be compared as given.
    centre, factor : ndarrays of shape (n_features,), optional
        What is subtracted from the columns, and what they are then multiplied by.
    columns : ndarray of ints, optional
        The columns that vary; the others are left out.
    axes : ndarray of shape (n_columns, n_components), optional
        What those are projected on.
    values, scores : tuples of ndarrays, optional
        For each column, its distinct values in order and their normal scores.
    step : float
        Coordinates are rounded to multiples of this: a unit, a shift or a float32 changes them in the last digits, and
        neighbours at equal distances would change with these.
    """

    name: str
    votes: int = 1
    centre: Floats | None = None
    factor: Floats | None = None
    columns: Ints | None = None
    axes: Floats | None = None
    values: tuple[Floats, ...] = ()
    scores: tuple[Floats, ...] = ()
    step: float = 0.0

    def __call__(self, X: Any) -> Any:
        """The points in this system; between known values ranks are interpolated."""
        is_array = isinstance(X, np.ndarray)
        xp = np if is_array else tensors.array_namespace(X)
        if self.values:
            columns = [_between(X[:, column], *known) for column, known in enumerate(zip(self.values, self.scores))]
            X = xp.stack(columns, axis=1)
        dtype = X.dtype if is_array else tensors.to_array(X[:0]).dtype

        def like(values: Any) -> Any:
            return values if is_array else tensors.asarray_like(X, values)

        if self.centre is not None and self.factor is not None:
            X = (X - like(self.centre.astype(dtype))) * like(self.factor.astype(dtype))
        if self.columns is not None:
            X = X[:, like(self.columns)]
        if self.axes is not None:
            X = X @ like(self.axes.astype(dtype))
        if not self.step:
            return X
        # Beyond two to the 52 steps a number has no digits to round.
        with np.errstate(over="ignore"):
            return xp.where(abs(X) < 2.0**52 * self.step, (X / self.step).round() * self.step, X)


def coordinate_systems(X: AnyFloats, weights: Floats, units: Floats) -> list[CoordinateSystem]:
    """The systems of points whose columns have one deviation each: as given, at one deviation, and in ranks.

    Where columns of two values are a tenth of those that vary or more, it is one system: principal components.

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
    columns = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if not columns.size:
        return [CoordinateSystem(GIVEN)]
    # An extreme row does not move the median, and rounding is relative to distances from it.
    centre = np.median(np.asarray(X, dtype=np.float64), axis=0)
    ones = np.ones(X.shape[1])
    binary = np.array([len(np.unique(column)) == 2 for column in X.T])
    if binary.sum() >= 0.1 * columns.size:
        return [_components(X, weights, centre, columns, binary)]
    # Relative to the largest, so that values stay within the range of floats.
    relative = units / units[columns].max()
    smallest = relative[columns].min()
    # Columns whose lengths differ by less are in one unit: two systems are one.
    if relative[columns].max() <= 2.0 * smallest:
        systems = [CoordinateSystem(GIVEN, 2, centre, relative, columns)]
    elif smallest < SMALLEST[X.dtype.itemsize]:
        # Beside so large a value as given all others are one point.
        systems = [CoordinateSystem(ONE_DEVIATION, 2, centre, ones, columns)]
    else:
        factors = {GIVEN: relative, ONE_DEVIATION: ones}
        systems = [CoordinateSystem(name, 1, centre, factor, columns) for name, factor in factors.items()]
    # Up to three columns are usually coordinates of one space, whose shapes ranks would bend.
    if columns.size > 3:
        values, scores = zip(*(_normal_scores(column, weights) for column in X.T))
        systems.append(CoordinateSystem(RANKS, columns=columns, values=values, scores=scores))
    return [_rounded(system, X) for system in systems]


def _rounded(system: CoordinateSystem, X: AnyFloats) -> CoordinateSystem:
    """The system with coordinates rounded to a small part of the median distance from the centre."""
    length = float(np.median(np.linalg.norm(system(X), axis=1)))
    # 16 bits: above the precision of a float32, below any distance that matters.
    return replace(system, step=2.0 ** (np.floor(np.log2(length)) - 16)) if length > 0 else system


def _components(X: AnyFloats, weights: Floats, centre: Floats, columns: Ints, binary: Mask) -> CoordinateSystem:
    """Columns of two values as 0 and 1, beside the others at one deviation; the principal axes above the mean variance.

    What one column says alone, wherever its two values are, falls below the mean; what several say together does not.
    """
    factor = np.where(binary, 1 / np.where(binary, np.ptp(X, axis=0), 1.0), 1.0)
    rows = ((X - centre) * factor)[:, columns]
    rows -= weights @ rows / weights.sum()
    variance, axes = np.linalg.eigh((rows * weights[:, None]).T @ rows / weights.sum())
    n_kept = max(int(np.sum(variance > variance[variance > 1e-9 * variance[-1]].mean())), 1)
    axes = axes[:, ::-1][:, :n_kept]
    # Of the two directions of an axis the same one, whatever the order of the columns.
    axes = axes * np.where(axes.sum(axis=0) < 0, -1.0, 1.0)
    return _rounded(CoordinateSystem(COMPONENTS, 1, centre, factor, columns, axes), X)


def _between(column: Any, values: Floats, scores: Floats) -> Any:
    """The scores at some values, straight lines between those that are known and level beyond them."""
    if isinstance(column, np.ndarray):
        return np.interp(column, values, scores).astype(column.dtype, copy=False)
    if len(values) == 1:
        return 0.0 * column + float(scores[0])
    xp, exact = tensors.array_namespace(column), tensors.as_float64(column).contiguous()
    values, scores = tensors.asarray_like(exact, values), tensors.asarray_like(exact, scores)
    above = xp.searchsorted(values, exact).clip(1, len(values) - 1)
    low, high = values[above - 1], values[above]
    share = ((exact - low) / (high - low)).clip(0.0, 1.0)
    return xp.asarray(scores[above - 1] + share * (scores[above] - scores[above - 1]), dtype=column.dtype)


def _normal_scores(column: AnyFloats, weights: Floats) -> tuple[Floats, Floats]:
    """The distinct values of a column, in order, and their normal scores."""
    known, place = np.unique(column, return_inverse=True)
    mass = np.bincount(place, weights)
    return known.astype(np.float64), ndtri((np.cumsum(mass) - mass / 2) / mass.sum())


def column_moments(X: Any, weights: Any = None) -> tuple[Floats, Floats]:
    """Weighted means and variances of the columns, in double precision; of tensors a block of rows at a time.

    Examples
    --------
    >>> column_moments(np.array([[0.0], [2.0]]))
    (array([1.]), array([1.]))
    """
    if isinstance(X, np.ndarray):
        mean = np.average(X, axis=0, weights=weights)
        return mean, np.average((X - mean) ** 2, axis=0, weights=weights)
    share = X.new_ones(len(X)) if weights is None else tensors.asarray_like(X, weights)
    size, shares = 1 << 16, tensors.as_float64(share) / tensors.as_float64(share).sum()
    blocks = list(zip(X.split(size), shares.split(size)))
    mean = sum(share_of_block @ tensors.as_float64(rows) for rows, share_of_block in blocks)
    variance = sum(share_of_block @ (tensors.as_float64(rows) - mean) ** 2 for rows, share_of_block in blocks)
    return tensors.to_array(mean), tensors.to_array(variance)
