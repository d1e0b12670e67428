"""What a command tells the person who runs it, always on standard error: progress, warnings, a last word.

Progress is shown on a terminal only; standard output stays free for data.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from evencut.cli.errors import one_line

__all__ = ["counted", "progress", "say", "warnings_in_one_line"]


def say(message: str) -> None:
    """Print one line on standard error."""
    print(f"evencut: {message}", file=sys.stderr, flush=True)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show what is being done, and for how long; gives a function that takes the next step's name.

    Examples
    --------
    >>> with progress() as step:
    ...     step("reading points.csv")
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name: None
        return
    shown = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with shown:
        task = shown.add_task("starting", total=None)

        def step(name: str) -> None:
            shown.reset(task, description=name, total=None)

        yield step


@contextmanager
def counted(name: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a bar that fills up; gives a function that takes one step.

    Examples
    --------
    >>> with counted("labelling", total=2) as advance:
    ...     advance()
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(name, total=total, completed=done)
        yield lambda: shown.advance(task)


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Show warnings without the place in the code that raised them."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        say(f"warning: {one_line(message) if isinstance(message, BaseException) else message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
