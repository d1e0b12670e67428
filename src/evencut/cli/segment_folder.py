"""`evencut segment-folder`: objects cut out of many photos from a file of boxes and clicks, on several processes.

Each photo is finished when its run lengths are written; a run that was stopped goes on with the photos that are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from evencut.cli.console import counted, say
from evencut.cli.errors import UserError, one_line
from evencut.cli.options import Seed, number_of
from evencut.cli.outputs import make_folder, whole_file
from evencut.cli.photo_pool import PhotoPool, Task, only_run
from evencut.cli.prompts import Prompts, read_prompts

_RECORD = "_evencut.json"
_ALL = "coco.json"


def segment_folder(
    prompts: Annotated[
        str, typer.Argument(help="Boxes and clicks: a .csv or a COCO .json file.")
    ],
    photos: Annotated[str, typer.Option(help="The folder of the photos.")] = ".",
    out: Annotated[str, typer.Option("--out", "-o", help="The folder for the masks.")] = "masks",
    jobs: Annotated[int, number_of("--jobs", 1, "Photos at a time.")] = 1,
    seed: Seed = 0,
) -> None:
    """Cut objects out of many photos; after an interruption, run it again to continue.

    Writes a mask for each photo (PNG: white on the object, or a palette of labels for several objects), its objects as
    run lengths (JSON), and all of them together in coco.json. A table of prompts has one row for each object, with the
    columns photo, x0, y0, x1, y1, clicks ("120,80 140,95") and nots.
    """
    wanted = read_prompts(prompts)
    folder = Path(photos)
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise UserError(
            f"{folder / missing[0]} does not exist ({len(missing)} such photos); name their folder with --photos."
        )
    targets = _targets(wanted)
    target = make_folder(out)
    _check_record(target, {"prompts": wanted, "seed": seed})
    failed: dict[str, str] = {}
    with only_run(target / _RECORD):
        left = [name for name in wanted if not (target / f"{targets[name]}.json").exists()]
        tasks: list[Task] = [(str(folder / name), wanted[name], str(target / targets[name]), seed) for name in left]
        # Processes part before the progress bar has its thread.
        pool = PhotoPool(_cut_out, tasks, jobs) if jobs > 1 and len(tasks) > 1 else None
        with counted("segmenting", len(wanted), len(wanted) - len(left)) as advance:
            for name, error in _each(tasks, pool):
                if error is not None:
                    failed[name] = error
                    say(f"warning: {name}: {error}")
                advance()
    finished = _collect(target, wanted, targets)
    say(f"wrote {finished} masks to {target}, {len(left) - len(failed)} of them now")
    if failed:
        raise UserError(f"{len(failed)} of {len(wanted)} photos failed; correct their prompts and run again.")


def _targets(wanted: Prompts) -> dict[str, str]:
    """The name of each photo's outputs; photos that would share one are refused."""
    targets: dict[str, str] = {}
    for name in wanted:
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
    others = sorted(entry.name for entry in target.iterdir())
    if others:
        raise UserError(f"{target} already holds {others[0]}; choose a new or empty folder with --out.")
    with whole_file(place) as file:
        file.write(json.dumps(record).encode())


def _each(tasks: list[Task], pool: PhotoPool | None) -> Iterator[tuple[str, str | None]]:
    """Names of finished photos, with what went wrong or None."""
    if pool is None:
        for task in tasks:
            yield task[0], _cut_out(*task)
    else:
        yield from pool.finished()


def _cut_out(photo: str, prompts: list[dict[str, Any]], target: str, seed: int) -> str | None:
    """One photo: its mask, then its run lengths, which say that it is finished. Returns what went wrong."""
    import warnings

    import numpy as np

    from evencut.cli.masks import write_mask
    from evencut.segmentation import encode_mask, read_image, segment_many

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cut = segment_many(read_image(photo), prompts, random_state=seed)
    except ValueError as error:
        return one_line(error)
    write_mask(f"{target}.png", cut.labels, np.arange(len(prompts) + 1))
    objects = [{"segmentation": encode_mask(mask), "area": int(mask.sum())} for mask in cut.masks]
    with whole_file(f"{target}.json") as file:
        file.write(json.dumps(objects).encode())
    return None


def _collect(target: Path, wanted: Prompts, targets: dict[str, str]) -> int:
    """Write all finished photos into one COCO file; returns how many there are."""
    content: dict[str, list[Any]] = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "object"}]}
    for number, name in enumerate(wanted, start=1):
        part = target / f"{targets[name]}.json"
        if not part.exists():
            continue
        objects = json.loads(part.read_text(encoding="utf-8"))
        height, width = objects[0]["segmentation"]["size"]
        content["images"].append({"id": number, "file_name": name, "width": width, "height": height})
        for item in objects:
            mark = {"id": len(content["annotations"]) + 1, "image_id": number, "category_id": 1, "iscrowd": 0}
            content["annotations"].append({**mark, **item})
    with whole_file(target / _ALL) as file:
        file.write(json.dumps(content).encode())
    return len(content["images"])
