"""The resources of the studio, a file each."""

from . import exports, page, photos, points, runs, sessions

__all__ = ["ROUTERS"]

#: Every router of the application.
ROUTERS = tuple(room.router for room in (page, sessions, points, runs, photos, exports))
