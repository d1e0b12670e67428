"""What worker processes do, by name: a task takes what its process keeps, its arguments, and a way to tell progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import clusters, photos, points, previews, projects, reports

__all__ = ["TASKS"]

Task = Callable[[dict[str, Any], dict[str, Any], Callable[[str, float | None], None]], Any]


#: The tasks by name.
TASKS: dict[str, Task] = {
    "read_table": points.read,
    "example": points.example,
    "plane": points.plane,
    "density": points.density,
    "fit": points.fit,
    "edit": clusters.edit,
    "describe": clusters.describe,
    "sample": previews.sample,
    "preview": previews.preview,
    "neighbors": previews.neighbors,
    "read_project": projects.read,
    "agreement": points.agreement,
    "bandwidths": reports.bandwidths,
    "diagnose": reports.diagnose_labels,
    "sweep": reports.sweep,
    "read_photo": photos.read,
    "photo_example": photos.example,
    "cut": photos.cut,
    "prepare_photo": photos.prepare,
    "hover": photos.hover,
    "grabcut": photos.grabcut,
}
