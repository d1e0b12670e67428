"""The one object every route shares: options, sessions, workers, and whose turn it is to upload."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import time
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping
from contextlib import asynccontextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from .methods import StrictModel
from .options import Options, RequestError, TooLarge
from .pool import Progress, WorkerPool
from .projects import pack
from .sessions import Session, SessionStore, copied

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
        n_sent = 0
        while True:
            while n_sent < len(self.events):
                yield self.events[n_sent]
                n_sent += 1
            if not self.is_running and n_sent == len(self.events):
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
        except RequestError as refused:
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


class ExampleName(StrictModel):
    """The name of an embedded example."""

    name: Annotated[str, Field(max_length=40)]


class GivenFile(StrictModel):
    """A file of the command line, counted from 0."""

    index: Annotated[int, Field(ge=0, le=1000)]


class Autosave:
    """Projects of the tabs, written while they are worked on, in a folder that only this user can read.

    Parameters
    ----------
    folder : Path or None
        Nothing is written without one.
    port : int
        Each studio has a folder below it, named by its port: one that is not listened at is a studio that has ended.
    """

    def __init__(self, folder: Path | None, port: int):
        self._root = folder
        self._port = port

    def _path(self, session: str) -> Path:
        assert self._root is not None
        return self._root / str(self._port) / f"{session}.evencut"

    async def save(self, session: Session) -> None:
        """Write what a tab holds, where it holds work that was not written yet."""
        sources = [item.source for item in (session.table, *session.album.values()) if item is not None]
        # What comes with the studio is kept once something was done with it.
        has_work = any(source["kind"] != "example" for source in sources) or session.history.position > 1
        if self._root is None or not has_work or session.changes in (0, session.saved):
            return
        now = copy(session)  # the tab goes on while this is written
        vars(now).update({name: copied(value) for name, value in vars(session).items()})
        session.saved = session.changes
        await asyncio.to_thread(self._write, self._path(session.id), now)

    @staticmethod
    def _write(path: Path, session: Session) -> None:
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        with suppress(FileNotFoundError):
            partial.unlink()
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pack(session))
        partial.replace(path)

    def recoverable(self, sessions: Container[str]) -> list[dict[str, Any]]:
        """What ended studios and closed tabs have left, the newest first; what is older than a month is deleted."""
        if self._root is None or not self._root.exists():
            return []
        copies: list[dict[str, Any]] = []
        for path in self._root.glob("*/*.evencut"):
            port = int(path.parent.name) if path.parent.name.isdecimal() else 0
            saved = path.stat().st_mtime
            if time.time() - saved > 30 * 86400:
                path.unlink(missing_ok=True)
            elif path.stem not in sessions if port == self._port else not _listens(port):
                with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                    name = archive.comment.decode(errors="replace")
                    copies.append({"id": f"{port}/{path.stem}", "name": name, "saved": saved})
        return sorted(copies, key=lambda copy: copy["saved"], reverse=True)[:10]

    def path_of(self, recoverable: str) -> Path:
        """The file of something that can be restored."""
        is_name = re.fullmatch(r"\d{1,5}/[\w-]{1,40}", recoverable) is not None
        if self._root is None or not is_name or not (path := self._root / f"{recoverable}.evencut").is_file():
            raise RequestError("there is nothing of that name to restore.", 404)
        return path


def _listens(port: int) -> bool:
    with socket.socket() as line:
        line.settimeout(0.2)
        return line.connect_ex(("127.0.0.1", port)) == 0


class Studio:
    """A running studio."""

    def __init__(self, options: Options):
        self.options = options
        self.limits = options.limits
        self.sessions = SessionStore(options.limits)
        self.autosave = Autosave(options.autosave, options.port)
        self.pool = WorkerPool(options.workers)
        self._uploads = asyncio.Semaphore(options.limits.uploads)
        self._background: dict[str, asyncio.Task[None]] = {}

    async def ask(self, tab: Session, task: str, progress: Any = None, quick: bool = False, **arguments: Any) -> Any:
        """The result of a task on the table of a tab, and the warnings it gave."""
        complete = {"table": tab.table_key, **tab.how(), **arguments}
        return await self.pool.run(task, complete, {tab.table_key: tab.need_table()}, progress, quick)

    def start_job(self, session: Session, name: str, body: Callable[..., Awaitable[dict[str, Any]]]) -> Job:
        """Begin work for a session that has none under way."""
        if session.job is not None and session.job.is_running:
            raise RequestError(f"{session.job.name} is still under way in this tab; wait for it or stop it first.", 409)
        session.job = Job(name, body)
        return session.job

    def start_background(self, name: str, task: str, arguments: dict[str, Any], keep: Mapping[str, Any]) -> None:
        """Begin a task ahead of need; if it fails, it is run again when its result is needed."""

        async def quietly() -> None:
            with suppress(RequestError):
                await self.pool.run(task, arguments, keep)

        self._background[name] = asyncio.create_task(quietly())
        self._background[name].add_done_callback(lambda _: self._background.pop(name, None))

    async def wait_background(self, name: str) -> None:
        """Wait until a background task has ended; it continues if the waiting is cancelled."""
        if name in self._background:
            await asyncio.wait([self._background[name]])

    async def read_given(self, index: int, largest: int) -> tuple[bytes, str]:
        """Bytes and name of a file of the command line, by its number: no path is ever taken from the page."""
        files = self.options.files
        if index >= len(files):
            raise RequestError(f"file {index} does not exist; the command line named {len(files)}.", 404)
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
            raise RequestError("too many uploads at once; try again in a moment.", 503) from error
        try:
            yield await self._read(request)
        finally:
            self._uploads.release()

    async def _read(self, request: Request) -> bytearray:
        body = bytearray()
        chunks = request.stream()
        while True:
            try:
                chunk = await asyncio.wait_for(anext(chunks, None), self.limits.upload_idle_s)
            except TimeoutError as error:
                silent = f"the upload was silent for {self.limits.upload_idle_s:g} s and was dropped."
                raise RequestError(silent, 408) from error
            except ClientDisconnect as error:
                raise RequestError("the upload was broken off.") from error
            if chunk is None:
                return body
            body += chunk


async def _studio(request: Request) -> Studio:
    return request.app.state.studio


async def _session(request: Request, session: str) -> Session:
    return request.app.state.studio.sessions.get(session)


FileName = Annotated[str, Query(max_length=255)]
Here = Annotated[Studio, Depends(_studio)]
Tab = Annotated[Session, Depends(_session)]
