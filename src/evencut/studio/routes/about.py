"""What this studio is and can do, for the page and for scripts."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

from fastapi import APIRouter

from evencut import __version__

from ..examples import PHOTOS, POINTS
from ..methods import known_kernels
from ..state import Here

router = APIRouter(prefix="/api")


@router.get("/about")
async def about(studio: Here) -> dict[str, Any]:
    """Version, limits, examples, files given on the command line, and what the installed libraries allow."""
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
            "grabcut": find_spec("cv2") is not None,
            "umap": find_spec("umap") is not None,
        },
        "kernels": [
            {
                "name": name,
                "title": kernel.title or name,
                "parameters": [asdict(setting) for setting in kernel.settings],
            }
            for name, kernel in known_kernels().items()
        ],
        "limits": studio.plain_limits(),
    }
