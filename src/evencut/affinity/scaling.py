"""One look at the columns before distances are taken: are they in units that can be compared?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors import Floats, Mask, Places, array_namespace, beside, double, is_tensor, order_statistics, to_array
from .density import column_moments

#: The ways of scaling by the names the estimators take.
SCALES = ("auto", "standard", None)

# Columns with such spreads are in different units; coordinates of one space differ by less.
_SPREAD_OF_UNITS = 10.0
# A row with a value so many times farther from the median than this share of its column is far away, and no part of the
# deviations: it would decide on the units of all others. Where more than this share is, they are part of the data.
_FAR = 100.0
_USUAL = 0.9
_FAR_SHARE = 1e-3
# Rows that show what is usual.
_SAMPLE = 10_000


def feature_scale(
    X: Any, scale: str | None, weights: Floats | None = None
) -> Floats:
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
    if scale == "auto" and (not varying.any() or deviation.max() <= _SPREAD_OF_UNITS * deviation[varying].min()):
        return np.ones(n_features)
    return np.where(varying, deviation, 1.0)


def _usual_ranges(X: Any) -> tuple[Floats, Floats]:
    """From where to where values of each column are not far away, judged by a sample of evenly spaced rows."""
    # A quarter of each: what is added up may be no float.
    values = double(X[:: -(-len(X) // _SAMPLE)]) / 4
    n_rows = len(values)
    below, above = order_statistics(values, (n_rows - 1) // 2, n_rows // 2)
    middle = (below + above) / 2
    offset = abs(values - middle)
    middle, usual = to_array(middle), to_array(order_statistics(offset, int(_USUAL * (n_rows - 1)))[0]) + 0.0
    # Where a column has one value almost everywhere, what the others usually differ by; where nobody does, anything.
    for column in np.flatnonzero(usual == 0):
        others = to_array(offset[:, column])
        others = others[others > 0]
        usual[column] = np.median(others) if others.size else np.inf
    with np.errstate(over="ignore"):
        return 4 * (middle - _FAR * usual), 4 * (middle + _FAR * usual)


def _deviations(X: Any, weights: Floats | None) -> Floats:
    """Standard deviations of the columns, without a row far away."""
    far = far_rows(X)
    if far.size:
        near = np.delete(np.arange(len(X)), far)
        X, weights = X[beside(X, near)], None if weights is None else weights[near]
    return _all_deviations(X, weights)


def far_rows(X: Any) -> Places:
    """The rows far away: one, or one in a thousand, with a value a hundred times farther off than nine in ten.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> far_rows(X), far_rows(np.vstack([X, [1e6, 0]]))
    (array([], dtype=int64), array([50]))
    """
    low, high = _usual_ranges(X)
    least, most = _ends(X)
    outside = np.flatnonzero((least < low) | (most > high))
    some, low, high = X[:, beside(X, outside)], beside(X, low[outside]), beside(X, high[outside])
    far = np.flatnonzero(to_array(((some < low) | (some > high)).any(axis=1)))
    # Where there are more of them they are part of the data.
    return far if far.size <= max(1, _FAR_SHARE * len(X)) else far[:0]


def _ends(X: Any) -> tuple[Floats, Floats]:
    """The least and the largest value of each column."""
    xp = array_namespace(X)
    return double(to_array(xp.amin(X, axis=0))), double(to_array(xp.amax(X, axis=0)))


def _all_deviations(X: Any, weights: Floats | None) -> Floats:
    """Standard deviations of the columns, also where the squares of their values would leave the range of floats."""
    low, high = _ends(X)
    largest = np.maximum(abs(low), abs(high))
    unit = 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0)).clip(-1000, 1000))
    # The last digits depend on the order of the rows, and what is divided by them must not.
    return np.float64(np.float32(_exact_deviations(X, weights, low == high, unit) / unit)) * unit


def _exact_deviations(X: Any, weights: Floats | None, constant: Mask, unit: Floats) -> Floats:
    # Squares of usual values are held by double precision, and a tensor need not be copied.
    copied = not is_tensor(X) or bool(((unit < 1e-100) | (unit > 1e100)).any())
    variance = column_moments(X / beside(X, unit) if copied else X, weights)[1]
    # A column is constant also where its mean is rounded.
    return np.where(constant, 0.0, np.sqrt(variance) * (unit if copied else 1.0))
