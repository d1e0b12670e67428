"""Tables of numbers in and out of files: CSV (with or without a header), Parquet, NPY and NPZ.

Every mistake in a file becomes a `UserError` that names the line or the column and the cure.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.csvfiles import read_csv
from evencut.cli.errors import UserError, one_line

__all__ = ["Table", "check_output_format", "check_readable", "read_table", "write_table"]

_CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".data")
_PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """Points read from a file.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_columns)
        The numbers, all finite.
    columns : list of str
        The names of the columns; "column 1", "column 2", ... where the file has none.
    """

    values: NDArray[np.floating]
    columns: list[str]


def check_readable(source: str) -> str:
    """The suffix that says how to read `source` (`-` is standard input); a `UserError` if it cannot be read."""
    path = Path(source)
    if source == "-" or path.is_fifo() or path.is_char_device():
        return ".csv"
    if path.is_dir():
        raise UserError(f"{source} is a folder; give one file.")
    if not path.exists():
        raise UserError(f"{source} does not exist; check the name and the folder.")
    known = (*_CSV_SUFFIXES, *_PARQUET_SUFFIXES, ".npy", ".npz")
    if path.suffix.lower() not in known:
        raise UserError(f"{source} is not of a known kind: its name must end in one of {', '.join(known)}.")
    return path.suffix.lower()


def read_table(
    source: str,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> Table:
    """Read points from a file, or CSV from standard input if `source` is `-`.

    Parameters
    ----------
    source : str
        File name, or `-`.
    columns : sequence of str, optional
        Names of the columns to keep, or their numbers counted from 1; all of them otherwise.
    header : bool, optional
        Whether line 1 of a CSV file names the columns; found out from the line otherwise.
    key : str, optional
        Name of the array in an NPZ file; needed where it holds several.
    """
    suffix = check_readable(source)
    if key is not None and suffix != ".npz":
        raise UserError(f"--key {key} names an array of an NPZ file, but {source} is not one; leave it out.")
    try:
        if suffix in _CSV_SUFFIXES:
            return _from_csv(source, columns, header)
        if header is not None:
            raise UserError(
                f"--header and --no-header are for CSV files, which {source} is not; leave them out."
            )
        reader = _from_parquet if suffix in _PARQUET_SUFFIXES else _from_numpy
        return reader(source, columns, key)
    except UnicodeDecodeError as error:
        raise UserError(f"{source} is not text in UTF-8 ({one_line(error)}); save it as UTF-8.") from error
    except OSError as error:
        raise UserError(f"cannot read {source}: {error.strerror or one_line(error)}.") from error


def check_output_format(path: str) -> None:
    """Raise a `UserError` unless `write_table` knows the kind of file `path` names."""
    known = (".csv", ".npy", *_PARQUET_SUFFIXES)
    if path != "-" and Path(path).suffix.lower() not in known and not Path(path).is_char_device():
        raise UserError(f"cannot write {path}: its name must end in one of {', '.join(known)}.")
    if Path(path).suffix.lower() in _PARQUET_SUFFIXES:
        _pyarrow("pyarrow.parquet")


def write_table(file: IO[bytes], path: str, columns: dict[str, NDArray[Any]]) -> None:
    """Write named columns to an open file, in the format the suffix of `path` names (CSV otherwise)."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        arrays = list(columns.values())
        np.save(file, arrays[0] if len(arrays) == 1 else np.column_stack(arrays))
    elif suffix in _PARQUET_SUFFIXES:
        _pyarrow("pyarrow.parquet").write_table(_pyarrow("pyarrow").table(columns), file)
    else:
        rows = zip(*(column.tolist() for column in columns.values()))
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        text.write(",".join(columns) + "\n")
        text.writelines(",".join(map(str, row)) + "\n" for row in rows)
        # Leaves the file itself open for whoever opened it.
        text.flush()
        text.detach()


def _from_csv(source: str, columns: Sequence[str] | None, header: bool | None) -> Table:
    def choose(names: list[str]) -> list[int]:
        return _chosen(columns, names, source)

    if source == "-":
        text = TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline="")
        return Table(*read_csv(text, "standard input", header, choose))
    with open(source, encoding="utf-8-sig", newline="") as file:
        return Table(*read_csv(file, source, header, choose))


def _from_parquet(source: str, columns: Sequence[str] | None, key: str | None) -> Table:
    pyarrow = _pyarrow("pyarrow")
    try:
        table = _pyarrow("pyarrow.parquet").read_table(source)
    except pyarrow.ArrowException as error:
        raise UserError(f"{source} is not a Parquet file that can be read ({one_line(error)}).") from error
    table = table.select(_chosen(columns, table.column_names, source))
    types = pyarrow.types
    for name, kind in zip(table.column_names, table.schema.types):
        if not (
            types.is_integer(kind)
            or types.is_floating(kind)
            or types.is_boolean(kind)
            or types.is_decimal(kind)
        ):
            raise UserError(
                f"{source}: column {name!r} is {kind}, not numbers; choose others with --columns."
            )
    if not table.num_columns:
        raise UserError(f"{source} has no columns.")
    arrays = [
        column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
        for column in table.columns
    ]
    return _checked(np.column_stack(arrays), list(table.column_names), source)


def _from_numpy(source: str, columns: Sequence[str] | None, key: str | None) -> Table:
    try:
        loaded = np.load(source, allow_pickle=False)
        values = loaded if isinstance(loaded, np.ndarray) else _array_of(loaded, source, key)
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{source} is not a NumPy file that can be read ({one_line(error)}).") from error
    if values.dtype.names is not None or values.dtype.kind not in "biuf":
        raise UserError(f"{source} holds {values.dtype}, not numbers; save an array of numbers.")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise UserError(
            f"{source} has shape {values.shape}; it must have two dimensions, points and columns."
        )
    names = [f"column {i + 1}" for i in range(values.shape[1])]
    chosen = _chosen(columns, names, source)
    values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    return _checked(values[:, chosen] if columns else values, [names[i] for i in chosen], source)


def _array_of(archive: Any, source: str, key: str | None) -> NDArray[Any]:
    """The one array of an NPZ archive, or the one `key` names."""
    with archive:
        names = archive.files
        if key is None and len(names) != 1:
            raise UserError(f"{source} holds {len(names)} arrays ({', '.join(names)}); name one with --key.")
        if key is not None and key not in names:
            raise UserError(f"--key {key} is not in {source}; it holds {', '.join(names)}.")
        return archive[names[0] if key is None else key]


def _chosen(columns: Sequence[str] | None, names: list[str], source: str) -> list[int]:
    """Positions of the columns asked for, by name or by number from 1."""
    if columns is None:
        return list(range(len(names)))
    places: list[int] = []
    for asked in columns:
        if asked in names:
            places.append(names.index(asked))
        elif asked.isdecimal() and 1 <= int(asked) <= len(names):
            places.append(int(asked) - 1)
        else:
            some = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise UserError(
                f"--columns: {source} has no column {asked!r}; it has {some} (or 1 to {len(names)})."
            )
    return places


def _checked(values: NDArray[Any], names: list[str], source: str) -> Table:
    if values.size == 0:
        raise UserError(f"{source} is empty: it has {values.shape[0]} rows and {values.shape[1]} columns.")
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise UserError(
            f"{source}: row {row + 1}, column {names[column]!r} is {values[row, column]} ({bad.sum()} such values); "
            "fill them in or leave those rows out."
        )
    return Table(values, names)


def _pyarrow(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise UserError(
            'Parquet files need pyarrow, which is not installed: pip install "evencut[cli]"'
        ) from missing
