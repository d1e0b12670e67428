"""What cannot be clustered as it stands among the tables people hold in memory, each refused by name and with its cure.

Columns of words or of dates, two columns of one name, frames that are not computed yet, and containers of tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from .errors import TableError

__all__ = ["check_columns", "refuse_unread"]


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


def check_columns(X: Any) -> None:
    """Raise for two columns of one name, and for one that holds words or dates; other things are left to others.

    Text that reads as a number is one, as NumPy and scikit-learn take it.

    Examples
    --------
    >>> import pandas as pd
    >>> check_columns(pd.DataFrame({"price": [1.5, 2.0]}))
    """
    for name, column in _columns(X):
        what = str(getattr(column, "dtype", "")).lower()
        if what.startswith(("datetime", "timedelta", "duration", "date", "period", "time")):
            raise TableError(
                f"column {name!r} holds dates or times ({what}), not numbers; leave it out, or make numbers of it, "
                "such as days since the first."
            )
        word = next((value for value in column if isinstance(value, str) and not _is_number(value)), None)
        if word is not None:
            raise TableError(
                f"column {name!r} holds words ({str(word)[:40]!r}), not numbers; leave it out, or make columns of 0 "
                "and 1 of it with pandas.get_dummies or sklearn.preprocessing.OneHotEncoder."
            )


def _columns(X: Any) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Name and values of each column that is not of numbers; columns of arrays and lists are called by their place."""
    module = type(X).__module__.split(".")[0]
    names = getattr(X, "column_names", None) if module == "pyarrow" else getattr(X, "columns", None)
    if module in ("pandas", "polars", "pyarrow") and names is not None:
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise TableError(f"two columns are called {twice[0]!r}; give each a name of its own, or leave one out.")
        if module != "pyarrow":
            yield from ((name, X[name]) for name in names if not _is_numeric(X[name].dtype))
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSMm":
        yield from enumerate(X.T)
    elif _is_nested(X) and any(isinstance(value, str) for value in chain.from_iterable(X)):
        yield from enumerate(zip(*X))


def _is_nested(X: Any) -> bool:
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(row, list | tuple) for row in X)


def _is_numeric(kind: Any) -> bool:
    """Whether a type of pandas or polars is one of numbers, or true and false."""
    return kind.kind in "biufc" if hasattr(kind, "kind") else bool(kind.is_numeric()) or str(kind) == "Boolean"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
