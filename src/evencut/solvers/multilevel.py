r"""The multilevel solver for sparse graphs: shrink the graph, solve it small, refine on the way back up.

Contracting a group of points adds up the entries of M and the weights w, so every partition of a small graph has
exactly the energy of the partition it stands for: what lowers it there lowers it for the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..criteria import RatioProblem
from ..tensors import AnyInts, Floats, Ints, Places

# Every so many cycles, one begins at the points themselves.
_FINE_CYCLE = 8


class _Level(NamedTuple):
    """A graph in CSR form without the diagonal of M, that diagonal, and the weights of the nodes."""

    indptr: Ints
    indices: NDArray[np.int32]
    data: Floats
    diagonal: Floats
    weights: Floats

    @property
    def n_nodes(self) -> int:
        return len(self.weights)


def multilevel(
    problem: RatioProblem,
    n_clusters: int,
    *,
    n_init: int = 4,
    n_runs: int = 4,
    max_iter: int = 100,
    random_state: np.random.Generator | int | None = None,
) -> tuple[Ints, list[float], bool]:
    r"""Labels, energies along the way, and whether no move was left at the end.

    Points are grouped by heavy edges, level by level, down to a few nodes a cluster. There the cheapest pairs
    of nodes are merged until `n_clusters` are left, and clusters are exchanged (one split, two merged) while
    the energy falls. On the way back up, points move along the borders of clusters. Further cycles shrink the
    graph again inside the clusters found, and start from there.

    Parameters
    ----------
    problem : RatioProblem
        With a sparse matrix. Any criterion: average association, weighted or not, normalised cut, average cut.
    n_clusters : int
        No cluster is left empty.
    n_init : int
        Number of cycles; the energy never rises from one to the next. They run on a graph of a few hundred
        nodes a cluster, every eighth on the points themselves.
    n_runs : int
        Runs of all cycles, the best of which is kept; fewer where there are more than 40000 points in all of them.
    max_iter : int
        Most moves of a refinement, in multiples of the number of nodes.
    random_state : Generator or int, optional
        The order in which points are grouped, and the clusters split.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from evencut.criteria import normalized_cut
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2))))
    >>> multilevel(normalized_cut(pairs), 2, random_state=0)[0]
    array([0, 0, 1, 1])
    """
    rng = np.random.default_rng(random_state)
    # Each run draws from a separate random sequence: longer runs do not change those of the others.
    states = [rng.integers(1, 2**63, 1).astype(np.uint64) for _ in range(n_runs + 1)]
    finest = _finest(problem)
    if not 1 <= n_clusters <= finest.n_nodes:
        raise ValueError(f"n_clusters={n_clusters} must be between 1 and the number of points, {finest.n_nodes}.")
    # Nodes of the graph that cycles start from: for each cluster, and at least.
    down, parents, _ = _coarsen(finest, None, max(150 * n_clusters, 8000), states[0])
    # On small graphs whole runs are cheap, and the best of several is steadier.
    # Fewer runs if they have more points than this together.
    n_runs = max(1, min(n_runs, 40_000 // finest.n_nodes))
    runs = [_cycles(down[-1], n_clusters, max_iter, state) for state in states[:n_runs]]
    # Where runs ended: the labels of the points, energies along the way, whether no move was left.
    ends: list[tuple[NDArray[np.int32], list[float], bool]] = []
    for cycle in range(1, n_init + 1):
        labels, trace = min([next(run) for run in runs], key=lambda end: end[1][-1])
        # What is lower on the small graph can end higher at the points, so every cycle is carried there.
        if len(down) > 1 or cycle == n_init or cycle % _FINE_CYCLE == 0:
            labels, converged = _uncoarsen(down, parents, labels, n_clusters, max_iter, trace)
            ends.append((labels, trace, converged))
        if ends and cycle % _FINE_CYCLE == 0:
            best = min(reversed(ends), key=lambda end: end[1][-1])
            trace = best[1].copy()
            labels = _cycle(finest, best[0].copy(), n_clusters, max_iter, states[-1], trace)
            labels, converged = _uncoarsen([finest], [], labels, n_clusters, max_iter, trace)
            ends.append((labels, trace, converged))
    # Of equal energies the last.
    labels, trace, converged = min(reversed(ends), key=lambda end: end[1][-1])
    return labels.astype(np.int64), trace, converged


def improve_border(
    problem: RatioProblem, labels: AnyInts, n_clusters: int, *, max_iter: int = 100
) -> tuple[Ints, list[float], bool]:
    """Labels after moves along the borders of clusters, the energy, and whether no move was left.

    Only points with a link to another cluster are looked at, so a good start of a large graph costs next to nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from evencut.criteria import normalized_cut
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2))))
    >>> improve_border(normalized_cut(pairs), np.array([0, 1, 1, 1]), 2)[0]
    array([0, 0, 1, 1])
    """
    trace: list[float] = []
    refined, settled = _uncoarsen([_finest(problem)], [], labels.astype(np.int32), n_clusters, max_iter, trace)
    return refined.astype(np.int64), trace, settled


def group_points(graph: sparse.csr_array, labels: AnyInts | None, target: int, state: NDArray[np.uint64]) -> Ints:
    """Groups of points along the links of a graph, about `target` of them; inside clusters where labels are given.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2))))
    >>> group_points(pairs, None, 2, np.ones(1, dtype=np.uint64))
    array([0, 0, 1, 1])
    """
    n_points = graph.shape[0]
    level = _level(graph, np.zeros(n_points), np.ones(n_points))
    _, parents, _ = _coarsen(level, None if labels is None else labels.astype(np.int32), target, state)
    group: AnyInts = np.arange(n_points)
    for parent in parents:
        group = parent[group]
    return group.astype(np.int64)


def _level(graph: sparse.csr_array, diagonal: Floats, weights: Floats) -> _Level:
    """A graph as a level; nothing is copied that has the right type already."""
    indices, data = graph.indices.astype(np.int32, copy=False), graph.data.astype(np.float64, copy=False)
    return _Level(graph.indptr.astype(np.int64), indices, data, diagonal, weights)


def _finest(problem: RatioProblem) -> _Level:
    """The problem as a level."""
    matrix = problem.matrix.graph
    if matrix is None:
        raise ValueError(
            f"the multilevel solver needs a sparse affinity, but got {type(problem.matrix.entries).__name__}; use a "
            "neighbour kernel, or solver='spectral' or 'lloyd'."
        )
    diagonal = matrix.diagonal().astype(np.float64)
    if problem.diagonal is not None:
        diagonal = diagonal + problem.diagonal
    return _level(matrix, diagonal, np.asarray(problem.weights, dtype=np.float64))


def _coarsen(
    level: _Level, labels: NDArray[np.int32] | None, target: int, state: NDArray[np.uint64]
) -> tuple[list[_Level], list[NDArray[np.int32]], NDArray[np.int32] | None]:
    """Ever smaller graphs down to about `target` nodes, the parents between them, and labels of the last nodes.

    Where labels are given, groups stay inside clusters.
    """
    from ._graph_loops import contract, group

    levels, parents = [level], []
    while level.n_nodes > 1.3 * target:
        mean = level.weights.sum() / level.n_nodes
        # The last step shrinks only as far as asked for.
        # The weight of a group, relative to the mean node.
        cap = mean * max(2.0, min(20.0, 1.5 * level.n_nodes / target))
        fixed = np.empty(0, dtype=np.int32) if labels is None else labels
        parent, n_groups = group(level, fixed, cap, 2, state)
        if n_groups > 0.95 * level.n_nodes:
            break
        if labels is not None:
            above = np.empty(n_groups, dtype=np.int32)
            above[parent] = labels
            labels = above
        level = _Level(*contract(level, parent, n_groups))
        levels.append(level)
        parents.append(parent)
    return levels, parents, labels


def _uncoarsen(
    levels: list[_Level], parents: list[NDArray[np.int32]], labels: NDArray[np.int32], n_clusters: int, max_iter: int,
    trace: list[float],
) -> tuple[NDArray[np.int32], bool]:
    """Labels carried from the last level to the first and refined on each, and whether the first settled."""
    from ._border_loops import refine

    settled = True
    for depth in range(len(levels) - 1, -1, -1):
        level = levels[depth]
        if depth < len(parents):
            labels = labels[parents[depth]]
        energy, _, settled = refine(level, labels, n_clusters, max_iter * level.n_nodes)
        trace.append(float(energy))
    return labels, settled


def _cycles(
    level: _Level, n_clusters: int, max_iter: int, state: NDArray[np.uint64]
) -> Iterator[tuple[NDArray[np.int32], list[float]]]:
    """Labels and energies after one cycle, after two, and so on; each starts from the labels of the one before."""
    trace: list[float] = []
    labels = None
    while True:
        labels = _cycle(level, labels, n_clusters, max_iter, state, trace)
        yield labels.copy(), trace.copy()


def _cycle(
    level: _Level, labels: NDArray[np.int32] | None, n_clusters: int, max_iter: int, state: NDArray[np.uint64],
    trace: list[float],
) -> NDArray[np.int32]:
    """Shrink, exchange clusters, climb back. Without labels, clusters are first merged from the smallest graph."""
    from ._exchange_loops import exchange

    # The smallest graph has about six nodes a cluster.
    levels, parents, labels = _coarsen(level, labels, 6 * n_clusters, state)
    smallest = levels[-1]
    trials = 20 + 2 * n_clusters
    if labels is None:
        labels = _merge(smallest, n_clusters, max_iter)
        trials *= 3
    # A limit on the entries that all exchanges of one cycle read.
    trials = min(trials, 1 + 20_000_000 // (len(smallest.data) + smallest.n_nodes))
    trace.append(float(exchange(smallest, labels, n_clusters, trials, state)))
    return _uncoarsen(levels, parents, labels, n_clusters, max_iter, trace)[0]


def _merge(level: _Level, n_clusters: int, max_iter: int) -> NDArray[np.int32]:
    """Merge the pairs whose union costs least until `n_clusters` nodes are left; labels refined on the way back."""
    from ._graph_loops import contract, take_pairs

    levels, parents = [level], []
    while level.n_nodes > n_clusters:
        # Costs are updated after a quarter of the nodes is merged.
        limit = min(level.n_nodes - n_clusters, max(1, int(0.25 * level.n_nodes)))
        first, second, order = _cheapest_pairs(level, linked_only=True)
        parent, n_groups = take_pairs(first, second, order, level.n_nodes, limit)
        if level.n_nodes - n_groups < min(limit, max(1, level.n_nodes // 20)):
            first, second, order = _cheapest_pairs(level, linked_only=False)
            parent, n_groups = take_pairs(first, second, order, level.n_nodes, limit)
        level = _Level(*contract(level, parent, n_groups))
        levels.append(level)
        parents.append(parent)
    labels = np.arange(n_clusters, dtype=np.int32)
    return _uncoarsen(levels, parents, labels, n_clusters, max_iter, [])[0]


def _cheapest_pairs(level: _Level, linked_only: bool) -> tuple[NDArray[np.int32], NDArray[np.int32], Places]:
    """Pairs of nodes and their order by what a union costs the objective.

    Few links (many components, a star) leave too little to merge; then nodes of similar ratio M/w pair as well,
    which costs least among nodes without a link.
    """
    ratio = level.diagonal / level.weights
    first = np.repeat(np.arange(level.n_nodes, dtype=np.int32), np.diff(level.indptr))
    once = (first < level.indices) & (level.data > 0)
    first, second, link = first[once], level.indices[once], level.data[once]
    if not linked_only:
        by_ratio = np.lexsort((level.weights, np.round(ratio, 9))).astype(np.int32)
        first = np.concatenate([first, by_ratio[:-1]])
        second = np.concatenate([second, by_ratio[1:]])
        link = np.concatenate([link, np.zeros(len(by_ratio) - 1)])
    union = (level.diagonal[first] + level.diagonal[second] + 2 * link) / (level.weights[first] + level.weights[second])
    return first, second, np.argsort(ratio[first] + ratio[second] - union, kind="stable")
