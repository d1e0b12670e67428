"""Tables as the studio keeps them: columns of numbers, and columns of names as codes; read from bytes of strangers.

CSV and TSV, Parquet and NPY are understood. What is too large, pickled, compressed beyond measure or not a table at all
is refused before it takes memory.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.arrow import is_numeric, without_index
from ..io.cells import MISSING_WORDS
from ..io.errors import some
from ..io.rows import is_remark, is_unnamed, numbers_that_name
from .options import Limits
from .plain_files import plain_file
from .refusals import Refused, TooLarge

__all__ = ["MISSING", "OPENED", "Column", "Reading", "Table", "read_table"]

_TEXT = (".csv", ".tsv", ".txt", ".data")
_KNOWN = (*_TEXT, ".parquet", ".pq", ".npy")
#: How names of files end that can be opened.
OPENED = (*_TEXT, ".gz", ".xlsx", ".parquet", ".pq", ".npy")
_BATCH = 4096
_SNIFFED = 1 << 16
#: Cells that mean "nothing here", in the spellings people use.
MISSING = sorted({spelled for word in MISSING_WORDS for spelled in (word, word.upper(), word.capitalize(), "NaN")})
_MOST_NAMES = 10_000


@dataclass(frozen=True)
class Reading:
    """What the user says about a text table; None where it is to be found out."""

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class Column:
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
class Table:
    """Columns of one length, with how they were read, so that code can read them again.

    Attributes
    ----------
    columns : list of Column
    source : dict
        `kind` is "csv", "parquet", "npy" or "example"; the rest is what reading needs.
    notices : list of str
        What was taken for remarks, names or row numbers, to be told.
    row_numbers : list of str
        Columns that the file does not name: the index of pandas, nothing to cluster by.
    left_out : list of (str, str)
        Columns that are not here, and why.
    """

    columns: list[Column]
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

    def column(self, name: str) -> Column:
        """A column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise Refused(f"there is no column {name[:80]!r} in these data.", 404)

    def numbers(self, names: list[str]) -> NDArray[np.floating]:
        """The columns `names` side by side."""
        chosen = [self.column(name) for name in names]
        for column in chosen:
            if not column.is_number:
                raise Refused(f"column {column.name!r} holds names, not numbers; it can colour points or be diagnosed.")
        return np.column_stack([column.values for column in chosen])


def read_table(data: bytes, name: str, limits: Limits, reading: Reading | None = None) -> Table:
    """The table in a file's bytes; its kind is told by the suffix of `name`, and `reading` by what the user says.

    Examples
    --------
    >>> table = read_table(b"x,y,kind\\n1,2,a\\n3,4,b\\n5,6,a\\n", "points.csv", Limits())
    >>> [(column.name, column.is_number) for column in table.columns]
    [('x', True), ('y', True), ('kind', False)]
    """
    if not data:
        raise Refused(f"{name[:80]} is empty.")
    plain = plain_file(data, name, limits)
    data, suffix, reading = plain.data, plain.suffix, reading or Reading()
    if suffix not in _KNOWN:
        raise Refused(f"{name[:80]!r} is {plain.called}; its name must end in {', '.join(OPENED)}.", 415)
    if suffix == ".npy":
        table = _from_npy(data, limits)
    elif suffix in _TEXT:
        table = _from_csv(data, suffix, limits, reading)
    else:
        table = _from_parquet(data, limits)
    if table.n_rows < 3:
        raise Refused(f"{name[:80]} has {table.n_rows} rows; give at least 3 points.")
    if not any(column.is_number for column in table.columns):
        raise Refused(f"{name[:80]} has no column of numbers; at least one is needed.")
    table.source["name"] = PurePath(name).name
    table.notices[:0] = plain.notices
    if plain.written:
        table.source["written"] = plain.written
    return table


def _from_npy(data: bytes, limits: Limits) -> Table:
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise Refused(f"this NPY file has version {version}; save it again with numpy.save.")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, in_columns, dtype = read(file, max_header_size=10_000)
    except (ValueError, EOFError, SyntaxError, TypeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise Refused("this is not an NPY file that can be read: its header is broken.") from error
    if dtype.hasobject:
        raise Refused("this NPY file holds pickled objects, which could run code when read; save an array of numbers.")
    if dtype.names is not None or dtype.kind not in "biuf":
        raise Refused(f"this NPY file holds {str(dtype)[:80]}, not numbers; save an array of numbers.")
    if len(shape) not in (1, 2) or 0 in shape:
        raise Refused(f"this NPY file has shape {str(shape)[:80]}; it must be (points, columns).")
    n_rows, n_columns = shape[0], (shape[1] if len(shape) == 2 else 1)
    _check_size(n_rows, n_columns, limits)
    body = data[file.tell() :]
    if len(body) != n_rows * n_columns * dtype.itemsize:
        raise Refused(f"this NPY file is cut off: of {n_rows} x {n_columns} values, {len(body)} bytes are there.")
    values = np.frombuffer(body, dtype=dtype).reshape((n_rows, n_columns), order="F" if in_columns else "C")
    columns = [Column(f"column {i + 1}", _finite(values[:, i])) for i in range(n_columns)]
    return Table(columns, {"kind": "npy"})


def _from_csv(data: bytes, suffix: str, limits: Limits, reading: Reading) -> Table:
    import pyarrow
    import pyarrow.csv

    if b"\x00" in data[:_SNIFFED]:
        raise Refused("this is not text: it has zero bytes; save it as CSV in UTF-8.")
    text = _start_of_text(data)
    remarks = _count_remarks(text)
    first, second, delimiter = _sniff(text[remarks:], suffix, reading.delimiter)
    _check_size(data.count(b"\n"), len(first), limits)
    notices = [f"{remarks} lines that begin with # are taken for remarks"] if remarks else []
    has_header = reading.header if reading.header is not None else not any(_is_number(cell) for cell in first)
    if reading.header is None and not has_header and numbers_that_name(first, second) is not False:
        has_header = True
        notices.append(f"the first line ({some(first)}) is taken for the names of the columns")
    names = [cell.strip() for cell in first] if has_header else [f"column {i + 1}" for i in range(len(first))]
    row_numbers = [name or f"column {i + 1}" for i, name in enumerate(names) if is_unnamed(name)]
    names = [name or f"column {i + 1}" for i, name in enumerate(names)]
    _check_names(names, limits)
    decimal = reading.decimal or _decimal_point(data, delimiter)
    try:
        table = pyarrow.csv.read_csv(
            pyarrow.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=remarks + has_header, use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=False),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=MISSING,
                strings_can_be_null=True,
                auto_dict_encode=True,
                auto_dict_max_cardinality=_MOST_NAMES,
                timestamp_parsers=[],
                decimal_point=decimal,
            ),
        )
    except pyarrow.ArrowException as error:
        raise Refused(f"this is not CSV that can be read ({' '.join(str(error).split())[:200]}).") from error
    source = {"kind": "csv", "delimiter": delimiter, "header": has_header, "decimal": decimal, "remarks": remarks}
    columns, left_out = _columns(table, limits)
    return Table(columns, source, notices, row_numbers, left_out)


def _start_of_text(data: bytes) -> list[str]:
    """The first lines, as far as they are needed to find out what the table is like."""
    try:
        text = data[:_SNIFFED].decode("utf-8-sig", errors="strict" if len(data) < _SNIFFED else "ignore")
    except UnicodeDecodeError as error:
        raise Refused(f"this is not text in UTF-8 (byte {error.start}); save it as UTF-8.") from error
    return [line.rstrip("\r") for line in text.split("\n")]


def _count_remarks(lines: list[str]) -> int:
    """How many lines before the table begin with #."""
    return next((i for i, line in enumerate(lines) if not is_remark(line)), 0)


def _sniff(lines: list[str], suffix: str, given: str | None) -> tuple[list[str], list[str], str]:
    """The cells of the first two lines, and what parts them."""
    import csv

    line = lines[0]
    if not line.strip():
        raise Refused("the first line is empty; begin with the names of the columns, or with the first point.")
    if len(line) >= _SNIFFED - 4:
        raise Refused("the first line is longer than 64 kB; this is not a table of points.")
    delimiter = given or ("\t" if suffix == ".tsv" else next((mark for mark in ";\t,|" if mark in line), ","))
    try:
        first, second = (next(csv.reader([one], delimiter=delimiter), []) for one in (line, "".join(lines[1:2])))
    except csv.Error as error:
        raise Refused(f"this is not CSV that can be read ({error}).") from error
    return first, second, delimiter


def _decimal_point(data: bytes, delimiter: str) -> str:
    """A comma where a semicolon parts cells such as 1,5 and none has a point."""
    lines = b"".join(data[:_SNIFFED].split(b"\n")[1:20])
    return "," if delimiter == ";" and b"," in lines and b"." not in lines else "."


def _from_parquet(data: bytes, limits: Limits) -> Table:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), thrift_string_size_limit=1 << 24)
        about = file.metadata
        _check_size(about.num_rows, about.num_columns, limits)
        unpacked = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if unpacked > 8 * limits.cells:
            most = 8 * limits.cells / 1e6
            raise TooLarge(f"this Parquet file unpacks to {unpacked / 1e6:.4g} MB; {most:.4g} MB are taken.")
        _check_names(file.schema_arrow.names, limits)
        kept = set(without_index(file.schema_arrow))
        plain = [field.name for field in file.schema_arrow if field.name in kept and _is_plain(field.type)]
        odd = [(one.name, _why_not(one.type)) for one in file.schema_arrow if not _is_plain(one.type)]
        most = 8 * limits.cells
        parts, n_bytes = [], 0
        # A few bytes may stand for any number of values: the true size is counted as it grows.
        for batch in file.iter_batches(batch_size=_BATCH, columns=plain, use_threads=False):
            parts.append(_without_long_text(batch))
            n_bytes += parts[-1].nbytes
            if n_bytes > most:
                raise TooLarge(f"this Parquet file unpacks to more than the {most / 1e6:.4g} MB that are taken.")
        table = pyarrow.Table.from_batches(parts) if parts else file.schema_arrow.empty_table().select(plain)
    except MemoryError as error:
        raise TooLarge(
            "this Parquet file takes more memory than there is for it; use fewer rows or columns."
        ) from error
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Refused(f"this is not a Parquet file that can be read ({' '.join(str(error).split())[:200]}).") from error
    columns, left_out = _columns(table, limits)
    unnamed = [column.name for column in columns if is_unnamed(column.name)]
    return Table(columns, {"kind": "parquet"}, [], unnamed, [*odd, *left_out])


def _without_long_text(batch: Any) -> Any:
    """Text as codes at once: a word that stands in many rows is kept once."""
    import pyarrow

    arrays = [
        column.dictionary_encode()
        if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)
        else column
        for column in batch.columns
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _is_plain(kind: Any) -> bool:
    """Numbers and text; not lists, structures or binary."""
    from pyarrow import types

    text = types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)
    return text or is_numeric(kind)


def _why_not(kind: Any) -> str:
    """Why a column of a type cannot be used."""
    from pyarrow import types

    if types.is_temporal(kind):
        return "holds dates or times; make numbers of them, such as days since the first"
    if types.is_null(kind):
        return "is empty"
    return f"holds {kind}, neither numbers nor names"


def _columns(table: Any, limits: Limits) -> tuple[list[Column], list[tuple[str, str]]]:
    """The columns of an Arrow table that can be used (numbers, and names that are not too many), and why not others."""
    import pyarrow

    found, left_out = [], []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
            column = column.dictionary_encode()
            kind = column.type
        if pyarrow.types.is_dictionary(kind):
            whole = pyarrow.chunked_array(column.chunks, kind).unify_dictionaries().combine_chunks()
            whole = whole.chunk(0) if isinstance(whole, pyarrow.ChunkedArray) else whole
            names = [str(value)[: limits.text_bytes] for value in whole.dictionary.to_pylist()]
            codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
            if (numbers := _numbers_in_words(names)) is not None:
                found.append(Column(str(name), np.append(numbers, np.nan)[codes]))
            elif len(names) <= _MOST_NAMES:
                found.append(Column(str(name), codes, names))
            else:
                why = f"is text with {len(names)} different values; at most {_MOST_NAMES} are names"
                left_out.append((str(name), why))
        elif _is_plain(kind):
            single = pyarrow.types.is_float32(kind)
            values = column.cast(pyarrow.float32() if single else pyarrow.float64(), safe=False)
            values = values.to_numpy(zero_copy_only=False)
            found.append(Column(str(name), _finite(values)))
        else:
            left_out.append((str(name), _why_not(kind)))
    if not found:
        raise Refused("this table has no column of numbers or names that can be used.")
    return found, left_out


_THOUSANDS = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


def _numbers_in_words(names: list[str]) -> NDArray[np.float64] | None:
    """The numbers that words stand for where all do, with commas at the thousands: 1,000 is a number."""
    if not any("," in name for name in names) or not all(_THOUSANDS.fullmatch(name.strip()) for name in names):
        return None
    return np.array([float(name.replace(",", "")) for name in names])


def _finite(values: NDArray[Any]) -> NDArray[np.floating]:
    """As numbers, in single precision where they were stored so; what is infinite or absent is missing."""
    numbers: NDArray[Any] = np.array(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _check_size(n_rows: int, n_columns: int, limits: Limits) -> None:
    for what, n, most in (("rows", n_rows, limits.rows), ("columns", n_columns, limits.columns)):
        if n > most:
            raise TooLarge(
                f"this table has {n} {what}; {most} are taken. Use a sample, or evencut cluster --landmarks."
            )
    if n_rows * n_columns > limits.cells:
        raise TooLarge(f"this table has {n_rows} x {n_columns} values; {limits.cells} are taken. Use fewer columns.")


def _check_names(names: list[str], limits: Limits) -> None:
    longest = max(map(len, names), default=0)
    if longest > limits.text_bytes:
        raise Refused(f"a column has a name of {longest} letters; at most {limits.text_bytes} are taken.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Refused(f"two columns are called {name[:80]!r}; give each a name of its own.")
        seen.add(name)
