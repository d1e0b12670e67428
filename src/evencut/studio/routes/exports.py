"""What a user takes home: labels, a report, masks, cut-outs, and the code that makes them again."""

from __future__ import annotations

import io
from html import escape
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response

from ..pictures import as_rgb, cutout, encode
from ..recipes import photo_code, photo_command, points_code, points_command
from ..refusals import Refused
from ..state import Here, Tab
from .runs import diagnosis_of

__all__ = ["router"]

router = APIRouter(prefix="/api/sessions/{session}")


def _file(data: bytes | str, name: str, media_type: str) -> Response:
    return Response(data, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/runs/{run}/labels.csv")
def labels_csv(run: str, tab: Tab) -> Response:
    """One label a line, in the order of the rows, under the head `label`."""
    text = "label\n" + "\n".join(map(str, tab.need_run(run).labels.tolist())) + "\n"
    return _file(text, "labels.csv", "text/csv; charset=utf-8")


@router.get("/runs/{run}/labels.parquet")
def labels_parquet(run: str, tab: Tab) -> Response:
    """The labels, and the numbers a row that the fit gave, as Parquet."""
    import pyarrow
    import pyarrow.parquet

    found = tab.need_run(run)
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"label": found.labels.astype(np.int64), **found.values}), file)
    return _file(file.getvalue(), "labels.parquet", "application/vnd.apache.parquet")


@router.get("/runs/{run}/corrections.csv")
def corrections_csv(run: str, tab: Tab) -> Response:
    """The rows held by hand, counted from 0, and their labels."""
    lines = [f"{row},{c.label}" for c in tab.need_run(run).corrections for row in c.rows.tolist()]
    return _file("\n".join(["row,label", *lines, ""]), "corrections.csv", "text/csv; charset=utf-8")


@router.get("/runs/{run}/recipe")
async def recipe(run: str, tab: Tab, studio: Here) -> dict[str, str]:
    """Python and the command line that make these labels again; where there is no command, why."""
    table, found = tab.need_table(), tab.need_run(run)
    command, why = points_command(table, found, studio.options.cluster_options)
    return {"python": points_code(table, found), "command": command, "why_no_command": why}


@router.get("/runs/{run}/report.html")
async def report_html(run: str, tab: Tab, studio: Here) -> Response:
    """One page to hand on: method, sizes, diagnosis with its pictures, and code."""
    table, found = tab.need_table(), tab.need_run(run)
    judged = await diagnosis_of(studio, tab, found) if found.facts["n_clusters"] > 1 else None
    command, why = points_command(table, found, studio.options.cluster_options)
    code = points_code(table, found)
    page = _page(table.source["name"], found, judged, code, command or f"# {why}")
    return _file(page, "report.html", "text/html; charset=utf-8")


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


@router.get("/photo/mask.png")
def mask_png(tab: Tab) -> Response:
    """White on the object, black elsewhere; with more than two labels, the labels as grey levels."""
    labels = tab.need_photo().labels()
    _check_cut(labels)
    pixels = np.where(labels == 2, 255, 0).astype(np.uint8) if labels.max() <= 2 else labels
    return _file(encode(pixels), "mask.png", "image/png")


@router.get("/photo/cutout.png")
def cutout_png(tab: Tab, label: int = 2) -> Response:
    """The object, or the region of a label, on a transparent ground."""
    photo = tab.need_photo()
    labels = photo.labels()
    _check_cut(labels)
    return _file(encode(cutout(as_rgb(photo.pixels), labels == label)), "cutout.png", "image/png")


@router.get("/photo/recipe")
async def photo_recipe(tab: Tab, studio: Here) -> dict[str, str]:
    """Python and the command line that make the mask again."""
    photo = tab.need_photo()
    if not photo.position:
        raise Refused("nothing is cut out yet; draw a box or click on the object.", 409)
    command, why = photo_command(photo.source, photo.prompts(), studio.options.segment_options)
    return {"python": photo_code(photo.source, photo.prompts()), "command": command, "why_no_command": why}


def _check_cut(labels: Any) -> None:
    if not labels.any():
        raise Refused("nothing is cut out yet; draw a box or click on the object.", 409)
