"""Tables to open files, in the format a name stands for: columns on their own, or added to the rows of another file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .binary import read_array, read_arrow
from .columns import column_names, places_of_columns
from .files import Source, TableError, compressed, kind_and_compression, require_pyarrow
from .text import TEXT, open_rows

#: What the name of a file to write may end in.
WRITABLE = (
    *(".csv", ".tsv", ".csv.gz", ".csv.zst", ".csv.bz2", ".csv.xz", ".csv.zip", ".jsonl"),
    *(".parquet", ".pq", ".feather", ".npy"),
)


def check_output_format(path: str) -> None:
    """Raise a `TableError` unless the kind of file `path` names can be written; `-` and devices take CSV.

    Examples
    --------
    >>> check_output_format("labels.csv")
    """
    if path == "-" or Path(path).is_char_device():
        return
    kind, compression = kind_and_compression(path)
    if kind in (None, "npz", "json", "excel", "cells"):
        raise TableError(f"cannot write {path}: its name must end in one of {', '.join(WRITABLE)}.")
    if kind in ("parquet", "feather"):
        require_pyarrow(f"pyarrow.{kind}", f"{str(kind).capitalize()} files")
    if compression == "zstd":
        require_pyarrow("pyarrow", ".zst files")


def write_table(file: IO[bytes], path: str, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
    """Write named columns to an open file, in the format of the name `path` (CSV by default).

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_table(file, "labels.csv", {"label": np.array([0, 1])})
    >>> file.getvalue()
    b'label\\n0\\n1\\n'
    """
    kind = kind_and_compression(path)[0]
    if kind == "npy":
        _write_array(file, list(columns.values()), path)
    elif kind in ("parquet", "feather"):
        _write_arrow(file, kind, require_pyarrow().table({name: _plain(column) for name, column in columns.items()}))
    else:
        _write_text(file, path, list(columns), zip(*map(_listed, columns.values())))


def write_with_columns(
    file: IO[bytes],
    path: str,
    sources: Sequence[Source],
    columns: Mapping[str, NDArray[Any]],
    *,
    header: bool | None = None,
    key: str | None = None,
) -> None:
    """Write the rows of one or more sources unchanged, with additional columns.

    Parameters
    ----------
    file : binary file
    path : str
        Its name, which tells the format.
    sources : sequence of Source
        Where the rows come from; with the columns of the first one.
    columns : mapping of str to ndarray of shape (n_rows,)
        The new columns; a number is added to a name that the rows have already.
    header, key
        As for `read_table`.
    """
    kind = kind_and_compression(path)[0]
    if len(sources) == 1 and sources[0].kind in ("parquet", "feather") and kind in ("parquet", "feather"):
        table = read_arrow(sources[0])
        for name, column in columns.items():
            table = table.append_column(_free(name, table.column_names), [_plain(column)])
        _write_arrow(file, kind, table)
        return
    with _cells(sources[0], header, key) as (first, _):
        cells_of = names = list(first)
    rows = chain.from_iterable(_cells_in_order(source, cells_of, sources[0].name, header, key) for source in sources)
    joined = ([*cells, *more] for cells, more in zip(rows, zip(*map(_listed, columns.values())), strict=True))
    for name in columns:
        names = [*names, _free(name, names)]
    if kind in ("parquet", "feather", "npy"):
        write_table(file, path, dict(zip(names, map(_typed, zip(*joined)))))
    else:
        _write_text(file, path, names, joined)


def _cells_in_order(
    source: Source, names: Sequence[str], first: str, header: bool | None, key: str | None
) -> Iterator[Sequence[Any]]:
    """The rows of a source, its columns in the order of the first one's."""
    with _cells(source, header, key) as (own, rows):
        positions = places_of_columns(own, names, source.name, first)
        in_order = positions == list(range(len(names)))
        yield from rows if in_order else ([cells[place] for place in positions] for cells in rows)


@contextmanager
def _cells(source: Source, header: bool | None, key: str | None) -> Iterator[tuple[list[str], Iterator[Sequence[Any]]]]:
    """Names and rows of cells of a source of any kind."""
    if source.kind in TEXT:
        with open_rows(source, header) as table:
            yield table.names, (cells for _, cells in table.rows)
    elif source.kind in ("parquet", "feather"):
        stored = read_arrow(source)
        yield stored.column_names, zip(*(column.to_pylist() for column in stored.columns))
    elif source.kind == "cells":
        raise TableError(f"the rows of {source.name} cannot be written with labels; write the labels alone.")
    else:
        values = read_array(source, key)
        yield column_names(values.shape[1]), iter(values.tolist())


def _write_text(file: IO[bytes], path: str, names: list[str], rows: Iterable[Sequence[Any]]) -> None:
    kind, compression = kind_and_compression(path)
    with compressed(file, compression) as plain:
        text = TextIOWrapper(plain, encoding="utf-8", newline="", write_through=False)
        if kind == "json lines":
            text.writelines(json.dumps(dict(zip(names, row)), default=str) + "\n" for row in rows)
        else:
            separator = "\t" if ".tsv" in [suffix.lower() for suffix in Path(path).suffixes] else ","
            writer = csv.writer(text, delimiter=separator, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)
        # Leaves the file itself open for the caller.
        text.flush()
        text.detach()


def _write_arrow(file: IO[bytes], kind: str, table: Any) -> None:
    if kind == "parquet":
        require_pyarrow("pyarrow.parquet").write_table(table, file)
    else:
        require_pyarrow("pyarrow.feather", "Feather files").write_feather(table, file)


def _write_array(file: IO[bytes], columns: list[Any], path: str) -> None:
    arrays = [np.asarray(column) for column in columns]
    if any(array.dtype.kind not in "biuf" for array in arrays):
        raise TableError(f"cannot write {path}: an array holds numbers only, and some columns hold words.")
    np.save(file, arrays[0] if len(arrays) == 1 else np.column_stack(arrays), allow_pickle=False)


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, or with a number where it is taken.

    Examples
    --------
    >>> _free("label", ["x", "label"])
    'label_2'
    """
    candidates = (name if number == 1 else f"{name}_{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)


def _typed(cells: Sequence[Any]) -> Any:
    """Cells of text as numbers where all of them are, as they stand otherwise."""
    try:
        return np.array([float(cell) for cell in cells]) if isinstance(cells[0], str) else list(cells)
    except ValueError:
        return list(cells)


def _plain(column: Any) -> Any:
    return np.ascontiguousarray(column) if isinstance(column, np.ndarray) else column


def _listed(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)
