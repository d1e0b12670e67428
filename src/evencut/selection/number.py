r"""How many clusters: the number whose worst cluster leaks least, measured against how fast clusters mix inside.

Parts of the spectral embedding are merged one by one, which gives one partition for every k; each is judged by

.. math:: \log\frac{\max_i cut(S_i)/d(S_i) + \delta}{1 - \lambda_{k+1} + \delta}, \qquad \delta = 10^{-3}

the leak of its worst cluster over the next rate of the graph. With too few clusters the rate inside is as slow
as the gap that was merged over; with too many some cluster has been cut where there is no gap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..criteria import RatioProblem
from ..solvers.merging import merge_levels
from ..solvers.spectral import cut_embedding, spectral_embedding, unit_rows

__all__ = ["MAX_CLUSTERS", "NumberCandidate", "rank_numbers"]

#: The largest number of clusters that is tried.
MAX_CLUSTERS = 40

_SMALL_RATE = 1e-3
# Every cluster must be able to hold a few points, and to be made of several parts.
_POINTS_PER_CLUSTER = 8
_PARTS_PER_CLUSTER = 2.5


@dataclass(frozen=True)
class NumberCandidate:
    """A number of clusters and its score.

    Parameters
    ----------
    n_clusters : int
    scale : int or None
        Neighbours of the graph it was judged on, where there were several graphs.
    leak, mixing : float
        Leak of the worst cluster, and the next rate of the graph.
    score : float
        The logarithm of their ratio; lower is better.
    """

    n_clusters: int
    scale: int | None
    leak: float
    mixing: float
    score: float


def rank_numbers(
    problems: Iterable[tuple[int | None, RatioProblem]], random_state: int | None = None
) -> tuple[NumberCandidate, ...]:
    """Every number of clusters from 2 to 40, at the graph that suits it best, best first.

    Parameters
    ----------
    problems : iterable of (scale, RatioProblem)
        Normalised cuts of the same points on one graph or on several.
    random_state : int, optional

    Returns
    -------
    tuple of NumberCandidate

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> three = normalized_cut(np.kron(np.eye(3), np.ones((20, 20))) + 1e-3)
    >>> rank_numbers([(None, three)], random_state=0)[0].n_clusters
    3
    """
    best: dict[int, NumberCandidate] = {}
    for scale, problem in problems:
        for candidate in _at_one_scale(problem, scale, np.random.default_rng(random_state)):
            known = best.get(candidate.n_clusters)
            if known is None or candidate.score < known.score:
                best[candidate.n_clusters] = candidate
    return tuple(sorted(best.values(), key=lambda candidate: (candidate.score, candidate.n_clusters)))


def _at_one_scale(problem: RatioProblem, scale: int | None, rng: np.random.Generator) -> list[NumberCandidate]:
    n_points = problem.n_points
    most = max(min(MAX_CLUSTERS, n_points // _POINTS_PER_CLUSTER), min(2, n_points))
    values, vectors = spectral_embedding(problem.matrix, most + 1, rng)
    n_parts = max(min(int(_PARTS_PER_CLUSTER * most), n_points // 3), min(2, n_points))
    parts = cut_embedding(unit_rows(vectors), n_parts, rng)
    found = []
    for level in merge_levels(problem, parts, 1):
        n_clusters = len(level.weight)
        if 2 <= n_clusters <= most and n_clusters < len(values):
            leak = float(np.max(1.0 - level.inside / level.weight))
            mixing = float(1.0 - values[n_clusters])
            score = float(np.log((leak + _SMALL_RATE) / (mixing + _SMALL_RATE)))
            found.append(NumberCandidate(n_clusters, scale, leak, mixing, score))
    return found
