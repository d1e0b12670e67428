"""From cells of text to a column of numbers or of words: missing values and decimal commas are understood here.

A column holds numbers, or words (a category); one that mixes both is a mistake in the file.
"""

from __future__ import annotations

import datetime
import math
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tensors import AnyFloats, Floats

#: Cells that stand for a value nobody knows, in small letters.
_MISSING_WORDS = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "none"})

_DAY = np.timedelta64(1, "D")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
_COMMAS_AT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_POINTS_AT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
    numbers : ndarray of shape (n_rows,)
        NaN where a value is missing, or is a word.
    codes : ndarray of shape (n_rows,), optional
        The place of each cell's word in `names`, -1 where it is none; None where no cell is a word.
    names : tuple of str
        The different words.
    refused : str, optional
        Why it can be neither numbers nor categories, where that is so.
    mixed_marks : tuple of two rows, optional
        Rows of which one has a decimal comma, the other a point.
    unit : str, optional
        What the numbers count, where that is known: the days of a date.
    """

    name: str
    numbers: AnyFloats
    codes: NDArray[np.int32] | None = None
    names: tuple[str, ...] = ()
    refused: str | None = None
    mixed_marks: tuple[int, int] | None = None
    unit: str | None = None

    @property
    def is_category(self) -> bool:
        """Whether every cell that is not missing is a word."""
        return bool(self.names) and int(np.isfinite(self.numbers).sum()) == 0

    @property
    def words(self) -> dict[int, str]:
        """The cells that are words, by row."""
        codes = [] if self.codes is None else self.codes.tolist()
        return {row: self.names[code] for row, code in enumerate(codes) if code >= 0}

    @classmethod
    def of_words(cls, name: str, words: Mapping[int, str], numbers: AnyFloats) -> Column:
        """The column of `numbers` in which some rows hold words.

        Examples
        --------
        >>> Column.of_words("city", {0: "Rome", 2: "Bonn"}, np.full(3, np.nan)).codes.tolist()
        [0, -1, 1]
        """
        places = {word: code for code, word in enumerate(dict.fromkeys(words.values()))}
        codes = np.full(len(numbers), -1, dtype=np.int32)
        codes[list(words)] = [places[word] for word in words.values()]
        return cls(name, numbers, codes, tuple(places)) if words else cls(name, numbers)


def dated(column: Column) -> Column:
    """A column of words that are all dates as days since 1970; any other as it is.

    Examples
    --------
    >>> dated(Column.of_words("day", {0: "1970-01-03", 1: "1970-01-01T12:00"}, np.full(2, np.nan))).numbers
    array([2. , 0.5])
    """
    if not column.is_category or not all(_DATE.match(word) for word in column.names):
        return column
    try:
        days = days_since_1970([datetime.datetime.fromisoformat(word) for word in column.names])
    except ValueError:
        return column
    return Column(column.name, np.append(days, np.nan)[column.codes], unit="days")


def numbers_in_words(column: Column) -> Column:
    """A column of words as numbers where all are some: with commas at the thousands, or true and false.

    Examples
    --------
    >>> numbers_in_words(Column.of_words("price", {0: "12,500.5"}, np.array([np.nan, 7.0]))).numbers.tolist()
    [12500.5, 7.0]
    """
    words = [word.lower() for word in column.names]
    if column.codes is None:
        return column
    if all(_COMMAS_AT_THOUSANDS.fullmatch(word) for word in words):
        numbers = [float(word.replace(",", "")) for word in words]
    elif column.is_category and set(words) <= {"true", "false"}:
        numbers = [float(word == "true") for word in words]
    else:
        return column
    return Column(column.name, np.where(column.codes >= 0, np.array(numbers)[column.codes], column.numbers))


def days_since_1970(cells: Sequence[Any]) -> Floats:
    """Dates and times as days since 1970, spans of time in days, NaN where there is a gap.

    Examples
    --------
    >>> days_since_1970([datetime.date(1970, 1, 3), None, datetime.timedelta(hours=6)])
    array([2.  ,  nan, 0.25])
    """
    days = np.full(len(cells), np.nan)
    for row, value in enumerate(cells):
        if is_gap(value) or (isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value)):
            continue
        if isinstance(value, datetime.timedelta | np.timedelta64):
            days[row] = np.timedelta64(value) / _DAY
            continue
        if getattr(value, "tzinfo", None) is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        days[row] = (np.datetime64(value) - np.datetime64(0, "D")) / _DAY
    return days


def is_gap(value: Any) -> bool:
    """Whether a value of Python stands for one that nobody knows.

    Examples
    --------
    >>> is_gap(None), is_gap(float("nan")), is_gap("NA"), is_gap(0)
    (True, True, True, False)
    """
    # The missing values of pandas answer no comparison, and are told by their type.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return is_missing(value)
    return bool(value != value)


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
        self._codes = array("i")
        self._names: dict[str, int] = {}
        self._comma_at: int | None = None
        self._point_at: int | None = None

    def add(self, cells: Sequence[Any]) -> None:
        """Take the next cells: text, numbers, or None."""
        mark = len(self._numbers)
        if self._names and all(map(self._names.__contains__, cells)):
            # Words that have all been met: most of a column of words.
            self._pad(mark)
            self._codes.extend(map(self._names.__getitem__, cells))
            self._numbers.extend([math.nan] * len(cells))
            return
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
        numbers = np.frombuffer(self._numbers, dtype=np.float64)
        if not self._names:
            return Column(self.name, numbers, mixed_marks=mixed)
        self._pad(len(numbers))
        codes = np.frombuffer(self._codes, dtype=np.int32)
        return Column(self.name, numbers, codes, tuple(self._names), mixed_marks=mixed)

    @property
    def has_decimal_comma(self) -> bool:
        """Whether a cell has been read with one."""
        return self._comma_at is not None

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
            self._pad(row)
            self._codes.append(self._names.setdefault(text, len(self._names)))
        return math.nan

    def _pad(self, n_rows: int) -> None:
        """Rows that hold no words, up to one."""
        self._codes.extend([-1] * (n_rows - len(self._codes)))

    def _look_for_points(self, cells: Sequence[Any], first: int) -> None:
        """Remember where a decimal point stands, in case a comma turns up elsewhere."""
        if self.decimal is None and self._point_at is None:
            rows = (row for row, cell in enumerate(cells, first) if isinstance(cell, str) and "." in cell)
            self._point_at = next(rows, None)


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a value nobody knows.

    Examples
    --------
    >>> is_missing("NA"), is_missing("0")
    (True, False)
    """
    return cell.strip().lower() in _MISSING_WORDS


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
