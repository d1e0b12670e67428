"""The page, and what it needs to know of this studio."""

from __future__ import annotations

import asyncio
import mimetypes
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse

from evencut import __version__

from ..methods import PHOTOS, POINTS, known_kernels
from ..state import Here

router = APIRouter()

#: The files of the page; the server mounts this folder at /static.
STATIC = Path(__file__).parents[1] / "static"
# The types of files are the system's, and some systems do not know scripts.
mimetypes.add_type("text/javascript", ".js")


@router.get("/", include_in_schema=False)
async def index() -> FileResponse:
    """The page."""
    return FileResponse(STATIC / "index.html")


@router.get("/favicon.ico", include_in_schema=False)
async def icon() -> FileResponse:
    """The icon browsers request without being told."""
    return FileResponse(STATIC / "icon.svg")


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
        "can": {"photos": has_photos, "umap": find_spec("umap") is not None},
        "recoverable": await asyncio.to_thread(studio.autosave.recoverable, studio.sessions),
        "limits": studio.limits,
    }


@router.get("/api/kernels")
async def kernels() -> list[dict[str, Any]]:
    """The kernels with their parameters; they bring scikit-learn, for which the page need not wait."""
    return [
        {"name": name, "title": kernel.title or name, "parameters": [asdict(setting) for setting in kernel.settings]}
        for name, kernel in (await asyncio.to_thread(known_kernels)).items()
    ]
