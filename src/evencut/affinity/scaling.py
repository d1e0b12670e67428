"""One look at the columns before distances are taken: are they in units that can be compared?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCALES", "are_exceptions", "feature_scale", "sample_step", "scale_of_deviations", "usual_ranges"]

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
    X: NDArray[np.floating], scale: str | None, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """What each column is divided by.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
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
    return scale_of_deviations(lambda: _deviations(X, weights), scale, X.shape[1])


def scale_of_deviations(
    deviations: Callable[[], NDArray[np.float64]], scale: str | None, n_features: int
) -> NDArray[np.float64]:
    """The same from the standard deviations of the columns, which are asked for only where they matter.

    Examples
    --------
    >>> import numpy as np
    >>> scale_of_deviations(lambda: np.array([1.0, 100.0]), "standard", 2)
    array([  1., 100.])
    """
    if scale is None:
        return np.ones(n_features)
    deviation = deviations()
    varying = deviation > 0
    if scale == "auto" and (not varying.any() or deviation.max() <= _SPREAD_OF_UNITS * deviation[varying].min()):
        return np.ones(n_features)
    return np.where(varying, deviation, 1.0)


def usual_ranges(X: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """From where to where values of each column are not far away, judged by a sample of evenly spaced rows.

    Examples
    --------
    >>> import numpy as np
    >>> usual_ranges(np.append(np.arange(11.0), 1e9)[:, None])
    (array([-444.5]), array([455.5]))
    """
    # A quarter of each: what is added up may be no float.
    values = X[:: sample_step(len(X))].astype(np.float64) / 4
    middle = np.median(values, axis=0)
    offset = np.abs(values - middle)
    usual = np.quantile(offset, _USUAL, axis=0, method="lower")
    # Where a column has one value almost everywhere, what the others usually differ by; where nobody does, anything.
    for column in np.flatnonzero(usual == 0):
        others = offset[offset[:, column] > 0, column]
        usual[column] = np.median(others) if others.size else np.inf
    with np.errstate(over="ignore"):
        return 4 * (middle - _FAR * usual), 4 * (middle + _FAR * usual)


def are_exceptions(n_far: int, n_rows: int) -> bool:
    """Whether so many rows outside of the usual ranges are left out: one, or one in a thousand.

    Examples
    --------
    >>> are_exceptions(1, 50), are_exceptions(3, 2000)
    (True, False)
    """
    return 0 < n_far <= max(1, _FAR_SHARE * n_rows)


def sample_step(n_rows: int) -> int:
    """Every so many rows are looked at.

    Examples
    --------
    >>> sample_step(25_000)
    3
    """
    return -(-n_rows // _SAMPLE)


def _deviations(X: NDArray[np.floating], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Standard deviations of the columns, without a row far away."""
    low, high = usual_ranges(X)
    outside = np.flatnonzero((X.min(axis=0) < low) | (X.max(axis=0) > high))
    far = ((X[:, outside] < low[outside]) | (X[:, outside] > high[outside])).any(axis=1)
    if are_exceptions(int(far.sum()), len(X)):
        X, weights = X[~far], None if weights is None else weights[~far]
    return _all_deviations(X, weights)


def _all_deviations(X: NDArray[np.floating], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Standard deviations of the columns, also where the squares of their values would leave the range of floats."""
    largest = np.abs(X).max(axis=0).astype(np.float64)
    unit = 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0)).clip(-1000, 1000))
    values = X / unit
    mean = np.average(values, axis=0, weights=weights)
    deviation = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))
    # The last digits depend on the order of the rows, and what is divided by them must not.
    return deviation.astype(np.float32).astype(np.float64) * unit
