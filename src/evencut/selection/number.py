r"""How many clusters: the number whose clusters leak least against one cluster more, and that trees agree with.

At every scale the graph is cut into many parts, which are merged one by one: one partition for every k. With
:math:`\ell_k` the leak :math:`\max_i cut(S_i)/d(S_i)` of the worst cluster, meant over the scales, and :math:`a_k` the
consensus of these cuts and of spanning trees (:mod:`evencut.selection.consensus`), the number k is judged by

.. math:: \operatorname{mean}_s \log\frac{\ell_k + \delta}{\ell_{k+1} + \delta} - \tfrac12 \log(a_k + \varepsilon)

Too few clusters leave a gap to cut, which costs little more; too many must cut where there is no gap. The answer is 1
where at the best k neither is clear: nobody agrees and no scale shows a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem, normalized_cut
from ..solvers.merging import merge_levels
from ..solvers.multilevel import multilevel
from ..solvers.spectral import cut_embedding, spectral_embedding, unit_rows
from .candidates import Neighborhoods, affinity_at
from .consensus import agreement, consensus

__all__ = ["MAX_CLUSTERS", "NumberCandidate", "choose_number", "rank_numbers", "rank_numbers_of_points"]

#: The largest number of clusters that is tried.
MAX_CLUSTERS = 40

_SCALES = (15, 25, 40)
_SHARES = (0.25, 0.1, 0.05)
# Every cluster must be able to hold a few points, and to be made of several parts.
_POINTS_PER_CLUSTER = 8
_PARTS_PER_CLUSTER = 2.5
_SMALL_LEAK = 3e-3
_LITTLE_AGREEMENT = 0.05
_AGREEMENT = 0.5
# Less agreement than this together with no clearer gap than that, at the best number, is no structure.
_AGREED = 0.65
_CLEAR_GAP = -1.15


@dataclass(frozen=True)
class NumberCandidate:
    """A number of clusters and how it was judged.

    Parameters
    ----------
    n_clusters : int
    gap : float
        Logarithm of the leak over that of one cluster more, meant over the scales; negative where there are gaps.
    clearest_gap : float
        The lowest over the scales.
    agreement : float
        Consensus of cuts and trees, from 0 to 1.
    score : float
        Lower is better.
    """

    n_clusters: int
    gap: float
    clearest_gap: float
    agreement: float
    score: float

    @property
    def is_clear(self) -> bool:
        """Whether there is structure: partitions agree, or some scale shows a gap."""
        return self.agreement >= _AGREED or self.clearest_gap <= _CLEAR_GAP


def choose_number(ranked: Sequence[NumberCandidate]) -> int:
    """The best number, or 1 where it shows no structure.

    Examples
    --------
    >>> choose_number([NumberCandidate(4, -0.1, -0.2, 0.2, 0.5)])
    1
    """
    return ranked[0].n_clusters if ranked and ranked[0].is_clear else 1


def rank_numbers_of_points(around: Neighborhoods, random_state: int | None = None) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters from 2 to 40, best first, by cuts at three scales and by trees.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import look_around
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9, 18)])
    >>> rank_numbers_of_points(look_around(X), random_state=0)[0].n_clusters
    3
    """
    sizes = sorted({min(scale, around.n_points - 1) for scale in _SCALES})
    problems = (normalized_cut(affinity_at(around, size), around.weights) for size in sizes)
    merged = _merge_down(problems, around.n_points, random_state)
    found = []
    for k, (leaks, cuts) in merged.items():
        trees = [tree.cut(k, share) for tree in around.trees.values() for share in _SHARES]
        families = ["cut"] * len(cuts) + ["tree"] * len(trees)
        alike = agreement(np.array(cuts + trees), around.weights)
        agreed = float(consensus(alike, families, {"cut": 1.0, "tree": 1.0}).max())
        found.append(_judged(k, leaks, agreed))
    return _best_first(found)


def rank_numbers(problems: Iterable[RatioProblem], random_state: int | None = None) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters from 2 to 40, best first, where only affinities are known.

    Parameters
    ----------
    problems : iterable of RatioProblem
        Normalised cuts of the same points on one graph or on several.
    random_state : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> three = normalized_cut(np.kron(np.eye(3), np.ones((20, 20))) + 1e-3)
    >>> rank_numbers([three], random_state=0)[0].n_clusters
    3
    """
    problems = list(problems)
    merged = _merge_down(problems, problems[0].n_points, random_state)
    # With nobody to agree or disagree, the gap alone ranks them, and the best of them is taken.
    return _best_first([_judged(k, leaks, 1.0) for k, (leaks, _) in merged.items()])


def _merge_down(
    problems: Iterable[RatioProblem], n_points: int, random_state: int | None
) -> dict[int, tuple[list[tuple[float, float]], list[NDArray[np.int64]]]]:
    """For every k, the leak of its worst cluster and that of k + 1, and its partition, on each graph."""
    most = min(MAX_CLUSTERS, n_points // _POINTS_PER_CLUSTER)
    found: dict[int, tuple[list[tuple[float, float]], list[NDArray[np.int64]]]] = {
        k: ([], []) for k in range(2, most + 1)
    }
    if most < 2:
        return {}
    n_parts = max(min(int(_PARTS_PER_CLUSTER * most), n_points // 3), most + 1)
    for problem in problems:
        finer = np.inf
        for level in merge_levels(problem, _parts(problem, n_parts, random_state), 2):
            n_clusters = len(level.weight)
            leak = float(np.max(1.0 - level.inside / level.weight))
            if n_clusters <= most:
                found[n_clusters][0].append((leak, finer))
                found[n_clusters][1].append(level.labels())
            finer = leak
    return {k: both for k, both in found.items() if both[0]}


def _parts(problem: RatioProblem, n_parts: int, random_state: int | None) -> NDArray[np.int64]:
    """Many small parts that follow the shapes."""
    if problem.matrix.graph is not None:
        return multilevel(problem, n_parts, n_init=2, n_runs=1, random_state=random_state)[0]
    rng = np.random.default_rng(random_state)
    return cut_embedding(unit_rows(spectral_embedding(problem.matrix, n_parts // 2, rng)[1]), n_parts, rng)


def _judged(k: int, leaks: list[tuple[float, float]], agreed: float) -> NumberCandidate:
    gaps = [float(np.log((leak + _SMALL_LEAK) / (min(finer, 1.0) + _SMALL_LEAK))) for leak, finer in leaks]
    gap = float(np.mean(gaps))
    score = gap - _AGREEMENT * float(np.log(agreed + _LITTLE_AGREEMENT))
    return NumberCandidate(k, gap, min(gaps), agreed, score)


def _best_first(found: list[NumberCandidate]) -> tuple[NumberCandidate, ...]:
    return tuple(sorted(found, key=lambda candidate: (candidate.score, candidate.n_clusters)))
