"""evencut studio: one page in the browser where points and photos are clustered while one looks.

`create_app` builds the whole server from one `Options` object; `evencut studio` starts it and opens the browser, and so
does `open_studio` for a table in a notebook.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .options import Limits, Options

if TYPE_CHECKING:
    from .serve import OpenStudio, create_app

__all__ = ["Limits", "OpenStudio", "Options", "create_app", "open_studio"]


def open_studio(X: Any, *, open_browser: bool = True, port: int = 0) -> OpenStudio:
    """Open the studio on a table, and take home what is made there.

    Parameters
    ----------
    X : array-like, pandas.DataFrame, polars.DataFrame or pyarrow.Table of shape (n_samples, n_features)
        The points; columns keep their names, and columns of words can colour the points or be clustered by.
    open_browser : bool
        Whether to open the page; its address is in `address`.
    port : int
        Port to listen on; 0 chooses a free one.

    Returns
    -------
    OpenStudio
        `table()` returns X with the clusters that the page shows, `labels()` these alone, `model()` the estimator.

    Examples
    --------
    >>> import numpy as np, evencut
    >>> with evencut.open_studio(np.random.default_rng(0).normal(size=(50, 2)), open_browser=False) as studio:
    ...     studio.address.startswith("http://127.0.0.1:")
    True
    """
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    known = {**caller.f_globals, **caller.f_locals} if caller is not None else {}
    name = next((name for name, value in known.items() if value is X and not name.startswith("_")), "X")
    return _server().OpenStudio(X, open_browser=open_browser, port=port, name=name)


def _server() -> Any:
    """The server's libraries are loaded when a server is built."""
    try:
        from . import serve
    except ModuleNotFoundError as missing:
        raise ImportError(f'the studio needs {missing.name}: pip install "evencut[studio]"') from missing
    return serve


def __getattr__(name: str) -> Any:
    if name not in ("OpenStudio", "create_app"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_server(), name)
