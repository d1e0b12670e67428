"""Clusterings of a session: run one, take one from a column, diagnose it, sweep the bandwidth."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from ..methods import Edit, Merge, Method, Split, StrictModel
from ..options import RequestError
from ..sessions import Correction, Facts, RowValues, Run, Session, Short, held_labels, sizes_of
from ..state import Here, Studio, Tab
from .points import array_reply

router = APIRouter(prefix="/api/sessions/{session}")

_MOST_ROWS = 200
Pane = Literal["a", "b"]


class _Fit(StrictModel):
    """Cluster the chosen columns by a method, for one of the two panes."""

    pane: Pane = "a"
    method: Method
    hold: bool = False
    around: Annotated[str, Field(max_length=40)] | None = None


class _Column(StrictModel):
    pane: Pane = "a"
    name: Short


class _Sweep(StrictModel):
    n_clusters: Annotated[int, Field(ge=2, le=50)] = 2
    criterion: Literal["normalized_cut", "average_association", "average_cut"] = "average_association"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0


@router.post("/runs", status_code=202)
async def fit(body: _Fit, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to cluster; the job's end names the run. Corrections change the clustering `around` in places only."""
    table, preparation, key = tab.need_table(), tab.how(), tab.table_key
    holds = body.hold and body.method.tool in ("evencut", "kernel")
    held = held_labels(tab.corrections, table.n_rows) if holds and tab.corrections else None
    earlier = tab.need_run(body.around).labels if body.around and holds else None
    n_held = 0 if held is None else sum(len(correction.rows) for correction in tab.corrections)
    method = body.method.model_dump()
    layout = tab.layout("map")
    positions = None if layout is None else layout["places"].reshape(-1, 2)
    arguments = {"table": key, **preparation, "method": method, "held": held, "before": earlier, "places": positions}

    async def work(progress: Any) -> dict[str, Any]:
        fitted, warnings = await studio.pool.run("points.fit", arguments, {key: table}, progress)
        numbers = tab.numbered(fitted["labels"], body.pane, fitted["fixed"])
        labels = np.append(numbers, -1)[fitted["labels"]].astype(np.int32)
        facts = fitted["facts"] | sizes_of(labels, fitted["facts"]["n_missing"])
        facts |= {"warnings": warnings[:10], "numbers": numbers.tolist(), "n_held": n_held}
        facts |= {"missing": preparation["missing"], "counts": preparation["counts"]}
        facts["islands"] = [[int(numbers[label]), n] for label, n in facts["islands"]]
        codes = np.empty(0) if fitted["held"] is None else fitted["held"]
        corrections = tuple(
            Correction(int(code), np.flatnonzero(codes == code).astype(np.uint32))
            for code in np.unique(codes[codes >= 0])
        )
        columns, run_id = preparation["columns"], secrets.token_urlsafe(9)
        run = Run(run_id, "fit", method, columns, labels, fitted["values"], facts, corrections)
        return show_run(studio, tab, run, body.pane)

    return studio.start_job(tab, "clustering", work).about()


@router.post("/runs/column", status_code=201)
async def from_column(body: _Column, tab: Tab, studio: Here) -> dict[str, Any]:
    """Take the labels of a column made by another tool: names, or whole numbers with -1 for noise."""
    column = tab.need_table().column(body.name)
    if column.names is not None:
        labels = column.values.astype(np.int32)
        names = column.names
    else:
        known = np.isfinite(column.values)
        values = np.where(known, column.values, -1)
        if (values != np.round(values)).any() or np.abs(values).max() > 1e9:
            raise RequestError(f"column {body.name!r} does not hold labels: some values are not whole numbers.")
        distinct, codes = np.unique(values, return_inverse=True)
        shift = int((distinct < 0).sum())
        labels = (codes - shift).clip(-1).astype(np.int32)
        names = [f"{value:g}" for value in distinct[shift:]]
    if len(names) > 2000:
        raise RequestError(f"column {body.name!r} has {len(names)} different values; labels have at most 2000.")
    numbers = tab.numbered(labels, body.pane)
    called = [""] * (int(numbers.max(initial=-1)) + 1)
    for number, name in zip(numbers.tolist(), names):
        called[number] = name[:60]
    labels = np.append(numbers, -1)[labels].astype(np.int32)
    agreement, _ = await studio.ask(tab, "points.agreement", quick=True, labels=labels)
    facts = Facts(column=body.name, names=called, true_agreement=agreement).model_dump() | sizes_of(labels)
    run = Run(secrets.token_urlsafe(9), "column", None, list(tab.columns), labels, facts=facts)
    return show_run(studio, tab, run, body.pane)


def show_run(studio: Studio, tab: Session, run: Run, pane: str) -> dict[str, Any]:
    """Keep a clustering and put it on a side."""
    studio.sessions.check_room(tab, run.n_bytes)
    tab.panes[pane] = run.id
    tab.add_run(run, studio.limits.runs)
    return {"pane": pane, "run": run.about()}


@router.get("/runs/{run}")
async def about(run: str, tab: Tab) -> dict[str, Any]:
    """What is known of a clustering."""
    return tab.need_run(run).about()


@router.get("/runs/{run}/labels")
async def labels(run: str, tab: Tab, every: Annotated[int, Query(ge=1)] = 1) -> Response:
    """Its labels, 32-bit numbers, -1 for noise and rows with gaps; or those of every so many rows."""
    return array_reply(tab.need_run(run).labels[::every])


@router.get("/runs/{run}/values/{name}")
async def values(run: str, name: RowValues, tab: Tab) -> Response:
    """A number a row: degrees or probabilities."""
    known = tab.need_run(run).values
    if name not in known:
        raise RequestError(f"this clustering has no {name}.", 404)
    return array_reply(known[name])


@router.post("/runs/{run}/diagnosis", status_code=202)
async def diagnose(run: str, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to judge a clustering; the job's end holds the report."""
    clustering = tab.need_run(run)

    async def work(progress: Any) -> dict[str, Any]:
        if clustering.report is None:
            arguments = diagnosis_arguments(clustering)
            clustering.report, _ = await studio.ask(tab, "clusters.diagnose_labels", progress, **arguments)
        return {"run": run, **_for_page(clustering.report)}

    return studio.start_job(tab, "diagnosis", work).about()


@router.get("/runs/{run}/diagnosis")
async def diagnosis(run: str, tab: Tab) -> dict[str, Any]:
    """The report on a clustering that was judged before."""
    report = tab.need_run(run).report
    if report is None:
        raise RequestError("this clustering was not diagnosed yet.", 404)
    return _for_page(report)


def diagnosis_arguments(run: Run) -> dict[str, Any]:
    """What the diagnosis of a clustering takes: its borders are judged on the scale that it was found on."""
    scale = (run.method or {}).get("scale", "auto")
    return {**run.how(), "labels": run.labels, "scale": scale}


def _for_page(report: dict[str, Any]) -> dict[str, Any]:
    """Without the HTML, and of very many clusters only the gravest."""
    inner = dict(report["report"])
    order = sorted(range(len(inner["clusters"])), key=lambda k: inner["clusters"][k]["verdict"] == "ok")[:_MOST_ROWS]
    inner["clusters"] = [inner["clusters"][k] for k in order]
    profiles = [report["profiles"][k] for k in order]
    return {**report, "report": inner, "profiles": profiles}


@router.post("/sweep", status_code=202)
async def sweep(body: _Sweep, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to try a range of bandwidths."""
    table, key = tab.need_table(), tab.table_key
    arguments = {"table": key, **tab.how(), **body.model_dump()}

    async def work(progress: Any) -> dict[str, Any]:
        tab.sweep, _ = await studio.pool.run("clusters.sweep", arguments, {key: table}, progress)
        return {"sweep": tab.sweep}

    return studio.start_job(tab, "bandwidth sweep", work).about()


class _Chosen(StrictModel):
    pane: Pane
    labels: Annotated[list[Annotated[int, Field(ge=0, le=2000)]], Field(min_length=1, max_length=2000)]


@router.post("/runs/{run}/{kind}", status_code=202)
async def edit(run: str, kind: Literal["merge", "split"], body: _Chosen, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to make one cluster of several, or two of one."""
    base, labels = tab.need_run(run), sorted(set(body.labels))
    if kind == "merge" and len(labels) < 2:
        raise RequestError("one cluster cannot be merged; choose two or more.")
    if kind == "split" and len(labels) > 1:
        raise RequestError(f"{len(labels)} clusters cannot be split at once; choose one.")
    present = np.flatnonzero(base.facts["sizes"]).tolist()
    if unknown := [label for label in labels if label not in present]:
        raise RequestError(f"cluster {unknown[0]} does not exist; there are {len(present)}.", 404)
    change: Edit = Merge(labels=labels) if kind == "merge" else Split(label=labels[0])

    async def work(progress: Any) -> dict[str, Any]:
        arguments = {"labels": base.labels, "edit": change, **base.how()}
        labels, _ = await studio.ask(tab, "clusters.edit", progress, **arguments)
        facts = base.facts | sizes_of(labels, base.facts["n_missing"])
        facts |= {"energy": None, "confidence": None, "warnings": [], "islands": []}
        new = {"id": secrets.token_urlsafe(9), "labels": labels, "values": {}, "facts": facts}
        return show_run(studio, tab, replace(base, **new, edits=(*base.edits, change), report=None), body.pane)

    return studio.start_job(tab, "changing clusters", work).about()


@router.get("/runs/{run}/described")
async def described(run: str, tab: Tab, studio: Here) -> dict[str, Any]:
    """For each cluster the columns that tell it apart most."""
    clustering = tab.need_run(run)
    arguments = {"columns": clustering.columns, "labels": clustering.labels}
    return {"clusters": (await studio.ask(tab, "clusters.describe", quick=True, **arguments))[0]}
