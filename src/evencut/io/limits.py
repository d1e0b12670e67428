"""How large a table may be that a stranger sends: checked while it is read, before it takes memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import TableError, TableTooLarge


@dataclass(frozen=True)
class TableLimits:
    """Bounds on a table; by default there are none.

    Parameters
    ----------
    n_bytes : float
        Most bytes of text once it is unpacked; a workbook may unpack to four times as many.
    rows, columns, cells : float
        Most rows, columns, and values of 8 bytes.
    letters : float
        Longest name of a column.
    line : float
        Longest first line.

    Examples
    --------
    >>> TableLimits(rows=10).check_size(12, 2)
    Traceback (most recent call last):
    evencut.io.errors.TableTooLarge: this table has 12 rows; 10 are taken. Use a sample, or evencut cluster --landmarks.
    """

    n_bytes: float = math.inf
    rows: float = math.inf
    columns: float = math.inf
    cells: float = math.inf
    letters: float = math.inf
    line: float = math.inf

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Refuse more rows, columns or values."""
        for what, n, most in (("rows", n_rows, self.rows), ("columns", n_columns, self.columns)):
            if n > most:
                cure = "Use a sample, or evencut cluster --landmarks."
                raise TableTooLarge(f"this table has {n} {what}; {most} are taken. {cure}")
        if n_rows * n_columns > self.cells:
            raise TableTooLarge(
                f"this table has {n_rows} x {n_columns} values; {self.cells} are taken. Use fewer columns."
            )

    def check_unpacked(self, n_bytes: int, most: float) -> None:
        """Refuse a file that unpacks to more bytes than `most`."""
        if n_bytes > most:
            raise TableTooLarge(f"this file unpacks to more than the {most / 1e6:.4g} MB that are taken; use a sample.")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse names that are too long."""
        longest = max(map(len, names), default=0)
        if longest > self.letters:
            raise TableError(f"a column has a name of {longest} letters; at most {self.letters} are taken.")
