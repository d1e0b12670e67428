"""Values of options, read so that a wrong one is named together with what would be right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from evencut.cli.errors import UserError, check_name


def completed(known: Iterable[str]) -> Callable[[str], list[str]]:
    """What a shell offers for an option that takes one of these names.

    Examples
    --------
    >>> completed(["cosine", "euclidean"])("co")
    ['cosine']
    """
    return lambda incomplete: [name for name in known if name.startswith(incomplete)]


def whole_number(option: str, smallest: int, largest: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers for `option`.

    Examples
    --------
    >>> whole_number("-k", 1)("3")
    3
    >>> whole_number("-k", 1)("0")
    Traceback (most recent call last):
    evencut.cli.errors.UserError: -k 0 is out of range; give a whole number of at least 1.
    """
    span = f"at least {smallest}" if largest is None else f"{smallest} to {largest}"

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise UserError(f"{option} {text} is not a whole number; give one of {span}.") from None
        if number < smallest or (largest is not None and number > largest):
            raise UserError(f"{option} {text} is out of range; give a whole number of {span}.")
        return number

    return parse


def whole_number_or_auto(option: str, smallest: int) -> Callable[[str], int | str]:
    """A parser of whole numbers for `option` that also takes the word auto.

    Examples
    --------
    >>> whole_number_or_auto("-k", 1)("auto"), whole_number_or_auto("-k", 1)("3")
    ('auto', 3)
    """
    number = whole_number(option, smallest)
    return lambda text: text if text == "auto" else number(text)


def number_or_name(text: str) -> float | str:
    """A number where the text is one, the text itself otherwise.

    Examples
    --------
    >>> number_or_name("0.5"), number_or_name("scott")
    (0.5, 'scott')
    """
    try:
        return float(text)
    except ValueError:
        return text


def names(known: Iterable[str]) -> str:
    """The names an option takes, for its help line.

    Examples
    --------
    >>> names(["knn", "gaussian"])
    'knn or gaussian.'
    """
    *most, last = known
    return f"{', '.join(most)} or {last}."


def one_of(option: str, before: str, known: Iterable[str], after: str = "", metavar: str = "TEXT") -> Any:
    """An option that takes one of some names, which its help line lists and a shell completes."""

    def parse(text: str) -> str:
        check_name(option, text, known)
        return text

    return typer.Option(
        parser=parse, metavar=metavar, help=before + names(known) + after, autocompletion=completed(known)
    )


def number_of(option: str, smallest: int, about: str, largest: int | None = None, metavar: str = "N") -> Any:
    """An option that takes a whole number."""
    return typer.Option(parser=whole_number(option, smallest, largest), metavar=metavar, help=about)


Seed = Annotated[int, number_of("--seed", 0, "The same seed gives the same result.", 2**32 - 1)]
