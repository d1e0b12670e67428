"""How a studio is set up: where it listens, what it may read, how much anyone may ask of it, and how it refuses.

Everything a request is checked against stands here, so that a test can make any limit small."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds on what a page may send and keep.

    Attributes
    ----------
    json_bytes : int
        Largest body of a request that is not an upload.
    table_bytes, photo_bytes : int
        Largest file of points, and of a photo.
    rows, columns, cells : int
        Largest table.
    pixels : int
        Largest photo, after decoding.
    text_bytes : int
        Longest cell of text, and name of a column.
    uploads : int
        Uploads read at the same time; the others wait, unread.
    upload_wait_s, upload_idle_s : float
        How long an upload waits for its turn, and how long it may be silent.
    sessions : int
        Tabs that are kept.
    session_s : float
        A tab that asks nothing for so long is forgotten.
    session_bytes, total_bytes : int
        What one tab, and all of them, may keep in memory.
    runs : int
        Clusterings kept for a tab; older ones go first.
    steps : int
        Steps of a photo that can be undone.
    """

    json_bytes: int = _MEGABYTE
    table_bytes: int = 160 * _MEGABYTE
    photo_bytes: int = 64 * _MEGABYTE
    rows: int = 5_000_000
    columns: int = 1_000
    cells: int = 19_000_000
    pixels: int = 40_000_000
    text_bytes: int = 100
    uploads: int = 2
    upload_wait_s: float = 60.0
    upload_idle_s: float = 20.0
    sessions: int = 40
    session_s: float = 12 * 3600.0
    session_bytes: int = 640 * _MEGABYTE
    total_bytes: int = 2048 * _MEGABYTE
    runs: int = 24
    steps: int = 200


@dataclass(frozen=True)
class Options:
    """What `evencut studio` was started with.

    Attributes
    ----------
    host, port
        Where the server listens.
    token : str
        The secret in the address; a random one by default.
    files : tuple of Path
        Files given on the command line, the only ones that are ever opened.
    workers : int
        Processes that do the work.
    allow_remote : bool
        Whether machines other than this one may connect.
    autosave : Path, optional
        A folder where what tabs hold is kept, to be restored by the next studio; nowhere by default.
    variable : (str, str), optional
        The name of the variable that the first file was written from, and the library that its value belongs to.
    limits : Limits

    Examples
    --------
    >>> Options(port=8765, token="secret").address
    'http://127.0.0.1:8765/?token=secret'
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    files: tuple[Path, ...] = ()
    workers: int = 3
    allow_remote: bool = False
    autosave: Path | None = None
    variable: tuple[str, str] | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        name = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/?token={self.token}"


class RequestError(Exception):
    """Something the user sent cannot be taken; shown on the page as it is.

    Examples
    --------
    >>> RequestError("the file is empty.").status
    400
    """

    status = 400

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.message = message
        if status is not None:
            self.status = status

    def __reduce__(self) -> tuple:
        return type(self), (self.message, self.status)


class TooLarge(RequestError):
    """It may be good, but there is too much of it."""

    status = 413
