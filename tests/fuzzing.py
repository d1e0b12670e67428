"""How many examples the fuzz tests draw, and the watch that no example hangs.

A usual run draws 600 in all; the nightly one, `EVENCUT_FUZZ=20000 pytest tests/test_fuzz*.py`, 20 000.
"""

from __future__ import annotations

import faulthandler
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

__all__ = ["bounded", "fuzz"]

_USUAL = 600
#: Far beyond what any example needs on a busy machine: what takes longer hangs.
_MOST_SECONDS = 300


def fuzz(usual: int) -> settings:
    """The settings of a test that draws `usual` examples of the 600 of a usual run, and its share of more."""
    total = int(os.environ.get("EVENCUT_FUZZ", _USUAL))
    examples = max(1, round(usual * total / _USUAL))
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


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
