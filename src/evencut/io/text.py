"""Rows of cells from text: CSV of any separator, JSON and JSON lines, and Excel workbooks; and cells made columns.

The separator (comma, semicolon, tab, bar or blanks) and the header of CSV are found out from the first lines; lines
that begin with # before them are remarks.
"""

from __future__ import annotations

import csv
import datetime
import json
import math
import re
import zipfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain, count
from typing import IO, Any

import numpy as np

from .._lazy import require
from .._runtime import counted, one_line, some
from .columns import Column, as_float, column_names, is_missing, is_number, number_with_comma, parse_number
from .files import Source, TableError

Row = tuple[int, list[Any]]

#: Kinds of files that are read row by row.
TEXT = ("csv", "json lines", "json", "excel")
_NO_NAME = re.compile(r"(Unnamed: \d+|__index_level_\d+__)?")


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
                has_names = "_" in "".join(map(str, cells))
            except (ValueError, TypeError, OverflowError):
                has_names = True
            if not has_names:
                self._look_for_points(cells, mark)
                return
            del self._numbers[mark:]
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
            return as_float(cell)
        text, row = cell.strip(), len(self._numbers)
        if self.decimal == "," and "." in text:
            return self._with_comma(text, row)
        number = parse_number(text)
        if number is None:
            return self._with_comma(text, row) if self.decimal != "." else self._word(text, row)
        if self.decimal is None and "." in text and self._point_at is None:
            self._point_at = row
        return number

    def _with_comma(self, text: str, row: int) -> float:
        number = number_with_comma(text)
        if number is None:
            return self._word(text, row)
        if self._comma_at is None:
            self._comma_at = row
        return number

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


@dataclass(frozen=True)
class Rows:
    """The rows of a text file, read one at a time.

    Parameters
    ----------
    names : list of str
        "column 1", "column 2", ... where the file names none.
    rows : iterator of (int, list)
        Number of the line and cells of each row, all of the same length.
    separator : str or None
        None stands for blanks.
    has_header : bool
        Whether the names come from the file.
    first_line : int
        Number of the line that sets how many cells every row has.
    unnamed : tuple of int
        Positions of the columns that the header leaves without a name.
    notices : tuple of str
        What was taken for a remark or for names, to be told.
    sheets : tuple of str
        Names of the sheets of a workbook.
    """

    names: list[str]
    rows: Iterator[Row]
    separator: str | None
    has_header: bool
    first_line: int = 1
    unnamed: tuple[int, ...] = ()
    notices: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()


def json_rows(file: IO[str], name: str) -> Rows:
    """The rows of a JSON file: a list of objects or of lists, an object of columns, and all that pandas writes.

    Examples
    --------
    >>> import io
    >>> table = json_rows(io.StringIO('{"x": [1, 2], "y": [3, null]}'), "t.json")
    >>> table.names, list(table.rows)
    (['x', 'y'], [(1, [1, 3]), (2, [2, None])])
    """
    content = _parsed(file.read(), name)
    if isinstance(content, dict) and content.keys() >= {"columns", "data"}:
        return _rows(name, list(map(str, content["columns"])), content["data"])
    if isinstance(content, dict) and len(content) == 1 and _all_are(dict, wrapped := next(iter(content.values()))):
        content = wrapped
    if isinstance(content, dict) and _all_are(dict, [*content.values()]):
        # Of pandas: an object for each column, or for each row, which are numbered.
        by_row = all(key.isdecimal() for key in content)
        content = [*content.values()] if by_row else {key: [*cells.values()] for key, cells in content.items()}
    if isinstance(content, dict) and _all_are(list, [*content.values()]):
        lengths = sorted({len(column) for column in content.values()})
        if len(lengths) > 1:
            raise TableError(f"{name} has columns of different lengths ({', '.join(map(str, lengths))}).")
        return _rows(name, list(content), list(map(list, zip(*content.values()))))
    if _all_are(dict, content):
        return _rows_of_objects(name, content)
    if _all_are(list, content) and len({len(row) for row in content}) == 1:
        return _rows(name, column_names(len(content[0])), content, has_header=False)
    raise TableError(f"{name} is not a table: give a list of objects, an object of columns, or a list of equal lists.")


def _json_lines_rows(file: IO[str], name: str) -> Rows:
    """One object or list on each line; all lines are read, since a later one may have a new name."""
    lines, objects = [], []
    for line, text in enumerate(file, 1):
        if text.strip():
            row = _parsed(text, f"{name}, line {line}")
            row = dict(zip(column_names(len(row)), row)) if isinstance(row, list) else row
            if not isinstance(row, dict):
                raise TableError(f"{name}, line {line} is {text.strip()[:40]}; give an object or a list on each line.")
            lines.append(line)
            objects.append(row)
    if not objects:
        raise TableError(f"{name} is empty; give one line for each point.")
    return _rows_of_objects(name, objects, lines)


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{name} is not JSON that can be read ({one_line(error)}); repair it.") from error


def _all_are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, kind) for value in values)


def _rows_of_objects(name: str, objects: list[dict[str, Any]], lines: Sequence[int] = ()) -> Rows:
    """A column for every name; what an object leaves out is missing."""
    names = list(dict.fromkeys(key for row in objects for key in row))
    return _rows(name, names, [[row.get(key) for key in names] for row in objects], lines=lines)


def _excel_rows(source: Source, header: bool | None) -> Rows:
    """The rows of a sheet of a workbook; its first row names the columns where it holds no number."""
    name, sheet, limits = source.name, source.sheet, source.limits
    load_workbook = require("openpyxl", "Excel files need openpyxl", "excel").load_workbook
    try:
        # In memory: a workbook that is read bit by bit keeps its file open.
        with source.plain_bytes() as file:
            stored = BytesIO(file.read())
        with zipfile.ZipFile(stored) as archive:
            limits.check_unpacked(sum(entry.file_size for entry in archive.infolist()), 4 * limits.n_bytes)
        book = load_workbook(stored, read_only=True, data_only=True)
        sheets = {page.title: page for page in book.worksheets}
        if sheet is not None and sheet not in sheets:
            raise TableError(f"{name} has no sheet {sheet!r}; it has {some([*sheets])}.")
        rows = (sheets[sheet] if sheet is not None else book.worksheets[0]).iter_rows(values_only=True)
        numbered = []
        for line, row in _kept(zip(count(1), rows)):
            numbered.append((line, [_cell(value) for value in row]))
            limits.check_size(len(numbered) - 1, len(row))
    except TableError:
        raise
    except Exception as error:  # openpyxl answers a damaged file with whatever its parsers run into
        raise TableError(f"{name} is not a workbook that can be read ({one_line(error)}); save it again.") from error
    if not numbered:
        raise TableError(f"{name} is empty; give one row for each point.")
    lines, content = map(list, zip(*numbered))
    width = max(map(len, content))
    content = [row + [None] * (width - len(row)) for row in content]
    named = header if header is not None else not any(isinstance(cell, int | float) for cell in content[0])
    names = column_names(width)
    if named:
        names = [own if cell in (None, "") else str(cell).strip() for cell, own in zip(content[0], names)]
    return replace(_rows(name, names, content[named:], named, lines[named:]), sheets=tuple(sheets))


def _rows(
    name: str, names: list[str], content: list[list[Any]], has_header: bool = True, lines: Sequence[int] = ()
) -> Rows:
    """The rows of `content`, numbered from 1 without `lines`; a cell that holds several values is refused."""

    def numbered() -> Iterator[Row]:
        for line, cells in zip(lines or count(1), content):
            for key, cell in zip(names, cells):
                if isinstance(cell, list | dict):
                    one_value = "holds more than one value; give a number, word or null"
                    raise TableError(f"{name}, line {line}, column {key!r} {one_value}.")
            yield line, list(cells)

    return Rows(names, numbered(), None, has_header)


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


@contextmanager
def open_rows(
    source: Source, header: bool | None = None, separator: str | None = None, guess: bool = False
) -> Iterator[Rows]:
    """The rows of a file of one of the kinds `TEXT`.

    Parameters
    ----------
    source : Source
    header : bool, optional
        Whether line 1 of a CSV file names the columns; otherwise it does if none of its cells is a number, or if these
        are numbers as names are: see :func:`numbers_that_name`.
    separator : str, optional
        What separates the cells of a CSV file; found out otherwise.
    guess : bool
        Whether a first line that may name the columns does so; it is refused otherwise.
    """
    if source.kind == "excel":
        yield _excel_rows(source, header)
        return
    with source.text() as file:
        if source.kind == "json":
            yield json_rows(file, source.name)
        elif source.kind == "json lines":
            yield _json_lines_rows(file, source.name)
        else:
            yield _csv_rows(file, source, header, separator, guess)


def _csv_rows(file: IO[str], source: Source, header: bool | None, separator: str | None, guess: bool) -> Rows:
    name = source.name
    line, skipped, separator_line, remarks = _first_line(file)
    if len(line) > source.limits.line:
        raise TableError(f"the first line of {name} has {len(line)} letters; this is not a table of points.")
    if separator is None:
        separator = separator_line or _separator(line)
    rows = _split(chain([line], file), skipped, separator, name)
    first_line, first = next(rows, (0, []))
    if not first:
        raise TableError(f"{name} is empty; give one line for each point.")
    second = next(rows, None)
    rows = rows if second is None else chain([second], rows)
    notices = [f"line {first_line - 1 if remarks == 1 else f'1 to {first_line - 1}'} of {name}: remarks (#), skipped"]
    notices = notices if remarks else []
    if header is None:
        header = not any(is_number(cell) for cell in first)
        named = second is not None and numbers_that_name(first, second[1])
        if not header and named is None and not guess:
            raise TableError(
                f"{name}, line {first_line} ({some(first)}) may name the columns, as pandas does, or be a point; say "
                "header=True or header=False."
            )
        if not header and named is not False:
            header = True
            notices.append(
                f"line {first_line} of {name} ({some(first)}) is taken for the names of the columns; header=False says "
                "that it is a point"
            )
    names = column_names(len(first))
    unnamed: tuple[int, ...] = ()
    if header and separator is None and second is not None and len(second[1]) == len(first) + 1:
        # R gives its names of rows no name.
        first, names = ["", *first], column_names(len(first) + 1)
    if header:
        unnamed = tuple(i for i, cell in enumerate(first) if is_unnamed(cell))
        names = [cell.strip() or name for cell, name in zip(first, names)]
    else:
        rows = chain([(first_line, first)], rows)
    even = _even(rows, len(first), first_line, name)
    return Rows(names, even, separator, header, first_line, unnamed, tuple(notices))


def numbers_that_name(first: Sequence[str], second: Sequence[str]) -> bool | None:
    """Whether a first line with numbers names columns: years, or the numbers from 0 that pandas writes.

    They go up by one, and the line below does not go on like that. Two alone may be the one or the other: None.

    Examples
    --------
    >>> numbers_that_name(["country", "2019", "2020"], ["Chad", "1.5", "2"])
    True
    >>> numbers_that_name(["0", "1", "2"], ["3.5", "7", "1"]), numbers_that_name(["0.5", "1", "2"], ["3.5", "7", "1"])
    (True, False)
    >>> numbers_that_name(["0", "1"], ["3.5", "7"])
    """
    length = _run(first)
    if length < 2 or _run(second):
        return False
    # Above an index or a column of names stands a word, or nothing.
    named_beside = [not is_number(cell) and below.strip() for cell, below in zip(first, second)]
    return True if length > 2 or any(named_beside) else None


def _run(cells: Sequence[str]) -> int:
    """How many numbers the cells hold if they are 0, 1, 2, ... or years that follow each other; else 0."""
    numbers = [cell.strip() for cell in cells if is_number(cell)]
    if not numbers or not all(number.isdecimal() for number in numbers):
        return 0
    first = int(numbers[0])
    follows = [int(number) for number in numbers] == list(range(first, first + len(numbers)))
    return len(numbers) if follows and (first == 0 or 1900 <= first <= 2100) else 0


def is_unnamed(cell: str) -> bool:
    """Whether a cell of a header names nothing: empty, or what pandas calls an index without a name.

    Examples
    --------
    >>> is_unnamed(""), is_unnamed("Unnamed: 0"), is_unnamed("price")
    (True, True, False)
    """
    return _NO_NAME.fullmatch(cell.strip()) is not None


def _first_line(file: IO[str]) -> tuple[str, int, str | None, int]:
    """The first line of the table, how many went before, the separator it names, and how many were remarks.

    Spreadsheets may write a first line such as `sep=;`, which is not part of the table.
    """
    skipped = remarks = 0
    separator_line = None
    for line in file:
        if separator_line is None and line.strip().lower().startswith("sep=") and len(line.rstrip("\r\n")) == 5:
            separator_line = line[4]
        elif is_remark(line):
            remarks += 1
        elif line.strip():
            return line, skipped, separator_line, remarks
        skipped += 1
    return "", skipped, None, remarks


def is_remark(line: str) -> bool:
    """Whether a line begins with #, unless it is a missing value of a spreadsheet.

    Examples
    --------
    >>> is_remark("# made by hand"), is_remark("#N/A,2")
    (True, False)
    """
    return line.lstrip().startswith("#") and not line.lstrip().upper().startswith("#N/A")


def _separator(line: str) -> str | None:
    """The separator of a line; a semicolon goes first: where it separates, a comma is the decimal mark.

    A line of one cell says nothing: a tab then leaves blanks and commas inside the cells below it alone.
    """
    mark = next((mark for mark in (";", "\t", ",", "|") if mark in line), None)
    return "\t" if mark is None and len(line.split()) == 1 else mark


def _split(lines: Iterable[str], skipped: int, separator: str | None, name: str) -> Iterator[Row]:
    """Line number and cells of each row."""
    if separator is None:
        for number, line in enumerate(lines, skipped + 1):
            if cells := line.split():
                yield number, [cell.strip('"') for cell in cells]
        return
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        # Skip empty lines.
        yield from _kept((skipped + reader.line_num, cells) for cells in reader if cells)
    except csv.Error as error:
        cure = "look for a quote that is never closed"
        raise TableError(f"{name} is not CSV that can be read ({one_line(error)}); {cure}.") from error


def _kept(rows: Iterable[Row]) -> Iterator[Row]:
    """All but the rows without a value before and after all others, as spreadsheets leave them.

    Between others they are kept, so that labels stay beside rows.

    Examples
    --------
    >>> list(_kept(enumerate([[""], ["x"], [0], [None], ["3"], [" "]])))
    [(1, ['x']), (2, [0]), (3, [None]), (4, ['3'])]
    """
    empty: list[Row] | None = None
    for number, cells in rows:
        if (cells[0] and str(cells[0]).strip()) or any(cell is not None and str(cell).strip() for cell in cells):
            yield from empty or ()
            empty = []
            yield number, cells
        elif empty is not None:
            empty.append((number, cells))


def _even(rows: Iterator[Row], width: int, first_line: int, name: str) -> Iterator[Row]:
    for line, cells in rows:
        if len(cells) != width:
            if len(cells) == 1 and not cells[0].strip():
                continue
            why = "every line must have the same number."
            if str(cells[0]).lstrip().startswith("#"):
                why = "it begins with #: remarks stand before the table only."
            n_values = counted(len(cells), "value")
            raise TableError(f"{name}, line {line} has {n_values}, but line {first_line} has {width}; {why}")
        yield line, cells
