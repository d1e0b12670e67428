"""Numbers from CSV text, with a complaint that names the line and the column where they are not.

The separator (comma, semicolon, tab, bar or blanks) and the header are found out from the first line.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from evencut.cli.errors import UserError, one_line

__all__ = ["read_csv"]

_Row = tuple[int, list[str]]


def read_csv(
    file: TextIO, source: str, header: bool | None, choose: Callable[[list[str]], list[int]]
) -> tuple[NDArray[np.float64], list[str]]:
    """Read a table of finite numbers.

    Parameters
    ----------
    file : text file
        Where to read.
    source : str
        What to call it in messages.
    header : bool, optional
        Whether line 1 names the columns; otherwise it does if none of its cells is a number.
    choose : callable
        From the names of all columns to the positions of those to keep.

    Returns
    -------
    values : ndarray of shape (n_rows, n_kept)
        The numbers.
    names : list of str
        The names of the columns kept.
    """
    rows = _rows(file, source)
    first_line, first = next(rows, (0, []))
    if not first:
        raise UserError(f"{source} is empty; give one line for each point.")
    if header is None:
        header = _looks_like_header(first)
    names = [f"column {i + 1}" for i in range(len(first))]
    if header:
        names = [cell.strip() or name for cell, name in zip(first, names)]
    kept = choose(names)
    _check_named(first if header else names, kept, source, first_line)
    values, lines = array("d"), array("q")
    for line, row in rows if header else chain([(first_line, first)], rows):
        if len(row) != len(first):
            raise UserError(
                f"{source}, line {line} has {len(row)} values, but line {first_line} has {len(first)}; "
                "every line must have the same number."
            )
        try:
            values.extend([float(row[i]) for i in kept])
        except ValueError:
            raise _text_where_a_number_should_be(source, line, row, kept, names, header) from None
        lines.append(line)
    if not lines:
        raise UserError(f"{source} has a header but no data; give one line for each point (or --no-header).")
    table = np.frombuffer(values).reshape(len(lines), len(kept))
    kept_names = [names[i] for i in kept]
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        i, j = bad[0]
        raise UserError(
            f"{source}, line {lines[i]}, column {kept_names[j]!r} is {table[i, j]} ({len(bad)} such values); "
            "fill them in or leave those lines out."
        )
    return table, kept_names


def _rows(file: TextIO, source: str) -> Iterator[_Row]:
    """Line number and cells of each line that is not blank."""
    try:
        first = ""
        skipped = 0
        for first in file:
            if first.strip():
                break
            skipped += 1
        separator = _separator(first)
        lines: Iterable[str] = chain([first], file)
        if separator is None:
            for number, line in enumerate(lines, skipped + 1):
                if cells := line.split():
                    yield number, cells
            return
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield skipped + reader.line_num, cells
    except csv.Error as error:
        raise UserError(f"{source} is not CSV that can be read ({one_line(error)}).") from error


def _separator(line: str) -> str | None:
    """The separator of a line; None stands for blanks, as for a line with a single cell.

    A semicolon goes first: where it separates, a comma is the decimal point.
    """
    for candidate in (";", "\t", ",", "|"):
        if candidate in line:
            return candidate
    return None


def _looks_like_header(cells: list[str]) -> bool:
    return not any(_is_number(cell) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _text_where_a_number_should_be(
    source: str, line: int, row: list[str], kept: list[int], names: list[str], header: bool
) -> UserError:
    """The complaint about the first cell of a row that is not a number."""
    place = next(i for i in kept if not _is_number(row[i]))
    cell = row[place].strip()
    where = f"{source}, line {line}, column {names[place]!r}"
    if not cell:
        return UserError(f"{where} is empty; fill it in, or choose other columns with --columns.")
    hint = "" if header else ", or say --header if line 1 names the columns"
    return UserError(
        f"{where} is text ({cell[:40]!r}), not a number; choose other columns with --columns{hint}."
    )


def _check_named(header: list[str], kept: list[int], source: str, line: int) -> None:
    """A column without a name is mostly a row number that was saved along, which must not be clustered by."""
    if kept == list(range(len(header))) and not all(cell.strip() for cell in header):
        place = next(i for i in kept if not header[i].strip())
        raise UserError(
            f"{source}, line {line}: column {place + 1} of {len(header)} has no name (a row number saved along?); "
            "name the columns to use with --columns."
        )
