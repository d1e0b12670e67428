"""Sessions: one a tab, with what its page was showing; and the work that is under way in it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from ..methods import StrictModel
from ..options import RequestError
from ..projects import Project, pack
from ..sessions import Session
from ..state import FileName, Here, Tab
from .points import choose_columns, describe
from .runs import Pane

router = APIRouter(prefix="/api/sessions")

_PAGE_BYTES = 60_000


@router.post("", status_code=201)
async def create(studio: Here) -> dict[str, str]:
    """A new, empty session."""
    return {"id": studio.sessions.create().id}


def state_of(tab: Session) -> dict[str, Any]:
    """All that the page needs to show again what it was showing."""
    return {
        "id": tab.id,
        "points": None if tab.table is None else describe(tab),
        "panes": {pane: tab.runs[run].about() for pane, run in tab.panes.items() if run in tab.runs},
        "runs": [run.about() for run in tab.runs.values()],
        "corrections": tab.held(),
        "sweep": tab.sweep,
        "photo": None if tab.photo is None else tab.photo.about(),
        "album": [{"key": key, "name": one.name} for key, one in tab.photos().items() if one.source["kind"] == "file"],
        "job": None if tab.job is None else tab.job.about(),
        "page": tab.page,
        "history": tab.history.about(),
    }


def check_page(page: dict[str, Any]) -> None:
    """Raise where the page wants to keep too much."""
    if len(json.dumps(page)) > _PAGE_BYTES:
        raise RequestError(f"the page wants to keep more than {_PAGE_BYTES} bytes.", 413)


@router.get("/{session}")
async def state(tab: Tab) -> dict[str, Any]:
    """All that the page needs to show again what it was showing."""
    return state_of(tab)


@router.put("/{session}/page", status_code=204)
async def remember(page: dict[str, Any], tab: Tab) -> None:
    """Keep what the page wants to find again after a reload."""
    check_page(page)
    tab.page = page


@router.delete("/{session}", status_code=204)
async def forget(session: str, tab: Tab, studio: Here) -> None:
    """Forget everything of this tab."""
    studio.sessions.remove(tab.id)


@router.get("/{session}/jobs/{job}/events")
async def events(job: str, tab: Tab) -> StreamingResponse:
    """What happens in a job, as server-sent events: progress, then done, failed or cancelled."""
    if tab.job is None or tab.job.id != job:
        raise RequestError("there is no such job any more.", 404)
    running = tab.job

    async def lines() -> AsyncIterator[str]:
        async for event in running.stream():
            yield ": still here\n\n" if event is None else f"data: {json.dumps(event)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


@router.delete("/{session}/jobs/{job}", status_code=204)
async def stop(job: str, tab: Tab) -> None:
    """Stop a job; its process is ended, everything else stays as it is."""
    if tab.job is not None and tab.job.id == job:
        await tab.stop_job()


class _Done(StrictModel):
    what: Annotated[str, Field(max_length=120)]
    page: dict[str, Any]


class _Position(StrictModel):
    position: Annotated[int, Field(ge=0, le=10_000)]


class _Shown(StrictModel):
    pane: Pane
    run: Annotated[str, Field(max_length=40)]


@router.post("/{session}/history", status_code=201)
async def record(body: _Done, tab: Tab, studio: Here) -> dict[str, Any]:
    """The user has done something: from now on it can be undone."""
    check_page(body.page)
    studio.sessions.check_room(tab, len(json.dumps(body.page)))
    tab.record(body.what, body.page)
    return tab.history.about()


@router.put("/{session}/history")
async def go(body: _Position, tab: Tab) -> dict[str, Any]:
    """Undo or redo: everything as it was at a moment."""
    await tab.stop_job()
    tab.go(body.position)
    return state_of(tab)


@router.put("/{session}/panes")
async def show(body: _Shown, tab: Tab) -> dict[str, Any]:
    """Put a clustering of before on a side."""
    run = tab.need_run(body.run)
    tab.panes[body.pane] = run.id
    return {"pane": body.pane, "run": run.about()}


@router.get("/{session}/project.evencut")
async def project(tab: Tab) -> Response:
    """All of this tab in one file."""
    data = await asyncio.to_thread(pack, tab)
    headers = {"content-disposition": 'attachment; filename="project.evencut"'}
    return Response(data, media_type="application/zip", headers=headers)


@router.post("/{session}/project/upload", status_code=201)
async def open_project(name: FileName, request: Request, tab: Tab, studio: Here) -> dict[str, Any]:
    """Everything from a project file, in place of what the tab had; undo brings that back."""
    async with studio.upload(request) as data:
        arguments = {"data": bytes(data), "limits": studio.plain_limits()}
        data.clear()
        found, _ = await studio.pool.run("read_project", arguments)
    assert isinstance(found, Project)
    if found.table is None and found.photo is None:
        raise RequestError(f"{name[:80]} is an empty project.")
    await tab.stop_job()
    parts = [found.table, found.photo, *found.runs.values(), *(found.photo.steps if found.photo else ())]
    studio.sessions.check_room(tab, sum(part.n_bytes for part in parts if part is not None))
    if found.table is not None:
        tab.set_table(found.table, secrets.token_urlsafe(9))
        await choose_columns(studio, tab, found.columns)
    tab.runs, tab.panes, tab.corrections = found.runs, found.panes, found.corrections
    tab.photo, tab.page = found.photo, found.page
    return state_of(tab)


@router.post("/{session}/leave", status_code=204)
async def leave(session: str, studio: Here) -> None:
    """The tab is closed or loaded again; if it does not come back soon, all of it is forgotten."""
    studio.sessions.leave(session)
