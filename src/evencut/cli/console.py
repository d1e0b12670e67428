"""What a command tells the person who runs it, always on standard error: progress, warnings, errors, a last word.

A terminal shows a step as it begins; a pipe or a log gets a line once a step has taken two seconds. Standard output
stays free for data. Raise `UserError` for what the user has to change: `main` turns it into one line and exit code 2.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from evencut._runtime import one_line

# Options that the library names as Python spells them.
_OPTION = re.compile(
    r"\b(columns|drop|key|header|missing|decimal|encoding|label_column)=(?:'([^']*)'|\"([^\"]*)\"|(True|False))?"
    r"|\b(m(?:in|ax)_size)(?:=(\w+))?"
)

# A shorter step gets no line.
_SLOW_SECONDS = 2.0

# Then another line whenever the time has grown by so much.
_GROWTH = 3.0
_LONGEST_SILENCE = 60.0


class UserError(Exception):
    """A mistake in what the user gave; the message names the value, the limit and the cure."""


def check_name(option: str, value: str, known: Iterable[str]) -> None:
    """Raise a `UserError` unless `value` is one of the names `option` takes.

    Examples
    --------
    >>> check_name("--kernel", "knm", ["knn", "gaussian"])
    Traceback (most recent call last):
    evencut.cli.console.UserError: --kernel knm is not known; did you mean knn? It takes one of: gaussian, knn.
    """
    known = sorted(known)
    if value not in known:
        close = get_close_matches(value, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise UserError(f"{option} {value} is not known{hint} It takes one of: {', '.join(known)}.")


@contextmanager
def as_user_errors() -> Iterator[None]:
    """Turn what the library says about bad data or parameters into a `UserError`."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UserError(as_options(error)) from error
    except MemoryError as error:
        raise UserError(
            f"there is not enough memory for this ({one_line(error)}); use fewer points, or a sparse kernel like knn."
        ) from error


def as_options(error: Exception) -> str:
    """What is wrong with a file or a parameter, with options as on the command line.

    Examples
    --------
    >>> as_options(ValueError("columns='z' is not there; say header=False, or choose others with columns=."))
    '--columns z is not there; say --no-header, or choose others with --columns.'
    >>> as_options(ValueError("min_size=9 is too much; lower min_size."))
    '--min-size 9 is too much; lower --min-size.'
    """

    def option(match: re.Match[str]) -> str:
        name, value = (match[1] or match[5]).replace("_", "-"), match[2] or match[3] or match[6]
        return f"--no-{name}" if match[4] == "False" else f"--{name} {value}" if value else f"--{name}"

    return _OPTION.sub(option, one_line(error))


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
    if not _is_terminal():
        with _lines() as step:
            yield step
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    name_of_step = TextColumn("{task.description}", markup=False)
    with _moving(SpinnerColumn(), name_of_step, TimeElapsedColumn()) as shown:
        task = shown.add_task("starting", total=None)

        yield lambda name: shown.reset(task, description=name, total=None)


@contextmanager
def counted(name: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a bar that fills up; gives a function that takes one step.

    Examples
    --------
    >>> with counted("labelling", total=2) as advance:
    ...     advance()
    """

    def advance() -> None:
        nonlocal done
        done += 1

    if not _is_terminal():
        with _lines() as step:
            step(lambda: f"{name}: {done} of {total}")
            yield advance
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with _moving(*columns) as shown:
        task = shown.add_task(name, total=total, completed=done)
        yield lambda: shown.advance(task)


def _moving(*columns: Any) -> Any:
    """A line on the terminal that changes, and goes when all is done."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True)


def _is_terminal() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr.isatty() or bool(os.environ.get("FORCE_COLOR"))


@contextmanager
def _lines() -> Iterator[Callable[[str | Callable[[], str]], None]]:
    """A line for each step that takes long, from its own thread, and more lines the longer it takes."""
    steps: list[tuple[str | Callable[[], str], float]] = []
    over = threading.Event()

    def watch() -> None:
        last, next_line = None, _SLOW_SECONDS
        while not over.wait(_SLOW_SECONDS / 10):
            if not steps:
                continue
            if steps[-1] is not last:
                last, next_line = steps[-1], _SLOW_SECONDS
            name, begun = last
            passed = time.monotonic() - begun
            if passed >= next_line:
                say(f"{name() if callable(name) else name} ({passed:.0f} s)")
                next_line = passed + min(max(passed * (_GROWTH - 1), _SLOW_SECONDS), _LONGEST_SILENCE)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield lambda name: steps.append((name, time.monotonic()))
    finally:
        over.set()
        thread.join()


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Show warnings without the place in the code that raised them."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        say(f"warning: {one_line(message) if isinstance(message, BaseException) else message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
