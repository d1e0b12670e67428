"""Rows of cells from files that hold values, not text: JSON of records, columns or lists, and Excel workbooks."""

from __future__ import annotations

import datetime
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from .._lazy import required
from .._runtime import one_line
from .errors import TableError
from .limits import TableLimits

Row = tuple[int, list[Any]]


@dataclass(frozen=True)
class Rows:
    """The rows of a text file, read as they are asked for.

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
        Number of the line that tells how many cells a row has.
    unnamed : tuple of int
        Positions of the columns that the header leaves without a name.
    notices : tuple of str
        What was taken for a remark or for names, to be told.
    """

    names: list[str]
    rows: Iterator[Row]
    separator: str | None
    has_header: bool
    first_line: int = 1
    unnamed: tuple[int, ...] = ()
    notices: tuple[str, ...] = ()


def json_rows(file: IO[str], name: str) -> Rows:
    """The rows of a JSON file: a list of objects, an object of columns, or a list of lists.

    Examples
    --------
    >>> import io
    >>> table = json_rows(io.StringIO('{"x": [1, 2], "y": [3, null]}'), "t.json")
    >>> table.names, list(table.rows)
    (['x', 'y'], [(1, [1, 3]), (2, [2, None])])
    """
    try:
        held = json.load(file)
    except ValueError as error:
        raise TableError(f"{name} is not JSON ({one_line(error)}); repair it.") from error
    if isinstance(held, dict) and held and all(isinstance(column, list) for column in held.values()):
        lengths = {len(column) for column in held.values()}
        if len(lengths) > 1:
            raise TableError(f"{name} has columns of different lengths ({', '.join(map(str, sorted(lengths)))}).")
        return _rows(name, list(held), [list(row) for row in zip(*held.values())])
    if isinstance(held, list) and held and all(isinstance(row, dict) for row in held):
        names = list(dict.fromkeys(key for row in held for key in row))
        return _rows(name, names, [[row.get(key) for key in names] for row in held])
    if isinstance(held, list) and held and all(isinstance(row, list) and len(row) == len(held[0]) for row in held):
        return _rows(name, [f"column {i + 1}" for i in range(len(held[0]))], held, has_header=False)
    raise TableError(f"{name} is not a table: give a list of objects, an object of columns, or a list of equal lists.")


def excel_rows(file: IO[bytes], name: str, header: bool | None, limits: TableLimits) -> Rows:
    """The rows of the first sheet of a workbook; its first row names the columns where it holds no number."""
    load_workbook = required("openpyxl", "Excel files need openpyxl", "excel").load_workbook
    try:
        # In memory: a workbook that is read bit by bit keeps its file open.
        stored = BytesIO(file.read())
        with zipfile.ZipFile(stored) as archive:
            limits.check_unpacked(sum(entry.file_size for entry in archive.infolist()), 4 * limits.n_bytes)
        held = []
        for row in load_workbook(stored, read_only=True, data_only=True).worksheets[0].iter_rows(values_only=True):
            held += [[_cell(value) for value in row]] if any(value not in (None, "") for value in row) else []
            limits.check_size(len(held) - 1, len(row))
    except TableError:
        raise
    except Exception as error:  # openpyxl answers a damaged file with whatever its parsers run into
        raise TableError(f"{name} is not a workbook that can be read ({one_line(error)}); save it again.") from error
    if not held:
        raise TableError(f"{name} is empty; give one row for each point.")
    width = max(map(len, held))
    held = [row + [None] * (width - len(row)) for row in held]
    named = header if header is not None else not any(isinstance(cell, int | float) for cell in held[0])
    names = [f"column {i + 1}" for i in range(width)]
    if named:
        names = [own if cell in (None, "") else str(cell).strip() for cell, own in zip(held[0], names)]
    return _rows(name, names, held[1:] if named else held, has_header=named)


def _rows(name: str, names: list[str], held: list[list[Any]], has_header: bool = True) -> Rows:
    def numbered() -> Iterator[Row]:
        for line, cells in enumerate(held, 2 if has_header and name.endswith(".xlsx") else 1):
            for key, cell in zip(names, cells):
                if isinstance(cell, list | dict):
                    raise TableError(f"{name}, row {line}, column {key!r} holds {type(cell).__name__}; give one value.")
            yield line, list(cells)

    return Rows(names, numbered(), None, has_header)


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
