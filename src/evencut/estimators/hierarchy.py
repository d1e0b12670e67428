r"""A clustering as a tree: fine parts merged pair by pair, into the clusters that were found and on to one.

Each step joins the pair with the least loss of ratio association of the normalised cut,

.. math:: \Delta_{ab} = \frac{M_{aa}}{w_a} + \frac{M_{bb}}{w_b} - \frac{M_{aa} + M_{bb} + 2 M_{ab}}{w_a + w_b},

first inside the clusters, then clusters with each other: the clusters are one level of the tree. What has no affinity
is joined by its distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..affinity import AffinityLike
from ..criteria import normalized_cut
from ..neighbors import squared_distances
from ..selection.number import fine_parts
from ..solvers.merging import merges, part_links
from ..tensors import Floats, Ints, Places

# Fine parts: enough for four times the clusters, and at least so many.
_PARTS = 100
_POINTS_PER_PART = 3
_SMALL_LEAK = 3e-3
# Distance decides between pairs that lose the same.
_LITTLE = 1e-6
# More than any merge loses: parts of one cluster are merged before clusters are.
_MUCH = 10.0
# A number of clusters is stable where the worst of one cluster more leaks three times as much.
_STABLE_GAP = -1.1


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over the fine parts of a table.

    Parameters
    ----------
    linkage : ndarray of shape (n_leaves - 1, 4)
        As scipy has it: the two that are joined, the height, and the number of leaves.
    leaf_of_point : ndarray of shape (n_points,)
    gaps : ndarray of shape (n_leaves + 1,)
        For each number of clusters the logarithm of the leak of its worst cluster over that of one cluster more;
        not a number for 0, 1 and all leaves. Very negative: a stable number.
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
        clear = np.flatnonzero(np.nan_to_num(self.gaps, nan=0.0) <= _STABLE_GAP)
        return [int(k) for k in clear[np.argsort(self.gaps[clear], kind="stable")]]

    def cut(self, n_clusters: int) -> Ints:
        """Cluster of each leaf where `n_clusters` are left."""
        parent = np.arange(2 * self.n_leaves - 1)
        for step, (a, b) in enumerate(self.linkage[: self.n_leaves - n_clusters, :2].astype(int)):
            parent[[a, b]] = self.n_leaves + step
        # A node is numbered after its children: from the last one down, everyone knows the root.
        for node in range(len(parent) - 1, -1, -1):
            parent[node] = parent[parent[node]]
        return np.unique(parent[: self.n_leaves], return_inverse=True)[1].astype(np.int64)


def hierarchy_of(
    affinity: AffinityLike,
    weights: Floats,
    labels: Ints,
    random_state: int | None = None,
    *,
    points: Any = None,
) -> Hierarchy:
    """The tree of an affinity in which the clusters of `labels` are one level; `points` tell how far parts are apart.

    Examples
    --------
    >>> import numpy as np
    >>> near = np.array([[1.0, 0.1, 0.001], [0.1, 1.0, 0.001], [0.001, 0.001, 1.0]])
    >>> tree = hierarchy_of(np.kron(near, np.ones((20, 20))), np.ones(60), np.repeat([0, 1, 2], 20), random_state=0)
    >>> np.bincount(tree.cut(2)[tree.leaf_of_point]).max()
    np.int64(40)
    """
    problem = normalized_cut(affinity, weights)
    n_clusters = int(labels.max()) + 1
    n_parts = max(min(max(_PARTS, 4 * n_clusters), problem.n_points // _POINTS_PER_PART), 1)
    parts = fine_parts(problem, n_parts, random_state) if 1 < n_parts else np.zeros(len(labels), dtype=np.int64)
    leaves, leaf_of_point = np.unique(parts * n_clusters + labels, return_inverse=True)
    links = part_links(problem, leaf_of_point, len(leaves))
    weight = np.bincount(leaf_of_point, problem.weights).astype(np.float64)
    linkage, gaps = _merged(links, weight, leaves % n_clusters, _apart(points, leaf_of_point, len(leaves)))
    return Hierarchy(linkage, leaf_of_point.astype(np.int64), gaps)


def _apart(points: Any, leaf_of_point: Places, n_leaves: int) -> Floats:
    """Distances between the means of the leaves, the largest one; zero where points have no coordinates."""
    if not isinstance(points, np.ndarray):
        return np.zeros((n_leaves, n_leaves))
    size = np.bincount(leaf_of_point)
    sums = [np.bincount(leaf_of_point, column) for column in np.asarray(points, dtype=np.float64).T]
    means = np.column_stack(sums) / size[:, None]
    apart = np.sqrt(squared_distances(means, means))
    return apart / max(float(apart.max()), np.finfo(float).tiny)


def _merged(
    links: Floats, weight: Floats, group: Ints, apart: Floats
) -> tuple[Floats, Floats]:
    """The merges, those inside of groups first, and the gap at every number of clusters."""
    n_leaves = len(weight)
    node, alive = np.arange(n_leaves), np.ones(n_leaves, dtype=bool)
    size = np.ones(n_leaves, dtype=np.int64)
    linkage, leaks = np.empty((n_leaves - 1, 4)), np.ones(n_leaves + 1)
    height = 0.0
    leaks[n_leaves] = np.max(1 - np.diag(links) / weight)
    between = _MUCH * (group[:, None] != group)
    for step, (kept, gone, loss) in enumerate(merges(links, weight, 1, _LITTLE * apart + between)):
        height = max(height, loss)
        size[kept] += size[gone]
        linkage[step] = *sorted((node[kept], node[gone])), height, size[kept]
        alive[gone] = False
        leaks[n_leaves - step - 1] = np.max(1 - np.diag(links)[alive] / weight[alive])
        node[kept] = n_leaves + step
    gaps = np.full(n_leaves + 1, np.nan)
    gaps[2:-1] = np.log((leaks[2:-1] + _SMALL_LEAK) / (np.minimum(leaks[3:], 1.0) + _SMALL_LEAK))
    return linkage, gaps
