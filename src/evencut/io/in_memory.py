"""Tables people hold in memory as columns: of numbers, of words and of dates, with gaps where a value is missing.

From pandas, polars and Arrow, arrays of objects and lists of rows. Refused by name, with the cure, are two columns of
one name, columns that mix words and numbers, frames that are not computed yet, and containers of tables.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from ..tensors import AnyFloats
from .arrow import arrow_column
from .cells import Column, days_since_1970, is_gap
from .errors import TableError

#: Libraries of frames.
FRAMES = ("pandas", "polars", "pyarrow")
_NO_CELLS = (dict, list, tuple, set, np.ndarray)
_DATES = ("datetime", "date", "timestamp")
_SPANS = ("timedelta", "duration")
_ARROW_NUMBERS = ("int", "uint", "halffloat", "float", "double", "bool", "decimal", "null")


def refuse_unread(X: Any) -> None:
    """Raise for what is no table of rows yet: a plan of one, or an object that holds several.

    Examples
    --------
    >>> refuse_unread(np.eye(2))
    """
    kind = type(X)
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
    1970. The missing values of an array are left to whoever checks it: only frames have gaps that are meant.

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
        raise TableError(f"two columns are called {twice[0]!r}; give each a name of its own, or leave one out.")
    is_frame = type(X).__module__.split(".")[0] in FRAMES
    if not is_frame and any(isinstance(value, _NO_CELLS) for _, values in named for value in values):
        # Whoever checks arrays names these.
        return None
    columns = [column_in_memory(name, values) for name, values in named]
    plain = all(not column.names and column.unit is None for column in columns)
    if plain and not (is_frame and any(np.isnan(column.numbers).any() for column in columns)):
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
        if isinstance(value, Real | Decimal | np.bool_) or (isinstance(value, str) and _is_number(value)):
            numbers[row] = float(value)
        elif isinstance(value, str | bytes):
            words[row] = value.decode(errors="replace") if isinstance(value, bytes) else value
        else:
            raise TableError(
                f"column {name!r} holds {type(value).__name__} (row {row}), not numbers, words or dates; leave it out."
            )
    if words and np.isfinite(numbers).any():
        row = min(words)
        raise TableError(
            f"column {name!r} holds words ({words[row][:40]!r}, row {row}) beside numbers; make all of them words with "
            "astype(str), or correct those cells."
        )
    return Column.of_words(name, words, numbers)


def _cells(values: Any) -> Sequence[Any]:
    """The values as Python has them."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    if type(values).__module__.split(".")[0] == "pandas":
        return list(values)
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind not in "Mm" else list(values)


def _as_floats(values: Any) -> AnyFloats:
    stored = getattr(values.dtype, "numpy_dtype", values.dtype)
    exact = np.float32 if stored == np.float32 else np.float64
    if type(values).__module__.split(".")[0] == "pandas":
        return np.asarray(values.to_numpy(dtype=exact, na_value=np.nan))
    if isinstance(values, np.ndarray):
        return values.astype(exact)
    # Polars keeps gaps apart from NaN; both are missing here.
    return np.asarray(values.cast(float).to_numpy(), dtype=np.float32 if str(values.dtype) == "Float32" else np.float64)


def _is_nested(X: Any) -> bool:
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(row, list | tuple) for row in X)


def _is_numeric(kind: Any) -> bool:
    """Whether a type of pandas or polars is one of numbers, or true and false."""
    if kind is None:
        return False
    if hasattr(kind, "kind"):
        return kind.kind in "biuf"
    return bool(kind.is_numeric()) or str(kind) == "Boolean"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
