"""Starts by merging: more parts than asked for, joined pair by pair where the criterion loses least.

An embedding cut into just k parts spends them on noise or on halves of long shapes; many small parts follow
the shapes, and merging judges them by the criterion itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..criteria import RatioProblem
from ..tensors import AnyInts, Floats, Ints


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
    for kept, gone, _ in merges(links, weight, n_clusters):
        alive[gone] = False
        owner[owner == gone] = kept
        yield Level(parts, owner.copy(), np.diag(links)[alive], weight[alive])


def merges(
    links: Floats, weight: Floats, n_clusters: int, extra: Floats | None = None
) -> Iterator[tuple[int, int, float]]:
    """Merges of the clusters whose union costs least, `extra` included: who stays, who joins it, and the loss.

    Links and weights are brought up to date, in place; only those of clusters that are left mean something.
    """
    from ._growth_loops import merge_nodes

    for kept, gone in merge_nodes(links, weight, n_clusters, extra).tolist():
        apart = links[kept, kept] / weight[kept] + links[gone, gone] / weight[gone]
        links[kept] += links[gone]
        links[:, kept] += links[:, gone]
        weight[kept] += weight[gone]
        yield kept, gone, float(apart - links[kept, kept] / weight[kept])


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
