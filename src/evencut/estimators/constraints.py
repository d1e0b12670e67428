r"""Pairs of rows that must be in one cluster, or cannot be: the partition next to the one found that keeps them all.

Where several partitions were compared, pairs judge them first: one that keeps more of them is taken where a sign test
says that this is no chance. With b pairs that only it keeps and c that only the consensus keeps,

.. math:: \frac{b - c}{\sqrt{b + c}} \ge 1.5

Rows that must be together go to the cluster that is most probable for all of them,
:math:`\arg\max_k \sum_p \log s_{pk}`, with :math:`s_{pk}` what the neighbours of p say
(:mod:`evencut.estimators.probabilities`); those that cannot be go to the most probable clusters that keep them apart,
the surest first. All other rows, and those whose pairs are kept, stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.special import bdtrc

from ..affinity import Affinity
from ..selection import Selection
from ..tensors import Floats, Ints, Places
from .probabilities import shares

__all__ = ["Links", "check_links", "keep_links", "log_shares"]

Pairs = Ints

_LITTLE = 1e-3
# More than any evidence: the logarithm of a share is never below that of `_LITTLE`.
_STAY = 1e6
# Probability at which chance alone may let one of the candidates keep so many more pairs than the consensus.
_CHANCE = 0.05


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of rows that must be together and pairs that cannot be.

    Parameters
    ----------
    must, cannot : ndarrays of shape (n_pairs, 2)
    """

    must: Pairs
    cannot: Pairs

    def judged(self, selection: Selection, n_clusters: int, point_of_row: Places) -> Selection:
        """The candidate that keeps the most pairs put first, where a sign test speaks for it.

        Parameters
        ----------
        selection : Selection
        n_clusters : int
            Candidates of fewer are not taken.
        point_of_row : ndarray of shape (n_rows,)
            The point of each row; negative where a row has none, whose pairs say nothing here.
        """
        pairs = np.concatenate([self.must, self.cannot])
        together = np.repeat([True, False], [len(self.must), len(self.cannot)])
        known = (point_of_row[pairs] >= 0).all(axis=1)
        points = point_of_row[pairs[known]]
        labels = np.array([candidate.point_labels for candidate in selection.candidates])
        kept = (labels[:, points[:, 0]] == labels[:, points[:, 1]]) == together[known]
        more, fewer = (kept & ~kept[0]).sum(axis=1), (~kept & kept[0]).sum(axis=1)
        # Candidates are several: that one of them keeps more by chance is so much likelier.
        n_different = len(np.unique(kept, axis=0))
        chance = n_different * np.where(more > 0, bdtrc(more - 1, more + fewer, 0.5), 1.0)
        whole = np.array([len(np.unique(each)) == n_clusters for each in labels])
        # Candidates come best first: of those that keep as many pairs, the one of highest consensus.
        place = int(np.argmax(np.where((chance <= _CHANCE) & whole, more - fewer, 0)))
        return selection.with_first(place) if place else selection


def check_links(must_link: Any, cannot_link: Any, n_rows: int) -> Links | None:
    """Pairs of rows as arrays, once they are seen not to contradict each other; None where there are none.

    Examples
    --------
    >>> check_links([(0, 1), (1, 2)], [(0, 2)], 3)
    Traceback (most recent call last):
    ...
    ValueError: rows 0 and 2 cannot be in one cluster, but must_link joins them: 0 - 1 - 2; leave one of them out.
    """
    must, cannot = (
        _pairs(name, given, n_rows) for name, given in (("must_link", must_link), ("cannot_link", cannot_link))
    )
    if not len(must) and not len(cannot):
        return None
    unit = _units(must, n_rows)
    torn = np.flatnonzero(unit[cannot[:, 0]] == unit[cannot[:, 1]])
    if torn.size:
        p, q = (int(row) for row in cannot[torn[0]])
        if p == q:
            raise ValueError(f"cannot_link holds row {p} with itself; leave the pair out.")
        path = " - ".join(map(str, _path(must, p, q)))
        raise ValueError(
            f"rows {p} and {q} cannot be in one cluster, but must_link joins them: {path}; leave one of them out."
        )
    return Links(must, cannot)


def keep_links(links: Links, labels: Ints, likely: Floats, held: Ints | None = None) -> Ints:
    """Labels that keep all pairs: those of rows in pairs change where they must, all others stay.

    Parameters
    ----------
    links : Links
    labels : ndarray of shape (n_rows,)
    likely : ndarray of shape (n_rows, n_clusters)
        Logarithm of how probable each cluster is for each row.
    held : ndarray of shape (n_rows,), optional
        Labels that are known, -1 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> likely = np.log([[0.9, 0.1], [0.6, 0.4], [0.1, 0.9]])
    >>> keep_links(Links(np.array([[0, 1]]), np.empty((0, 2), int)), np.array([0, 1, 1]), likely)
    array([0, 0, 1])
    """
    n_clusters = likely.shape[1]
    unit = _units(links.must, len(labels))
    known = _known(held, unit)
    apart = np.unique(unit[links.cannot], axis=0) if len(links.cannot) else np.empty((0, 2), dtype=np.int64)
    costs = np.zeros((int(unit.max()) + 1, n_clusters))
    np.add.at(costs, unit, -likely)
    # Rows that are together already stay where they are, unless others cannot be with them.
    of_unit = np.full(len(costs), -1, dtype=np.int64)
    of_unit[unit] = labels
    agree = np.ones(len(costs), dtype=bool)
    agree[unit[labels != of_unit[unit]]] = False
    costs[np.flatnonzero(agree), of_unit[agree]] -= _STAY
    bound = np.bincount(unit) > 1
    bound[apart.ravel()] = True
    kept = np.where(bound[unit], _assigned(costs, apart, known, n_clusters)[unit], labels)
    empty = np.flatnonzero(np.bincount(kept, minlength=n_clusters) == 0)
    if empty.size:
        raise ValueError(f"must_link joins all rows of cluster {empty[0]} to others; ask for fewer clusters.")
    return kept.astype(np.int64)


def log_shares(affinity: Affinity, labels: Ints, scale: Floats) -> Floats:
    """Logarithm of what the neighbours of each point say of each cluster."""
    own = shares(affinity, scale, np.eye(int(labels.max()) + 1)[labels])
    return np.log(shares(affinity, scale, own) + _LITTLE)


def _pairs(name: str, given: Any, n_rows: int) -> Pairs:
    if given is None:
        return np.empty((0, 2), dtype=np.int64)
    pairs = np.asarray(given)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"{name} has shape {pairs.shape} of {pairs.dtype}; give pairs of row numbers, such as [(0, 5), (3, 4)]."
        )
    wrong = pairs[(pairs < 0) | (pairs >= n_rows)]
    if wrong.size:
        raise ValueError(f"{name} holds row {wrong[0]}, but rows are numbered from 0 to {n_rows - 1}.")
    return pairs.astype(np.int64)


def _units(must: Pairs, n_points: int) -> Ints:
    """What moves together: points that pairs join, each unit a number from 0."""
    return connected_components(_graph(must, n_points), directed=False)[1].astype(np.int64)


def _graph(must: Pairs, n_points: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_points, n_points))


def _path(must: Pairs, first: int, last: int) -> list[int]:
    """Rows from one to another along the pairs that must be together."""
    came = breadth_first_order(_graph(must, int(must.max()) + 1), first, directed=False)[1]
    path = [last]
    while path[-1] != first:
        path.append(int(came[path[-1]]))
    return path[::-1]


def _known(held: Ints | None, unit: Ints) -> Ints:
    """The label of each unit where one is known; two of them contradict each other."""
    known = np.full(int(unit.max()) + 1, -1, dtype=np.int64)
    if held is None:
        return known
    for point in np.flatnonzero(held >= 0):
        if known[unit[point]] not in (-1, held[point]):
            raise ValueError(
                f"must_link joins rows that y gives the labels {known[unit[point]]} and {held[point]}; leave a pair or "
                "a label out."
            )
        known[unit[point]] = held[point]
    return known


def _assigned(
    costs: Floats, apart: Pairs, known: Ints, n_clusters: int
) -> Ints:
    """The cheapest cluster of each unit that keeps it apart from those it cannot be with, the least free one first."""
    labels = np.where(known >= 0, known, costs.argmin(axis=1))
    against: dict[int, set[int]] = {}
    for a, b in apart.tolist():
        against.setdefault(a, set()).add(b)
        against.setdefault(b, set()).add(a)
    torn = [(a, b) for a, b in apart.tolist() if known[a] >= 0 and known[a] == known[b]]
    if torn:
        raise ValueError(
            f"cannot_link parts rows that y gives the label {known[torn[0][0]]} both; leave a pair or a label out."
        )
    done = {a: int(known[a]) for a in against if known[a] >= 0}
    while len(done) < len(against):
        free = {a: sorted(set(range(n_clusters)) - {done[b] for b in against[a] if b in done}) for a in against}
        a = min((a for a in against if a not in done), key=lambda a: (len(free[a]), _gain(costs[a]), a))
        if not free[a]:
            others = sorted(against[a])
            raise ValueError(
                f"cannot_link keeps more rows apart than n_clusters={n_clusters} allows, {1 + len(others)} of them "
                "around one; ask for more clusters, or leave pairs out."
            )
        done[a] = min(free[a], key=lambda k: costs[a, k])
        labels[a] = done[a]
    return labels


def _gain(costs: Floats) -> float:
    """How much the best cluster is better than the second, negative: the surest units choose first."""
    best = np.sort(costs)[:2]
    return float(best[0] - best[-1])
