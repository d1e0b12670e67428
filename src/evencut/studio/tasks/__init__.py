"""What worker processes do: a task takes what its process keeps, its arguments, and a way to tell progress.

A task is named by its module and function, such as "points.fit".
"""

from . import clusters, photos, plane, points

__all__ = ["clusters", "photos", "plane", "points"]
