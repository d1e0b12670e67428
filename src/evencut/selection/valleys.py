r"""Valleys: how much less dense the borders of clusters are than their inside, which chance hardly makes.

With :math:`A` an affinity and :math:`\rho` a density, the valley around cluster S is

.. math:: v(S) = \frac{\sum_{p, q \in S} A_{pq} \log\rho_{pq}}{A(S, S)}
          - \frac{\sum_{p \in S, q \notin S} A_{pq} \log\rho_{pq}}{A(S, \bar S)}, \qquad
          \log\rho_{pq} = \tfrac12 (\log\rho_p + \log\rho_q)

It is 0 where a cut goes through an even area, negative where it goes through a summit, and positive between clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["PartDensities", "densities_of_parts", "valley"]

# A cluster without a border is this far above it: e^6 is as good as any.
_NO_BORDER = 6.0


class PartDensities(NamedTuple):
    """Affinities summed over all pairs of parts, and the same with each weighted by the logarithm of the density."""

    affinity: NDArray[np.float64]
    density: NDArray[np.float64]


def densities_of_parts(
    affinity: sparse.csr_array, log_density: NDArray[np.float64], parts: NDArray[np.integer]
) -> PartDensities:
    """The sums that valleys of any clusters made of these parts are read off.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2))))
    >>> densities_of_parts(pairs, np.array([1.0, 1, 2, 2]), np.array([0, 0, 1, 1])).density
    array([[4., 0.],
           [0., 8.]])
    """
    n, n_parts = len(parts), int(parts.max()) + 1
    members = sparse.csr_array((np.ones(n), (parts, np.arange(n))), shape=(n_parts, n))
    across = affinity @ members.T
    one_end = (members * log_density[None, :]) @ across
    return PartDensities((members @ across).toarray(), (one_end + one_end.T).toarray() / 2)


def valley(parts: PartDensities, owner: NDArray[np.integer]) -> float:
    """The median, over the clusters, of the valley around each; `owner` is the cluster of each part.

    Examples
    --------
    >>> import numpy as np
    >>> chain = sparse.csr_array(np.diag(np.ones(4)) + np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> parts = densities_of_parts(chain, np.array([2.0, 1.0, 1.0, 2.0]), np.arange(4))
    >>> valley(parts, np.array([0, 0, 1, 1]))
    0.5
    """
    clusters = np.unique(owner, return_inverse=True)[1]
    belongs = np.eye(int(clusters.max()) + 1)[clusters].T
    affinity, density = (belongs @ table @ belongs.T for table in parts)
    inside, around = np.diag(affinity), affinity.sum(axis=1) - np.diag(affinity)
    bordered = around > 1e-9 * inside
    depth = np.full(len(inside), _NO_BORDER)
    border = (density.sum(axis=1) - np.diag(density))[bordered] / around[bordered]
    # A part of points that are linked to others only has no inside to compare.
    within = np.diag(density)[bordered] / np.maximum(inside[bordered], np.finfo(float).tiny)
    depth[bordered] = np.where(inside[bordered] > 0, within - border, 0.0)
    return float(np.median(np.clip(depth, -_NO_BORDER, _NO_BORDER)))
