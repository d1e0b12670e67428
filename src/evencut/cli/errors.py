"""What a command raises when the user, not the program, has to change something.

`main` turns it into one line on standard error and exit code 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = ["UserError", "check_name", "library_errors_are_the_users", "one_line"]


class UserError(Exception):
    """A mistake in what the user gave; the message names the value, the limit and the cure."""


def check_name(option: str, value: str, known: Iterable[str]) -> None:
    """Raise a `UserError` unless `value` is one of the names `option` takes.

    Examples
    --------
    >>> check_name("--kernel", "knm", ["knn", "gaussian"])
    Traceback (most recent call last):
    evencut.cli.errors.UserError: --kernel knm is not known; did you mean knn? It takes one of: gaussian, knn.
    """
    known = sorted(known)
    if value not in known:
        close = get_close_matches(value, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise UserError(f"{option} {value} is not known{hint} It takes one of: {', '.join(known)}.")


@contextmanager
def library_errors_are_the_users() -> Iterator[None]:
    """Turn what the library says about bad data or parameters into a `UserError`."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UserError(one_line(error)) from error
    except MemoryError as error:
        raise UserError(
            f"there is not enough memory for this ({one_line(error)}); use fewer points, or a sparse kernel like knn."
        ) from error


def one_line(error: BaseException) -> str:
    """The message of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__
