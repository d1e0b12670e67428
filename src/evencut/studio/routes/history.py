"""Undo and redo over everything, clusterings of before, the project file, and tabs that are closed."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ..projects import Project, pack
from ..refusals import Refused
from ..sent import Sent
from ..state import FileName, Here, Tab
from .points import choose_columns
from .runs import Pane
from .sessions import check_page, state_of

router = APIRouter(prefix="/api/sessions/{session}")


class _Done(Sent):
    what: Annotated[str, Field(max_length=120)]
    page: dict[str, Any]


class _Position(Sent):
    position: Annotated[int, Field(ge=0, le=10_000)]


class _Shown(Sent):
    pane: Pane
    run: Annotated[str, Field(max_length=40)]


@router.post("/history", status_code=201)
async def record(body: _Done, tab: Tab, studio: Here) -> dict[str, Any]:
    """The user has done something: from now on it can be undone."""
    check_page(body.page)
    studio.sessions.check_room(tab, len(json.dumps(body.page)))
    tab.record(body.what, body.page)
    return tab.history.about()


@router.put("/history")
async def go(body: _Position, tab: Tab) -> dict[str, Any]:
    """Undo or redo: everything as it was at a moment."""
    await tab.stop_job()
    tab.go(body.position)
    return state_of(tab)


@router.put("/panes")
async def show(body: _Shown, tab: Tab) -> dict[str, Any]:
    """Put a clustering of before on a side."""
    run = tab.need_run(body.run)
    tab.panes[body.pane] = run.id
    return {"pane": body.pane, "run": run.about()}


@router.get("/project.evencut")
async def project(tab: Tab) -> Response:
    """All of this tab in one file."""
    data = await asyncio.to_thread(pack, tab)
    headers = {"content-disposition": 'attachment; filename="project.evencut"'}
    return Response(data, media_type="application/zip", headers=headers)


@router.post("/project/upload", status_code=201)
async def open_project(name: FileName, request: Request, tab: Tab, studio: Here) -> dict[str, Any]:
    """Everything from a project file, in place of what the tab had; undo brings that back."""
    async with studio.upload(request) as data:
        arguments = {"data": bytes(data), "limits": studio.plain_limits()}
        data.clear()
        found, _ = await studio.pool.run("read_project", arguments)
    assert isinstance(found, Project)
    if found.table is None and found.photo is None:
        raise Refused(f"{name[:80]} is an empty project.")
    await tab.stop_job()
    parts = [found.table, found.photo, *found.runs.values(), *(found.photo.steps if found.photo else ())]
    studio.sessions.check_room(tab, sum(part.n_bytes for part in parts if part is not None))
    if found.table is not None:
        tab.set_table(found.table, secrets.token_urlsafe(9))
        await choose_columns(tab, found.columns)
    tab.runs, tab.panes, tab.corrections = found.runs, found.panes, found.corrections
    tab.photo, tab.page = found.photo, found.page
    return state_of(tab)


@router.post("/leave", status_code=204)
async def leave(session: str, studio: Here) -> None:
    """The tab is closed or loaded again; if it does not come back soon, all of it is forgotten."""
    studio.sessions.leave(session)
