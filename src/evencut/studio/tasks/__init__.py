"""What worker processes do, by name: a task takes what its process keeps, its arguments, and a way to tell progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import clusters, photos, points

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
    "sample": points.sample,
    "preview": points.preview,
    "neighbors": points.neighbors,
    "read_project": photos.read_project,
    "agreement": points.agreement,
    "bandwidths": clusters.bandwidths,
    "diagnose": clusters.diagnose_labels,
    "sweep": clusters.sweep,
    "read_photo": photos.read,
    "photo_example": photos.example,
    "cut": photos.cut,
    "prepare_photo": photos.prepare,
    "hover": photos.hover,
}
