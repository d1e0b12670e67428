"""NPY and NPZ files: arrays of numbers, whose columns are called by their numbers. Nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import one_line
from ..tensors import AnyFloats
from .columns import choose_one
from .errors import TableError
from .limits import TableLimits
from .sources import Source


def read_array(
    source: Source, key: str | None = None, *, label_column: str | None = None, as_labels: bool = False
) -> NDArray[Any]:
    """The array of an NPY file, or the one of an NPZ file that `key` names.

    Parameters
    ----------
    source : Source
    key : str, optional
        Name of the array in an NPZ file; needed where it holds several.
    label_column : str, optional
        The same for labels.
    as_labels : bool
        Whether one value a row is expected, of any type, instead of numbers.
    """
    what = "NumPy file of labels" if as_labels else "NumPy file that can be read"
    path = source.name
    try:
        # Opened here: numpy leaves a damaged archive open.
        with source.stored() as file:
            if source.kind == "npy" and source.limits != TableLimits():
                _check_header(file, source.limits)
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.ndarray):
                with loaded:
                    loaded = loaded[_array_name(loaded.files, path, key, label_column, as_labels)]
    except TableError:
        raise
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or one_line(error)}.") from error
    except Exception as error:  # numpy and zipfile answer a damaged file with whatever their parsers run into
        raise TableError(f"{path} is not a {what} ({one_line(error)}).") from error
    return _checked_labels(loaded, path) if as_labels else _checked_points(loaded, path)


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
    there = file.seek(0, 2) - start
    if there != int(np.prod(shape, dtype=object)) * dtype.itemsize:
        raise TableError(f"this NPY file is cut off: of {' x '.join(map(str, shape))} values, {there} bytes are there.")
    file.seek(0)


def column_names(n_columns: int) -> list[str]:
    """What columns without names are called.

    Examples
    --------
    >>> column_names(2)
    ['column 1', 'column 2']
    """
    return [f"column {i + 1}" for i in range(n_columns)]


def _array_name(names: Sequence[str], path: str, key: str | None, label_column: str | None, as_labels: bool) -> str:
    if as_labels:
        return names[choose_one(label_column, names, path)]
    if key is None and len(names) != 1:
        raise TableError(f"{path} holds {len(names)} arrays ({', '.join(names)}); name one with key=.")
    if key is not None and key not in names:
        raise TableError(f"key={key!r} is not in {path}; it holds {', '.join(names)}.")
    return names[0] if key is None else key


def _checked_points(values: NDArray[Any], path: str) -> AnyFloats:
    if values.dtype.names is not None or values.dtype.kind not in "biuf":
        raise TableError(f"{path} holds {values.dtype}, not numbers; save an array of numbers.")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise TableError(f"{path} has shape {values.shape}; it must have two dimensions, points and columns.")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _checked_labels(values: NDArray[Any], path: str) -> NDArray[Any]:
    if values.ndim != 1:
        raise TableError(f"{path} has shape {values.shape}; labels must be one row of values, one for each point.")
    return values
