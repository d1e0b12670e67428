"""The server, built from one `Options` object: run by the command until Ctrl-C, or beside a notebook."""

from __future__ import annotations

import asyncio
import atexit
import socket
import tempfile
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from numpy.typing import NDArray

from evencut import __version__

from .guard import Guard
from .options import Options, RequestError
from .routes import ROUTERS
from .routes.exports import given_names
from .routes.page import STATIC
from .sessions import Run, Session, held_labels
from .state import Studio

_HEADERS_S = 10.0
_MOST_SILENT = 40


def impatient_protocol() -> type[Any]:
    """The HTTP protocol of the server: a client has ten seconds for the head of its request.

    Of the connections whose request has not come yet only the newest are kept, so that opening many locks out no other
    client.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: dict[Any, asyncio.TimerHandle] = {}

    class _Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_head()

        def handle_events(self) -> None:
            super().handle_events()
            if self.cycle is not None and not self.cycle.response_complete:
                self._has_spoken()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing() and self.cycle is not None and self.cycle.response_complete:
                self._wait_for_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._has_spoken()
            super().connection_lost(exc)

        def _wait_for_head(self) -> None:
            """For a request to come, the first or the next; of many that wait the oldest give way."""
            self._has_spoken()
            silent[self] = asyncio.get_running_loop().call_later(_HEADERS_S, self._hang_up)
            while len(silent) > _MOST_SILENT:
                next(iter(silent))._hang_up()

        def _has_spoken(self) -> None:
            timer = silent.pop(self, None)
            if timer is not None:
                timer.cancel()

        def _hang_up(self) -> None:
            self._has_spoken()
            self.transport.close()

    return _Impatient


_TRIED = 50
_CONNECTIONS = 200
_READ_S = 10.0


def listening(host: str, port: int, exactly: bool) -> socket.socket:
    """A socket that listens at the port asked for, or at the next free one after it; it stays taken.

    Examples
    --------
    >>> with listening("127.0.0.1", 0, exactly=False) as opened:
    ...     opened.getsockname()[1] > 0
    True
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tried in range(port, min(port + (1 if exactly else _TRIED), 65536)):
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, tried))
            opened.listen()
        except OSError:
            opened.close()
            continue
        return opened
    raise RequestError(f"port {port} of {host} is taken; choose another with --port.")


def serve(options: Options, *, exactly: bool, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Run a studio until it is interrupted.

    Parameters
    ----------
    options : Options
    exactly : bool
        Whether the port was asked for and another will not do.
    open_browser : bool
    tell : callable
        Takes a line for the user: the address, once the page can be opened.
    """
    import uvicorn

    opened = listening(options.host, options.port, exactly)
    options = replace(options, port=opened.getsockname()[1])

    class _Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                tell(f"studio at {options.address}")
                tell("press Ctrl-C to end it")
                if open_browser:
                    threading.Thread(target=show_in_browser, args=(options.address,), daemon=True).start()

    _Server(_configured(options)).run(sockets=[opened])


def _configured(options: Options) -> Any:
    """A studio and how its server runs, from the command or from a notebook."""
    import uvicorn

    return uvicorn.Config(
        create_app(options),
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=impatient_protocol(),
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )


def show_in_browser(address: str, open_address: Callable[[str], object] = webbrowser.open) -> None:
    """Open the page by a file that only this user can read: what a browser is started with, everyone can list."""
    with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="evencut-", delete=False, encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}">')
    left = Path(file.name)
    atexit.register(left.unlink, missing_ok=True)  # Ctrl-C may come before it was read
    open_address(left.as_uri())
    time.sleep(_READ_S)
    left.unlink(missing_ok=True)


class OpenStudio:
    """A studio that runs beside the notebook, in another thread; `close()` or the end of a `with` ends it.

    Attributes
    ----------
    address : str
        Where the page is, with its token.
    """

    def __init__(self, X: Any, *, open_browser: bool, port: int, name: str = "X"):
        import uvicorn

        self._X = X
        self._folder = tempfile.TemporaryDirectory(prefix="evencut-")
        try:
            file = _written(X, Path(self._folder.name))
        except Exception:
            self._folder.cleanup()
            raise
        opened = listening("127.0.0.1", port, exactly=port > 0)
        options = Options(port=opened.getsockname()[1], files=(file,), variable=(name, _holder(X)))
        self.address = options.address
        self._server: Any = uvicorn.Server(_configured(options))
        self._thread = threading.Thread(target=self._server.run, args=([opened],), daemon=True)
        self._thread.start()
        self._wait(options.port)
        if open_browser:
            threading.Thread(target=show_in_browser, args=(self.address, webbrowser.open), daemon=True).start()

    def __enter__(self) -> OpenStudio:
        """The studio itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self.close()

    def __repr__(self) -> str:
        """What to do with it."""
        return f"evencut studio at {self.address}; table() gives what it shows, close() ends it"

    def _wait(self, port: int) -> None:
        end = time.monotonic() + 120.0
        while time.monotonic() < end and self._thread.is_alive():
            if self._server.started:
                return
            time.sleep(0.05)
        raise RuntimeError(f"the studio did not start on port {port}; choose another with port=.")

    def _shown(self, side: str) -> tuple[Session, Run]:
        sides = {"left": "a", "right": "b"}
        if side not in sides:
            raise ValueError(f"side={side!r} is not known; it is 'right' or 'left'.")
        studio: Studio = self._server.config.app.app.state.studio
        for session in reversed(studio.sessions.all()):  # the tab that was used last
            run = session.panes.get(sides[side], "")
            if run in session.runs:
                return session, session.runs[run]
        raise RuntimeError(f"nothing is clustered on the {side} yet; open {self.address} and look.")

    def labels(self, side: str = "right") -> NDArray[np.int64]:
        """The labels that the page shows, one a row; -1 for noise and rows with gaps.

        Parameters
        ----------
        side : {"right", "left"}
            Which of the two clusterings.
        """
        return self._shown(side)[1].labels.astype(np.int64)

    def table(self, side: str = "right") -> Any:
        """X with its index and two columns more: `cluster`, and `cluster name`, the name given on the page.

        Of the same kind as X; an array becomes a dict of columns. `side` is as for `labels`.
        """
        session, run = self._shown(side)
        names = given_names(session.page, run)
        labels = run.labels.astype(np.int64)
        added: dict[str, Any] = {"cluster": labels, "cluster name": [names.get(label, "") for label in labels.tolist()]}
        holder = _holder(self._X)
        if holder == "pandas":
            return self._X.assign(**added)
        if holder == "polars":
            import polars

            return self._X.with_columns(polars.Series(name, values) for name, values in added.items())
        if holder == "pyarrow":
            import pyarrow

            table = self._X
            for name, values in added.items():
                table = table.append_column(name, pyarrow.array(values))
            return table
        values = np.asarray(self._X)
        return {**{f"column {i + 1}": column for i, column in enumerate(values.T)}, **added}

    def model(self, side: str = "right") -> Any:
        """The estimator of the clustering that the page shows, fitted here with the same choices."""
        from .methods import Method, fit_labels
        from .tasks.points import points_of

        session, run = self._shown(side)
        if run.method is None:
            raise RuntimeError("these labels come from a column, not from a model.")
        X, complete = points_of({"X": session.need_table()}, {"table": "X", **run.how()})
        held = held_labels(run.corrections, len(complete))[complete] if run.corrections else None
        return fit_labels(Method(**run.method), X, held)[1]

    def close(self) -> None:
        """End the studio; its page stops to answer."""
        self._server.should_exit = True
        self._thread.join(20)
        self._folder.cleanup()


def _holder(X: Any) -> str:
    module = type(X).__module__.split(".")[0]
    return module if module in ("pandas", "polars", "pyarrow") else "numpy"


def _written(X: Any, folder: Path) -> Path:
    """The points in a file that the studio reads, in a folder that only this user can look into."""
    holder = _holder(X)
    if holder != "numpy":
        import pyarrow
        import pyarrow.parquet

        if holder == "pandas":
            X = X.rename(columns=str).reset_index(drop=True)
        table = X if holder == "pyarrow" else pyarrow.table(X)
        pyarrow.parquet.write_table(table, folder / "table.parquet")
        return folder / "table.parquet"
    values = np.asarray(X)
    if values.dtype.kind not in "biuf" or values.ndim != 2:
        raise ValueError(f"X has shape {values.shape} of {values.dtype}; give numbers of shape (points, columns).")
    np.save(folder / "points.npy", values)
    return folder / "points.npy"


_SWEEP_S = 5.0
_SHOWN = 3


def create_app(options: Options | None = None) -> Any:
    """The studio as an ASGI application.

    Parameters
    ----------
    options : Options, optional
        Where it listens, its token, its files and limits.

    Examples
    --------
    >>> from evencut.studio import Options, create_app
    >>> app = create_app(Options(port=8765, token="secret"))
    """
    options = options or Options()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.studio = Studio(options)
        # The page is there at once; what needs a process waits for it.
        behind = [asyncio.create_task(app.state.studio.pool.start()), asyncio.create_task(_tidy(app.state.studio))]
        yield
        for task in behind:
            task.cancel()
        await asyncio.gather(*behind, return_exceptions=True)
        for session in app.state.studio.sessions.all():
            with suppress(OSError):
                await app.state.studio.autosave.save(session)
        await app.state.studio.pool.close()

    app = FastAPI(
        title="evencut studio",
        version=__version__,
        description="Every reply but the page needs the token: `Authorization: Bearer TOKEN`.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=life,
    )
    app.add_exception_handler(RequestError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _our_fault)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC))
    return Guard(app, options)


async def _tidy(studio: Studio) -> None:
    """Write what was changed, and forget unused sessions, without a request."""
    while True:
        await asyncio.sleep(_SWEEP_S)
        for session in studio.sessions.all():
            start = time.monotonic()
            if start >= session.save_at:
                with suppress(OSError):  # a full disk costs the copy, not the work
                    await studio.autosave.save(session)
                # What takes long to write is written less often.
                session.save_at = time.monotonic() + 20 * (time.monotonic() - start)
        studio.sessions.expire()


def _refused(request: Request, error: Any) -> JSONResponse:
    # What was refused half-read is not read to its end.
    headers = {"connection": "close"} if error.status in (408, 413) else None
    return JSONResponse({"detail": error.message}, error.status, headers=headers)


def _invalid(request: Request, error: Any) -> JSONResponse:
    """The first few mistakes in a request, in one sentence, without echoing what was sent."""
    wrong = []
    for mistake in error.errors()[:_SHOWN]:
        place = ".".join(str(name) for name in mistake["loc"][1:])[:60]
        wrong.append(f"{place or 'body'}: {mistake['msg'][:120]}")
    return JSONResponse({"detail": "; ".join(wrong) or "the request is not understood."}, 422)


def _our_fault(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": f"this is a bug in evencut: {type(error).__name__}."}, 500)
