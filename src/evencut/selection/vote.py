r"""The candidate that the others agree with most.

With :math:`r_{ij}` the adjusted Rand index of candidates i and j and votes :math:`v_j` that sum to one, the consensus
of candidate i is

.. math:: a_i = \sum_j v_j \max(r_{ij}, 0)^2

and the candidate of highest consensus is taken. No graph, size or shape is preferred: methods of different principles
err in different ways, and what they have in common is in the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..tensors import AnyInts, Floats, Ints
from .graphs import NeighborGraphs
from .propose import Candidate, Proposal

if TYPE_CHECKING:
    from .number import NumberCandidate

__all__ = ["Selection", "agreement", "rank_candidates"]

# Agreement counts by its square: two half agreements are less than a whole one.
POWER = 2


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The candidates, highest consensus first, and how they agree.

    Parameters
    ----------
    n_clusters : int
    candidates : tuple of Candidate
        Those with fewer clusters than asked for come last.
    consensus : ndarray of shape (n_candidates,)
        From 0 (no candidate agrees) to 1 (all are equal).
    votes : ndarray of shape (n_candidates,)
    agreements : ndarray of shape (n_candidates, n_candidates)
        Adjusted Rand indices, in the order of the candidates.
    confidence : float
        Expected adjusted Rand index with the true clusters; NaN if there was nothing to compare.
    numbers : tuple of NumberCandidate
        The numbers of clusters compared, best first; empty if the number was given.
    systems : tuple of NeighborGraphs
        The points in each coordinate system compared; empty once the labels are those of rows.
    """

    n_clusters: int
    candidates: tuple[Candidate, ...]
    consensus: Floats
    votes: Floats
    agreements: Floats
    confidence: float
    numbers: tuple[NumberCandidate, ...] = ()
    systems: tuple[NeighborGraphs, ...] = ()

    @classmethod
    def of_numbers(cls, numbers: tuple[NumberCandidate, ...], min_clusters: int) -> Selection:
        """The best number of clusters, where there are no partitions to compare."""
        n_clusters = max(numbers[0].n_clusters if numbers else 1, min_clusters)
        return cls(n_clusters, (), np.empty(0), np.empty(0), np.empty((0, 0)), float("nan"), numbers)

    @property
    def best(self) -> Candidate:
        """The candidate of highest consensus."""
        return self.candidates[0]

    @property
    def system(self) -> str:
        """The coordinate system in which the best candidate was found."""
        return self.best.system

    @property
    def graphs(self) -> NeighborGraphs:
        """The points in that coordinate system."""
        return next(graphs for graphs in self.systems if graphs.system.name == self.system)

    def with_first(self, place: int) -> Selection:
        """The same with another candidate first, and the confidence that the others have in it."""
        order = [place, *(i for i in range(len(self.candidates)) if i != place)]
        return replace(
            self,
            candidates=tuple(self.candidates[i] for i in order),
            consensus=self.consensus[order],
            votes=self.votes[order],
            agreements=self.agreements[np.ix_(order, order)],
            confidence=confidence(float(self.consensus[place]), self.numbers),
        )

    def of_rows(self, point_of_row: Ints) -> Selection:
        """The same with labels of candidates for the rows of a table, without the graphs."""
        candidates = tuple(replace(candidate, point_of_row=point_of_row) for candidate in self.candidates)
        return replace(self, candidates=candidates, systems=())

    def __repr__(self) -> str:
        """A summary: the labels of all candidates would fill pages."""
        parts = [f"{len(self.candidates)} candidates"]
        if self.candidates:
            parts.append(f"best {self.best.principle} ({self.best.kind}, {self.system}) at {self.consensus[0]:.2f}")
            parts.append(f"confidence {self.confidence:.2f}")
        if self.numbers:
            best = ", ".join(str(number.n_clusters) for number in self.numbers[:5])
            parts.append(f"numbers of clusters, best first: {best}")
        return f"Selection({'; '.join(parts)})"


def agreement(labels: AnyInts, weights: Floats | None = None) -> Floats:
    """The adjusted Rand index of every pair of partitions.

    Parameters
    ----------
    labels : ndarray of shape (n_partitions, n)
        Clusters numbered from 0.
    weights : ndarray of shape (n,), optional
        How many points each represents; a common factor makes no difference.

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


def consensus(agreements: Floats, votes: Floats) -> Floats:
    """The consensus of each candidate, from 0 (no candidate agrees) to 1 (all are equal).

    Examples
    --------
    >>> import numpy as np
    >>> agreements = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> consensus(agreements, np.array([0.25, 0.25, 0.5]))
    array([0.625, 0.625, 0.625])
    """
    return np.maximum(agreements, 0.0) ** POWER @ votes


def rank_candidates(
    proposals: Sequence[Proposal], n_clusters: int, numbers: tuple[NumberCandidate, ...] = ()
) -> Selection:
    """The candidates of all coordinate systems, that of highest consensus first.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection.propose import propose
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (980, 2)), rng.normal([7, 0], 1, (20, 2))])
    >>> found = rank_candidates([propose(NeighborGraphs.of(X), 2, seed=0)], 2)
    >>> sorted(np.bincount(found.best.labels).tolist())
    [20, 980]
    """
    candidates = [candidate for proposal in proposals for candidate in proposal.candidates]
    systems = tuple(proposal.graphs for proposal in proposals)
    votes = np.concatenate([proposal.votes for proposal in proposals])
    votes = votes / votes.sum()
    agreements = agreement(np.array([candidate.point_labels for candidate in candidates]), systems[0].weights)
    # Candidates without a vote, or with an empty cluster, score 0.
    complete = np.array([len(np.unique(candidate.point_labels)) == n_clusters for candidate in candidates])
    # Rounded, so that ties are ties whatever the last digits: the first of them is taken.
    scores = np.where(complete & (votes > 0), consensus(agreements, votes), 0.0).round(9)
    order = np.argsort(-scores, kind="stable")
    ranked = tuple(candidates[i] for i in order)
    return Selection(
        n_clusters, ranked, scores[order], votes[order], agreements[np.ix_(order, order)],
        confidence(float(scores[order[0]]), numbers), numbers, systems,
    )  # fmt: skip


def most_agreed(proposals: Sequence[Proposal]) -> tuple[float, Ints]:
    """The highest consensus of a candidate, and its labels."""
    labels = np.array([candidate.point_labels for proposal in proposals for candidate in proposal.candidates])
    votes = np.concatenate([proposal.votes for proposal in proposals])
    votes /= votes.sum()
    scores = np.where(votes > 0, consensus(agreement(labels, proposals[0].graphs.weights), votes), 0.0)
    return float(scores.max()), labels[np.argmax(scores.round(9))]


def confidence(score: float, numbers: Sequence[NumberCandidate] = ()) -> float:
    r"""The expected adjusted Rand index with the true clusters.

    For a given number it is :math:`a^{3/4}`, with a the consensus: a mean of squares is too low, and its root too high.
    If the number was found, each number k that was compared is the true one with a probability proportional to
    :math:`(g_k \sqrt{1 - 1/k})^4`. Both exponents are calibrated on data with classes.

    Examples
    --------
    >>> round(confidence(0.81), 2)
    0.85
    """
    index = float(score**0.75)
    if not numbers:
        return index
    chances = np.array([max(number.gain, 0.0) ** 4 * (1 - 1 / number.n_clusters) ** 2 for number in numbers])
    similar = np.array([max(number.similarity, 0.0) for number in numbers])
    return index * float(chances @ similar / chances.sum()) if chances.sum() > 0 else 0.0
