r"""What a cluster is: its size, its typical rows, and the columns that set it apart from the others.

A column of numbers sets cluster k apart by the difference of means over the deviation inside the clusters, a word by
its share inside against that outside, on the same scale (Cohen's d and h):

.. math:: d = \frac{\bar x_k - \bar x_{\text{others}}}{\sigma}, \qquad
          h = 2 \arcsin \sqrt{p_k} - 2 \arcsin \sqrt{p_{\text{others}}}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..io import prepared_rows
from ..io.columns import Column, column_names
from ..io.encode import indicators
from ..io.in_memory import columns_in_memory, refuse_unread
from ..tensors import Floats, Places

_BARELY = 0.2


@dataclass(frozen=True)
class ColumnEffect:
    """How a column distinguishes a cluster.

    Parameters
    ----------
    column : str
        Its name.
    word : str or None
        The word, where the column holds words.
    effect : float
        Difference between inside and outside in deviations; positive where it is higher, or more frequent, inside.
    inside, outside : float
        Mean of the column, in its own units, or share of the word.
    unit : str or None
        What the numbers count, where that is known.
    """

    column: str
    word: str | None
    effect: float
    inside: float
    outside: float
    unit: str | None = None

    def __str__(self) -> str:
        if self.word is not None:
            return f"{self.column} is {self.word} in {self.inside:.0%} (others {self.outside:.0%})"
        direction = "higher" if self.effect > 0 else "lower"
        inside, outside = (_shown(value, self.unit) for value in (self.inside, self.outside))
        return f"{self.column} {direction}: {inside} (others {outside})"


@dataclass(frozen=True)
class ClusterDescription:
    """Description of one cluster.

    Parameters
    ----------
    label : object
    size : int
        Number of rows.
    share : float
        Of all rows, those without a cluster included.
    typical : tuple of int
        Places of its most typical rows.
    effects : tuple of ColumnEffect
        What sets it apart, largest effect first.
    """

    label: Any
    size: int
    share: float
    typical: tuple[int, ...]
    effects: tuple[ColumnEffect, ...]

    def __str__(self) -> str:
        typical = ", ".join(map(str, self.typical))
        lines = [f"cluster {self.label}: {self.size} rows ({self.share:.0%}); typical rows {typical}"]
        return "\n".join(lines + [f"  {effect}" for effect in self.effects])


@dataclass(frozen=True)
class Description:
    """Description of all clusters of a table; print it to read it.

    Parameters
    ----------
    clusters : tuple of ClusterDescription
        In the order of their labels.
    """

    clusters: tuple[ClusterDescription, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.clusters))

    def to_frame(self) -> Any:
        """The effects as a pandas frame, one row a cluster and column: what to sort, filter and save.

        Examples
        --------
        >>> import pandas as pd
        >>> X = pd.DataFrame({"height": [1.6, 1.7, 2.6, 2.7], "city": ["Rome", "Rome", "Bonn", "Bonn"]})
        >>> describe(X, [0, 0, 1, 1]).to_frame()[["cluster", "column", "word"]].head(2).to_numpy().tolist()
        [[0, 'height', None], [0, 'city', 'Rome']]
        """
        import pandas as pd

        frame = pd.DataFrame(self.to_columns())
        return frame.astype({"word": object}).where(frame.notna(), None)

    def to_columns(self) -> dict[str, list[Any]]:
        """The same as lists by name, without pandas.

        Examples
        --------
        >>> describe([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).to_columns()["inside"]
        [0.5, 5.5]
        """
        rows = [(cluster, effect) for cluster in self.clusters for effect in cluster.effects]
        sizes = {"cluster": [cluster.label for cluster, _ in rows], "size": [cluster.size for cluster, _ in rows]}
        names = ("column", "word", "effect", "inside", "outside")
        return sizes | {name: [getattr(effect, name) for _, effect in rows] for name in names}


def describe(
    X: Any,
    labels: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    n_columns: int = 5,
    n_rows: int = 3,
    typical: dict[Any, Sequence[int]] | None = None,
) -> Description:
    """Describe each cluster of a table: its size, typical rows, and the columns that distinguish it.

    Parameters
    ----------
    X : frame, array, sparse matrix or list of shape (n_samples, n_features)
        The table in its own units, with numbers, words, truth values, dates and missing values: not scaled or encoded.
    labels : array of shape (n_samples,)
        Clusters from any tool; -1 marks noise, which is described by no cluster but counts among the others.
    names : sequence of str, optional
        Names of the columns, if the table has none; "column 1" and so on by default.
    n_columns : int
        Maximum number of columns or words for each cluster. Effects below 0.2 standard deviations are omitted.
    n_rows : int
        Maximum number of typical rows for each cluster.
    typical : dict, optional
        Typical rows by label; by default those nearest to the centre of their cluster. A fitted model's `describe`
        uses the medoids of its affinity.

    Returns
    -------
    Description

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"height": [1, 2, 3, 5, 6, 7], "city": ["Rome"] * 3 + ["Bonn"] * 3})
    >>> print(describe(X, [0, 0, 0, 1, 1, 1], n_rows=1, n_columns=2))
    cluster 0: 3 rows (50%); typical rows 1
      height lower: 2 (others 6)
      city is Rome in 100% (others 0%)
    cluster 1: 3 rows (50%); typical rows 4
      height higher: 6 (others 2)
      city is Bonn in 100% (others 0%)
    """
    for name, value in (("n_columns", n_columns), ("n_rows", n_rows)):
        if value < 1:
            raise ValueError(f"{name}={value} must be at least 1.")
    measured = _measured(X, names)
    labels, n_total = np.asarray(labels), measured.rows.shape[0]
    if labels.shape != (n_total,):
        raise ValueError(f"labels have shape {labels.shape}, but there are {n_total} rows; give one for each.")
    clusters, codes = np.unique(labels, return_inverse=True)
    # One cluster has no others to be compared with.
    effects = measured.effects(codes, len(clusters)) if len(clusters) > 1 else [[]]
    descriptions = []
    for k, label in enumerate(clusters.tolist()):
        if label == -1:
            continue
        members = np.flatnonzero(codes == k)
        medoids = measured.nearest_to_middle(members, n_rows) if typical is None else typical[label][:n_rows]
        best = sorted(effects[k], key=lambda effect: -abs(effect.effect))[:n_columns]
        size, typical_rows = len(members), tuple(map(int, medoids))
        descriptions.append(ClusterDescription(label, size, size / n_total, typical_rows, tuple(best)))
    return Description(tuple(descriptions))


def contrasts(rows: Any, codes: Places, n_clusters: int) -> tuple[Floats, Floats]:
    """Means of the columns inside and outside of each cluster, over the values that are there.

    Parameters
    ----------
    rows : ndarray or sparse array of shape (n, n_columns)
    codes : ndarray of shape (n,)
        Clusters from 0.
    n_clusters : int

    Examples
    --------
    >>> import numpy as np
    >>> inside, outside = contrasts(np.array([[1.0], [3.0], [np.nan], [8.0]]), np.array([0, 0, 1, 1]), 2)
    >>> inside.ravel(), outside.ravel()
    (array([2., 8.]), array([8., 2.]))
    """
    place = (codes, np.arange(len(codes)))
    members = sparse.csr_array((np.ones(len(codes)), place), shape=(n_clusters, len(codes)))
    if sparse.issparse(rows):
        sums = sparse.csr_array(members @ rows).toarray()
        counts = np.repeat(np.bincount(codes, minlength=n_clusters)[:, None], rows.shape[1], axis=1)
    else:
        is_known = ~np.isnan(rows)
        sums, counts = members @ np.where(is_known, rows, 0.0), members @ is_known.astype(np.float64)
    outside, n_outside = sums.sum(axis=0) - sums, counts.sum(axis=0) - counts
    return sums / np.maximum(counts, 1), outside / np.maximum(n_outside, 1)


@dataclass(frozen=True, eq=False)
class _Measured:
    """A table as columns of numbers and of the shares of words, and what each of them is."""

    rows: Any
    column: list[str]
    word: list[str | None]
    unit: list[str | None]

    def effects(self, codes: Places, n_clusters: int) -> list[list[ColumnEffect]]:
        inside, outside = contrasts(self.rows, codes, n_clusters)
        deviations = _deviations(self.rows, codes, inside)
        size = (inside - outside) / np.where(deviations > 0, deviations, 1.0)
        is_word = np.array([word is not None for word in self.word])
        angle_inside, angle_outside = (2 * np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))) for share in (inside, outside))
        size = np.where(is_word, angle_inside - angle_outside, size)
        return [
            [
                ColumnEffect(
                    self.column[j], self.word[j], float(size[k, j]), float(inside[k, j]), float(outside[k, j]),
                    self.unit[j],
                )
                for j in np.flatnonzero(np.abs(size[k]) >= _BARELY)
                # What a cluster has little of is told by what it has instead.
                if self.word[j] is None or size[k, j] > 0
            ]
            for k in range(n_clusters)
        ]  # fmt: skip

    def nearest_to_middle(self, members: Places, n_rows: int) -> Places:
        """The rows of a cluster that are nearest to its mean, all columns at one deviation."""
        rows = self.rows[members].toarray() if sparse.issparse(self.rows) else self.rows[members]
        is_known = ~np.isnan(rows)
        count = np.maximum(is_known.sum(axis=0), 1)
        off = np.where(is_known, rows - np.where(is_known, rows, 0.0).sum(axis=0) / count, 0.0)
        spread = np.sqrt((off**2).sum(axis=0) / count)
        return members[np.argsort(((off / np.where(spread > 0, spread, 1.0)) ** 2).sum(axis=1), kind="stable")[:n_rows]]


def _measured(X: Any, names: Sequence[str] | None) -> _Measured:
    if isinstance(X, list) and X and isinstance(X[0], Column):
        return _from_columns(X, names)
    rows, own = X, None
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
    else:
        refuse_unread(X)
        read = columns_in_memory(X)
        if read is not None:
            return _from_columns(read, names)
        plain, header, _ = prepared_rows(X)
        own = getattr(header if header is not None else X, "columns", getattr(header, "column_names", None))
        rows = np.asarray(plain, dtype=np.float64)
        rows = rows[:, None] if rows.ndim == 1 else rows
    columns = _names(names, rows.shape[1], own)
    return _Measured(rows, columns, [None] * len(columns), [None] * len(columns))


def _from_columns(columns: list[Column], names: Sequence[str] | None) -> _Measured:
    measured: list[tuple[Floats, str, str | None, str | None]] = []
    for name, column in zip(_names(names, len(columns), [column.name for column in columns]), columns):
        if column.codes is None:
            measured.append((np.asarray(column.numbers, dtype=np.float64), name, None, column.unit))
            continue
        words = tuple(sorted(column.names))
        measured += [(share, name, word, None) for word, share in zip(words, indicators(column, words).T)]
    values, *about = zip(*measured)
    return _Measured(np.column_stack(values), *map(list, about))


def _names(names: Sequence[str] | None, n_columns: int, own: Any) -> list[str]:
    if names is not None and len(names) != n_columns:
        raise ValueError(f"names has {len(names)} names for {n_columns} columns; give one for each column.")
    chosen = names if names is not None else own
    return column_names(n_columns) if chosen is None else [str(name) for name in chosen]


def _deviations(rows: Any, codes: Places, inside: Floats) -> Floats:
    """Deviation of each column inside the clusters, over all of them."""
    if sparse.issparse(rows):
        squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel() / rows.shape[0]
        mean_square = (np.bincount(codes, minlength=len(inside))[:, None] * inside**2).sum(axis=0) / rows.shape[0]
        return np.sqrt(np.clip(squares - mean_square, 0.0, None))
    is_known = ~np.isnan(rows)
    off = np.where(is_known, rows - inside[codes], 0.0)
    return np.asarray(np.sqrt((off**2).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)))


def _shown(value: float, unit: str | None) -> str:
    if unit == "days" and np.isfinite(value):
        return str(np.datetime64(0, "D") + np.timedelta64(round(value), "D"))
    # As people write numbers: no exponents for incomes, no sign of a zero.
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return text.removeprefix("-") if text.strip("-0.") == "" else text

