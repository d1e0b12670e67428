"""Boxes and clicks for many photos, read from a table (CSV) or a COCO file (JSON): one prompt an object."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from evencut.cli.errors import UserError

#: For each photo, one dict an object with `box` and `clicks` as in `segment`.
Prompts = dict[str, list[dict[str, Any]]]

_CORNERS = ("x0", "y0", "x1", "y1")


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
