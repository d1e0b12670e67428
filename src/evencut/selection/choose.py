"""What "auto" means: the partition that candidates of different principles agree on, and into how many clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..affinity import AffinityLike
from ..criteria import normalized_cut
from ..io.errors import some
from ..kernels import Extension, Points, SharedNeighbors
from ..solvers import SOLVERS, Solution, solve
from .candidates import Neighborhoods, Partition, affinity_at, candidates, look_around, neighborhood_sizes
from .consensus import agreement, consensus
from .leaks import leak_over_mixing
from .number import NumberCandidate, choose_number, rank_numbers, rank_numbers_of_points

__all__ = ["VOTES", "Selected", "Selection", "agree", "select", "select_number"]

#: Votes of the families. Mixtures know only blobs and have a small one.
VOTES = {"cut": 0.45, "tree": 0.40, "mixture": 0.15}


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The candidates, highest consensus first, and who agrees with whom.

    Parameters
    ----------
    candidates : tuple of Partition
        Labels are those of the distinct points. Those with fewer clusters than asked for come last.
    consensus : ndarray of shape (n_candidates,)
        From 0 (nobody agrees) to 1 (all are the same).
    agreements : ndarray of shape (n_candidates, n_candidates)
        Adjusted Rand indices, in the order of the candidates.
    confidence : float
        Mean agreement of all families with the partition chosen, from 0 to 1; not a number where nothing was compared.
    numbers : tuple of NumberCandidate
        The numbers of clusters compared, best first; empty where the number was given.
    """

    candidates: tuple[Partition, ...]
    consensus: NDArray[np.float64]
    agreements: NDArray[np.float64]
    confidence: float
    numbers: tuple[NumberCandidate, ...] = ()

    @property
    def best(self) -> Partition:
        """The candidate of highest consensus."""
        return self.candidates[0]

    def with_first(self, place: int) -> Selection:
        """The same with another candidate first, and the confidence that the families have in it."""
        order = [place, *(i for i in range(len(self.candidates)) if i != place)]
        families = [candidate.family for candidate in self.candidates]
        confidence = float(consensus(self.agreements[place : place + 1], families, VOTES, power=1.0)[0])
        return Selection(
            tuple(self.candidates[i] for i in order),
            self.consensus[order],
            self.agreements[np.ix_(order, order)],
            confidence,
            self.numbers,
        )

    def __repr__(self) -> str:
        """What was compared and what came first, in a few words: the labels of all candidates fill pages."""
        parts = [f"{len(self.candidates)} candidates"]
        if self.candidates:
            best = self.best
            parts.append(f"best {best.family} ({best.kind}, scale {best.scale}) at consensus {self.consensus[0]:.2f}")
            parts.append(f"confidence {self.confidence:.2f}")
        if self.numbers:
            parts.append(f"numbers of clusters, best first: {some([str(one.n_clusters) for one in self.numbers])}")
        return f"Selection({'; '.join(parts)})"


@dataclass(frozen=True, eq=False)
class Selected:
    """What was chosen, and what it was chosen from.

    Parameters
    ----------
    kernel : SharedNeighbors
    affinity : CSR array of shape (n, n)
    extension : callable
        From new points to their affinities with all points.
    n_clusters : int
    solution : Solution
    selection : Selection
    """

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
    least: int = 1,
    weights: NDArray[np.float64] | None = None,
    solver: str = "auto",
    n_init: int = 4,
    max_iter: int = 100,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Selected:
    """The partition of the points that cuts, trees and a mixture agree on.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Distinct points.
    n_clusters : int or "auto"
        With `"auto"`, the number that :func:`evencut.selection.rank_numbers_of_points` puts first, or 1 where there is
        no structure.
    least : int
        With `"auto"`, the fewest clusters there can be.
    weights : ndarray of shape (n,), optional
        How many points each stands for.
    solver : str
        A solver that takes no starts solves the kernel's own scale (K = 25), and nothing is compared.
    n_init, max_iter : int
        As in :func:`evencut.solvers.solve`; every cut takes half as many cycles as `n_init`.
    random_state : int, optional
    n_jobs : int, optional

    Returns
    -------
    Selected

    Examples
    --------
    >>> from evencut.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> found = select(X, 2, random_state=0)
    >>> found.n_clusters, found.selection.best.family
    (2, 'cut')
    """
    around = look_around(X, weights, n_jobs=n_jobs)
    numbers: tuple[NumberCandidate, ...] = ()
    if isinstance(n_clusters, str):
        numbers = rank_numbers_of_points(around, random_state)
        n_clusters = max(choose_number(numbers), least)
    if n_clusters == 1 or n_clusters == len(X) or not SOLVERS[solver].takes_starts:
        how: dict[str, Any] = {"solver": solver, "n_init": n_init, "max_iter": max_iter}
        return _uncompared(around, n_clusters, numbers, random_state=random_state, **how)
    selection = agree(around, n_clusters, n_init=max(1, n_init // 2), random_state=random_state, numbers=numbers)
    # Degrees are most even at the broadest scale: the steadiest graph to predict on, and for other criteria.
    kernel, affinity, extension = _kernel_at(around, neighborhood_sizes(around.n_points, n_clusters)[-1])
    energy = normalized_cut(affinity, weights).energy(selection.best.labels)
    solution = Solution(selection.best.labels, energy, 1, (energy,), True)
    return Selected(kernel, affinity, extension, n_clusters, solution, selection)


def agree(
    around: Neighborhoods,
    n_clusters: int,
    *,
    n_init: int = 2,
    random_state: int | None = None,
    numbers: tuple[NumberCandidate, ...] = (),
) -> Selection:
    """The candidates for `n_clusters`, the one that all families agree on most first.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (980, 2)), rng.normal([7, 0], 1, (20, 2))])
    >>> sorted(np.bincount(agree(look_around(X), 2, random_state=0).best.labels).tolist())
    [20, 980]
    """
    found = list(candidates(around, n_clusters, n_init=n_init, random_state=random_state))
    labels = np.array([partition.labels for partition in found])
    alike = agreement(labels, around.weights)
    families = [partition.family for partition in found]
    broadest = affinity_at(around, neighborhood_sizes(around.n_points, n_clusters)[-1])
    scores = leak_over_mixing(normalized_cut(broadest, around.weights), labels, n_clusters)
    standing = consensus(alike, families, VOTES, scores=scores)
    # A mixture may leave a component without points: it votes, but is no partition into so many clusters.
    has_fewer = [len(np.unique(partition.labels)) < n_clusters for partition in found]
    order = np.lexsort((-standing, np.array(has_fewer)))
    confidence = float(consensus(alike[order[:1]], families, VOTES, power=1.0)[0])
    ranked = tuple(found[i] for i in order)
    return Selection(ranked, standing[order], alike[np.ix_(order, order)], confidence, numbers)


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
    return Selection((), np.empty(0), np.empty((0, 0)), float("nan"), numbers)


def _uncompared(
    around: Neighborhoods, n_clusters: int, numbers: tuple[NumberCandidate, ...], **how: Any
) -> Selected:
    """The kernel's own scale, solved by the solver asked for."""
    kernel, affinity, extension = _kernel_at(around, min(SharedNeighbors().n_neighbors, max(around.n_points - 1, 1)))
    solution = solve(normalized_cut(affinity, around.weights), n_clusters, **how)
    only = Partition("cut", "solver", kernel.n_neighbors, solution.labels)
    selection = Selection((only,), np.ones(1), np.ones((1, 1)), float("nan"), numbers)
    return Selected(kernel, affinity, extension, n_clusters, solution, selection)


def _kernel_at(around: Neighborhoods, size: int) -> tuple[SharedNeighbors, sparse.csr_array, Extension]:
    kernel, near = SharedNeighbors(n_neighbors=size), slice(size + 1)
    extension = kernel.extend_from(around.search, around.distances[:, near], around.indices[:, near])
    return kernel, affinity_at(around, size), extension
