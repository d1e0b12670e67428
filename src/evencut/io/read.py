"""The front door for tables: points from a file of any kind, or one label a row."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import some
from . import binary
from .columns import (
    Column,
    Frame,
    choose_columns,
    choose_one,
    column_names,
    dated,
    distinct_names,
    is_missing,
    joined,
    numbers_in_words,
)
from .encode import Preparation, Table, as_words, prepare
from .files import Source, TableError
from .text import TEXT, ColumnBuilder, Rows, open_rows

# Few enough to stay in the processor's cache: more take three times as long.
_ROWS_AT_ONCE = 128


def read_table(
    source: str | Path | Source | Sequence[str | Path | Source],
    *,
    missing: str = "error",
    like: Preparation | None = None,
    categories: Sequence[str] = (),
    **chosen: Any,
) -> Table:
    """Read points from a file, or CSV from standard input if `source` is `-`.

    Parameters
    ----------
    source : str, Path or Source, or sequence of them
        CSV (with any separator), JSON lines and JSON, also compressed (`.gz`, `.zst`, `.bz2`, `.xz`, `.zip`), Excel,
        Parquet, Feather, Arrow (as file or stream), AnnData, NPY, NPZ. Several files of the same columns are one table.
    missing : {"error", "drop", "mean", "neighbors"}
        What to do about missing values.
    like : Preparation, optional
        Read the columns of another file, in the same way.
    categories : sequence of str
        Names of columns whose numbers are categories, such as area codes.
    **chosen
        `columns`, `without`, `drop`, `header`, `key` and `decimal` of :func:`read_frame`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "points.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("x;y\\n1,5;2\\nNA;3\\n")
    ...     table = read_table(path, missing="mean")
    >>> table.values.tolist(), table.notices
    ([[1.5, 2.0], [1.5, 3.0]], ("1 missing value in 1 of 2 rows was filled with the mean of 'x'",))
    """
    sources = [source] if isinstance(source, str | Path | Source) else source
    frame = joined([read_frame(item, like=like, **chosen) for item in sources])
    columns = [as_words(column) if column.name in categories else column for column in frame.columns]
    return prepare(replace(frame, columns=columns, matrix=None) if categories else frame, missing, like)


def read_columns(source: str | Path | Source, **chosen: Any) -> list[Column]:
    """Read the columns of a file unchanged: numbers, words, dates and missing values.

    Parameters
    ----------
    source : str, Path or Source
    **chosen
        As in :func:`read_frame`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "homes.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("rooms,city\\n1,Rome\\n2,Bonn\\n")
    ...     rooms, city = read_columns(path)
    >>> rooms.numbers, city.words
    (array([1., 2.]), {0: 'Rome', 1: 'Bonn'})
    """
    return [dated(column) for column in read_frame(source, **chosen).columns]


def read_frame(
    source: str | Path | Source,
    *,
    columns: Sequence[str] | None = None,
    without: str | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    key: str | None = None,
    decimal: str | None = None,
    separator: str | None = None,
    guess: bool = False,
    like: Preparation | None = None,
) -> Frame:
    """The columns of a file, once it is seen that what was asked for can be done.

    Parameters
    ----------
    source, like
        As for :func:`read_table`.
    columns : sequence of str, optional
        Names of the columns to keep, their numbers counted from 1, or ranges of numbers; all of them otherwise.
    without : str, optional
        The column of labels, which are not part of the points; name or number.
    drop : sequence of str
        Columns to leave out, like `columns`.
    header : bool, optional
        Whether line 1 of a CSV file names the columns; found out from the line otherwise.
    key : str, optional
        Name of the array in an NPZ file; needed where it holds several.
    decimal : {".", ","}, optional
        The decimal mark of a CSV file; found out otherwise.
    separator : str, optional
        What separates the cells of a CSV file; found out otherwise.
    guess : bool
        What is in doubt is taken in the likelier way instead of refused: a first line that may name the columns does,
        a column without a name is kept, and words such as 1,000 or true are numbers.
    """
    opened = source if isinstance(source, Source) else Source(str(source))
    if decimal not in (None, ".", ","):
        raise TableError(f'decimal={decimal!r} is not known; it takes "." or ",".')
    if key is not None and opened.kind != "npz":
        raise TableError(f"key={key!r} names an array of an NPZ file, which {opened.name} is not; leave it out.")
    if header is not None and opened.kind not in ("csv", "excel"):
        raise TableError(f"header= is for CSV and Excel files, which {opened.name} is not; leave it out.")
    selection = _ColumnSelection(opened.name, columns if like is None else like.columns, without, like, drop)
    if opened.kind in TEXT:
        return _text_frame(opened, selection, header, decimal, separator, guess)
    if opened.kind in ("parquet", "feather"):
        return _arrow_frame(opened, selection)
    if opened.kind == "cells":
        from .cells import cells_frame  # brings SciPy, which other tables do not need

        return cells_frame(opened, None if selection.is_all and not guess else selection.places)
    return _array_frame(opened, selection, key)


def read_labels(source: str | Path | Source, column: str | None = None, n_points: int | None = None) -> NDArray[Any]:
    """Read one label for each row, numbers or words, from a file in any table format.

    Parameters
    ----------
    source : str, Path or Source
    column : str, optional
        Name or number of the column of labels, if the file has several.
    n_points : int, optional
        How many there must be. A CSV file with one line more has a header.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "labels.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("label\\n0\\n1\\n-1\\n")
    ...     read_labels(path, n_points=3)
    array([ 0,  1, -1])
    """
    opened = source if isinstance(source, Source) else Source(str(source))
    if opened.kind in ("npy", "npz"):
        labels = binary.read_array_of_labels(opened, column)
    elif opened.kind in ("parquet", "feather"):
        labels = _arrow_labels(opened, column)
    elif opened.kind == "cells":
        raise TableError(f"{opened.name} holds cells, not labels; give labels in a CSV file or another table.")
    else:
        labels = _text_labels(opened, column, n_points)
    if n_points is not None and len(labels) != n_points:
        raise TableError(
            f"{opened.name} holds {len(labels)} labels, but there are {n_points} points; give one for each point."
        )
    return _as_integers(labels)


@dataclass(frozen=True)
class _ColumnSelection:
    """Which columns of a file are used; the file is not open yet."""

    source: str
    columns: Sequence[str] | None
    without: str | None
    like: Preparation | None
    drop: Sequence[str]

    @property
    def is_all(self) -> bool:
        """Whether nothing was said about columns."""
        return self.columns is None and self.without is None and not self.drop

    def places(self, names: Sequence[str]) -> list[int]:
        """Their positions among those there are."""
        if self.like is not None:
            return self._places_like(names)
        dropped = choose_columns(self.drop, names, self.source, "drop") if self.drop else []
        chosen = [place for place in choose_columns(self.columns, names, self.source) if place not in dropped]
        if not chosen:
            raise TableError(f"drop= leaves no column of {self.source}; leave fewer out.")
        if self.without is None:
            return chosen
        label = choose_one(self.without, names, self.source)
        if self.columns is not None and label in chosen:
            raise TableError(f"column {names[label]!r} of {self.source} holds the labels; leave it out of columns=.")
        return [place for place in chosen if place != label]

    def _places_like(self, names: Sequence[str]) -> list[int]:
        """Columns are found by name; a file that names none must have the same number of them."""
        assert self.like is not None
        needed = self.like.columns
        absent = [name for name in needed if name not in names]
        if not absent:
            return [list(names).index(name) for name in needed]
        if list(names) == column_names(len(needed)):
            return list(range(len(needed)))
        raise TableError(
            f"{self.source} has no column {absent[0]!r}, which the model was made from; it has {some(list(names))}, "
            f"and needs {some(list(needed))}."
        )


def _text_frame(
    source: Source,
    selection: _ColumnSelection,
    header: bool | None,
    decimal: str | None,
    separator: str | None,
    guess: bool,
) -> Frame:
    with open_rows(source, header, separator, guess) as table:
        source.limits.check_size(0, len(table.names))
        source.limits.check_names(table.names)
        names = distinct_names(table.names)
        positions = selection.places(names)
        # Where commas separate, a comma inside a cell is as likely to mark thousands: it must be said.
        mark = decimal or ("." if table.separator == "," or source.kind != "csv" else None)
        builders = [ColumnBuilder(names[place], mark) for place in positions]
        lines = array("q")
        while chunk := list(islice(table.rows, _ROWS_AT_ONCE)):
            numbers, rows = zip(*chunk)
            lines.extend(numbers)
            source.limits.check_size(len(lines), len(positions))
            cells = list(zip(*rows))
            for place, builder in zip(positions, builders):
                builder.add(cells[place])
    if not lines:
        raise TableError(f"{source.name} has a header but no data; give one line for each point (or header=False).")
    comma = mark == "," or any(builder.has_decimal_comma for builder in builders)
    # Who says that the point is the decimal mark says that a comma marks thousands.
    guess_thousands = guess or decimal == "."
    columns = [numbers_in_words(builder.column(), "," if comma else ".", guess_thousands) for builder in builders]
    if positions == list(range(len(names))):
        # A separator at the end of every line.
        blank = [place for place in table.unnamed if columns[place].is_blank]
        if not guess:
            _check_named(table, source.name, [place for place in table.unnamed if place not in blank])
        columns = [column for place, column in enumerate(columns) if place not in blank]
    notices = (*table.notices, *_about_repeated(source.name, table.names, names))
    unnamed = tuple(names[place] for place in table.unnamed)
    return Frame(
        source.name, columns, lines=lines, has_header=table.has_header, notices=notices, unnamed=unnamed,
        separator=table.separator, decimal="," if comma else ".", sheets=table.sheets,
    )  # fmt: skip


def _about_repeated(source: str, names: Sequence[str], distinct: Sequence[str]) -> list[str]:
    """What to report about columns whose name another column has."""
    return [
        f"column {place} of {source} is called {name!r} like another, and {own!r} here"
        for place, (name, own) in enumerate(zip(names, distinct), 1)
        if name != own
    ]


def _check_named(table: Rows, source: str, unnamed: Sequence[int]) -> None:
    """A column without a name is mostly a row number that was saved along, which must not be clustered by."""
    if unnamed:
        first, n_columns = unnamed[0], len(table.names)
        suggestion = "2-" if first == 0 else some([str(i + 1) for i in range(n_columns) if i != first])
        raise TableError(
            f"{source}, line {table.first_line}: column {first + 1} of {n_columns} has no name (a row "
            f"number saved along?); name the columns to use with columns=, such as {suggestion}."
        )


def _arrow_frame(source: Source, selection: _ColumnSelection) -> Frame:
    table, unread = (binary.read_arrow(source), []) if source.data is None else binary.read_bounded(source)
    names = distinct_names(table.column_names)
    notices = _about_repeated(source.name, table.column_names, names)
    table = table.rename_columns(names).replace_schema_metadata(table.schema.metadata)
    features = binary.without_index(table.schema)
    # A column that is named is taken, also if it is the index; numbers count what is left.
    named = [name for name in selection.columns or () if name in table.column_names and name not in features]
    features = [name for name in table.column_names if name in features or name in named]
    if selection.like is None:
        features = [features[place] for place in selection.places(features)]
    else:
        features = _as_the_model_calls_them(table, features, selection.like.columns)
    columns = [column for name in features for column in _arrow_columns(name, table.column(name))]
    if selection.like is not None:
        columns = [columns[place] for place in selection.places([column.name for column in columns])]
    if not columns:
        raise TableError(f"{source.name} has no columns.")
    return Frame(source.name, [*columns, *unread], notices=tuple(notices))


def _as_the_model_calls_them(table: Any, features: list[str], needed: Sequence[str]) -> list[str]:
    """The columns a model was made from; it knows the numbers of vectors by name. All columns if there are none."""
    first = {item.rpartition("[")[0] for item in needed}
    vectors = {name for name in features if name in first and binary.is_list_type(table.schema.field(name).type)}
    return [name for name in features if name in vectors or name in needed] or features


def _arrow_columns(name: str, values: Any) -> list[Column]:
    """A column of the table, or those of the vectors in it."""
    if not binary.is_list_type(values.type):
        return [binary.arrow_column(name, values)]
    numbers = binary.list_values(name, values).T
    return list(map(Column, binary.list_names(name, len(numbers)), numbers))


def _array_frame(source: Source, selection: _ColumnSelection, key: str | None) -> Frame:
    values = binary.read_array(source, key)
    names = column_names(values.shape[1])
    positions = selection.places(names)
    values = values if selection.is_all else values[:, positions]
    columns = [Column(names[place], values[:, i]) for i, place in enumerate(positions)]
    return Frame(source.name, columns, values)


def _arrow_labels(source: Source, column: str | None) -> NDArray[Any]:
    table = binary.read_arrow(source)
    names = binary.without_index(table.schema)
    values = table.column(names[choose_one(column, names, source.name)])
    if values.null_count:
        raise TableError(f"{source.name} has {values.null_count} empty labels; mark noise with -1.")
    return np.array(values.to_pylist())


def _text_labels(source: Source, column: str | None, n_points: int | None) -> NDArray[Any]:
    """Cells of the column of labels; where the number of points is known, a first line too many is the header."""
    with open_rows(source, False if source.kind == "csv" else None) as table:
        rows = [cells for _, cells in table.rows]
        names = table.names
    if source.kind == "csv" and (len(rows) == n_points + 1 if n_points is not None else not _is_label(rows[0])):
        names, rows = [str(cell).strip() for cell in rows[0]], rows[1:]
    place = choose_one(column, names, source.name)
    cells = [row[place] for row in rows]
    empty = next((i for i, cell in enumerate(cells) if cell is None or is_missing(str(cell))), None)
    if empty is not None:
        raise TableError(f"{source.name}: row {empty + 1} has no label; mark noise with -1.")
    return np.array([cell.strip() if isinstance(cell, str) else cell for cell in cells])


def _is_label(cells: list[Any]) -> bool:
    """Whether a first line is one of labels already, as numbers are."""
    return any(str(cell).strip().lstrip("-").isdecimal() for cell in cells)


def _as_integers(names: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that came as text, so that -1 is noise and 2 comes before 10."""
    try:
        numbers = names.astype(np.float64)
    except (ValueError, TypeError):
        return names
    is_whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return numbers.astype(np.int64) if is_whole else numbers
