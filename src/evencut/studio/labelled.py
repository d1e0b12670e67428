"""The user's file with two columns more, the cluster and its name: text keeps its bytes, Parquet its types."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..io.text import open_rows
from .tables import Sheet


def rows_with_labels(sheet: Sheet, labels: NDArray[np.integer], names: dict[int, str]) -> tuple[bytes, str]:
    """The user's file with two columns more, the cluster and its name, and how its name ends.

    Nothing else in it changes: text keeps its bytes, Parquet its types, a workbook its cells.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from evencut.studio.options import Limits
    >>> from evencut.studio.tables import read_sheet
    >>> data = b'id;day\\n007;"2024-01-01"\\n2;\\n3;x'
    >>> sheet = read_sheet(data, "a.csv", Limits())
    >>> rows_with_labels(replace(sheet, original=data), np.array([1, 0, 1]), {1: "north"})[0].decode().split()
    ['id;day;cluster;cluster', 'name', '007;"2024-01-01";1;north', '2;;0;', '3;x;1;north']
    """
    known = {column.name for column in sheet.columns}
    heads = [name if name not in known else f"evencut {name}" for name in ("cluster", "cluster name")]
    added = [(label, plain_cell(names.get(label, ""))) for label in labels.tolist()]
    kind = sheet.source["kind"] if sheet.original else ""
    if sheet.source.get("written") == "excel" and kind:
        return _workbook_with(sheet.original, heads, added, sheet.source), ".xlsx"
    if kind == "csv":
        return _text_with(sheet, heads, added), ".csv"
    file, columns = BytesIO(), dict(zip(heads, map(np.array, zip(*added))))
    if kind == "parquet":
        io.write_with_columns(file, "rows.parquet", [io.Source("rows.parquet", data=sheet.original)], columns)
        return file.getvalue(), ".parquet"
    cells = {c.name: [plain_cell(c.cell(row)) for row in range(sheet.n_rows)] for c in sheet.columns} | columns
    io.write_table(file, "rows.csv", {plain_cell(name): column for name, column in cells.items()})
    return file.getvalue(), ".csv"


def plain_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _text_with(sheet: Sheet, heads: list[str], added: list[tuple[int, str]]) -> bytes:
    """The text as it came, in its own encoding, with two cells more at the end of every record."""
    written = sheet.source.get("written")
    separator = None if written == "blanks" else sheet.source["delimiter"]
    source = io.Source(sheet.source["name"], data=sheet.original, encoding="latin-1" if written == "latin-1" else None)
    with open_rows(source, sheet.source["header"], separator) as table:
        ends = [*([table.first_line] if table.has_header else []), *(line for line, _ in table.rows)]
    with source.plain_bytes() as file:
        data = file.read()
    mark = data[:2] if source.is_utf16 else b""
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(mark) or source.encoding or "utf-8"
    lines = list(StringIO(data[len(mark) :].decode(encoding), newline=""))
    cells: list[tuple[Any, Any]] = [*([(heads[0], heads[1])] if sheet.source["header"] else []), *added]
    for end, more in zip(ends, cells, strict=True):
        file_ = StringIO()
        csv.writer(file_, delimiter=separator or " ", lineterminator="").writerow(more)
        text = lines[end - 1].rstrip("\r\n")
        lines[end - 1] = f"{text}{separator or ' '}{file_.getvalue()}{lines[end - 1][len(text) :]}"
    return mark + "".join(lines).encode(encoding, "replace")


def _workbook_with(original: bytes, heads: list[str], added: list[tuple[int, str]], source: dict[str, Any]) -> bytes:
    from openpyxl import load_workbook

    book = load_workbook(BytesIO(original))
    page = book[source["sheet"]] if source.get("sheet") else book.worksheets[0]
    right = page.max_column + 1
    rows = [row[0].row for row in page.iter_rows() if any(cell.value not in (None, "") for cell in row)]
    for row, more in zip(rows, [*([tuple(heads)] if source["header"] else []), *added]):
        for place, value in enumerate(more):
            page.cell(row, right + place, value)
    file = BytesIO()
    book.save(file)
    return file.getvalue()
