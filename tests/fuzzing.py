"""How many examples the fuzz tests draw, and the watch that no example hangs.

A usual run draws 600 in all, and 300 fits of degenerate tables in child processes; the nightly one,
`EVENCUT_FUZZ=20000 make fuzz BOUNDS=1`, 20 000 and 10 000, in loops that check every index.
"""

from __future__ import annotations

import faulthandler
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

__all__ = ["bounded", "fuzz", "is_nightly", "n_examples"]

_USUAL = 600
#: Far beyond what any example needs on a busy machine: what takes longer hangs.
_MOST_SECONDS = 300


def fuzz(usual: int) -> settings:
    """The settings of a test that draws `usual` examples of the 600 of a usual run, and its share of more."""
    return settings(max_examples=n_examples(usual), deadline=None, suppress_health_check=list(HealthCheck))


def n_examples(usual: int) -> int:
    """`usual` examples, or its share of more."""
    return max(1, round(usual * int(os.environ.get("EVENCUT_FUZZ", _USUAL)) / _USUAL))


def is_nightly() -> bool:
    """Whether more than usual is asked for."""
    return int(os.environ.get("EVENCUT_FUZZ", _USUAL)) > _USUAL


def bounded(test: Callable[..., None]) -> Callable[..., None]:
    """End the process, with the place where it stands, if one example hangs; compiled loops obey nothing gentler."""

    @functools.wraps(test)
    def watched(*arguments: Any, **named: Any) -> None:
        # The descriptor of its own: pytest may have taken the usual one.
        faulthandler.dump_traceback_later(_MOST_SECONDS, exit=True, file=sys.__stderr__)
        try:
            test(*arguments, **named)
        finally:
            faulthandler.cancel_dump_traceback_later()

    return watched
