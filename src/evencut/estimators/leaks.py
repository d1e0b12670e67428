r"""How well clusters are one and apart: the leak of each, compared with how fast a random walk mixes inside it.

The leak :math:`\ell_k` is the share of links that leave the cluster, the mixing :math:`m_k` one minus the second
eigenvalue of the walk on the links inside. A cluster cut in two mixes well but leaks, two clusters taken for one mix
slowly; sizes do not enter.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..affinity import Affinity, AffinityLike, as_affinity
from ..tensors import AnyInts, Floats, as_float64, to_array

__all__ = ["mixing_rates", "separation"]

# A hundredth of the links is as good as none where clusterings of different numbers and kernels are compared. Of 0.003
# to 0.1, on 36 draws of two, three and five blobs, it finds 26 right numbers; 0.03 finds 28, but tells kernels apart
# less.
_SMALL_LEAK = 0.01
# Of clusters with fewer points all eigenvalues are computed.
_FEW_POINTS = 50


def separation(leak: Floats, mixing: Floats) -> Floats:
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


def mixing_rates(affinity: AffinityLike, labels: AnyInts, n_clusters: int) -> Floats:
    """How fast a random walk mixes on the links inside each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> mixing_rates(np.ones((4, 4)), np.array([0, 0, 1, 1]), 2)
    array([1., 1.])
    """
    matrix = as_affinity(affinity)
    return np.array([_mixing_rate(matrix.submatrix(np.flatnonzero(labels == k))) for k in range(n_clusters)])


def _mixing_rate(affinity: Affinity) -> float:
    """One minus the second eigenvalue of the walk on an affinity, wherever its entries are.

    Zero where it falls apart; one where there is nothing to mix.
    """
    n_points = affinity.shape[0]
    if n_points < 2:
        return 1.0

    def product(vector: Floats) -> Floats:
        return as_float64(to_array(affinity @ affinity.asarray(vector)))

    degrees = product(np.ones(n_points))
    if (degrees <= 0).any():
        return 0.0
    scale, first = 1 / np.sqrt(degrees), np.sqrt(degrees / degrees.sum())

    def walk(vector: Floats) -> Floats:
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
