"""What "auto" means: which partition of the points, at which scale, into how many clusters.

Up to a limit of points candidates of several scales are judged; above it landmarks make one start for all points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..affinity import AffinityLike, NeighborSearch, limits
from ..criteria import normalized_cut
from ..kernels import Extension, Points, SharedNeighbors, shared_neighbor_affinity
from ..landmarks import labels_by_landmarks
from ..solvers import SOLVERS, Effort, Solution, refine, solve
from ..solvers.starts import fill_empty
from .number import NumberCandidate, rank_numbers
from .scale import Candidate, candidates_at_scale, judge, neighborhood_sizes

__all__ = ["Selected", "Selection", "select", "select_number"]

# Neighbours on the graph of all points on which the labels of landmarks are refined: borders need no more.
_REFINING_NEIGHBORS = 15


@dataclass(frozen=True, eq=False)
class Selection:
    """What was compared.

    Parameters
    ----------
    candidates : tuple of Candidate
        Best first.
    numbers : tuple of NumberCandidate
        The numbers of clusters compared, best first; empty where the number was given.
    """

    candidates: tuple[Candidate, ...]
    numbers: tuple[NumberCandidate, ...]

    @property
    def best(self) -> Candidate:
        """The candidate of lowest score."""
        return self.candidates[0]


@dataclass(frozen=True, eq=False)
class Selected:
    """What was chosen, and what it was chosen from.

    Parameters
    ----------
    kernel : SharedNeighbors
    affinity : CSR array of shape (n, n)
    extension : callable
        From new points to their affinities with all points.
    solution : Solution
    selection : Selection
    """

    kernel: SharedNeighbors
    affinity: sparse.csr_array
    extension: Extension
    solution: Solution
    selection: Selection


def select(
    X: Points,
    n_clusters: int | str,
    *,
    weights: NDArray[np.float64] | None = None,
    solver: str = "auto",
    n_init: int = 4,
    max_iter: int = 100,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Selected:
    """The best partition of the points over several scales.

    More than 20000 points are not judged. Their start is the normalised cut of landmarks
    (:class:`evencut.LandmarkClustering`), refined on the graph of all points (K = 15). That graph alone would mislead:
    its neighbourhoods are so small that a thin place inside a cluster is a cheaper cut than the noise between two. A
    solver that takes no starts solves the kernel's own scale (K = 25), unjudged.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    n_clusters : int or "auto"
        With `"auto"`, the number that :func:`evencut.selection.rank_numbers` puts first over the scales
        15, 25 and 40, on a random sample where there are more than 20000 points.
    weights : ndarray of shape (n,), optional
        How many points each stands for; landmarks take them for one each, and leave the rest to the refinement.
    solver, n_init, max_iter
        As in :func:`evencut.solvers.solve`.
    random_state : int, optional
    n_jobs : int, optional

    Returns
    -------
    Selected

    Examples
    --------
    >>> from evencut.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> select(X, 2, random_state=0).selection.best.n_clusters
    2
    """
    points = _Points(X, weights, random_state, n_jobs)
    numbers: tuple[NumberCandidate, ...] = ()
    if isinstance(n_clusters, str):
        numbers = points.numbers()
        n_clusters = numbers[0].n_clusters if numbers else 1
    effort = Effort(n_init, max_iter)
    if n_clusters == 1 or points.too_few_for_landmarks(n_clusters) or not SOLVERS[solver].takes_starts:
        return points.unjudged(n_clusters, solver, effort, numbers)
    if points.many:
        return points.from_landmarks(n_clusters, solver, effort, numbers)
    return points.judged(n_clusters, effort, numbers)


def select_number(affinity: AffinityLike, weights: NDArray[np.float64], random_state: int | None = None) -> Selection:
    """The numbers of clusters of one given affinity, judged and sorted; there are no other candidates.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.kron(np.eye(3), np.ones((20, 20))) + 1e-3
    >>> select_number(three, np.ones(60), random_state=0).numbers[0].n_clusters
    3
    """
    return Selection((), rank_numbers([(None, normalized_cut(affinity, weights))], random_state))


class _Points:
    """The points to choose for, searched for neighbours once."""

    def __init__(self, X: Points, weights: NDArray[np.float64] | None, random_state: int | None, n_jobs: int | None):
        self.X, self.weights, self.seed, self.n_jobs = X, weights, random_state, n_jobs
        self.many = len(X) > limits.MANY_POINTS
        self.sample: NDArray[np.intp] | slice = slice(None)
        if self.many:
            self.sample = np.random.default_rng(random_state).choice(len(X), limits.MANY_POINTS, replace=False)

    def numbers(self) -> tuple[NumberCandidate, ...]:
        """The numbers of clusters of the points, or of a sample of many, ranked over three scales."""
        X, weights = self.X[self.sample], None if self.weights is None else self.weights[self.sample]
        graphs = _graphs(NeighborSearch(X, n_jobs=self.n_jobs), neighborhood_sizes(len(X), 1))
        return rank_numbers(((size, normalized_cut(graph, weights)) for size, graph, _ in graphs), self.seed)

    def too_few_for_landmarks(self, n_clusters: int) -> bool:
        """Landmarks are distinct points of a sample and must not be too few for the clusters."""
        return self.many and len(np.unique(self.X[self.sample], axis=0)) < 2 * n_clusters

    def unjudged(self, n_clusters: int, solver: str, effort: Effort, numbers: tuple[NumberCandidate, ...]) -> Selected:
        """The kernel's own scale, solved by the solver asked for."""
        size = min(SharedNeighbors().n_neighbors, len(self.X) - 1)
        _, graph, extension = next(_graphs(NeighborSearch(self.X, n_jobs=self.n_jobs), [size]))
        problem = normalized_cut(graph, self.weights)
        how = {"n_init": effort.n_init, "max_iter": effort.max_iter}
        solution = solve(problem, n_clusters, solver=solver, random_state=self.seed, **how)
        selection = Selection((judge(solution, n_clusters, size, "solver"),), numbers)
        return Selected(SharedNeighbors(size), graph, extension, solution, selection)

    def from_landmarks(
        self, n_clusters: int, solver: str, effort: Effort, numbers: tuple[NumberCandidate, ...]
    ) -> Selected:
        """The clusters of landmarks, refined on the graph of all points."""
        size = min(_REFINING_NEIGHBORS, len(self.X) - 1)
        _, graph, extension = next(_graphs(NeighborSearch(self.X, n_jobs=self.n_jobs), [size]))
        seed = int(np.random.RandomState(self.seed).randint(2**31 - 1))
        how = {"solver": solver, "n_init": effort.n_init, "max_iter": effort.max_iter}
        start = fill_empty(labels_by_landmarks(self.X, n_clusters, seed=seed, n_jobs=self.n_jobs, **how), n_clusters)
        solution = refine(normalized_cut(graph, self.weights), start, n_clusters, max_iter=effort.max_iter)
        selection = Selection((judge(solution, n_clusters, size, "landmarks"),), numbers)
        return Selected(SharedNeighbors(size), graph, extension, solution, selection)

    def judged(self, n_clusters: int, effort: Effort, numbers: tuple[NumberCandidate, ...]) -> Selected:
        """The best of the candidates of every scale."""
        found: list[Candidate] = []
        graphs = {}
        sizes = neighborhood_sizes(len(self.X), n_clusters)
        for size, graph, extension in _graphs(NeighborSearch(self.X, n_jobs=self.n_jobs), sizes):
            graphs[size] = graph, extension
            problem = normalized_cut(graph, self.weights)
            found.extend(candidates_at_scale(problem, n_clusters, size, effort, self.seed))
        found.sort(key=lambda candidate: candidate.score)
        best = found[0]
        kernel = SharedNeighbors(n_neighbors=best.n_neighbors)
        return Selected(kernel, *graphs[best.n_neighbors], best.solution, Selection(tuple(found), numbers))


def _graphs(search: NeighborSearch, sizes: list[int]) -> Iterator[tuple[int, sparse.csr_array, Extension]]:
    """The affinity and its extension at each scale, from one search for neighbours."""
    distances, indices = search.query_self(sizes[-1] + 1)
    for size in sizes:
        near, away = indices[:, : size + 1], distances[:, : size + 1]
        graph = shared_neighbor_affinity(search.X, away, near, n_jobs=search.n_jobs)
        yield size, graph, SharedNeighbors(size).extend_from(search, away, near)
