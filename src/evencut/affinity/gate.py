"""The gate before all compiled loops: only finite distances and affinities pass, whose sums and squares are finite too.

Loops index by what they compare, and a value that compares with nothing sends them out of their arrays. Each refusal
names the row, the pair or the point, and the cure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from ..tensors import AnyFloats, Places, array_namespace, is_tensor, to_array

# Solvers square sums of affinities; single precision has less of a range.
_LARGEST = {8: 1e140, 4: 1e30}
_SMALLEST = {8: 1e-140, 4: 1e-30}
# Differences within a row of so many units in the last place are what rounding leaves of a constant.
_ROUNDING = 8


def check_rows(X: AnyFloats, metric: str) -> None:
    """Raise for rows that have no distance to others under a metric, whatever the others are.

    Examples
    --------
    >>> import numpy as np
    >>> check_rows(np.array([[1.0, 2.0], [2.0, 1.0]]), "correlation")
    """
    if metric == "correlation":
        high, low = X.max(axis=1), X.min(axis=1)
        rounding = _ROUNDING * np.finfo(X.dtype).eps * np.maximum(high, -low)
        # By halves: the span of a row of immense values is no float.
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
    """Distances as they are, once all are seen to be finite; `rows` and `columns` number the points for the error.

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


def check_found(distances: Any) -> None:
    """Raise where a search has not found as many points at a finite distance as it was asked for.

    Examples
    --------
    >>> import numpy as np
    >>> check_found(np.zeros((3, 2)))
    """
    finite = array_namespace(distances).isfinite(distances)
    if not finite.all():
        finite = to_array(finite)
        bad = np.flatnonzero(~finite.all(axis=1))
        raise ValueError(
            f"point {bad[0]} has {finite[bad[0]].sum()} points at a finite distance, but {distances.shape[1]} are "
            f"needed ({bad.size} such points): distances leave the range of floating-point numbers; divide all columns "
            "by one number first."
        )


def check_entries(affinity: Any, what: str = "the affinity") -> None:
    """Raise where entries of an affinity are not finite, or so large or small that their sums or squares are not.

    Entries that are computed when needed are not looked at: their degrees are, once they are known.

    Examples
    --------
    >>> import numpy as np
    >>> check_entries(np.eye(2))
    """
    matrix = affinity if _is_held(affinity) else affinity.entries
    if not _is_held(matrix):
        return
    values = matrix.data if sparse.issparse(matrix) else matrix
    n_values = math.prod(values.shape)
    if not n_values:
        return
    largest = max(float(values.max()), -float(values.min()))
    size = matrix.dtype.itemsize
    if largest == 0 or (largest >= _SMALLEST[size] and largest * n_values <= _LARGEST[size]):
        return
    entries = sparse.coo_array(to_array(matrix) if is_tensor(matrix) else matrix)
    if not np.isfinite(largest):
        first = np.flatnonzero(~np.isfinite(entries.data))[0]
        p, q = entries.row[first], entries.col[first]
        raise ValueError(
            f"{what} of points {p} and {q} is {entries.data[first]:g}; entries must be finite: check the values of "
            "these rows."
        )
    first = np.abs(entries.data).argmax()
    raise ValueError(
        f"{what} reaches {largest:.3g}, at points {entries.row[first]} and {entries.col[first]}, and sums or squares "
        f"of such entries leave the range of floating-point numbers; divide all of them by {largest:.3g}."
    )


def _is_held(matrix: Any) -> bool:
    return sparse.issparse(matrix) or isinstance(matrix, np.ndarray) or is_tensor(matrix)


def out_of_range(sums: Any) -> Any:
    """Places of the sums of affinities that are not positive, or cannot be squared.

    Examples
    --------
    >>> import numpy as np
    >>> out_of_range(np.array([1.0, 0.0, np.inf]))
    array([1, 2])
    """
    return array_namespace(sums).where(~((sums >= _SMALLEST[8]) & (sums <= _LARGEST[8])))[0]
