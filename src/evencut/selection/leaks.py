r"""How little the clusters of a partition leak, for how fast a random walk mixes inside them.

The score of a partition is the mean over its clusters of

.. math:: \log\frac{\ell_k + \epsilon}{m_k + \epsilon}

with the leak :math:`\ell_k`, the share of links that leave the cluster, and the mixing :math:`m_k`, one minus the
second eigenvalue of the walk on the links inside. A cluster cut in two mixes well but leaks, two clusters taken for one
mix slowly; sizes do not enter. Walks are made on groups of points that no partition divides, so that one small graph
serves all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem
from ..solvers.multilevel import shrink

__all__ = ["leak_over_mixing"]

# Groups a cluster, and in all, of the small graph; steps of the power method.
_GROUPS_PER_CLUSTER = 20
_FEWEST_GROUPS = 200
_STEPS = 30
# Leaks and mixing below this are as good as none.
_LITTLE = 1e-4


def leak_over_mixing(problem: RatioProblem, partitions: NDArray[np.integer], n_clusters: int) -> NDArray[np.float64]:
    """The score of each partition; low is good.

    Parameters
    ----------
    problem : RatioProblem
        Normalised cut of a graph.
    partitions : ndarray of shape (n_partitions, n)
        Clusters numbered from 0.
    n_clusters : int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from evencut.criteria import normalized_cut
    >>> graph = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))) + 0.01)
    >>> scores = leak_over_mixing(normalized_cut(graph), np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]), 2)
    >>> bool(scores[0] < scores[1])
    True
    """
    from ._leak_loops import leak_and_mixing

    target = max(_FEWEST_GROUPS, _GROUPS_PER_CLUSTER * n_clusters)
    graph, group = shrink(problem, _common_parts(partitions, n_clusters), target, np.ones(1, dtype=np.uint64))
    member = np.empty(len(graph.weights), dtype=np.int64)
    member[group] = np.arange(len(group))
    start = np.random.default_rng(0).normal(size=len(member))
    known: dict[bytes, float] = {}
    for labels in (of_groups := partitions[:, member].astype(np.int64)):
        if labels.tobytes() not in known:
            leak, mixing = leak_and_mixing(graph, labels, n_clusters, start, _STEPS)
            ratio = (np.maximum(leak, 0.0) + _LITTLE) / (np.maximum(mixing, 0.0) + _LITTLE)
            known[labels.tobytes()] = float(np.nanmean(np.log(ratio)))
    return np.array([known[labels.tobytes()] for labels in of_groups])


def _common_parts(partitions: NDArray[np.integer], n_clusters: int) -> NDArray[np.int64]:
    """The parts that no partition divides: points whose labels, each of them a random 64-bit number, add up alike."""
    numbers = np.random.default_rng(0).integers(2**63, size=(len(partitions), n_clusters), dtype=np.uint64)
    total = np.zeros(partitions.shape[1], dtype=np.uint64)
    for number, labels in zip(numbers, partitions):
        total += number[labels]
    return np.unique(total, return_inverse=True)[1]
