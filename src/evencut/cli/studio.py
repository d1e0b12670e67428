"""`evencut studio [FILE]`: points and photos clustered in the browser, by a server on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from evencut.cli.console import UserError, say
from evencut.cli.options import number_of

_LOCAL = ("127.0.0.1", "localhost", "::1")
_PORT = 8765


def studio(
    file: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILES", help="Points (CSV, TSV, Parquet, NPY) or photos to open."),
    ] = None,
    port: Annotated[int | None, number_of("--port", 1, f"Port [{_PORT}, or the next free one].", 65535)] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; this machine only by default.")
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines connect: anyone with the address can use it.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    workers: Annotated[int | None, number_of("--workers", 1, "Processes that do the work [3 or 4].", 64)] = None,
) -> None:
    """Open the studio: cluster points and cut out photos in the browser."""
    files = tuple(_readable(name) for name in file or ())
    if host not in _LOCAL and not allow_remote:
        raise UserError(
            f"--host {host} lets other machines connect: anyone with the address and its token can read the data you "
            "load and use this machine's processors, and nothing is encrypted. Add --allow-remote if you want that."
        )
    try:
        from evencut.studio.options import Options
        from evencut.studio.refusals import Refused
        from evencut.studio.serve import serve
    except ModuleNotFoundError as missing:
        cure = 'pip install "evencut[studio]"'
        raise UserError(f"the studio needs {missing.name}, which is not installed: {cure}") from missing
    options = Options(
        host="127.0.0.1" if host == "localhost" else host,
        port=port or _PORT,
        files=files,
        workers=workers or min(4, max(3, os.cpu_count() or 3)),
        allow_remote=allow_remote,
    )
    try:
        serve(options, exactly=port is not None, open_browser=browser, tell=say)
    except Refused as refused:
        raise UserError(refused.message) from refused


def _readable(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        why = "is a folder" if path.is_dir() else "does not exist"
        raise UserError(f"{name} {why}; give files of points or photos.")
    return path.resolve()
