"""Sessions: one a tab, with what its page was showing; and the work that is under way in it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from ..methods import StrictModel
from ..options import RequestError
from ..projects import pack
from ..sessions import UNDONE, Session
from ..state import FileName, GivenFile, Here, Studio, Tab
from .points import describe
from .runs import Pane

router = APIRouter(prefix="/api/sessions")

_PAGE_BYTES = 60_000


@router.post("", status_code=201)
async def create(studio: Here) -> dict[str, str]:
    """A new, empty session."""
    return {"id": studio.sessions.create().id}


@router.get("/{session}")
async def state(tab: Tab) -> dict[str, Any]:
    """All that the page needs after a reload."""
    return {
        "id": tab.id,
        "points": None if tab.table is None else describe(tab),
        "panes": {pane: tab.runs[run].about() for pane, run in tab.panes.items() if run in tab.runs},
        "runs": [run.about() for run in tab.runs.values()],
        "corrections": tab.held(),
        "sweep": tab.sweep,
        "photo": None if tab.photo is None else tab.photo.about(),
        "album": [{"key": key, "name": one.name} for key, one in tab.album.items() if one.source["kind"] == "file"],
        "job": None if tab.job is None else tab.job.about(),
        "page": tab.page,
        "history": tab.history.about(),
    }


def check_page(page: dict[str, Any]) -> None:
    """Raise where the page wants to keep too much."""
    if len(json.dumps(page)) > _PAGE_BYTES:
        raise RequestError(f"the page wants to keep more than {_PAGE_BYTES} bytes.", 413)


@router.put("/{session}/page", status_code=204)
async def remember(page: dict[str, Any], tab: Tab) -> None:
    """Keep what the page wants to find again after a reload."""
    check_page(page)
    tab.changes += page != tab.page
    tab.page = page


@router.delete("/{session}", status_code=204)
async def forget(session: str, tab: Tab, studio: Here) -> None:
    """Forget everything of this tab."""
    studio.sessions.remove(tab.id)


@router.get("/{session}/jobs/{job}/events")
async def events(job: str, tab: Tab) -> StreamingResponse:
    """What happens in a job, as server-sent events: progress, then done, failed or cancelled."""
    if tab.job is None or tab.job.id != job:
        raise RequestError("this job is over.", 404)
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


class _Recoverable(StrictModel):
    id: Annotated[str, Field(max_length=60)]


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
    return await state(tab)


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
        content = bytes(data)
        data.clear()
        return await _open(studio, tab, content, name)


@router.post("/{session}/project/given", status_code=201)
async def open_given(body: GivenFile, tab: Tab, studio: Here) -> dict[str, Any]:
    """A project of the command line, by its number."""
    return await _open(studio, tab, *await studio.read_given(body.index, studio.limits.table_bytes))


@router.post("/{session}/recover", status_code=201)
async def recover(body: _Recoverable, tab: Tab, studio: Here) -> dict[str, Any]:
    """Everything that an ended studio or a closed tab has left."""
    path = studio.autosave.path_of(body.id)
    restored = await _open(studio, tab, await asyncio.to_thread(path.read_bytes), path.name)
    await studio.autosave.save(tab)
    path.unlink(missing_ok=True)
    return restored


@router.delete("/{session}/recover", status_code=204)
async def discard(tab: Tab, studio: Here) -> None:
    """Delete all that could be restored."""
    for left in studio.autosave.recoverable(studio.sessions):
        studio.autosave.path_of(left["id"]).unlink(missing_ok=True)


async def _open(studio: Studio, tab: Session, data: bytes, name: str) -> dict[str, Any]:
    """Put a project in place of what a tab has, once all of it is seen to be good."""
    arguments = {"data": data, "limits": studio.limits}
    (project, original), _ = await studio.pool.run("photos.read_project", arguments)
    if project.table is None and not project.album:
        raise RequestError(f"{name[:80]} is an empty project.")
    names: tuple[str, ...] = (*UNDONE, "album", "page")
    if project.table is None:  # the points of the tab stay
        names = ("runs", "panes", "corrections", "photo", "album", "page")
    else:
        project.table, project.table_key = replace(project.table, original=original), secrets.token_urlsafe(9)
        project.bandwidths, _ = await studio.ask(project, "clusters.bandwidths", quick=True)
    studio.sessions.check_room(tab, project.n_bytes)
    await tab.stop_job()
    for name in names:
        setattr(tab, name, getattr(project, name))
    tab.changes += 1
    return await state(tab)


@router.post("/{session}/leave", status_code=204)
async def leave(session: str, studio: Here) -> None:
    """The tab is closed or loaded again; if it does not come back soon, all of it is forgotten."""
    studio.sessions.leave(session)
