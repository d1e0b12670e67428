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
from ..sessions import Correction, Missing, Session, Short
from ..state import ExampleName, FileName, GivenFile, Here, Studio, Tab
from ..tables import Reading, Role, Sheet, SheetColumn

router = APIRouter(prefix="/api/sessions/{session}")

_MOST_CELLS = 40
_PREVIEWED = 6
_MOST_NAMES = 1000
_READ = ("header", "delimiter", "decimal", "written", "sheet", "sheets")


class _Columns(StrictModel):
    columns: Annotated[list[Short], Field(min_length=1, max_length=1000)]
    missing: Missing = "drop"
    counts: bool = False
    roles: dict[Short, Role] = Field(default={})


async def _reading(
    header: bool | None = None,
    delimiter: Literal[",", ";", "\t", "|"] | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: Annotated[str, Query(max_length=200)] | None = None,
) -> Reading:
    """What the user says about a text table or a workbook; what is not said is found out."""
    return Reading(header, delimiter, decimal, sheet)


Read = Annotated[Reading, Depends(_reading)]


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
        "columns": [_about(column, table.role(column)) for column in table.columns],
        "chosen": tab.columns,
        "missing": tab.missing,
        "counts": tab.counts,
        "bandwidths": tab.bandwidths,
        "reading": {name: table.source.get(name) for name in _READ},
        "left_out": table.left_out[:_MOST_CELLS],
        "row_numbers": table.row_numbers,
        "first_rows": [[c.cell(i) for c in table.columns[:_MOST_CELLS]] for i in range(min(_PREVIEWED, table.n_rows))],
    }


def _about(column: SheetColumn, role: tuple[str, str]) -> dict[str, Any]:
    return {
        "name": column.name, "number": column.is_number, "usable": not column.refused, "missing": column.missing,
        "n_names": len(column.names or ()), "role": role[0], "why": role[1],
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
        raise RequestError(f"this example is unknown; choose one of {', '.join(POINTS)}.", 404)
    table, warnings = await studio.pool.run("points.example", {"name": body.name}, quick=True)
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
    reading: Reading,
    variable: tuple[str, str] | None = None,
) -> dict[str, Any]:
    arguments = {"data": data, "name": name, "limits": studio.limits, "reading": reading}
    table, warnings = await studio.pool.run("points.read", arguments, quick=True)
    source = table.source
    if variable is not None:
        source = {"kind": "variable", "name": variable[0], "holder": variable[1]}
    return await take_table(studio, tab, replace(table, original=data, source=source), warnings)


async def take_table(studio: Studio, tab: Session, table: Sheet, warnings: list[str]) -> dict[str, Any]:
    """Put a table in place of what the session had, once it is seen that its columns can be clustered by."""
    columns, notices = _default_columns(table)
    key = secrets.token_urlsafe(9)
    arguments = {"table": key, "columns": columns}
    bandwidths, _ = await studio.pool.run("clusters.bandwidths", arguments, {key: table}, quick=True)
    studio.sessions.check_room(tab, table.n_bytes)
    await tab.stop_job()
    tab.set_table(table, key)
    tab.columns, tab.bandwidths = columns, bandwidths
    return {**describe(tab), "warnings": [*warnings, *table.notices, *notices]}


def _default_columns(table: Sheet) -> tuple[list[str], list[str]]:
    """The columns of numbers that are features, and what to tell of those with gaps or left out.

    Columns with gaps are taken as long as half of the rows stay complete, those with the fewest first.
    """
    numbers = [column for column in table.columns if column.is_number]
    named = [column for column in numbers if table.role(column)[0] == "number"] or numbers[:1] or table.columns[:1]
    named = [column for column in named if column.name.startswith("X_pca[")] or named  # of cells
    complete, taken = np.ones(table.n_rows, dtype=bool), set[str]()
    for column in sorted(named, key=lambda column: column.missing):
        both = complete & (np.isfinite(column.values) if column.is_number else column.values >= 0)
        if 2 * both.sum() >= table.n_rows or not taken:
            complete = both
            taken.add(column.name)
    notices = [
        f"column {column.name!r} has no value in {column.missing} of {table.n_rows} rows: "
        + ("rows with gaps are left out" if column.name in taken else "it is not clustered by, until it is chosen")
        for column in named
        if column.missing
    ]
    notices += [
        f"column {name!r} has no name and is taken for row numbers: it is not clustered by, until it is chosen"
        for name in table.row_numbers
    ]
    chosen = [column for column in named if column.name in taken]
    if len(chosen) >= 50 and all(_are_counts(column.values) for column in chosen):
        notices.append("these may be counts, such as of genes in cells: Data can log-normalise them first")
    return [column.name for column in chosen], notices


def _are_counts(values: NDArray[Any]) -> bool:
    known = values[np.isfinite(values)]
    return bool((known >= 0).all() and (known == np.round(known)).all())


@router.put("/points/columns")
async def choose(body: _Columns, tab: Tab, studio: Here) -> dict[str, Any]:
    """The columns to cluster by."""
    if len(set(body.columns)) < len(body.columns):
        raise RequestError("a column is named twice; name each once.")
    table, key = tab.need_table(), tab.table_key
    if body.roles:
        table, key = table.with_roles(body.roles), secrets.token_urlsafe(9)
    arguments = {"table": key, **body.model_dump(exclude={"roles"})}
    bandwidths, _ = await studio.pool.run("clusters.bandwidths", arguments, {key: table}, quick=True)
    tab.table, tab.table_key, tab.bandwidths = table, key, bandwidths
    tab.columns, tab.missing, tab.counts = body.columns, body.missing, body.counts
    return describe(tab)


@router.get("/points/plane")
async def plane(
    tab: Tab,
    studio: Here,
    x: str | None = None,
    y: str | None = None,
    n_axes: Annotated[int, Query(ge=2, le=3)] = 2,
    embedding: Literal["pca", "map", "tsne", "umap"] = "pca",
) -> Response:
    """Where the points lie: two columns, two or three leading components of those chosen, or an embedding of them."""
    axes: Any = embedding if x is None or y is None else [x, y]
    layout = tab.layout(axes)
    if layout is None:
        layout, _ = await studio.ask(tab, "plane.plane", None, axes in ("pca", [x, y]), axes=axes, n_axes=n_axes)
    return array_reply(layout["places"], {name: value for name, value in layout.items() if name != "places"})


class _Embedding(StrictModel):
    embedding: Literal["map", "tsne", "umap"]


@router.post("/points/plane", status_code=202)
async def lay_out(body: _Embedding, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin an embedding, which takes a while; `GET` then gives the places."""

    async def work(progress: Any) -> dict[str, Any]:
        if tab.layout(body.embedding) is None:
            layout, _ = await studio.ask(tab, "plane.plane", progress, axes=body.embedding)
            tab.layouts[body.embedding] = (tab.table_key, tab.how(), layout)
        return {}

    return studio.start_job(tab, "map", work).about()


@router.get("/points/column")
async def column(name: str, tab: Tab) -> Response:
    """The values of a column: numbers, or codes of its names."""
    chosen = tab.need_table().column(name)
    if chosen.names is None:
        return array_reply(chosen.values.astype(np.float32), {"number": True})
    return array_reply(chosen.values.astype(np.int32), {"number": False, "n_names": len(chosen.names)})


@router.get("/points/names")
async def names(name: str, tab: Tab) -> dict[str, Any]:
    """The first names of a column of names, in the order of their codes."""
    chosen = tab.need_table().column(name)
    return {"names": (chosen.names or [])[:_MOST_NAMES]}


@router.get("/points/rows/{row}")
async def row(row: int, tab: Tab) -> dict[str, Any]:
    """The values of one row."""
    table = _table_with(tab, [row])
    return {"row": row, "cells": [[c.name, c.cell(row)] for c in table.columns[:_MOST_CELLS]]}


def _table_with(tab: Session, rows: list[int]) -> Sheet:
    """The table, if it has these rows."""
    table = tab.need_table()
    for row in rows:
        if not 0 <= row < table.n_rows:
            raise RequestError(f"row {row} does not exist; rows are 0 to {table.n_rows - 1}.", 404)
    return table


@router.get("/points/density")
async def density(tab: Tab, studio: Here) -> Response:
    """Log density of the points, for colours."""
    return array_reply((await studio.ask(tab, "plane.density", quick=True))[0])


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
        raise RequestError(f"cluster {label} does not exist; there are {present[:20]}.", 404)
    studio.sessions.check_room(tab, rows.nbytes)
    chosen = _free_label(tab, shown.labels[rows], present) if label == "one" else label
    tab.corrections.append(Correction(chosen, rows))
    return {"label": chosen, "corrections": tab.held()}


def _free_label(tab: Session, labels: NDArray[np.int32], present: list[int]) -> int:
    """The cluster that most of the rows are in, unless other rows are held there and another cluster is free."""
    known = labels[labels >= 0]
    largest = int(np.bincount(known).argmax()) if len(known) else 0
    taken = {correction.label for correction in tab.corrections}
    free = [label for label in present if label not in taken]
    return free[0] if largest in taken and free else largest


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
    before: Annotated[list[Annotated[int, Field(ge=-1, le=2000)]], Field(max_length=500)] = Field(default=[])


@router.get("/points/sample")
async def sample(tab: Tab, studio: Here) -> Response:
    """For each row the point of the sample that it follows in a preview, -1 for none."""
    return array_reply((await studio.ask(tab, "points.sample", quick=True))[0])


@router.post("/preview")
async def preview(body: _Preview, tab: Tab, studio: Here) -> Response:
    """Labels of the sample by a method, numbered like those `before`; nothing of it is kept."""
    return array_reply((await studio.ask(tab, "points.preview", quick=True, **body.model_dump()))[0])


@router.get("/points/rows/{row}/neighbors")
async def neighbors(row: int, tab: Tab, studio: Here) -> dict[str, Any]:
    """The rows nearest to one."""
    _table_with(tab, [row])
    return {"row": row, "neighbors": (await studio.ask(tab, "points.neighbors", quick=True, row=row))[0]}


@router.get("/points/rows")
async def rows(tab: Tab, at: Annotated[list[int], Query(max_length=_MOST_ROWS)]) -> dict[str, Any]:
    """The values of some rows, for a table of them."""
    shown = _table_with(tab, at).columns[:_MOST_CELLS]
    return {"columns": [c.name for c in shown], "rows": [[row, *(c.cell(row) for c in shown)] for row in at]}
