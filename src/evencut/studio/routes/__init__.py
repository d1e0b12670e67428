"""The resources of the studio, a file each."""

from . import about, exports, page, photos, points, runs, sessions

__all__ = ["ROUTERS"]

#: Every router of the application.
ROUTERS = (page.router, about.router, sessions.router, points.router, runs.router, photos.router, exports.router)
