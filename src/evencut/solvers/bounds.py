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

import numpy as np

from ..criteria import RatioProblem
from ..tensors import AnyInts, Floats, Ints, Mask, Places
from .solve import Solution

__all__ = ["Bounds", "bounded"]

_MAX_ROUNDS, _N_STEPS = 3, 5
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

    @property
    def slack(self) -> float:
        """What rounding may add to a sum."""
        return 1e-9 * float(self.sizes.sum())

    def hold(self, labels: Ints, n_clusters: int) -> bool:
        """Whether every cluster is within the limits."""
        size = np.bincount(labels, self.sizes, n_clusters)
        return bool((size >= self.smallest - self.slack).all() and (size <= self.largest + self.slack).all())

    def check(self, n_clusters: int) -> None:
        """Raise if no partition into so many clusters can be within the limits."""
        total, heaviest = float(self.sizes.sum()), float(self.sizes.max())
        if n_clusters * self.smallest > total + self.slack:
            raise ValueError(
                f"min_size={self.smallest:g} in {n_clusters} clusters needs {n_clusters * self.smallest:g} rows, but "
                f"there are {total:g}; lower min_size, or use at most {int(total // self.smallest)} clusters."
            )
        if n_clusters * self.largest < total - self.slack:
            raise ValueError(
                f"max_size={self.largest:g} in {n_clusters} clusters holds {n_clusters * self.largest:g} rows, but "
                f"there are {total:g}; raise max_size, or use at least {int(-(-total // self.largest))} clusters."
            )
        if heaviest > self.largest + self.slack:
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
    if bounds.hold(solution.labels, n_clusters):
        return solution
    labels = solution.labels
    size = np.bincount(labels, bounds.sizes, n_clusters)
    # The limits come nearer in steps, so that clusters give and take at their borders.
    for share in np.linspace(0, 1, _N_STEPS + 1)[1:]:
        smallest = min(bounds.smallest, (1 - share) * float(size.min()) + share * bounds.smallest)
        largest = max(bounds.largest, (1 - share) * float(size.max()) + share * bounds.largest)
        spare = 0.0 if share == 1 else float(np.ptp(bounds.sizes))
        step = replace(bounds, smallest=smallest - spare, largest=largest + spare)
        labels = _within(step, _costs(problem, labels, n_clusters), labels, n_clusters)
    trace = [problem.energy(labels)]
    for _ in range(_MAX_ROUNDS):
        lower = _within(bounds, _costs(problem, labels, n_clusters), labels, n_clusters)
        energy = problem.energy(lower)
        if energy >= trace[-1] - _LEAST_GAIN * abs(trace[-1]):
            break
        labels = lower
        trace.append(energy)
    converged = True
    if not problem.matrix.is_lazy:
        converged = _Moves(problem, labels, n_clusters, bounds).improve(trace, max_iter)
    return replace(
        solution, labels=labels, energy=trace[-1], trace=tuple(trace), n_iter=len(trace), converged=converged
    )


def _costs(problem: RatioProblem, labels: Ints, n_clusters: int) -> Floats:
    """The bound of the Lloyd step: what each point costs in each cluster."""
    inside, weight = problem.associations(labels, n_clusters)
    links = problem.matrix.links(labels, n_clusters)
    if problem.diagonal is not None:
        links[np.arange(len(labels)), labels] += problem.diagonal
    return -2 * links / weight + np.outer(problem.weights, inside / weight**2)


def _within(bounds: Bounds, costs: Floats, start: Ints, n_clusters: int) -> Ints:
    """The cheapest assignment within the limits, by shortest paths from clusters too large or to clusters too small."""
    sizes, slack = bounds.sizes, bounds.slack
    lightest, heaviest = float(sizes.min()), float(sizes.max())
    labels = costs.argmin(axis=1)
    # No cluster starts empty: the links to an empty one would not be known.
    for k in np.setdiff1d(np.arange(n_clusters), labels):
        labels[start == k] = k
    size = np.bincount(labels, sizes, n_clusters)
    per_unit = costs / sizes[:, None]
    edge = np.full((n_clusters, n_clusters), np.inf)

    def update(k: int) -> None:
        members = np.flatnonzero(labels == k)
        edge[k] = np.inf
        if len(members):
            edge[k] = (per_unit[members] - per_unit[members, k][:, None]).min(axis=0)
        edge[k, k] = np.inf

    for k in range(n_clusters):
        update(k)
    # Points of unequal weight overshoot: a limit on the number of paths ends what cannot be met.
    for _ in range(20 * len(labels)):
        too_large, too_small = size > bounds.largest + slack, size < bounds.smallest - slack
        if not (too_large.any() or too_small.any()):
            return labels
        path: list[tuple[int, int]] = []
        for one in (heaviest, lightest):  # there is room for any point, or at least for some
            if not path and too_large.any():
                path = _shortest_path(edge, too_large, size + one <= bounds.largest + slack)
            elif not path:
                path = _shortest_path(edge, size - one >= bounds.smallest - slack, too_small)
        if not path:
            break
        # Half of what must flow at a time: the end is a point at a time, as the algorithm has it.
        first, last = path[0][0], path[-1][1]
        amount = min(size[first] - bounds.largest, bounds.largest - size[last]) / 2
        if not too_large.any():
            amount = min(size[first] - bounds.smallest, bounds.smallest - size[last]) / 2
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
    """The cheapest path from one of the sources to one of the targets, by Bellman and Ford; empty without one."""
    n_clusters = len(edge)
    length, parent = np.where(sources, 0.0, np.inf), np.full(n_clusters, -1)
    for _ in range(n_clusters - 1):
        through = length[:, None] + edge
        best = through.argmin(axis=0)
        shorter = through[best, np.arange(n_clusters)] < length - 1e-12 * np.abs(length).clip(max=1e300)
        shorter &= ~sources
        if not shorter.any():
            break
        length[shorter], parent[shorter] = through[best, np.arange(n_clusters)][shorter], best[shorter]
    reached = np.where(targets & ~sources, length, np.inf)
    end = int(reached.argmin())
    path: list[tuple[int, int]] = []
    if np.isinf(reached[end]):
        return path
    while parent[end] >= 0 and len(path) < n_clusters:
        path.append((int(parent[end]), end))
        end = int(parent[end])
    return path[::-1]


class _Moves:
    """Points on the move: the links of every point with every cluster are kept up to date."""

    def __init__(self, problem: RatioProblem, labels: Ints, n_clusters: int, bounds: Bounds) -> None:
        self._graph, self._bounds, self._labels = problem.matrix.graph, bounds, labels
        self._entries = None if self._graph is not None else np.asarray(problem.matrix.array, dtype=np.float64)
        self._w, n_points = np.asarray(problem.weights, dtype=np.float64), len(labels)
        diagonal = np.zeros(n_points) if problem.diagonal is None else problem.diagonal
        self._diagonal = diagonal
        own = self._graph.diagonal() if self._graph is not None else np.asarray(self._entries).diagonal()
        self._own = own + diagonal
        self._links = problem.matrix.links(labels, n_clusters)
        self._links[np.arange(n_points), labels] += diagonal
        self._inside, self._weight = problem.associations(labels, n_clusters)
        self._size = np.bincount(labels, bounds.sizes, n_clusters)

    def improve(self, trace: list[float], max_iter: int) -> bool:
        """Sweep until nothing gains; extends the trace of energies, and says whether it came to an end."""
        for _ in range(max_iter):
            gains = self._gains(np.arange(len(self._labels)))
            gains[np.arange(len(gains)), self._labels] = -np.inf
            best = gains.max(axis=1)
            moved = sum(self._try(int(p)) for p in np.argsort(-best, kind="stable")[: int((best > self._least).sum())])
            if not moved:
                return True
            trace.append(-float((self._inside / self._weight).sum()))
        return False

    @property
    def _least(self) -> float:
        return _LEAST_GAIN * float(np.abs(self._inside / self._weight).sum())

    def _gains(self, points: AnyInts) -> Floats:
        """What the ratio association gains if each of these points, alone, goes to each cluster."""
        source, own, w = self._labels[points], self._own[points][:, None], self._w[points][:, None]
        inside, weight, links = self._inside, self._weight, self._links[points]
        joined = (inside + 2 * links + own) / (weight + w) - inside / weight
        left = weight[source] - w[:, 0]
        rest = (inside[source] - 2 * links[np.arange(len(points)), source] + own[:, 0]) / np.where(left > 0, left, 1.0)
        leave = np.where(left > 1e-12 * weight[source], rest - inside[source] / weight[source], -np.inf)
        return np.asarray(joined + leave[:, None])

    def _try(self, p: int) -> bool:
        """Take p to the cluster where it gains most, or let it change places; whether anything moved."""
        source, bounds = int(self._labels[p]), self._bounds
        gains = self._gains(np.array([p]))[0]
        gains[source] = -np.inf
        for target in np.argsort(-gains)[:3].tolist():
            if gains[target] <= self._least:
                return False
            leaves = self._size[source] - bounds.sizes[p] >= bounds.smallest - bounds.slack
            fits = self._size[target] + bounds.sizes[p] <= bounds.largest + bounds.slack
            if leaves and fits:
                self._move(p, target)
                return True
            if self._change_places(p, source, target, float(gains[target])):
                return True
        return False

    def _change_places(self, p: int, source: int, target: int, gain: float) -> bool:
        members, bounds = np.flatnonzero(self._labels == target), self._bounds
        change = bounds.sizes[p] - bounds.sizes[members]
        after = self._size[source] - change, self._size[target] + change
        low, high = bounds.smallest - bounds.slack, bounds.largest + bounds.slack
        members = members[np.all([(low <= size) & (size <= high) for size in after], axis=0)]
        if not len(members):
            return False
        self._move(p, target)
        back = self._gains(members)[:, source]
        best = int(back.argmax())
        if gain + back[best] > self._least:
            self._move(int(members[best]), source)
            return True
        self._move(p, source)
        return False

    def _move(self, p: int, target: int) -> None:
        source = self._labels[p]
        self._inside[source] += self._own[p] - 2 * self._links[p, source]
        self._inside[target] += self._own[p] + 2 * self._links[p, target]
        if self._graph is not None:
            ends = slice(self._graph.indptr[p], self._graph.indptr[p + 1])
            near, entries = self._graph.indices[ends], self._graph.data[ends]
        else:
            assert self._entries is not None
            near, entries = slice(None), self._entries[p]
        self._links[near, source] -= entries
        self._links[near, target] += entries
        self._links[p, source] -= self._diagonal[p]
        self._links[p, target] += self._diagonal[p]
        self._weight[source] -= self._w[p]
        self._weight[target] += self._w[p]
        self._size[source] -= self._bounds.sizes[p]
        self._size[target] += self._bounds.sizes[p]
        self._labels[p] = target
