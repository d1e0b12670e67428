"""From the columns of a table to a matrix of finite numbers: words become columns of 0 and 1, gaps go.

Where numbers stand beside words or dates, all are brought to one scale: no column counts for its unit. What was
done is kept in a `Preparation`, so that another table can be made numbers in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import some
from ..tensors import AnyFloats, AnyInts, Floats, Places
from .cells import Column, dated
from .errors import TableError
from .gaps import FILLED, MISSING, column_means, column_unit, donor_rows, without_gaps

# More different words than this are names, not categories.
_MOST_CATEGORIES = 50
# A column of words counts half: chosen on other draws of the benchmark's tables, among 1, 1.4, 2 and 3.
_OF_WORDS = 2**0.5


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
    is_file : bool
        Whether it was read from a file, where columns are chosen by options.
    unnamed : tuple of str
        Columns to which the header gives no name.
    separator, decimal : str or None
        What separates the cells of a CSV file (None stands for blanks), and its decimal mark.
    parts : tuple of Frame
        The frames it was joined from, where it comes from several files.
    """

    source: str
    columns: list[Column]
    matrix: AnyFloats | None = None
    lines: Sequence[int] | None = None
    has_header: bool = True
    notices: tuple[str, ...] = ()
    is_file: bool = True
    unnamed: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str = "."
    parts: tuple[Frame, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].numbers)

    def place(self, row: int, name: str) -> str:
        """Where a value stands, for messages."""
        for part in self.parts:
            if row < part.n_rows:
                return part.place(row, name)
            row -= part.n_rows
        where = f", line {self.lines[row]}," if self.lines is not None else f": row {row + 1},"
        return f"{self.source}{where} column {name!r}"

    def leave_out(self, others: str = "other columns") -> str:
        """What to do about a column that cannot be used, for messages."""
        return f"choose {others} with columns=" if self.is_file else "leave it out"


@dataclass(frozen=True, eq=False)
class Preparation:
    """How each column of a table became numbers; print it to read it.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns used.
    categories : dict
        The words of each column of words, each a column of 0 and 1.
    means : tuple of float
        The mean of each column of the matrix, where missing values are filled with it.
    missing : {"error", "drop", "mean", "neighbors"}
    dates : tuple of str
        Columns that were dates, and are days since 1970.
    divisors : tuple of float, optional
        What each column of the matrix was divided by, so that numbers, words and dates count alike; none where all
        are of one kind.
    donors : ndarray, optional
        Rows of the matrix that gaps are filled from.
    gaps : tuple of str
        Columns that had gaps.
    """

    columns: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    means: tuple[float, ...] | None = None
    missing: str = "error"
    dates: tuple[str, ...] = ()
    divisors: tuple[float, ...] | None = None
    donors: Floats | None = None
    gaps: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines, place = [], 0
        for name in self.columns:
            words = self.categories.get(name)
            what = "dates, as days" if name in self.dates else "numbers"
            if words is not None:
                what = f"words, {len(words)} columns of 0 and 1 ({some(list(words))})"
            if self.divisors is not None:
                what += f", divided by {self.divisors[place]:.3g}"
            if name in self.gaps:
                what += f"; gaps {FILLED.get(self.missing, 'refused')}"
            lines.append(f"{name}: {what}")
            place += 1 if words is None else len(words)
        return "\n".join(lines)


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
    files : tuple of (str, int)
        Name and number of rows of each file, where there are several.
    """

    values: AnyFloats
    columns: list[str]
    rows: Places
    n_rows: int
    preparation: Preparation
    notices: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    def for_all_rows(self, labels: AnyInts) -> AnyInts:
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

    def origins(self) -> dict[str, NDArray[Any]]:
        """The file of each row and its number there, counted from 0; nothing where there is one file.

        Examples
        --------
        >>> import numpy as np
        >>> files = (("a.csv", 1), ("b.csv", 2))
        >>> Table(np.zeros((3, 1)), ["x"], np.arange(3), 3, Preparation(("x",)), files=files).origins()["row"]
        array([0, 0, 1])
        """
        if not self.files:
            return {}
        names, sizes = zip(*self.files)
        rows = np.concatenate([np.arange(size) for size in sizes])
        return {"file": np.repeat(np.array(names, dtype=object), sizes), "row": rows}


def prepare(frame: Frame, missing: str = "error", like: Preparation | None = None) -> Table:
    """The points of a file as finite numbers.

    Parameters
    ----------
    frame : Frame
    missing : {"error", "drop", "mean", "neighbors"}
        What to do about missing values: refuse them, leave their rows out, or fill them with the mean of their column,
        or with its mean over the ten rows that are nearest in the columns that are there.
    like : Preparation, optional
        How an earlier file was prepared: the same words and means are used.

    Examples
    --------
    >>> import numpy as np
    >>> city = Column("city", np.full(4, np.nan), np.array([0, 1, 0, 1]), ("Rome", "Bonn"))
    >>> prepare(Frame("people.csv", [city])).columns
    ['city=Bonn', 'city=Rome']
    """
    if missing not in MISSING:
        raise TableError(f"missing={missing!r} is not known; it takes one of {', '.join(MISSING)}.")
    columns = [dated(column) for column in frame.columns]
    matrix, names, categories, told = _matrix(frame, columns, like)
    notices = [*frame.notices, *told]
    if matrix.size == 0:
        raise TableError(f"{frame.source} is empty: it has {matrix.shape[0]} rows and {matrix.shape[1]} columns.")
    _check_finite(frame, matrix, names)
    dates = tuple(column.name for column in columns if column.unit is not None)
    divisors = _divisors(matrix, columns, categories, dates) if like is None else like.divisors
    if divisors is not None:
        matrix = matrix / np.asarray(divisors)
        notices += [] if like is not None else ["numbers, words and dates were brought to one scale"]
    donors = donor_rows(matrix, missing) if like is None else like.donors
    values, rows, told = without_gaps(frame, matrix, names, missing, like, donors)
    means = tuple(column_means(values).tolist()) if like is None else like.means
    gaps = tuple(_owners(columns, categories)[place] for place in np.flatnonzero(np.isnan(matrix).any(axis=0)))
    done = Preparation(
        tuple(column.name for column in columns), categories, means, missing, dates, divisors, donors,
        tuple(dict.fromkeys(gaps)),
    )  # fmt: skip
    files = tuple((part.source, part.n_rows) for part in frame.parts)
    return Table(values, names, rows, len(matrix), done, (*notices, *told), files)


def _matrix(
    frame: Frame, columns: list[Column], like: Preparation | None
) -> tuple[AnyFloats, list[str], dict[str, tuple[str, ...]], list[str]]:
    """All columns as numbers, their names, the words that became columns, and what to tell about them."""
    categories: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    parts: list[AnyFloats] = []
    notices = []
    known = like.categories if like is not None else {}
    for column in columns:
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
    return matrix, names, categories, notices


def _owners(columns: list[Column], categories: dict[str, tuple[str, ...]]) -> list[str]:
    """The column of the table that each column of the matrix comes from."""
    return [column.name for column in columns for _ in categories.get(column.name, ("",))]


def _divisors(
    matrix: AnyFloats,
    columns: list[Column],
    categories: dict[str, tuple[str, ...]],
    dates: tuple[str, ...],
) -> tuple[float, ...] | None:
    r"""What makes columns of different kinds count alike; None where all are of one kind.

    Two rows drawn at random are :math:`2 \sigma^2` apart in a column of numbers, squared, and
    :math:`2 (1 - \sum_w p_w^2)` in the columns of its words: each column of the table is divided by the root of half of
    that, and words once more by the root of two. They jump where numbers glide, and would cut a table by themselves.
    """
    kinds = {"word" if c.name in categories else "date" if c.name in dates else "number" for c in columns}
    if len(kinds) < 2:
        return None
    unit = column_unit(matrix)
    there = ~np.isnan(matrix)
    scaled = np.where(there, matrix / unit, 0.0)
    count = np.maximum(there.sum(axis=0), 1)
    variance = ((scaled - scaled.sum(axis=0) / count) ** 2 * there).sum(axis=0) / count
    owners = np.array(_owners(columns, categories))
    # The variances of the columns of 0 and 1 of a column of words, whose unit is 1, add up to 1 - sum of p^2.
    deviation = unit * np.sqrt([variance[owners == name].sum() for name in owners])
    deviation *= np.where(np.isin(owners, list(categories)), _OF_WORDS, 1.0)
    return tuple(np.where(deviation > 0, deviation, 1.0).tolist())


def _categories(frame: Frame, column: Column) -> tuple[str, ...]:
    """The different words of a column, sorted; names of single rows are no categories."""
    assert column.codes is not None
    n_words = len(column.names)
    if n_words > min(_MOST_CATEGORIES, int((column.codes >= 0).sum()) // 2):
        raise _text_where_a_number_should_be(frame, column, f" ({n_words} different words: names, not categories)")
    return tuple(sorted(column.names))


def _about_words(column: Column, words: tuple[str, ...]) -> str:
    """What to tell about a column of words."""
    strange = sorted(set(column.names) - set(words))
    told = f"column {column.name!r} holds words and became {len(words)} columns of 0 and 1: {some(list(words))}"
    return told + (f"; {some(strange)} are new and belong to none of them" if strange else "")


def _indicators(column: Column, words: tuple[str, ...]) -> Floats:
    """One column a word, 1 where a row has it; a word not met before is in none of them, a missing one is NaN."""
    if column.codes is None:
        return np.full((len(column.numbers), len(words)), np.nan)
    rows = [[float(name == word) for word in words] for name in column.names]
    return np.array([*rows, [np.nan] * len(words)])[column.codes]


def _check_numbers(frame: Frame, column: Column) -> None:
    if column.refused:
        raise TableError(f"{frame.source}: column {column.name!r} {column.refused}; {frame.leave_out('others')}.")
    if column.names:
        raise _text_where_a_number_should_be(frame, column)
    if column.mixed_marks is not None:
        comma, point = column.mixed_marks
        raise TableError(
            f"{frame.place(comma, column.name)} has a decimal comma, but row {point + 1} has a point; say which is "
            'meant with decimal="," or decimal=".".'
        )


def _text_where_a_number_should_be(frame: Frame, column: Column, why: str = "") -> TableError:
    assert column.codes is not None
    row = int(np.argmax(column.codes >= 0))
    cell = column.names[column.codes[row]]
    hints = [frame.leave_out()]
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
