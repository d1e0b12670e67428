"""The columns somebody asks for: by name, by number from 1, or as a range of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._runtime import some
from .errors import TableError

_RANGE = re.compile(r"(\d+)-(\d*)")


def choose_columns(asked: Sequence[str] | None, names: Sequence[str], source: str) -> list[int]:
    """Positions of the columns asked for; all of them where none are.

    Parameters
    ----------
    asked : sequence of str or None
        Names, numbers from 1, and ranges of numbers such as `2-5` or `3-`. A name goes before a number.
    names : sequence of str
        The columns there are.
    source : str
        What to call the file in messages.

    Examples
    --------
    >>> choose_columns(["y", "1"], ["x", "y", "z"], "points.csv"), choose_columns(["2-"], ["x", "y", "z"], "points.csv")
    ([1, 0], [1, 2])
    """
    names = list(names)
    if asked is None:
        return list(range(len(names)))
    places: list[int] = []
    for one in (str(word).strip() for word in asked):
        found = _places(one, names)
        if not found:
            raise TableError(
                f"columns={one!r} is not in {source}; it has {some(names, 20)} (or 1 to {len(names)}, or a range "
                "like 2-5)."
            )
        places.extend(found)
    repeated = next((place for place in places if places.count(place) > 1), None)
    if repeated is not None:
        raise TableError(f"columns= names {names[repeated]!r} of {source} twice; name each column once.")
    return places


def choose_one(asked: str | None, names: Sequence[str], source: str) -> int:
    """Position of the column of labels: the one asked for, the only one, or the one called label.

    Examples
    --------
    >>> choose_one(None, ["id", "label"], "labels.csv")
    1
    """
    names = list(names)
    if asked is not None:
        found = _places(asked, names)
        if len(found) != 1:
            raise TableError(f"label_column={asked!r} is not in {source}; it has {some(names, 20)}.")
        return found[0]
    if len(names) == 1:
        return 0
    if "label" in names:
        return names.index("label")
    raise TableError(f"{source} has columns {some(names, 20)}; say which holds the labels with label_column=.")


def _places(asked: str, names: list[str]) -> list[int]:
    if asked in names:
        return [names.index(asked)]
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return [int(asked) - 1]
    if span := _RANGE.fullmatch(asked):
        first, last = int(span[1]), int(span[2] or len(names))
        if 1 <= first <= last <= len(names):
            return list(range(first - 1, last))
    return []
