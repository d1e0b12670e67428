r"""Choosing among partitions by consensus: the one that partitions found by other principles agree with most.

With :math:`r_{ij}` the adjusted Rand index of candidates i and j, the consensus of candidate i is

.. math:: a_i = \sum_j v_j \max(r_{ij}, 0)^3

where the votes :math:`v_j` sum to one. Those who find by one principle in one coordinate system share its votes,
however many they are. The medoid, the candidate of highest consensus, is taken. Nothing is compared between graphs and
no size is preferred.

The confidence is the adjusted Rand index with the truth that a consensus a lets expect,

.. math:: \left(1 - (1 - a)^3\right) \left(1 - \tfrac12 c (1 - a)\right)

with c what centres are worth (:mod:`evencut.selection.centres`): clusters that overlap are told apart less well than
the agreement says. It was fitted to one half of public sets and tables; `benchmarks/CONFIDENCE.md` shows the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["agreement", "consensus", "expected_index", "shared_votes"]

# Agreement counts by its cube: three half agreements are no whole one.
_POWER = 3
# Share of the confidence that overlap takes where nobody agrees.
_OVERLAP = 0.5


def agreement(labels: NDArray[np.integer], weights: NDArray[np.floating] | None = None) -> NDArray[np.float64]:
    """The adjusted Rand index of every pair of partitions.

    Parameters
    ----------
    labels : ndarray of shape (n_partitions, n)
        Clusters numbered from 0.
    weights : ndarray of shape (n,), optional
        How many points each stands for; a common factor makes no difference.

    Returns
    -------
    ndarray of shape (n_partitions, n_partitions)

    Examples
    --------
    >>> import numpy as np
    >>> agreement(np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]))
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    from ._consensus_loops import rand_indices

    labels = np.ascontiguousarray(labels, dtype=np.int32)
    weights = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    return rand_indices(labels, weights, int(labels.max()) + 1)


def shared_votes(groups: Sequence[Hashable], votes: Mapping[Hashable, float]) -> NDArray[np.float64]:
    """The vote of each candidate: that of its group, shared evenly among its members; they sum to one.

    Parameters
    ----------
    groups : sequence
        Group of each candidate.
    votes : mapping from group to float
        Vote of each group; groups without candidates leave theirs to the others.

    Examples
    --------
    >>> shared_votes(["cut", "tree", "tree"], {"cut": 1, "tree": 1, "centre": 1})
    array([0.5 , 0.25, 0.25])
    """
    members = Counter(groups)
    shared = np.array([votes[group] / members[group] for group in groups])
    return shared / shared.sum()


def consensus(agreements: NDArray[np.float64], votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The consensus of each candidate, from 0 (nobody agrees) to 1 (all are the same).

    Parameters
    ----------
    agreements : ndarray of shape (n, n_candidates)
        As :func:`agreement` gives them.
    votes : ndarray of shape (n_candidates,)

    Examples
    --------
    >>> import numpy as np
    >>> alike = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> consensus(alike, np.array([0.25, 0.25, 0.5]))
    array([0.5625, 0.5625, 0.5625])
    """
    return np.maximum(agreements, 0.0) ** _POWER @ votes


def expected_index(standing: float, worth_of_centres: float) -> float:
    """The adjusted Rand index with the truth that a consensus lets expect.

    Examples
    --------
    >>> expected_index(1.0, 0.0), expected_index(0.5, 0.0), expected_index(1.0, 1.0), expected_index(0.5, 1.0)
    (1.0, 0.875, 1.0, 0.65625)
    """
    disagreed = 1 - standing
    return (1 - disagreed**3) * (1 - _OVERLAP * worth_of_centres * disagreed)
