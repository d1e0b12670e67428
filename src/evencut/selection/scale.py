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

import numpy as np
from numpy.typing import NDArray

from ..criteria import RatioProblem
from ..solvers import Effort, Solution, refine
from ..solvers.merging import merge_clusters
from ..solvers.spectral import cut_embedding, spectral_embedding, unit_rows
from ..solvers.starts import fill_empty

__all__ = ["Candidate", "candidates_at_scale", "judge", "neighborhood_sizes", "quality"]

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
    return float(np.log(ratio + _CLEAR_RATIO) - _EVENNESS * entropy - _BREADTH * np.log(max(n_neighbors, 1)))


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


def candidates_at_scale(
    problem: RatioProblem, n_clusters: int, n_neighbors: int, effort: Effort, random_state: int | None
) -> Iterator[Candidate]:
    """The partitions found on the graph of one scale, judged.

    The spectral embedding is cut into k parts; and, in k + 2 and in k + 10 vectors, into 3k + 5 parts, which are
    merged down to k. All are refined by single-point moves.
    """
    rng = np.random.default_rng(random_state)
    values, vectors = spectral_embedding(problem.matrix, n_clusters + 10, rng)
    mixing = 1.0 - max(float(values[n_clusters]), 0.0) if len(values) > n_clusters else 1.0
    for start, labels in _starts(problem, vectors, n_clusters, effort.n_init, rng):
        solution = refine(problem, labels, n_clusters, max_iter=effort.max_iter, rng=rng)
        yield judge(solution, n_clusters, n_neighbors, start, mixing)


def judge(solution: Solution, n_clusters: int, n_neighbors: int, start: str, mixing: float = float("nan")) -> Candidate:
    """A solution with its score; without the rate inside clusters there is nothing to compare."""
    leak = 1.0 + solution.energy / n_clusters
    entropy = _entropy(solution.labels)
    score = quality(leak, mixing, entropy, n_neighbors)
    return Candidate(n_clusters, n_neighbors, start, leak, mixing, entropy, score, solution)


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
