"""Sessions: one a tab, with what its page was showing; and the work that is under way in it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from ..refusals import Refused
from ..sessions import Session
from ..state import Here, Tab
from .points import describe

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
        raise Refused(f"the page wants to keep more than {_PAGE_BYTES} bytes.", 413)


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
        raise Refused("there is no such job any more.", 404)
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
