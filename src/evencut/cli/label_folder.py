"""A folder of labels, one Parquet file a block, each written whole; a run that was stopped goes on where it was.

What the labels depend on (files, options) is kept beside them, so that no run mixes with another.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.errors import UserError
from evencut.cli.outputs import whole_file
from evencut.estimators import LandmarkClustering
from evencut.io import Source
from evencut.io.arrow import read_arrow
from evencut.landmarks import Attachment, Block
from evencut.tensors import Ints

# Readers of Parquet folders pass over names that begin with an underscore.
_RECORD = "_evencut.json"
_LANDMARKS = "_landmarks.npz"


def describe_files(files: Sequence[str]) -> list[list[Any]]:
    """Name, size and time of change of files, which tell whether they are still the same."""
    return [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in map(Path, files) if path.exists()]


class LabelFolder:
    """The labels of one run.

    Parameters
    ----------
    path : Path
        The folder; made when the run begins.
    record : dict
        Everything the labels depend on.
    """

    def __init__(self, path: Path, record: dict[str, Any]):
        self.path = path
        self.record = json.loads(json.dumps(record))
        self.is_begun = self._check_place()

    def begin(self, model: LandmarkClustering) -> None:
        """Keep the landmarks and their clusters: all that is needed to label a block."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot make the folder {self.path}: {error.strerror}; choose another place.") from error
        with whole_file(self.path / _LANDMARKS) as file:
            np.savez(file, **model.attachment_.__getstate__())
        # Written last: a folder with a record has landmarks.
        with whole_file(self.path / _RECORD) as file:
            file.write(json.dumps(self.record, indent=1).encode())

    def attachment(self) -> Attachment:
        """The landmarks of the run, with their clusters."""
        with np.load(self.path / _LANDMARKS) as kept:
            return Attachment(**{name: kept[name] if kept[name].ndim else kept[name].item() for name in kept})

    def finished(self, n_blocks: int) -> list[int]:
        """Numbers of the blocks whose labels are there."""
        return [number for number in range(n_blocks) if self._part(number).exists()]

    def write(self, number: int, labels: Ints, block: Block) -> None:
        """Write the labels of a block, whole or not at all."""
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"label": labels.astype(np.int32)})
        about = {"evencut.source": block.name, "evencut.first_row": str(block.first)}
        with whole_file(self._part(number)) as file:
            pyarrow.parquet.write_table(table.replace_schema_metadata(about), file)

    def read(self, number: int) -> NDArray[np.int32]:
        """The labels of a finished block."""
        return read_arrow(Source(str(self._part(number)))).column("label").to_numpy()

    def _part(self, number: int) -> Path:
        return self.path / f"part-{number:06d}.parquet"

    def _check_place(self) -> bool:
        """Whether this very run was begun here; a `UserError` where the folder belongs to something else."""
        if not self.path.exists():
            return False
        if not self.path.is_dir():
            raise UserError(f"{self.path} is a file; give a folder for the labels.")
        # Left over by a run that was killed while it wrote.
        for draft in self.path.glob(".*.part"):
            draft.unlink(missing_ok=True)
        if not (self.path / _RECORD).exists():
            others = [entry.name for entry in self.path.iterdir() if entry.name != _LANDMARKS]
            if others:
                raise UserError(f"{self.path} already holds {others[0]}; choose a new or empty folder for the labels.")
            return False
        kept = json.loads((self.path / _RECORD).read_text(encoding="utf-8"))
        changed = [name for name in {**kept, **self.record} if kept.get(name) != self.record.get(name)]
        if changed:
            raise UserError(
                f"{self.path} holds labels of a run with other {' and '.join(changed)}; choose another folder, or "
                "remove this one to start again."
            )
        return True
