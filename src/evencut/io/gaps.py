"""What is done about missing values: refuse them, leave their rows out, or fill them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import some
from ..tensors import AnyFloats, Floats, Mask, Places
from .errors import TableError

#: What may be done about missing values.
MISSING = ("error", "drop", "mean", "neighbors")

#: What was done about them, in words.
FILLED = {
    "mean": "filled with the mean",
    "drop": "left out with their rows",
    "neighbors": "filled from the nearest rows",
}

# Gaps are filled from so many rows, among at most so many that are kept.
_DONORS_ASKED = 10
_MOST_DONORS = 2000


def column_unit(values: AnyFloats) -> Floats:
    """A power of two near the largest value of each column: sums of values divided by it never overflow.

    Examples
    --------
    >>> column_unit(np.array([[3.0, 0.0], [-5.0, 0.0]]))
    array([4., 1.])
    """
    largest = np.nanmax(np.abs(values), axis=0, initial=0).astype(np.float64)
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def column_means(values: AnyFloats) -> Floats:
    """Means of the columns, over what is not missing.

    Examples
    --------
    >>> column_means(np.array([[1.0], [np.nan], [3.0]]))
    array([2.])
    """
    unit = column_unit(values)
    return np.nanmean(values / unit, axis=0, dtype=np.float64) * unit


def donor_rows(matrix: AnyFloats, missing: str) -> Floats | None:
    """Rows to fill gaps from: those that lack least, spread over the table.

    Examples
    --------
    >>> donor_rows(np.array([[1.0], [2.0]]), "neighbors").shape
    (2, 1)
    """
    if missing != "neighbors":
        return None
    lacking = np.isnan(matrix).sum(axis=1)
    order = np.argsort(lacking, kind="stable")[: max(_MOST_DONORS, int((lacking == 0).sum()))]
    chosen = order[np.linspace(0, len(order) - 1, min(len(order), _MOST_DONORS)).astype(int)]
    return np.asarray(matrix[np.sort(chosen)], dtype=np.float64)


def without_gaps(
    frame: Any,
    matrix: NDArray[Any],
    names: list[str],
    missing: str,
    like: Any,
    donors: Floats | None,
) -> tuple[NDArray[Any], Places, list[str]]:
    """The matrix without NaN, the rows left of it, and what to tell about it.

    Parameters
    ----------
    frame : Frame
    matrix : ndarray of shape (n_rows, n_columns)
    names : list of str
        Of its columns.
    missing : str
        One of `MISSING`.
    like : Preparation, optional
    donors : ndarray, optional
        As :func:`donor_rows` gives them.
    """
    every = np.arange(len(matrix))
    gaps = np.isnan(matrix)
    if not gaps.any():
        return matrix, every, []
    lacking = gaps.any(axis=1)
    empty = gaps.all(axis=0)
    if empty.any() and (missing == "drop" or like is None):
        name = names[int(empty.argmax())]
        raise TableError(f"{frame.source}: column {name!r} has no values at all; {frame.leave_out('others')}.")
    where = some([repr(names[i]) for i in np.flatnonzero(gaps.any(axis=0))])
    if missing == "error":
        row, column = np.argwhere(gaps)[0]
        raise TableError(
            f"{frame.place(int(row), names[column])} is missing ({lacking.sum()} of {len(matrix)} rows lack values); "
            'leave those rows out with missing="drop", or fill them with the mean of their column with '
            'missing="mean".'
        )
    if missing == "drop":
        if lacking.all():
            raise TableError(
                f"{frame.source}: every row lacks values, in columns {where}; choose other columns with columns=, or "
                'fill them with missing="mean".'
            )
        told = f"{lacking.sum()} of {len(matrix)} rows lack values in {where} and are left out"
        return matrix[~lacking], np.flatnonzero(~lacking), [told]
    if missing == "neighbors" and donors is not None:
        told = f"{gaps.sum()} missing values in {lacking.sum()} of {len(matrix)} rows were filled from the nearest rows"
        return _filled_from(donors, matrix, lacking), every, [told]
    filled = matrix.astype(matrix.dtype, copy=True)
    means = column_means(matrix) if like is None or like.means is None else np.asarray(like.means)
    for column in np.flatnonzero(gaps.any(axis=0)):
        filled[gaps[:, column], column] = means[column]
    told = f"{gaps.sum()} missing values in {lacking.sum()} of {len(matrix)} rows became the mean of {where}"
    return filled, every, [told]


def _filled_from(
    donors: Floats, matrix: NDArray[Any], lacking: Mask
) -> Floats:
    """Gaps filled with the mean of the rows that are nearest, compared over the columns that both have."""
    from sklearn.impute import KNNImputer

    filled = np.array(matrix, dtype=np.float64)
    by_neighbors = KNNImputer(n_neighbors=_DONORS_ASKED, keep_empty_features=True).fit(donors)
    filled[lacking] = by_neighbors.transform(filled[lacking])
    return filled
