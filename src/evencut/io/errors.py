"""What is wrong with a file, in one plain sentence that names the place and the cure.

Options are named as Python spells them (`columns=`); the command line shows them as its own.
"""

from __future__ import annotations

from typing import Any

from .._lazy import required


class TableError(ValueError):
    """A file that cannot be read or written as asked."""


class TableTooLarge(TableError):
    """A file that may be good, but of which there is too much."""


def require_pyarrow(module: str = "pyarrow", what: str = "Parquet files") -> Any:
    """A module of pyarrow; where it is missing, an error that says what to install."""
    return required(module, f"{what} need pyarrow", "cli")
