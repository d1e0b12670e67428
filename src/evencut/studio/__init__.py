"""evencut studio: one page in the browser where points and photos are clustered while one looks.

`create_app` builds the whole server from one `Options` object; `evencut studio` starts it and opens the browser.
"""

from .app import create_app
from .options import Limits, Options

__all__ = ["Limits", "Options", "create_app"]
