"""Models of the command in files: the model, and how its table became numbers, so that new ones are read alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evencut.cli.errors import UserError, one_line
from evencut.cli.outputs import check_distinct, check_writable, whole_file
from evencut.estimators.model_files import read_record, record_bytes, require_skops
from evencut.io import Preparation

_SUFFIX = ".skops"


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a file of a model holds."""

    model: Any
    preparation: Preparation


def check_model_file(path: str) -> None:
    """Raise unless a model can be saved to `path`."""
    if Path(path).suffix.lower() != _SUFFIX:
        raise UserError(f"cannot save a model as {path}: its name must end in {_SUFFIX}.")
    require_skops()
    check_writable(path)


def check_places(files: Sequence[str], output: str | None, model: str | None, plot: str | None = None) -> None:
    """Find out now, not after minutes of work: no output takes the place of an input, and all can be written."""
    for one in files:
        check_distinct(input=one, output=output, plot=plot, model=model)
    if output not in (None, "-"):
        check_writable(str(output))
    if model is not None:
        check_model_file(model)


def save_model(path: str, model: Any, preparation: Preparation) -> None:
    """Write a fitted model, and how its table was read."""
    content = record_bytes(model, preparation=asdict(preparation))
    with whole_file(path) as file:
        file.write(content)


def load_model(path: str) -> SavedModel:
    """Read a model, and how its table was read."""
    try:
        record = read_record(path)
    except ValueError as error:
        raise UserError(str(error)) from error
    try:
        return SavedModel(record["model"], Preparation(**record["preparation"]))
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not a model of evencut cluster --save ({one_line(error)}), which says how tables become "
            "numbers; load it in Python: evencut.load(path).predict(X)."
        ) from error
