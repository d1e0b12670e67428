"""What the studio remembers of each tab: its data, its clusterings, its photo; forgotten when unused for long.

Everything is in memory and bounded. Two tabs never share a session.
"""

from __future__ import annotations

import secrets
import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jobs import Job
from .options import Limits
from .prompts import Prompt
from .refusals import Refused, TooLarge
from .tables import Table

__all__ = ["Correction", "Photo", "Run", "Session", "SessionStore", "Step"]


@dataclass(frozen=True, eq=False)
class Correction:
    """Rows that the user holds in one cluster."""

    label: int
    rows: NDArray[np.uint32]


@dataclass(eq=False)
class Run:
    """A labelling: made by a method, or taken from a column of the file.

    Attributes
    ----------
    id : str
    kind : {"fit", "column"}
    method : dict or None
        The choices of a fit.
    columns : list of str
        What was clustered by.
    labels : ndarray of int32
    values : dict
        A number a row, for colours.
    facts : dict
    corrections : tuple of Correction
        What the user held while it was made.
    report : dict or None
        Its diagnosis, once asked for.
    """

    id: str
    kind: str
    method: dict[str, Any] | None
    columns: list[str]
    labels: NDArray[np.int32]
    values: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()
    report: dict[str, Any] | None = None

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        return self.labels.nbytes + sum(values.nbytes for values in self.values.values())

    def about(self) -> dict[str, Any]:
        """For the page."""
        return {
            "id": self.id,
            "kind": self.kind,
            "method": self.method,
            "columns": self.columns,
            "facts": self.facts,
            "values": sorted(self.values),
            "n_held": int(sum(len(correction.rows) for correction in self.corrections)),
        }


@dataclass(frozen=True, eq=False)
class Step:
    """One gesture on a photo and its answer, the labels of the pixels packed."""

    prompt: Prompt
    packed: bytes
    facts: dict[str, Any]


@dataclass(eq=False)
class Photo:
    """A photo and what was drawn on it; `position` steps are in force, later ones can be redone."""

    key: str
    name: str
    source: dict[str, Any]
    pixels: NDArray[Any]
    shown: bytes
    media_type: str
    steps: list[Step] = field(default_factory=list)
    position: int = 0

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        return self.pixels.nbytes + len(self.shown) + sum(len(step.packed) for step in self.steps)

    def prompts(self, position: int | None = None) -> list[Prompt]:
        """The gestures in force."""
        return [step.prompt for step in self.steps[: self.position if position is None else position]]

    def labels(self) -> NDArray[np.uint8]:
        """Labels of the pixels now, zero before the first gesture."""
        shape = self.pixels.shape[:2]
        if not self.position:
            return np.zeros(shape, np.uint8)
        return np.frombuffer(zlib.decompress(self.steps[self.position - 1].packed), np.uint8).reshape(shape)

    def about(self) -> dict[str, Any]:
        """For the page."""
        return {
            "key": self.key,
            "name": self.name,
            "source": self.source,
            "height": self.pixels.shape[0],
            "width": self.pixels.shape[1],
            "position": self.position,
            "n_steps": len(self.steps),
            "prompts": [prompt.model_dump() for prompt in self.prompts()][-100:],
            "facts": self.steps[self.position - 1].facts if self.position else None,
        }


@dataclass(eq=False)
class Session:
    """One tab."""

    id: str
    seen: float
    table: Table | None = None
    table_key: str = ""
    columns: list[str] = field(default_factory=list)
    bandwidths: tuple[float, float] | None = None
    runs: OrderedDict[str, Run] = field(default_factory=OrderedDict)
    panes: dict[str, str] = field(default_factory=dict)
    corrections: list[Correction] = field(default_factory=list)
    sweep: dict[str, Any] | None = None
    photo: Photo | None = None
    grabcut: bytes | None = None
    job: Job | None = None
    page: dict[str, Any] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        table = 0 if self.table is None else self.table.n_bytes
        held = sum(correction.rows.nbytes for correction in self.corrections)
        runs = sum(run.n_bytes for run in self.runs.values())
        return table + held + runs + (0 if self.photo is None else self.photo.n_bytes)

    async def stop_job(self) -> None:
        """End what is under way."""
        if self.job is not None and self.job.is_running:
            self.job.cancel()
            await self.job.wait()

    def need_table(self) -> Table:
        """The table, or a refusal."""
        if self.table is None:
            raise Refused("there are no points yet; load an example or drop a file.", 409)
        return self.table

    def need_photo(self) -> Photo:
        """The photo, or a refusal."""
        if self.photo is None:
            raise Refused("there is no photo yet; load an example or drop one.", 409)
        return self.photo

    def need_run(self, run: str) -> Run:
        """A labelling by its id."""
        if run not in self.runs:
            raise Refused("this clustering is no longer kept; run it again.", 404)
        return self.runs[run]

    def hold(self) -> NDArray[np.int64] | None:
        """The corrections as partial labels of all rows; later ones win."""
        if not self.corrections:
            return None
        held = np.full(self.need_table().n_rows, -1, dtype=np.int64)
        for correction in self.corrections:
            held[correction.rows] = correction.label
        return held

    def add_run(self, run: Run, most: int) -> None:
        """Keep a labelling, forgetting the oldest that no pane shows."""
        self.runs[run.id] = run
        for old in list(self.runs):
            if len(self.runs) <= most:
                break
            if old not in self.panes.values() and old != run.id:
                del self.runs[old]

    def set_table(self, table: Table, key: str) -> None:
        """New data: all that belonged to the old go."""
        self.table, self.table_key = table, key
        self.columns, self.bandwidths, self.sweep = [], None, None
        self.runs.clear()
        self.panes.clear()
        self.corrections.clear()


class SessionStore:
    """The sessions by id."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def create(self) -> Session:
        """A new session; the one unused for longest gives way where it has nothing to lose."""
        self.expire()
        if len(self._sessions) >= self._limits.sessions:
            empty = next((s for s in self._sessions.values() if s.table is None and s.photo is None), None)
            if empty is None:
                raise Refused(f"{len(self._sessions)} tabs are open, as many as the studio keeps; close some.", 429)
            self.remove(empty.id)
        session = Session(secrets.token_urlsafe(12), time.monotonic())
        self._sessions[session.id] = session
        return session

    def get(self, session: str) -> Session:
        """A session by its id, marked as used."""
        self.expire()
        found = self._sessions.get(session)
        if found is None:
            raise Refused("this session is no longer kept; reload the page to begin a new one.", 404)
        found.seen = time.monotonic()
        self._sessions.move_to_end(session)
        return found

    def remove(self, session: str) -> None:
        """Forget a session and stop its work."""
        gone = self._sessions.pop(session, None)
        if gone is not None and gone.job is not None:
            gone.job.cancel()

    def expire(self) -> None:
        """Forget sessions unused for too long."""
        limit = time.monotonic() - self._limits.session_s
        for old in [s.id for s in self._sessions.values() if s.seen < limit]:
            self.remove(old)

    def check_room(self, session: Session, n_more: int) -> None:
        """Raise unless so many more bytes can be kept for a session."""
        if session.n_bytes + n_more > self._limits.session_bytes:
            raise TooLarge(f"this tab would keep more than {self._limits.session_bytes / 1e6:.4g} MB; load less.")
        if sum(s.n_bytes for s in self._sessions.values()) + n_more > self._limits.total_bytes:
            raise Refused(f"all tabs together keep {self._limits.total_bytes / 1e6:.4g} MB, the most; close some.", 503)
