"""What every estimator and the diagnosis do to a table before distances are taken: scale it, and merge copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import limits
from .condensing import condense
from .distinct import DistinctPoints, distinct_points
from .magnitude import check_magnitude, exact_scale
from .neighbors import near_order
from .scaling import feature_scale

__all__ = ["PreparedPoints", "prepare"]


@dataclass(frozen=True, eq=False)
class PreparedPoints:
    """The points that are clustered, and how the rows of a table became them.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        Distinct, scaled, in an order that depends on their values alone.
    weights : ndarray of shape (n_points,)
        Weight of the rows that each stands for.
    of_row : ndarray of shape (n_rows,)
        The point of each row; -1 for rows of weight zero.
    first_row : ndarray of shape (n_points,)
        The first row of each point.
    feature_scale : ndarray of shape (n_features,)
        What the columns were divided by.
    """

    points: Any
    weights: NDArray[np.float64]
    of_row: NDArray[np.intp]
    first_row: NDArray[np.intp]
    feature_scale: NDArray[np.float64]

    @property
    def given_order(self) -> NDArray[np.intp]:
        """The points in the order of their first rows."""
        return np.argsort(self.first_row, kind="stable")

    def scaled(self, X: Any) -> Any:
        """New rows in the units of the points."""
        if np.all(self.feature_scale == 1):
            return X
        return (X / self.feature_scale).astype(X.dtype, copy=False)


def prepare(
    X: NDArray[np.floating],
    weights: NDArray[np.float64] | None = None,
    *,
    scale: str | None = "auto",
    has_units: bool = False,
    merge: bool = True,
    most: int | None = None,
    names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
) -> PreparedPoints:
    """The points of a table: rows of weight zero left out, columns scaled, copies merged.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    weights : ndarray of shape (n_rows,), optional
        How many rows each stands for; one by default.
    scale : {"auto", "standard", None}
        As in :func:`feature_scale`.
    has_units : bool
        Whether lengths have a meaning; otherwise a table of very large or small values is rescaled, exactly.
    merge : bool
        Whether copies become one point; otherwise every row stays as it is, in its order.
    most : int, optional
        More points than this are condensed to so many centres (:func:`condense`).
    names : sequence, optional
        Of the columns, for errors.
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> table = prepare(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]))
    >>> len(table.points), table.weights[table.of_row].tolist()
    (2, [2.0, 1.0, 2.0])
    """
    weights = np.ones(len(X)) if weights is None else weights
    kept = np.flatnonzero(weights > 0)
    rows, counts = (X, weights) if len(kept) == len(X) else (X[kept], weights[kept])
    divisor = feature_scale(rows, scale, counts)
    scaled = rows if np.all(divisor == 1) else (rows / divisor).astype(rows.dtype, copy=False)
    if has_units:
        check_magnitude(scaled, names)
    elif (unit := exact_scale(scaled, names)) != 1:
        divisor = divisor * unit
        scaled = (rows / divisor).astype(rows.dtype, copy=False)
    if merge:
        found = distinct_points(scaled, counts)
    else:
        found = DistinctPoints(scaled, counts, np.arange(len(scaled)), np.arange(len(scaled)))
    if most is not None:
        found = condense(found, most, n_jobs=n_jobs)
    if merge and len(found.points) > limits.MANY_POINTS:
        found = found.taken(near_order(found.points))
    of_row = np.full(len(X), -1, dtype=np.intp)
    of_row[kept] = found.of_row
    return PreparedPoints(found.points, found.weights, of_row, kept[found.first_row], divisor)
