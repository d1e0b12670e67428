"""`evencut studio [FILE]`: points and photos clustered in the browser, by a server on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from evencut.cli.console import UserError, say
from evencut.cli.options import number_of

_LOCAL = ("127.0.0.1", "localhost", "::1")
_PORT = 8765
_PHOTOS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")


def studio(
    file: Annotated[
        list[str] | None,
        Argument(
            metavar="FILES",
            help="Points (CSV, TSV, Excel, Parquet, NPY), photos, folders of photos, or a project to open.",
        ),
    ] = None,
    port: Annotated[int | None, number_of("--port", 1, f"Port [{_PORT}, or the next free one].", 65535)] = None,
    host: Annotated[
        str, Option(metavar="ADDRESS", help="Address to listen on; this machine only by default.")
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool, Option("--allow-remote", help="Let other machines connect: anyone with the address can use it.")
    ] = False,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the browser.")] = True,
    autosave: Annotated[
        bool, Option("--autosave/--no-autosave", help="Keep a copy of the work, for you to restore.")
    ] = True,
    workers: Annotated[int | None, number_of("--workers", 1, "Processes that do the work [3 or 4].", 64)] = None,
) -> None:
    """Open the studio: cluster points and cut out photos in the browser."""
    files = tuple(path for name in file or () for path in _readable(name))
    if host not in _LOCAL and not allow_remote:
        raise UserError(
            f"--host {host} lets other machines connect: anyone with the address and its token can read the data you "
            "load and use this machine's processors, and nothing is encrypted. Add --allow-remote if you want that."
        )
    try:
        from evencut.studio.options import Options, RequestError
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
        autosave=_data_folder() if autosave else None,
    )
    try:
        serve(options, exactly=port is not None, open_browser=browser, tell=say)
    except RequestError as refused:
        raise UserError(refused.message) from refused


def _readable(name: str) -> list[Path]:
    """A file, or the photos of a folder."""
    path = Path(name)
    if path.is_dir():
        photos = sorted(file.resolve() for file in path.iterdir() if file.suffix.lower() in _PHOTOS)
        if not photos:
            raise UserError(f"{name} is a folder without photos ({', '.join(_PHOTOS)}); give a folder of photos.")
        return photos
    if not path.is_file():
        raise UserError(f"{name} does not exist; give files of points, photos, a folder of photos or a project.")
    return [path.resolve()]


def _data_folder() -> Path:
    """Where this user's programs keep their data."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "evencut" / "studio"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "evencut" / "studio"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "evencut" / "studio"
