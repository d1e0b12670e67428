"""One line of moments for everything a tab does: undo and redo move along it, and nothing that was shown is lost.

A moment refers to the tables, clusterings and gestures of its time; these never change, so that many moments share
them and take little memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_MOST = 200


@dataclass(frozen=True, eq=False)
class Moment:
    """How everything stood after an action.

    Attributes
    ----------
    what : str
        The action, in the user's words.
    state : dict
        What the session held.
    page : dict
        What the page showed.
    """

    what: str
    state: dict[str, Any]
    page: dict[str, Any]

    def holds(self) -> Iterable[Any]:
        """Everything in it that takes memory."""
        yield self.state["table"]
        yield self.state["photo"]
        yield from self.state["steps"]
        yield from self.state["runs"].values()
        yield from self.state["corrections"]


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
        del self.moments[:-_MOST]
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
