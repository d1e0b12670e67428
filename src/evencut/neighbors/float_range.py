"""The range of floats: tables rescaled so that they can be squared, checks that distances stay finite.

Compiled loops index by what they compare, so NaN would read out of bounds. Each error names the row, the pair or the
point, and the cure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..tensors import AnyFloats, Floats, Places, array_namespace, as_float64, to_array

# Squared distances stay well inside the range of floats while spans are below; single precision has less of a range.
_LARGEST = {8: 1e140, 4: 1e15}
#: Lengths below are lost in squares, by the bytes of a float.
SMALLEST = {8: 1e-130, 4: 1e-15}


def exact_scale(X: AnyFloats, names: Sequence[Any] | None = None, divisor: AnyFloats | None = None) -> float:
    """A power of two that brings the values into the range where squared distances can be computed; mostly one.

    Dividing by it is exact. Raises where no scale will do: where single values are so far from all others that the
    others would be one point: `divisor` is what the columns were divided by before, for the message.

    Examples
    --------
    >>> import numpy as np
    >>> exact_scale(np.array([[0.0], [1.0], [3.0]]))
    1.0
    >>> exact_scale(np.array([[0.0], [1e200], [3e200]])) > 1e100
    True
    """
    size = X.dtype.itemsize
    low, high = column_ends(X)
    # The widest span by halves, since a whole one may overflow.
    wide = min(2 * float((high / 2 - low / 2).max()), float(np.finfo(float).max))
    largest = float(max(np.abs(low).max(), np.abs(high).max()))
    if wide == 0 and largest > _LARGEST[size]:
        # All rows are one point; new ones are compared with it.
        return float(2.0 ** (np.frexp(largest)[1] - 1))
    # Squared distances can be computed without a scale.
    if wide == 0 or (SMALLEST[size] <= wide and max(wide, largest) <= _LARGEST[size]):
        return 1.0
    X = to_array(X)
    typical = _typical_length(X)
    if typical / wide < SMALLEST[size] / 1e-10:
        _refuse(X, names, typical, np.ones(X.shape[1]) if divisor is None else divisor)
    scale = float(2.0 ** np.clip(np.round(np.log2(wide) - np.log2({8: 2.0**300, 4: 2.0**30}[size])), -1000, 1000))
    if largest > _LARGEST[size] * scale:
        column = int(np.abs(X).max(axis=0).argmax())
        raise ValueError(
            f"column {_name(column, names)} reaches {largest:.3g}, while no column spans more than {wide:.3g}: "
            "differences are lost to rounding; subtract its smallest value, or leave the column out."
        )
    return scale


def sum_scale(X: AnyFloats) -> float:
    """A power of two that leaves the sums over two rows within the range of floats; one mostly.

    For metrics that are ratios of such sums, and do not change with it.

    Examples
    --------
    >>> import numpy as np
    >>> sum_scale(np.ones((2, 2))), sum_scale(np.full((2, 2), 1e308)) > 4
    (1.0, True)
    """
    largest = float(max(X.max(initial=0), -X.min(initial=0)))
    room = float(np.finfo(X.dtype).max) / (4 * X.shape[1])
    return 1.0 if largest <= room else float(2.0 ** np.ceil(np.log2(largest) - np.log2(room)))


def moderate_rows(X: Any) -> Any:
    """Rows of which only the direction counts, those of immense or tiny values divided by a power of two, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> moderate_rows(np.array([[3.0, 4.0], [2.0**900, 0.0]]))
    array([[3. , 4. ],
           [0.5, 0. ]])
    """
    is_sparse = sparse.issparse(X)
    largest = abs(X).max(axis=1).toarray().ravel() if is_sparse else np.maximum(X.max(axis=1), -X.min(axis=1))
    size = X.dtype.itemsize
    beyond = (largest > 0) & ~((largest >= SMALLEST[size]) & (largest <= _LARGEST[size]))
    if not beyond.any():
        return X
    exponent = np.where(beyond, -np.frexp(largest)[1], 0)
    if not is_sparse:
        return np.ldexp(X, exponent[:, None])
    data = np.ldexp(X.data, np.repeat(exponent, np.diff(X.indptr)))
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def check_magnitude(X: AnyFloats, names: Sequence[Any] | None = None, cure: str = ", or use scale='standard'") -> None:
    """Raise where squared distances cannot be computed and lengths must not change.

    `cure` is what else helps than dividing all columns by one number.

    Examples
    --------
    >>> import numpy as np
    >>> check_magnitude(np.array([[0.0], [1.0]]))
    """
    if exact_scale(X, names) != 1.0:
        X = to_array(X)
        column = int(np.abs(X).max(axis=0).argmax())
        raise ValueError(
            f"column {_name(column, names)} reaches {np.abs(X[:, column]).max():.3g}, and squares of such values leave "
            f"the range of floating-point numbers; divide all columns by one number{cure}."
        )


def clip_radially(X: AnyFloats, centre: AnyFloats, radius: float) -> AnyFloats:
    """New points with those at an immense distance clipped radially, which changes no nearest point.

    Examples
    --------
    >>> import numpy as np
    >>> clip_radially(np.array([[3e300, 0.0]]), np.zeros(2), 1.0)
    array([[1.e+12, 0.e+00]])
    """
    size, xp = X.dtype.itemsize, array_namespace(X)
    # At this radius the order of distances is still visible, and squares are finite.
    limit = {8: 1e12, 4: 1e3}[size] * radius
    with np.errstate(over="ignore"):
        far = xp.where(~(xp.amax(abs(X - centre), axis=1) <= max(_LARGEST[size] / 1e10, limit)))[0]
    if not len(far) or not radius > 0:
        return X
    clipped = X + 0
    offset = X[far] / 4 - centre / 4
    clipped[far] = centre + offset / xp.amax(abs(offset), axis=1)[:, None] * limit
    return clipped


def column_ends(X: Any) -> tuple[Floats, Floats]:
    """The least and the largest value of each column, as arrays in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> column_ends(np.array([[1.0, 2.0], [3.0, 0.0]]))
    (array([1., 0.]), array([3., 2.]))
    """
    if isinstance(X, np.ndarray):
        return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    return as_float64(to_array(X.amin(dim=0))), as_float64(to_array(X.amax(dim=0)))


def _typical_length(X: AnyFloats) -> float:
    """How far a tenth of the values are from the middle of their column, in the widest column.

    Fewer are the exception: a value that stands for a missing one, or a slip. Where every column has one value almost
    everywhere, what the others usually differ by.
    """
    usual = rare = 0.0
    for column in X.T:
        # A quarter of each: the mean of two immense values leaves the range of floats.
        offset = np.abs(column / 4 - np.median(column / 4))
        usual = max(usual, 4 * float(np.quantile(offset, 0.9, method="lower")))
        nonzero = offset[offset > 0]
        rare = max(rare, 4 * float(np.median(nonzero))) if nonzero.size else rare
    return usual or rare


def _refuse(X: AnyFloats, names: Sequence[Any] | None, typical: float, divisor: AnyFloats) -> None:
    row, column = np.unravel_index(int(np.abs(X).argmax()), X.shape)
    value, usual = X[row, column] * divisor[column], typical * divisor[column]
    raise ValueError(
        f"row {row}, column {_name(int(column), names)} is {value:.3g}, while values usually differ by "
        f"{usual:.3g}: compared with so large a value all others are one point. If it stands for a missing value, "
        "leave the row out or put the value in; otherwise clip it."
    )


def _name(column: int, names: Sequence[Any] | None) -> str:
    return str(column) if names is None else repr(names[column])


def check_rows(X: AnyFloats, metric: str) -> None:
    """Raise for rows that have no distance to others under a metric, whatever the others are.

    Examples
    --------
    >>> import numpy as np
    >>> check_rows(np.array([[1.0, 2.0], [2.0, 1.0]]), "correlation")
    """
    if metric == "correlation":
        high, low = X.max(axis=1), X.min(axis=1)
        # Differences of 8 units in the last place are what rounding leaves of a constant row.
        rounding = 8 * np.finfo(X.dtype).eps * np.maximum(high, -low)
        # By halves: the span of a row of immense values may overflow.
        bad = np.flatnonzero(high / 2 - low / 2 <= rounding / 2)
        what = "is constant", "correlation with others", "correlation"
    elif metric == "braycurtis":
        bad = np.flatnonzero(~(X != 0).any(axis=1))
        what = "is zero throughout", "dissimilarity to another such row", "braycurtis"
    else:
        return
    if bad.size:
        many = f" ({bad.size} such rows of {len(X)})" if bad.size > 1 else ""
        raise ValueError(
            f"row {bad[0]} {what[0]}{many}, and has no {what[1]} under metric={what[2]!r}; leave such rows out, or use "
            "metric='euclidean'."
        )


def check_pairs(distances: AnyFloats, rows: Places, columns: Places, metric: str) -> AnyFloats:
    """The distances, checked to be finite; `rows` and `columns` number the points for the error.

    Examples
    --------
    >>> import numpy as np
    >>> check_pairs(np.zeros((1, 1)), np.arange(1), np.arange(1), "manhattan")
    array([[0.]])
    """
    # The largest is infinite or NaN where any is.
    if not np.isfinite(distances.max(initial=0.0)):
        p, q = np.argwhere(~np.isfinite(distances))[0]
        why = "sums over their columns leave the range of floating-point numbers; divide X by its largest value first"
        if metric == "braycurtis":
            why = "their columns add up to zero; leave one of them out, or use metric='canberra'"
        raise ValueError(f"rows {rows[p]} and {columns[q]} have no finite distance under metric={metric!r}: {why}.")
    return distances
