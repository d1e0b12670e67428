"""What a command raises when the user, not the program, has to change something.

`main` turns it into one line on standard error and exit code 2; options are named as the command line spells them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from evencut._runtime import one_line
from evencut.io import TableError

# Options that the readers of files name as Python spells them.
_OPTION = re.compile(
    r"\b(columns|key|header|missing|decimal|encoding|label_column)=(?:'([^']*)'|\"([^\"]*)\"|(True|False))?"
)


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
    except TableError as error:
        raise UserError(as_options(error)) from error
    except (ValueError, TypeError) as error:
        raise UserError(one_line(error)) from error
    except MemoryError as error:
        raise UserError(
            f"there is not enough memory for this ({one_line(error)}); use fewer points, or a sparse kernel like knn."
        ) from error


def as_options(error: TableError) -> str:
    """What is wrong with a file, with options as they are typed.

    Examples
    --------
    >>> as_options(TableError("columns='z' is not there; say header=False, or choose others with columns=."))
    '--columns z is not there; say --no-header, or choose others with --columns.'
    """

    def option(match: re.Match[str]) -> str:
        name, value = match[1].replace("_", "-"), match[2] or match[3]
        return f"--no-{name}" if match[4] == "False" else f"--{name} {value}" if value else f"--{name}"

    return _OPTION.sub(option, one_line(error))
