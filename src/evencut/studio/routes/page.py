"""The page and its files: known names only, read from the package once."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from evencut import __version__

from ..methods import PHOTOS, POINTS, known_kernels
from ..options import RequestError
from ..state import Here

router = APIRouter()

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


@router.get("/", include_in_schema=False)
async def index(request: Request) -> Response:
    """The page."""
    return _file("index.html", request)


@router.get("/favicon.ico", include_in_schema=False)
async def icon(request: Request) -> Response:
    """The icon browsers ask for by themselves."""
    return _file("icon.svg", request)


@router.get("/static/{name:path}", include_in_schema=False)
async def static(name: str, request: Request) -> Response:
    """A file of the page."""
    return _file(name, request)


def _file(name: str, request: Request) -> Response:
    if name not in static_files():
        raise RequestError("there is no such file.", 404)
    data, media_type, mark = static_files()[name]
    headers = {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=media_type, headers=headers)


@router.get("/api/about")
async def about(studio: Here) -> dict[str, Any]:
    """Version, limits, examples, files given on the command line, what can be restored, what the libraries allow."""
    has_photos = all(find_spec(name) is not None for name in ("PIL", "skimage"))
    return {
        "version": __version__,
        "points": [
            {"name": name, "title": example.title, "story": example.story, "n_clusters": example.n_clusters}
            for name, example in POINTS.items()
        ],
        "photos": [{"name": name, "title": example.title} for name, example in PHOTOS.items()] if has_photos else [],
        "files": [path.name for path in studio.options.files],
        "can": {
            "photos": has_photos,
            "umap": find_spec("umap") is not None,
        },
        "recoverable": await asyncio.to_thread(studio.autosave.recoverable, studio.sessions),
        "limits": studio.plain_limits(),
    }


@router.get("/api/kernels")
async def kernels() -> list[dict[str, Any]]:
    """The kernels with their parameters; they bring scikit-learn, for which the page need not wait."""
    return [
        {"name": name, "title": kernel.title or name, "parameters": [asdict(setting) for setting in kernel.settings]}
        for name, kernel in (await asyncio.to_thread(known_kernels)).items()
    ]
