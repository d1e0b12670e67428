"""What a user takes home of points: labels, rows with labels, a report, and the code that makes them again."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from html import escape
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray

from ..options import RequestError
from ..prompts import Photo, as_rgb, cutout, encode, encode_map
from ..recipes import photo_code, photo_command, points_code, points_command
from ..state import Here, Tab
from .runs import diagnosis_of

router = APIRouter(prefix="/api/sessions/{session}")


def file_reply(data: bytes | str, name: str, media_type: str) -> Response:
    """A file to be saved under a name."""
    return Response(data, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/runs/{run}/labels.csv")
def labels_csv(run: str, tab: Tab) -> Response:
    """One label a line, in the order of the rows, under the head `label`."""
    text = "label\n" + "\n".join(map(str, tab.need_run(run).labels.tolist())) + "\n"
    return file_reply(text, "labels.csv", "text/csv; charset=utf-8")


@router.get("/runs/{run}/rows.csv")
def rows_csv(run: str, tab: Tab) -> Response:
    """Every row as it was read, with its label and the name that its cluster was given on the page."""
    table, found = tab.need_table(), tab.need_run(run)
    names = _given_names(tab.page, found)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*(column.name for column in table.columns), "cluster", "cluster name"])
    cells = [column.cell for column in table.columns]
    for row, label in enumerate(found.labels.tolist()):
        writer.writerow([*(_plain_cell(cell(row)) for cell in cells), label, names.get(label, "")])
    return file_reply(file.getvalue(), "rows.csv", "text/csv; charset=utf-8")


def _plain_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _given_names(page: dict[str, Any], run: Any) -> dict[int, str]:
    """Names of clusters: those the user gave on the page, else those of the column."""
    names = dict(enumerate(run.facts.get("names") or ()))
    points = page.get("points")
    given = points.get("names", {}).get(run.id, {}) if isinstance(points, dict) else {}
    return names | {int(label): str(name)[:60] for label, name in given.items() if str(label).isdecimal()}


@router.get("/runs/{run}/labels.parquet")
def labels_parquet(run: str, tab: Tab) -> Response:
    """The labels, and the numbers a row that the fit gave, as Parquet."""
    import pyarrow
    import pyarrow.parquet

    found = tab.need_run(run)
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"label": found.labels.astype(np.int64), **found.values}), file)
    return file_reply(file.getvalue(), "labels.parquet", "application/vnd.apache.parquet")


@router.get("/runs/{run}/corrections.csv")
def corrections_csv(run: str, tab: Tab) -> Response:
    """The rows held by hand, counted from 0, and their labels."""
    lines = [f"{row},{c.label}" for c in tab.need_run(run).corrections for row in c.rows.tolist()]
    return file_reply("\n".join(["row,label", *lines, ""]), "corrections.csv", "text/csv; charset=utf-8")


@router.get("/runs/{run}/recipe")
async def recipe(run: str, tab: Tab) -> dict[str, str]:
    """Python and the command line that make these labels again; where there is no command, why."""
    table, found = tab.need_table(), tab.need_run(run)
    command, why = points_command(table, found)
    return {"python": points_code(table, found), "command": command, "why_no_command": why}


@router.get("/runs/{run}/report.html")
async def report_html(run: str, tab: Tab, studio: Here) -> Response:
    """One page to hand on: method, sizes, diagnosis with its pictures, and code."""
    table, found = tab.need_table(), tab.need_run(run)
    judged = await diagnosis_of(studio, tab, found) if found.facts["n_clusters"] > 1 else None
    command, why = points_command(table, found)
    code = points_code(table, found)
    page = _page(table.source["name"], found, judged, code, command or f"# {why}")
    return file_reply(page, "report.html", "text/html; charset=utf-8")


def _page(name: str, run: Any, judged: dict[str, Any] | None, code: str, command: str) -> str:
    method = run.method or {"labels of column": run.facts.get("column")}
    rows = "".join(f"<tr><td>{escape(str(k))}</td><td>{escape(str(v))}</td></tr>" for k, v in method.items())
    sizes = ", ".join(map(str, run.facts["sizes"][:200]))
    noise = f", {run.facts['n_noise']} noise" if run.facts["n_noise"] else ""
    energy = "" if run.facts["energy"] is None else f"<p>Energy {run.facts['energy']:.6g}.</p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>evencut: {escape(name)}</title><style>body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;"
        "max-width:62rem;padding:0 1rem;color:#1f2933}td{padding:.15rem 1rem .15rem 0;border-bottom:1px solid #d5dbe1}"
        "pre{background:#f3f5f7;padding:.8rem;border-radius:4px;white-space:pre-wrap}</style></head><body>"
        f"<h1>{escape(name)}</h1><p>{len(run.labels)} points in clusters of {escape(sizes)}"
        f"{noise}.</p>{energy}"
        f"<table>{rows}</table>{judged['html'] if judged else ''}"
        f"<h2>Python</h2><pre><code>{escape(code)}</code></pre>"
        f"<h2>Command line</h2><pre><code>{escape(command)}</code></pre></body></html>\n"
    )


def _need_cut(photo: Photo) -> NDArray[np.uint8]:
    labels = photo.labels()
    if not labels.any():
        raise RequestError("nothing is cut out yet; draw a box or click on the object.", 409)
    return labels


def _masks(photo: Photo) -> list[tuple[str, NDArray[np.bool_]]]:
    """A mask for each object with a name that a file can have, or for each region of a single one."""
    labels = _need_cut(photo)
    objects = photo.objects()
    if len(objects) > 1 or labels.max() <= 2:
        named = [(photo.names.get(one, f"object {one}"), labels == place + 2) for place, one in enumerate(objects)]
    else:
        named = [(f"region {label}", labels == label) for label in np.unique(labels[labels > 0]).tolist()]
    seen: dict[str, int] = {}
    found = []
    for name, mask in named:
        plain = re.sub(r"[^\w-]+", "_", name).strip("_")[:60] or "object"
        seen[plain] = seen.get(plain, 0) + 1
        found.append((plain if seen[plain] == 1 else f"{plain}_{seen[plain]}", mask))
    return found


@router.get("/photo/mask.png")
def mask_png(tab: Tab) -> Response:
    """White on the object, black elsewhere; with more than two labels, the labels as grey levels."""
    labels = _need_cut(tab.need_photo())
    pixels = np.where(labels == 2, 255, 0).astype(np.uint8) if labels.max() <= 2 else labels
    return file_reply(encode(pixels), "mask.png", "image/png")


@router.get("/photo/map.png")
def map_png(tab: Tab) -> Response:
    """The labels as a picture with a palette: each value has a colour that can be seen."""
    return file_reply(encode_map(_need_cut(tab.need_photo())), "map.png", "image/png")


@router.get("/photo/cutout.png")
def cutout_png(tab: Tab, label: int = 2) -> Response:
    """The object, or the region of a label, on a transparent ground."""
    photo = tab.need_photo()
    return file_reply(encode(cutout(as_rgb(photo.pixels), _need_cut(photo) == label)), "cutout.png", "image/png")


@router.get("/photo/objects.zip")
def objects_zip(tab: Tab) -> Response:
    """A mask and a cut-out of every object."""
    photo = tab.need_photo()
    rgb = as_rgb(photo.pixels)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, mask in _masks(photo):
            archive.writestr(f"masks/{name}.png", encode((255 * mask).astype(np.uint8)))
            archive.writestr(f"cutouts/{name}.png", encode(cutout(rgb, mask)))
    return file_reply(file.getvalue(), "objects.zip", "application/zip")


@router.get("/photo/coco.json")
def coco_json(tab: Tab) -> Response:
    """COCO annotations with run lengths, as its tools read them."""
    photo = tab.need_photo()
    height, width = photo.pixels.shape[:2]
    masks = _masks(photo)
    content = {
        "images": [{"id": 1, "file_name": photo.name, "height": height, "width": width}],
        "categories": [{"id": i + 1, "name": name} for i, (name, _) in enumerate(masks)],
        "annotations": [_annotation(i + 1, mask) for i, (_, mask) in enumerate(masks)],
    }
    return file_reply(json.dumps(content), "coco.json", "application/json")


def _annotation(number: int, mask: NDArray[np.bool_]) -> dict[str, Any]:
    from evencut.segmentation import encode_mask

    rows, columns = np.nonzero(mask)
    box = [0, 0, 0, 0]
    if len(rows):
        left, top = int(columns.min()), int(rows.min())
        box = [left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1]
    return {
        "id": number,
        "image_id": 1,
        "category_id": number,
        "iscrowd": 1,
        "area": int(mask.sum()),
        "bbox": box,
        "segmentation": encode_mask(mask),
    }


@router.get("/photo/recipe")
async def photo_recipe(tab: Tab) -> dict[str, str]:
    """Python and the command line that make the mask again."""
    photo = tab.need_photo()
    if not photo.steps:
        raise RequestError("nothing is cut out yet; draw a box or click on the object.", 409)
    command, why = photo_command(photo)
    return {"python": photo_code(photo), "command": command, "why_no_command": why}
