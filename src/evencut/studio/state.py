"""The one object every route shares: options, sessions, workers, and whose turn it is to upload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from .jobs import Job
from .options import Options
from .pool import WorkerPool
from .refusals import Refused, TooLarge
from .sent import Sent
from .sessions import Session, SessionStore


class ExampleName(Sent):
    """The name of an embedded example."""

    name: Annotated[str, Field(max_length=40)]


class GivenFile(Sent):
    """A file of the command line, counted from 0."""

    index: Annotated[int, Field(ge=0, le=1000)]


class Studio:
    """A running studio."""

    def __init__(self, options: Options):
        self.options = options
        self.limits = options.limits
        self.sessions = SessionStore(options.limits)
        self.pool = WorkerPool(options.workers)
        self._uploads = asyncio.Semaphore(options.limits.uploads)

    def plain_limits(self) -> dict[str, Any]:
        """The limits as a task takes them."""
        return asdict(self.limits)

    async def ask(self, tab: Session, task: str, progress: Any = None, quick: bool = False, **arguments: Any) -> Any:
        """The result of a task on the table of a tab, and the warnings it gave."""
        told = {"table": tab.table_key, **arguments}
        return await self.pool.run(task, told, {tab.table_key: tab.need_table()}, progress, quick)

    def start_job(self, session: Session, name: str, body: Callable[..., Awaitable[dict[str, Any]]]) -> Job:
        """Begin work for a session that has none under way."""
        if session.job is not None and session.job.is_running:
            raise Refused(f"{session.job.name} is still under way in this tab; wait for it or stop it first.", 409)
        session.job = Job(name, body)
        return session.job

    async def read_given(self, index: int, largest: int) -> tuple[bytes, str]:
        """Bytes and name of a file of the command line, by its number: no path is ever taken from the page."""
        files = self.options.files
        if index >= len(files):
            raise Refused(f"{len(files)} files were given on the command line; there is no number {index}.", 404)
        path = files[index]
        if path.stat().st_size > largest:
            raise TooLarge(f"{path.name} is larger than the {largest / 1e6:.4g} MB that the studio takes.")
        return await asyncio.to_thread(path.read_bytes), path.name

    @asynccontextmanager
    async def upload(self, request: Request) -> AsyncIterator[bytearray]:
        """The body of an upload, read when it is its turn; others wait unread, so that memory stays bounded."""
        try:
            await asyncio.wait_for(self._uploads.acquire(), self.limits.upload_wait_s)
        except TimeoutError as error:
            raise Refused("too many uploads at once; try again in a moment.", 503) from error
        try:
            yield await self._read(request)
        finally:
            self._uploads.release()

    async def _read(self, request: Request) -> bytearray:
        body = bytearray()
        chunks = request.stream()
        while True:
            try:
                part = await asyncio.wait_for(anext(chunks, None), self.limits.upload_idle_s)
            except TimeoutError as error:
                silent = f"the upload was silent for {self.limits.upload_idle_s:g} s and was dropped."
                raise Refused(silent, 408) from error
            except ClientDisconnect as error:
                raise Refused("the upload was broken off.") from error
            if part is None:
                return body
            body += part


async def _studio(request: Request) -> Studio:
    return request.app.state.studio


async def _session(request: Request, session: str) -> Session:
    return request.app.state.studio.sessions.get(session)


FileName = Annotated[str, Query(max_length=255)]
Here = Annotated[Studio, Depends(_studio)]
Tab = Annotated[Session, Depends(_session)]
