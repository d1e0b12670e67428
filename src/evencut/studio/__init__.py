"""evencut studio: one page in the browser where points and photos are clustered while one looks.

`create_app` builds the whole server from one `Options` object; `evencut studio` starts it and opens the browser, and so
does `open_studio` for a table in a notebook.
"""

from typing import TYPE_CHECKING, Any

from .options import Limits, Options

if TYPE_CHECKING:
    from .serve import OpenStudio, create_app, open_studio

__all__ = ["Limits", "OpenStudio", "Options", "create_app", "open_studio"]


def __getattr__(name: str) -> Any:
    """The server's libraries are loaded when a server is built."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from . import serve
    except ModuleNotFoundError as missing:
        raise ImportError(f'the studio needs {missing.name}: pip install "evencut[studio]"') from missing
    return getattr(serve, name)
