"""Files as people have them, made plain before they are read: unpacked, in UTF-8, with one mark between cells.

Sizes are counted while unpacking, so that a small file cannot become a large one unnoticed.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import PurePath

from .options import Limits
from .refusals import Refused, TooLarge

__all__ = ["PlainFile", "plain_file"]

_STEP = 1 << 20
_SNIFFED = 1 << 16
_TEXT = (".csv", ".tsv", ".txt", ".data", ".dat")
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BLANKS = re.compile(r"[ \t]+")
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


@dataclass
class PlainFile:
    """Bytes that a reader of one format takes.

    Attributes
    ----------
    data : bytes
    suffix : str
        The format.
    notices : list of str
        What was done to the file.
    written : str
        How the file is written, where it is not plain: "utf-16", "latin-1", "gzip", "excel", "blanks".
    called : str
        What the file is, where it is no table.
    """

    data: bytes
    suffix: str
    notices: list[str] = field(default_factory=list)
    written: str = ""
    called: str = "no table known here"


def plain_file(data: bytes, name: str, limits: Limits) -> PlainFile:
    """A file made plain.

    Examples
    --------
    >>> plain_file("x y\\n1 2\\n".encode("utf-16"), "points.txt", Limits()).data
    b'x,y\\n1,2\\n'
    """
    parts = [part.lower() for part in PurePath(name).suffixes]
    plain = PlainFile(data, parts[-1] if parts else "")
    if plain.suffix == ".gz":
        plain.data = _unzipped(data, limits)
        plain.suffix = parts[-2] if len(parts) > 1 else ".csv"
        plain.written = "gzip"
    if plain.suffix in (".xlsx", ".xlsm"):
        plain.data = _sheet(plain.data, limits)
        plain.suffix, plain.written = ".csv", "excel"
        plain.notices.append("the first sheet of the workbook is read")
    elif plain.suffix in _TEXT:
        plain.suffix = ".csv" if plain.suffix == ".dat" else plain.suffix
        _decode(plain)
        _split_at_blanks(plain)
    plain.called = _OTHERS.get(plain.suffix, plain.called)
    return plain


def _unzipped(data: bytes, limits: Limits) -> bytes:
    """The bytes in a gzip file, counted as they come."""
    unpacker = zlib.decompressobj(wbits=31)
    parts, size, rest = [], 0, data
    try:
        while rest and not unpacker.eof:
            part = unpacker.decompress(rest, _STEP)
            rest = unpacker.unconsumed_tail
            size += len(part)
            if size > limits.table_bytes:
                raise TooLarge(f"this file unpacks to more than {limits.table_bytes / 1e6:.4g} MB; use a sample.")
            parts.append(part)
    except zlib.error as error:
        raise Refused(f"this is not a gzip file that can be unpacked ({error}).") from error
    if not unpacker.eof:
        raise Refused("this gzip file is cut off.")
    return b"".join(parts)


def _decode(plain: PlainFile) -> None:
    """Text in UTF-8, whatever it was in."""
    data = plain.data
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise Refused(f"this is not text in UTF-8 or UTF-16 (byte {error.start}); save it as UTF-8.") from error
        if "\n" not in text:
            raise Refused("this is not text in UTF-8, and in UTF-16 it has no lines; save it as UTF-8.")
        plain.data, plain.written = text.encode(), "utf-16"
        return
    if data[:3] == b"\xef\xbb\xbf":
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if _NO_TEXT.search(data[:_SNIFFED]):
            raise Refused(f"this is not text in UTF-8 (byte {error.start}); save it as UTF-8.") from error
        place = data.count(b"\n", 0, error.start) + 1
        plain.data, plain.written = data.decode("latin-1").encode(), "latin-1"
        plain.notices.append(f"this is not UTF-8 (line {place}); it is read as Latin-1, as Windows writes it")


def _split_at_blanks(plain: PlainFile) -> None:
    """Commas in place of blanks, where nothing else parts the cells."""
    head = plain.data[:_SNIFFED].decode("utf-8-sig", "ignore").splitlines()
    lines = [line.strip() for line in head[:20] if line.strip() and not line.startswith("#")]
    counts = {len(_BLANKS.split(line)) for line in lines[:-1] or lines}
    if (
        not lines
        or any(mark in line for line in lines for mark in ",;|\t")
        or counts in ({1}, set())
        or len(counts) > 1
    ):
        return
    text = plain.data.decode("utf-8-sig")
    plain.data = "".join(f"{_BLANKS.sub(',', line.strip())}\n" for line in text.splitlines()).encode()
    plain.written = plain.written or "blanks"
    plain.notices.append("blanks part the cells")


def _sheet(data: bytes, limits: Limits) -> bytes:
    """The first sheet of an Excel workbook as CSV."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > 4 * limits.table_bytes:
                raise TooLarge(f"this workbook unpacks to {size / 1e6:.4g} MB; save the sheet as CSV.")
    except zipfile.BadZipFile as error:
        raise Refused("this is not an Excel workbook (.xlsx) that can be read.") from error
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError as missing:
        raise Refused(f"Excel files need {missing.name}: pip install openpyxl; or save the sheet as CSV.") from missing
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        for number, row in enumerate(book.worksheets[0].iter_rows(values_only=True)):
            if number > limits.rows:
                raise TooLarge(f"this sheet has more than {limits.rows} rows.")
            if any(cell is not None for cell in row):
                writer.writerow(["" if cell is None else cell for cell in row])
    except (KeyError, ValueError, IndexError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise Refused(f"this is not an Excel workbook that can be read ({type(error).__name__}).") from error
    return file.getvalue().encode()
