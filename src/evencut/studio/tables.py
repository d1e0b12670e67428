"""Tables as the studio keeps them: columns of numbers, and columns of names as codes; read from bytes of strangers.

`evencut.io` reads them, within limits: what is too large, pickled, compressed beyond measure or not a table at all is
refused before it takes memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..io.columns import Frame, dated, is_number
from ..io.files import TableLimits, TableTooLarge
from ..io.read import read_frame
from .options import Limits, RequestError, TooLarge

#: How names of files end that can be opened.
OPENED = (".csv", ".tsv", ".txt", ".data", ".dat", ".csv.gz", ".xlsx", ".parquet", ".pq", ".npy", ".h5ad")
_KINDS = {"csv": "csv", "excel": "csv", "parquet": "parquet", "npy": "npy", "cells": "cells"}
#: What other files are, by their ends.
_OTHERS = {
    ".gif": "a GIF picture",
    ".bmp": "a BMP picture",
    ".heic": "a HEIC photo",
    ".heif": "a HEIC photo",
    ".avif": "an AVIF photo",
    ".png": "a picture",
    ".jpg": "a picture",
    ".jpeg": "a picture",
    ".xls": "an Excel file of the old kind; save it as .xlsx",
    ".ods": "a spreadsheet of another kind; save it as .xlsx or .csv",
    ".pdf": "a PDF",
    ".zip": "an archive; unpack it",
}
_FIRST_LINE = 1 << 16
_MOST_NAMES = 10_000
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")

#: Names of columns that hold an answer, and of columns that number the rows.
_OUTCOMES = {
    *("label", "labels", "cluster", "clusters", "class", "target", "true", "truth", "y_true", "category", "group"),
    *("outcome", "churn", "churned", "survived", "diagnosis", "response", "converted", "defaulted"),
}
_IDENTIFIERS = {"id", "index", "row", "unnamed: 0", "uuid", "key", "nr"}


@dataclass(frozen=True)
class Reading:
    """What the user says about a text table; None where it is to be found out."""

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None


Role = Literal["number", "category", "date", "identifier", "outcome", "leave out"]


@dataclass(frozen=True, eq=False)
class SheetColumn:
    """One column: numbers (missing ones are NaN), or codes of `names` (missing ones are -1).

    Attributes
    ----------
    holds : {"numbers", "words", "dates"}
        Dates are days since 1970.
    refused : str
        Why it cannot be clustered by, where that is so.
    given : (str, str), optional
        Its role and why, where this does not follow from the values.
    """

    name: str
    values: NDArray[Any]
    names: list[str] | None = None
    holds: str = "numbers"
    refused: str = ""
    given: tuple[str, str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, or dates as numbers."""
        return self.names is None

    @property
    def missing(self) -> int:
        """How many rows have no value here."""
        return int((~np.isfinite(self.values)).sum() if self.is_number else (self.values < 0).sum())

    def cell(self, row: int) -> float | str | None:
        """The value of a row."""
        value = self.values[row]
        if self.names is not None:
            return self.names[int(value)] if value >= 0 else None
        if not np.isfinite(value):
            return None
        if self.holds == "dates":
            return str(np.datetime64(0, "s") + np.timedelta64(round(value * 86400), "s")).removesuffix("T00:00:00")
        return float(value)

    def as_read(self, rows: NDArray[np.intp] | slice = slice(None)) -> io.Column:
        """The column, or some of its rows, as the library reads it."""
        values = self.values[rows]
        if self.names is None:
            return io.Column(self.name, values.astype(np.float64), unit="days" if self.holds == "dates" else None)
        return io.Column(self.name, np.full(len(values), np.nan), values.astype(np.int32), tuple(self.names))

    def role(self, unnamed: bool = False) -> tuple[str, str]:
        """What the column is for, and why: number, category, date, identifier, outcome, or leave out.

        Examples
        --------
        >>> SheetColumn("customer_id", np.arange(100.0) + 1000).role()
        ('identifier', 'a different whole number in every row')
        >>> SheetColumn("churned", np.arange(100.0) % 2).role()[0], SheetColumn("age", np.arange(9.0)).role()[0]
        ('outcome', 'number')
        """
        if self.given is not None:
            return self.given
        name = self.name.strip().lower()
        known = self.values[self.values >= 0] if self.names is not None else self.values[np.isfinite(self.values)]
        n_values = len(np.unique(known))
        if unnamed:
            return "identifier", "it has no name and numbers the rows"
        if name in _OUTCOMES:
            return "outcome", f"named {self.name!r}, with {n_values} values: what other tools or people found"
        if name in _IDENTIFIERS:
            return "identifier", f"named {self.name!r}"
        if n_values == len(known) > 2 and self._numbers_rows(name, known):
            kind = "word" if self.names is not None else "whole number"
            return "identifier", f"a different {kind} in every row"
        if self.refused:
            return "leave out", self.refused
        if self.names is not None:
            return "category", f"{n_values} words"
        return ("date", "dates, as days") if self.holds == "dates" else ("number", "")

    def with_role(self, role: Role) -> SheetColumn:
        """The column as the user wants it used: numbers become words to be categories, and numbers again.

        Examples
        --------
        >>> area = SheetColumn("area", np.array([7.0, 8.0, 7.0, np.nan, 8.0])).with_role("category")
        >>> area.names, area.values.tolist(), area.with_role("number").values.tolist()
        (['7', '8'], [0, 1, 0, -1, 1], [7.0, 8.0, 7.0, nan, 8.0])
        """
        changed = replace(self, given=(role, "your choice"))
        if role == "category" and self.names is None:
            known = np.isfinite(self.values)
            distinct, codes = np.unique(self.values[known], return_inverse=True)
            limit = min(50, int(known.sum()) // 2)
            if self.holds == "dates" or len(distinct) > limit:
                why = f"{len(distinct)} different {self.holds}; {limit} can be categories"
                raise RequestError(f"column {self.name[:80]!r} holds {why}. Use it as it is, or leave it out.")
            values = np.full(len(known), -1, dtype=np.int32)
            values[known] = codes
            return replace(changed, values=values, names=[f"{value:.12g}" for value in distinct], holds="words")
        if role in ("number", "date") and self.names is not None:
            if not all(map(is_number, self.names)):
                raise RequestError(f"column {self.name[:80]!r} holds words; it can be a category, or be left out.")
            numbers = np.array([*map(float, self.names), np.nan])
            return replace(changed, values=numbers[self.values], names=None, holds="numbers")
        if role in ("number", "date") and (role == "date") != (self.holds == "dates"):
            raise RequestError(f"column {self.name[:80]!r} holds {self.holds}, which cannot be read as {role}s.")
        return changed

    def _numbers_rows(self, name: str, known: NDArray[Any]) -> bool:
        if self.names is not None:
            return True
        if self.holds != "numbers" or (known != np.round(known)).any():
            return False
        in_order = len(known) > 20 and bool((np.diff(known) == 1).all())
        return in_order or name.rpartition("_")[2] in _IDENTIFIERS or name.endswith("id")


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns of one length, with how they were read, so that code can read them again.

    Attributes
    ----------
    columns : list of SheetColumn
    source : dict
        `kind` is "csv", "parquet", "npy" or "example"; the rest is what reading needs.
    notices : list of str
        What was taken for remarks, names or row numbers, to be told.
    row_numbers : list of str
        Columns that the file does not name: the index of pandas, nothing to cluster by.
    left_out : list of (str, str)
        Columns that are not here, and why.
    original : bytes
        The file as it came, for exports that leave it as it is.
    """

    columns: list[SheetColumn]
    source: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    row_numbers: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    original: bytes = field(default=b"", repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Worker processes need the columns only."""
        return {**self.__dict__, "original": b""}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        columns = sum(column.values.nbytes + sum(map(len, column.names or ())) for column in self.columns)
        return columns + len(self.original)

    def column(self, name: str) -> SheetColumn:
        """A column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise RequestError(f"column {name[:80]!r} does not exist in these data.", 404)

    def role(self, column: SheetColumn) -> tuple[str, str]:
        """What one of its columns is for, and why."""
        return column.role(unnamed=column.name in self.row_numbers)

    def with_roles(self, roles: Mapping[str, Role]) -> Sheet:
        """The table with other roles of some columns."""
        changed = {name: self.column(name).with_role(role) for name, role in roles.items()}
        words = [c.name for c in self.columns if (c.given or "")[:1] == ("category",) and c.name not in changed]
        words += [name for name, role in roles.items() if role == "category"]
        columns = [changed.get(column.name, column) for column in self.columns]
        return replace(self, columns=columns, source={**self.source, "categories": words})

    def numbers(self, names: list[str]) -> NDArray[np.floating]:
        """The columns `names` side by side."""
        chosen = [self.column(name) for name in names]
        for column in chosen:
            if not column.is_number:
                raise RequestError(f"column {column.name!r} holds names, not numbers; use it for colours or labels.")
        return np.column_stack([column.values for column in chosen])


def read_sheet(data: bytes, name: str, limits: Limits, reading: Reading | None = None) -> Sheet:
    """The table in a file's bytes; its kind is told by the suffix of `name`, and `reading` by what the user says.

    Examples
    --------
    >>> table = read_sheet(b"x,y,kind\\n1,2,a\\n3,4,b\\n5,6,a\\n", "points.csv", Limits())
    >>> [(column.name, column.is_number) for column in table.columns]
    [('x', True), ('y', True), ('kind', False)]
    """
    called, suffix = PurePath(name).name[:80], PurePath(name).suffix.lower()
    if not data:
        raise RequestError(f"{called} is empty.")
    if suffix == ".gz" and io.kind_and_compression(called)[0] is None:
        called = f"{called.removesuffix('.gz')}.csv.gz"
    if io.kind_and_compression(called)[0] not in _KINDS:
        what = _OTHERS.get(suffix, "no table known here")
        raise RequestError(f"{called!r} is {what}; its name must end in {', '.join(OPENED)}.", 415)
    try:
        table = _read(data, called, limits, reading or Reading())
    except TableTooLarge as error:
        raise TooLarge(str(error)) from error
    except (io.TableError, ModuleNotFoundError) as error:
        raise RequestError(str(error)) from error
    except MemoryError as error:
        raise TooLarge(f"{called} takes more memory than there is for it; use fewer rows or columns.") from error
    if table.n_rows < 3:
        raise RequestError(f"{called} has {table.n_rows} rows; give at least 3 points.")
    if not any(column.is_number for column in table.columns):
        raise RequestError(f"{called} has no column of numbers; at least one is needed.")
    return table


def _read(data: bytes, name: str, limits: Limits, reading: Reading) -> Sheet:
    n_bytes = limits.table_bytes
    if io.kind_and_compression(name)[0] == "excel":
        # A workbook may unpack to four times this: 16 MB, and 40 bytes for each byte of the file.
        n_bytes = min(n_bytes, (4 << 20) + 10 * len(data))
    bounds = TableLimits(n_bytes, limits.rows, limits.columns, limits.cells, limits.text_bytes, _FIRST_LINE)
    source = io.Source(name, data=data, limits=bounds, sheet=reading.sheet)
    options: dict[str, Any] = {}
    if source.kind in ("csv", "excel"):
        options = {"header": reading.header, "decimal": reading.decimal, "separator": reading.delimiter}
    notices: list[str] = []
    try:
        frame = read_frame(source, guess=True, **options)
    except io.TableError as error:
        is_other = isinstance(error.__cause__, UnicodeDecodeError) and not _NO_TEXT.search(data[:_FIRST_LINE])
        if not is_other or source.is_utf16:
            raise
        source = io.Source(name, encoding="latin-1", data=data, limits=bounds)
        frame = read_frame(source, guess=True, **options)
        notices.append("this is not UTF-8; it is read as Latin-1, as Windows writes it")
    about: dict[str, Any] = {"kind": _KINDS[source.kind], "name": name}
    if options:
        about |= {"delimiter": frame.separator, "header": frame.has_header, "decimal": frame.decimal}
    if written := _written(source, frame):
        about["written"] = written
    if frame.sheets:
        about |= {"sheet": reading.sheet or frame.sheets[0], "sheets": [*frame.sheets]}
        notices += [f"the sheet {about['sheet']!r} is read; choose another under Data"] if len(frame.sheets) > 1 else []
    columns, left_out = _usable(frame, limits)
    notices += ["blanks part the cells"] if written == "blanks" else []
    return Sheet(columns, about, [*notices, *frame.notices], list(frame.unnamed), left_out)


def _written(source: io.Source, frame: Frame) -> str | None:
    """How a file is written, where it is not plain."""
    if source.kind != "csv":
        return "excel" if source.kind == "excel" else None
    if source.compression is not None or source.encoding is not None:
        return source.compression or source.encoding
    if source.is_utf16:
        return "utf-16"
    return "blanks" if frame.separator is None else None


def _usable(frame: Frame, limits: Limits) -> tuple[list[SheetColumn], list[tuple[str, str]]]:
    """The columns that are numbers, or names that are not too many; and why not the others."""
    columns: list[SheetColumn] = []
    left_out = []
    for column in map(dated, frame.columns):
        names = [name[: limits.text_bytes] for name in column.names]
        holds = "numbers" if column.unit is None else "dates"
        if why := _why_not(column):
            left_out.append((column.name, why))
        elif column.codes is None:
            known = np.where(np.isfinite(column.numbers), column.numbers, np.nan)
            columns.append(SheetColumn(column.name, known, holds=holds))
        else:
            # What looks like a number among words is one of the names.
            numbers, positions = np.unique(column.numbers[np.isfinite(column.numbers)], return_inverse=True)
            codes = np.array(column.codes)
            codes[np.isfinite(column.numbers)] = len(names) + positions
            words = [*names, *(f"{number:.15g}" for number in numbers)]
            why = "words and numbers in one column" if len(numbers) else ""
            if len(names) > min(50, int((codes >= 0).sum()) // 2):
                why = f"{len(words)} different words are names, not categories"
            columns.append(SheetColumn(column.name, codes, words, "words", why))
        if column.name in frame.noted and columns and columns[-1].name == column.name and columns[-1].is_number:
            columns[-1] = replace(columns[-1], given=("leave out", "noted of each cell, not a gene"))
    if not columns:
        raise RequestError("this table has no column of numbers or names that can be used.")
    return columns, left_out


def _why_not(column: io.Column) -> str | None:
    """Why a column cannot be used, where that is so."""
    if column.mixed_marks is not None:
        return "has decimal commas and decimal points; say which is meant"
    if column.codes is None and not np.isfinite(column.numbers).any():
        return column.refused or "is empty"
    if len(column.names) > _MOST_NAMES:
        return f"is text with {len(column.names)} different values; at most {_MOST_NAMES} are names"
    return column.refused
