"""Several files as one table: the same columns, found by name, one file below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from .._runtime import some
from .arrays import column_names
from .cells import Column
from .errors import TableError
from .preparation import Frame


def joined(frames: Sequence[Frame]) -> Frame:
    """One frame of the rows of several.

    Parameters
    ----------
    frames : sequence of Frame
        With the same columns, in any order; columns without names of their own are taken in theirs.

    Examples
    --------
    >>> one = Frame("a.csv", [Column("x", np.array([1.0]))])
    >>> other = Frame("b.csv", [Column("x", np.array([2.0]))])
    >>> both = joined([one, other])
    >>> both.columns[0].numbers, both.place(1, "x")
    (array([1., 2.]), "b.csv: row 1, column 'x'")
    """
    first = frames[0]
    if len(frames) == 1:
        return first
    names = [column.name for column in first.columns]
    aligned = []
    for frame in frames:
        places = places_of_columns([column.name for column in frame.columns], names, frame.source, first.source)
        aligned.append([frame.columns[place] for place in places])
    starts = [0, *accumulate(len(columns[0].numbers) for columns in aligned[:-1])]
    columns = [_stacked(parts, starts) for parts in zip(*aligned)]
    notices = tuple(dict.fromkeys(notice for frame in frames for notice in frame.notices))
    has_header = all(frame.has_header for frame in frames)
    name = f"{first.source} and {len(frames) - 1} more"
    return Frame(name, columns, has_header=has_header, notices=notices, parts=(*frames,))


def places_of_columns(names: Sequence[str], wanted: Sequence[str], source: str, first: str) -> list[int]:
    """Where the columns of the first file stand in another one; a `TableError` where it has others.

    Examples
    --------
    >>> places_of_columns(["y", "x"], ["x", "y"], "b.csv", "a.csv")
    [1, 0]
    """
    unnamed = list(names) == column_names(len(wanted)) or list(wanted) == column_names(len(names))
    if unnamed and len(names) == len(wanted):
        return list(range(len(names)))
    lacking = [name for name in wanted if name not in names]
    extra = [name for name in names if name not in wanted]
    if lacking or extra:
        told = [f"lacks {some(lacking)}"] * bool(lacking) + [f"has {some(extra)} besides"] * bool(extra)
        raise TableError(
            f"{source} has other columns than {first}: it {' and '.join(told)}; give files with the same columns, or "
            "choose some that all have with columns=."
        )
    return [list(names).index(name) for name in wanted]


def _stacked(parts: Sequence[Column], starts: Sequence[int]) -> Column:
    """A column of all files; words and faults keep their rows."""
    words = {start + row: word for part, start in zip(parts, starts) for row, word in part.words.items()}
    refused = next((part.refused for part in parts if part.refused), None)
    mixed = next(
        ((start + part.mixed_marks[0], start + part.mixed_marks[1]) for part, start in zip(parts, starts)
         if part.mixed_marks is not None),
        None,
    )  # fmt: skip
    units = {part.unit for part in parts}
    numbers = np.concatenate([part.numbers for part in parts])
    whole = Column.of_words(parts[0].name, words, numbers)
    return replace(whole, refused=refused, mixed_marks=mixed, unit=units.pop() if len(units) == 1 else None)
