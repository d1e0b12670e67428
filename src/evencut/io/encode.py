"""From the columns of a table to a matrix of finite numbers: words become columns of 0 and 1, missing values go.

Where numbers stand beside words or dates, they are divided by their standard deviation: no column counts for its unit.
What was done is kept in a `Preparation`, so that another table can be made numbers in the same way.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import counted, some
from ..tensors import AnyFloats, AnyInts, Floats, Mask, Places
from .columns import Column, Frame, check_numbers, column_names, date_order, dated, holds_commas, text_error
from .files import TableError

#: What may be done about missing values.
MISSING = ("error", "drop", "mean", "neighbors")

#: What was done about them, in words.
FILLED = {
    "mean": "filled with the mean",
    "drop": "left out with their rows",
    "neighbors": "filled from the nearest rows",
}

# Gaps are filled from so many rows, among at most so many that are kept.
_DONORS_ASKED = 10
_MOST_DONORS = 2000

# More different words than this are names, not categories.
_MOST_CATEGORIES = 50

# A shorter run of whole numbers may be a measurement.
_SHORTEST_IDENTIFIER = 10
_IDENTIFIER = re.compile(r"(.*[\W_])?(id|key|index)", re.IGNORECASE)


def column_unit(values: AnyFloats) -> Floats:
    """A power of two near the largest value of each column: sums of values divided by it never overflow.

    Examples
    --------
    >>> column_unit(np.array([[3.0, 0.0], [-5.0, 0.0]]))
    array([4., 1.])
    """
    largest = np.nanmax(np.abs(values), axis=0, initial=0).astype(np.float64)
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def column_means(values: AnyFloats) -> Floats:
    """Means of the columns, over what is not missing.

    Examples
    --------
    >>> column_means(np.array([[1.0], [np.nan], [3.0]]))
    array([2.])
    """
    unit = column_unit(values)
    return np.nanmean(values / unit, axis=0, dtype=np.float64) * unit


def donor_rows(matrix: AnyFloats, missing: str) -> Floats | None:
    """Rows to fill gaps from: those that lack least, spread over the table.

    Examples
    --------
    >>> donor_rows(np.array([[1.0], [2.0]]), "neighbors").shape
    (2, 1)
    """
    if missing != "neighbors":
        return None
    lacking = np.isnan(matrix).sum(axis=1)
    order = np.argsort(lacking, kind="stable")[: max(_MOST_DONORS, int((lacking == 0).sum()))]
    chosen = np.sort(order[np.linspace(0, len(order) - 1, min(len(order), _MOST_DONORS)).astype(int)])
    return matrix[chosen].astype(np.float64)


def filled_rows(X: AnyFloats, donors: Floats | None = None) -> tuple[AnyFloats, tuple[str, ...]]:
    """An array without missing values, filled from the nearest rows of it or of `donors`, and what was done.

    Examples
    --------
    >>> import numpy as np
    >>> filled_rows(np.array([[0.0, 1.0], [0.1, np.nan], [9.0, 5.0]]))[1]
    ('1 missing value in 1 of 3 rows was filled from the nearest rows',)
    """
    names = column_names(X.shape[1])
    frame = Frame("X", [Column(name, values) for name, values in zip(names, X.T)], is_file=False)
    like = None if donors is None else Preparation(tuple(names))
    donors = donor_rows(X, "neighbors") if donors is None else donors
    values, _, messages = without_gaps(frame, X, names, "neighbors", like, donors)
    return values.astype(X.dtype, copy=False), tuple(messages)


def without_gaps(
    frame: Any, matrix: NDArray[Any], names: list[str], missing: str, like: Any, donors: Floats | None
) -> tuple[NDArray[Any], Places, list[str]]:
    """The matrix without NaN, the rows left of it, and what to tell about it.

    Parameters
    ----------
    frame : Frame
    matrix : ndarray of shape (n_rows, n_columns)
    names : list of str
        Of its columns.
    missing : str
        One of `MISSING`.
    like : Preparation, optional
    donors : ndarray, optional
        As :func:`donor_rows` gives them.
    """
    every = np.arange(len(matrix))
    gaps = np.isnan(matrix)
    if not gaps.any():
        return matrix, every, []
    blank = gaps.all(axis=1)
    if blank.any() and not frame.is_file:
        raise TableError(
            f"{frame.row_place(int(blank.argmax()))} has no values at all, only NaN "
            f'({counted(blank.sum(), "such row")}); leave such rows out, for example with X.dropna(how="all").'
        )
    if blank.any() and not blank.all() and missing in ("mean", "neighbors"):
        values, rows, messages = without_gaps(frame, matrix[~blank], names, missing, like, donors)
        n_blank = f"{blank.sum()} of {len(matrix)} rows have no values at all and are left out (label -1)"
        return values, every[~blank][rows], [n_blank, *messages]
    lacking = gaps.any(axis=1)
    empty = gaps.all(axis=0)
    if empty.any() and (missing == "drop" or like is None):
        name = names[int(empty.argmax())]
        raise TableError(f"{frame.source}: column {name!r} has no values at all; {frame.leave_out('others', name)}.")
    where = some([repr(names[i]) for i in np.flatnonzero(gaps.any(axis=0))])
    if missing == "error":
        row, column = np.argwhere(gaps)[0]
        raise TableError(
            f"{frame.place(int(row), names[column])} is missing ({lacking.sum()} of {len(matrix)} rows lack values); "
            'leave those rows out with missing="drop", or fill in values with missing="mean" (the mean of the column) '
            'or missing="neighbors" (the mean of the ten nearest rows).'
        )
    if missing == "drop":
        if lacking.all():
            raise TableError(
                f"{frame.source}: every row lacks values, in columns {where}; choose other columns with columns=, or "
                'fill in values with missing="mean" or missing="neighbors".'
            )
        message = f"{lacking.sum()} of {len(matrix)} rows lack values in {where} and are left out"
        return matrix[~lacking], np.flatnonzero(~lacking), [message]
    if missing == "neighbors" and donors is not None:
        message = f"{_missing_values(gaps, lacking)} filled from the nearest rows"
        return _filled_from(donors, matrix, lacking), every, [message]
    filled = matrix.astype(matrix.dtype, copy=True)
    means = column_means(matrix) if like is None or like.means is None else np.asarray(like.means)
    for column in np.flatnonzero(gaps.any(axis=0)):
        filled[gaps[:, column], column] = means[column]
    message = f"{_missing_values(gaps, lacking)} filled with the mean of {where}"
    return filled, every, [message]


def _missing_values(gaps: Mask, lacking: Mask) -> str:
    """How many values are missing, and the verb that goes with it."""
    were = "was" if gaps.sum() == 1 else "were"
    return f"{counted(gaps.sum(), 'missing value')} in {lacking.sum()} of {len(gaps)} rows {were}"


def _filled_from(donors: Floats, matrix: NDArray[Any], lacking: Mask) -> Floats:
    """Gaps filled with the mean of the rows that are nearest, compared over the columns that both have."""
    from sklearn.impute import KNNImputer

    filled = np.array(matrix, dtype=np.float64)
    by_neighbors = KNNImputer(n_neighbors=_DONORS_ASKED, keep_empty_features=True).fit(donors)
    filled[lacking] = by_neighbors.transform(filled[lacking])
    return filled


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
    left_out : tuple of str
        Columns that are not used: names, and row numbers.
    binary : tuple of bool
        For each column of the matrix, whether it has two values: it belongs to a column of words, or had no others.
    date_orders : dict
        "day/month" or "month/day" for each column of dates such as 03/04/2020.
    """

    columns: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    means: tuple[float, ...] | None = None
    missing: str = "error"
    dates: tuple[str, ...] = ()
    divisors: tuple[float, ...] | None = None
    donors: Floats | None = None
    gaps: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    binary: tuple[bool, ...] = ()
    date_orders: dict[str, str] = field(default_factory=dict)

    def kind_of(self, name: str) -> str:
        """What a column of numbers held, for messages."""
        order = f"{self.date_orders[name]}/year" if name in self.date_orders else "2020-12-31"
        return f"dates ({order})" if name in self.dates else "numbers"

    def __str__(self) -> str:
        lines, place = [], 0
        for name in self.columns:
            words = self.categories.get(name)
            what = "dates, as days" if name in self.dates else "numbers"
            if words is not None:
                what = f"words, {counted(len(words), 'column')} of 0 and 1 ({some(list(words))})"
            if self.divisors is not None and words is None:
                what += f", divided by {self.divisors[place]:.3g}"
            if name in self.gaps:
                what += f"; gaps {FILLED.get(self.missing, 'refused')}"
            lines.append(f"{name}: {what}")
            place += 1 if words is None else len(words)
        lines += [f"{name}: left out" for name in self.left_out]
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
        What was done to the file on the way, in sentences.
    warnings : tuple of str
        Those among them that a user should look at: columns left out, values filled in.
    files : tuple of (str, int)
        Name and number of rows of each file, if there are several.
    """

    values: AnyFloats
    columns: list[str]
    rows: Places
    n_rows: int
    preparation: Preparation
    notices: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()
    warnings: tuple[str, ...] = ()

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
        """The file of each row and its number there, counted from 0; empty for a single file.

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
    columns = list(frame.columns)
    if like is None:
        orders = {column.name: date_order(column) for column in columns if column.is_category}
    else:
        orders = {name: like.date_orders.get(name) for name in like.dates}
    columns = [dated(column, orders.get(column.name)) if column.name in orders else column for column in columns]
    if like is None:
        columns, left_out, unused = _useful_columns(frame, columns)
    else:
        columns, left_out, unused = [c for c in columns if c.name not in like.left_out], like.left_out, []
    matrix, names, categories, messages = _matrix(frame, columns, like)
    if matrix.size == 0:
        raise TableError(f"{frame.source} is empty: it has {matrix.shape[0]} rows and {matrix.shape[1]} columns.")
    _check_finite(frame, matrix, names)
    dates = tuple(column.name for column in columns if column.unit is not None)
    date_orders = {name: order for name in dates if (order := orders.get(name))}
    messages += [f"column {name!r} holds dates, read as {order}/year" for name, order in date_orders.items()]
    binary = np.asarray(like.binary, dtype=bool) if like is not None else binary_columns(matrix)
    divisors = _divisors(matrix, binary, columns, categories, dates) if like is None else like.divisors
    if divisors is not None:
        matrix = matrix / np.asarray(divisors)
        messages += [] if like is not None else ["numbers were divided by their standard deviation"]
    donors = donor_rows(matrix, missing) if like is None else like.donors
    values, rows, filled = without_gaps(frame, matrix, names, missing, like, donors)
    if filled and binary.any() and (like is None or donors is not None):
        # Between its two values a word would be a number, and a rare one would count for more than all others.
        known = (matrix if donors is None else donors)[:, binary]
        low, high = (pick(known, axis=0) for pick in (np.nanmin, np.nanmax))
        values[:, binary] = np.where(values[:, binary] > (low + high) / 2, high, low)
    means = tuple(column_means(values).tolist()) if like is None else like.means
    gaps = tuple(_owners(columns, categories)[place] for place in np.flatnonzero(np.isnan(matrix).any(axis=0)))
    done = Preparation(
        tuple(column.name for column in columns), categories, means, missing, dates, divisors, donors,
        tuple(dict.fromkeys(gaps)), left_out, tuple(binary.tolist()), date_orders,
    )  # fmt: skip
    files = tuple((file.source, file.n_rows) for file in frame.files)
    notices = (*frame.notices, *unused, *messages, *filled)
    return Table(values, names, rows, len(matrix), done, notices, files, (*unused, *filled))


def binary_columns(matrix: AnyFloats) -> Mask:
    """Which columns have exactly two values, whatever these are; missing ones do not count.

    Examples
    --------
    >>> import numpy as np
    >>> binary_columns(np.array([[0.0, 1.0], [7.0, 2.0], [0.0, 3.0]]))
    array([ True, False])
    """
    low, high = np.nanmin(matrix, axis=0, initial=np.inf), np.nanmax(matrix, axis=0, initial=-np.inf)
    return np.asarray((low < high) & ((matrix == low) | (matrix == high) | np.isnan(matrix)).all(axis=0))


def _useful_columns(frame: Frame, columns: list[Column]) -> tuple[list[Column], tuple[str, ...], list[str]]:
    """The columns that may say something about groups, the names of the others, and why they are left out."""
    reasons = {column.name: reason for column in columns if (reason := _why_unused(column))}
    if frame.is_file and (numbers := next(filter(holds_commas, columns), None)):
        raise text_error(frame, numbers)
    used = [column for column in columns if column.name not in reasons]
    if not used and any(column.codes is None for column in columns):
        # A row number is better than nothing.
        used = [column for column in columns if column.codes is None]
        reasons = {column.name: reasons[column.name] for column in columns if column.codes is not None}
    if not used and columns:
        raise text_error(frame, columns[0], f" ({reasons[columns[0].name]})")
    messages = [f"column {name!r} is left out: {reason}" for name, reason in reasons.items()]
    return used, tuple(reasons), messages


def _why_unused(column: Column) -> str | None:
    """Why a column says nothing about groups: its words are names, or its numbers number the rows."""
    if column.refused or column.mixed_marks is not None:
        return None
    if column.is_category:
        n_words, n_present = len(column.names), int(np.sum(np.asarray(column.codes) >= 0))
        if n_words > _most_categories(n_present):
            return f"{n_words} different words in {n_present} rows: names, not categories"
    return "whole numbers that number the rows" if is_identifier(column) else None


def is_identifier(column: Column) -> bool:
    """Whether a column numbers the rows: whole numbers that follow each other in any order, or a key by name.

    Examples
    --------
    >>> import numpy as np
    >>> is_identifier(Column("a", np.arange(20.0) + 1)), is_identifier(Column("a", np.arange(20.0) / 2))
    (True, False)
    """
    values = column.numbers
    if column.codes is not None or column.unit is not None or len(values) < _SHORTEST_IDENTIFIER:
        return False
    low, high = float(values.min()), float(values.max())
    is_named = _IDENTIFIER.fullmatch(column.name) is not None
    if not (high - low == len(values) - 1 or (is_named and np.isfinite(high - low))):
        return False
    return bool((values == np.rint(values)).all()) and len(np.unique(values)) == len(values)


def _most_categories(n_rows: int) -> int:
    """A column with more different words than this holds names."""
    return min(_MOST_CATEGORIES, n_rows // 2)


def as_words(column: Column) -> Column:
    """A column of words and numbers as words: 4, f, r.

    Examples
    --------
    >>> as_words(Column("zip", np.array([7.0, 7.0, np.nan]))).words
    {0: '7', 1: '7'}
    """
    numbers = {row: f"{column.numbers[row]:.12g}" for row in np.flatnonzero(np.isfinite(column.numbers)).tolist()}
    words = dict(sorted({**numbers, **column.words}.items()))
    return Column.of_words(column.name, words, np.full(len(column.numbers), np.nan))


def _mixes_few(column: Column) -> bool:
    """Whether numbers beside words are few enough to be words."""
    known = np.isfinite(column.numbers)
    if not column.names or column.refused or column.mixed_marks is not None or not known.any():
        return False
    n_present = int(known.sum()) + len(column.words)
    return len(column.names) + len(np.unique(column.numbers[known])) <= _most_categories(n_present)


def _matrix(
    frame: Frame, columns: list[Column], like: Preparation | None
) -> tuple[AnyFloats, list[str], dict[str, tuple[str, ...]], list[str]]:
    """All columns as numbers, their names, the words that became columns, and what to tell about them."""
    categories: dict[str, tuple[str, ...]] = {}
    names, parts, notices = list[str](), list[AnyFloats](), list[str]()
    known = like.categories if like is not None else {}
    for column in columns:
        if column.name in known or _mixes_few(column):
            column = as_words(column)
        if (column.name in known or (column.is_category and like is None)) and not column.refused:
            words = known.get(column.name) or tuple(sorted(column.names))
            categories[column.name] = words
            parts.append(indicators(column, words))
            names.extend(f"{column.name}={word}" for word in words)
            notices.append(_about_words(column, words))
        else:
            check_numbers(frame, column, None if like is None else like.kind_of(column.name))
            parts.append(column.numbers[:, None])
            names.append(column.name)
    is_whole = frame.matrix is not None and len(columns) == len(frame.columns)
    matrix = frame.matrix if is_whole else np.hstack(parts) if parts else np.empty((0, 0))
    assert matrix is not None
    return matrix, names, categories, notices


def _owners(columns: list[Column], categories: dict[str, tuple[str, ...]]) -> list[str]:
    """The column of the table that each column of the matrix comes from."""
    return [column.name for column in columns for _ in categories.get(column.name, ("",))]


def _divisors(
    matrix: AnyFloats,
    binary: Mask,
    columns: list[Column],
    categories: dict[str, tuple[str, ...]],
    dates: tuple[str, ...],
) -> tuple[float, ...] | None:
    """What makes columns of different kinds comparable; None if there are neither words nor dates beside others.

    Numbers and dates are divided by their standard deviation; columns of two values become 0 and 1 but for a shift.
    """
    if not (categories or dates) or len(categories) == len(columns):
        return None
    unit = column_unit(matrix)
    with warnings.catch_warnings():
        # A column without any value is refused later, by name.
        warnings.simplefilter("ignore", RuntimeWarning)
        deviation = np.nanstd(matrix / unit, axis=0)
        spread = np.nanmax(matrix / unit, axis=0) - np.nanmin(matrix / unit, axis=0)
    is_word = np.isin(_owners(columns, categories), list(categories))
    divisors = np.where(is_word, 1.0, unit * np.where(binary, spread, deviation))
    return tuple(np.where(divisors > 0, divisors, 1.0).tolist())


def _about_words(column: Column, words: tuple[str, ...]) -> str:
    """What to tell about a column of words."""
    strange = sorted(set(column.names) - set(words))
    made = f"{counted(len(words), 'column')} of 0 and 1: {some(list(words))}"
    message = f"column {column.name!r} holds words and became {made}"
    return message + (f"; {some(strange)} are new and belong to none of them" if strange else "")


def indicators(column: Column, words: tuple[str, ...]) -> Floats:
    """One column for each word, 1 where the row has it; an unknown word is in none, a missing one is NaN."""
    if column.codes is None:
        return np.full((len(column.numbers), len(words)), np.nan)
    rows = [[float(name == word) for word in words] for name in column.names]
    return np.array([*rows, [np.nan] * len(words)])[column.codes]


def _check_finite(frame: Frame, matrix: NDArray[Any], names: list[str]) -> None:
    infinite = np.isinf(matrix)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise TableError(
            f"{frame.place(int(row), names[column])} is {matrix[row, column]} "
            f"({counted(infinite.sum(), 'such value')}); give finite numbers, or leave those rows out."
        )
