"""What the studio remembers of each tab: its data, its clusterings, its photo; forgotten when unused for long.

Everything is in memory and bounded. Two tabs never share a session.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from .methods import Edit
from .options import Limits, RequestError, TooLarge
from .prompts import Photo
from .tables import Sheet

if TYPE_CHECKING:
    from .state import Job


@dataclass(frozen=True, eq=False)
class Moment:
    """How everything stood after an action.

    Attributes
    ----------
    what : str
        The action, in the user's words.
    state : dict
        What the session held: its attributes named in `UNDONE`, and what was drawn on its photo.
    page : dict
        What the page showed.
    """

    what: str
    state: dict[str, Any]
    page: dict[str, Any]


@dataclass(eq=False)
class History:
    """The moments of a tab, of which one is now.

    Examples
    --------
    >>> history = History()
    >>> for what in ("open", "cluster"):
    ...     history.add(Moment(what, {}, {}))
    >>> history.about()
    {'position': 1, 'n_moments': 2, 'undo': 'cluster', 'redo': None}
    >>> history.go(0).what, history.about()["redo"]
    ('open', 'cluster')
    """

    moments: list[Moment] = field(default_factory=list)
    position: int = -1

    def add(self, moment: Moment) -> None:
        """A new moment follows the one that is now; what was undone is forgotten."""
        del self.moments[self.position + 1 :]
        self.moments.append(moment)
        del self.moments[:-200]
        self.position = len(self.moments) - 1

    def forget_oldest(self) -> bool:
        """Make room; False where only the present is left."""
        if self.position <= 0:
            return False
        del self.moments[0]
        self.position -= 1
        return True

    def go(self, position: int) -> Moment:
        """Make another moment the present one."""
        self.position = min(max(position, 0), len(self.moments) - 1)
        return self.moments[self.position]

    def about(self) -> dict[str, Any]:
        """For the page: where it stands, and what undo and redo would do."""
        later = self.moments[self.position + 1 : self.position + 2]
        return {
            "position": self.position,
            "n_moments": len(self.moments),
            "undo": self.moments[self.position].what if self.position > 0 else None,
            "redo": later[0].what if later else None,
        }


# What a fit can say of every row, beside its cluster.
RowValues = Literal["degrees", "probability"]
Missing = Literal["drop", "mean", "neighbors"]
Number = Annotated[float, Field(allow_inf_nan=False)]
Short = Annotated[str, Field(max_length=200)]
MAX_LABEL = 10_000


class Facts(BaseModel):
    """What is known of a clustering; the defaults are those of one that was not made here."""

    column: Short | None = None
    names: list[Short] | None = None
    numbers: list[Annotated[int, Field(ge=0, le=MAX_LABEL)]] = Field(default=[])
    n_held: int = 0
    missing: Missing = "drop"
    counts: bool = False
    islands: list[tuple[int, int]] = Field(default=[])
    seconds: Number = 0.0
    energy: Number | None = None
    bandwidth: Number | None = None
    confidence: Number | None = None
    true_agreement: Number | None = None
    n_missing: int = 0
    n_fitted: int = 0
    selection: list[dict[str, Any]] = Field(default=[])
    warnings: list[str] = Field(default=[])


_AWAY_S, _GONE_S = 5.0, 60.0


def sizes_of(labels: NDArray[np.integer], n_missing: int = 0) -> dict[str, Any]:
    """How many clusters labels have, how large each number's is (0: none), and how many rows are in none."""
    sizes = np.bincount(labels[labels >= 0]).tolist() if (labels >= 0).any() else []
    n_noise = max(0, int((labels < 0).sum()) - n_missing)
    return {"n_clusters": sum(size > 0 for size in sizes), "sizes": sizes, "n_noise": n_noise}


def keep_numbers(
    labels: NDArray[np.integer], earlier: Iterable[NDArray[np.integer]], fixed: Sequence[int] = ()
) -> NDArray[np.int32]:
    """The number for each of the clusters 0, 1, ...: that of the cluster it continues, see :func:`evencut.match`.

    Parameters
    ----------
    labels : ndarray
        Clusters from 0, and -1.
    earlier : iterable of ndarray
        Labellings on the page; the first takes precedence.
    fixed : sequence of int
        Numbers that the first clusters have in any case.

    Examples
    --------
    >>> keep_numbers(np.array([0, 0, 1, 1, 2]), [np.array([4, 4, 2, 2, 2])]).tolist()
    [4, 2, 0]
    """
    from evencut import match  # brings scikit-learn, for which the page need not wait

    numbers, used = dict(enumerate(fixed)), set(fixed)
    for other in earlier:
        same = match(other, labels).same
        numbers |= {label: number for label, number in same.items() if label not in numbers and number not in used}
        used |= {*numbers.values(), *np.unique(other).tolist()}
    n_clusters = max(int(labels.max(initial=-1)) + 1, len(fixed))
    new = (number for number in count() if number not in used)
    return np.array([numbers[k] if k in numbers else next(new) for k in range(n_clusters)], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Correction:
    """Rows that the user holds in one cluster."""

    label: int
    rows: NDArray[np.uint32]

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        return self.rows.nbytes


def held_labels(corrections: Iterable[Correction], n_rows: int) -> NDArray[np.int64]:
    """Corrections as partial labels of all rows, -1 elsewhere; later ones win."""
    held = np.full(n_rows, -1, dtype=np.int64)
    for correction in corrections:
        held[correction.rows] = correction.label
    return held


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
        `numbers` are those that the fit's clusters 0, 1, ... go by; `missing` and `counts` are how rows became points.
    corrections : tuple of Correction
        What was held while it was made, by the clusters of the fit.
    report : dict or None
        Its diagnosis, once asked for.
    edits : tuple of Edit
        What the user did to its clusters by hand.
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
    edits: tuple[Edit, ...] = ()

    def how(self) -> dict[str, Any]:
        """How rows became points, as `Session.how`."""
        facts = self.facts
        return {"columns": self.columns, "missing": facts.get("missing", "drop"), "counts": facts.get("counts", False)}

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
            "n_held": self.facts.get("n_held", 0),
            "edits": [edit.kind for edit in self.edits],
            "judged": self.report is not None,
        }


#: What undo brings back.
UNDONE = (
    *("table", "table_key", "columns", "missing", "counts", "bandwidths"),
    *("runs", "panes", "corrections", "sweep", "photo"),
)


def copied(value: Any) -> Any:
    """A list or a dict that later changes do not reach; the arrays in it are shared, and never change."""
    return copy(value) if isinstance(value, list | dict) else value


@dataclass(eq=False)
class Session:
    """One tab."""

    id: str
    seen: float
    table: Sheet | None = None
    table_key: str = ""
    columns: list[str] = field(default_factory=list)
    missing: str = "drop"
    counts: bool = False
    layouts: dict[Any, tuple[str, dict[str, Any], dict[str, Any]]] = field(default_factory=dict)
    bandwidths: tuple[float, float] | None = None
    runs: OrderedDict[str, Run] = field(default_factory=OrderedDict)
    panes: dict[str, str] = field(default_factory=dict)
    corrections: list[Correction] = field(default_factory=list)
    sweep: dict[str, Any] | None = None
    photo: Photo | None = None
    album: dict[str, Photo] = field(default_factory=dict)
    saved: int = -1
    job: Job | None = None
    page: dict[str, Any] = field(default_factory=dict)
    history: History = field(default_factory=History)
    left: float | None = None
    changes: int = 0
    save_at: float = 0.0

    @property
    def n_bytes(self) -> int:
        """Memory it takes, with all that undo can bring back."""
        parts: list[Any] = [*self.album.values()]
        for state in (self._now("", {}).state, *(moment.state for moment in self.history.moments)):
            parts += [state["table"], state["photo"], *state["runs"].values(), *state["corrections"]]
            parts += state.get("steps", ())
        parts += [step for photo in self.album.values() for step in photo.steps]
        return sum(item.n_bytes for item in {id(item): item for item in parts if item is not None}.values())

    def _now(self, what: str, page: dict[str, Any]) -> Moment:
        state = {name: copied(getattr(self, name)) for name in UNDONE}
        if self.photo is not None:
            state |= {"steps": self.photo.steps, "names": dict(self.photo.names)}
        return Moment(what, state, page)

    def show_photo(self, photo: Photo) -> None:
        """Make a photo the one on the screen; it stays in the album."""
        self.photo = photo
        self.album.setdefault(photo.key, photo)

    def record(self, what: str, page: dict[str, Any]) -> None:
        """Keep how everything stands now, after an action."""
        self.page = page
        self.changes += 1
        self.history.add(self._now(what, page))

    def go(self, position: int) -> None:
        """Bring back a moment: undo or redo."""
        if not self.history.moments:
            raise RequestError("nothing was done yet that could be undone.", 409)
        moment = self.history.go(position)
        for name in UNDONE:
            setattr(self, name, copied(moment.state[name]))
        if self.photo is not None:
            self.photo.steps, self.photo.names = moment.state["steps"], dict(moment.state["names"])
        self.page = moment.page

    def how(self) -> dict[str, Any]:
        """How rows become points: by which columns, what is done with gaps, and whether they are counts."""
        return {"columns": list(self.columns), "missing": self.missing, "counts": self.counts}

    def layout(self, axes: Any) -> dict[str, Any] | None:
        """An embedding made before, if the points are still the same."""
        key, preparation, layout = self.layouts.get(axes, ("", {}, {})) if isinstance(axes, str) else ("", {}, {})
        return layout if key == self.table_key and preparation == self.how() else None

    def held(self) -> list[dict[str, int]]:
        """The corrections, for the page."""
        return [{"label": c.label, "n_rows": len(c.rows)} for c in self.corrections]

    async def stop_job(self) -> None:
        """End what is under way."""
        if self.job is not None and self.job.is_running:
            self.job.cancel()
            await self.job.wait()

    def need_table(self) -> Sheet:
        """The table, or a refusal."""
        if self.table is None:
            raise RequestError("load points first: an example or a file.", 409)
        return self.table

    def need_photo(self) -> Photo:
        """The photo, or a refusal."""
        if self.photo is None:
            raise RequestError("load a photo first: an example or a file.", 409)
        return self.photo

    def need_run(self, run: str) -> Run:
        """A labelling by its id."""
        if run not in self.runs:
            raise RequestError("this clustering was forgotten; run it again.", 404)
        return self.runs[run]

    def numbered(self, labels: NDArray[np.int32], pane: str, fixed: Sequence[int] = ()) -> NDArray[np.int32]:
        """The numbers of new clusters for a side: those of the clusters it shows, and of the other side, live on."""
        sides = sorted(self.panes, key=lambda side: side != pane)
        shown = [self.runs[self.panes[side]].labels for side in sides if self.panes[side] in self.runs]
        return keep_numbers(labels, [other for other in shown if len(other) == len(labels)], fixed)

    def add_run(self, run: Run, limit: int) -> None:
        """Keep a labelling, forgetting the oldest that no pane shows."""
        self.runs[run.id] = run
        for old in list(self.runs):
            if len(self.runs) <= limit:
                break
            if old not in self.panes.values() and old != run.id:
                del self.runs[old]

    def set_table(self, table: Sheet, key: str) -> None:
        """New data: all that belonged to the old go."""
        self.table, self.table_key = table, key
        self.columns, self.missing, self.counts, self.bandwidths, self.sweep = [], "drop", False, None, None
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

    def __contains__(self, session: object) -> bool:
        return session in self._sessions

    def all(self) -> tuple[Session, ...]:
        """The sessions, the one used last at the end."""
        return tuple(self._sessions.values())

    def create(self) -> Session:
        """A new session; the one unused for longest gives way where it has nothing to lose."""
        self.expire()
        if len(self._sessions) >= self._limits.sessions:
            empty = (s for s in self._sessions.values() if s.table is None and s.photo is None)
            gone = self._oldest_left() or next(empty, None)
            if gone is None:
                raise RequestError(f"{len(self._sessions)} tabs are open, the most that are kept; close some.", 429)
            self.remove(gone.id)
        session = Session(secrets.token_urlsafe(12), time.monotonic())
        self._sessions[session.id] = session
        return session

    def get(self, session: str) -> Session:
        """A session by its id, marked as used."""
        self.expire()
        known = self._sessions.get(session)
        if known is None:
            raise RequestError("this session was forgotten; reload the page to begin a new one.", 404)
        known.seen, known.left = time.monotonic(), None
        self._sessions.move_to_end(session)
        return known

    def leave(self, session: str) -> None:
        """Its tab was closed, or is loaded again: that tells itself by the next request."""
        known = self._sessions.get(session)
        if known is not None:
            known.left = time.monotonic()

    def remove(self, session: str) -> None:
        """Forget a session and stop its work."""
        gone = self._sessions.pop(session, None)
        if gone is not None and gone.job is not None:
            gone.job.cancel()

    def expire(self) -> None:
        """Forget sessions unused for too long, and soon those whose tab was closed; their work ends sooner."""
        now = time.monotonic()
        for session in list(self._sessions.values()):
            absent_s = 0.0 if session.left is None else now - session.left
            if absent_s > _AWAY_S and session.job is not None:
                session.job.cancel()
            if absent_s > _GONE_S or session.seen < now - self._limits.session_s:
                self.remove(session.id)

    def check_room(self, session: Session, n_more: int) -> None:
        """Raise unless so many more bytes can be kept for a session; the oldest moments and closed tabs give way."""
        while session.n_bytes + n_more > self._limits.session_bytes and session.history.forget_oldest():
            pass
        if session.n_bytes + n_more > self._limits.session_bytes:
            raise TooLarge(f"this tab would keep more than {self._limits.session_bytes / 1e6:.4g} MB; load less.")
        while sum(s.n_bytes for s in self._sessions.values()) + n_more > self._limits.total_bytes:
            left = self._oldest_left()
            if left is None:
                raise RequestError(f"all tabs keep {self._limits.total_bytes / 1e6:.4g} MB, the most; close some.", 503)
            self.remove(left.id)

    def _oldest_left(self) -> Session | None:
        return next((session for session in self._sessions.values() if session.left is not None), None)
