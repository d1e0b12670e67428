"""The whole server, built from one `Options` object: guard, routes, worker processes, and how mistakes are answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from evencut import __version__

from .guard import Guard
from .options import Options
from .refusals import Refused
from .routes import ROUTERS
from .routes.page import static_files
from .state import Studio

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
        static_files()  # read now rather than by the first visitor
        # The page is there at once; what needs a process waits for it.
        behind = [asyncio.create_task(app.state.studio.pool.start()), asyncio.create_task(_tidy(app.state.studio))]
        yield
        for task in behind:
            task.cancel()
        await asyncio.gather(*behind, return_exceptions=True)
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
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _no_such_thing)
    app.add_exception_handler(Exception, _our_fault)
    for router in ROUTERS:
        app.include_router(router)
    return Guard(app, options)


async def _tidy(studio: Studio) -> None:
    """Forget unused sessions also when nobody asks."""
    while True:
        await asyncio.sleep(_SWEEP_S)
        studio.sessions.expire()


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    # What was refused half-read is not read to its end.
    headers = {"connection": "close"} if error.status in (408, 413) else None
    return JSONResponse({"detail": error.message}, error.status, headers=headers)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    """The first few mistakes in a request, in one sentence, without echoing what was sent."""
    assert isinstance(error, RequestValidationError)
    wrong = []
    for mistake in error.errors()[:_SHOWN]:
        place = ".".join(str(part) for part in mistake["loc"][1:])[:60]
        wrong.append(f"{place or 'body'}: {mistake['msg'][:120]}")
    return JSONResponse({"detail": "; ".join(wrong) or "the request is not understood."}, 422)


def _no_such_thing(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": str(error.detail)}, error.status_code, headers=error.headers)


def _our_fault(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": f"this is a bug in evencut: {type(error).__name__}."}, 500)
