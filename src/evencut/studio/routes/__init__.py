"""The resources of the studio, a file each."""

from . import about, edits, exports, history, page, photo_exports, photos, points, previews, runs, sessions

__all__ = ["ROUTERS"]

#: Every router of the application.
ROUTERS = tuple(
    room.router
    for room in (page, about, sessions, history, points, previews, runs, edits, photos, exports, photo_exports)
)
