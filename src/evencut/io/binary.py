"""Columns and arrays from binary files: Parquet, Feather and Arrow through pyarrow, NPY and NPZ through NumPy.

Arrow tables are files (Feather is one) or streams, which Hugging Face's `datasets` saves; both are read. The index
that pandas saves is not a column, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import counted, one_line
from ..tensors import AnyFloats, AnyInts
from .columns import Column, choose_one, days_since_1970, is_missing
from .files import Source, TableError, TableLimits, require_pyarrow

# How a stream of Arrow begins; a file begins with its name.
_STREAM_MARK = b"\xff\xff\xff\xff"
_ROWS_AT_ONCE = 4096


def is_list_type(kind: Any) -> bool:
    """Whether an Arrow type is a list of numbers, of any or of fixed length."""
    import pyarrow

    types = pyarrow.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and (types.is_integer(kind.value_type) or types.is_floating(kind.value_type))


def list_names(name: str, n_numbers: int) -> list[str]:
    """What the columns are called that a column of vectors becomes.

    Examples
    --------
    >>> list_names("embedding", 2)
    ['embedding[0]', 'embedding[1]']
    """
    return [f"{name}[{i}]" for i in range(n_numbers)]


def list_values(name: str, column: Any) -> AnyFloats:
    """An Arrow column of lists as an array, in single precision where the numbers are."""
    import pyarrow
    import pyarrow.compute

    combined = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    if combined.null_count:
        row = pyarrow.compute.index(pyarrow.compute.is_null(combined), True).as_py()
        many = counted(combined.null_count, "such row")
        raise TableError(f"row {row} of {name!r} has no vector ({many}); leave such rows out.")
    lengths = np.asarray(pyarrow.compute.list_value_length(combined))
    check_even(name, lengths)
    flat = pyarrow.compute.list_flatten(combined)
    if flat.null_count:
        row = int(pyarrow.compute.index(pyarrow.compute.is_null(flat), True).as_py()) // int(lengths[0])
        raise TableError(f"row {row} of {name!r} has an empty place in its vector; leave such rows out.")
    numbers = flat.to_numpy(zero_copy_only=False)
    kind = np.float32 if numbers.dtype in (np.float16, np.float32) else np.float64
    return numbers.astype(kind, copy=False).reshape(len(lengths), -1)


def check_even(name: str, lengths: AnyInts) -> None:
    """Raise unless all vectors have one length, which is not 0."""
    if not len(lengths):
        raise TableError(f"column {name!r} has no rows; give one vector for each point.")
    odd = np.flatnonzero(lengths != lengths[0])
    if odd.size:
        raise TableError(
            f"row {odd[0]} of {name!r} has {lengths[odd[0]]} numbers, but row 0 has {lengths[0]}; vectors must have "
            "one length."
        )
    if lengths[0] == 0:
        raise TableError(f"the vectors of {name!r} are empty; give at least one number each.")


def read_array(source: Source, key: str | None = None) -> AnyFloats:
    """The numbers of an NPY file, or of the array of an NPZ file that `key` names, as rows and columns."""

    def named(names: Sequence[str]) -> str:
        if key is None and len(names) != 1:
            raise TableError(f"{source.name} holds {len(names)} arrays ({', '.join(names)}); name one with key=.")
        if key is not None and key not in names:
            raise TableError(f"key={key!r} is not in {source.name}; it holds {', '.join(names)}.")
        return key or names[0]

    values = _stored_array(source, named, "NumPy file that can be read")
    if values.dtype.names is not None or values.dtype.kind not in "biuf":
        raise TableError(f"{source.name} holds {values.dtype}, not numbers; save an array of numbers.")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise TableError(f"{source.name} has shape {values.shape}; it must have two dimensions, points and columns.")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def read_array_of_labels(source: Source, column: str | None = None) -> NDArray[Any]:
    """The labels of an NPY file, or of the array of an NPZ file that `column` names: one for each row, of any type."""
    values = _stored_array(source, lambda names: names[choose_one(column, names, source.name)], "NumPy file of labels")
    if values.ndim != 1:
        raise TableError(
            f"{source.name} has shape {values.shape}; labels must be one row of values, one for each point."
        )
    return values


def _stored_array(source: Source, named: Callable[[Sequence[str]], str], what: str) -> NDArray[Any]:
    """The array of a file; `named` chooses among those of an archive, and `what` is what the file should be."""
    path = source.name
    try:
        # Opened here: numpy leaves a damaged archive open.
        with source.stored() as file:
            if source.kind == "npy" and source.limits != TableLimits():
                _check_header(file, source.limits)
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            with loaded:
                return loaded[named(loaded.files)]
    except TableError:
        raise
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or one_line(error)}.") from error
    except Exception as error:  # numpy and zipfile answer a damaged file with whatever their parsers run into
        # NumPy advises to unpickle what it does not know, which could run code.
        why = "it holds no array of NumPy, or Python objects" if "pickle" in str(error) else one_line(error)
        raise TableError(f"{path} is not a {what} ({why}); save it again with numpy.save.") from error


def _check_header(file: IO[bytes], limits: TableLimits) -> None:
    """Refuse an array by what its header says, before there is memory for it."""
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        shape, _, dtype = headers[np.lib.format.read_magic(file)](file, max_header_size=10_000)
    except Exception as error:  # numpy's parser answers a damaged header with whatever it runs into
        raise TableError("this is not an NPY file that can be read: its header is broken.") from error
    if dtype.hasobject:
        raise TableError("this NPY file holds pickled objects, which could run code when read; save numbers.")
    if len(shape) not in (1, 2) or min(shape) < 1:
        raise TableError(f"this NPY file has shape {str(shape)[:80]}; it must be (points, columns).")
    limits.check_size(shape[0], shape[-1] if len(shape) == 2 else 1)
    start = file.tell()
    n_bytes = file.seek(0, 2) - start
    if n_bytes != int(np.prod(shape, dtype=object)) * dtype.itemsize:
        size = " x ".join(map(str, shape))
        raise TableError(f"this NPY file is cut off: of {size} values, {n_bytes} bytes are there.")
    file.seek(0)


def read_arrow(source: Source) -> Any:
    """The whole table of a Parquet, Feather or Arrow file."""
    with readable_errors(source.name, source.kind), source.stored() as stored:
        if source.kind == "parquet":
            place = source.path if source.data is None else stored
            with require_pyarrow("pyarrow.parquet").ParquetFile(place) as file:
                return file.read()
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
    with readable_errors(source.name), parquet.ParquetFile(data, thrift_string_size_limit=1 << 24) as file:
        metadata, schema = file.metadata, file.schema_arrow
        source.limits.check_size(metadata.num_rows, metadata.num_columns)
        packed = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        source.limits.check_unpacked(packed, 8 * source.limits.cells)
        source.limits.check_names(schema.names)
        refused = {field.name: why for field in schema if (why := _refusal(field.type))}
        table = _bounded(file, [name for name in schema.names if name not in refused], source.limits)
    nothing = np.full(metadata.num_rows, np.nan)
    unread = [Column(name, nothing, refused=why) for name, why in refused.items()]
    return table.replace_schema_metadata(schema.metadata), unread


def _bounded(file: Any, names: list[str], limits: TableLimits) -> Any:
    pyarrow = require_pyarrow()
    batches, n_bytes = [], 0
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=names, use_threads=False):
        columns = [column.dictionary_encode() if _is_text(column.type) else column for column in batch.columns]
        batches.append(pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names))
        n_bytes += batches[-1].nbytes
        limits.check_unpacked(n_bytes, 8 * limits.cells)
    return pyarrow.Table.from_batches(batches) if batches else file.schema_arrow.empty_table().select(names)


def _refusal(kind: Any) -> str | None:
    """Why a column of this type is neither numbers, words nor dates; None if it is."""
    types = require_pyarrow().types
    if is_numeric(kind) or _is_text(kind) or types.is_dictionary(kind) or types.is_date(kind):
        return None
    if types.is_timestamp(kind) or types.is_duration(kind):
        return None
    if types.is_temporal(kind):
        return "holds times without a date; make numbers of them, such as seconds"
    return "is empty" if types.is_null(kind) else f"holds {kind}, neither numbers nor names"


@contextmanager
def readable_errors(path: str | Path, kind: str = "parquet") -> Iterator[None]:
    """Turn what pyarrow says about a file that it cannot read into one sentence."""
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
    metadata: Any = (schema.metadata or {}).get(b"pandas")
    try:
        index = list(json.loads(metadata).get("index_columns", [])) if metadata else []
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
    if _is_text(kind):
        return _words(name, values.cast(pyarrow.large_string()).dictionary_encode())
    return Column(name, np.full(len(values), np.nan), refused=None if types.is_null(kind) else _refusal(kind))


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
