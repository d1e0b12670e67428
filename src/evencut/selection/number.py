r"""How many clusters: the number whose clusters leak least against one cluster more, and that trees agree with.

At every scale the graph is cut into many parts, which are merged one by one: one partition for every k. With
:math:`\ell_k` the leak :math:`\max_i cut(S_i)/d(S_i)` of the worst cluster and :math:`a_k` the consensus of these cuts
and of spanning trees (:mod:`evencut.selection.consensus`), the number k is judged by

.. math:: s_k = \operatorname{mean}_{\text{scales}} \log\frac{\ell_k + \delta}{\ell_{k+1} + \delta}
          - \tfrac34 \log(a_k + \varepsilon)

and worth :math:`\exp(s_0 - s_k)` beside the best score :math:`s_0`. Too few clusters leave a gap to cut, which costs
little more; too many must cut where there is no gap. Of the columns as given and at one deviation the system is taken
whose best number has the better score. A gap is clear where one cluster more would leak twice as much:
:math:`a_k` times the mean above is at most :math:`-\log 2`. Where the best number has no clear gap, others are asked:
the number of Gaussians that explain the points (:mod:`evencut.selection.gaussians`) is taken, and where nothing else
shows structure, the number of areas with steps in density between them (:mod:`evencut.selection.steps`). Otherwise it
is the best number with a clear gap or with a valley (:mod:`evencut.selection.valleys`) that many agree on, and 1 where
there is none, or where one Gaussian explains the points: a strand of even density has borders that many agree on, where
chance made it thin, but they are hardly less dense than the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem, normalized_cut
from ..points import RANKS
from ..solvers.merging import merge_levels
from ..solvers.multilevel import multilevel
from ..solvers.spectral import cut_embedding, spectral_embedding, unit_rows
from .candidates import Neighborhoods, log_density, neighborhood_sizes, tree_cuts
from .consensus import agreement, consensus, shared_votes
from .gaussians import explain_by_gaussians
from .steps import count_steps
from .valleys import densities_of_parts, valley

__all__ = ["MAX_CLUSTERS", "NumberCandidate", "choose_number", "fine_parts", "rank_numbers", "rank_numbers_of_points"]

#: The largest number of clusters that is tried.
MAX_CLUSTERS = 64

# Every cluster must be able to hold a few points, and most to be made of several parts.
_POINTS_PER_CLUSTER = 8
_PARTS = 100
_SMALL_LEAK = 3e-3
_LITTLE_AGREEMENT = 0.05
_AGREEMENT = 0.75
# A gap is structure where one cluster more would leak twice as much, and borders are where they are less dense than the
# inside by this much: both in logarithms, and times the share that agrees on the clusters.
_CLEAR_GAP = -np.log(2)
_VALLEY = 0.125


@dataclass(frozen=True)
class NumberCandidate:
    r"""A number of clusters and how it was judged.

    Parameters
    ----------
    n_clusters : int
    gap : float
        Logarithm of the leak over that of one cluster more, meant over the scales; negative where there are gaps.
    valley : float
        How much less dense borders are than the inside, in logarithms; not a number where there are no points.
    agreement : float
        Consensus of cuts and trees, from 0 to 1.
    score : float
        Lower is better.
    evidence : {"gap", "Gaussians", "steps"}
        What speaks for it: the score, or so many Gaussians that explain the points, or steps in density. Gap, valley,
        agreement and score of the number 1 are not numbers.
    worth : float
        How much it is worth beside the best, from 0 to 1: :math:`\exp(s_0 - s)` with s its score and :math:`s_0` the
        best one.
    """

    n_clusters: int
    gap: float
    valley: float
    agreement: float
    score: float
    evidence: str = "gap"
    worth: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether it is an answer: by a gap, by valleys where there are points to show them, or by other evidence."""
        return self.evidence != "gap" or self.has_clear_gap or not self.valley * self.agreement < _VALLEY

    @property
    def has_clear_gap(self) -> bool:
        """Whether one cluster more would leak so much more that nobody else is asked."""
        return self.gap * self.agreement <= _CLEAR_GAP


def choose_number(ranked: Sequence[NumberCandidate]) -> int:
    """The best number, or 1 where it shows no structure.

    Examples
    --------
    >>> choose_number([NumberCandidate(4, gap=-0.1, valley=0.0, agreement=0.5, score=0.4)])
    1
    >>> choose_number([NumberCandidate(4, gap=-0.1, valley=0.7, agreement=0.5, score=0.4)])
    4
    """
    return ranked[0].n_clusters if ranked and ranked[0].is_clear else 1


def rank_numbers_of_points(
    systems: Sequence[Neighborhoods], random_state: int | None = None
) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters from 2 to 64, best first, by cuts at three scales and by trees.

    Of the coordinate systems the one is taken whose best number has the better score; ranks, which stretch gaps and
    fill them, are not asked.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import find_neighborhoods
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9, 18)])
    >>> rank_numbers_of_points([find_neighborhoods(X)], random_state=0)[0].n_clusters
    3
    """
    judged = [
        _Judged.of(neighborhoods, random_state) for neighborhoods in systems if neighborhoods.system.name != RANKS
    ]
    best = min(judged, key=lambda one: one.ranked[0].score if one.ranked else np.inf)
    if not best.ranked or best.ranked[0].has_clear_gap:
        return best.ranked
    first = best.other_evidence(random_state)
    return (first, *(other for other in best.ranked if other.n_clusters != first.n_clusters))


@dataclass(frozen=True, eq=False)
class _Judged:
    """The numbers of clusters in one coordinate system, and the cuts that were met with each."""

    neighborhoods: Neighborhoods
    ranked: tuple[NumberCandidate, ...]
    cuts: dict[int, list[NDArray[np.int64]]]

    @classmethod
    def of(cls, neighborhoods: Neighborhoods, random_state: int | None) -> _Judged:
        graphs = (
            (
                normalized_cut(neighborhoods.affinity(size), neighborhoods.weights),
                log_density(neighborhoods, size, neighborhoods.dimension),
            )
            for size in neighborhood_sizes(neighborhoods.n_points, 1)
        )
        numbers, merged_to = [], _merge_down(graphs, neighborhoods.n_points, random_state)
        for k, merged in merged_to.items():
            trees = [tree.labels for tree in tree_cuts(neighborhoods, k)]
            votes = shared_votes(["cut"] * len(merged.cuts) + ["tree"] * len(trees), {"cut": 1.0, "tree": 1.0})
            alike = agreement(np.array(merged.cuts + trees), neighborhoods.weights)
            numbers.append(merged.judged(k, float(consensus(alike, votes).max())))
        return cls(neighborhoods, _best_first(numbers), {k: merged.cuts for k, merged in merged_to.items()})

    def other_evidence(self, random_state: int | None) -> NumberCandidate:
        """The best number that shows structure, or the one that Gaussians or steps speak for."""
        best = next((candidate for candidate in self.ranked if candidate.is_clear), self.ranked[0])
        by_number = {candidate.n_clusters: candidate for candidate in self.ranked}
        starts = {k: cuts[len(cuts) // 2] for k, cuts in self.cuts.items()}
        explained = explain_by_gaussians(self.neighborhoods, starts, np.random.default_rng(random_state))
        if explained is not None and explained.holds and explained.n_clusters > 1:
            return replace(by_number[explained.n_clusters], evidence="Gaussians", worth=1.0)
        is_one = explained is not None and explained.is_one
        steps = count_steps(self.neighborhoods, random_state) if is_one or not best.is_clear else 1
        if steps > 1:
            return replace(by_number[steps], evidence="steps", worth=1.0)
        return NumberCandidate(1, np.nan, np.nan, np.nan, np.nan, "Gaussians") if is_one else best


def rank_numbers(problems: Iterable[RatioProblem], random_state: int | None = None) -> tuple[NumberCandidate, ...]:
    """The numbers of clusters from 2 to 64, best first, where only affinities are known.

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
    found = _merge_down(((problem, None) for problem in problems), problems[0].n_points, random_state)
    # With nobody to agree or disagree, the gap alone ranks them, and the best of them is taken.
    return _best_first([merged.judged(k, 1.0) for k, merged in found.items()])


@dataclass(frozen=True, eq=False)
class _Merged:
    """What was met with one number of clusters, on each graph: leaks of the worst cluster, valleys, partitions."""

    gaps: list[float] = field(default_factory=list)
    valleys: list[float] = field(default_factory=list)
    cuts: list[NDArray[np.int64]] = field(default_factory=list)

    def judged(self, k: int, agreed: float) -> NumberCandidate:
        gap = float(np.mean(self.gaps))
        score = gap - _AGREEMENT * float(np.log(agreed + _LITTLE_AGREEMENT))
        return NumberCandidate(k, gap, float(np.mean(self.valleys)) if self.valleys else float("nan"), agreed, score)


def _merge_down(
    graphs: Iterable[tuple[RatioProblem, NDArray[np.float64] | None]], n_points: int, random_state: int | None
) -> dict[int, _Merged]:
    """For every k what merging meets on each graph; valleys where densities come with it."""
    most = min(MAX_CLUSTERS, n_points // _POINTS_PER_CLUSTER)
    if most < 2:
        return {}
    found = {k: _Merged() for k in range(2, most + 1)}
    n_parts = max(min(_PARTS, n_points // 3), most + 1)
    for problem, density in graphs:
        parts = np.unique(fine_parts(problem, n_parts, random_state), return_inverse=True)[1].astype(np.int64)
        graph = problem.matrix.graph
        ground = None if density is None or graph is None else densities_of_parts(graph, density, parts)
        finer = 1.0
        for level in merge_levels(problem, parts, 2):
            n_clusters = len(level.weight)
            leak = float(np.max(1.0 - level.inside / level.weight))
            if n_clusters <= most:
                here = found[n_clusters]
                here.gaps.append(float(np.log((leak + _SMALL_LEAK) / (min(finer, 1.0) + _SMALL_LEAK))))
                here.cuts.append(level.labels())
                if ground is not None:
                    here.valleys.append(valley(ground, level.owner))
            finer = leak
    return {k: merged for k, merged in found.items() if merged.gaps}


def fine_parts(problem: RatioProblem, n_parts: int, random_state: int | None) -> NDArray[np.int64]:
    """Many small parts that follow the shapes."""
    if problem.matrix.is_graph:
        return multilevel(problem, n_parts, n_init=2, n_runs=1, random_state=random_state)[0]
    rng = np.random.default_rng(random_state)
    return cut_embedding(unit_rows(spectral_embedding(problem.matrix, n_parts // 2, rng)[1]), n_parts, rng)


def _best_first(found: list[NumberCandidate]) -> tuple[NumberCandidate, ...]:
    ranked = sorted(found, key=lambda candidate: (candidate.score, candidate.n_clusters))
    return tuple(replace(number, worth=float(np.exp(ranked[0].score - number.score))) for number in ranked)
