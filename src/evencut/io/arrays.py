"""NPY and NPZ files: arrays of numbers, whose columns are called by their numbers. Nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import choose_one
from .errors import TableError, one_line

__all__ = ["column_names", "read_array"]


def read_array(
    path: str | Path, key: str | None = None, *, label_column: str | None = None, as_labels: bool = False
) -> NDArray[Any]:
    """The array of an NPY file, or the one of an NPZ file that `key` names.

    Parameters
    ----------
    path : str or Path
    key : str, optional
        Name of the array in an NPZ file; needed where it holds several.
    label_column : str, optional
        The same for labels.
    as_labels : bool
        Whether one value a row is expected, of any type, instead of numbers.
    """
    what = "NumPy file of labels" if as_labels else "NumPy file that can be read"
    try:
        # Opened here: numpy leaves a damaged archive open.
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.ndarray):
                with loaded:
                    loaded = loaded[_array_name(loaded.files, str(path), key, label_column, as_labels)]
    except TableError:
        raise
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or one_line(error)}.") from error
    except Exception as error:  # numpy and zipfile answer a damaged file with whatever their parsers run into
        raise TableError(f"{path} is not a {what} ({one_line(error)}).") from error
    return _checked_labels(loaded, path) if as_labels else _checked_points(loaded, path)


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


def _checked_points(values: NDArray[Any], path: str | Path) -> NDArray[np.floating]:
    if values.dtype.names is not None or values.dtype.kind not in "biuf":
        raise TableError(f"{path} holds {values.dtype}, not numbers; save an array of numbers.")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise TableError(f"{path} has shape {values.shape}; it must have two dimensions, points and columns.")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _checked_labels(values: NDArray[Any], path: str | Path) -> NDArray[Any]:
    if values.ndim != 1:
        raise TableError(f"{path} has shape {values.shape}; labels must be one row of values, one for each point.")
    return values
