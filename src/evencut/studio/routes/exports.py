"""What a user takes home of points: labels, rows with labels, a report, and the code that makes them again."""

from __future__ import annotations

import json
import re
import zipfile
from html import escape
from io import BytesIO
from itertools import count
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray

from ...io import write_table
from ..labelled import rows_with_labels
from ..methods import Method
from ..options import RequestError
from ..prompts import Photo, as_rgb, cutout, encode, encode_map
from ..recipes import photo_code, photo_command, points_code, points_command
from ..state import Here, Tab
from .runs import diagnosis_arguments

router = APIRouter(prefix="/api/sessions/{session}")


def file_reply(data: bytes | str, name: str, media_type: str) -> Response:
    """A file to be saved under a name."""
    return Response(data, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})


def _table_reply(name: str, media_type: str, **columns: Any) -> Response:
    file = BytesIO()
    write_table(file, name, columns)
    return file_reply(file.getvalue(), name, media_type)


@router.get("/runs/{run}/labels.csv")
def labels_csv(run: str, tab: Tab) -> Response:
    """One label a line, in the order of the rows, under the head `label`."""
    return _table_reply("labels.csv", "text/csv; charset=utf-8", label=tab.need_run(run).labels)


@router.get("/runs/{run}/rows")
def rows(run: str, tab: Tab) -> Response:
    """The file as it came, with two columns more: the cluster, and the name that it was given on the page."""
    table, clustering = tab.need_table(), tab.need_run(run)
    data, suffix = rows_with_labels(table, clustering.labels, given_names(tab.page, clustering))
    return file_reply(data, f"clusters{suffix}", "application/octet-stream")


def given_names(page: dict[str, Any], run: Any) -> dict[int, str]:
    """Names of clusters: those the user gave on the page, else those of the column."""
    names = {label: name for label, name in enumerate(run.facts.get("names") or ()) if name}
    entry: Any = page
    for key in ("points", "names", run.id):
        entry = entry.get(key) if isinstance(entry, dict) else None
    entry = entry if isinstance(entry, dict) else {}
    return names | {int(label): str(name)[:60] for label, name in entry.items() if str(label).isdecimal()}


@router.get("/runs/{run}/labels.parquet")
def labels_parquet(run: str, tab: Tab) -> Response:
    """The labels, and the numbers a row that the fit gave, as Parquet."""
    chosen = tab.need_run(run)
    labels = chosen.labels.astype(np.int64)
    return _table_reply("labels.parquet", "application/vnd.apache.parquet", label=labels, **chosen.values)


@router.get("/runs/{run}/corrections.csv")
def corrections_csv(run: str, tab: Tab) -> Response:
    """The rows held by hand, counted from 0, and their labels."""
    corrections = tab.need_run(run).corrections
    rows = [row for correction in corrections for row in correction.rows.tolist()]
    labels = [correction.label for correction in corrections for _ in correction.rows]
    return _table_reply("corrections.csv", "text/csv; charset=utf-8", row=rows, label=labels)


@router.get("/runs/{run}/recipe")
async def recipe(run: str, tab: Tab) -> dict[str, str]:
    """Python and the command line that reproduce these labels, or why no command can."""
    table, clustering = tab.need_table(), tab.need_run(run)
    command, why = points_command(table, clustering)
    return {"python": points_code(table, clustering), "command": command, "why_no_command": why}


@router.get("/runs/{run}/report.html")
async def report_html(run: str, tab: Tab, studio: Here) -> Response:
    """One page to hand on: method, sizes, diagnosis with its pictures, and code."""
    table, clustering = tab.need_table(), tab.need_run(run)
    known = given_names(tab.page, clustering)
    names: dict[int, str] = {}
    for label in np.flatnonzero(clustering.facts["sizes"]).tolist():
        name = known.get(label, str(label))
        names[label] = f"{name} ({label})" if name in names.values() else name
    diagnosis = ""
    if len(names) > 1:
        report, _ = await studio.ask(tab, "clusters.diagnose_labels", **diagnosis_arguments(clustering), names=names)
        diagnosis = report["html"]
    command, why = points_command(table, clustering)
    code = points_code(table, clustering)
    page = _page(table.source["name"], clustering, names, diagnosis, code, command or f"# {why}")
    return file_reply(page, "report.html", "text/html; charset=utf-8")


def _page(name: str, run: Any, names: dict[int, str], diagnosis: str, code: str, command: str) -> str:
    rows = "".join(f"<tr><td>{escape(k)}</td><td>{escape(v)}</td></tr>" for k, v in _choices(run).items())
    sizes = ", ".join(f"{names[label]} ({run.facts['sizes'][label]})" for label in [*names][:200])
    noise = f"; {run.facts['n_noise']} are in no cluster" if run.facts["n_noise"] else ""
    noise += f"; {run.facts['n_missing']} have gaps and were left out" if run.facts["n_missing"] else ""
    energy = "" if run.facts["energy"] is None else f"<p>Energy {run.facts['energy']:.6g}.</p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>evencut: {escape(name)}</title><style>body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;"
        "max-width:62rem;padding:0 1rem;color:#1f2933}td{padding:.15rem 1rem .15rem 0;border-bottom:1px solid #d5dbe1}"
        "pre{background:#f3f5f7;padding:.8rem;border-radius:4px;white-space:pre-wrap}</style></head><body>"
        f"<h1>{escape(name)}</h1><p>{len(run.labels)} rows in {len(names)} clusters: {escape(sizes)}"
        f"{noise}.</p>{energy}<table>{rows}</table>{diagnosis}"
        f"<h2>Python</h2><pre><code>{escape(code)}</code></pre>"
        f"<h2>Command line</h2><pre><code>{escape(command)}</code></pre></body></html>\n"
    )


def _choices(run: Any) -> dict[str, str]:
    """What a clustering was made with, in words, and nothing that it did not use."""
    if run.method is None:
        return {"labels of the column": str(run.facts.get("column"))}
    method = Method(**run.method)
    tools = {"evencut": "EvenCut", "kernel": "KernelClustering", "kmeans": "k-means", "hdbscan": "HDBSCAN"}
    choices = {"method": tools[method.tool], "columns": ", ".join(run.columns)}
    if method.tool == "hdbscan":
        choices["smallest cluster"] = str(method.min_cluster_size)
    else:
        choices["clusters"] = f"{run.facts['n_clusters']}{', chosen' if method.n_clusters == 'auto' else ''}"
        choices["seed"] = str(method.seed)
    if method.tool == "kernel":
        settings = ", ".join(f"{name} {value}" for name, value in method.parameters.items())
        choices["kernel"] = f"{method.kernel} ({settings})" if settings else method.kernel
        choices["criterion"] = method.criterion.replace("_", " ")
        choices["equal degrees"] = method.equalize or "no"
    choices["scaling of columns"] = method.scale or "none"
    return choices


def _need_cut(photo: Photo) -> NDArray[np.uint8]:
    labels = photo.labels()
    if not labels.any():
        raise RequestError("nothing is cut out yet; draw a box or click on the object.", 409)
    return labels


@router.get("/photos.zip")
def photos_zip(tab: Tab) -> Response:
    """Masks and cut-outs of all photos, and one COCO file of them."""
    file = BytesIO()
    album = [photo for photo in tab.album.values() if photo.steps and photo.labels().any()]
    if not album:
        raise RequestError("nothing is cut out yet; draw a box or click on an object.", 409)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for photo, folder in zip(album, _file_names([photo.name for photo in album])):
            _write_objects(archive, photo, f"{folder}/")
        archive.writestr("coco.json", json.dumps(_coco(album)))
    return file_reply(file.getvalue(), "photos.zip", "application/zip")


def _write_objects(archive: zipfile.ZipFile, photo: Photo, folder: str = "") -> None:
    rgb = as_rgb(photo.pixels)
    for name, mask in _masks(photo):
        archive.writestr(f"{folder}masks/{name}.png", encode((255 * mask).astype(np.uint8)))
        archive.writestr(f"{folder}cutouts/{name}.png", encode(cutout(rgb, mask)))


def _masks(photo: Photo) -> list[tuple[str, NDArray[np.bool_]]]:
    """A mask for each object with a name that a file can have, or for each region of a single one."""
    labels = _need_cut(photo)
    objects = photo.objects()
    if len(objects) > 1 or labels.max() <= 2:
        named = [(photo.names.get(n, f"object {n}"), labels == place + 2) for place, n in enumerate(objects)]
    else:
        named = [(f"region {label}", labels == label) for label in np.unique(labels[labels > 0]).tolist()]
    return [*zip(_file_names([name for name, _ in named]), (mask for _, mask in named))]


def _file_names(titles: list[str]) -> list[str]:
    """Names that files can have, all different."""
    names: list[str] = []
    for title in titles:
        plain = re.sub(r"[^\w-]+", "_", title).strip("_")[:60] or "unnamed"
        candidates = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
        names.append(next(name for name in candidates if name not in names))
    return names


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
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _write_objects(archive, tab.need_photo())
    return file_reply(file.getvalue(), "objects.zip", "application/zip")


@router.get("/photo/coco.json")
def coco_json(tab: Tab) -> Response:
    """COCO annotations with run lengths, as its tools read them."""
    return file_reply(json.dumps(_coco([tab.need_photo()])), "coco.json", "application/json")


def _coco(photos: list[Photo]) -> dict[str, list[dict[str, Any]]]:
    """Images, a category for each name, and an annotation for each object."""
    masks = [(place + 1, name, mask) for place, photo in enumerate(photos) for name, mask in _masks(photo)]
    categories = {name: place + 1 for place, name in enumerate(dict.fromkeys(name for _, name, _ in masks))}
    sizes = [photo.pixels.shape[:2] for photo in photos]
    return {
        "images": [
            {"id": place + 1, "file_name": photo.source.get("name", photo.name), "height": height, "width": width}
            for place, (photo, (height, width)) in enumerate(zip(photos, sizes))
        ],
        "categories": [{"id": number, "name": name} for name, number in categories.items()],
        "annotations": [
            _annotation(place + 1, image, categories[name], mask) for place, (image, name, mask) in enumerate(masks)
        ],
    }


def _annotation(number: int, image: int, category: int, mask: NDArray[np.bool_]) -> dict[str, Any]:
    from evencut.segmentation import encode_mask

    rows, columns = np.nonzero(mask)
    box = [0, 0, 0, 0]
    if len(rows):
        left, top = int(columns.min()), int(rows.min())
        box = [left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1]
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
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
