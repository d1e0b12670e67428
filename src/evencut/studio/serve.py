"""Starting a studio: find a free port, tell the address, open the browser, serve until Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from collections.abc import Callable
from dataclasses import replace

from .app import create_app
from .options import Options
from .refusals import Refused

__all__ = ["free_port", "serve"]

_TRIED = 50
_CONNECTIONS = 200


def free_port(host: str, port: int, exactly: bool) -> int:
    """The port asked for, or the next free one after it.

    Examples
    --------
    >>> free_port("127.0.0.1", 0, exactly=False) > 0
    True
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tried in range(port, min(port + (1 if exactly else _TRIED), 65536)):
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host, tried))
            except OSError:
                continue
            return trial.getsockname()[1]
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

    options = replace(options, port=free_port(options.host, options.port, exactly))

    app = create_app(options)

    class _Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            if self.started:
                tell(f"studio at {options.address}")
                tell("press Ctrl-C to end it")
                if open_browser:
                    await asyncio.to_thread(webbrowser.open, options.address)

    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    _Server(config).run()
