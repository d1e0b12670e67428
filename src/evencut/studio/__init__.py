"""evencut studio: one page in the browser where points and photos are clustered while one looks.

`create_app` builds the whole server from one `Options` object; `evencut studio` starts it and opens the browser, and so
does `open_studio` for a table in a notebook.
"""

from typing import TYPE_CHECKING, Any

from .notebook import OpenStudio, open_studio
from .options import Limits, Options

if TYPE_CHECKING:
    from .app import create_app

__all__ = ["Limits", "OpenStudio", "Options", "create_app", "open_studio"]


def __getattr__(name: str) -> Any:
    """The server's libraries are loaded when a server is built."""
    if name == "create_app":
        from .app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
