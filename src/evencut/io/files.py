"""Files: what is wrong with one, how large it may be, its format and compression, and its bytes.

Errors name the place and the cure in one sentence, and options as Python spells them (`columns=`); the command line
shows them as its own. `-`, pipes and character devices are CSV text; they can be read once, or more often with `keep`.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import math
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

from .._lazy import require
from .._runtime import one_line

_SUFFIXES = {
    "csv": (".csv", ".tsv", ".txt", ".data", ".dat"),
    "json lines": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow"),
    "npy": (".npy",),
    "npz": (".npz",),
    "json": (".json",),
    "excel": (".xlsx",),
    "cells": (".h5ad",),
}
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}

# The others are compressed inside.
_COMPRESSIBLE = ("csv", "json lines", "json")
_GZIP_MARK = b"\x1f\x8b"
_PEEKED = 1 << 16

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# How bytes are packed and unpacked on their way. A gzip file stores neither name nor time: the same table is the same
# file.
_STREAMS: dict[str | None, Callable[[IO[bytes], Any], Any]] = {
    None: lambda file, mode: nullcontext(file),
    "gzip": lambda file, mode: gzip.GzipFile("", mode, fileobj=file, mtime=0),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}
_ENTRY = zipfile.ZipInfo("table.csv")

#: What the name of a file to read may end in.
READABLE = (*_KINDS, *(f"{kind}{packed}" for kind in (".csv", ".jsonl") for packed in _COMPRESSIONS))


class TableError(ValueError):
    """A file that cannot be read or written as asked."""


class TableTooLarge(TableError):
    """A file that may be good, but of which there is too much."""


def require_pyarrow(module: str = "pyarrow", what: str = "Parquet files") -> Any:
    """A module of pyarrow; where it is missing, an error that says what to install."""
    return require(module, f"{what} need pyarrow", "cli")


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
    evencut.io.files.TableTooLarge: this table has 12 rows; 10 are taken. Use a sample, or evencut cluster --landmarks.
    """

    n_bytes: float = math.inf
    rows: float = math.inf
    columns: float = math.inf
    cells: float = math.inf
    letters: float = math.inf
    line: float = math.inf

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Refuse more rows, columns or values."""
        for what, n, limit in (("rows", n_rows, self.rows), ("columns", n_columns, self.columns)):
            if n > limit:
                cure = "Use a sample, or evencut cluster --landmarks."
                raise TableTooLarge(f"this table has {n} {what}; {limit} are taken. {cure}")
        if n_rows * n_columns > self.cells:
            raise TableTooLarge(
                f"this table has {n_rows} x {n_columns} values; {self.cells} are taken. Use fewer columns."
            )

    def check_unpacked(self, n_bytes: int, limit: float) -> None:
        """Refuse a file that unpacks to more bytes than `limit`."""
        if n_bytes > limit:
            megabytes = f"{limit / 1e6:.4g} MB"
            raise TableTooLarge(f"this file unpacks to more than the {megabytes} that are taken; use a sample.")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse names that are too long."""
        longest = max(map(len, names), default=0)
        if longest > self.letters:
            raise TableError(f"a column has a name of {longest} letters; at most {self.letters} are taken.")


def kind_and_compression(path: str | Path) -> tuple[str | None, str | None]:
    """Format and compression of a file by its name; None if the name does not show it.

    Examples
    --------
    >>> kind_and_compression("points.csv.gz"), kind_and_compression("points.parquet")
    (('csv', 'gzip'), ('parquet', None))
    >>> kind_and_compression("points.parquet.gz")
    (None, None)
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    if compression is not None and kind not in _COMPRESSIBLE:
        return None, None
    return kind, compression


@dataclass
class Source:
    """One file, or standard input.

    Parameters
    ----------
    path : str
        Its name; `-` is standard input.
    keep : bool
        Whether what can be read only once is kept in memory, to be read again.
    encoding : str, optional
        How its text is written, such as "latin-1" or "cp1252"; UTF-8 without it, or the UTF-16 that spreadsheets mark.
    data : bytes, optional
        What is in the file, where it is in memory: the path is only its name then.
    sheet : str, optional
        Name of the sheet of a workbook; the first one otherwise.
    limits : TableLimits
        How much of it there may be, once it is unpacked.

    Examples
    --------
    >>> Source("-").kind, Source("-").name
    ('csv', 'standard input')
    """

    path: str
    keep: bool = False
    encoding: str | None = None
    data: bytes | None = field(default=None, repr=False)
    sheet: str | None = None
    limits: TableLimits = field(default_factory=TableLimits)
    _kept: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.path = str(self.path)
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise TableError(f"encoding={self.encoding!r} is not known; use utf-8, latin-1 or cp1252.") from error
        self.kind, self.compression = ("csv", None) if self.is_stream else self._checked_kind()

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once."""
        path = Path(self.path)
        return self.data is None and (self.path == "-" or path.is_fifo() or path.is_char_device())

    def stored(self) -> IO[bytes]:
        """The stored bytes, compressed or not."""
        return open(self.path, "rb") if self.data is None else BytesIO(self.data)

    @property
    def is_utf16(self) -> bool:
        """Whether its text begins with the mark of UTF-16."""
        with self.plain_bytes() as file:
            return file.read(2) in _UTF16_MARKS

    @contextmanager
    def plain_bytes(self) -> Iterator[IO[bytes]]:
        """The uncompressed bytes; what goes wrong on the way is a `TableError`."""
        try:
            with self._opened() as file:
                yield file
        except UnicodeDecodeError as error:
            written = "UTF-8" if self.encoding is None else self.encoding
            raise TableError(
                f"{self.name} is not text in {written} ({one_line(error)}); save it as UTF-8, or say how it is written "
                'with encoding=, such as "latin-1".'
            ) from error
        except EOFError as error:
            raise TableError(f"{self.name} ends too early ({one_line(error)}); it was not saved completely.") from error
        except (zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise TableError(f"{self.name} is damaged ({one_line(error)}); compress it again.") from error
        except OSError as error:
            raise TableError(f"cannot read {self.name}: {error.strerror or one_line(error)}.") from error

    @contextmanager
    def text(self) -> Iterator[IO[str]]:
        """The text, in UTF-8 or, where a mark at its start says so, in the UTF-16 that spreadsheets write."""
        with self.plain_bytes() as file:
            peekable = BufferedReader(cast(Any, file), _PEEKED)
            start = peekable.peek(_PEEKED)
            marked = "utf-16" if start[:2] in _UTF16_MARKS else "utf-8-sig"
            encoding = self.encoding or marked
            self._check_text(start, encoding)
            reader = TextIOWrapper(peekable, encoding, newline="")
            try:
                yield reader
            finally:
                # Leaves the file itself open: standard input stays open.
                reader.detach()
                peekable.detach()

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        if self._kept is not None:
            yield BytesIO(self._kept)
            return
        if not self.is_stream:
            with self.stored() as stored, _uncompressed(stored, self.compression, self.name) as plain:
                yield plain if self.limits.n_bytes == math.inf else cast(IO[bytes], _Counted(plain, self.limits))
            return
        # Standard input stays open.
        with nullcontext(sys.stdin.buffer) if self.path == "-" else self.stored() as file:
            packed = cast(Any, BufferedReader(cast(Any, file))) if not hasattr(file, "peek") else file
            is_packed = packed.peek(2)[:2] == _GZIP_MARK
            unpacked: Any = gzip.GzipFile(fileobj=packed) if is_packed else packed
            if self.keep:
                self._kept = unpacked.read()
            yield unpacked if self._kept is None else BytesIO(self._kept)

    def _check_text(self, start: bytes, encoding: str) -> None:
        if encoding != "utf-16" and b"\x00" in start:
            raise TableError(f"{self.name} is not text: it has zero bytes; save it as CSV in UTF-8.")
        if encoding == "utf-16" and "\n" not in start.decode("utf-16", "replace"):
            raise TableError(f"{self.name} is not text in UTF-8, and in UTF-16 it has no lines; save it as UTF-8.")

    def _checked_kind(self) -> tuple[str, str | None]:
        path = Path(self.path)
        if self.data is None and path.is_dir():
            raise TableError(f"{self.path} is a folder; give one file.")
        if self.data is None and not path.exists():
            raise TableError(f"{self.path} does not exist; check the name and the folder.")
        kind, compression = kind_and_compression(path)
        if kind is None:
            known = ", ".join(READABLE)
            raise TableError(f"{self.path} is not of a known kind: its name must end in one of {known}.")
        return kind, compression


@contextmanager
def compressed(file: IO[bytes], compression: str | None) -> Iterator[Any]:
    """A file to write to whose bytes are compressed into an open one, which stays open."""
    if compression in _STREAMS:
        with _STREAMS[compression](file, "wb") as packed:
            yield packed
    elif compression == "zip":
        # A date that never changes: the same table is the same file.
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(_ENTRY, "w") as packed:
            yield packed
    else:
        # Written at the end: pyarrow's own stream would close the file with itself.
        buffer = BytesIO()
        yield buffer
        codec = require_pyarrow("pyarrow", ".zst files").Codec("zstd")
        file.write(codec.compress(buffer.getvalue(), asbytes=True))


class _Counted(RawIOBase):
    """The bytes of a file, counted while they are unpacked."""

    def __init__(self, file: IO[bytes], limits: TableLimits):
        self._file, self._limits, self._n_bytes = file, limits, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._file.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._n_bytes += len(chunk)
        self._limits.check_unpacked(self._n_bytes, self._limits.n_bytes)
        return len(chunk)


@contextmanager
def _uncompressed(file: IO[bytes], compression: str | None, name: str) -> Iterator[Any]:
    if compression in _STREAMS:
        with _STREAMS[compression](file, "rb") as plain:
            yield plain
    elif compression == "zip":
        with zipfile.ZipFile(file) as archive:
            entries = [name for name in archive.namelist() if not name.endswith("/")]
            if len(entries) != 1:
                raise TableError(f"{name} holds {len(entries)} files; unpack it, and name one.")
            with archive.open(entries[0]) as plain:
                yield plain
    else:
        pyarrow = require_pyarrow("pyarrow", ".zst files")
        with pyarrow.CompressedInputStream(pyarrow.PythonFile(file), "zstd") as plain:
            yield plain
