"""One look at the columns before distances are taken: are they in units that can be compared?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tensors import array_namespace, beside, double, is_tensor, to_array
from .density import column_moments

__all__ = ["SCALES", "feature_scale"]

#: The ways of scaling by the names the estimators take.
SCALES = ("auto", "standard", None)

# Up to three columns are usually coordinates of one space; many columns with such spreads are a table of units.
_MOST_COORDINATES = 3
_SPREAD_OF_UNITS = 10.0


def feature_scale(
    X: Any, scale: str | None, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """What each column is divided by.

    Parameters
    ----------
    X : ndarray or tensor of shape (n_samples, n_features)
    scale : {"auto", "standard", None}
        `"standard"`: the standard deviation of the column (one where it is constant). `None`: one. `"auto"`:
        as standard where there are more than 3 columns and their deviations differ by more than 10 times,
        which tells a table of different units from coordinates; one otherwise.
    weights : ndarray of shape (n_samples,), optional
        How many rows each stands for.

    Examples
    --------
    >>> import numpy as np
    >>> feature_scale(np.array([[0.0, 0.0], [2.0, 200.0]]), "auto")
    array([1., 1.])
    >>> feature_scale(np.array([[0.0, 0.0], [2.0, 200.0]]), "standard")
    array([  1., 100.])
    """
    n_features = X.shape[1]
    if scale is None or (scale == "auto" and n_features <= _MOST_COORDINATES):
        return np.ones(n_features)
    deviation = _deviations(X, weights)
    varying = deviation > 0
    if scale == "auto" and (not varying.any() or deviation.max() <= _SPREAD_OF_UNITS * deviation[varying].min()):
        return np.ones(n_features)
    return np.where(varying, deviation, 1.0)


def _deviations(X: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Standard deviations of the columns, also where the squares of their values would leave the range of floats."""
    xp = array_namespace(X)
    low, high = (double(to_array(end)) for end in (xp.amin(X, axis=0), xp.amax(X, axis=0)))
    largest = np.maximum(abs(low), abs(high))
    unit = 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0)).clip(-1000, 1000))
    if not is_tensor(X):
        return np.sqrt(column_moments(X / unit, weights)[1]) * unit
    # Squares of usual values are held by double precision, and the table need not be copied.
    unusual = bool(((unit < 1e-100) | (unit > 1e100)).any())
    variance = column_moments(X / beside(X, unit) if unusual else X, weights)[1]
    # A column is constant also where its mean is rounded.
    return np.where(low == high, 0.0, np.sqrt(variance) * (unit if unusual else 1.0))
