"""What "auto" means: the partition that candidates of different principles agree on, and into how many clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from .._runtime import in_threads, n_threads, some
from ..affinity import AffinityLike
from ..criteria import normalized_cut
from ..kernels import Extension, Points, SharedNeighbors
from ..points import CoordinateSystem, coordinate_systems
from ..solvers import Solution
from .candidates import (
    Neighborhoods,
    Partition,
    cuts,
    find_neighborhoods,
    neighborhood_sizes,
    rare_groups,
    tree_cuts,
)
from .centres import centres
from .consensus import agreement, consensus, expected_index, shared_votes
from .number import NumberCandidate, choose_number, rank_numbers, rank_numbers_of_points

__all__ = ["Selected", "Selection", "agree", "neighborhoods_in_systems", "select", "select_number"]

# Votes of the cuts where trees have the others, and where centres have them.
_BESIDE_TREES, _BESIDE_CENTRES = 0.5, 0.4


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The candidates, highest consensus first, and who agrees with whom.

    Parameters
    ----------
    candidates : tuple of Partition
        Labels are those of the distinct points. Those with fewer clusters than asked for come last.
    consensus : ndarray of shape (n_candidates,)
        From 0 (nobody agrees) to 1 (all are the same).
    votes : ndarray of shape (n_candidates,)
        Vote of each candidate.
    agreements : ndarray of shape (n_candidates, n_candidates)
        Adjusted Rand indices, in the order of the candidates.
    confidence : float
        Adjusted Rand index with the truth that so much agreement has led to elsewhere, from 0 to 1; not a number where
        nothing was compared.
    centres : dict from str to float
        For each coordinate system, what centres are worth there, from 0 to 1.
    numbers : tuple of NumberCandidate
        The numbers of clusters compared, best first; empty where the number was given.
    """

    candidates: tuple[Partition, ...]
    consensus: NDArray[np.float64]
    votes: NDArray[np.float64]
    agreements: NDArray[np.float64]
    confidence: float
    centres: dict[str, float]
    numbers: tuple[NumberCandidate, ...] = ()

    @property
    def best(self) -> Partition:
        """The candidate of highest consensus."""
        return self.candidates[0]

    @property
    def system(self) -> str:
        """The coordinate system in which the best candidate was found."""
        return self.best.system

    def with_first(self, place: int) -> Selection:
        """The same with another candidate first, and the confidence that the others have in it."""
        order = [place, *(i for i in range(len(self.candidates)) if i != place)]
        return replace(
            self,
            candidates=tuple(self.candidates[i] for i in order),
            consensus=self.consensus[order],
            votes=self.votes[order],
            agreements=self.agreements[np.ix_(order, order)],
            confidence=expected_index(float(self.consensus[place]), float(np.mean(list(self.centres.values())))),
        )

    def __repr__(self) -> str:
        """What was compared and what came first, in a few words: the labels of all candidates fill pages."""
        parts = [f"{len(self.candidates)} candidates"]
        if self.candidates:
            best = self.best
            where = f"{best.kind}, scale {best.scale}, {best.system}"
            parts.append(f"best {best.family} ({where}) at consensus {self.consensus[0]:.2f}")
            parts.append(f"confidence {self.confidence:.2f}")
        if self.numbers:
            parts.append(f"numbers of clusters, best first: {some([str(one.n_clusters) for one in self.numbers])}")
        return f"Selection({'; '.join(parts)})"


@dataclass(frozen=True, eq=False)
class Selected:
    """What was chosen, and what it was chosen from.

    Parameters
    ----------
    system : CoordinateSystem
        From the points to those that the affinity is between.
    kernel : SharedNeighbors
    affinity : CSR array of shape (n, n)
    extension : callable
        From new points, in the same system, to their affinities with all points.
    n_clusters : int
    solution : Solution
    selection : Selection
    """

    system: CoordinateSystem
    kernel: SharedNeighbors
    affinity: sparse.csr_array
    extension: Extension
    n_clusters: int
    solution: Solution
    selection: Selection


def select(
    X: Points,
    n_clusters: int | str,
    *,
    units: NDArray[np.float64] | None = None,
    least: int = 1,
    judge: Callable[[Selection, int], Selection] | None = None,
    weights: NDArray[np.float64] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Selected:
    """The partition of the points that cuts, trees and centres agree on, in all coordinate systems.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Distinct points.
    n_clusters : int or "auto"
        With `"auto"`, the number that :func:`evencut.selection.rank_numbers_of_points` puts first, or 1 where there is
        no structure.
    units : ndarray of shape (n_features,), optional
        What the columns were divided by to have one deviation each: candidates are found as the columns were, as they
        are, and, from four columns on, in ranks. Without it, only as they are.
    least : int
        With `"auto"`, the fewest clusters there can be.
    judge : callable, optional
        From what was compared, and the number of clusters, to the same with another candidate first.
    weights : ndarray of shape (n,), optional
        How many points each stands for.
    random_state : int, optional
    n_jobs : int, optional

    Returns
    -------
    Selected

    Examples
    --------
    >>> from evencut.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> picked = select(X, 2, random_state=0)
    >>> picked.n_clusters, picked.selection.best.family
    (2, 'cut')
    """
    systems = neighborhoods_in_systems(X, weights, units=units, n_jobs=n_jobs)
    numbers: tuple[NumberCandidate, ...] = ()
    if isinstance(n_clusters, str):
        numbers = rank_numbers_of_points(systems, random_state)
        n_clusters = max(choose_number(numbers), least)
    if n_clusters == 1 or n_clusters == systems[0].n_points:
        selection = _of_one(systems[0], n_clusters, numbers)
    else:
        selection = agree(systems, n_clusters, random_state=random_state, numbers=numbers)
    if judge is not None:
        selection = judge(selection, n_clusters)
    neighborhoods = next(neighborhoods for neighborhoods in systems if neighborhoods.system.name == selection.system)
    # Degrees are most even at the broadest scale: the steadiest graph to predict on.
    kernel, affinity, extension = _kernel_at(neighborhoods, neighborhood_sizes(neighborhoods.n_points, n_clusters)[-1])
    energy = normalized_cut(affinity, neighborhoods.weights).energy(selection.best.labels)
    solution = Solution(selection.best.labels, energy, 1, (energy,), True)
    return Selected(neighborhoods.system, kernel, affinity, extension, n_clusters, solution, selection)


def neighborhoods_in_systems(
    X: Points,
    weights: NDArray[np.float64] | None = None,
    *,
    units: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> list[Neighborhoods]:
    """The neighbours of the points in every coordinate system; without `units` only as they are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> [neighborhoods.system.name for neighborhoods in neighborhoods_in_systems(X, units=np.ones(4))]
    ['as given', 'ranks']
    """
    if units is None:
        return [find_neighborhoods(X, weights, n_jobs=n_jobs)]
    counts = np.ones(len(X)) if weights is None else weights
    systems = coordinate_systems(X, counts, units)
    # Many short steps, each of which would wait for the other threads.
    in_systems = [(system, system(X)) for system in systems]
    return in_threads(
        lambda known: find_neighborhoods(known[1], counts, system=known[0], n_jobs=n_jobs),
        in_systems,
        n_threads(n_jobs),
    )


def agree(
    systems: Sequence[Neighborhoods],
    n_clusters: int,
    *,
    random_state: int | None = None,
    numbers: tuple[NumberCandidate, ...] = (),
) -> Selection:
    """The candidates for `n_clusters`, the one that all agree on most first.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (980, 2)), rng.normal([7, 0], 1, (20, 2))])
    >>> sorted(np.bincount(agree([find_neighborhoods(X)], 2, random_state=0).best.labels).tolist())
    [20, 980]
    """
    found: list[Partition] = []
    votes: dict[Hashable, float] = {}
    worths = {}
    for neighborhoods, (partitions, shares, worth) in zip(
        systems, _candidates_of_all(systems, n_clusters, random_state)
    ):
        found += partitions
        votes |= {
            (neighborhoods.system.name, group): neighborhoods.system.votes * share for group, share in shares.items()
        }
        worths[neighborhoods.system.name] = worth
    labels = np.array([partition.labels for partition in found])
    shared = shared_votes([(partition.system, _group_of(partition)) for partition in found], votes)
    alike = agreement(labels, systems[0].weights)
    # Those without a vote, or with an empty cluster, are not elected.
    whole = np.array([len(np.unique(partition.labels)) == n_clusters for partition in found])
    # Ties are ties whatever the last digits say: the first of them, as the columns come, is taken.
    standing = np.where(whole & (shared > 0), consensus(alike, shared), 0.0).round(9)
    order = np.argsort(-standing, kind="stable")
    overlap = np.average(list(worths.values()), weights=[neighborhoods.system.votes for neighborhoods in systems])
    confidence = expected_index(float(standing[order[0]]), float(overlap))
    ranked = tuple(found[i] for i in order)
    return Selection(ranked, standing[order], shared[order], alike[np.ix_(order, order)], confidence, worths, numbers)


def _candidates_of_all(
    systems: Sequence[Neighborhoods], n_clusters: int, random_state: int | None
) -> list[tuple[list[Partition], dict[str, float], float]]:
    """The candidates of every coordinate system, side by side unless one starts from those of another."""
    before: list[Partition] = []

    def find(neighborhoods: Neighborhoods) -> tuple[list[Partition], dict[str, float], float]:
        candidates = _candidates(neighborhoods, n_clusters, random_state, before)
        if far:
            before.extend(candidates[0])
        return candidates

    far = any(neighborhoods.far.size for neighborhoods in systems)
    # Fewer distinct points than clusters leave some without any. Filters belong to all threads: they are set out here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return in_threads(find, systems, 1 if far else n_threads(systems[0].search.n_jobs))


def _candidates(
    neighborhoods: Neighborhoods, n_clusters: int, random_state: int | None, before: Sequence[Partition]
) -> tuple[list[Partition], dict[str, float], float]:
    """The candidates of one coordinate system, the vote of each group of them, and what centres are worth there.

    `before` has those of other systems.
    """
    of_cuts = list(cuts(neighborhoods, n_clusters, random_state=random_state))
    # A cluster of few points is met by no k-means: a mixture must start from a tree to see it.
    starts = [of_cuts[len(of_cuts) // 2].labels, rare_groups(neighborhoods, n_clusters)]
    if neighborhoods.far.size:
        # Cuts that part a row far away leave the others one cluster fewer, and mixtures no start for all clusters.
        starts += [other.labels for other in before if other.family == "centre"]
    of_centres, shares, worth = centres(neighborhoods, n_clusters, starts, np.random.default_rng(random_state))
    # Those without a vote are not elected, and need not be found.
    trees = list(tree_cuts(neighborhoods, n_clusters)) if worth < 1 else []
    cut = (1 - worth) * _BESIDE_TREES + worth * _BESIDE_CENTRES
    votes = {"cut": cut, "tree": (1 - cut) * (1 - worth)}
    votes |= {one.kind: (1 - cut) * worth * share for one, share in zip(of_centres, shares)}
    return [*of_cuts, *trees, *of_centres], votes, worth


def _group_of(partition: Partition) -> str:
    """Who shares votes: all cuts, all trees; each partition around centres has votes of its own."""
    return partition.kind if partition.family == "centre" else partition.family


def select_number(affinity: AffinityLike, weights: NDArray[np.float64], random_state: int | None = None) -> Selection:
    """The numbers of clusters of one given affinity, judged and sorted; there are no other candidates.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.kron(np.eye(3), np.ones((20, 20))) + 1e-3
    >>> select_number(three, np.ones(60), random_state=0).numbers[0].n_clusters
    3
    """
    numbers = rank_numbers([normalized_cut(affinity, weights)], random_state)
    return Selection((), np.empty(0), np.empty(0), np.empty((0, 0)), float("nan"), {}, numbers)


def _of_one(neighborhoods: Neighborhoods, n_clusters: int, numbers: tuple[NumberCandidate, ...]) -> Selection:
    """The only partition there is: all points one cluster, or each its own."""
    labels = np.zeros(neighborhoods.n_points, dtype=np.int64) if n_clusters == 1 else np.arange(neighborhoods.n_points)
    only = Partition("cut", "only", 0, labels, neighborhoods.system.name)
    return Selection((only,), np.ones(1), np.ones(1), np.ones((1, 1)), float("nan"), {}, numbers)


def _kernel_at(neighborhoods: Neighborhoods, size: int) -> tuple[SharedNeighbors, sparse.csr_array, Extension]:
    kernel, near = SharedNeighbors(n_neighbors=max(size, 1)), slice(size + 1)
    extension = kernel.extend_from(
        neighborhoods.search, neighborhoods.distances[:, near], neighborhoods.indices[:, near]
    )
    return kernel, neighborhoods.affinity(size), extension
