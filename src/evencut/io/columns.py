"""Columns of a table: numbers, words or dates, missing values, which of them are used, and several files as one.

A column holds numbers, or words (a category); one that mixes both is a mistake in the file.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import some
from ..tensors import AnyFloats, Floats
from .files import TableError

#: Cells that stand for an unknown value, in lower case; the last ones are errors of spreadsheets.
_MISSING_WORDS = frozenset(
    {"", "?", ".", "-", "--", "\u2013", "\u2014", "na", "n/a", "n.a.", "<na>", "nan", "null", "nil", "none"}
    | {"#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}
)
_DAY = np.timedelta64(1, "D")
_DATE = re.compile(r"\d{4}([-/.])\d{2}\1\d{2}")
_WRITTEN_DATE = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?")
# A number with one symbol or word before or after it: a currency, percent, or a unit after a blank.
_CURRENCIES = "$\u20ac\u00a3\u00a5"
_AMOUNT = re.compile(
    rf"([+\-\u2212]?)\s*([{_CURRENCIES}]|[A-Z]{{3}}(?=\s)|)\s*([+\-\u2212]?[\d.,]+)"
    rf"\s*([%{_CURRENCIES}]|(?<=\s)[^\W\d_]{{1,6}}|)"
)
_MARK_OF_THOUSANDS = re.compile(r"(?<=\d)['\u2019\s](?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.IGNORECASE)
_SWAP_MARKS = str.maketrans(".,", ",.")
_COMMAS_AT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_POINTS_AT_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_RANGE = re.compile(r"(\d+)-(\d*)")


def column_names(n_columns: int) -> list[str]:
    """What columns without names are called.

    Examples
    --------
    >>> column_names(2)
    ['column 1', 'column 2']
    """
    return [f"column {i + 1}" for i in range(n_columns)]


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, numbered where they repeat.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    distinct: dict[str, None] = {}
    for name in names:
        spellings = chain([name], (f"{name} ({number})" for number in count(2)))
        distinct[next(own for own in spellings if own not in distinct)] = None
    return list(distinct)


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns as they stand in a file.

    Parameters
    ----------
    source : str
        What messages call the file.
    columns : list of Column
    matrix : ndarray, optional
        All columns in one array, where the file holds it so.
    lines : sequence of int, optional
        The line of each row, in a text file.
    has_header : bool
        Whether the file names the columns.
    notices : tuple of str
        What was done on the way to columns, to be told.
    is_file : bool
        Whether it was read from a file, where columns are chosen by options.
    unnamed : tuple of str
        Columns to which the header gives no name.
    separator, decimal : str or None
        What separates the cells of a CSV file (None stands for blanks), and its decimal mark.
    files : tuple of Frame
        The frames it was joined from, where it comes from several files.
    sheets : tuple of str
        Names of the sheets of a workbook.
    noted : tuple of str
        Columns that say something about the rows and are not measured, such as the types of cells.
    """

    source: str
    columns: list[Column]
    matrix: AnyFloats | None = None
    lines: Sequence[int] | None = None
    has_header: bool = True
    notices: tuple[str, ...] = ()
    is_file: bool = True
    unnamed: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str = "."
    files: tuple[Frame, ...] = ()
    sheets: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].numbers)

    def place(self, row: int, name: str) -> str:
        """Where a value stands, for messages."""
        return f"{self.row_place(row)}, column {name!r}"

    def row_place(self, row: int) -> str:
        """Where a row stands, for messages: rows of files count from 1, those in memory from 0."""
        for file in self.files:
            if row < file.n_rows:
                return file.row_place(row)
            row -= file.n_rows
        if not self.is_file:
            return f"row {row} of {self.source}"
        return f"{self.source}, line {self.lines[row]}" if self.lines is not None else f"{self.source}: row {row + 1}"

    def leave_out(self, instead: str = "other columns", name: str = "") -> str:
        """What to do about a column that cannot be used, for messages."""
        drop = f", or leave it out with drop={name!r}" if name else ""
        return f"choose {instead} with columns={drop}" if self.is_file else "leave it out"


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
    numbers : ndarray of shape (n_rows,)
        NaN where a value is missing, or is a word.
    codes : ndarray of shape (n_rows,), optional
        The place of each cell's word in `names`, -1 for other cells; None if no cell is a word.
    names : tuple of str
        The different words.
    refused : str, optional
        Why it can be neither numbers nor categories, where that is so.
    mixed_marks : tuple of two rows, optional
        Rows of which one has a decimal comma, the other a point.
    unit : str, optional
        What the numbers count, where that is known: the days of a date.
    converted : bool
        Whether the numbers were written in words, such as 57.7%.
    """

    name: str
    numbers: AnyFloats
    codes: NDArray[np.int32] | None = None
    names: tuple[str, ...] = ()
    refused: str | None = None
    mixed_marks: tuple[int, int] | None = None
    unit: str | None = None
    converted: bool = False

    @property
    def is_category(self) -> bool:
        """Whether every cell that is not missing is a word."""
        return bool(self.names) and int(np.isfinite(self.numbers).sum()) == 0

    @property
    def is_blank(self) -> bool:
        """Whether it has no value at all."""
        return not self.names and not self.refused and bool(np.isnan(self.numbers).all())

    @property
    def words(self) -> dict[int, str]:
        """The cells that are words, by row."""
        codes = [] if self.codes is None else self.codes.tolist()
        return {row: self.names[code] for row, code in enumerate(codes) if code >= 0}

    @property
    def first_word(self) -> tuple[int, str]:
        """The first cell that is a word, and its row."""
        return next(iter(self.words.items()))

    @classmethod
    def of_words(cls, name: str, words: Mapping[int, str], numbers: AnyFloats) -> Column:
        """The column of `numbers` in which some rows hold words.

        Examples
        --------
        >>> Column.of_words("city", {0: "Rome", 2: "Bonn"}, np.full(3, np.nan)).codes.tolist()
        [0, -1, 1]
        """
        positions = {word: code for code, word in enumerate(dict.fromkeys(words.values()))}
        codes = np.full(len(numbers), -1, dtype=np.int32)
        codes[list(words)] = [positions[word] for word in words.values()]
        return cls(name, numbers, codes, tuple(positions)) if words else cls(name, numbers)


def dated(column: Column, order: str | None = None) -> Column:
    """A column of words that are all dates as days since 1970; any other unchanged.

    Dates such as 03/04/2020 are read in `order` if it is given, and otherwise in the :func:`date_order` of the column.

    Examples
    --------
    >>> dated(Column.of_words("day", {0: "1970-01-03", 1: "1970-01-01T12:00"}, np.full(2, np.nan))).numbers
    array([2. , 0.5])
    """
    if not column.is_category:
        return column
    order = order or date_order(column)
    try:
        if all(_DATE.match(word) for word in column.names):
            iso = [re.sub("[/.]", "-", word[:10]) + word[10:] for word in column.names]
            days = days_since_1970([datetime.datetime.fromisoformat(word) for word in iso])
        elif order is not None:
            days = days_since_1970([_written_date(word, order) for word in column.names])
        else:
            return column
    except ValueError:
        return column
    return Column(column.name, np.append(days, np.nan)[column.codes], unit="days")


def date_order(column: Column) -> str | None:
    """How dates such as 31/12/2020 are written in a column: "day/month" unless a day above 12 says otherwise.

    Examples
    --------
    >>> date_order(Column.of_words("day", {0: "03/04/2020", 1: "12/31/2020"}, np.full(2, np.nan)))
    'month/day'
    """
    dates = [_WRITTEN_DATE.fullmatch(word) for word in column.names]
    if not dates or not all(dates):
        return None
    return "month/day" if any(int(date[3]) > 12 for date in dates if date) else "day/month"


def _written_date(word: str, order: str) -> datetime.datetime:
    date = _WRITTEN_DATE.fullmatch(word)
    if date is None:
        raise ValueError(word)
    first, second, year = int(date[1]), int(date[3]), int(date[4])
    day, month = (first, second) if order == "day/month" else (second, first)
    hour, minute, second_of_minute = (int(number or 0) for number in date.groups()[4:])
    return datetime.datetime(year, month, day, hour, minute, second_of_minute)


def numbers_in_words(column: Column, decimal: str = ".", guess: bool = False) -> Column:
    """A column of words as numbers if all are: amounts of one currency or unit, thousands, true and false.

    Parameters
    ----------
    column : Column
    decimal : {".", ","}
        The decimal mark.
    guess : bool
        Whether a single comma, as in 1,000, may mark thousands.

    Examples
    --------
    >>> numbers_in_words(Column.of_words("price", {0: "\u20ac 12,500.5"}, np.array([np.nan, 7.0]))).numbers.tolist()
    [12500.5, 7.0]
    >>> numbers_in_words(Column.of_words("is_open", {0: "True", 1: "False"}, np.full(2, np.nan))).numbers.tolist()
    [1.0, 0.0]
    """
    if column.codes is None:
        return column
    if column.is_category and {word.lower() for word in column.names} <= {"true", "false"}:
        numbers = [float(word.lower() == "true") for word in column.names]
    else:
        words = [f"-{word[1:-1]}" if word[:1] + word[-1:] == "()" else word for word in column.names]
        amounts = [_AMOUNT.fullmatch(_MARK_OF_THOUSANDS.sub("", word)) for word in words]
        units = {amount[2] + amount[4] for amount in amounts if amount}
        has_numbers = not column.is_category
        if not all(amounts) or len(units) != 1 or (has_numbers and not units <= {"", *_CURRENCIES}):
            return column
        marks = _SWAP_MARKS if decimal == "," else {}
        texts = [(amount[1] + amount[3]).replace("\u2212", "-").translate(marks) for amount in amounts if amount]
        clear = guess or any(text.count(",") > 1 or ("," in text and "." in text) for text in texts)
        if not all(_PLAIN_NUMBER.fullmatch(text) or (clear and _COMMAS_AT_THOUSANDS.fullmatch(text)) for text in texts):
            return column
        numbers = [float(text.replace(",", "")) for text in texts]
    values = np.where(column.codes >= 0, np.array(numbers)[column.codes], column.numbers)
    return Column(column.name, values, converted=True)


def holds_commas(column: Column) -> bool:
    """Whether all its words are numbers with one comma, which may be a decimal one or mark thousands.

    Examples
    --------
    >>> holds_commas(Column.of_words("price", {0: "1,250"}, np.full(1, np.nan)))
    True
    """
    return bool(column.names) and all(map(_DECIMAL_COMMA.fullmatch, column.names))


def days_since_1970(cells: Sequence[Any]) -> Floats:
    """Dates and times as days since 1970, spans of time in days, NaN where one is missing.

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
    """Whether a value of Python stands for an unknown one.

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


def is_missing(cell: str) -> bool:
    """Whether a cell stands for an unknown value.

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
    if parse_number(cell) is None:
        return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None
    return not is_missing(cell)


def number_with_comma(text: str) -> float | None:
    """The number that a text is where commas are decimal marks and points may mark thousands, None if it is not one.

    Examples
    --------
    >>> number_with_comma("1.000,25"), number_with_comma("1.5")
    (1000.25, None)
    """
    if _POINTS_AT_THOUSANDS.fullmatch(text):
        text = text.replace(".", "")
    elif not _DECIMAL_COMMA.fullmatch(text):
        return None
    return float(text.replace(",", "."))


def as_float(value: Any) -> float:
    """A number as a float, NaN for None; whole numbers beyond the range of floats are infinite.

    Examples
    --------
    >>> as_float(10**400), as_float(None)
    (inf, nan)
    """
    try:
        return math.nan if value is None else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def parse_number(text: str) -> float | None:
    """The number that a text is, None if it is not one: 1_000 is a number of Python, and a name in a table.

    Examples
    --------
    >>> parse_number("1e3"), parse_number("1_000")
    (1000.0, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def choose_columns(
    requested: Sequence[str] | None, names: Sequence[str], source: str, option: str = "columns"
) -> list[int]:
    """Positions of the columns asked for; all of them where none are.

    Parameters
    ----------
    asked : sequence of str or None
        Names, numbers from 1, and ranges of numbers such as `2-5` or `3-`. A name goes before a number.
    names : sequence of str
        The columns there are.
    source : str
        What to call the file in messages.
    option : str
        What to call the request in messages.

    Examples
    --------
    >>> choose_columns(["y", "1"], ["x", "y", "z"], "points.csv"), choose_columns(["2-"], ["x", "y", "z"], "points.csv")
    ([1, 0], [1, 2])
    """
    names = list(names)
    if requested is None:
        return list(range(len(names)))
    if not requested:
        raise TableError(f"{option}= names no column of {source}; it has {some(names, 20)}.")
    positions: list[int] = []
    for item in (str(word).strip() for word in requested):
        matches = _places(item, names)
        if not matches:
            raise TableError(
                f"{option}={item!r} is not in {source}; it has {some(names, 20)} (or 1 to {len(names)}, or a range "
                "like 2-5)."
            )
        positions.extend(matches)
    repeated = next((place for place in positions if positions.count(place) > 1), None)
    if repeated is not None:
        raise TableError(f"{option}= names {names[repeated]!r} of {source} twice; name each column once.")
    return positions


def choose_one(requested: str | None, names: Sequence[str], source: str) -> int:
    """Position of the column of labels: the one asked for, the only one, or the one called label.

    Examples
    --------
    >>> choose_one(None, ["id", "label"], "labels.csv")
    1
    """
    names = list(names)
    if requested is not None:
        matches = _places(requested, names)
        if len(matches) != 1:
            raise TableError(f"label_column={requested!r} is not in {source}; it has {some(names, 20)}.")
        return matches[0]
    if len(names) == 1:
        return 0
    if "label" in names:
        return names.index("label")
    raise TableError(f"{source} has columns {some(names, 20)}; say which holds the labels with label_column=.")


def _places(requested: str, names: list[str]) -> list[int]:
    if requested in names:
        return [names.index(requested)]
    if requested.isdecimal() and 1 <= int(requested) <= len(names):
        return [int(requested) - 1]
    if span := _RANGE.fullmatch(requested):
        first, last = int(span[1]), int(span[2] or len(names))
        if 1 <= first <= last <= len(names):
            return list(range(first - 1, last))
    return []


def joined(frames: Sequence[Frame]) -> Frame:
    """One frame of the rows of several.

    Parameters
    ----------
    frames : sequence of Frame
        With the same columns, in any order; columns without names are taken in their order.

    Examples
    --------
    >>> one = Frame("a.csv", [Column("x", np.array([1.0]))])
    >>> other = Frame("b.csv", [Column("x", np.array([2.0]))])
    >>> both = joined([one, other])
    >>> both.columns[0].numbers, both.place(1, "x")
    (array([1., 2.]), "b.csv: row 1, column 'x'")
    """
    first = frames[0]
    if len(frames) == 1:
        return first
    names = [column.name for column in first.columns]
    aligned = []
    for frame in frames:
        positions = places_of_columns([column.name for column in frame.columns], names, frame.source, first.source)
        aligned.append([frame.columns[place] for place in positions])
    starts = [0, *accumulate(len(columns[0].numbers) for columns in aligned[:-1])]
    columns = [_stacked(pieces, starts) for pieces in zip(*aligned)]
    notices = tuple(dict.fromkeys(notice for frame in frames for notice in frame.notices))
    has_header = all(frame.has_header for frame in frames)
    name = f"{first.source} and {len(frames) - 1} more"
    return Frame(name, columns, has_header=has_header, notices=notices, files=(*frames,))


def places_of_columns(names: Sequence[str], expected: Sequence[str], source: str, first: str) -> list[int]:
    """Where the columns of the first file stand in another one; a `TableError` where it has others.

    Examples
    --------
    >>> places_of_columns(["y", "x"], ["x", "y"], "b.csv", "a.csv")
    [1, 0]
    """
    unnamed = list(names) == column_names(len(expected)) or list(expected) == column_names(len(names))
    if unnamed and len(names) == len(expected):
        return list(range(len(names)))
    lacking = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if lacking or extra:
        differences = [f"lacks {some(lacking)}"] * bool(lacking) + [f"has {some(extra)} besides"] * bool(extra)
        raise TableError(
            f"{source} has other columns than {first}: it {' and '.join(differences)}; give files with the same "
            "columns, or choose some that all have with columns=."
        )
    return [list(names).index(name) for name in expected]


def _stacked(pieces: Sequence[Column], starts: Sequence[int]) -> Column:
    """A column of all files; words and faults keep their rows."""
    words = {start + row: word for piece, start in zip(pieces, starts) for row, word in piece.words.items()}
    refused = next((piece.refused for piece in pieces if piece.refused), None)
    marks = [(start + m[0], start + m[1]) for piece, start in zip(pieces, starts) if (m := piece.mixed_marks)]
    units = {piece.unit for piece in pieces}
    stacked = Column.of_words(pieces[0].name, words, np.concatenate([piece.numbers for piece in pieces]))
    unit = units.pop() if len(units) == 1 else None
    return replace(stacked, refused=refused, mixed_marks=marks[0] if marks else None, unit=unit)


def check_numbers(frame: Frame, column: Column, fitted: str | None) -> None:
    """Raise unless a column holds numbers; `fitted` says what it held when a model was fitted."""
    if column.refused:
        raise TableError(f"{frame.source}: column {column.name!r} {column.refused}; {frame.leave_out('others')}.")
    if column.names and fitted is not None:
        row, cell = column.first_word
        raise TableError(
            f"{frame.place(row, column.name)} is text ({cell[:40]!r}), but the column held {fitted} when the model was "
            "fitted; correct that cell, or leave the row out."
        )
    if column.names:
        raise text_error(frame, column)
    if column.mixed_marks is not None:
        comma, point = column.mixed_marks
        raise TableError(
            f"{frame.place(comma, column.name)} has a decimal comma, but row {point + 1} has a point; say which is "
            'meant with decimal="," or decimal=".".'
        )


def text_error(frame: Frame, column: Column, why: str = "") -> TableError:
    """The error for text in place of a number, with the first such cell."""
    row, cell = column.first_word
    if not frame.is_file and not why:
        return TableError(
            f"column {column.name!r} holds words ({cell[:40]!r}, row {row}) beside numbers; make all of them words "
            "with astype(str), or correct those cells."
        )
    hints = [frame.leave_out()]
    if not frame.has_header:
        hints.append("say header=True if line 1 names the columns")
    if holds_commas(column):
        hints.append('say decimal="," if the comma is a decimal one, or decimal="." if it marks thousands')
    return TableError(
        f"{frame.place(row, column.name)} is text ({cell[:40]!r}), not a number{why}; {', or '.join(hints)}."
    )
