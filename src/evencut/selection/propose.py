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
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..criteria import RatioProblem, normalized_cut
from ..points import COMPONENTS
from ..solvers.exchange import merge_levels
from ..solvers.multilevel import group_points, improve_border, multilevel
from ..tensors import Floats, Ints
from .graphs import NeighborGraphs, nearest_mean, neighborhood_sizes
from .mixtures import mixture_candidates

__all__ = ["Candidate", "Proposal", "propose"]

# Intrinsic dimension up to which cuts and trees have all votes.
PLANE = 1.75
# Share of the votes that mixtures have if they predict best.
MIXTURE_VOTES = 0.5
# Neighbours that core distances of trees reach to; shares of an average cluster that a cut of a tree must leave.
TREE_CORES = (1, 5, 10)
TREE_SHARES = (0.25, 0.05, 0.02)
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


def propose(graphs: NeighborGraphs, n_clusters: int, seed: int, *, quick: bool = False) -> Proposal:
    """The candidates for `n_clusters` in one coordinate system; `quick` ones have fewer starts, and no mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 4)) + place for place in (0, 9)])
    >>> found = propose(NeighborGraphs.of(X), 2, seed=0)
    >>> sorted({candidate.principle for candidate in found.candidates})
    ['centre', 'cut', 'mixture', 'smoothed', 'spectral', 'tree']
    """
    # Cuts and trees see the exact gap of a column of two values wherever it stands.
    dimension = np.inf if graphs.system.name == COMPONENTS else graphs.dimension
    high = centre_weight(dimension) if n_clusters <= _MAX_COMPONENTS else 0.0
    cuts = _quick_cuts(graphs, n_clusters, seed) if quick else _cuts(graphs, n_clusters, seed, 2)
    found = [*cuts, *_trees(graphs, n_clusters)]
    n_iter = 10 if quick else 15
    if high > 0:
        found += _spectral(graphs, n_clusters, n_iter)
        if graphs.has_coordinates:
            found += [*_centres(graphs, n_clusters, n_iter), *_smoothed(graphs, n_clusters, n_iter)]
    shares, gain = np.ones(len(found)), 0.0
    # Columns of two values have no density that a mixture could predict.
    if not quick and graphs.has_coordinates and graphs.system.name != COMPONENTS and n_clusters <= _MAX_COMPONENTS:
        starts = [labels for principle, kind, _, labels in found if (principle, kind) in _MIXTURE_STARTS]
        mixtures = mixture_candidates(graphs, n_clusters, starts, np.random.default_rng(seed))
        found += [("mixture", kind, 0, labels) for kind, labels in zip(mixtures.kinds, mixtures.labels)]
        shares, gain = np.concatenate([shares, mixtures.shares]), mixtures.gain
    candidates = [Candidate(*each[:3], graphs.system.name, each[3]) for each in found]
    votes = principle_votes([candidate.principle for candidate in candidates], shares, high, gain)
    return Proposal(graphs, candidates, graphs.system.votes * votes, gain)


# Partitions that mixtures start from: a cut of the middle scale, and the tree that leaves the smallest clusters.
_MIXTURE_STARTS = {("cut", "gap"), ("tree", f"{TREE_SHARES[-1]:g} of a cluster"), ("centre", "k-means")}

_Found = tuple[str, str, int, Ints]


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
    votes = np.array([by_principle[name] * share / total[name] if total[name] else 0.0
                      for name, share in zip(principles, shares)])
    return votes / votes.sum()


def _problems(graphs: NeighborGraphs, n_clusters: int) -> list[tuple[str, int, RatioProblem]]:
    """The normalised cuts of all scales, at steps in density and at gaps between points."""
    problems = []
    for rank, size in enumerate(neighborhood_sizes(graphs.n_points, n_clusters)):
        if size not in graphs.problems:
            affinity = graphs.affinity(size)
            matrices = {"step": _with_density_steps(affinity, graphs, size), "gap": affinity}
            graphs.problems[size] = {kind: normalized_cut(matrix, graphs.weights) for kind, matrix in matrices.items()}
        # At the finest scale gaps are mostly chance.
        problems += [(kind, size, graphs.problems[size][kind]) for kind in (("step", "gap") if rank else ("step",))]
    return problems


def _cuts(graphs: NeighborGraphs, n_clusters: int, seed: int, n_init: int) -> Iterator[_Found]:
    for kind, size, problem in _problems(graphs, n_clusters):
        yield "cut", kind, size, multilevel(problem, n_clusters, n_init=n_init, n_runs=1, random_state=seed)[0]


def _quick_cuts(graphs: NeighborGraphs, n_clusters: int, seed: int) -> Iterator[_Found]:
    """The same without exchanges of clusters: groups of points are merged pair by pair, and borders refined."""
    if n_clusters <= _DIRECT:
        yield from _cuts(graphs, n_clusters, seed, 1)
        return
    # Neighbourhoods for a few clusters, and for many.
    for_clusters = 8 if n_clusters <= 16 else graphs.n_points
    if for_clusters not in graphs.levels:
        graphs.levels[for_clusters] = []
        for kind, size, problem in _problems(graphs, for_clusters):
            state = np.random.default_rng(seed).integers(1, 2**63, 1).astype(np.uint64)
            parts = group_points(problem.matrix.graph, None, _GROUPS, state)
            levels = {len(level.weight): level for level in merge_levels(problem, parts, 2)}
            graphs.levels[for_clusters].append((kind, size, problem, levels))
    for kind, size, problem, levels in graphs.levels[for_clusters]:
        if n_clusters in levels:
            yield "cut", kind, size, improve_border(problem, levels[n_clusters].labels(), n_clusters)[0]


def _with_density_steps(affinity: sparse.csr_array, graphs: NeighborGraphs, size: int) -> sparse.csr_array:
    """The affinity lowered where the density changes."""
    from ._consensus_loops import step_down

    near = graphs.indices[:, : size + 1]
    radius = graphs.distances[:, size]
    radius = np.maximum(radius, radius[radius > 0].min() if (radius > 0).any() else 1.0)
    # Above four dimensions a neighbourhood reaches as far as its cluster, and the full power would isolate outliers.
    power = min(graphs.dimension, 16 / graphs.dimension)
    density = np.log(graphs.weights[near].sum(axis=1)) - power * np.log(radius)
    for _ in range(2):
        density = density[near].mean(axis=1)
    data = step_down(affinity.indptr, affinity.indices, affinity.data, density, 2.0 * size)
    return sparse.csr_array((data, affinity.indices, affinity.indptr), shape=affinity.shape)


def _trees(graphs: NeighborGraphs, n_clusters: int) -> Iterator[_Found]:
    for core, share in itertools.product(TREE_CORES, TREE_SHARES):
        yield "tree", f"{share:g} of a cluster", core, graphs.tree(core).cut(n_clusters, share)


def _centres(graphs: NeighborGraphs, n_clusters: int, n_iter: int) -> Iterator[_Found]:
    ward = graphs.ward.cut(n_clusters)
    yield "centre", "k-means", 0, kmeans(graphs.rows, graphs.weights, ward, n_iter)
    yield "centre", "Ward", 0, ward


def _smoothed(graphs: NeighborGraphs, n_clusters: int, n_iter: int) -> Iterator[_Found]:
    ward = graphs.smoothed_ward.cut(n_clusters)
    yield "smoothed", "k-means", 0, kmeans(unit_length(graphs.smoothed_rows), graphs.weights, ward, n_iter)
    yield "smoothed", "Ward", 0, ward


def _spectral(graphs: NeighborGraphs, n_clusters: int, n_iter: int) -> Iterator[_Found]:
    if n_clusters >= graphs.n_points - 2:
        return
    for kind, rows in zip(("neighbours", "equalised"), graphs.spectral_rows(n_clusters)):
        rows = unit_length(rows)
        yield "spectral", kind, 0, kmeans(rows, graphs.weights, pivot_labels(rows), n_iter)


def unit_length(rows: Floats) -> Floats:
    """The rows divided by their lengths; empty rows stay zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def kmeans(rows: Floats, weights: Floats, start: Ints, n_iter: int = 15) -> Ints:
    """Weighted k-means from a partition; a cluster that loses all its rows is left out.

    Examples
    --------
    >>> kmeans(np.array([[0.0], [1.0], [8.0]]), np.ones(3), np.array([0, 1, 1]))
    array([0, 0, 1])
    """
    labels, places = start, np.arange(len(rows) + 1)
    for _ in range(n_iter):
        n_clusters = int(labels.max()) + 1
        members = sparse.csc_array((weights, labels, places), shape=(n_clusters, len(rows)))
        mass = members.sum(axis=1)
        means = np.asarray(members @ rows)[mass > 0] / mass[mass > 0, None]
        moved = nearest_mean(rows, means)
        if len(means) == n_clusters and (moved == labels).all():
            break
        labels = moved
    return labels


def pivot_labels(rows: Floats) -> Ints:
    """Clusters of spectral rows by pivoted QR: each row goes to the pivot that it is most aligned with.

    Examples
    --------
    >>> pivot_labels(np.array([[1.0, 0.0], [0.0, 1.0], [0.1, 0.9]]))
    array([0, 1, 1])
    """
    from scipy.linalg import polar, qr

    n_clusters = rows.shape[1]
    pivots = qr(rows.T, pivoting=True, mode="r", check_finite=False)[1][:n_clusters]
    rotation = polar(rows[pivots].T)[0]
    return np.unique(np.argmax(np.abs(rows @ rotation), axis=1), return_inverse=True)[1]
