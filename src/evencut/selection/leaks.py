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
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..affinity import Affinity, AffinityLike, as_affinity
from ..criteria import RatioProblem
from ..solvers.multilevel import shrink
from ..tensors import double, to_array

__all__ = ["leak_over_mixing", "mixing_rates", "separation"]

# Groups a cluster, and in all, of the small graph; steps of the power method.
_GROUPS_PER_CLUSTER = 20
_FEWEST_GROUPS = 200
_STEPS = 30
# Leaks and mixing below this are as good as none.
_LITTLE = 1e-4
# A hundredth of the links is as good as none where clusterings of different numbers and kernels are compared. Of 0.003
# to 0.1, on 36 draws of two, three and five blobs, it finds 26 right numbers; 0.03 finds 28, but tells kernels apart
# less.
_SMALL_LEAK = 0.01
# Of clusters with fewer points all eigenvalues are computed.
_FEW_POINTS = 50


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


def separation(leak: NDArray[np.float64], mixing: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""How well each cluster is one and apart, between -1 and 1: :math:`(c - \ell) / (c + \ell + 2\delta)`.

    The leak of a cluster is compared with :math:`c = \sqrt m`, by Cheeger's inequality of the order of the leak that
    its best cut in two would have. Comparable between numbers of clusters: too many leak as much as any cut would,
    too few could be cut with little more.

    Examples
    --------
    >>> import numpy as np
    >>> separation(np.array([0.0, 0.0, 0.5]), np.array([1.0, 0.0, 0.25])).round(2)  # apart; two in one; half of one
    array([0.98, 0.  , 0.  ])
    """
    inside = np.sqrt(mixing)
    return np.asarray((inside - leak) / (inside + leak + 2 * _SMALL_LEAK))


def mixing_rates(affinity: AffinityLike, labels: NDArray[np.integer], n_clusters: int) -> NDArray[np.float64]:
    """How fast a random walk mixes on the links inside each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> mixing_rates(np.ones((4, 4)), np.array([0, 0, 1, 1]), 2)
    array([1., 1.])
    """
    matrix = as_affinity(affinity)
    return np.array([_mixing_rate(matrix.among(np.flatnonzero(labels == k))) for k in range(n_clusters)])


def _mixing_rate(affinity: Affinity) -> float:
    """One minus the second eigenvalue of the walk on an affinity, wherever its entries are.

    Zero where it falls apart; one where there is nothing to mix.
    """
    n_points = affinity.shape[0]
    if n_points < 2:
        return 1.0

    def product(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return double(to_array(affinity @ affinity.beside(vector)))

    degrees = product(np.ones(n_points))
    if (degrees <= 0).any():
        return 0.0
    scale, first = 1 / np.sqrt(degrees), np.sqrt(degrees / degrees.sum())

    def walk(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        vector = vector.ravel()
        return scale * product(scale * vector) - first * (first @ vector)

    if n_points <= _FEW_POINTS:
        whole = np.column_stack([walk(column) for column in np.eye(n_points)])
        second = float(np.linalg.eigvalsh((whole + whole.T) / 2)[-1])
    else:
        operator = LinearOperator((n_points, n_points), matvec=walk, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n_points)
        try:
            second = float(eigsh(operator, 1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)[0])
        except ArpackNoConvergence:
            # So many eigenvalues near one that they cannot be told apart: it mixes as good as never.
            second = 1.0
    return float(np.clip(1 - second, 0.0, 1.0))
