"""The page and its files: known names only, read from the package once."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..refusals import Refused

router = APIRouter(include_in_schema=False)

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@cache
def static_files() -> dict[str, tuple[bytes, str, str]]:
    """Every file of the page by its name: bytes, type and mark."""
    found = {}
    root = files("evencut.studio") / "static"
    for folder in ("", "js", "css"):
        for entry in (root / folder if folder else root).iterdir():
            suffix = entry.name.rpartition(".")[2]
            if entry.is_file() and suffix in _TYPES:
                data = entry.read_bytes()
                mark = f'"{sha256(data).hexdigest()[:20]}"'
                found[f"{folder}/{entry.name}".lstrip("/")] = (data, _TYPES[suffix], mark)
    return found


@router.get("/")
async def index(request: Request) -> Response:
    """The page."""
    return _file("index.html", request)


@router.get("/favicon.ico")
async def icon(request: Request) -> Response:
    """The icon browsers ask for by themselves."""
    return _file("icon.svg", request)


@router.get("/static/{name:path}")
async def static(name: str, request: Request) -> Response:
    """A file of the page."""
    return _file(name, request)


def _file(name: str, request: Request) -> Response:
    if name not in static_files():
        raise Refused("there is no such file.", 404)
    data, media_type, mark = static_files()[name]
    headers = {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=media_type, headers=headers)
