"""One look at the columns before distances are taken: are they in units that can be compared?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCALES", "feature_scale", "scale_of_deviations"]

#: The ways of scaling by the names the estimators take.
SCALES = ("auto", "standard", None)

# Columns with such spreads are in different units; coordinates of one space differ by less.
_SPREAD_OF_UNITS = 10.0


def feature_scale(
    X: NDArray[np.floating], scale: str | None, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """What each column is divided by.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    scale : {"auto", "standard", None}
        `"standard"`: the standard deviation of the column (one where it is constant). `None`: one. `"auto"`:
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


def _deviations(X: NDArray[np.floating], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Standard deviations of the columns, also where the squares of their values would leave the range of floats."""
    largest = np.abs(X).max(axis=0).astype(np.float64)
    unit = 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0)).clip(-1000, 1000))
    values = X / unit
    mean = np.average(values, axis=0, weights=weights)
    deviation = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))
    # The last digits depend on the order of the rows, and what is divided by them must not.
    return deviation.astype(np.float32).astype(np.float64) * unit
