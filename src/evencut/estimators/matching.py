"""Which clusters of one labelling are those of another (kept, grown, split, ...), and the numbers that they keep."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from ..tensors import Ints, is_tensor, to_array
from .inputs import is_missing


@dataclass(frozen=True)
class ClusterChange:
    """What has become of one cluster, or of a few that were split or merged.

    Attributes
    ----------
    kind : {"kept", "grown", "shrunk", "split", "merged", "born", "gone"}
        Grown and shrunk refer to the share of all rows.
    before, after : list
        Names of the clusters, the one with most common rows first.
    n_before, n_after, n_common : int
        Rows of the clusters before and after, and rows that are in both.
    """

    kind: str
    before: list[Any]
    after: list[Any]
    n_before: int
    n_after: int
    n_common: int


@dataclass(frozen=True, eq=False)
class Matching:
    """The clusters of two labellings, matched; prints as a table.

    Attributes
    ----------
    changes : list of ClusterChange
    same : dict
        For each cluster after that has one, the cluster before that it continues.
    """

    changes: list[ClusterChange]
    same: dict[Any, Any]

    def of_kind(self, kind: str) -> list[ClusterChange]:
        """The changes of one kind."""
        return [change for change in self.changes if change.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python types."""
        return {"changes": [asdict(change) for change in self.changes], "same": dict(self.same)}

    def __str__(self) -> str:
        """One line for each change."""
        rows = [("change", "before", "after", "rows before", "rows after", "in common")]
        for change in self.changes:
            before, after = (", ".join(map(str, names)) or "-" for names in (change.before, change.after))
            counts = str(change.n_before), str(change.n_after), str(change.n_common)
            rows.append((change.kind, before, after, *counts))
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(f"{c:<{width}}" for c, width in zip(row, widths)).rstrip() for row in rows)


def match(before: Any, after: Any) -> Matching:
    """Match the clusters of two labellings of the same rows, made by any tool.

    Two clusters are related if more than half of either lies in the other; a cluster of which less than a tenth of its
    share is left among the compared rows is related to none that is larger. A cluster that is related to one other is
    kept (or has grown or shrunk, if its share of the rows has changed), one with several is split, several with one are
    merged; the others are gone or born. Of several related clusters, the ones with most common rows are the same.

    Parameters
    ----------
    before, after : array or Series of shape (n_rows,)
        Labels in the same order of rows; two pandas Series are aligned by their index instead. -1 is noise. NaN or None
        marks rows that are not in this labelling; only rows in both are compared.

    Returns
    -------
    Matching

    Examples
    --------
    >>> import evencut
    >>> changes = evencut.match([0, 0, 0, 0, 1, 1, 1, 1], [7, 7, 7, 7, 3, 3, 5, 5])
    >>> print(changes)
    change  before  after  rows before  rows after  in common
    kept    0       7      4            4           4
    split   1       3, 5   4            4           4
    >>> changes.same
    {3: 1, 7: 0}
    """
    if hasattr(before, "index") and hasattr(after, "index") and hasattr(before, "reindex"):
        if not (before.index.is_unique and after.index.is_unique):
            raise ValueError("the index of a Series holds a row twice, so that rows cannot be aligned; give arrays.")
        every = before.index.union(after.index)
        before, after = before.reindex(every), after.reindex(every)
    (old_names, old), (new_names, new) = _coded("before", before), _coded("after", after)
    if len(old) != len(new):
        raise ValueError(
            f"before has {len(old)} labels and after has {len(new)}; give the labels of the same rows, NaN for rows "
            "that are not in one of them, or two Series with an index."
        )
    n_before = np.bincount(old[old >= 0], minlength=len(old_names))
    n_after = np.bincount(new[new >= 0], minlength=len(new_names))
    both = (old >= -1) & (new >= -1)
    return match_codes(old[both], new[both], old_names, new_names, n_before, n_after)


def match_codes(
    old_codes: Ints, new_codes: Ints, old_names: list[Any], new_names: list[Any], n_before: Ints, n_after: Ints
) -> Matching:
    """Match clusters numbered from 0, -1 for noise, on the rows in both; the counts are of all rows of each."""
    n_old, n_new = len(old_names), len(new_names)
    pairs = (old_codes >= 0) & (new_codes >= 0)
    common = np.bincount(old_codes[pairs] * n_new + new_codes[pairs], minlength=n_old * n_new).reshape(n_old, n_new)
    rows_of_old = np.bincount(old_codes[old_codes >= 0], minlength=n_old)
    rows_of_new = np.bincount(new_codes[new_codes >= 0], minlength=n_new)
    # Of a cluster with less than a tenth of the rows it had, the rest are strays of its neighbours.
    is_left = rows_of_old * n_before.sum() >= 0.1 * n_before * rows_of_old.sum()
    n_needed = np.where(is_left, rows_of_old, np.inf)[:, None]
    related = (common > 0) & ((2 * common > n_needed) | (2 * common > rows_of_new))
    old, new = np.nonzero(related)
    size = n_old + n_new
    group = connected_components(sparse.coo_array((np.ones(len(old)), (old, n_old + new)), shape=(size, size)))[1]
    matched = linear_sum_assignment(np.where(related, common, 0), maximize=True)
    same = {int(b): int(a) for a, b in zip(*matched) if related[a, b]}
    changes = []

    def add(kind: str, olds: Ints, news: Ints) -> None:
        shared = common[np.ix_(olds, news)]
        olds = olds[np.argsort(-shared.sum(axis=1), kind="stable")]
        news = news[np.argsort(-shared.sum(axis=0), kind="stable")]
        sizes = int(n_before[olds].sum()), int(n_after[news].sum()), int(shared.sum())
        changes.append(ClusterChange(kind, [old_names[k] for k in olds], [new_names[k] for k in news], *sizes))

    for number in np.unique(group):
        olds, news = np.flatnonzero(group[:n_old] == number), np.flatnonzero(group[n_old:] == number)
        if not len(olds) or not len(news):
            add("gone" if len(olds) else "born", olds, news)
        elif len(olds) == len(news) == 1:
            add(_size_change(n_before, n_after, olds[0], news[0]), olds, news)
        for k in olds:
            if related[k].sum() > 1:
                add("split", np.array([k]), np.flatnonzero(related[k]))
        for k in news:
            if related[:, k].sum() > 1:
                add("merged", np.flatnonzero(related[:, k]), np.array([k]))
    return Matching(changes, {new_names[b]: old_names[a] for b, a in sorted(same.items())})


def _size_change(n_before: Ints, n_after: Ints, old: int, new: int) -> str:
    total = np.array([n_before.sum(), n_after.sum()])
    share = np.array([n_before[old], n_after[new]]) / total
    mean = float(share @ total / total.sum())
    error = np.sqrt(mean * (1 - mean) * (1 / total).sum())
    # Its share of the rows must change by two standard errors, and by a quarter.
    if abs(share[1] - share[0]) <= 2.0 * error or max(share) < 1.25 * min(share):
        return "kept"
    return "grown" if share[1] > share[0] else "shrunk"


def _coded(name: str, labels: Any) -> tuple[list[Any], Ints]:
    """Names of the clusters, and the number of the cluster of each row: -1 for noise, -2 without a label."""
    values = np.asarray(to_array(labels) if is_tensor(labels) else labels)
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; give one label for each row.")
    is_known = ~is_missing(values)
    present = values[is_known]
    if present.dtype.kind == "f" and (present == np.round(present)).all():
        present = present.astype(np.int64)
    elif present.dtype.kind == "O":
        present = np.array(present.tolist())
    names, place = np.unique(present, return_inverse=True)
    is_noise = names == -1 if names.dtype.kind in "if" else np.isin(names, ["-1"])
    codes = np.full(len(values), -2, dtype=np.int64)
    codes[is_known] = np.where(is_noise, -1, np.cumsum(~is_noise) - 1)[place]
    return names[~is_noise].tolist(), codes


def keep_numbers(old: Any, old_labels: Ints, labels: Ints, n_clusters: int) -> tuple[Ints, Matching]:
    """The number of each new cluster, given the labels that an earlier model has for the same rows, and the changes."""
    numbers = old.cluster_ids_
    place = np.full(int(numbers.max()) + 2, -1)
    place[numbers] = np.arange(len(numbers))
    codes, fitted = place[old_labels], place[np.asarray(old.labels_)]
    sizes = np.bincount(fitted[fitted >= 0], minlength=len(numbers)), np.bincount(labels, minlength=n_clusters)
    same = match_codes(codes, labels, list(range(len(numbers))), list(range(n_clusters)), *sizes).same
    unused = next_number(old)
    new = np.array([numbers[same[k]] if k in same else -1 for k in range(n_clusters)], dtype=np.int64)
    new[new < 0] = unused + np.arange((new < 0).sum())
    return new, match_codes(codes, labels, numbers.tolist(), new.tolist(), *sizes)


def next_number(model: Any) -> int:
    """The first number that no cluster of a model has had."""
    return max(model._next_number, int(model.cluster_ids_.max()) + 1)
