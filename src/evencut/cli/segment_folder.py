"""`evencut segment-folder`: objects cut out of many photos from a file of boxes and clicks, on several processes.

Each photo is finished when its run lengths are written; a run that was stopped goes on with the photos that are not.
The processes part from one that has loaded everything, and finish the photo in hand whatever becomes of the others.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_all_start_methods, get_context, parent_process
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from evencut.cli.console import UserError, counted, one_line, say
from evencut.cli.options import Seed, number_of
from evencut.cli.outputs import atomic_write, make_folder

_RECORD = "_evencut.json"
_ALL = "coco.json"

#: For each photo, one dict an object with `box` and `clicks` as in `segment`.
Prompts = dict[str, list[dict[str, Any]]]
_CORNERS = ("x0", "y0", "x1", "y1")

#: The photo, its prompts, where its mask goes, and the seed.
Task = tuple[str, list[dict[str, Any]], str, int]

#: What every process needs: loaded once, before the processes part.
_PRELOADED = ["evencut.cli.segment_folder", "evencut.cli.segment", "evencut.segmentation._maxflow_loops", "PIL.Image"]

#: Held while a photo is in hand.
_BUSY = threading.Lock()

#: Whether to leave as soon as none is.
_LEAVING = threading.Event()


def segment_folder(
    prompts: Annotated[str, Argument(metavar="PROMPTS", help="Boxes and clicks: a .csv or a COCO .json file.")],
    photos: Annotated[str, Option(metavar="FOLDER", help="The folder of the photos.")] = ".",
    out: Annotated[str, Option("--out", "-o", metavar="FOLDER", help="The folder for the masks.")] = "masks",
    jobs: Annotated[int, number_of("--jobs", 1, "Photos at a time.")] = 1,
    seed: Seed = 0,
) -> None:
    """Cut objects out of many photos; run it again to continue.

    After an interruption, finished photos are not cut again.

    Writes a mask for each photo (PNG: white on the object, or a palette of labels for several objects), its objects as
    run lengths (JSON), and all of them together in coco.json. A table of prompts has one row for each object, with the
    columns photo, x0, y0, x1, y1, clicks ("120,80 140,95") and nots.
    """
    prompts_by_photo = read_prompts(prompts)
    folder = Path(photos)
    missing = [name for name in prompts_by_photo if not (folder / name).is_file()]
    if missing:
        n_missing = f"{len(missing)} of {len(prompts_by_photo)} photos"
        raise UserError(f"{folder / missing[0]} does not exist ({n_missing}); name their folder with --photos.")
    targets = _targets(prompts_by_photo)
    target = make_folder(out)
    _check_record(target, {"prompts": prompts_by_photo, "seed": seed})
    failed: dict[str, str] = {}
    with only_run(target / _RECORD):
        # Left over by a run that was killed while it wrote.
        for draft in target.glob(".*.part"):
            draft.unlink(missing_ok=True)
        left = [name for name in prompts_by_photo if not (target / f"{targets[name]}.json").exists()]
        tasks: list[Task] = [
            (str(folder / name), prompts_by_photo[name], str(target / targets[name]), seed) for name in left
        ]
        # Processes part before the progress bar has its thread.
        pool = PhotoPool(_cut_out, tasks, jobs) if jobs > 1 and len(tasks) > 1 else None
        results = pool.finished() if pool is not None else ((task[0], _cut_out(*task)) for task in tasks)
        with counted("segmenting", len(prompts_by_photo), len(prompts_by_photo) - len(left)) as advance:
            for name, error in results:
                if error is not None:
                    failed[name] = error
                    say(f"warning: {name}: {error}")
                advance()
    finished = _collect(target, prompts_by_photo, targets)
    say(f"wrote {finished} masks to {target}, {len(left) - len(failed)} of them now")
    if failed:
        raise UserError(f"{len(failed)} of {len(prompts_by_photo)} photos failed; correct their prompts and run again.")


def _targets(prompts_by_photo: Prompts) -> dict[str, str]:
    """The name of each photo's outputs; photos that would share one are refused."""
    targets: dict[str, str] = {}
    for name in prompts_by_photo:
        stem = "_".join(Path(name).with_suffix("").parts)
        if stem in targets.values():
            raise UserError(f"{name} and another photo would both be written to {stem}.png; rename one of them.")
        targets[name] = stem
    return targets


def _check_record(target: Path, record: dict[str, Any]) -> None:
    """Begin a run, or go on with it; a folder with the masks of other prompts is refused."""
    record = json.loads(json.dumps(record))
    place = target / _RECORD
    if place.exists():
        if json.loads(place.read_text(encoding="utf-8")) != record:
            raise UserError(f"{target} holds masks of other prompts or another seed; choose another folder with --out.")
        return
    entries = sorted(entry.name for entry in target.iterdir())
    if entries:
        raise UserError(f"{target} already holds {entries[0]}; choose a new or empty folder with --out.")
    with atomic_write(place) as file:
        file.write(json.dumps(record).encode())


def _cut_out(photo: str, prompts: list[dict[str, Any]], target: str, seed: int) -> str | None:
    """One photo: its mask, then its run lengths, which say that it is finished. Returns what went wrong."""
    import numpy as np

    from evencut.cli.segment import write_mask
    from evencut.segmentation import encode_mask, read_image, segment_many

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cut = segment_many(read_image(photo), prompts, random_state=seed)
    except ValueError as error:
        return one_line(error)
    write_mask(f"{target}.png", cut.labels, np.arange(len(prompts) + 1))
    objects = [{"segmentation": encode_mask(mask), "area": int(mask.sum())} for mask in cut.masks]
    with atomic_write(f"{target}.json") as file:
        file.write(json.dumps(objects).encode())
    return None


def _collect(target: Path, prompts_by_photo: Prompts, targets: dict[str, str]) -> int:
    """Write all finished photos into one COCO file; returns how many there are."""
    content: dict[str, list[Any]] = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "object"}]}
    for number, name in enumerate(prompts_by_photo, start=1):
        result_file = target / f"{targets[name]}.json"
        if not result_file.exists():
            continue
        objects = json.loads(result_file.read_text(encoding="utf-8"))
        height, width = objects[0]["segmentation"]["size"]
        content["images"].append({"id": number, "file_name": name, "width": width, "height": height})
        for item in objects:
            mark = {"id": len(content["annotations"]) + 1, "image_id": number, "category_id": 1, "iscrowd": 0}
            content["annotations"].append({**mark, **item})
    with atomic_write(target / _ALL) as file:
        file.write(json.dumps(content).encode())
    return len(content["images"])


def read_prompts(path: str) -> Prompts:
    """The prompts of a .csv or .json file, by the name of the photo.

    A table has the columns `photo`, `x0`, `y0`, `x1`, `y1` (empty where there is no box), and `clicks` and `nots` with
    points such as ``120,80 140,95``. A COCO file has `images` with `file_name`, and `annotations` with `bbox` (x, y,
    width, height) or `clicks` (a list of x, y and 1 for object, 0 for background).
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    prompts = _from_coco(path, text) if Path(path).suffix.lower() == ".json" else _from_table(path, text)
    if not prompts:
        raise UserError(f"{path} has no prompts; give at least one box or click.")
    return prompts


def _from_table(path: str, text: str) -> Prompts:
    rows = csv.DictReader(text.splitlines())
    names = rows.fieldnames or []
    if "photo" not in names or not (set(_CORNERS) <= set(names) or "clicks" in names):
        raise UserError(
            f"{path} has the columns {', '.join(names) or 'none'}; it needs photo, and x0,y0,x1,y1 or clicks."
        )
    prompts: Prompts = {}
    for line, row in enumerate(rows, start=2):
        corners = [row.get(corner) or "" for corner in _CORNERS]
        try:
            box = [float(corner) for corner in corners] if any(corners) else None
            clicks = [(*_point(text), "object") for text in (row.get("clicks") or "").split()]
            clicks += [(*_point(text), "background") for text in (row.get("nots") or "").split()]
        except ValueError:
            raise UserError(f"{path}, line {line}: boxes are four numbers, clicks points such as 120,80.") from None
        if box is None and not clicks:
            raise UserError(f"{path}, line {line}: neither a box nor a click for {row['photo']}.")
        prompts.setdefault(row["photo"], []).append({"box": box, "clicks": clicks or None})
    return prompts


def _point(text: str) -> tuple[float, float]:
    x, y = text.split(",")
    return float(x), float(y)


def _from_coco(path: str, text: str) -> Prompts:
    prompts: Prompts = {}
    try:
        content = json.loads(text)
        photos = {image["id"]: image["file_name"] for image in content["images"]}
        for mark in content["annotations"]:
            box = None
            if mark.get("bbox"):
                x, y, width, height = (float(number) for number in mark["bbox"])
                box = [x, y, x + width, y + height]
            clicks = [(float(x), float(y), "object" if kind else "background") for x, y, kind in mark.get("clicks", [])]
            prompts.setdefault(photos[mark["image_id"]], []).append({"box": box, "clicks": clicks or None})
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path} is not a COCO file of prompts ({type(error).__name__}: {error}); it needs images with id and "
            "file_name, and annotations with image_id and bbox or clicks."
        ) from error
    return prompts


class PhotoPool:
    """Processes that cut out photos; they part from this one when it is made.

    Parameters
    ----------
    cut_out : callable
        What to do with a task; returns what went wrong, or None.
    tasks : list
    jobs : int
        Processes, at most.
    """

    def __init__(self, cut_out: Callable[..., str | None], tasks: list[Task], jobs: int) -> None:
        self._jobs = jobs
        with warnings.catch_warnings():
            # Threads of libraries at rest do no harm to a copy of the process.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=_processes(), initializer=_begin)
            # Large photos first, to keep all processes busy until the end.
            order = sorted(tasks, key=lambda task: -os.path.getsize(task[0]))
            self._running = {self._pool.submit(_undisturbed, cut_out, task): task[0] for task in order}

    def finished(self) -> Iterator[tuple[str, str | None]]:
        """Names of photos as they are finished, with what went wrong or None."""
        try:
            for done in as_completed(self._running):
                yield self._running[done], done.result()
        except BrokenProcessPool as error:
            raise UserError(
                f"a process of --jobs {self._jobs} was killed, perhaps for lack of memory; finished "
                "photos are kept: run again with fewer jobs."
            ) from error
        finally:
            # On an interruption what has not begun is not begun.
            self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def only_run(record: Path) -> Iterator[None]:
    """Keep the folder of the record to this run and its processes, which hold on to it if this one is killed.

    Where files cannot be locked, nothing is kept.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with record.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run in {record.parent} to finish its photos")
            fcntl.flock(held, fcntl.LOCK_EX)
        except OSError:
            pass  # Some network disks know no locks.
        yield


def _processes() -> Any:
    """How to start processes: from a copy of this one with everything loaded, or from one that has loaded it once."""
    if sys.platform == "linux" and threading.active_count() == 1:
        for module in _PRELOADED:
            import_module(module)
        return get_context("fork")
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


def _begin() -> None:
    """Make a process deaf to what ends the others: it leaves when asked to, but finishes its photo first."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _leave)

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            with _BUSY:
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _leave(*_: Any) -> None:
    _LEAVING.set()
    if not _BUSY.locked():
        os._exit(1)


def _undisturbed(cut_out: Callable[..., str | None], task: Task) -> str | None:
    with _BUSY:
        error = cut_out(*task)
    if _LEAVING.is_set():
        os._exit(1)
    return error
