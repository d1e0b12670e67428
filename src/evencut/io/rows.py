"""Rows of cells from text: CSV of any separator, and JSON lines.

The separator (comma, semicolon, tab, bar or blanks) and the header of CSV are found out from the first lines; lines
that begin with # before them are remarks.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

from .._runtime import one_line, some
from .cells import is_number
from .errors import TableError
from .records import Row, Rows, excel_rows, json_rows
from .sources import Source

#: Kinds of files that are read row by row.
TEXT = ("csv", "json lines", "json", "excel")

_NO_NAME = re.compile(r"(Unnamed: \d+|__index_level_\d+__)?")


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
        with source.plain_bytes() as stored:
            yield excel_rows(stored, source.name, header, source.limits)
        return
    with source.text() as file:
        if source.kind == "json":
            yield json_rows(file, source.name)
        elif source.kind == "json lines":
            if header is not None:
                raise TableError(f"header= is for CSV files, which {source.name} is not; leave it out.")
            yield _json_rows(file, source.name)
        else:
            yield _csv_rows(file, source, header, separator, guess)


def _csv_rows(file: IO[str], source: Source, header: bool | None, separator: str | None, guess: bool) -> Rows:
    name = source.name
    line, skipped, told, remarks = _first_line(file)
    if len(line) > source.limits.line:
        raise TableError(f"the first line of {name} has {len(line)} letters; this is not a table of points.")
    if separator is None:
        separator = told or _separator(line)
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
    names = [f"column {i + 1}" for i in range(len(first))]
    unnamed: tuple[int, ...] = ()
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
    # A word, or nothing where the line below has something, is what stands above an index or a column of names.
    others = [not is_number(cell) and below.strip() for cell, below in zip(first, second)]
    return True if length > 2 or any(others) else None


def _run(cells: Sequence[str]) -> int:
    """How many numbers the cells hold if they are 0, 1, 2, ... or years that follow each other; else 0."""
    numbers = [cell.strip() for cell in cells if is_number(cell)]
    if not numbers or not all(number.isdecimal() for number in numbers):
        return 0
    first = int(numbers[0])
    follows = [int(number) for number in numbers] == list(range(first, first + len(numbers)))
    return len(numbers) if follows and (first == 0 or 1900 <= first <= 2100) else 0


def is_unnamed(cell: str) -> bool:
    """Whether a cell of a header names nothing: empty, or what pandas calls an index that nobody has named.

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
    told = None
    for line in file:
        if told is None and line.strip().lower().startswith("sep=") and len(line.rstrip("\r\n")) == 5:
            told = line[4]
        elif is_remark(line):
            remarks += 1
        elif line.strip():
            return line, skipped, told, remarks
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
    """Line number and cells of each line that is not blank."""
    if separator is None:
        for number, line in enumerate(lines, skipped + 1):
            if cells := line.split():
                yield number, cells
        return
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            if cells and (cells[0].strip() or any(cell.strip() for cell in cells)):
                yield skipped + reader.line_num, cells
    except csv.Error as error:
        raise TableError(f"{name} is not CSV that can be read ({one_line(error)}).") from error


def _even(rows: Iterator[Row], width: int, first_line: int, name: str) -> Iterator[Row]:
    for line, cells in rows:
        if len(cells) != width:
            why = "every line must have the same number."
            if str(cells[0]).lstrip().startswith("#"):
                why = "it begins with #: remarks stand before the table only."
            raise TableError(f"{name}, line {line} has {len(cells)} values, but line {first_line} has {width}; {why}")
        yield line, cells


def _json_rows(file: IO[str], name: str) -> Rows:
    """All lines, since a later one may bring a new name; what a line leaves out is missing."""
    objects = [(number, _json_object(line, number, name)) for number, line in enumerate(file, 1) if line.strip()]
    if not objects:
        raise TableError(f"{name} is empty; give one line for each point.")
    names = list(dict.fromkeys(key for _, row in objects for key in row))
    rows = ((number, [row.get(key) for key in names]) for number, row in objects)
    return Rows(names, rows, None, True, objects[0][0])


def _json_object(line: str, number: int, name: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise TableError(f"{name}, line {number} is not JSON that can be read ({one_line(error)}).") from error
    if isinstance(row, list):
        row = {f"column {i + 1}": cell for i, cell in enumerate(row)}
    if not isinstance(row, dict):
        raise TableError(f"{name}, line {number} is {line.strip()[:40]}; give an object or a list on each line.")
    for key, cell in row.items():
        if isinstance(cell, list | dict):
            raise TableError(f"{name}, line {number}: {key!r} holds more than one value; give a number, word or null.")
    return row
