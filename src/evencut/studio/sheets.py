"""Tables as the studio keeps them: columns of numbers, and columns of names as codes; read from bytes of strangers.

`evencut.io` reads them, within limits: what is too large, pickled, compressed beyond measure or not a table at all is
refused before it takes memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..io.columns import Frame, dated
from ..io.files import TableLimits, TableTooLarge
from ..io.read import read_frame
from .options import Limits
from .refusals import Refused, TooLarge

#: How names of files end that can be opened.
OPENED = (".csv", ".tsv", ".txt", ".data", ".dat", ".csv.gz", ".xlsx", ".parquet", ".pq", ".npy")
_KINDS = {"csv": "csv", "excel": "csv", "parquet": "parquet", "npy": "npy"}
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

_ALL_ROWS = slice(None)


@dataclass(frozen=True)
class Reading:
    """What the user says about a text table; None where it is to be found out."""

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class SheetColumn:
    """One column: numbers (missing ones are NaN), or codes of `names` (missing ones are -1)."""

    name: str
    values: NDArray[Any]
    names: list[str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it can be clustered by."""
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
        return float(value) if np.isfinite(value) else None


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
    """

    columns: list[SheetColumn]
    source: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    row_numbers: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        return sum(column.values.nbytes + sum(map(len, column.names or ())) for column in self.columns)

    def column(self, name: str) -> SheetColumn:
        """A column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise Refused(f"there is no column {name[:80]!r} in these data.", 404)

    def numbers(self, names: list[str], rows: NDArray[np.intp] | slice = _ALL_ROWS) -> NDArray[np.floating]:
        """The columns `names` side by side, of all rows or of some."""
        chosen = [self.column(name) for name in names]
        for column in chosen:
            if not column.is_number:
                raise Refused(f"column {column.name!r} holds names, not numbers; it can colour points or be diagnosed.")
        return np.column_stack([column.values[rows] for column in chosen])


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
        raise Refused(f"{called} is empty.")
    if suffix == ".gz" and io.kind_and_compression(called)[0] is None:
        called = f"{called.removesuffix('.gz')}.csv.gz"
    if io.kind_and_compression(called)[0] not in _KINDS:
        what = _OTHERS.get(suffix, "no table known here")
        raise Refused(f"{called!r} is {what}; its name must end in {', '.join(OPENED)}.", 415)
    try:
        table = _read(data, called, limits, reading or Reading())
    except TableTooLarge as error:
        raise TooLarge(str(error)) from error
    except (io.TableError, ModuleNotFoundError) as error:
        raise Refused(str(error)) from error
    except MemoryError as error:
        raise TooLarge(f"{called} takes more memory than there is for it; use fewer rows or columns.") from error
    if table.n_rows < 3:
        raise Refused(f"{called} has {table.n_rows} rows; give at least 3 points.")
    if not any(column.is_number for column in table.columns):
        raise Refused(f"{called} has no column of numbers; at least one is needed.")
    return table


def _read(data: bytes, name: str, limits: Limits, reading: Reading) -> Sheet:
    bounds = TableLimits(
        limits.table_bytes, limits.rows, limits.columns, limits.cells, limits.text_bytes, _FIRST_LINE
    )  # fmt: skip
    source = io.Source(name, data=data, limits=bounds)
    said: dict[str, Any] = {}
    if source.kind in ("csv", "excel"):
        said = {"header": reading.header, "decimal": reading.decimal, "separator": reading.delimiter}
    notices = ["the first sheet of the workbook is read"] if source.kind == "excel" else []
    try:
        frame = read_frame(source, guess=True, **said)
    except io.TableError as error:
        is_other = isinstance(error.__cause__, UnicodeDecodeError) and not _NO_TEXT.search(data[:_FIRST_LINE])
        if not is_other or source.is_utf16:
            raise
        source = io.Source(name, encoding="latin-1", data=data, limits=bounds)
        frame = read_frame(source, guess=True, **said)
        notices.append("this is not UTF-8; it is read as Latin-1, as Windows writes it")
    about: dict[str, Any] = {"kind": _KINDS[source.kind], "name": name}
    if said:
        about |= {"delimiter": frame.separator, "header": frame.has_header, "decimal": frame.decimal}
    if written := _written(source, frame):
        about["written"] = written
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
        if any(column.name == other.name for other in columns):
            raise Refused(f"two columns are called {column.name[:80]!r}; give each a name of its own.")
        names = [name[: limits.text_bytes] for name in column.names]
        if why := _why_not(column):
            left_out.append((column.name, why))
        elif column.codes is None:
            columns.append(SheetColumn(column.name, np.where(np.isfinite(column.numbers), column.numbers, np.nan)))
        else:
            # What looks like a number among words is one of the names.
            numbers, places = np.unique(column.numbers[np.isfinite(column.numbers)], return_inverse=True)
            codes = np.array(column.codes)
            codes[np.isfinite(column.numbers)] = len(names) + places
            columns.append(SheetColumn(column.name, codes, [*names, *(f"{number:.15g}" for number in numbers)]))
    if not columns:
        raise Refused("this table has no column of numbers or names that can be used.")
    return columns, left_out


def _why_not(column: io.Column) -> str | None:
    """Why a column cannot be used, where that is so."""
    if column.unit is not None:
        return "holds dates or times; make numbers of them, such as days since the first"
    if column.mixed_marks is not None:
        return "has decimal commas and decimal points; say which is meant"
    if column.codes is None and not np.isfinite(column.numbers).any():
        return column.refused or "is empty"
    if len(column.names) > _MOST_NAMES:
        return f"is text with {len(column.names)} different values; at most {_MOST_NAMES} are names"
    return column.refused
