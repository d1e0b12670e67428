r"""Candidates for a number of clusters: partitions found by six principles, and the votes of each.

* cuts: normalised cuts of shared-neighbour graphs at three scales, with steps in density as borders and without;
* trees: the longest edges of spanning trees removed;
* mixtures of Gaussians (:mod:`evencut.selection.mixtures`);
* centres: k-means and Ward's method;
* smoothed centres: the same for rows smoothed over their neighbours, k-means at unit length;
* spectral rows: k-means on leading eigenvectors at unit length.

With d the intrinsic dimension of the points and :math:`w = \max(0, 1 - (1.75/d)^2)`, cuts and trees have
:math:`(1 - w)/2` of the votes each, and cuts, centres, smoothed centres and spectral rows :math:`w/4` each: in the
plane cuts and trees, in many dimensions four principles with a quarter each. If a mixture predicts points better than
their neighbours do, mixtures take half of all votes. The candidates of one principle share its votes.

A step in density multiplies the affinity of p and q by :math:`\exp(-2 K (\log\rho_p - \log\rho_q)^2)`, with
:math:`\rho` the density from K neighbours: differences count in units of its standard error :math:`1/\sqrt K`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._runtime import part_of_step
from ..criteria import RatioProblem, normalized_cuts
from ..points import COMPONENTS
from ..solvers.exchange import merge_order
from ..solvers.multilevel import group_points, improve_border, multilevel
from ..tensors import Floats, Ints
from .graphs import NeighborGraphs, neighborhood_sizes
from .mixtures import mixture_candidates

__all__ = ["Candidate", "Proposal", "propose"]

# Intrinsic dimension up to which cuts and trees have all votes.
PLANE = 1.75
# Share of the votes that mixtures have if they predict best.
MIXTURE_VOTES = 0.5
# Neighbours that core distances of trees reach to; shares of an average cluster that a cut of a tree must leave.
TREE_CORES = (1, 5, 10)
TREE_SHARES = (0.25, 0.05, 0.02)
# Seed of the number of clusters, that of `random_state=0`: the number does not depend on the seed of the partition.
SEED = 209652396
# Above this, eigenvectors and mixtures cost more than everything else.
_MAX_COMPONENTS = 160
# Numbers of clusters up to which every graph is cut anew.
_DIRECT = 16
_GROUPS = 400


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition of the points and how it was found.

    Parameters
    ----------
    principle : {"cut", "tree", "mixture", "centre", "smoothed", "spectral"}
    kind : str
    scale : int
        Neighbours of a cut, or those that core distances of a tree reach to; 0 otherwise.
    system : str
        Name of the coordinate system.
    point_labels : ndarray of shape (n_points,)
        Clusters of the distinct points.
    point_of_row : ndarray of shape (n_samples,), optional
        The point of each row; -1 for rows of weight zero.
    """

    principle: str
    kind: str
    scale: int
    system: str
    point_labels: Ints
    point_of_row: Ints | None = None

    @property
    def labels(self) -> Ints:
        """Clusters of the rows, in their order; -1 for rows of weight zero."""
        if self.point_of_row is None:
            return self.point_labels
        return np.where(self.point_of_row < 0, -1, self.point_labels[self.point_of_row])


@dataclass(frozen=True, eq=False)
class Proposal:
    """The candidates of one coordinate system, the vote of each, and the gain of mixtures from 0 to 1."""

    graphs: NeighborGraphs
    candidates: list[Candidate]
    votes: Floats
    mixture_gain: float


def propose(graphs: NeighborGraphs, n_clusters: int, seed: int) -> Proposal:
    """The candidates for `n_clusters` in one coordinate system.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 4)) + place for place in (0, 9)])
    >>> proposal = propose(NeighborGraphs.of(X), 2, seed=0)
    >>> sorted({candidate.principle for candidate in proposal.candidates})
    ['centre', 'cut', 'mixture', 'smoothed', 'spectral', 'tree']
    """
    high = _centre_weight_of(graphs, n_clusters)
    sizes = neighborhood_sizes(len(graphs.weights), n_clusters)
    cuts = _cut(cut_problems(graphs, sizes), [n_clusters], [sizes], seed, 2)
    partitions = [*cuts, *_trees(graphs, [n_clusters])]
    if high > 0:
        partitions += [_Found(*each) for each in graphs.centre_partitions([n_clusters], 15)]
    # Columns of two values have no density that a mixture could predict.
    if not graphs.has_coordinates or graphs.system.name == COMPONENTS or n_clusters > _MAX_COMPONENTS:
        return _proposal(graphs, partitions, np.ones(len(partitions)), high, 0.0)
    starts = [each.labels for each in partitions if (each.principle, each.kind) in _MIXTURE_STARTS]
    mixtures = mixture_candidates(graphs, n_clusters, starts, np.random.default_rng(seed))
    shares = np.concatenate([np.ones(len(partitions)), mixtures.shares])
    partitions += [
        _Found(n_clusters, "mixture", kind, 0, labels) for kind, labels in zip(mixtures.kinds, mixtures.labels)
    ]
    return _proposal(graphs, partitions, shares, high, mixtures.gain)


def quick_proposals(graphs: NeighborGraphs, numbers: Sequence[int]) -> list[Proposal]:
    """The candidates for each of several numbers of clusters, of fewer starts and without mixtures.

    The largest number comes first: its eigenvectors serve the others.
    """
    part_of_step(len(numbers))
    partitions = [*_quick_cuts(graphs, numbers), *_trees(graphs, numbers)]
    part_of_step(len(numbers))
    highs = [_centre_weight_of(graphs, k) for k in numbers]
    if any(highs):
        few = [k for k, high in zip(numbers, highs) if high > 0]
        partitions += [_Found(*each) for each in graphs.centre_partitions(few, 10)]
    by_number = [[each for each in partitions if each.n_clusters == k] for k in numbers]
    return [_proposal(graphs, few, np.ones(len(few)), high, 0.0) for few, high in zip(by_number, highs)]


def _centre_weight_of(graphs: NeighborGraphs, n_clusters: int) -> float:
    # Cuts and trees see the exact gap of a column of two values wherever it stands.
    dimension = np.inf if graphs.system.name == COMPONENTS else graphs.dimension
    return centre_weight(dimension) if n_clusters <= _MAX_COMPONENTS else 0.0


def _proposal(graphs: NeighborGraphs, partitions: list[_Found], shares: Floats, high: float, gain: float) -> Proposal:
    system = graphs.system
    candidates = [Candidate(each.principle, each.kind, each.scale, system.name, each.labels) for each in partitions]
    votes = principle_votes([each.principle for each in partitions], shares, high, gain)
    return Proposal(graphs, candidates, system.votes * votes, gain)


# Partitions that mixtures start from: a cut of the middle scale, and the tree that leaves the smallest clusters.
_MIXTURE_STARTS = {("cut", "gap"), ("tree", f"{TREE_SHARES[-1]:g} of a cluster"), ("centre", "k-means")}


class _Found(NamedTuple):
    """A partition into `n_clusters`; the other fields are those of a candidate."""

    n_clusters: int
    principle: str
    kind: str
    scale: int
    labels: Ints


def centre_weight(dimension: float) -> float:
    """Share of the votes that follow the rule for many dimensions.

    Examples
    --------
    >>> centre_weight(1.75), centre_weight(3.5)
    (0.0, 0.75)
    """
    return max(0.0, 1 - (PLANE / dimension) ** 2)


def principle_votes(principles: list[str], shares: Floats, high: float, mixture_gain: float) -> Floats:
    """The vote of each candidate; they sum to one.

    Parameters
    ----------
    principles : list of str
    shares : ndarray of shape (n_candidates,)
        How candidates share the votes of their principle.
    high : float
        Share of the rule for many dimensions.
    mixture_gain : float
        From 0 to 1.

    Examples
    --------
    >>> principle_votes(["cut", "tree", "tree"], np.ones(3), 0.0, 0.0)
    array([0.5 , 0.25, 0.25])
    """
    mixtures = MIXTURE_VOTES * mixture_gain if "mixture" in principles else 0.0
    by_principle = {"cut": (1 - high) / 2 + high / 4, "tree": (1 - high) / 2}
    by_principle |= dict.fromkeys(("centre", "smoothed", "spectral"), high / 4)
    by_principle = {name: (1 - mixtures) * vote for name, vote in by_principle.items()} | {"mixture": mixtures}
    total = {name: sum(share for one, share in zip(principles, shares) if one == name) for name in set(principles)}
    votes = np.array(
        [by_principle[name] * share / total[name] if total[name] else 0.0 for name, share in zip(principles, shares)]
    )
    return votes / votes.sum()


def cut_problems(graphs: NeighborGraphs, sizes: Iterable[int]) -> dict[int, dict[str, RatioProblem]]:
    """The normalised cuts with each number of neighbours: with steps in density as borders, and without."""
    new = [size for size in dict.fromkeys(sizes) if size not in graphs.problems]
    if not new:
        return graphs.problems
    affinities = graphs.affinities(new)
    lowered = [_with_density_steps(affinity, graphs, size) for affinity, size in zip(affinities, new)]
    problems = normalized_cuts([*lowered, *affinities], graphs.weights)
    graphs.problems.update(
        {size: {"step": step, "gap": gap} for size, step, gap in zip(new, problems, problems[len(new) :])}
    )
    return graphs.problems


def _cut(
    problems: dict[int, dict[str, RatioProblem]], numbers: Sequence[int], sizes: list[list[int]], seed: int, n_init: int
) -> list[_Found]:
    """The cuts for each number of clusters at its three sizes of a neighbourhood."""
    cuts = [(k, kind, size, problems[size][kind]) for k, three in zip(numbers, sizes) for size, kind in _scales(three)]
    return [
        _Found(k, "cut", kind, size, multilevel(problem, k, n_init=n_init, n_runs=1, random_state=seed)[0])
        for k, kind, size, problem in cuts
    ]


def middle_cuts(graphs: NeighborGraphs, numbers: Sequence[int]) -> list[Ints]:
    """One normalised cut at the middle scale for each number of clusters."""
    sizes = [neighborhood_sizes(len(graphs.weights), k)[1] for k in numbers]
    problems = cut_problems(graphs, sizes)
    posed = [problems[size]["gap"] for size in sizes]
    return [multilevel(each, k, n_init=1, n_runs=1, random_state=0)[0] for each, k in zip(posed, numbers)]


def _quick_cuts(graphs: NeighborGraphs, numbers: Sequence[int]) -> list[_Found]:
    """The same without exchanges of clusters: groups of points are merged pair by pair, and borders refined."""
    few, many = [k for k in numbers if k <= _DIRECT], [k for k in numbers if k > _DIRECT]
    n_points = len(graphs.weights)
    sizes = [neighborhood_sizes(n_points, k) for k in (*few, *([n_points] if many else []))]
    problems = cut_problems(graphs, itertools.chain(*sizes))
    partitions = _cut(problems, few, sizes, SEED, 1)
    if many and not graphs.merges:
        scales = _scales(sizes[-1])
        posed = [problems[size][kind] for size, kind in scales]
        states = [np.random.default_rng(SEED).integers(1, 2**63, 1).astype(np.uint64) for _ in posed]
        groups = [group_points(problem.matrix.graph, None, _GROUPS, state) for problem, state in zip(posed, states)]
        orders = [merge_order(problem, parts) for problem, parts in zip(posed, groups)]
        graphs.merges.extend(zip(scales, posed, groups, orders))
    starts = [
        (k, scale, problem, _after_merges(order, k)[parts])
        for k in many
        for scale, problem, parts, order in graphs.merges
        if k <= len(order) + 2
    ]
    return partitions + [
        _Found(k, "cut", kind, size, improve_border(problem, labels, k)[0])
        for k, (size, kind), problem, labels in starts
    ]


def _scales(sizes: list[int]) -> list[tuple[int, str]]:
    """Neighbours and kind of each cut; at the finest scale gaps are mostly chance."""
    return [(sizes[0], "step"), *itertools.product(sizes[1:], ("step", "gap"))]


def _after_merges(order: Ints, n_clusters: int) -> Ints:
    """The cluster of each part after the first merges of an order."""
    n_parts = len(order) + 2
    # Each part that joined another leads to the one that is left.
    owner = np.arange(n_parts)
    remaining, gone = order[: n_parts - n_clusters].T
    owner[gone] = remaining
    while (owner[owner] != owner).any():
        owner = owner[owner]
    return np.unique(owner, return_inverse=True)[1]


def _with_density_steps(affinity: sparse.csr_array, graphs: NeighborGraphs, size: int) -> sparse.csr_array:
    """The affinity lowered where the density changes."""
    from ._consensus_loops import step_down

    neighbors = graphs.indices[:, : size + 1]
    radius = graphs.distances[:, size]
    radius = np.maximum(radius, radius[radius > 0].min() if (radius > 0).any() else 1.0)
    # Above four dimensions a neighbourhood reaches as far as its cluster, and the full power would isolate outliers.
    power = min(graphs.dimension, 16 / graphs.dimension)
    density = np.log(graphs.weights[neighbors].sum(axis=1)) - power * np.log(radius)
    for _ in range(2):
        density = density[neighbors].mean(axis=1)
    data = step_down(affinity.indptr, affinity.indices, affinity.data, density, 2.0 * size)
    return sparse.csr_array((data, affinity.indices, affinity.indptr), shape=affinity.shape)


def _trees(graphs: NeighborGraphs, numbers: Sequence[int]) -> list[_Found]:
    trees = graphs.trees(TREE_CORES)
    return [
        _Found(k, "tree", f"{share:g} of a cluster", tree.core, tree.cut(k, share))
        for k in numbers
        for tree in trees
        for share in TREE_SHARES
    ]
