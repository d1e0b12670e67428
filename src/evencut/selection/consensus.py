r"""Choosing among partitions by consensus: the one that partitions found by other principles agree with most.

With :math:`r_{ij}` the adjusted Rand index of candidates i and j, the consensus of candidate i is

.. math:: a_i = \sum_f \frac{v_f}{|f|} \sum_{j \in f} \max(r_{ij}, 0)^3

where the families f, partitions found by one principle, have votes :math:`v_f` that sum to one, however many
candidates each has. Where candidates have scores :math:`s_j` (:mod:`evencut.selection.leaks`), a tenth of all votes is
theirs, shared out in proportion to :math:`\exp(-s_j / 0.3)`, however many others found the same: a cluster of few
points is found by few. The medoid, the candidate of highest consensus, is taken. Nothing is compared between graphs and
no size is preferred. Its consensus is a number from 0 to 1, the confidence in the whole clustering.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["agreement", "consensus"]

# Agreement counts by its cube: three half agreements are no whole one.
_POWER = 3
# Votes that go to candidates by their scores, and the difference of scores that counts.
_SCORED_VOTE = 0.1
_SCORE_UNIT = 0.3


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


def consensus(
    agreements: NDArray[np.float64],
    families: Sequence[str],
    votes: Mapping[str, float],
    power: float = _POWER,
    scores: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The consensus of each candidate, from 0 (nobody agrees) to 1 (all are the same).

    Parameters
    ----------
    agreements : ndarray of shape (n, n_candidates)
        As :func:`agreement` gives them.
    families : sequence of str
        Family of each candidate.
    votes : mapping from family to float
        Vote of each family; families without candidates leave theirs to the others.
    power : float
        Of the agreements; 1 makes the consensus a plain mean of adjusted Rand indices.
    scores : ndarray of shape (n_candidates,), optional
        Of the candidates, low is good, as :func:`evencut.selection.leaks.leak_over_mixing` gives them.

    Examples
    --------
    >>> import numpy as np
    >>> alike = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> consensus(alike, ["cut", "cut", "tree"], {"cut": 1, "tree": 1})
    array([0.5625, 0.5625, 0.5625])
    """
    vote = np.array([votes[family] / families.count(family) for family in families])
    vote /= vote.sum()
    if scores is not None:
        merit = np.exp((scores.min() - scores) / _SCORE_UNIT)
        vote = (1 - _SCORED_VOTE) * vote + _SCORED_VOTE * merit / merit.sum()
    return np.maximum(agreements, 0.0) ** power @ vote
