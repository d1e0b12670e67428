"""Points of a session: loading them, where they lie in the plane, the values of a row or a column, corrections by hand.

Points and labels travel as typed arrays in the byte order of the page's machine family (little endian).
"""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from numpy.typing import NDArray
from pydantic import Field

from ..methods import POINTS, Method, StrictModel
from ..options import RequestError
from ..sessions import Correction, Session
from ..state import ExampleName, FileName, GivenFile, Here, Studio, Tab
from ..tables import Sheet, SheetColumn

router = APIRouter(prefix="/api/sessions/{session}")

_MOST_CELLS = 40
_PREVIEWED = 6
_MOST_NAMES = 1000


class _Columns(StrictModel):
    columns: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=1000)]
    missing: Literal["drop", "mean", "neighbors"] = "drop"
    counts: bool = False


async def _reading(
    header: bool | None = None,
    delimiter: Literal[",", ";", "\t", "|"] | None = None,
    decimal: Literal[".", ","] | None = None,
) -> dict[str, Any]:
    """What the user says about a text table; what is not said is found out."""
    return {"header": header, "delimiter": delimiter, "decimal": decimal}


Read = Annotated[dict[str, Any], Depends(_reading)]


def array_reply(values: NDArray[Any], about: dict[str, Any] | None = None) -> Response:
    """A typed array as bytes, what describes it in a header."""
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    headers = {} if about is None else {"x-evencut": json.dumps(about)}
    return Response(little.tobytes(), media_type="application/octet-stream", headers=headers)


def describe(tab: Session) -> dict[str, Any]:
    """The data of a session for the page."""
    table = tab.need_table()
    return {
        "key": tab.table_key,
        "name": table.source["name"],
        "source": {"kind": table.source["kind"], "example": table.source.get("example")},
        "n_rows": table.n_rows,
        "columns": [_about(c, *c.role(c.name in table.row_numbers)) for c in table.columns],
        "chosen": tab.columns,
        "missing": tab.missing,
        "counts": tab.counts,
        "bandwidths": tab.bandwidths,
        "reading": {name: table.source.get(name) for name in ("header", "delimiter", "decimal", "written")},
        "left_out": table.left_out[:_MOST_CELLS],
        "row_numbers": table.row_numbers,
        "first_rows": [[c.cell(i) for c in table.columns[:_MOST_CELLS]] for i in range(min(_PREVIEWED, table.n_rows))],
    }


def _about(column: SheetColumn, role: str, why: str) -> dict[str, Any]:
    usable = not column.refused
    return {
        "name": column.name, "number": column.is_number, "usable": usable, "missing": column.missing,
        "n_names": len(column.names or ()), "role": role, "why": why,
    }  # fmt: skip


@router.post("/points/upload", status_code=201)
async def upload(name: FileName, request: Request, tab: Tab, studio: Here, reading: Read) -> dict[str, Any]:
    """Points from a file's bytes in the body."""
    async with studio.upload(request) as data:
        original = bytes(data)
        data.clear()
        return await _read(studio, tab, original, name, reading)


@router.post("/points/example", status_code=201)
async def example(body: ExampleName, tab: Tab, studio: Here) -> dict[str, Any]:
    """An embedded set of points."""
    if body.name not in POINTS:
        raise RequestError(f"there is no example of that name; there are {', '.join(POINTS)}.", 404)
    table, warnings = await studio.pool.run("example", {"name": body.name}, quick=True)
    return await take_table(studio, tab, table, warnings)


@router.post("/points/given", status_code=201)
async def given(body: GivenFile, tab: Tab, studio: Here, reading: Read) -> dict[str, Any]:
    """A file of the command line, by its number: no path is ever taken from the page."""
    data, name = await studio.read_given(body.index, studio.limits.table_bytes)
    return await _read(studio, tab, data, name, reading, studio.options.variable if body.index == 0 else None)


async def _read(
    studio: Studio,
    tab: Session,
    data: bytes,
    name: str,
    reading: dict[str, Any],
    variable: tuple[str, str] | None = None,
) -> dict[str, Any]:
    arguments = {"data": data, "name": name, "limits": studio.plain_limits(), "reading": reading}
    table, warnings = await studio.pool.run("read_table", arguments, quick=True)
    source = table.source
    if variable is not None:
        source = {"kind": "variable", "name": variable[0], "holder": variable[1]}
    return await take_table(studio, tab, replace(table, original=data, source=source), warnings)


async def take_table(studio: Studio, tab: Session, table: Sheet, warnings: list[str]) -> dict[str, Any]:
    """Put a table in place of what the session had, once it is seen that its columns can be clustered by."""
    columns, told = _default_columns(table)
    key = secrets.token_urlsafe(9)
    arguments = {"table": key, "columns": columns}
    bandwidths, _ = await studio.pool.run("bandwidths", arguments, {key: table}, quick=True)
    studio.sessions.check_room(tab, table.n_bytes)
    await tab.stop_job()
    tab.set_table(table, key)
    tab.columns, tab.bandwidths = columns, bandwidths
    return {**describe(tab), "warnings": [*warnings, *table.notices, *told]}


def _default_columns(table: Sheet) -> tuple[list[str], list[str]]:
    """The columns of numbers that are features, and what to tell of those with gaps or left out.

    Columns with gaps are taken as long as half of the rows stay complete, those with the fewest first.
    """
    roles = {column.name: column.role(column.name in table.row_numbers) for column in table.columns}
    numbers = [column for column in table.columns if column.is_number]
    named = [column for column in numbers if roles[column.name][0] == "number"] or numbers[:1] or table.columns[:1]
    complete, taken = np.ones(table.n_rows, dtype=bool), set[str]()
    for column in sorted(named, key=lambda one: one.missing):
        both = complete & (np.isfinite(column.values) if column.is_number else column.values >= 0)
        if 2 * both.sum() >= table.n_rows or not taken:
            complete = both
            taken.add(column.name)
    told = [
        f"column {column.name!r} has no value in {column.missing} of {table.n_rows} rows: "
        + ("rows with gaps are left out" if column.name in taken else "it is not clustered by, until it is chosen")
        for column in named
        if column.missing
    ]
    told += [
        f"column {name!r} has no name and is taken for row numbers: it is not clustered by, until it is chosen"
        for name in table.row_numbers
    ]
    chosen = [column for column in named if column.name in taken]
    if len(chosen) >= 50 and all(_are_counts(column.values) for column in chosen):
        told.append("these may be counts, of genes in cells, say: Data can log-normalise them before they are grouped")
    return [column.name for column in chosen], told


def _are_counts(values: NDArray[Any]) -> bool:
    known = values[np.isfinite(values)]
    return bool((known >= 0).all() and (known == np.round(known)).all())


@router.put("/points/columns")
async def choose(body: _Columns, tab: Tab, studio: Here) -> dict[str, Any]:
    """The columns to cluster by."""
    if len(set(body.columns)) < len(body.columns):
        raise RequestError("a column is named twice; name each once.")
    tab.bandwidths, _ = await studio.ask(tab, "bandwidths", quick=True, **body.model_dump())
    tab.columns, tab.missing, tab.counts = body.columns, body.missing, body.counts
    return describe(tab)


@router.get("/points/plane")
async def plane(
    tab: Tab,
    studio: Here,
    x: str | None = None,
    y: str | None = None,
    n_axes: Annotated[int, Query(ge=2, le=3)] = 2,
    embedding: Literal["pca", "tsne", "umap"] = "pca",
) -> Response:
    """Where the points lie: two columns, two or three leading components of those chosen, or an embedding of them."""
    axes: Any = embedding if x is None or y is None else [x, y]
    quick = axes not in ("tsne", "umap")
    found, _ = await studio.ask(tab, "plane", None, quick, axes=axes, n_axes=n_axes)
    places = found.pop("places")
    return array_reply(places, found)


@router.get("/points/column")
async def column(name: str, tab: Tab) -> Response:
    """The values of a column: numbers, or codes of its names."""
    found = tab.need_table().column(name)
    if found.names is None:
        return array_reply(found.values.astype(np.float32), {"number": True})
    return array_reply(found.values.astype(np.int32), {"number": False, "n_names": len(found.names)})


@router.get("/points/names")
async def names(name: str, tab: Tab) -> dict[str, Any]:
    """The first names of a column of names, in the order of their codes."""
    found = tab.need_table().column(name)
    return {"names": (found.names or [])[:_MOST_NAMES]}


@router.get("/points/rows/{row}")
async def row(row: int, tab: Tab) -> dict[str, Any]:
    """The values of one row."""
    table = tab.need_table()
    if not 0 <= row < table.n_rows:
        raise RequestError(f"there is no row {row}; rows are 0 to {table.n_rows - 1}.", 404)
    return {"row": row, "cells": [[c.name, c.cell(row)] for c in table.columns[:_MOST_CELLS]]}


@router.get("/points/density")
async def density(tab: Tab, studio: Here) -> Response:
    """Log density of the points, for colours."""
    return array_reply((await studio.ask(tab, "density", quick=True))[0])


@router.post("/selection")
async def correct(
    request: Request,
    tab: Tab,
    studio: Here,
    run: Annotated[str, Query(max_length=40)],
    label: Annotated[int, Query(ge=0, le=2000)] | Literal["one"] = "one",
) -> dict[str, Any]:
    """Hold rows (numbers of 32 bits in the body) in one cluster: a given one, or the one most of them are in."""
    table, shown = tab.need_table(), tab.need_run(run)
    async with studio.upload(request) as data:
        if not data or len(data) % 4:
            raise RequestError("the selection is empty or cut off; lasso some points first.")
        rows = np.unique(np.frombuffer(bytes(data), "<u4"))
    if rows[-1] >= table.n_rows:
        raise RequestError(f"the selection names row {rows[-1]}, but there are {table.n_rows}.")
    present = np.flatnonzero(shown.facts["sizes"]).tolist()
    if label != "one" and label not in present:
        raise RequestError(f"there is no cluster {label} to hold rows in; there are {present[:20]}.", 404)
    studio.sessions.check_room(tab, rows.nbytes)
    chosen = _free_label(tab, shown.labels[rows], present) if label == "one" else label
    tab.corrections.append(Correction(chosen, rows))
    return {"label": chosen, "corrections": tab.held()}


def _free_label(tab: Session, labels: NDArray[np.int32], present: list[int]) -> int:
    """The cluster that most of the rows are in, unless other rows are held there and another cluster is free."""
    known = labels[labels >= 0]
    most = int(np.bincount(known).argmax()) if len(known) else 0
    taken = {correction.label for correction in tab.corrections}
    free = [label for label in present if label not in taken]
    return free[0] if most in taken and free else most


@router.delete("/selection")
async def release(tab: Tab, last: Annotated[bool, Query()] = False) -> dict[str, Any]:
    """Take back the last correction, or all of them."""
    if last and tab.corrections:
        tab.corrections.pop()
    elif not last:
        tab.corrections.clear()
    return {"corrections": tab.held()}


_MOST_ROWS = 200


class _Preview(StrictModel):
    method: Method


@router.get("/points/sample")
async def sample(tab: Tab, studio: Here) -> Response:
    """For each row the point of the sample that it follows in a preview, -1 for none."""
    found, _ = await studio.ask(tab, "sample", quick=True)
    return array_reply(found)


@router.post("/preview")
async def preview(body: _Preview, tab: Tab, studio: Here) -> Response:
    """Labels of the sample by a method; nothing of it is kept."""
    method = body.method.model_dump()
    found, _ = await studio.ask(tab, "preview", quick=True, method=method)
    return array_reply(found)


@router.get("/points/rows/{row}/neighbors")
async def neighbors(row: int, tab: Tab, studio: Here) -> dict[str, Any]:
    """The rows nearest to one."""
    table = tab.need_table()
    if not 0 <= row < table.n_rows:
        raise RequestError(f"there is no row {row}; rows are 0 to {table.n_rows - 1}.", 404)
    found, _ = await studio.ask(tab, "neighbors", quick=True, row=row)
    return {"row": row, "neighbors": found}


@router.get("/points/rows")
async def rows(tab: Tab, at: Annotated[list[int], Query(max_length=_MOST_ROWS)]) -> dict[str, Any]:
    """The values of some rows, for a table of them."""
    table = tab.need_table()
    if any(not 0 <= row < table.n_rows for row in at):
        raise RequestError(f"rows are 0 to {table.n_rows - 1}.", 404)
    shown = table.columns[:40]
    return {"columns": [c.name for c in shown], "rows": [[row, *(c.cell(row) for c in shown)] for row in at]}
