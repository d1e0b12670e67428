"""Tables as the studio keeps them: columns of numbers, and columns of names as codes; read from bytes of strangers.

`evencut.io` reads them, within limits: what is too large, pickled, compressed beyond measure or not a table at all is
refused before it takes memory.
"""

from __future__ import annotations

import csv
import re
import zipfile
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..io.columns import Frame, dated
from ..io.files import TableLimits, TableTooLarge
from ..io.read import read_frame
from ..io.text import is_remark
from .options import Limits, RequestError, TooLarge

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


@dataclass(frozen=True, eq=False)
class SheetColumn:
    """One column: numbers (missing ones are NaN), or codes of `names` (missing ones are -1).

    Attributes
    ----------
    holds : {"numbers", "words", "dates"}
        Dates are days since 1970.
    refused : str
        Why it cannot be clustered by, where that is so.
    """

    name: str
    values: NDArray[Any]
    names: list[str] | None = None
    holds: str = "numbers"
    refused: str = ""

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
        used, codes = np.unique(values[values >= 0], return_inverse=True)
        places = np.full(len(values), -1, dtype=np.int32)
        places[values >= 0] = codes
        return io.Column(self.name, np.full(len(values), np.nan), places, tuple(self.names[code] for code in used))

    def role(self, unnamed: bool = False) -> tuple[str, str]:
        """What the column is for, and why: number, category, date, identifier, outcome, or leave out.

        Examples
        --------
        >>> SheetColumn("customer_id", np.arange(100.0) + 1000).role()
        ('identifier', 'a different whole number in every row')
        >>> SheetColumn("churned", np.arange(100.0) % 2).role()[0], SheetColumn("age", np.arange(9.0)).role()[0]
        ('outcome', 'number')
        """
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
        raise RequestError(f"there is no column {name[:80]!r} in these data.", 404)

    def numbers(self, names: list[str], rows: NDArray[np.intp] | slice = _ALL_ROWS) -> NDArray[np.floating]:
        """The columns `names` side by side, of all rows or of some."""
        chosen = [self.column(name) for name in names]
        for column in chosen:
            if not column.is_number:
                raise RequestError(f"column {column.name!r} holds names, not numbers; use it for colours or labels.")
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
    bounds = TableLimits(
        limits.table_bytes, limits.rows, limits.columns, limits.cells, limits.text_bytes, _FIRST_LINE
    )  # fmt: skip
    source = io.Source(name, data=data, limits=bounds)
    if source.kind == "excel":
        _check_unpacked(data, name)
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
            raise RequestError(f"two columns are called {column.name[:80]!r}; give each a name of its own.")
        names = [name[: limits.text_bytes] for name in column.names]
        holds = "numbers" if column.unit is None else "dates"
        if why := _why_not(column):
            left_out.append((column.name, why))
        elif column.codes is None:
            known = np.where(np.isfinite(column.numbers), column.numbers, np.nan)
            columns.append(SheetColumn(column.name, known, holds=holds))
        else:
            # What looks like a number among words is one of the names.
            numbers, places = np.unique(column.numbers[np.isfinite(column.numbers)], return_inverse=True)
            codes = np.array(column.codes)
            codes[np.isfinite(column.numbers)] = len(names) + places
            words = [*names, *(f"{number:.15g}" for number in numbers)]
            why = "words and numbers in one column" if len(numbers) else ""
            if len(names) > min(50, int((codes >= 0).sum()) // 2):
                why = f"{len(words)} different words are names, not categories"
            columns.append(SheetColumn(column.name, codes, words, "words", why))
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


def _check_unpacked(data: bytes, name: str) -> None:
    """Raise where a workbook unpacks to far more than workbooks do: reading it would take minutes."""
    most = (16 << 20) + 40 * len(data)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile:
        return  # the reader says what is wrong with it
    if unpacked > most:
        raise TooLarge(
            f"{name} has {len(data) / 1e6:.2g} MB and unpacks to {unpacked / 1e6:.4g} MB, more than the "
            f"{most / 1e6:.4g} MB of a usual workbook; save it again, or as CSV."
        )


def rows_with_labels(sheet: Sheet, labels: NDArray[np.integer], names: dict[int, str]) -> tuple[bytes, str]:
    """The user's file with two columns more, the cluster and its name, and how its name ends.

    Nothing else in it changes: text keeps its bytes, Parquet its types, a workbook its cells.

    Examples
    --------
    >>> from dataclasses import replace
    >>> data = b'id;day\\n007;"2024-01-01"\\n2;\\n3;x'
    >>> sheet = read_sheet(data, "a.csv", Limits())
    >>> rows_with_labels(replace(sheet, original=data), np.array([1, 0, 1]), {1: "north"})[0].decode().split()
    ['id;day;cluster;cluster', 'name', '007;"2024-01-01";1;north', '2;;0;', '3;x;1;north']
    """
    known = {column.name for column in sheet.columns}
    heads = [name if name not in known else f"evencut {name}" for name in ("cluster", "cluster name")]
    added = [(label, plain_cell(names.get(label, ""))) for label in labels.tolist()]
    written, original = sheet.source.get("written"), sheet.original
    if sheet.source["kind"] == "parquet" and original:
        return _parquet_with(original, heads, added), ".parquet"
    if written == "excel" and original:
        return _workbook_with(original, heads, added, sheet.source["header"]), ".xlsx"
    if sheet.source["kind"] == "csv" and original:
        return _text_with(sheet, heads, added), ".csv"
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*(plain_cell(column.name) for column in sheet.columns), *heads])
    for row, more in enumerate(added):
        writer.writerow([*(plain_cell(column.cell(row)) for column in sheet.columns), *more])
    return file.getvalue().encode(), ".csv"


def plain_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _text_with(sheet: Sheet, heads: list[str], added: list[tuple[int, str]]) -> bytes:
    """The text as it came, in its own encoding, with two cells more at the end of every record."""
    source = io.Source(sheet.source["name"], data=sheet.original)
    with source.plain_bytes() as file:
        data = file.read()
    mark = data[:2] if source.is_utf16 else b""
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(mark)
    encoding = encoding or ("latin-1" if sheet.source.get("written") == "latin-1" else "utf-8")
    lines = list(StringIO(data[len(mark) :].decode(encoding), newline=""))
    separator = sheet.source["delimiter"] if sheet.source.get("written") != "blanks" else None
    ends = _record_ends(lines, separator)
    if len(ends) != len(added) + bool(sheet.source["header"]):
        raise RequestError("the rows of this file cannot be told apart once more; export the labels alone.")
    cells: list[tuple[Any, Any]] = [*([(heads[0], heads[1])] if sheet.source["header"] else []), *added]
    for line, more in zip(ends, cells):
        file_ = StringIO()
        csv.writer(file_, delimiter=separator or " ", lineterminator="").writerow(more)
        text = lines[line].rstrip("\r\n")
        lines[line] = f"{text}{separator or ' '}{file_.getvalue()}{lines[line][len(text) :]}"
    return mark + "".join(lines).encode(encoding, "replace")


def _record_ends(lines: list[str], separator: str | None) -> list[int]:
    """The places of the lines at which the records of a table end, its header among them."""
    start = 0
    while start < len(lines):
        line = lines[start].lstrip("\ufeff").strip()
        if line and not is_remark(line) and not (line.lower().startswith("sep=") and len(line) == 5):
            break
        start += 1
    if separator is None:
        return [start + i for i, line in enumerate(lines[start:]) if line.strip()]
    reader = csv.reader(lines[start:], delimiter=separator, skipinitialspace=True, strict=True)
    return [start + reader.line_num - 1 for cells in reader if any(cell.strip() for cell in cells)]


def _parquet_with(original: bytes, heads: list[str], added: list[tuple[int, str]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(BytesIO(original))
    for name, values in zip(heads, zip(*added)):
        table = table.append_column(name, pyarrow.array(values))
    file = BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


def _workbook_with(original: bytes, heads: list[str], added: list[tuple[int, str]], header: bool) -> bytes:
    from openpyxl import load_workbook

    book = load_workbook(BytesIO(original))
    page = book.worksheets[0]
    right = page.max_column + 1
    rows = [row[0].row for row in page.iter_rows() if any(cell.value not in (None, "") for cell in row)]
    for row, more in zip(rows, [*([tuple(heads)] if header else []), *added]):
        for place, value in enumerate(more):
            page.cell(row, right + place, value)
    file = BytesIO()
    book.save(file)
    return file.getvalue()
