r"""A clustering as a tree, with evidence for its joins: fine parts merged pair by pair, to the clusters and to one.

Each step joins the pair with the least loss of ratio association of the normalised cut,

.. math:: \Delta_{ab} = \frac{M_{aa}}{w_a} + \frac{M_{bb}}{w_b} - \frac{M_{aa} + M_{bb} + 2 M_{ab}}{w_a + w_b},

first inside the clusters, then clusters with each other: the clusters are one level of the tree. Parts without affinity
are joined by their distance. The valley test of every join gives its evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..affinity import AffinityLike
from ..criteria import normalized_cut
from ..neighbors import coordinates, squared_distances
from ..points import PreparedPoints
from ..selection.number import fine_parts
from ..solvers.exchange import merges, part_links
from ..tensors import Floats, Ints, Places
from ..valley import MIN_SIDE, Splits, tree_evidence


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over the fine parts of a table.

    Parameters
    ----------
    linkage : ndarray of shape (n_leaves - 1, 4)
        As scipy has it: the two that are joined, the height, and the number of leaves.
    leaf_of_point : ndarray of shape (n_points,)
    gaps : ndarray of shape (n_leaves + 1,)
        For each number of clusters the logarithm of the conductance of its worst cluster over that of one cluster more;
        NaN for 0, 1 and all leaves. Very negative: a stable number.
    """

    linkage: Floats
    leaf_of_point: Ints
    gaps: Floats

    @property
    def n_leaves(self) -> int:
        """Number of fine parts."""
        return len(self.linkage) + 1

    @property
    def stable(self) -> list[int]:
        """Numbers of clusters with a wide gap to one cluster more, the widest first."""
        # The conductance of the worst of one cluster more is three times as high: log(1 / 3).
        clear = np.flatnonzero(np.nan_to_num(self.gaps, nan=0.0) <= -1.1)
        return [int(k) for k in clear[np.argsort(self.gaps[clear], kind="stable")]]

    def cut(self, n_clusters: int) -> Ints:
        """Cluster of each leaf at the level of `n_clusters`."""
        parent = np.arange(2 * self.n_leaves - 1)
        for step, (a, b) in enumerate(self.linkage[: self.n_leaves - n_clusters, :2].astype(int)):
            parent[[a, b]] = self.n_leaves + step
        # A node is numbered after its children: go from the last one down.
        for node in range(len(parent) - 1, -1, -1):
            parent[node] = parent[parent[node]]
        return np.unique(parent[: self.n_leaves], return_inverse=True)[1].astype(np.int64)


def hierarchy_of(
    affinity: AffinityLike, weights: Floats, labels: Ints, *, points: Any = None
) -> Hierarchy:
    """The tree of an affinity in which the clusters of `labels` are one level; `points` give the distances of parts.

    Examples
    --------
    >>> import numpy as np
    >>> near = np.array([[1.0, 0.1, 0.001], [0.1, 1.0, 0.001], [0.001, 0.001, 1.0]])
    >>> tree = hierarchy_of(np.kron(near, np.ones((20, 20))), np.ones(60), np.repeat([0, 1, 2], 20))
    >>> np.bincount(tree.cut(2)[tree.leaf_of_point]).max()
    np.int64(40)
    """
    problem = normalized_cut(affinity, weights)
    n_clusters = int(labels.max()) + 1
    n_parts = max(min(max(100, 4 * n_clusters), len(problem.weights) // 3), 1)
    parts = fine_parts(problem, n_parts, 0) if 1 < n_parts else np.zeros(len(labels), dtype=np.int64)
    leaves, leaf_of_point = np.unique(parts * n_clusters + labels, return_inverse=True)
    links = part_links(problem, leaf_of_point, len(leaves))
    weight = np.bincount(leaf_of_point, problem.weights).astype(np.float64)
    linkage, gaps = _merge_all(links, weight, leaves % n_clusters, _mean_distances(points, leaf_of_point, len(leaves)))
    return Hierarchy(linkage, leaf_of_point.astype(np.int64), gaps)


def _mean_distances(points: Any, leaf_of_point: Places, n_leaves: int) -> Floats:
    """Distances between the means of the leaves, the largest being 1; zero for points without coordinates."""
    if not isinstance(points, np.ndarray):
        return np.zeros((n_leaves, n_leaves))
    size = np.bincount(leaf_of_point)
    sums = [np.bincount(leaf_of_point, column) for column in np.asarray(points, dtype=np.float64).T]
    means = np.column_stack(sums) / size[:, None]
    distances = np.sqrt(squared_distances(means, means))
    return distances / max(float(distances.max()), np.finfo(float).tiny)


def _merge_all(links: Floats, weight: Floats, group: Ints, distances: Floats) -> tuple[Floats, Floats]:
    """The merges, those inside of groups first, and the gap at every number of clusters."""
    n_leaves = len(weight)
    node, alive = np.arange(n_leaves), np.ones(n_leaves, dtype=bool)
    size = np.ones(n_leaves, dtype=np.int64)
    linkage, conductance = np.empty((n_leaves - 1, 4)), np.ones(n_leaves + 1)
    height = 0.0
    conductance[n_leaves] = np.max(1 - np.diag(links) / weight)
    # Distance breaks ties of loss; 10 is more than any loss, so that parts of one cluster are merged first.
    penalty = 1e-6 * distances + 10.0 * (group[:, None] != group)
    for step, (a, b, loss) in enumerate(merges(links, weight, 1, penalty)):
        height = max(height, loss)
        size[a] += size[b]
        linkage[step] = *sorted((node[a], node[b])), height, size[a]
        alive[b] = False
        conductance[n_leaves - step - 1] = np.max(1 - np.diag(links)[alive] / weight[alive])
        node[a] = n_leaves + step
    gaps = np.full(n_leaves + 1, np.nan)
    # Conductances below 0.003 count as equal.
    gaps[2:-1] = np.log((conductance[2:-1] + 3e-3) / (np.minimum(conductance[3:], 1.0) + 3e-3))
    return linkage, gaps


def evidence_of(prepared: PreparedPoints, hierarchy: Hierarchy) -> Splits:
    """The test of every join of a tree over prepared points."""
    return tree_evidence(coordinates(prepared.points), prepared.weights, hierarchy.leaf_of_point, hierarchy.linkage)


def real_clusters(prepared: PreparedPoints, hierarchy: Hierarchy, labels: Ints, significance: float) -> Ints:
    """Labels in which clusters are separate only if the test shows it, at this level for all joins together.

    A cluster too small for the test joins the nearest one.
    """
    n_clusters = int(labels.max()) + 1
    joins = _joins_of_clusters(hierarchy, labels)
    points = coordinates(prepared.points)
    splits = tree_evidence(points, prepared.weights, labels, joins)
    real = splits.is_real(significance)
    n_points = np.bincount(labels)
    means = np.array([np.average(points[labels == k], axis=0) for k in range(n_clusters)])
    merged: list[list[list[int]]] = [[[k]] for k in range(n_clusters)]
    for split, is_real, (a, b) in zip(splits, real, joins):
        small, large = sorted((merged[a], merged[b]), key=lambda groups: _size(groups, n_points))
        if is_real:
            merged.append(small + large)
        elif split.verdict == "cannot say" and _size(small, n_points) < MIN_SIDE:
            joined = list(chain.from_iterable(small))
            centre = np.average(means[joined], axis=0, weights=n_points[joined])
            gaps = [min(np.linalg.norm(means[k] - centre) for k in group) for group in large]
            nearest = int(np.argmin(gaps))
            merged.append([group + joined if i == nearest else group for i, group in enumerate(large)])
        else:
            merged.append([list(chain.from_iterable(small + large))])
    group_of = np.empty(n_clusters, dtype=np.int64)
    for number, group in enumerate(merged[-1]):
        group_of[group] = number
    return group_of[labels]


def steady_clusters(prepared: PreparedPoints, hierarchy: Hierarchy, labels: Ints, n_usual: int) -> Ints:
    """Labels with the usual number of clusters, unless the test of splits is against it.

    Of the number found and the usual one, the larger is taken if the test shows all of its splits, else the smaller.
    """
    n_found = int(labels.max()) + 1
    if n_found == n_usual or n_usual > hierarchy.n_leaves:
        return labels
    usual = hierarchy.cut(n_usual)[hierarchy.leaf_of_point]
    few, many = (usual, labels) if n_usual < n_found else (labels, usual)
    joins = _joins_of_clusters(hierarchy, many)
    splits = tree_evidence(coordinates(prepared.points), prepared.weights, many, joins)
    return many if splits.is_real().all() else few


def _size(groups: list[list[int]], n_points: Ints) -> int:
    return int(sum(n_points[group].sum() for group in groups))


def _joins_of_clusters(hierarchy: Hierarchy, labels: Ints) -> Ints:
    """The joins above the clusters, in the linkage format with one leaf a cluster."""
    n_leaves, n_clusters = hierarchy.n_leaves, int(labels.max()) + 1
    cluster = np.empty(2 * n_leaves - 1, dtype=np.int64)
    cluster[hierarchy.leaf_of_point] = labels
    first = n_leaves - n_clusters
    pairs = hierarchy.linkage[:, :2].astype(int)
    for step, (a, _) in enumerate(pairs):
        cluster[n_leaves + step] = cluster[a] if step < first else n_clusters + step - first
    return cluster[pairs[first:]]
