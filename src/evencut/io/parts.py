"""Files bigger than memory in parts: Parquet by groups of rows, NPY through memory maps.

Opening reads the head of a file only; each part is a small object that reads its rows, here or on another machine.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import one_line
from .binary import is_list_type, is_numeric, list_names, list_values, readable_errors, without_index
from .columns import choose_columns, column_names
from .files import TableError, kind_and_compression, require_pyarrow

_ROWS_PER_PART = 2**18


@dataclass(frozen=True)
class OpenedFile:
    """A file whose header was read.

    Parameters
    ----------
    names : list of str
        Its columns, those that were asked for; a column of vectors is one for each of their numbers.
    parts : list of (RowGroups or NpyRows, int)
        What reads each part, and how many rows it has.
    """

    names: list[str]
    parts: list[tuple[Any, int]]


@dataclass(frozen=True)
class RowGroups:
    """Consecutive row groups of a Parquet file; called, it reads their rows."""

    path: str
    groups: tuple[int, ...]
    columns: tuple[str, ...]

    def words(self) -> str:
        """Which groups these are, for messages."""
        last = f" to {self.groups[-1]}" if len(self.groups) > 1 else ""
        return f"row group {self.groups[0]}{last}"

    def __call__(self) -> NDArray[Any]:
        """The rows."""
        parquet = require_pyarrow("pyarrow.parquet")
        with readable_errors(f"{self.path} ({self.words()})"), parquet.ParquetFile(self.path) as file:
            table = file.read_row_groups(self.groups, columns=list(self.columns), use_threads=False)
        arrays = [_numbers(name, table.column(name)) for name in self.columns]
        return arrays[0] if len(arrays) == 1 and arrays[0].ndim == 2 else np.column_stack(arrays)


@dataclass(frozen=True)
class NpyRows:
    """Consecutive rows of an NPY file; called, it maps them into memory."""

    path: str
    first: int
    last: int

    def words(self) -> str:
        """Which rows these are, for messages."""
        return f"rows {self.first} to {self.last - 1}"

    def __call__(self) -> NDArray[Any]:
        """The rows."""
        return np.load(self.path, mmap_mode="r")[self.first : self.last]


def open_file(path: str | Path, columns: Sequence[str] | None = None) -> OpenedFile:
    """The columns and the parts of a Parquet or NPY file.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "points.npy")
    ...     np.save(path, np.zeros((5, 2)))
    ...     opened = open_file(path)
    >>> opened.names, [n_rows for _, n_rows in opened.parts]
    (['column 1', 'column 2'], [5])
    """
    kind = kind_and_compression(path)[0]
    return _open_npy(Path(path), columns) if kind == "npy" else _open_parquet(Path(path), columns)


def expand(pattern: str | Path | Sequence[str | Path]) -> list[Path]:
    """Expand patterns to file names, sorted within each pattern."""
    patterns = [pattern] if isinstance(pattern, str | Path) else list(pattern)
    paths: list[Path] = []
    for each in map(str, patterns):
        matches = sorted(glob(each)) if has_magic(each) else [each]
        if not matches:
            raise TableError(f"no file matches {each}; check the folder and the name.")
        paths.extend(map(Path, matches))
    for path in paths:
        if not path.is_file():
            raise TableError(f"{path} is not a file; give files, or a pattern such as 'folder/*.parquet'.")
        if kind_and_compression(path)[0] not in ("npy", "parquet"):
            raise TableError(f"{path} is not of a known kind: its name must end in .parquet, .pq or .npy.")
    return paths


def _open_parquet(path: Path, columns: Sequence[str] | None) -> OpenedFile:
    with readable_errors(path), require_pyarrow("pyarrow.parquet").ParquetFile(path) as file:
        meta, schema = file.metadata, file.schema_arrow
        named = [name for name in columns or () if name in schema.names]
        features = without_index(schema)
        features = [name for name in schema.names if name in features or name in named]
        names = [features[place] for place in choose_columns(columns, features, str(path))]
        _check_rows(path, meta.num_rows)
        shown = [own for name in names for own in _columns_shown(file, path, name, schema.field(name).type)]
    parts: list[tuple[RowGroups, int]] = []
    for group in range(meta.num_row_groups):
        size = meta.row_group(group).num_rows
        groups, n_rows = (parts[-1][0].groups, parts[-1][1]) if parts else ((), 0)
        if groups and n_rows + size <= _ROWS_PER_PART:
            parts.pop()
        else:
            groups, n_rows = (), 0
        parts.append((RowGroups(os.path.abspath(path), (*groups, group), tuple(names)), n_rows + size))
    return OpenedFile(shown, parts)


def _columns_shown(file: Any, path: Path, name: str, kind: Any) -> list[str]:
    """A column of numbers itself; for vectors one name for each number of the first."""
    if is_list_type(kind):
        first = next(file.iter_batches(batch_size=1, columns=[name])).column(0)
        return list_names(name, list_values(name, first).shape[1])
    if not is_numeric(kind) or require_pyarrow().types.is_decimal(kind):
        raise TableError(f"{path}: column {name!r} holds {kind}, not numbers; choose others with columns=.")
    return [name]


def _numbers(name: str, column: Any) -> NDArray[Any]:
    """The numbers of a column, or the vectors in it as rows."""
    return list_values(name, column) if is_list_type(column.type) else column.to_numpy()


def _open_npy(path: Path, columns: Sequence[str] | None) -> OpenedFile:
    if columns is not None:
        raise TableError(f"{path} is an NPY file, whose columns have no names; leave columns= out.")
    try:
        rows = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # numpy answers a damaged header with whatever its parser runs into
        raise TableError(f"{path} cannot be read ({one_line(error)}); repair it or leave it out.") from error
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise TableError(f"{path} holds {rows.dtype} of shape {rows.shape}; it must hold rows and columns of numbers.")
    _check_rows(path, len(rows))
    bounds = range(0, len(rows), _ROWS_PER_PART)
    ends = [min(first + _ROWS_PER_PART, len(rows)) for first in bounds]
    parts = [(NpyRows(os.path.abspath(path), first, last), last - first) for first, last in zip(bounds, ends)]
    return OpenedFile(column_names(rows.shape[1]), parts)


def _check_rows(path: Path, n_rows: int) -> None:
    if not n_rows:
        raise TableError(f"{path} is empty; leave it out.")
