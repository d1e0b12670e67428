r"""Clusters of bounded size: the same energy, with the weight of every cluster between two limits.

1. Start: from any partition, points are taken to other clusters along shortest paths between clusters, which is the
   successive-shortest-path algorithm of min-cost flow. The cost of a point in a cluster is the bound of the Lloyd step,
   :math:`-2 (M S_k)_p / w(S_k) + w_p M(S_k, S_k)/w(S_k)^2`.
2. Lloyd steps under the limits: costs and flow again, as long as the energy falls.
3. Single points move, or change places with a point of the other cluster if a limit is in the way, as long as the
   energy falls. Every partition on the way is within the limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from .._runtime import counted
from ..criteria import RatioProblem
from ..tensors import AnyInts, Floats, Ints, Mask, Places
from .descent import bound_costs
from .solve import Solution

_MAX_ROUNDS, _N_STEPS = 3, 12
# Points of another cluster with which one that cannot move alone may change places.
_N_PARTNERS = 50
_N_FAILED = 5
# A change must gain more than rounding noise.
_LEAST_GAIN = 1e-10


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits on the summed size of the points of a cluster.

    Parameters
    ----------
    sizes : ndarray of shape (n_points,)
    smallest, largest : float
    """

    sizes: Floats
    smallest: float
    largest: float

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest sum, with what rounding may add to it."""
        rounding = 1e-9 * float(self.sizes.sum())
        return self.smallest - rounding, self.largest + rounding

    @property
    def min_clusters(self) -> int:
        """The smallest number of clusters within the limits."""
        return max(1, int(np.ceil(self.sizes.sum() / self.largest - 1e-9)))

    @property
    def max_clusters(self) -> float:
        """The largest number of clusters within the limits."""
        return self.sizes.sum() // self.smallest if self.smallest > 0 else np.inf

    def allow(self, size: Any) -> Mask:
        """Whether clusters of these sizes are within the limits."""
        low, high = self.limits
        return np.asarray((low <= size) & (size <= high))

    def check(self, n_clusters: int) -> None:
        """Raise if no partition into so many clusters can be within the limits."""
        total, heaviest, (low, high) = float(self.sizes.sum()), float(self.sizes.max()), self.limits
        clusters = counted(n_clusters, "cluster")
        if n_clusters * low > total:
            # Fewer than two clusters would not be clusters.
            fewer = f", or use at most {self.max_clusters:g} clusters" if self.max_clusters > 1 else ""
            raise ValueError(
                f"min_size={self.smallest:g} in {clusters} needs {n_clusters * self.smallest:g} rows, but there are "
                f"{total:g}; lower min_size{fewer}."
            )
        if n_clusters * high < total:
            raise ValueError(
                f"max_size={self.largest:g} in {clusters} holds {n_clusters * self.largest:g} rows, but there are "
                f"{total:g}; raise max_size, or use at least {-(-total // self.largest):g} clusters."
            )
        if heaviest > high:
            raise ValueError(
                f"max_size={self.largest:g} is less than the weight {heaviest:g} of one point (equal rows are one "
                "point); raise max_size."
            )


def bounded(
    problem: RatioProblem, solution: Solution, n_clusters: int, bounds: Bounds, max_iter: int = 100
) -> Solution:
    """The solution nearest to this one that is within the limits, and improved under them.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> from evencut.solvers import solve
    >>> X = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 5.0])
    >>> problem = average_association(np.exp(-((X[:, None] - X) ** 2)))
    >>> bounded(problem, solve(problem, 2, random_state=0), 2, Bounds(np.ones(6), 3, 3)).labels
    array([0, 0, 0, 1, 1, 1])
    """
    bounds.check(n_clusters)
    labels = solution.labels
    size = np.bincount(labels, bounds.sizes, n_clusters)
    if bounds.allow(size).all():
        return solution
    # The limits come nearer in steps, so that clusters give and take at their borders.
    for share in np.linspace(0, 1, _N_STEPS + 1)[1:]:
        smallest = min(bounds.smallest, (1 - share) * float(size.min()) + share * bounds.smallest)
        largest = max(bounds.largest, (1 - share) * float(size.max()) + share * bounds.largest)
        spare = 0.0 if share == 1 else float(np.ptp(bounds.sizes))
        step = replace(bounds, smallest=smallest - spare, largest=largest + spare)
        # On the way there the order in which points flow hardly matters.
        fraction = 0.5 if share == 1 else 1.0
        labels = _within(step, _energy_and_costs(problem, labels, n_clusters)[1], labels, n_clusters, fraction)
    energy, costs = _energy_and_costs(problem, labels, n_clusters)
    trace = [energy]
    for _ in range(_MAX_ROUNDS):
        proposal = _within(bounds, costs, labels, n_clusters)
        energy, costs = _energy_and_costs(problem, proposal, n_clusters)
        if energy >= trace[-1] - _LEAST_GAIN * abs(trace[-1]):
            break
        labels = proposal
        trace.append(energy)
    # A lazy matrix has no entries for moves of single points.
    converged = problem.matrix.is_lazy or _Moves(problem, labels, n_clusters, bounds).improve(trace, max_iter)
    return replace(
        solution, labels=labels, energy=trace[-1], trace=tuple(trace), n_iter=len(trace), converged=converged
    )


def _energy_and_costs(problem: RatioProblem, labels: Ints, n_clusters: int) -> tuple[float, Floats]:
    """The energy, and what each point costs in each cluster under the bound of the Lloyd step."""
    links, inside, weight = problem.cluster_links(labels, n_clusters)
    return -float((inside / weight).sum()), bound_costs(links, problem.weights, inside, weight)


def _within(bounds: Bounds, costs: Floats, start: Ints, n_clusters: int, fraction: float = 0.5) -> Ints:
    """The cheapest assignment within the limits, by shortest paths from clusters too large or to clusters too small.

    A part of what must flow goes at a time; the end is a point at a time, as the algorithm has it.
    """
    sizes, (low, high) = bounds.sizes, bounds.limits
    labels = costs.argmin(axis=1)
    # No cluster starts empty: the links to an empty one would not be known.
    for k in np.setdiff1d(np.arange(n_clusters), labels):
        labels[start == k] = k
    size = np.bincount(labels, sizes, n_clusters)
    per_unit = costs / sizes[:, None]
    edge = np.full((n_clusters, n_clusters), np.inf)

    def update(k: int) -> None:
        members = np.flatnonzero(labels == k)
        # Points that would gain are left to the exchanges: shortest paths need lengths of 0 and more.
        edge[k] = (per_unit[members] - per_unit[members, k][:, None]).min(axis=0, initial=np.inf).clip(0)
        edge[k, k] = np.inf

    for k in range(n_clusters):
        update(k)
    # Points of unequal weight overshoot: a limit on the number of paths ends what cannot be met.
    for _ in range(20 * len(labels)):
        too_large, too_small = size > high, size < low
        if not (too_large.any() or too_small.any()):
            return labels
        ends = [  # with room for any point, or at least for some
            (too_large, size + point_size <= high) if too_large.any() else (size - point_size >= low, too_small)
            for point_size in (float(sizes.max()), float(sizes.min()))
        ]
        path = _shortest_path(edge, *ends[0]) or _shortest_path(edge, *ends[1])
        if not path:
            break
        first, last = path[0][0], path[-1][1]
        limit = bounds.largest if too_large.any() else bounds.smallest
        amount = fraction * min(size[first] - limit, limit - size[last])
        for points, target in [(_cheapest(per_unit, sizes, labels, a, b, amount), b) for a, b in path]:
            size -= np.bincount(labels[points], sizes[points], n_clusters)
            size[target] += sizes[points].sum()
            labels[points] = target
        for k in {k for pair in path for k in pair}:
            update(k)
    raise ValueError(
        f"no partition into {n_clusters} clusters with min_size={bounds.smallest:g} and max_size={bounds.largest:g} "
        f"was found, because rows of one point stay together (the heaviest weighs {sizes.max():g}); widen the limits."
    )


def _cheapest(per_unit: Floats, sizes: Floats, labels: Ints, source: int, target: int, amount: float) -> Places:
    """The points that cost least to take from one cluster to another, of this size together, and at least one."""
    members = np.flatnonzero(labels == source)
    members = members[np.argsort(per_unit[members, target] - per_unit[members, source], kind="stable")]
    n_taken = np.searchsorted(np.cumsum(sizes[members]), amount, side="right")
    return members[: max(1, min(int(n_taken), len(members) - 1))]


def _shortest_path(edge: Floats, sources: Mask, targets: Mask) -> list[tuple[int, int]]:
    """The cheapest path from one of the sources to one of the targets; empty if none exists."""
    starts, is_edge = np.flatnonzero(sources), ~np.eye(len(edge), dtype=bool)
    # Entries of 0 are edges, too.
    ends = np.arange(len(edge) + 1) * (len(edge) - 1)
    graph = csr_array((edge[is_edge], is_edge.nonzero()[1], ends), shape=edge.shape)
    length, parent = shortest_path(graph, indices=starts, return_predecessors=True)
    length[:, sources | ~targets] = np.inf
    path: list[tuple[int, int]] = []
    if not np.isfinite(length).any():
        return path
    start, end = np.unravel_index(length.argmin(), length.shape)
    while end != starts[start]:
        path.append((int(parent[start, end]), int(end)))
        end = parent[start, end]
    return path[::-1]


class _Moves:
    """Moves and exchanges of single points; the links of every point with every cluster are kept up to date."""

    def __init__(self, problem: RatioProblem, labels: Ints, n_clusters: int, bounds: Bounds) -> None:
        matrix = problem.matrix
        self._graph, self._bounds, self._labels = matrix.graph, bounds, labels
        self._entries: Any = None if self._graph is not None else np.asarray(matrix.array, dtype=np.float64)
        self._diagonal = np.zeros(len(labels)) if problem.diagonal is None else problem.diagonal
        self._own, self._w = np.asarray(matrix.diagonal()) + self._diagonal, problem.weights
        self._links, self._inside, self._weight = problem.cluster_links(labels, n_clusters)
        self._size = np.bincount(labels, bounds.sizes, n_clusters)

    def improve(self, trace: list[float], max_iter: int) -> bool:
        """Sweep until nothing gains; extends the trace of energies, and says whether it came to an end."""
        everyone = np.arange(len(self._labels))
        for _ in range(max_iter):
            source = self._labels.copy()
            gains = self._gains(everyone)
            gains[everyone, source] = -np.inf
            best, target = gains.max(axis=1), gains.argmax(axis=1)
            min_gain = _LEAST_GAIN * float(np.abs(self._inside / self._weight).sum())
            stays = (best > min_gain) & ~self._may_pass(self._bounds.sizes, source, target)
            partners: dict[tuple[int, int], Places] = {}
            for a, b in {*zip(source[stays].tolist(), target[stays].tolist())}:
                members = np.flatnonzero(source == b)
                # The points of b that gain most in a, best first.
                order = np.argsort(-gains[members, a], kind="stable")[:_N_PARTNERS]
                partners[a, b] = members[order]
                points = np.flatnonzero(stays & (source == a) & (target == b))
                best[points] = self._exchange_gains(points, partners[a, b]).max(axis=1)
            order = np.argsort(-best, kind="stable")[: int((best > min_gain).sum())]
            n_moved, n_failed = 0, dict.fromkeys(partners, 0)
            for p, pair in zip(order.tolist(), zip(source[order].tolist(), target[order].tolist())):
                # Those after many that failed gain less: the next sweep has new partners.
                if stays[p] and n_failed[pair] >= _N_FAILED:
                    continue
                moved = self._try(p, min_gain, partners)
                n_moved += moved
                if stays[p]:
                    n_failed[pair] += not moved
            if not n_moved:
                return True
            trace.append(-float((self._inside / self._weight).sum()))
        return False

    def _may_pass(self, amount: Any, source: Any, target: Any) -> Mask:
        """Whether so much may pass from one cluster to the other."""
        return self._bounds.allow(self._size[source] - amount) & self._bounds.allow(self._size[target] + amount)

    def _gains(self, points: AnyInts) -> Floats:
        """What the ratio association gains if each of these points, alone, goes to each cluster."""
        source, own, w = self._labels[points], self._own[points][:, None], self._w[points][:, None]
        inside, weight, links = self._inside, self._weight, self._links[points]
        joined = (inside + 2 * links + own) / (weight + w) - inside / weight
        left = weight[source] - w[:, 0]
        rest = (inside[source] - 2 * links[np.arange(len(points)), source] + own[:, 0]) / np.where(left > 0, left, 1.0)
        leave = np.where(left > 1e-12 * weight[source], rest - inside[source] / weight[source], -np.inf)
        return np.asarray(joined + leave[:, None])

    def _exchange_gains(self, points: AnyInts, members: AnyInts) -> Floats:
        """What is gained if each point of one cluster changes places with each of another; -inf if it may not."""
        a, b = int(self._labels[points[0]]), int(self._labels[members[0]])
        of_points, of_members = self._links[points][:, None], self._links[members]
        shared = self._own[points][:, None] + self._own[members] - 2 * self._common(points, members)
        change = self._w[points][:, None] - self._w[members]
        inside_a = self._inside[a] + 2 * (of_members[:, a] - of_points[..., a]) + shared
        inside_b = self._inside[b] + 2 * (of_points[..., b] - of_members[:, b]) + shared
        gains = inside_a / (self._weight[a] - change) + inside_b / (self._weight[b] + change)
        gains -= self._inside[a] / self._weight[a] + self._inside[b] / self._weight[b]
        fits = self._may_pass(self._bounds.sizes[points][:, None] - self._bounds.sizes[members], a, b)
        return np.where(fits, gains, -np.inf)

    def _common(self, points: AnyInts, members: AnyInts) -> Floats:
        """The entries of the matrix between some points and others."""
        if self._graph is None:
            return np.asarray(self._entries[np.ix_(points, members)])
        rows, order = self._graph[points], np.argsort(members)
        place = order[np.searchsorted(members, rows.indices, sorter=order).clip(max=len(members) - 1)]
        found = members[place] == rows.indices
        common = np.zeros((len(points), len(members)))
        common[np.repeat(np.arange(len(points)), np.diff(rows.indptr))[found], place[found]] = rows.data[found]
        return common

    def _try(self, p: int, min_gain: float, partners: dict[tuple[int, int], Places]) -> bool:
        """Take p to the cluster where it gains most, or exchange it for a point of it; whether anything moved.

        `partners` are points of each cluster that gained most in another at the start of the sweep.
        """
        source = int(self._labels[p])
        gains = self._gains(np.array([p]))[0]
        gains[source] = -np.inf
        target = int(gains.argmax())
        if gains[target] <= min_gain:
            return False
        if self._may_pass(self._bounds.sizes[p], source, target):
            self._move(p, target)
            return True
        members = partners.get((source, target), self._labels[:0])
        members = members[self._labels[members] == target]
        if not len(members):
            return False
        exchanged = self._exchange_gains(np.array([p]), members)[0]
        if exchanged.max() <= min_gain:
            return False
        self._move(p, target)
        self._move(int(members[exchanged.argmax()]), source)
        return True

    def _move(self, p: int, target: int) -> None:
        source = self._labels[p]
        self._inside[source] += self._own[p] - 2 * self._links[p, source]
        self._inside[target] += self._own[p] + 2 * self._links[p, target]
        if self._graph is not None:
            ends = slice(self._graph.indptr[p], self._graph.indptr[p + 1])
            neighbors, entries = self._graph.indices[ends], self._graph.data[ends]
        else:
            neighbors, entries = slice(None), self._entries[p]
        self._links[neighbors, source] -= entries
        self._links[neighbors, target] += entries
        self._links[p, source] -= self._diagonal[p]
        self._links[p, target] += self._diagonal[p]
        for total, change in ((self._weight, self._w[p]), (self._size, self._bounds.sizes[p])):
            total[source] -= change
            total[target] += change
        self._labels[p] = target
