r"""Clusters with some labels known, and pairs of rows that must, or cannot, be in one cluster.

Labelled points keep their label and influence the others: those of a cluster count together as at least half an average
cluster, so that their neighbours follow them; then free points move as in every other fit.

If several partitions were compared, pairs rank them first: one that satisfies more of them than the consensus is
preferred if a sign test is significant, at 5 % for all candidates together.

Rows that must be together go to the cluster that is most probable for all of them,
:math:`\arg\max_k \sum_p \log s_{pk}`, with :math:`s_{pk}` the share of the neighbours of p in cluster k
(:mod:`evencut.estimators.certainty`); those that cannot be go to the most probable clusters that separate them, the
most certain first. All other rows, and those whose pairs are satisfied, keep their cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.special import bdtrc

from ..affinity import Affinity, AffinityLike
from ..criteria import PosedProblem, RatioProblem, pose
from ..points import PreparedPoints
from ..selection import Selection
from ..solvers import Solution, solve
from ..solvers.descent import improve_by_moves
from ..solvers.spectral import fill_empty
from ..tensors import AnyFloats, Floats, Ints, Places
from .certainty import neighbor_mean
from .inputs import UNKNOWN

if TYPE_CHECKING:
    from ..landmarks import LandmarkGraph, RowBlocks



def labels_of_points(labels: Ints, prepared: PreparedPoints, n_clusters: int) -> Ints:
    """The label of each point: that of most of its labelled rows, -1 if none is labelled."""
    _check_largest(labels, n_clusters)
    known = np.flatnonzero((labels >= 0) & (prepared.point_of_row >= 0))
    votes = np.zeros((len(prepared.weights), n_clusters), dtype=np.int64)
    np.add.at(votes, (prepared.point_of_row[known], labels[known]), 1)
    return np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)


def labels_of_landmarks(labels: Ints, rows: RowBlocks, graph: LandmarkGraph, n_clusters: int) -> Ints:
    """The label of each landmark in use: that of most labelled rows it is nearest to, -1 without any."""
    _check_largest(labels, n_clusters)
    votes = rows.total(partial(graph.attachment.votes, labels=labels, n_clusters=n_clusters))[graph.used]
    return np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)


def solve_with_labels(
    affinity: AffinityLike,
    weights: Floats,
    held: Ints | None,
    n_clusters: int,
    criterion: str,
    equalize: str | None,
    seed: int,
    *,
    start: Ints | None = None,
    **effort: Any,
) -> tuple[PosedProblem, Solution]:
    """The problem in which labelled points, if there are any, count more, and its solution with these held.

    It begins at `start`, or at the solution without labels; `effort` goes on to :func:`evencut.solvers.solve`.
    """
    factor = 1.0 if held is None else label_weights(held, weights, n_clusters)
    posed = pose(affinity, weights * factor, criterion, equalize)
    if held is None or start is None:
        solution = solve(posed.problem, n_clusters, random_state=seed, **effort)
        if held is None:
            return posed, solution
        start = solution.labels
    return posed, _refine_with_labels(posed.problem, start, held, n_clusters, effort["max_iter"], seed)


def label_weights(held: Ints, weights: Floats, n_clusters: int) -> Floats:
    """The factor of the weight of each labelled point; one for the others."""
    factor = np.ones(len(held))
    for label in np.unique(held[held >= 0]):
        members = held == label
        # Labelled points count together as half an average cluster at least.
        factor[members] = max(1.0, 0.5 * weights.sum() / n_clusters / weights[members].sum())
    return factor


def _refine_with_labels(
    problem: RatioProblem, start: Ints, held: Ints, n_clusters: int, max_iter: int, seed: int
) -> Solution:
    """The better of two starts with labels held: clusters found without them, and labels spread along the graph."""
    if problem.matrix.is_lazy:
        raise ValueError(
            "partial labels need an affinity in memory; use a neighbour kernel, or give the kernel more memory."
        )
    matched = _matched(start, held, problem.weights, n_clusters)
    free = np.flatnonzero(held < 0)
    solutions = []
    for labels in (matched, _spread(problem.matrix, matched, held, n_clusters)):
        labels = fill_empty(np.where(held >= 0, held, labels), n_clusters, held < 0)
        first = problem.energy(labels)
        rng = np.random.default_rng(seed)
        refined, trace, converged = improve_by_moves(
            problem, labels, n_clusters, max_iter=max_iter, rng=rng, movable=free
        )
        energies = (first, *trace)
        solutions.append(Solution(refined, energies[-1], len(trace) + converged, energies, converged))
    return min(solutions, key=lambda solution: solution.energy)


def _check_largest(labels: Ints, n_clusters: int) -> None:
    if labels.max() >= n_clusters:
        raise ValueError(
            f"y holds the label {labels.max()}, but n_clusters={n_clusters} allows labels from 0 to {n_clusters - 1}; "
            "ask for more clusters or number the labels from 0."
        )


def _matched(start: Ints, held: Ints, weights: AnyFloats, n_clusters: int) -> Ints:
    """The clusters renumbered so that they hold as much weight labelled with their number as possible."""
    overlap = np.zeros((n_clusters, n_clusters))
    known = np.flatnonzero(held >= 0)
    np.add.at(overlap, (start[known], held[known]), weights[known])
    clusters, numbers = linear_sum_assignment(overlap, maximize=True)
    number = np.empty(n_clusters, dtype=np.int64)
    number[clusters] = numbers
    return number[start]


def _spread(matrix: Affinity, matched: Ints, held: Ints, n_clusters: int) -> Ints:
    """The label whose random walk with restarts visits a point most; clusters without labels restart at any point."""
    labelled = np.isin(np.arange(n_clusters), held)
    source = np.where(held >= 0, held, np.where(labelled[matched], UNKNOWN, matched))
    seeds = np.zeros((len(held), n_clusters))
    known = np.flatnonzero(source >= 0)
    seeds[known, source[known]] = 1.0
    seeds /= np.maximum(seeds.sum(axis=0), 1.0)
    degree = np.maximum(matrix.degrees(), np.finfo(float).tiny)
    reached = seeds
    for _ in range(60):
        reached = (1 - 0.95) * seeds + 0.95 * np.asarray(matrix @ (reached / degree[:, None]), dtype=np.float64)
    return np.where(reached.max(axis=1) > 0, reached.argmax(axis=1), matched)


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of rows that must be together and pairs that cannot be.

    Parameters
    ----------
    must, cannot : ndarrays of shape (n_pairs, 2)
    """

    must: Ints
    cannot: Ints

    def rerank(self, selection: Selection, n_clusters: int, point_of_row: Places) -> Selection:
        """Put the candidate that satisfies the most pairs first, if a sign test is significant.

        Parameters
        ----------
        selection : Selection
        n_clusters : int
            Candidates with fewer are skipped.
        point_of_row : ndarray of shape (n_rows,)
            The point of each row; negative for a row without one, whose pairs are not counted.
        """
        pairs = np.concatenate([self.must, self.cannot])
        together = np.repeat([True, False], [len(self.must), len(self.cannot)])
        known = (point_of_row[pairs] >= 0).all(axis=1)
        points = point_of_row[pairs[known]]
        labels = np.array([candidate.point_labels for candidate in selection.candidates])
        satisfied = (labels[:, points[:, 0]] == labels[:, points[:, 1]]) == together[known]
        more = (satisfied & ~satisfied[0]).sum(axis=1)
        fewer = (~satisfied & satisfied[0]).sum(axis=1)
        # Bonferroni's correction for several different candidates.
        n_different = len(np.unique(satisfied, axis=0))
        chance = n_different * np.where(more > 0, bdtrc(more - 1, more + fewer, 0.5), 1.0)
        is_complete = np.array([len(np.unique(each)) == n_clusters for each in labels])
        # Candidates come best first: among equals the one of highest consensus is chosen.
        best = int(np.argmax(np.where((chance <= 0.05) & is_complete, more - fewer, 0)))
        return selection.with_first(best) if best else selection


def check_links(must_link: Any, cannot_link: Any, n_rows: int) -> Links | None:
    """Pairs of rows as arrays, checked not to contradict each other; None without any.

    Examples
    --------
    >>> check_links([(0, 1), (1, 2)], [(0, 2)], 3)
    Traceback (most recent call last):
    ...
    ValueError: rows 0 and 2 cannot be in one cluster, but must_link joins them: 0 - 1 - 2; leave one of them out.
    """
    must, cannot = _check_pairs("must_link", must_link, n_rows), _check_pairs("cannot_link", cannot_link, n_rows)
    if not len(must) and not len(cannot):
        return None
    unit = _linked_groups(must, n_rows)
    contradictions = np.flatnonzero(unit[cannot[:, 0]] == unit[cannot[:, 1]])
    if contradictions.size:
        first, last = (int(row) for row in cannot[contradictions[0]])
        if first == last:
            raise ValueError(f"cannot_link holds row {first} with itself; leave the pair out.")
        predecessor = breadth_first_order(_graph(must, n_rows), first, directed=False)[1]
        path = [last]
        while path[-1] != first:
            path.append(int(predecessor[path[-1]]))
        raise ValueError(
            f"rows {first} and {last} cannot be in one cluster, but must_link joins them: "
            f"{' - '.join(map(str, path[::-1]))}; leave one of them out."
        )
    return Links(must, cannot)


def satisfy_links(links: Links, labels: Ints, log_probabilities: Floats, held: Ints | None = None) -> Ints:
    """Labels that satisfy all pairs; only those of rows in pairs change, and only if they must.

    Parameters
    ----------
    links : Links
    labels : ndarray of shape (n_rows,)
    log_probabilities : ndarray of shape (n_rows, n_clusters)
        Logarithm of how probable each cluster is for each row.
    held : ndarray of shape (n_rows,), optional
        Labels that are known, -1 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> log_probabilities = np.log([[0.9, 0.1], [0.6, 0.4], [0.1, 0.9]])
    >>> satisfy_links(Links(np.array([[0, 1]]), np.empty((0, 2), int)), np.array([0, 1, 1]), log_probabilities)
    array([0, 0, 1])
    """
    n_clusters = log_probabilities.shape[1]
    unit = _linked_groups(links.must, len(labels))
    known = _group_labels(held, unit)
    apart = np.unique(unit[links.cannot], axis=0) if len(links.cannot) else np.empty((0, 2), dtype=np.int64)
    costs = np.zeros((int(unit.max()) + 1, n_clusters))
    np.add.at(costs, unit, -log_probabilities)
    # Groups within one cluster keep it if they can: 1e6 is more than any logarithm of a share.
    of_unit = np.full(len(costs), -1, dtype=np.int64)
    of_unit[unit] = labels
    agree = np.ones(len(costs), dtype=bool)
    agree[unit[labels != of_unit[unit]]] = False
    costs[np.flatnonzero(agree), of_unit[agree]] -= 1e6
    bound = np.bincount(unit) > 1
    bound[apart.ravel()] = True
    satisfying = np.where(bound[unit], _assign(costs, apart, known, n_clusters)[unit], labels)
    empty = np.flatnonzero(np.bincount(satisfying, minlength=n_clusters) == 0)
    if empty.size:
        raise ValueError(f"must_link joins all rows of cluster {empty[0]} to others; ask for fewer clusters.")
    return satisfying.astype(np.int64)


def log_shares(affinity: Affinity, labels: Ints, scale: Floats) -> Floats:
    """Logarithm of the mean share of each cluster among the neighbours of each point."""
    shares = neighbor_mean(affinity, scale, np.eye(int(labels.max()) + 1)[labels])
    return np.log(neighbor_mean(affinity, scale, shares) + 1e-3)


def _check_pairs(name: str, pairs: Any, n_rows: int) -> Ints:
    pairs = np.asarray([] if pairs is None else pairs)
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


def _linked_groups(must: Ints, n_points: int) -> Ints:
    """The group of each point; pairs join points to groups, numbered from 0."""
    return connected_components(_graph(must, n_points), directed=False)[1].astype(np.int64)


def _graph(must: Ints, n_points: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_points, n_points))


def _group_labels(held: Ints | None, unit: Ints) -> Ints:
    """The label of each group, -1 without any; two different ones are an error."""
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


def _assign(costs: Floats, apart: Ints, known: Ints, n_clusters: int) -> Ints:
    """The cheapest allowed cluster of each group, the one with the fewest choices first."""
    labels = np.where(known >= 0, known, costs.argmin(axis=1))
    against: dict[int, set[int]] = {}
    for a, b in apart.tolist():
        if known[a] >= 0 and known[a] == known[b]:
            raise ValueError(
                f"cannot_link separates rows that y gives the label {known[a]} both; leave a pair or a label out."
            )
        against.setdefault(a, set()).add(b)
        against.setdefault(b, set()).add(a)
    # The cost of the best cluster minus that of the second: the most certain groups choose first.
    cheapest = np.sort(costs, axis=1)[:, :2]
    gain = cheapest[:, 0] - cheapest[:, -1]
    done = {a: int(known[a]) for a in against if known[a] >= 0}
    while len(done) < len(against):
        free = {a: sorted(set(range(n_clusters)) - {done[b] for b in against[a] if b in done}) for a in against}
        a = min((a for a in against if a not in done), key=lambda a: (len(free[a]), gain[a], a))
        if not free[a]:
            raise ValueError(
                f"cannot_link keeps more rows apart than n_clusters={n_clusters} allows, {1 + len(against[a])} of them "
                "around one; ask for more clusters, or leave pairs out."
            )
        labels[a] = done[a] = min(free[a], key=lambda k: costs[a, k])
    return labels
