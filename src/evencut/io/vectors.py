"""Tables in memory as rows of numbers: columns of vectors become one array, words and dates numbers, names are kept.

From Arrow, pandas and polars; lists of unequal length are named with their row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime import some
from ..tensors import AnyFloats, AnyInts
from .cells import Column
from .errors import TableError, require_pyarrow
from .in_memory import FRAMES, column_in_memory, columns_in_memory, named_columns, refuse_unread
from .preparation import Frame, Preparation, prepare


def as_rows(X: Any) -> Any:
    """Convert a table with vectors, words, dates or missing values to one array of numbers.

    Taken are Arrow tables and columns, pandas and polars frames, and series of lists. Columns of numbers beside the
    vectors become columns of the array too, in the order of the table. Refused by name are lists of unequal length,
    two columns of one name, and tables that are not read yet.

    Examples
    --------
    >>> import pandas as pd
    >>> as_rows(pd.DataFrame({"embedding": [[1.0, 2.0], [3.0, 4.0]]}))
    array([[1., 2.],
           [3., 4.]])
    """
    return prepared_rows(X)[0]


def prepared_rows(X: Any, like: Preparation | None = None) -> tuple[Any, Any, Preparation | None]:
    """The rows as `as_rows` gives them, an empty frame with names that an array has lost, and what was done to columns.

    Parameters
    ----------
    X : array, frame or list
    like : Preparation, optional
        What was done to the columns of an earlier table, to be done again.

    Examples
    --------
    >>> import pandas as pd
    >>> rows, header, done = prepared_rows(pd.DataFrame({"city": ["Rome", "Bonn"] * 2, "rooms": [1, 2, None, 4]}))
    >>> rows.shape, list(header.columns)
    ((4, 3), ['city', 'rooms'])
    >>> print(done)
    city: words, 2 columns of 0 and 1 (Bonn, Rome), divided by 1
    rooms: numbers, divided by 1.25; gaps filled from the nearest rows
    """
    refuse_unread(X)
    module = type(X).__module__.split(".")[0]
    if module == "datasets" and hasattr(X, "with_format"):
        return prepared_rows(X.with_format("arrow")[:], like)
    if module == "pyarrow" and hasattr(X, "type") and is_list_type(X.type):
        return list_values("the column", X), None, None
    parts = {} if module not in FRAMES or hasattr(X, "type") else _columns(X)
    has_vectors = any(_holds_lists(values) for values in parts.values())
    columns = columns_in_memory(X) if not has_vectors and not hasattr(X, "to_frame") else None
    if columns is not None or like is not None:
        return _from_columns(X, columns, like)
    if has_vectors or (module == "pyarrow" and hasattr(X, "column_names")):
        return *_stacked(X, parts), None
    if isinstance(X, list | tuple) and X and all(isinstance(row, list | tuple | np.ndarray) for row in X):
        _check_even("X", np.array([np.size(row) for row in X]))
    return X, None, None


def _from_columns(X: Any, columns: list[Column] | None, like: Preparation | None) -> tuple[Any, Any, Preparation]:
    """Columns of which not all are numbers, by the preparation that files have too."""
    if columns is None:
        # Numbers throughout, this time.
        rows = np.asarray(X if not hasattr(X, "column_names") else X.to_pandas(), dtype=np.float64)
        names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        assert like is not None
        names = names or list(like.columns)
        columns = [Column(name, values) for name, values in zip(names, rows.T)]
    if like is not None and (names := [column.name for column in columns]) != list(like.columns):
        raise TableError(
            f"X has the columns {some(names)}, but {some(list(like.columns))} were fitted: the feature names should "
            "match those that were passed during fit."
        )
    table = prepare(Frame("X", columns, is_file=False), "neighbors", like)
    has_names = type(X).__module__.split(".")[0] in FRAMES
    # An array of as many columns, or a frame without rows: how many there were, and their names.
    header = X[:0] if has_names else np.empty((1, len(columns)))
    return table.values, header, table.preparation


def is_list_type(kind: Any) -> bool:
    """Whether an Arrow type is a list of numbers, of any or of fixed length."""
    import pyarrow

    types = pyarrow.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and (types.is_integer(kind.value_type) or types.is_floating(kind.value_type))


def list_names(name: str, n_numbers: int) -> list[str]:
    """What the columns are called that a column of vectors becomes.

    Examples
    --------
    >>> list_names("embedding", 2)
    ['embedding[0]', 'embedding[1]']
    """
    return [f"{name}[{i}]" for i in range(n_numbers)]


def list_values(name: str, column: Any) -> AnyFloats:
    """An Arrow column of lists as an array, in single precision where the numbers are."""
    import pyarrow
    import pyarrow.compute

    whole = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    if whole.null_count:
        row = pyarrow.compute.index(pyarrow.compute.is_null(whole), True).as_py()
        raise TableError(f"row {row} of {name!r} has no vector ({whole.null_count} such rows); leave such rows out.")
    lengths = np.asarray(pyarrow.compute.list_value_length(whole))
    _check_even(name, lengths)
    flat = pyarrow.compute.list_flatten(whole)
    if flat.null_count:
        row = int(pyarrow.compute.index(pyarrow.compute.is_null(flat), True).as_py()) // int(lengths[0])
        raise TableError(f"row {row} of {name!r} has an empty place in its vector; leave such rows out.")
    numbers = flat.to_numpy(zero_copy_only=False)
    kind = np.float32 if numbers.dtype in (np.float16, np.float32) else np.float64
    return numbers.astype(kind, copy=False).reshape(len(lengths), -1)


def _columns(X: Any) -> dict[str, Any]:
    """Name and values of each column of a frame, or of a lone one."""
    return {str(X.name): X} if hasattr(X, "to_frame") else dict(named_columns(X))


def _stacked(X: Any, columns: dict[str, Any]) -> tuple[AnyFloats, Any]:
    """Columns of numbers and of vectors side by side, and their names unless it is one column of vectors."""
    parts, names = [], []
    for name, values in columns.items():
        rows = _numbers(name, values)
        parts.append(rows)
        names += [name] if rows.ndim == 1 else list_names(name, rows.shape[1])
    if not parts:
        raise TableError("the table has no columns; give one of vectors, or several of numbers.")
    if len(parts) == 1 and parts[0].ndim == 2:
        return parts[0], None
    if type(X).__module__.split(".")[0] == "pandas":
        return np.column_stack(parts), type(X)(columns=names)
    pyarrow = require_pyarrow()
    return np.column_stack(parts), pyarrow.table({name: pyarrow.array([], pyarrow.float64()) for name in names})


def _numbers(name: str, values: Any) -> AnyFloats:
    """The numbers of a column, or the vectors in it as rows."""
    if _holds_lists(values):
        if hasattr(values, "array"):
            return _from_pandas_lists(name, values)
        return list_values(name, values.to_arrow() if hasattr(values, "to_arrow") else values)
    column = column_in_memory(name, values)
    if column.names or column.refused or column.unit is not None:
        kind = getattr(values, "type", None) or values.dtype
        raise TableError(f"column {name!r} is {kind}, not numbers or vectors; leave it out.")
    return column.numbers


def _from_pandas_lists(name: str, column: Any) -> AnyFloats:
    if hasattr(column.array, "__arrow_array__"):
        return list_values(name, column.array.__arrow_array__())
    vectors = list(column)
    missing = [row for row, vector in enumerate(vectors) if not hasattr(vector, "__len__")]
    if missing:
        raise TableError(f"row {missing[0]} of {name!r} has no vector ({len(missing)} such rows); leave them out.")
    _check_even(name, np.array([len(vector) for vector in vectors]))
    rows = np.asarray(vectors)
    if rows.dtype.kind not in "biuf":
        raise TableError(f"column {name!r} holds lists of {rows.dtype}, not of numbers; leave it out.")
    return rows.astype(np.float32 if rows.dtype in (np.float16, np.float32) else np.float64, copy=False)


def _holds_lists(column: Any) -> bool:
    if hasattr(column, "type"):
        return is_list_type(column.type)
    if str(column.dtype).lower().startswith(("list", "array", "fixed_size_list", "large_list")):
        return True
    if not hasattr(column, "array") or column.dtype != object or not len(column):
        return False
    first = next((value for value in column if value is not None), None)
    return isinstance(first, list | tuple | np.ndarray)


def _check_even(name: str, lengths: AnyInts) -> None:
    if not len(lengths):
        raise TableError(f"column {name!r} has no rows; give one vector for each point.")
    odd = np.flatnonzero(lengths != lengths[0])
    if odd.size:
        raise TableError(
            f"row {odd[0]} of {name!r} has {lengths[odd[0]]} numbers, but row 0 has {lengths[0]}; vectors must have "
            "one length."
        )
    if lengths[0] == 0:
        raise TableError(f"the vectors of {name!r} are empty; give at least one number each.")
