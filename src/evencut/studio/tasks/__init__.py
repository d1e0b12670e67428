"""What worker processes do, by name: a task takes what its process keeps, its arguments, and a way to tell progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import clusters, photos, points, previews, projects, reports

__all__ = ["TASKS"]

Task = Callable[[dict[str, Any], dict[str, Any], Callable[[str, float | None], None]], Any]


def _warm(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> None:
    """Load the compiled code that the first clusterings need."""
    from ..examples import load_points
    from ..methods import Method

    kept["warm"] = load_points("moons")
    for method in (Method(tool="kernel", criterion="average_association"), Method()):
        points.fit(kept, {"table": "warm", "columns": ["x", "y"], "method": method.model_dump(), "held": None}, tell)
    del kept["warm"]


#: The tasks by name.
TASKS: dict[str, Task] = {
    "warm": _warm,
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
    "diagnose": reports.diagnose_labels,
    "sweep": reports.sweep,
    "read_photo": photos.read,
    "photo_example": photos.example,
    "cut": photos.cut,
    "hover": photos.hover,
    "grabcut": photos.grabcut,
}
