"""Clusters changed by hand (merged, split), and what tells each apart."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from ..edits import Edit, Merge, Split
from ..refusals import Refused
from ..sent import Sent
from ..sessions import Run, sizes_of
from ..state import Here, Studio, Tab
from .runs import Pane, show_run

router = APIRouter(prefix="/api/sessions/{session}/runs/{run}")


class _Chosen(Sent):
    pane: Pane
    labels: Annotated[list[Annotated[int, Field(ge=0, le=2000)]], Field(min_length=1, max_length=2000)]


@router.post("/merge", status_code=202)
async def merge(run: str, body: _Chosen, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to make one cluster of several."""
    if len(set(body.labels)) < 2:
        raise Refused("one cluster cannot be merged; choose two or more.")
    return _begin(studio, tab, tab.need_run(run), body.pane, Merge(labels=sorted(set(body.labels))))


@router.post("/split", status_code=202)
async def split(run: str, body: _Chosen, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to make two clusters of one."""
    if len(body.labels) != 1:
        raise Refused(f"{len(body.labels)} clusters cannot be split at once; choose one.")
    return _begin(studio, tab, tab.need_run(run), body.pane, Split(label=body.labels[0]))


def _begin(studio: Studio, tab: Any, before: Run, pane: Pane, edit: Edit) -> dict[str, Any]:
    if max(edit.touched()) >= before.facts["n_clusters"]:
        raise Refused(f"there is no cluster {max(edit.touched())}; there are {before.facts['n_clusters']}.", 404)

    async def work(progress: Any) -> dict[str, Any]:
        told = edit.model_dump()
        labels, _ = await studio.ask(tab, "edit", progress, columns=before.columns, labels=before.labels, edit=told)
        facts = before.facts | sizes_of(labels) | {"n_noise": before.facts["n_noise"]}
        facts |= {"energy": None, "confidence": None, "warnings": []}
        facts.pop("names", None)
        edits = (*before.edits, edit)
        new = {"id": secrets.token_urlsafe(9), "labels": labels, "values": {}, "facts": facts, "edits": edits}
        return show_run(studio, tab, replace(before, **new, report=None), pane)

    return studio.start_job(tab, "changing clusters", work).about()


@router.get("/described")
async def described(run: str, tab: Tab, studio: Here) -> dict[str, Any]:
    """For each cluster the columns that tell it apart most."""
    found = tab.need_run(run)
    clusters, _ = await studio.ask(tab, "describe", quick=True, columns=found.columns, labels=found.labels)
    return {"clusters": clusters}
