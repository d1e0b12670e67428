"""From the columns of a file to a matrix of finite numbers: words become columns of 0 and 1, missing values go.

What was done is kept in a `Preparation`, so that another file can be made numbers in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import Column
from .errors import TableError, some

__all__ = ["MISSING", "Frame", "Preparation", "Table", "column_unit", "prepare"]

#: What may be done about missing values.
MISSING = ("error", "drop", "mean")

# More different words than this are names, not categories.
_MOST_CATEGORIES = 50


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns as they stand in a file.

    Parameters
    ----------
    source : str
        What messages call the file.
    columns : list of Column
    matrix : ndarray, optional
        All columns in one array, where the file holds it so.
    lines : sequence of int, optional
        The line of each row, in a text file.
    has_header : bool
        Whether the columns have names of their own.
    notices : tuple of str
        What was done on the way to columns, to be told.
    """

    source: str
    columns: list[Column]
    matrix: NDArray[np.floating] | None = None
    lines: Sequence[int] | None = None
    has_header: bool = True
    notices: tuple[str, ...] = ()

    def place(self, row: int, name: str) -> str:
        """Where a value stands, for messages."""
        where = f", line {self.lines[row]}," if self.lines is not None else f": row {row + 1},"
        return f"{self.source}{where} column {name!r}"


@dataclass(frozen=True)
class Preparation:
    """How the columns of a file became numbers.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns used.
    categories : dict
        The words of each column of words, each a column of 0 and 1.
    means : tuple of float
        The mean of each column of the matrix, where missing values are filled with it.
    missing : {"error", "drop", "mean"}
    """

    columns: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    means: tuple[float, ...] | None = None
    missing: str = "error"


@dataclass(frozen=True, eq=False)
class Table:
    """Points read from a file.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_columns)
        The numbers, all finite.
    columns : list of str
        The names of the columns; "column 1", "column 2", ... where the file has none.
    rows : ndarray of shape (n_points,)
        The row of the file each point comes from.
    n_rows : int
        Number of rows in the file.
    preparation : Preparation
    notices : tuple of str
        What was done to the file on the way, to be told.
    """

    values: NDArray[np.floating]
    columns: list[str]
    rows: NDArray[np.intp]
    n_rows: int
    preparation: Preparation
    notices: tuple[str, ...] = ()

    def for_all_rows(self, labels: NDArray[np.integer]) -> NDArray[np.integer]:
        """One label for each row of the file; -1 where the row was left out.

        Examples
        --------
        >>> import numpy as np
        >>> table = Table(np.zeros((2, 1)), ["x"], np.array([0, 2]), 3, Preparation(("x",)))
        >>> table.for_all_rows(np.array([4, 5]))
        array([ 4, -1,  5])
        """
        if len(labels) == self.n_rows:
            return labels
        everywhere = np.full(self.n_rows, -1, dtype=labels.dtype)
        everywhere[self.rows] = labels
        return everywhere


def prepare(frame: Frame, missing: str = "error", like: Preparation | None = None) -> Table:
    """The points of a file as finite numbers.

    Parameters
    ----------
    frame : Frame
    missing : {"error", "drop", "mean"}
        What to do about missing values: refuse them, leave their rows out, or fill them with the mean of their column.
    like : Preparation, optional
        How an earlier file was prepared: the same words and means are used.

    Examples
    --------
    >>> import numpy as np
    >>> city = Column("city", np.full(4, np.nan), {0: "Rome", 1: "Bonn", 2: "Rome", 3: "Bonn"})
    >>> prepare(Frame("people.csv", [city])).columns
    ['city=Bonn', 'city=Rome']
    """
    if missing not in MISSING:
        raise TableError(f"missing={missing!r} is not known; it takes one of {', '.join(MISSING)}.")
    categories: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    parts: list[NDArray[np.floating]] = []
    notices = list(frame.notices)
    known = like.categories if like is not None else {}
    for column in frame.columns:
        if (column.is_category or column.name in known) and not column.refused:
            words = known.get(column.name) or _categories(frame, column)
            categories[column.name] = words
            parts.append(_indicators(column, words))
            names.extend(f"{column.name}={word}" for word in words)
            notices.append(_about_words(column, words))
        else:
            _check_numbers(frame, column)
            parts.append(column.numbers[:, None])
            names.append(column.name)
    matrix = frame.matrix if frame.matrix is not None else np.hstack(parts) if parts else np.empty((0, 0))
    if matrix.size == 0:
        raise TableError(f"{frame.source} is empty: it has {matrix.shape[0]} rows and {matrix.shape[1]} columns.")
    _check_finite(frame, matrix, names)
    values, rows, told = _without_missing(frame, matrix, names, missing, like)
    means = tuple(_means(values).tolist()) if like is None else like.means
    preparation = Preparation(tuple(column.name for column in frame.columns), categories, means, missing)
    notices.extend(told)
    return Table(values, names, rows, len(matrix), preparation, tuple(notices))


def column_unit(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """A power of two near the largest value of each column: sums of values divided by it never overflow.

    Examples
    --------
    >>> column_unit(np.array([[3.0, 0.0], [-5.0, 0.0]]))
    array([4., 1.])
    """
    largest = np.nanmax(np.abs(values), axis=0, initial=0).astype(np.float64)
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def _means(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Means of the columns, over what is not missing."""
    unit = column_unit(values)
    return np.nanmean(values / unit, axis=0, dtype=np.float64) * unit


def _categories(frame: Frame, column: Column) -> tuple[str, ...]:
    """The different words of a column, sorted; names of single rows are no categories."""
    words = sorted(set(column.words.values()))
    if len(words) > min(_MOST_CATEGORIES, len(column.words) // 2):
        raise _text_where_a_number_should_be(frame, column, f" ({len(words)} different words: names, not categories)")
    return tuple(words)


def _about_words(column: Column, words: tuple[str, ...]) -> str:
    """What to tell about a column of words."""
    strange = sorted(set(column.words.values()) - set(words))
    told = f"column {column.name!r} holds words and became {len(words)} columns of 0 and 1: {some(list(words))}"
    return told + (f"; {some(strange)} were not met before and are none of them" if strange else "")


def _indicators(column: Column, words: tuple[str, ...]) -> NDArray[np.float64]:
    """One column a word, 1 where a row has it; a word not met before is in none of them, a missing one is NaN."""
    place = {word: i for i, word in enumerate(words)}
    table = np.full((len(column.numbers), len(words)), np.nan)
    for row, word in column.words.items():
        table[row] = 0.0
        if word in place:
            table[row, place[word]] = 1.0
    return table


def _check_numbers(frame: Frame, column: Column) -> None:
    if column.refused:
        raise TableError(f"{frame.source}: column {column.name!r} {column.refused}; choose others with columns=.")
    if column.words:
        raise _text_where_a_number_should_be(frame, column)
    if column.mixed_marks is not None:
        comma, point = column.mixed_marks
        raise TableError(
            f"{frame.place(comma, column.name)} has a decimal comma, but row {point + 1} has a point; say which is "
            'meant with decimal="," or decimal=".".'
        )


def _text_where_a_number_should_be(frame: Frame, column: Column, why: str = "") -> TableError:
    row = min(column.words)
    cell = column.words[row]
    hints = ["choose other columns with columns="]
    if not frame.has_header:
        hints.append("say header=True if line 1 names the columns")
    if cell.count(",") == 1 and cell.replace(",", "").strip("+-").isdecimal():
        hints.append('say decimal="," if the comma is a decimal one')
    return TableError(
        f"{frame.place(row, column.name)} is text ({cell[:40]!r}), not a number{why}; {', or '.join(hints)}."
    )


def _check_finite(frame: Frame, matrix: NDArray[Any], names: list[str]) -> None:
    infinite = np.isinf(matrix)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise TableError(
            f"{frame.place(int(row), names[column])} is {matrix[row, column]} ({infinite.sum()} such values); "
            "give finite numbers, or leave those rows out."
        )


def _without_missing(
    frame: Frame, matrix: NDArray[Any], names: list[str], missing: str, like: Preparation | None
) -> tuple[NDArray[Any], NDArray[np.intp], list[str]]:
    """The matrix without NaN, the rows left of it, and what to tell about it."""
    every = np.arange(len(matrix))
    gaps = np.isnan(matrix)
    if not gaps.any():
        return matrix, every, []
    lacking = gaps.any(axis=1)
    empty = gaps.all(axis=0)
    if empty.any() and (missing == "drop" or like is None):
        name = names[int(empty.argmax())]
        raise TableError(f"{frame.source}: column {name!r} has no values at all; choose others with columns=.")
    where = some([repr(names[i]) for i in np.flatnonzero(gaps.any(axis=0))])
    if missing == "error":
        row, column = np.argwhere(gaps)[0]
        raise TableError(
            f"{frame.place(int(row), names[column])} is missing ({lacking.sum()} of {len(matrix)} rows lack values); "
            'leave those rows out with missing="drop", or fill them with the mean of their column with '
            'missing="mean".'
        )
    if missing == "drop":
        if lacking.all():
            raise TableError(
                f"{frame.source}: every row lacks values, in columns {where}; choose other columns with columns=, or "
                'fill them with missing="mean".'
            )
        told = f"{lacking.sum()} of {len(matrix)} rows lack values in {where} and are left out"
        return matrix[~lacking], np.flatnonzero(~lacking), [told]
    filled = matrix.astype(matrix.dtype, copy=True)
    means = _means(matrix) if like is None or like.means is None else np.asarray(like.means)
    for column in np.flatnonzero(gaps.any(axis=0)):
        filled[gaps[:, column], column] = means[column]
    told = f"{gaps.sum()} missing values in {lacking.sum()} of {len(matrix)} rows became the mean of {where}"
    return filled, every, [told]
