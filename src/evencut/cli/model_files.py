"""Models in files of the skops format: plain data whose types are checked before anything is loaded, never a pickle.

A file holds the model and how its table became numbers, so that new tables are read in the same way.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evencut
from evencut.cli.console import say
from evencut.cli.errors import UserError, one_line
from evencut.cli.outputs import check_writable, whole_file
from evencut.estimators.portable import portable, portable_types
from evencut.io import Preparation
from evencut.io.preparation import column_unit

__all__ = ["SavedModel", "Scaling", "check_model_file", "load_model", "save_model"]

_FORMAT = 1
_SUFFIX = ".skops"
# Types of other libraries that models hold and that skops does not trust by itself.
_ALSO_TRUSTED = ("scipy.sparse._csr.csr_array",)


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
    _skops()
    check_writable(path)


def save_model(path: str, model: Any, preparation: Preparation, scaling: Scaling | None) -> None:
    """Write a fitted model, and how its table was read."""
    record = {
        "format": _FORMAT,
        "evencut": evencut.__version__,
        "model": portable(model),
        "preparation": asdict(preparation),
        "scaling": None if scaling is None else asdict(scaling),
    }
    with whole_file(path) as file:
        file.write(_skops().dumps(record))


def load_model(path: str) -> SavedModel:
    """Read a model, once its types are those of a model and nothing else."""
    skops = _skops()
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}.") from error
    try:
        found = skops.get_untrusted_types(data=content)
    except Exception as error:
        raise UserError(f"{path} is not a model that can be read ({one_line(error)}); save it again.") from error
    trusted = [f"{kind.__module__}.{kind.__qualname__}" for kind in portable_types()]
    strange = sorted(set(found) - set(trusted) - set(_ALSO_TRUSTED))
    if strange:
        raise UserError(
            f"{path} holds {strange[0]}, which no model of evencut has; it is not loaded: ask where the file is from."
        )
    try:
        record = skops.loads(content, trusted=found)
        if record["format"] != _FORMAT:
            raise UserError(
                f"{path} is a model of format {record['format']}, and this evencut {evencut.__version__} reads format "
                f"{_FORMAT}; use evencut {record['evencut']}, or save the model again."
            )
        scaling = record["scaling"]
        saved = SavedModel(
            record["model"],
            Preparation(**record["preparation"]),
            None if scaling is None else Scaling(**scaling),
        )
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise UserError(f"{path} is not a model of evencut cluster --save ({one_line(error)}).") from error
    if record["evencut"] != evencut.__version__:
        say(f"{path} was saved by evencut {record['evencut']}, this is {evencut.__version__}")
    return saved


def _skops() -> Any:
    try:
        import skops.io
    except ModuleNotFoundError as missing:
        cure = 'models are saved with skops, which is not installed: pip install "evencut[models]"'
        raise ModuleNotFoundError(cure, name="skops") from missing
    return skops.io
