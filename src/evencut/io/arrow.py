"""Parquet, Feather and Arrow files through pyarrow: columns of numbers and of words, never the index of pandas.

Arrow tables come as files (Feather is one) and as streams, which Hugging Face's `datasets` saves; both are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import Column, days_since_1970, is_missing
from .errors import TableError, one_line, require_pyarrow

# How a stream of Arrow begins; a file begins with its name.
_STREAM_MARK = b"\xff\xff\xff\xff"

__all__ = ["arrow_column", "damage_is_told", "is_numeric", "read_arrow", "without_index"]


def read_arrow(path: str | Path, kind: str) -> Any:
    """The whole table of a Parquet, Feather or Arrow file."""
    with damage_is_told(path, kind):
        if kind == "parquet":
            with require_pyarrow("pyarrow.parquet").ParquetFile(path) as file:
                return file.read()
        with open(path, "rb") as start:
            is_stream = start.read(len(_STREAM_MARK)) == _STREAM_MARK
        if is_stream:
            pyarrow = require_pyarrow("pyarrow", "Arrow files")
            with pyarrow.OSFile(str(path)) as file, pyarrow.ipc.open_stream(file) as stream:
                return stream.read_all()
        return require_pyarrow("pyarrow.feather", "Feather files").read_table(path, memory_map=False)


@contextmanager
def damage_is_told(path: str | Path, kind: str = "parquet") -> Iterator[None]:
    """Turn what pyarrow says about a file that is no such file into one sentence."""
    pyarrow = require_pyarrow()
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise TableError(f"cannot read {path}: {error.strerror or one_line(error)}.") from error
        word = kind.capitalize()
        raise TableError(
            f"{path} is not a {word} file that can be read ({one_line(error)}); repair it or leave it out."
        ) from error


def without_index(schema: Any) -> list[str]:
    """Names of the columns that hold data; pandas says in the file which ones are the index.

    An index that pandas did not name is a row number, or a name for each row: nothing to cluster by.
    """
    kept: Any = (schema.metadata or {}).get(b"pandas")
    try:
        index = list(json.loads(kept).get("index_columns", [])) if kept else []
    except (ValueError, TypeError, AttributeError) as error:
        raise TableError(f"the pandas metadata in the file is damaged ({one_line(error)}); save it again.") from error
    # A range of numbers is described there and not stored.
    stored = {name for name in index if isinstance(name, str)}
    return [name for name in schema.names if name not in stored]


def arrow_column(name: str, values: Any) -> Column:
    """A column of an arrow table; one that is neither numbers nor words says why it is refused."""
    pyarrow = require_pyarrow()
    kind, types = values.type, pyarrow.types
    if is_numeric(kind):
        return Column(name, _floats(values))
    if types.is_dictionary(kind):
        kind = kind.value_type
        values = values.cast(kind)
        if is_numeric(kind):
            return Column(name, _floats(values))
    if types.is_temporal(kind) and not types.is_time(kind):
        return Column(name, days_since_1970(values.to_pylist()), unit="days")
    nothing = np.full(len(values), np.nan)
    if types.is_null(kind):
        return Column(name, nothing)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        cells = enumerate(values.to_pylist())
        return Column(name, nothing, {row: word for row, word in cells if word is not None and not is_missing(word)})
    return Column(name, nothing, refused=f"is {kind}, not numbers")


def is_numeric(kind: Any) -> bool:
    """Whether a type of arrow is a number, or true and false."""
    types = require_pyarrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def _floats(values: Any) -> NDArray[np.floating]:
    """The numbers, in single precision where they were stored so."""
    pyarrow = require_pyarrow()
    kind = pyarrow.float32() if pyarrow.types.is_float32(values.type) else pyarrow.float64()
    numbers = values.cast(kind, safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float32 if kind == pyarrow.float32() else np.float64)
