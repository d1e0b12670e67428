"""Labels, pictures and models to files, completely or not at all: under another name first, then moved into place.

An error or Ctrl-C leaves what was there before; whether a place can be written is checked before the work begins.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from evencut import _runtime
from evencut.cli.console import UserError, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evencut.io import Preparation, Source, Table

# More clusters than this are summed up: a line should fit on a screen.
_MOST_SIZES = 12
_FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")
_SUFFIX = ".skops"


def check_writable(path: str | Path) -> None:
    """Raise a `UserError` if nothing can be written to `path`; changes nothing."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; name a file inside it.")
    if not target.parent.is_dir():
        raise UserError(f"cannot write {path}: the folder {target.parent} does not exist; create it first.")
    if _is_special(target):
        return
    trial = _runtime.draft_of(target)
    try:
        trial.open("xb").close()
    except OSError as error:
        raise UserError(
            f"cannot write {path}: no file can be created in the folder {target.parent} ({error.strerror or error}); "
            "choose another place, or get permission to write there."
        ) from error
    finally:
        # In a read-only folder nothing can be removed either, not even what is not there.
        with suppress(OSError):
            trial.unlink()


def make_folder(out: str) -> Path:
    """The folder given with --out, made if need be; a `UserError` unless files can be written into it."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {out}: {error.strerror}; choose another with --out.") from error
    check_writable(folder / "a file")
    return folder


def check_distinct(**files: str | Path | None) -> None:
    """Raise a `UserError` if two of the named files are the same one."""
    named_files: list[tuple[str, str | Path]] = []
    for role, path in files.items():
        if path is None or str(path) == "-" or _is_special(Path(os.path.realpath(path))):
            continue
        for other_role, other in named_files:
            if _are_the_same(path, other):
                raise UserError(f"{path} is both the {other_role} and the {role}; give the {role} another name.")
        named_files.append((role, path))


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` only if the block ends without an error."""
    try:
        with _runtime.atomic_write(path) as file:
            yield file
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}; choose another place.") from error


def _are_the_same(file_name: str | Path, other: str | Path) -> bool:
    """Whether two names mean one file, through links of either kind or other spellings too."""
    if os.path.realpath(file_name) == os.path.realpath(other):
        return True
    return os.path.exists(file_name) and os.path.exists(other) and os.path.samefile(file_name, other)


def _is_special(target: Path) -> bool:
    """Devices and pipes (/dev/null, /dev/stdout) take data but must never be replaced."""
    return target.exists() and not target.is_file()


def write_labels(
    output: str,
    labels: NDArray[Any],
    *,
    sources: Sequence[Source] = (),
    table: Table | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> None:
    """Write labels to a file, or to standard output if it is `-`.

    Parameters
    ----------
    output : str
    labels : ndarray of shape (n_points,)
    sources : sequence of Source
        Where the points came from, where their rows are to be written too.
    table : Table, optional
        The points; rows that were left out get the label -1, and those of several files their file and row.
    header, key
        How the source was read.
    """
    from evencut.io import write_table, write_with_columns

    columns = {"label": labels} if table is None else {**table.origins(), "label": table.for_all_rows(labels)}
    if output.lower().endswith(".npy"):
        # An array holds numbers only: labels, in the order of the files.
        columns = {"label": columns["label"]}

    with nullcontext(sys.stdout.buffer) if output == "-" else atomic_write(output) as file:
        if sources:
            write_with_columns(file, output, sources, columns, header=header, key=key)
        else:
            write_table(file, output, columns)
        file.flush()


def cluster_sizes(labels: NDArray[Any]) -> str:
    """The sizes of the clusters, in a few words however many there are.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_sizes(np.array([0, 0, 1]))
    'clusters of 2, 1'
    >>> cluster_sizes(np.arange(300) % 149)
    '149 clusters of 2 to 3 points (half of them have at most 2)'
    """
    import numpy as np

    return sizes_in_words(np.bincount(labels[labels >= 0]))


def sizes_in_words(sizes: NDArray[Any]) -> str:
    """The same from the sizes."""
    if len(sizes) <= _MOST_SIZES:
        return f"clusters of {', '.join(map(str, sizes))}"
    half = int(statistics.median(sizes.tolist()))
    return f"{len(sizes)} clusters of {sizes.min()} to {sizes.max()} points (half of them have at most {half})"


def check_picture(path: str | Path) -> None:
    """Raise a `UserError` unless a picture can be drawn and written to `path`."""
    from evencut.plotting import require_matplotlib

    if Path(path).suffix.lower() not in _FORMATS:
        raise UserError(f"cannot draw {path}: its name must end in one of {', '.join(_FORMATS)}.")
    require_matplotlib()
    check_writable(path)


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a matplotlib figure in the format the suffix of `path` names."""
    with atomic_write(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=120)


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a file of a model holds."""

    model: Any
    preparation: Preparation


def check_outputs(
    files: Sequence[str], output: str | None, model: str | None = None, plot: str | None = None
) -> None:
    """Find out now, not after minutes of work: no output takes the place of an input, and all can be written."""
    for file_name in files:
        check_distinct(input=file_name, output=output, plot=plot, model=model)
    if output not in (None, "-"):
        check_writable(str(output))
    if model is not None:
        if Path(model).suffix.lower() != _SUFFIX:
            raise UserError(f"cannot save a model as {model}: its name must end in {_SUFFIX}.")
        from evencut.estimators.model_files import require_skops

        require_skops()
        check_writable(model)


def save_model(path: str, model: Any, preparation: Preparation) -> None:
    """Write a fitted model, and how its table was read."""
    from evencut.estimators.model_files import record_bytes

    content = record_bytes(model, preparation=asdict(preparation))
    with atomic_write(path) as file:
        file.write(content)


def load_model(path: str) -> SavedModel:
    """Read a model, and how its table was read."""
    from evencut.estimators.model_files import read_record
    from evencut.io import Preparation

    try:
        record = read_record(path)
        return SavedModel(record["model"], Preparation(**record["preparation"]))
    except ValueError as error:
        raise UserError(str(error)) from error
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not a model of evencut cluster --save ({one_line(error)}), which says how tables become "
            "numbers; load it in Python: evencut.load(path).predict(X)."
        ) from error
