"""From cells of text to a column of numbers or of words: missing values and decimal commas are understood here.

A column holds numbers, or words (a category); one that mixes both is a mistake in the file.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING_WORDS", "Column", "ColumnBuilder", "is_missing", "is_number"]

#: Cells that stand for a value nobody knows, in small letters.
MISSING_WORDS = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "none"})

_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
_POINTS_AT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
    numbers : ndarray of shape (n_rows,)
        NaN where a value is missing, or is a word.
    words : dict
        The cells that are words, by row.
    refused : str, optional
        Why it can be neither numbers nor categories, where that is so.
    mixed_marks : tuple of two rows, optional
        Rows of which one has a decimal comma, the other a point.
    """

    name: str
    numbers: NDArray[np.floating]
    words: dict[int, str] = field(default_factory=dict)
    refused: str | None = None
    mixed_marks: tuple[int, int] | None = None

    @property
    def is_category(self) -> bool:
        """Whether every cell that is not missing is a word."""
        return bool(self.words) and int(np.isfinite(self.numbers).sum()) == 0


class ColumnBuilder:
    """Collects the cells of a column.

    Parameters
    ----------
    name : str
    decimal : {".", ",", None}
        The decimal mark. None takes a comma where it can be nothing else.

    Examples
    --------
    >>> prices = ColumnBuilder("price", decimal=None)
    >>> prices.add(["1,5", "NA", "1.000,25"])
    >>> prices.column().numbers.tolist()
    [1.5, nan, 1000.25]
    """

    def __init__(self, name: str, decimal: str | None = "."):
        self.name = name
        self.decimal = decimal
        self._numbers = array("d")
        self._words: dict[int, str] = {}
        self._comma_at: int | None = None
        self._point_at: int | None = None

    def add(self, cells: Sequence[Any]) -> None:
        """Take the next cells: text, numbers, or None."""
        mark = len(self._numbers)
        if self.decimal != ",":
            try:
                self._numbers.extend(map(float, cells))
            except (ValueError, TypeError):
                del self._numbers[mark:]
            else:
                self._look_for_points(cells, mark)
                return
        for cell in cells:
            self._numbers.append(self._number(cell))

    def column(self) -> Column:
        """The column, once all cells are in."""
        mixed = None
        if self._comma_at is not None and self._point_at is not None:
            mixed = (self._comma_at, self._point_at)
        return Column(self.name, np.frombuffer(self._numbers, dtype=np.float64), self._words, mixed_marks=mixed)

    def _number(self, cell: Any) -> float:
        """The value of a cell; NaN where it is missing or a word, which is then kept."""
        if not isinstance(cell, str):
            return math.nan if cell is None else float(cell)
        text, row = cell.strip(), len(self._numbers)
        if self.decimal == "," and "." in text:
            return self._with_comma(text, row)
        try:
            number = float(text)
        except ValueError:
            return self._with_comma(text, row) if self.decimal != "." else self._word(text, row)
        if self.decimal is None and "." in text and self._point_at is None:
            self._point_at = row
        return number

    def _with_comma(self, text: str, row: int) -> float:
        plain = text.replace(".", "") if _POINTS_AT_THOUSANDS.fullmatch(text) else text
        if plain is text and not _DECIMAL_COMMA.fullmatch(text):
            return self._word(text, row)
        if self._comma_at is None:
            self._comma_at = row
        return float(plain.replace(",", "."))

    def _word(self, text: str, row: int) -> float:
        if not is_missing(text):
            self._words[row] = text
        return math.nan

    def _look_for_points(self, cells: Sequence[Any], first: int) -> None:
        """Remember where a decimal point stands, in case a comma turns up elsewhere."""
        if self.decimal is None and self._point_at is None:
            found = (row for row, cell in enumerate(cells, first) if isinstance(cell, str) and "." in cell)
            self._point_at = next(found, None)


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a value nobody knows.

    Examples
    --------
    >>> is_missing("NA"), is_missing("0")
    (True, False)
    """
    return cell.strip().lower() in MISSING_WORDS


def is_number(cell: str) -> bool:
    """Whether a cell is a number, with a decimal point or comma.

    Examples
    --------
    >>> is_number("1,5"), is_number("1e3"), is_number("x1")
    (True, True, False)
    """
    try:
        float(cell)
    except ValueError:
        return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None
    return not is_missing(cell)
