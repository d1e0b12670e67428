"""Tables people hold in memory as rows of numbers: words and dates become numbers, columns of vectors one array.

From pandas, polars and Arrow, arrays of objects and lists of rows. Refused by name, with the cure, are two columns of
one name, columns that mix words and numbers, frames that are not computed yet, containers of tables, and lists of
unequal length.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime import counted, some, warn_user
from ..tensors import AnyFloats, Floats
from .binary import arrow_column, check_even, is_list_type, list_names, list_values
from .columns import Column, Frame, as_float, days_since_1970, is_gap, numbers_in_words, parse_number
from .encode import Preparation, is_identifier, prepare
from .files import TableError, require_pyarrow

#: Libraries of frames.
FRAMES = ("pandas", "polars", "pyarrow")
_NO_CELLS = (dict, list, tuple, set, np.ndarray)
_DATES = ("datetime", "date", "timestamp")
_SPANS = ("timedelta", "duration")
_ARROW_NUMBERS = ("int", "uint", "halffloat", "float", "double", "bool", "decimal", "null")


def refuse_unread(X: Any) -> None:
    """Raise for what is not a table of rows yet: a plan of one, a file, or an object that holds several.

    Examples
    --------
    >>> refuse_unread(np.eye(2))
    """
    kind = type(X)
    if isinstance(X, str | bytes | Path):
        raise TypeError(f"X is the text {str(X)[:40]!r}; read the file first, for example by pandas.read_csv.")
    # Some sparse arrays are mappings, too.
    if X is None or (isinstance(X, Mapping | Set | Iterator) and not hasattr(X, "tocsr")):
        raise TypeError(f"X is a {kind.__name__}; give an array, a data frame or a list of rows.")
    module = kind.__module__.split(".")[0]
    if module == "polars" and kind.__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, whose rows are not computed yet; pass X.collect().")
    if module == "anndata":
        raise TypeError(
            "X is an AnnData object, which holds several tables; call evencut.anndata.cluster(adata) or "
            "evencut.anndata.diagnose(adata, labels), or pass one of its tables, such as adata.obsm['X_pca']."
        )


def columns_in_memory(X: Any) -> list[Column] | None:
    """The columns of a table of which not every cell is a number; None for numbers throughout.

    Text that reads as a number is one, as NumPy and scikit-learn take it. Booleans are 0 and 1, dates are days since
    1970. The missing values of an array are left to the check of arrays.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.to_datetime(["1970-01-03", None])
    >>> city, day = columns_in_memory(pd.DataFrame({"city": ["Rome", None], "day": days}))
    >>> city.words, day.numbers.tolist()
    ({0: 'Rome'}, [2.0, nan])
    """
    named = list(named_columns(X))
    if not named:
        return None
    twice = [name for name, times in Counter(name for name, _ in named).items() if times > 1]
    if twice:
        raise TableError(f"two columns are called {twice[0]!r}; rename one, or leave it out.")
    is_frame = type(X).__module__.split(".")[0] in FRAMES
    if not is_frame and any(isinstance(value, _NO_CELLS) for _, values in named for value in values):
        # The check of arrays refuses these.
        return None
    columns = [column_in_memory(name, values) for name, values in named]
    plain = not any(column.names or column.converted or column.unit is not None for column in columns)
    if plain and not (is_frame and any(np.isnan(c.numbers).any() or is_identifier(c) for c in columns)):
        return None
    return columns


def named_columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Name and values of each column; none for arrays of numbers, whose columns need no look."""
    module = type(X).__module__.split(".")[0]
    names = getattr(X, "column_names", None) if module == "pyarrow" else getattr(X, "columns", None)
    if module in FRAMES and names is not None:
        for place, name in enumerate(names):
            values = X.iloc[:, place] if module == "pandas" else X.column(place) if module == "pyarrow" else X[name]
            yield str(name), values
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSMm":
        yield from ((f"column {place + 1}", values) for place, values in enumerate(X.T))
    elif _is_nested(X) and any(isinstance(value, str) for value in chain.from_iterable(X)):
        yield from ((f"column {place + 1}", values) for place, values in enumerate(zip(*X)))


def column_in_memory(name: str, values: Any) -> Column:
    """One column, by the type that its library gives it and, where that says nothing, by its values."""
    kind = str(getattr(values, "type", None) or getattr(values, "dtype", "")).lower()
    if kind.startswith(("category", "categorical", "enum", "dictionary")):
        cells = _cells(values)
        words = {row: str(value) for row, value in enumerate(cells) if not is_gap(value)}
        return Column.of_words(name, words, np.full(len(cells), np.nan))
    if kind.startswith((*_DATES, *_SPANS)):
        return Column(name, days_since_1970(_cells(values)), unit="days")
    if kind.startswith(_ARROW_NUMBERS) and hasattr(values, "type"):
        return arrow_column(name, values)
    if _is_numeric(getattr(values, "dtype", None)):
        return Column(name, _as_floats(values))
    return _by_values(name, _cells(values))


def _by_values(name: str, cells: Sequence[Any]) -> Column:
    """A column of Python objects: numbers, dates or words; what mixes them is refused."""
    present = {row: value for row, value in enumerate(cells) if not is_gap(value)}
    if present and all(isinstance(value, datetime.date | np.datetime64) for value in present.values()):
        return Column(name, days_since_1970(cells), unit="days")
    numbers = np.full(len(cells), np.nan)
    words: dict[int, str] = {}
    for row, value in present.items():
        if isinstance(value, Real | Decimal | np.bool_) or (isinstance(value, str) and parse_number(value) is not None):
            numbers[row] = as_float(value)
        elif isinstance(value, str | bytes):
            words[row] = value.decode(errors="replace") if isinstance(value, bytes) else value
        else:
            raise TableError(
                f"column {name!r} holds {type(value).__name__} (row {row}), not numbers, words or dates; leave it out."
            )
    return numbers_in_words(Column.of_words(name, words, numbers))


def _cells(values: Any) -> Sequence[Any]:
    """The values as Python has them."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    if type(values).__module__.split(".")[0] == "pandas":
        return list(values)
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind not in "Mm" else list(values)


def _as_floats(values: Any) -> AnyFloats:
    stored = getattr(values.dtype, "numpy_dtype", values.dtype)
    exact = np.float32 if str(stored).lower() == "float32" else np.float64
    if type(values).__module__.split(".")[0] == "pandas":
        return np.asarray(values.to_numpy(dtype=exact, na_value=np.nan))
    if isinstance(values, np.ndarray):
        return values.astype(exact)
    # Polars keeps gaps apart from NaN; both are missing here.
    return np.asarray(values.cast(float).to_numpy(), dtype=exact)


def _is_nested(X: Any) -> bool:
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(row, list | tuple) for row in X)


def _is_numeric(kind: Any) -> bool:
    """Whether a type of pandas or polars is one of numbers, or true and false."""
    if kind is None:
        return False
    if hasattr(kind, "kind"):
        return kind.kind in "biuf"
    return bool(kind.is_numeric()) or str(kind) == "Boolean"


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


def prepared_rows(
    X: Any, like: Preparation | None = None, donors: Floats | None = None
) -> tuple[Any, Any, Preparation | None]:
    """The rows as `as_rows` gives them, an empty frame with names that an array has lost, and what was done to columns.

    Parameters
    ----------
    X : array, frame or list
    like : Preparation, optional
        What was done to the columns of an earlier table, to be done again.
    donors : ndarray, optional
        Rows of an earlier table of numbers alone, from which missing values are filled.

    Examples
    --------
    >>> import pandas as pd
    >>> rows, header, done = prepared_rows(pd.DataFrame({"city": ["Rome", "Bonn"] * 2, "rooms": [1, 2, 2, 4]}))
    >>> rows.shape, list(header.columns)
    ((4, 3), ['city', 'rooms'])
    >>> print(done)
    city: words, 2 columns of 0 and 1 (Bonn, Rome)
    rooms: numbers, divided by 1.09
    """
    refuse_unread(X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(float), np.nan) if X.dtype.kind in "biuf" else np.ma.filled(X.astype(object), None)
    module = type(X).__module__.split(".")[0]
    if module == "datasets" and hasattr(X, "with_format"):
        return prepared_rows(X.with_format("arrow")[:], like, donors)
    if module == "pyarrow" and hasattr(X, "type") and is_list_type(X.type):
        return list_values("the column", X), None, None
    parts = {} if module not in FRAMES or hasattr(X, "type") else _columns(X)
    has_vectors = any(_holds_lists(values) for values in parts.values())
    columns = columns_in_memory(X) if not has_vectors and not hasattr(X, "to_frame") else None
    if columns is not None and like is None and donors is not None:
        like = Preparation(tuple(column.name for column in columns), missing="neighbors", donors=donors)
    if columns is not None or like is not None:
        return _from_columns(X, columns, like)
    if has_vectors or (module == "pyarrow" and hasattr(X, "column_names")):
        return *_stacked(X, parts), None
    if isinstance(X, list | tuple) and X and all(isinstance(row, list | tuple | np.ndarray) for row in X):
        check_even("X", np.array([np.size(row) for row in X]))
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
    n_columns = len(columns)
    columns = [column for column in columns if like is None or column.name not in like.left_out]
    if like is not None and (names := [column.name for column in columns]) != list(like.columns):
        raise TableError(
            f"X has the columns {some(names)}, but {some(list(like.columns))} were fitted: the feature names should "
            "match those that were passed during fit."
        )
    table = prepare(Frame("X", columns, is_file=False), "neighbors", like)
    for message in table.warnings:
        warn_user(f"{message}.")
    has_names = type(X).__module__.split(".")[0] in FRAMES
    # An array of as many columns, or a frame without rows: how many there were, and their names.
    header = X[:0] if has_names else np.empty((1, n_columns))
    return table.values, header, table.preparation


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
        many = counted(len(missing), "such row")
        raise TableError(f"row {missing[0]} of {name!r} has no vector ({many}); leave such rows out.")
    check_even(name, np.array([len(vector) for vector in vectors]))
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
