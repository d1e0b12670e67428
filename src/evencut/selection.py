r"""Choosing the scale of the kernel and the start by one principle: little leaks out of clusters that mix well inside.

Every candidate, a partition found at one scale K of the shared-neighbour kernel, is judged on its own graph by

.. math:: Q = \log\left(\frac{\ell + \delta}{\mu + \delta} + \varepsilon\right) - 3 H - \tfrac12 \log K

where :math:`\ell = \frac1k \sum_i cut(S_i)/d(S_i)` is the share of affinity that leaks out of a cluster (the
normalised cut over k), :math:`\mu = 1 - \lambda_{k+1}` bounds how fast a walk mixes inside clusters (from the next
eigenvalue of the graph), and :math:`H` is the entropy of the cluster sizes. A ratio of the two rates does not
depend on the sharpness of the kernel, so energies of different scales can be compared; a handful of outliers or
the tip of a shape that is cheap to cut off has little entropy; and of two equal scales the broader is steadier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .affinity import Affinity
from .cluster_number import NumberCandidate, rank_numbers
from .criteria import RatioProblem, normalized_cut
from .kernel import Points
from .neighbors import kneighbors
from .shared_neighbors import SharedNeighbors, shared_neighbor_affinity
from .solvers import Solution, refine, solve
from .solvers.merging import merge_clusters
from .solvers.spectral import cut_embedding, spectral_embedding, unit_rows
from .solvers.starts import fill_empty

__all__ = [
    "MAX_JUDGED_POINTS",
    "Candidate",
    "Selected",
    "Selection",
    "neighborhood_sizes",
    "quality",
    "select",
    "select_number",
]

#: More points are not judged but start from landmarks, so that a fit stays a matter of seconds.
MAX_JUDGED_POINTS = 20_000

# Neighbours on the graph of all points on which the labels of landmarks are refined: borders need no more.
_REFINING_NEIGHBORS = 15
# A neighbourhood is a sixth of an average cluster, within limits: fewer are noise, more add only cost.
_CLUSTERS_PER_NEIGHBORHOOD = 6
_FEWEST, _MOST = 10, 25
_SCALES = (0.6, 1.0, 1.6)
# Rates below this are rounding and single stray links.
_SMALL_RATE = 1e-4
# Ratios below this are all clear separations; being clearer still is no reason to prefer one.
_CLEAR_RATIO = 0.1
_EVENNESS = 3.0
_BREADTH = 0.5


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition that was judged.

    Parameters
    ----------
    n_clusters, n_neighbors : int
        Number of clusters and K, the scale it was found at.
    start : {"spectral", "merged", "merged from more vectors", "landmarks", "solver"}
        How it was started.
    leak, mixing : float
        The rates out of and inside clusters, :math:`\\ell` and :math:`\\mu`.
    entropy : float
        H, the entropy of cluster sizes.
    score : float
        Q; lower is better. Not a number where there was nothing to compare.
    solution : Solution
    """

    n_clusters: int
    n_neighbors: int
    start: str
    leak: float
    mixing: float
    entropy: float
    score: float
    solution: Solution = field(repr=False)


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


class Selected(NamedTuple):
    """What was chosen, the kernel with its affinity and the labels, and what it was chosen from."""

    kernel: SharedNeighbors
    affinity: sparse.csr_array
    solution: Solution
    selection: Selection


def quality(leak: float, mixing: float, entropy: float, n_neighbors: int) -> float:
    r"""The score Q of a candidate; lower is better.

    .. math:: Q = \log\left(\frac{\ell + \delta}{\mu + \delta} + \varepsilon\right) - 3 H - \tfrac12 \log K

    with :math:`\delta = 10^{-4}` and :math:`\varepsilon = 0.1`.

    Examples
    --------
    >>> quality(0.001, 0.1, 0.69, 25) < quality(0.05, 0.1, 0.69, 25)
    True
    """
    ratio = (leak + _SMALL_RATE) / (mixing + _SMALL_RATE)
    return float(np.log(ratio + _CLEAR_RATIO) - _EVENNESS * entropy - _BREADTH * np.log(n_neighbors))


def neighborhood_sizes(n_points: int, n_clusters: int) -> list[int]:
    """The scales K that are tried: 0.6, 1 and 1.6 times a sixth of an average cluster, kept within 10 and 25.

    Examples
    --------
    >>> neighborhood_sizes(1000, 2)
    [15, 25, 40]
    >>> neighborhood_sizes(150, 3)
    [6, 10, 16]
    """
    middle = min(max(n_points / (_CLUSTERS_PER_NEIGHBORHOOD * n_clusters), _FEWEST), _MOST)
    return sorted({min(round(scale * middle), n_points - 1) for scale in _SCALES})


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

    At each scale there are three: the spectral embedding cut into k parts, and two where it is cut into 3k + 5 parts,
    in k + 2 and in k + 10 vectors, which are merged down to k. All are refined by single-point moves.

    More than `MAX_JUDGED_POINTS` points are not judged. Their start is the normalised cut of landmarks
    (:class:`evencut.LandmarkClustering`), refined on the graph of all points (K = 15). That graph alone would mislead:
    its neighbourhoods are so small that a thin place inside a cluster is a cheaper cut than the noise between two. A
    solver that takes no starts solves the kernel's own scale (K = 25), unjudged.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    n_clusters : int or "auto"
        With `"auto"`, the number that :func:`evencut.cluster_number.rank_numbers` puts first over the scales
        15, 25 and 40, on a random sample where there are more than `MAX_JUDGED_POINTS` points.
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
    how: dict[str, Any] = {"n_init": n_init, "max_iter": max_iter, "random_state": random_state}
    many = len(X) > MAX_JUDGED_POINTS
    sample: Any = slice(None)
    if many:
        sample = np.random.default_rng(random_state).choice(len(X), MAX_JUDGED_POINTS, replace=False)
    numbers: tuple[NumberCandidate, ...] = ()
    if isinstance(n_clusters, str):
        numbers = _numbers(X[sample], None if weights is None else weights[sample], random_state, n_jobs)
        n_clusters = numbers[0].n_clusters if numbers else 1
    # Landmarks are distinct points of a sample and must not be too few for the clusters.
    few = many and len(np.unique(X[sample], axis=0)) < 2 * n_clusters
    candidates: tuple[Candidate, ...]
    if n_clusters == 1 or few or solver not in ("auto", "spectral"):
        kernel, affinity, problem = _all_points(X, SharedNeighbors().n_neighbors, weights, n_jobs)
        solution = solve(problem, n_clusters, solver=solver, **how)
        candidates = (_judge(solution, n_clusters, kernel.n_neighbors, "solver", float("nan")),)
    elif many:
        kernel, affinity, problem = _all_points(X, _REFINING_NEIGHBORS, weights, n_jobs)
        solution = refine(problem, _labels_of_landmarks(X, n_clusters, n_jobs, how), n_clusters, max_iter=max_iter)
        candidates = (_judge(solution, n_clusters, kernel.n_neighbors, "landmarks", float("nan")),)
    else:
        candidates, affinity = _judged(X, n_clusters, weights, n_jobs, how)
        kernel, solution = SharedNeighbors(n_neighbors=candidates[0].n_neighbors), candidates[0].solution
    return Selected(kernel, affinity, solution, Selection(candidates, numbers))


def select_number(affinity: Affinity, weights: NDArray[np.float64], random_state: int | None = None) -> Selection:
    """The numbers of clusters of one given affinity, judged and sorted; there are no other candidates.

    Examples
    --------
    >>> import numpy as np
    >>> three = np.kron(np.eye(3), np.ones((20, 20))) + 1e-3
    >>> select_number(three, np.ones(60), random_state=0).numbers[0].n_clusters
    3
    """
    return Selection((), rank_numbers([(None, normalized_cut(affinity, weights))], random_state))


def _numbers(X, weights, random_state, n_jobs) -> tuple[NumberCandidate, ...]:
    graphs = _graphs(X, neighborhood_sizes(len(X), 1), n_jobs)
    return rank_numbers(((size, normalized_cut(graph, weights)) for size, graph in graphs), random_state)


def _judged(X, n_clusters, weights, n_jobs, how) -> tuple[tuple[Candidate, ...], sparse.csr_array]:
    """The candidates of every scale, best first, and the affinity of the best."""
    found: list[Candidate] = []
    affinities = {}
    for size, graph in _graphs(X, neighborhood_sizes(len(X), n_clusters), n_jobs):
        affinities[size] = graph
        rng = np.random.default_rng(how["random_state"])
        problem = normalized_cut(graph, weights)
        found.extend(_candidates(problem, n_clusters, size, how["n_init"], how["max_iter"], rng))
    found.sort(key=lambda candidate: candidate.score)
    return tuple(found), affinities[found[0].n_neighbors]


def _graphs(X, sizes, n_jobs) -> Iterator[tuple[int, sparse.csr_array]]:
    """The affinity at each scale, from one search for neighbours."""
    distances, indices = kneighbors(X, sizes[-1] + 1, n_jobs=n_jobs)
    for size in sizes:
        near = slice(size + 1)
        yield size, shared_neighbor_affinity(X, distances[:, near], indices[:, near], n_jobs=n_jobs)


def _candidates(
    problem: RatioProblem, n_clusters: int, size: int, n_init: int, max_iter: int, rng: np.random.Generator
) -> Iterator[Candidate]:
    values, vectors = spectral_embedding(problem.matrix, n_clusters + 10, rng)
    mixing = 1.0 - max(float(values[n_clusters]), 0.0) if len(values) > n_clusters else 1.0
    for start, labels in _starts(problem, vectors, n_clusters, n_init, rng):
        solution = refine(problem, labels, n_clusters, max_iter=max_iter, rng=rng)
        yield _judge(solution, n_clusters, size, start, mixing)


def _judge(solution: Solution, n_clusters: int, size: int, start: str, mixing: float) -> Candidate:
    leak = 1.0 + solution.energy / n_clusters
    entropy = _entropy(solution.labels)
    score = quality(leak, mixing, entropy, size)
    return Candidate(n_clusters, size, start, leak, mixing, entropy, score, solution)


def _starts(
    problem: RatioProblem, vectors: NDArray[np.float64], n_clusters: int, n_init: int, rng: np.random.Generator
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    plain = unit_rows(vectors[:, :n_clusters])
    cuts = [fill_empty(cut_embedding(plain, n_clusters, rng), n_clusters) for _ in range(n_init)]
    yield "spectral", min(cuts, key=problem.energy)
    n_parts = min(3 * n_clusters + 5, max(len(vectors) // 3, n_clusters))
    for name, n_more in (("merged", 2), ("merged from more vectors", 10)):
        parts = cut_embedding(unit_rows(vectors[:, : n_clusters + n_more]), n_parts, rng)
        if len(np.unique(parts)) < n_clusters:
            parts = fill_empty(parts, n_clusters)
        yield name, merge_clusters(problem, parts, n_clusters)


def _entropy(labels: NDArray[np.int64]) -> float:
    """Entropy of the cluster sizes."""
    share = np.bincount(labels) / len(labels)
    share = share[share > 0]
    return float(-np.sum(share * np.log(share)))


def _all_points(X, n_neighbors, weights, n_jobs):
    """The kernel at one scale, its affinity of all points, and the normalised cut on it."""
    kernel = SharedNeighbors(n_neighbors=min(n_neighbors, len(X) - 1))
    affinity = kernel.affinity(X, n_jobs=n_jobs)
    return kernel, affinity, normalized_cut(affinity, weights)


def _labels_of_landmarks(X, n_clusters, n_jobs, how):
    """Labels of all points by the normalised cut of landmarks, with every cluster in use."""
    # An import down the table of rooms: landmarks are solved by the estimator that calls for them here.
    from .landmarks import LandmarkClustering

    model = LandmarkClustering(n_clusters, scale=None, n_jobs=n_jobs, **how)
    return fill_empty(model.fit(X).labels_, n_clusters)
