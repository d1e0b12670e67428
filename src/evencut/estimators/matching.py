"""Which clusters of one labelling are those of another: kept, grown, shrunk, split, merged, born, gone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from ..tensors import Ints, Mask, is_tensor, to_array

__all__ = ["ClusterChange", "Matching", "match", "match_codes"]

# Two clusters are related if more than half of either lies in the other.
_HALF = 0.5
# A cluster has grown or shrunk if its share of the rows changes by so much, and by so many standard errors.
_GROWN, _ERRORS = 1.25, 2.0


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
        heads = ("change", "before", "after", "rows before", "rows after", "in common")
        rows = [
            (
                change.kind, ", ".join(map(str, change.before)) or "-", ", ".join(map(str, change.after)) or "-",
                str(change.n_before), str(change.n_after), str(change.n_common),
            )
            for change in self.changes
        ]  # fmt: skip
        widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
        lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in (heads, *rows))
        return "\n".join(lines)


def match(before: Any, after: Any) -> Matching:
    """Match the clusters of two labellings of the same rows, made by any tool.

    Two clusters are related if more than half of either lies in the other. A cluster that is related to one other is
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
    (old, is_old), (new, is_new) = _labels("before", before), _labels("after", after)
    if len(old) != len(new):
        raise ValueError(
            f"before has {len(old)} labels and after has {len(new)}; give the labels of the same rows, NaN for rows "
            "that are not in one of them, or two Series with an index."
        )
    (old_names, old_codes), (new_names, new_codes) = _coded(old, is_old), _coded(new, is_new)
    n_before = np.bincount(old_codes[old_codes >= 0], minlength=len(old_names))
    n_after = np.bincount(new_codes[new_codes >= 0], minlength=len(new_names))
    both = is_old & is_new
    return match_codes(old_codes[both], new_codes[both], old_names, new_names, n_before, n_after)


def match_codes(
    before: Ints, after: Ints, old_names: list[Any], new_names: list[Any], n_before: Ints, n_after: Ints
) -> Matching:
    """Match clusters numbered from 0, -1 for noise, on the rows in both; the counts are of all rows of each."""
    n_old, n_new = len(old_names), len(new_names)
    pairs = (before >= 0) & (after >= 0)
    common = np.bincount(before[pairs] * n_new + after[pairs], minlength=n_old * n_new).reshape(n_old, n_new)
    rows_of_old = np.bincount(before[before >= 0], minlength=n_old)
    rows_of_new = np.bincount(after[after >= 0], minlength=n_new)
    related = (common > 0) & ((common > _HALF * rows_of_old[:, None]) | (common > _HALF * rows_of_new))
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
        if len(olds) <= 1 and len(news) <= 1:
            one_sided = "born" if not len(olds) else "gone"
            pair = len(olds) and len(news)
            add(_size_change(n_before, n_after, olds[0], news[0]) if pair else one_sided, olds, news)
            continue
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
    if abs(share[1] - share[0]) <= _ERRORS * error or max(share) < _GROWN * min(share):
        return "kept"
    return "grown" if share[1] > share[0] else "shrunk"


def _labels(name: str, labels: Any) -> tuple[NDArray[Any], Mask]:
    """The labels, and which rows have one."""
    values = np.asarray(to_array(labels) if is_tensor(labels) else labels)
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; give one label for each row.")
    if values.dtype.kind == "f":
        return values, ~np.isnan(values)
    if values.dtype.kind == "O":
        known = [value is not None and value == value and type(value).__name__ != "NAType" for value in values.tolist()]
        return values, np.array(known, dtype=bool)
    return values, np.ones(len(values), dtype=bool)


def _coded(labels: NDArray[Any], is_known: Mask) -> tuple[list[Any], Ints]:
    """Names of the clusters, and the number of the cluster of each row: -1 for noise and for rows without a label."""
    known = labels[is_known]
    if known.dtype.kind == "f" and (known == np.round(known)).all():
        known = known.astype(np.int64)
    elif known.dtype.kind == "O":
        known = np.array(known.tolist())
    names, place = np.unique(known, return_inverse=True)
    is_noise = names == -1 if names.dtype.kind in "if" else np.isin(names, ["-1"])
    number = np.where(is_noise, -1, np.cumsum(~is_noise) - 1)
    codes = np.full(len(labels), -1, dtype=np.int64)
    codes[is_known] = number[place]
    return names[~is_noise].tolist(), codes
