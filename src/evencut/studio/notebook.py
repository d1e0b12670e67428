"""The studio from a notebook: open a table there, look and correct, and take the labels back."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_START_S = 120.0
_SIDES = {"left": "a", "right": "b"}


def open_studio(X: Any, *, open_browser: bool = True, port: int = 0) -> OpenStudio:
    """Open the studio on a table, and read the labels made there.

    Parameters
    ----------
    X : array-like, pandas.DataFrame, polars.DataFrame or pyarrow.Table of shape (n_samples, n_features)
        The points; columns keep their names, and columns of words can colour the points.
    open_browser : bool
        Whether to open the page; its address is in `address`.
    port : int
        Port to listen on; 0 chooses a free one.

    Returns
    -------
    OpenStudio
        `labels()` returns the labels that the page shows.

    Examples
    --------
    >>> import numpy as np, evencut
    >>> with evencut.open_studio(np.random.default_rng(0).normal(size=(50, 2)), open_browser=False) as studio:
    ...     studio.address.startswith("http://127.0.0.1:")
    True
    """
    return OpenStudio(X, open_browser=open_browser, port=port)


class OpenStudio:
    """A studio that runs beside the notebook, in a thread of its own; `close()` or the end of a `with` ends it.

    Attributes
    ----------
    address : str
        Where the page is, with its token.
    """

    def __init__(self, X: Any, *, open_browser: bool, port: int):
        try:
            import uvicorn

            from .app import create_app
            from .options import Options
            from .serve import listening, server_config, show_in_browser
        except ModuleNotFoundError as missing:
            raise ImportError(f'the studio needs {missing.name}: pip install "evencut[studio]"') from missing
        self._folder = tempfile.TemporaryDirectory(prefix="evencut-")
        try:
            file = _written(X, Path(self._folder.name))
        except Exception:
            self._folder.cleanup()
            raise
        opened = listening("127.0.0.1", port, exactly=port > 0)
        options = Options(port=opened.getsockname()[1], files=(file,))
        self.address = options.address
        self._app = create_app(options)
        self._server = uvicorn.Server(server_config(self._app, options))
        self._thread = threading.Thread(target=self._server.run, args=([opened],), daemon=True)
        self._thread.start()
        self._wait(options.port)
        if open_browser:
            threading.Thread(target=show_in_browser, args=(self.address, webbrowser.open), daemon=True).start()

    def __enter__(self) -> OpenStudio:
        """The studio itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self.close()

    def __repr__(self) -> str:
        """What to do with it."""
        return f"evencut studio at {self.address}; labels() gives what it shows, close() ends it"

    def _wait(self, port: int) -> None:
        end = time.monotonic() + _START_S
        while time.monotonic() < end and self._thread.is_alive():
            with socket.socket() as line:
                if self._server.started and line.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"the studio did not start on port {port}; choose another with port=.")

    def labels(self, side: str = "right") -> NDArray[np.int64]:
        """The labels that the page shows, one a row; -1 for noise and rows with gaps.

        Parameters
        ----------
        side : {"right", "left"}
            Which of the two clusterings.
        """
        if side not in _SIDES:
            raise ValueError(f"side={side!r} is not known; it is 'right' or 'left'.")
        sessions = list(self._app.app.state.studio.sessions.all())
        for session in reversed(sessions):  # the tab that was used last
            run = session.panes.get(_SIDES[side])
            if run in session.runs:
                return session.runs[run].labels.astype(np.int64)
        raise RuntimeError(f"nothing is clustered on the {side} yet; open {self.address} and look.")

    def close(self) -> None:
        """End the studio; its page stops to answer."""
        self._server.should_exit = True
        self._thread.join(20)
        self._folder.cleanup()


def _written(X: Any, folder: Path) -> Path:
    """The points in a file that the studio reads, in a folder that only this user can look into."""
    module = type(X).__module__.split(".")[0]
    if module in ("pandas", "polars", "pyarrow"):
        import pyarrow
        import pyarrow.parquet

        table = X if module == "pyarrow" else X.to_arrow() if module == "polars" else _from_pandas(X)
        pyarrow.parquet.write_table(table, folder / "table.parquet")
        return folder / "table.parquet"
    values = np.asarray(X)
    if values.dtype.kind not in "biuf" or values.ndim != 2:
        raise ValueError(f"X has shape {values.shape} of {values.dtype}; give numbers of shape (points, columns).")
    np.save(folder / "points.npy", values)
    return folder / "points.npy"


def _from_pandas(X: Any) -> Any:
    import pyarrow

    named = X.copy(deep=False)
    named.columns = [str(name) for name in named.columns]
    return pyarrow.Table.from_pandas(named, preserve_index=False)
