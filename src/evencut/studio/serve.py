"""Starting a studio: find a free port, tell the address, open the browser, serve until Ctrl-C."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from .app import create_app
from .connections import impatient_protocol
from .options import Options
from .refusals import Refused

__all__ = ["listening", "serve", "server_config", "show_in_browser"]

_TRIED = 50
_CONNECTIONS = 200
_READ_S = 10.0


def listening(host: str, port: int, exactly: bool) -> socket.socket:
    """A socket that listens at the port asked for, or at the next free one after it: nobody can take it meanwhile.

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
    raise Refused(f"port {port} of {host} is taken; choose another with --port.")


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

    app = create_app(options)

    class _Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                tell(f"studio at {options.address}")
                tell("press Ctrl-C to end it")
                if open_browser:
                    threading.Thread(target=show_in_browser, args=(options.address,), daemon=True).start()

    _Server(server_config(app, options)).run(sockets=[opened])


def server_config(app: Any, options: Options) -> Any:
    """How the server of a studio runs, from the command or from a notebook."""
    import uvicorn

    return uvicorn.Config(
        app,
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
    open_address(Path(file.name).as_uri())
    time.sleep(_READ_S)
    Path(file.name).unlink(missing_ok=True)
