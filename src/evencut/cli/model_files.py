"""Models of the command in files: the model, and how its table became numbers, so that new ones are read alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.errors import UserError, one_line
from evencut.cli.outputs import check_writable, whole_file
from evencut.estimators.model_files import read_record, record_bytes, require_skops
from evencut.io import Preparation
from evencut.io.gaps import column_unit

__all__ = ["SavedModel", "Scaling", "check_model_file", "load_model", "save_model"]

_SUFFIX = ".skops"


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns with mean 0 and deviation 1.

    Examples
    --------
    >>> X = np.array([[1.0, 7.0], [3.0, 7.0]])
    >>> Scaling.of(X).apply(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    center: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.floating]) -> Scaling:
        """The scaling that belongs to a table."""
        unit = column_unit(values)
        center, deviation = (values / unit).mean(axis=0) * unit, (values / unit).std(axis=0) * unit
        # A column that never changes says nothing: centred, it stays zero.
        return cls(center, np.where(deviation > 0, deviation, 1))

    def apply(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Other rows on the same scale."""
        # Halves, since a difference can be twice as large as the largest number.
        return (values / 2 - self.center / 2) / (self.spread / 2)


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a file of a model holds."""

    model: Any
    preparation: Preparation
    scaling: Scaling | None


def check_model_file(path: str) -> None:
    """Raise unless a model can be saved to `path`."""
    if Path(path).suffix.lower() != _SUFFIX:
        raise UserError(f"cannot save a model as {path}: its name must end in {_SUFFIX}.")
    require_skops()
    check_writable(path)


def save_model(path: str, model: Any, preparation: Preparation, scaling: Scaling | None) -> None:
    """Write a fitted model, and how its table was read."""
    scaled = None if scaling is None else asdict(scaling)
    content = record_bytes(model, preparation=asdict(preparation), scaling=scaled)
    with whole_file(path) as file:
        file.write(content)


def load_model(path: str) -> SavedModel:
    """Read a model, and how its table was read."""
    try:
        record = read_record(path)
    except ValueError as error:
        raise UserError(str(error)) from error
    try:
        scaling = record["scaling"]
        return SavedModel(
            record["model"],
            Preparation(**record["preparation"]),
            None if scaling is None else Scaling(**scaling),
        )
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not a model of evencut cluster --save ({one_line(error)}), which says how tables become "
            "numbers; load it in Python: evencut.load(path).predict(X)."
        ) from error
