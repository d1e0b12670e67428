r"""Exchange of clusters on a small exact matrix: for dense problems what multilevel is for sparse graphs.

Points are grouped along strong links, but the matrix of groups adds up all entries of M, so every partition of the
groups has exactly the energy of the partition it stands for: what lowers it there lowers it for the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..criteria import RatioProblem
from ..tensors import AnyFloats, AnyInts, Floats, Ints
from .descent import improve_by_moves
from .multilevel import group_points


def exchange_cycles(
    problem: RatioProblem,
    n_clusters: int,
    *,
    n_init: int = 2,
    n_runs: int = 4,
    max_iter: int = 100,
    random_state: np.random.Generator | int | None = None,
) -> tuple[Ints, list[float], bool]:
    r"""Labels, energies along the way, and whether no move was left at the end.

    A cycle groups the points, merges or exchanges clusters of groups (one split, two merged) while the energy falls,
    and refines the labels by single-point moves. A cluster is split where it pays most: at a mode of the density, at
    an outlier, across a neck. Later cycles group inside the clusters found.

    Parameters
    ----------
    problem : RatioProblem
        With a matrix in memory, dense or sparse. Any criterion.
    n_clusters : int
        No cluster is left empty.
    n_init : int
        Number of cycles of a run; the energy never rises from one to the next.
    n_runs : int
        Runs of all cycles, the best of which is kept.
    max_iter : int
        Most sweeps of a refinement.
    random_state : Generator or int, optional
        The order in which points are grouped, and where clusters are split.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> x = np.array([0.0, 0.01, 0.02, 1.0, 2.0, 3.0])
    >>> mode = average_association(np.exp(-np.square(x[:, None] - x) / 0.02))
    >>> exchange_cycles(mode, 2, random_state=0)[0]
    array([0, 0, 0, 1, 1, 1])
    """
    rng = np.random.default_rng(random_state)
    # Each run draws from a separate random sequence: longer runs do not change those of the others.
    states = [rng.integers(1, 2**63, 1).astype(np.uint64) for _ in range(n_runs)]
    # The share of a point's affinity that is its own: high for outliers, low at modes, equalised or not.
    degree, own = problem.matrix.degrees(), np.asarray(problem.matrix.diagonal(), dtype=np.float64)
    isolation = own / np.where(degree > 0, degree, np.maximum(own, 1.0))
    finest = _DenseProblem(problem, _strong_links(problem), isolation)
    runs = (_run(finest, n_clusters, n_init, max_iter, state) for state in states)
    return min(runs, key=lambda run: run[1][-1])


class _DenseProblem(NamedTuple):
    """A problem, links to group its points along, and how isolated each point is."""

    problem: RatioProblem
    links: sparse.csr_array
    isolation: Floats


def _run(
    finest: _DenseProblem, n_clusters: int, n_init: int, max_iter: int, state: NDArray[np.uint64]
) -> tuple[Ints, list[float], bool]:
    """All cycles from one random sequence."""
    trace: list[float] = []
    labels, converged = None, False
    for _ in range(max(n_init, 1)):
        start, energy = _cycle(finest, labels, n_clusters, state)
        labels, energies, converged = improve_by_moves(finest.problem, start, n_clusters, max_iter=max_iter)
        trace += [energy, *energies]
    assert labels is not None
    return labels, trace, converged


def _cycle(
    finest: _DenseProblem, labels: Ints | None, n_clusters: int, state: NDArray[np.uint64]
) -> tuple[Ints, float]:
    """Labels after exchanges of clusters of groups, and their energy; without labels, groups are first merged."""
    from ._growth_loops import exchange_grown, merge_nodes

    problem, target = finest.problem, max(100, 12 * n_clusters)
    parent = _bundle(problem, group_points(finest.links, labels, target, state), labels, target)
    # The most isolated points stay single: a cut may separate any few of them from the rest.
    singles = np.argsort(-finest.isolation, kind="stable")[:20]
    parent[singles] = len(problem.weights) + singles
    parent = np.unique(parent, return_inverse=True)[1]
    n_groups = int(parent.max()) + 1
    small = _contracted(problem, parent, n_groups)
    weights = np.bincount(parent, problem.weights, n_groups).astype(np.float64)
    trials = 20 + 2 * n_clusters
    if labels is None:
        of_group = np.arange(n_groups)
        for union, gone in merge_nodes(small, weights, n_clusters):
            of_group[of_group == gone] = union
        _, first, of_group = np.unique(of_group, return_index=True, return_inverse=True)
        of_group = np.argsort(np.argsort(first))[of_group]
        trials *= 2
    else:
        of_group = np.empty(n_groups, dtype=np.int64)
        of_group[parent] = labels
    # A limit on the entries that all exchanges of one cycle read.
    trials = min(trials, 1 + 50_000_000 // (n_groups * (n_groups + 4 * n_clusters)))
    isolation = np.bincount(parent, finest.isolation, n_groups) / np.bincount(parent, minlength=n_groups)
    ranked = np.argsort(-isolation, kind="stable")
    energy = exchange_grown(small, weights, of_group, n_clusters, ranked, trials, state)
    return of_group[parent], float(energy)


def _strong_links(problem: RatioProblem) -> sparse.csr_array:
    """A sparse graph to group points along: the links relative to the weights, of dense matrices the strongest."""
    from ._growth_loops import strongest_links

    scale = 1.0 / np.sqrt(problem.weights)
    graph = problem.matrix.rescaled(scale).graph if problem.matrix.is_graph else None
    if graph is not None:
        return sparse.csr_array((np.maximum(graph.data, 0.0), graph.indices, graph.indptr), shape=graph.shape)
    n_points = len(problem.weights)
    # Points are grouped along these links of each.
    columns, values = strongest_links(_in_memory(problem), scale, min(12, n_points - 1))
    values = np.maximum(values * scale[:, None], 0.0)
    place = np.repeat(np.arange(n_points), columns.shape[1]), columns.ravel()
    one_way = sparse.csr_array((values.ravel(), place), shape=(n_points, n_points))
    return sparse.csr_array(one_way + one_way.T)


def _in_memory(problem: RatioProblem) -> AnyFloats:
    """The dense matrix of a problem."""
    if not problem.matrix.is_array:
        kind = type(problem.matrix.entries).__name__
        raise ValueError(
            f"the multilevel solver needs an affinity in memory, but the rows of {kind} are computed when needed; use "
            "a neighbour kernel, or solver='auto' or 'lloyd'."
        )
    return np.ascontiguousarray(problem.matrix.entries)


def _contracted(problem: RatioProblem, parent: Ints, n_groups: int) -> Floats:
    """M summed over each pair of groups."""
    from ._growth_loops import contract_dense

    if problem.matrix.is_graph:
        return part_links(problem, parent, n_groups)
    small = contract_dense(_in_memory(problem), parent, n_groups)
    if problem.diagonal is not None:
        small[np.diag_indices(n_groups)] += np.bincount(parent, problem.diagonal, n_groups)
    return small


def _bundle(problem: RatioProblem, parent: Ints, labels: Ints | None, target: int) -> Ints:
    """Groups put together until there are few: where points have no links there is nothing to group them along.

    Without a link a union costs least among groups of similar ratio M/w. Groups of different labels never meet.
    """
    n_groups = int(parent.max()) + 1
    size = -(-n_groups // (2 * target))
    if size == 1:
        return parent
    diagonal = problem.matrix.diagonal() + (0.0 if problem.diagonal is None else problem.diagonal)
    ratio = np.bincount(parent, diagonal, n_groups) / np.bincount(parent, problem.weights, n_groups)
    label = np.zeros(n_groups, dtype=np.int64)
    label[parent] = 0 if labels is None else labels
    bundle = np.empty(n_groups, dtype=np.int64)
    bundle[np.lexsort((ratio, label))] = np.arange(n_groups) // size
    return np.unique(bundle * (label.max() + 1) + label, return_inverse=True)[1][parent]


@dataclass(frozen=True, eq=False)
class Level:
    """One partition met while merging.

    Parameters
    ----------
    parts : ndarray of shape (n,)
        Part of each point, the same on every level.
    owner : ndarray of shape (n_parts,)
        Cluster of each part, named by one of its parts.
    inside, weight : ndarrays of shape (n_clusters,)
        M(S_k, S_k) and w(S_k) of each cluster.
    """

    parts: Ints
    owner: Ints
    inside: Floats
    weight: Floats

    def labels(self) -> Ints:
        """Cluster of each point, numbered from 0."""
        return np.unique(self.owner, return_inverse=True)[1].astype(np.int64)[self.parts]


def merge_levels(problem: RatioProblem, labels: AnyInts, n_clusters: int = 1) -> Iterator[Level]:
    r"""The partitions met on the way from the parts down to `n_clusters`, finest first.

    Each step joins the pair with the least loss of ratio association:

    .. math:: \Delta_{ab} = \frac{M_{aa} + M_{bb} + 2 M_{ab}}{w_a + w_b} - \frac{M_{aa}}{w_a} - \frac{M_{bb}}{w_b}

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> pairs = np.kron(np.eye(2), np.ones((2, 2)))
    >>> [len(level.weight) for level in merge_levels(normalized_cut(pairs), np.arange(4))]
    [4, 3, 2, 1]
    """
    parts = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    n_parts = int(parts.max()) + 1
    if n_parts < n_clusters:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_parts} parts to merge.")
    links = part_links(problem, parts, n_parts)
    weight = np.bincount(parts, problem.weights).astype(np.float64)
    owner, alive = np.arange(n_parts), np.ones(n_parts, dtype=bool)
    yield Level(parts, owner.copy(), np.diag(links).copy(), weight.copy())
    for union, gone, _ in merges(links, weight, n_clusters):
        alive[gone] = False
        owner[owner == gone] = union
        yield Level(parts, owner.copy(), np.diag(links)[alive], weight[alive])


def merges(
    links: Floats, weight: Floats, n_clusters: int, extra: Floats | None = None
) -> Iterator[tuple[int, int, float]]:
    """Merges of the clusters whose union costs least, `extra` included: who stays, who joins it, and the loss.

    Links and weights are brought up to date, in place; only those of clusters that are left mean something.
    """
    from ._growth_loops import merge_nodes

    for union, gone in merge_nodes(links, weight, n_clusters, extra).tolist():
        apart = links[union, union] / weight[union] + links[gone, gone] / weight[gone]
        links[union] += links[gone]
        links[:, union] += links[:, gone]
        weight[union] += weight[gone]
        yield union, gone, float(apart - links[union, union] / weight[union])


def part_links(problem: RatioProblem, parts: AnyInts, n_parts: int) -> Floats:
    """M summed over each pair of parts."""
    graph = problem.matrix.graph
    if graph is not None:
        place = (parts, np.arange(len(parts)))
        members = sparse.csr_array((np.ones(len(parts)), place), shape=(n_parts, len(parts)))
        links = (members @ graph @ members.T).toarray()
    else:
        table = problem.matrix.links(parts, n_parts)
        links = np.zeros((n_parts, n_parts))
        np.add.at(links, parts, table)
    if problem.diagonal is not None:
        links[np.diag_indices(n_parts)] += np.bincount(parts, problem.diagonal, n_parts)
    return links.astype(np.float64)


def merge_order(problem: RatioProblem, parts: Ints) -> Ints:
    """Merges of parts down to two clusters, that of least loss first: who stays, and who joins it."""
    from ._growth_loops import merge_nodes

    n_parts = int(parts.max()) + 1
    weight = np.bincount(parts, problem.weights).astype(np.float64)
    return np.asarray(merge_nodes(part_links(problem, parts, n_parts), weight, 2, None))
