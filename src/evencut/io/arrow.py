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

from .._runtime import one_line
from ..tensors import AnyFloats
from .cells import Column, days_since_1970, is_missing
from .errors import TableError, require_pyarrow
from .limits import TableLimits
from .sources import Source

# How a stream of Arrow begins; a file begins with its name.
_STREAM_MARK = b"\xff\xff\xff\xff"
_ROWS_AT_ONCE = 4096


def read_arrow(source: Source) -> Any:
    """The whole table of a Parquet, Feather or Arrow file."""
    with damage_is_told(source.name, source.kind):
        if source.kind == "parquet":
            with require_pyarrow("pyarrow.parquet").ParquetFile(source.path) as file:
                return file.read()
    with damage_is_told(source.name, source.kind), source.stored() as stored:
        is_stream = stored.read(len(_STREAM_MARK)) == _STREAM_MARK
        stored.seek(0)
        if is_stream:
            with require_pyarrow("pyarrow", "Arrow files").ipc.open_stream(stored) as stream:
                return stream.read_all()
        return require_pyarrow("pyarrow.feather", "Feather files").read_table(stored, memory_map=False)


def read_bounded(source: Source) -> tuple[Any, list[Column]]:
    """The columns of a stranger's Parquet file that are numbers or text, the latter as codes; the others unread.

    A few bytes may stand for any number of values: what the file says of itself is checked, and the true size is
    counted as it grows.
    """
    parquet, data = require_pyarrow("pyarrow.parquet"), require_pyarrow().BufferReader(source.data)
    with damage_is_told(source.name), parquet.ParquetFile(data, thrift_string_size_limit=1 << 24) as file:
        about, schema = file.metadata, file.schema_arrow
        source.limits.check_size(about.num_rows, about.num_columns)
        packed = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        source.limits.check_unpacked(packed, 8 * source.limits.cells)
        source.limits.check_names(schema.names)
        plain = [one.name for one in schema if _is_plain(one.type)]
        table = _bounded(file, plain, source.limits)
    nothing = np.full(about.num_rows, np.nan)
    others = [Column(one.name, nothing, refused=_why_not(one.type)) for one in schema if one.name not in plain]
    return table.replace_schema_metadata(schema.metadata), others


def _bounded(file: Any, plain: list[str], limits: TableLimits) -> Any:
    pyarrow = require_pyarrow()
    parts, n_bytes = [], 0
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=plain, use_threads=False):
        columns = [column.dictionary_encode() if _is_text(column.type) else column for column in batch.columns]
        parts.append(pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names))
        n_bytes += parts[-1].nbytes
        limits.check_unpacked(n_bytes, 8 * limits.cells)
    return pyarrow.Table.from_batches(parts) if parts else file.schema_arrow.empty_table().select(plain)


def _is_plain(kind: Any) -> bool:
    return is_numeric(kind) or _is_text(kind) or require_pyarrow().types.is_dictionary(kind)


def _why_not(kind: Any) -> str:
    types = require_pyarrow().types
    if types.is_temporal(kind):
        return "holds dates or times; make numbers of them, such as days since the first"
    return "is empty" if types.is_null(kind) else f"holds {kind}, neither numbers nor names"


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
        if _is_text(kind.value_type):
            return _words(name, values)
        return arrow_column(name, values.cast(kind.value_type))
    if types.is_temporal(kind) and not types.is_time(kind):
        return Column(name, days_since_1970(values.to_pylist()), unit="days")
    nothing = np.full(len(values), np.nan)
    if types.is_null(kind):
        return Column(name, nothing)
    if _is_text(kind):
        return _words(name, values.cast(pyarrow.large_string()).dictionary_encode())
    return Column(name, nothing, refused=f"is {kind}, not numbers")


def _words(name: str, values: Any) -> Column:
    """A column of words that arrow keeps once each; those that no row has are left out."""
    nothing = np.full(len(values), np.nan)
    chunks = values.unify_dictionaries().chunks if hasattr(values, "chunks") else [values]
    if not len(values):
        return Column(name, nothing)
    words = chunks[0].dictionary.to_pylist()
    codes = np.concatenate([chunk.indices.cast("int32").fill_null(-1).to_numpy(False) for chunk in chunks])
    known = dict.fromkeys(words[code] for code in np.unique(codes) if code >= 0 and not is_missing(words[code] or ""))
    place = {word: code for code, word in enumerate(known)}
    new = np.array([*(place.get(word, -1) for word in words), -1], dtype=np.int32)
    return Column(name, nothing, new[codes], tuple(known)) if known else Column(name, nothing)


def _is_text(kind: Any) -> bool:
    types = require_pyarrow().types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def is_numeric(kind: Any) -> bool:
    """Whether a type of arrow is a number, or true and false."""
    types = require_pyarrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def _floats(values: Any) -> AnyFloats:
    """The numbers, in single precision where they were stored so."""
    pyarrow = require_pyarrow()
    kind = pyarrow.float32() if pyarrow.types.is_float32(values.type) else pyarrow.float64()
    numbers = values.cast(kind, safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float32 if kind == pyarrow.float32() else np.float64)
