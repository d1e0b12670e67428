"""CPU seconds by step of the work, as results report them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Adds up the CPU seconds of named steps.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock("rounds"):
    ...     pass
    >>> list(clock.seconds)
    ['rounds']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Count the block as part of `step`."""
        begin = time.process_time()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.process_time() - begin
