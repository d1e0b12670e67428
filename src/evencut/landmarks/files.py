"""Files bigger than memory as blocks: Parquet by groups of rows, NPY through memory maps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import Block, RowBlocks

__all__ = ["open_files"]

_ROWS_PER_BLOCK = 2**18


def open_files(
    pattern: str | Path | Sequence[str | Path],
    *,
    columns: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> RowBlocks:
    """Parquet or NPY files as one stream of row blocks, in the order of their names.

    Only the heads of the files are read here; the rows are read block by block.

    Parameters
    ----------
    pattern : str, path or sequence of them
        Names of files, with `*` and `?` for what may vary.
    columns : sequence of str, optional
        Columns of Parquet files to use, by name or by number from 1.
    n_jobs : int, optional
        Blocks read at a time.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from evencut import LandmarkClustering
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(2):
    ...         np.save(os.path.join(folder, f"{part}.npy"), np.random.default_rng(part).normal(size=(50, 2)))
    ...     rows = open_files(os.path.join(folder, "*.npy"))
    ...     model = LandmarkClustering(2, random_state=0).fit(rows)
    >>> rows.n_rows
    100
    """
    blocks: list[Block] = []
    names: list[str] | None = None
    first_path = None
    for path in _expand(pattern):
        opened = _open_npy(path, columns) if path.suffix.lower() == ".npy" else _open_parquet(path, columns)
        if names is None:
            names, first_path = opened.names, path
        elif opened.names != names:
            raise ValueError(
                f"{path} has {len(opened.names)} columns ({_some(opened.names)}), but {first_path} has {len(names)} "
                f"({_some(names)}); give files with the same columns, or choose some with columns."
            )
        first = blocks[-1].first + (blocks[-1].n_rows or 0) if blocks else 0
        for part, n_rows in opened.parts:
            name = f"{path} ({part.words()})"
            blocks.append(Block(name, first, n_rows, part))
            first += n_rows
    return RowBlocks(blocks, len(names or ()), n_jobs)


@dataclass(frozen=True)
class _Opened:
    names: list[str]
    parts: list[tuple[Any, int]]


@dataclass(frozen=True)
class _RowGroups:
    path: str
    groups: tuple[int, ...]
    columns: tuple[str, ...]

    def words(self) -> str:
        last = f" to {self.groups[-1]}" if len(self.groups) > 1 else ""
        return f"row group {self.groups[0]}{last}"

    def __call__(self) -> NDArray[Any]:
        pyarrow, parquet = _pyarrow()
        try:
            with parquet.ParquetFile(self.path) as file:
                table = file.read_row_groups(self.groups, columns=list(self.columns), use_threads=False)
        except (pyarrow.ArrowException, OSError) as error:
            raise _damaged(f"{self.path} ({self.words()})", error) from error
        arrays = [column.to_numpy() for column in table.select(self.columns).columns]
        dtype = np.result_type(*{array.dtype for array in arrays})
        rows = np.empty((table.num_rows, len(arrays)), dtype=dtype if dtype.kind in "biuf" else np.float64)
        for place, array in enumerate(arrays):
            rows[:, place] = array
        return rows


@dataclass(frozen=True)
class _NpyRows:
    path: str
    first: int
    last: int

    def words(self) -> str:
        return f"rows {self.first} to {self.last - 1}"

    def __call__(self) -> NDArray[Any]:
        return np.load(self.path, mmap_mode="r")[self.first : self.last]


def _open_parquet(path: Path, columns: Sequence[str] | None) -> _Opened:
    pyarrow, parquet = _pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            meta, schema = file.metadata, file.schema_arrow
    except (pyarrow.ArrowException, OSError) as error:
        raise _damaged(str(path), error) from error
    names = _chosen(columns, schema.names, path)
    types = pyarrow.types
    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"{path}: column {name!r} holds {kind}, not numbers; choose others with columns.")
    _check_rows(path, meta.num_rows)
    parts: list[tuple[Any, int]] = []
    groups: list[int] = []
    n_rows = 0
    for group in range(meta.num_row_groups):
        size = meta.row_group(group).num_rows
        if groups and n_rows + size > _ROWS_PER_BLOCK:
            parts.append((_RowGroups(os.path.abspath(path), tuple(groups), tuple(names)), n_rows))
            groups, n_rows = [], 0
        groups.append(group)
        n_rows += size
    parts.append((_RowGroups(os.path.abspath(path), tuple(groups), tuple(names)), n_rows))
    return _Opened(names, parts)


def _open_npy(path: Path, columns: Sequence[str] | None) -> _Opened:
    if columns is not None:
        raise ValueError(f"{path} is an NPY file, whose columns have no names; leave columns out.")
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise _damaged(str(path), error) from error
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {rows.dtype} of shape {rows.shape}; it must hold rows and columns of numbers.")
    _check_rows(path, len(rows))
    bounds = range(0, len(rows), _ROWS_PER_BLOCK)
    ends = [min(first + _ROWS_PER_BLOCK, len(rows)) for first in bounds]
    parts = [(_NpyRows(os.path.abspath(path), first, last), last - first) for first, last in zip(bounds, ends)]
    return _Opened([f"column {i + 1}" for i in range(rows.shape[1])], parts)


def _expand(pattern: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files meant, sorted within each pattern."""
    given = [pattern] if isinstance(pattern, str | Path) else list(pattern)
    found: list[Path] = []
    for each in map(str, given):
        matches = sorted(glob(each)) if has_magic(each) else [each]
        if not matches:
            raise ValueError(f"no file matches {each}; check the folder and the name.")
        found.extend(map(Path, matches))
    for path in found:
        if not path.is_file():
            raise ValueError(f"{path} is not a file; give files, or a pattern such as 'folder/*.parquet'.")
        if path.suffix.lower() not in (".npy", ".parquet", ".pq"):
            raise ValueError(f"{path} is not of a known kind: its name must end in .parquet, .pq or .npy.")
    return found


def _chosen(columns: Sequence[str] | None, names: list[str], path: Path) -> list[str]:
    if columns is None:
        return list(names)
    chosen = []
    for asked in map(str, columns):
        if asked not in names and not (asked.isdecimal() and 1 <= int(asked) <= len(names)):
            raise ValueError(f"{path} has no column {asked!r}; it has {_some(names)}.")
        chosen.append(asked if asked in names else names[int(asked) - 1])
    return chosen


def _check_rows(path: Path, n_rows: int) -> None:
    if not n_rows:
        raise ValueError(f"{path} is empty; leave it out.")


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def _damaged(what: str, error: Exception) -> ValueError:
    return ValueError(f"{what} cannot be read ({' '.join(str(error).split())}); repair it or leave it out.")


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as missing:
        cure = 'Parquet files need pyarrow, which is not installed: pip install "evencut[dask]"'
        raise ModuleNotFoundError(cure, name="pyarrow") from missing
    return pyarrow, pyarrow.parquet
