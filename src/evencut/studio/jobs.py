"""A job: work for a session that takes a while, told step by step to whoever listens, and stopped when asked.

Its events are kept, so that a page that comes late, or again, hears all of them.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from .refusals import Refused

Progress = Callable[[str, float | None], None]
_MOST_EVENTS = 500
_HEARTBEAT_S = 15.0


class Job:
    """Work in the background.

    Parameters
    ----------
    name : str
        What is done, for the page.
    body : async callable
        Takes a function that tells progress, returns what the page needs to know, small enough for JSON.
    """

    def __init__(self, name: str, body: Callable[[Progress], Awaitable[dict[str, Any]]]):
        self.id = secrets.token_urlsafe(9)
        self.name = name
        self.events: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(body))

    @property
    def is_running(self) -> bool:
        """Whether it is not over yet."""
        return not self._task.done()

    def about(self) -> dict[str, Any]:
        """For the page."""
        return {"id": self.id, "name": self.name, "running": self.is_running}

    def cancel(self) -> None:
        """Stop the work; the process that does it is ended."""
        self._task.cancel()

    async def wait(self) -> None:
        """Until it is over."""
        await asyncio.wait([self._task])

    async def stream(self) -> AsyncIterator[dict[str, Any] | None]:
        """All events, past and to come; None now and then while nothing happens."""
        seen = 0
        while True:
            while seen < len(self.events):
                yield self.events[seen]
                seen += 1
            if not self.is_running and seen == len(self.events):
                return
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), _HEARTBEAT_S)
            except TimeoutError:
                yield None

    async def _run(self, body: Callable[[Progress], Awaitable[dict[str, Any]]]) -> None:
        try:
            self._tell("done", result=await body(self._progress))
        except asyncio.CancelledError:
            self._tell("cancelled", detail="stopped.")
        except Refused as refused:
            self._tell("failed", detail=refused.message, status=refused.status)
        except Exception as error:
            detail = f"this is a bug in evencut: {type(error).__name__}: {error}"
            self._tell("failed", detail=detail, status=500)

    def _progress(self, name: str, share: float | None) -> None:
        if len(self.events) < _MOST_EVENTS:
            self._tell("progress", step=name, share=share)

    def _tell(self, kind: str, **what: Any) -> None:
        self.events.append({"kind": kind, **what})
        # The end is heard only once the task is over, so that a listener never sees a finished job as running.
        asyncio.get_running_loop().call_soon(self._news.set)
