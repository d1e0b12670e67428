"""What is wrong with a file, in one plain sentence that names the place and the cure.

Options are named as Python spells them (`columns=`); the command line shows them as its own.
"""

from __future__ import annotations

from typing import Any

from ..on_demand import required


class TableError(ValueError):
    """A file that cannot be read or written as asked."""


class TableTooLarge(TableError):
    """A file that may be good, but of which there is too much."""


def one_line(error: BaseException) -> str:
    """The message of an error on one line.

    Examples
    --------
    >>> one_line(ValueError("two\\nlines"))
    'two lines'
    """
    return " ".join(str(error).split()) or type(error).__name__


def some(names: list[str], most: int = 6) -> str:
    """The first few names of many.

    Examples
    --------
    >>> some(["x", "y", "z"], 2)
    'x, y, ...'
    """
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def require_pyarrow(module: str = "pyarrow", what: str = "Parquet files") -> Any:
    """A module of pyarrow; where it is missing, an error that says what to install."""
    return required(module, f"{what} need pyarrow", "cli")
