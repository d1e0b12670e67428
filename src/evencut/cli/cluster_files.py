"""`evencut cluster "data/*.parquet" --landmarks auto -o labels/`: files bigger than memory in, blocks of labels out.

Blocks are read on this machine, or by the workers of a Dask scheduler; labels always come back here to be written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.console import UserError, as_user_errors, counted, one_line, progress, say
from evencut.cli.options import print_notices
from evencut.cli.outputs import atomic_write, check_outputs, save_model, sizes_in_words
from evencut.estimators import LandmarkClustering
from evencut.io import Preparation, Source, check_output_format, kind_and_compression, open_file, read_table
from evencut.io.binary import read_arrow
from evencut.landmarks import Attachment, Block, RowBlocks, open_files, row_blocks
from evencut.tensors import Ints

_CONNECT_SECONDS = 10

# Readers of Parquet folders pass over names that begin with an underscore.
_RECORD = "_evencut.json"
_LANDMARKS = "_landmarks.npz"


def is_one_table(files: Sequence[str], output: str, in_blocks: bool) -> bool:
    """Whether the files are read whole; those that can be read in blocks are not if `in_blocks`."""
    return not (_is_folder(output) or (in_blocks and _in_blocks(files)))


def _in_blocks(files: Sequence[str]) -> bool:
    return all(kind_and_compression(file)[0] in ("parquet", "npy") for file in files)


def cluster_blocks(
    files: Sequence[str],
    output: str,
    model: LandmarkClustering,
    columns: Sequence[str] | None,
    scheduler: str | None,
    save: str | None = None,
) -> Any:
    """Cluster files in blocks; labels go to the folder `output`.

    Returns the labels instead where `output` names a single file, which is left to the caller to write.
    """
    one_file = not _is_folder(output)
    check_output_format(output if one_file else "labels.parquet")
    if "-" in files and not one_file:
        raise UserError("labels of standard input go to one file, such as -o labels.parquet, not to a folder.")
    check_outputs(files, output if one_file else None, save)
    with _on_cluster(scheduler) as on_cluster:
        with as_user_errors():
            opened, preparation = _open(files, columns, model.n_jobs)
            rows = on_cluster(opened)

        def fit() -> LandmarkClustering:
            with progress() as step, _blocks_as_user_errors():
                step(f"clustering {rows.n_rows} rows in {len(rows.blocks)} blocks")
                model.fit(rows)
            if save is not None:
                save_model(save, model, preparation)
            return model

        if one_file:
            return fit().predict(rows)
        # What the labels depend on, as opposed to how fast they come.
        record = {"files": describe_files(files), "columns": columns and list(columns), **model.get_params()}
        del record["n_jobs"]
        folder = LabelFolder(Path(output), record)
        if folder.is_begun and save is not None:
            raise UserError(f"{output} holds a run that was begun, whose model is not fitted again; leave --save out.")
        if not folder.is_begun:
            folder.begin(fit())
        sizes = _write_blocks(rows, folder)
    written = output if save is None else f"{output} and {save}"
    say(f"{rows.n_rows} rows, {sizes_in_words(sizes)}; wrote {written}")
    return None


def _is_folder(output: str) -> bool:
    return output != "-" and Path(output).suffix == ""


def _write_blocks(rows: RowBlocks, folder: LabelFolder) -> Any:
    """Label the blocks that are not done yet; the sizes of the clusters in all of them."""
    landmarks = folder.attachment()
    assert landmarks.labels is not None
    sizes = np.zeros(int(landmarks.labels.max()) + 1, dtype=np.int64)
    done = folder.finished(len(rows.blocks))
    if done:
        say(f"{len(done)} of {len(rows.blocks)} blocks were finished before")
    for number in done:
        sizes += np.bincount(folder.read(number), minlength=len(sizes))
    bar = counted(f"labelling {rows.n_rows} rows", len(rows.blocks), len(done))
    with bar as advance, _blocks_as_user_errors():
        for number, labels in rows.results(landmarks.predict, skip=done):
            folder.write(number, labels, rows.blocks[number])
            sizes += np.bincount(labels, minlength=len(sizes))
            advance()
    return sizes


def _open(files: Sequence[str], columns: Sequence[str] | None, n_jobs: int | None) -> tuple[RowBlocks, Preparation]:
    """The rows, and which columns they have."""
    if _in_blocks(files):
        rows = open_files(files, columns=columns, n_jobs=n_jobs)
        return rows, Preparation(tuple(open_file(files[0], columns).names))
    table = read_table(files, columns=columns)
    print_notices(table)
    return row_blocks(table.values, n_jobs), table.preparation


@contextmanager
def _blocks_as_user_errors() -> Iterator[None]:
    try:
        with as_user_errors():
            yield
    except (ConnectionError, RuntimeError) as error:
        raise UserError(one_line(error)) from error


@contextmanager
def _on_cluster(scheduler: str | None) -> Iterator[Any]:
    """A function that hands blocks to the workers of a scheduler, or leaves them here if there is none."""
    if scheduler is None:
        yield lambda rows: rows
        return
    try:
        import logging

        from distributed import Client
    except ModuleNotFoundError as missing:
        raise UserError('--scheduler needs Dask, which is not installed: pip install "evencut[dask]"') from missing
    # Errors are reported in one line by `main`.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=True)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise UserError(
            f"no Dask scheduler answers at --scheduler {scheduler} ({one_line(error)}); start one with "
            "'dask scheduler', and workers with 'dask worker ADDRESS'."
        ) from error
    from evencut.landmarks.dask import DaskBlocks

    try:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError as error:
            raise UserError(
                f"the Dask scheduler at {scheduler} has no workers; start some with 'dask worker {scheduler}'."
            ) from error
        yield lambda rows: DaskBlocks(rows.blocks, rows.n_features)
    finally:
        client.close(timeout=_CONNECT_SECONDS)


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
        with atomic_write(self.path / _LANDMARKS) as file:
            np.savez(file, **model.attachment_.__getstate__())
        # Written last: a folder with a record has landmarks.
        with atomic_write(self.path / _RECORD) as file:
            file.write(json.dumps(self.record, indent=1).encode())

    def attachment(self) -> Attachment:
        """The landmarks of the run, with their clusters."""
        with np.load(self.path / _LANDMARKS) as stored:
            return Attachment(**{name: stored[name] if stored[name].ndim else stored[name].item() for name in stored})

    def finished(self, n_blocks: int) -> list[int]:
        """Numbers of the blocks whose labels are there."""
        return [number for number in range(n_blocks) if self._part(number).exists()]

    def write(self, number: int, labels: Ints, block: Block) -> None:
        """Write the labels of a block, whole or not at all."""
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"label": labels.astype(np.int32)})
        about = {"evencut.source": block.name, "evencut.first_row": str(block.first)}
        with atomic_write(self._part(number)) as file:
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
            entries = [entry.name for entry in self.path.iterdir() if entry.name != _LANDMARKS]
            if entries:
                raise UserError(f"{self.path} already holds {entries[0]}; choose a new or empty folder for the labels.")
            return False
        stored = json.loads((self.path / _RECORD).read_text(encoding="utf-8"))
        changed = [name for name in {**stored, **self.record} if stored.get(name) != self.record.get(name)]
        if changed:
            raise UserError(
                f"{self.path} holds labels of a run with other {' and '.join(changed)}; choose another folder, or "
                "remove this one to start again."
            )
        return True
