"""Section 2.2, more than two clusters: the best partitions by the Gini criterion isolate the highest modes."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import knn_density
from ..estimators import KernelKMeans
from ..kernels import Gaussian
from ..plotting import make_figure
from ..theory import gini_impurity
from .draw import clusters, heading
from .frame import Claim, Figure
from .moons import SEED

__all__ = ["best_partition", "make"]

_PALETTE_OF_BARS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
_SIGMA = 0.15


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    rng = np.random.default_rng(SEED)
    trials = [rng.integers(1, 40, 6 if small else 7) for _ in range(10 if small else 40)]
    found = {k: [(counts, best_partition(counts, k)) for counts in trials] for k in (3, 4)}
    isolated = {k: sum(_isolates(*one, k) for one in pairs) for k, pairs in found.items()}
    pairwise = {k: sum(_pairs_are_best(*one) for one in pairs) for k, pairs in found.items()}
    X = _bumps(rng, 400 if small else 800)
    labels, contrast = _three_clusters(X)
    smaller = np.sort(np.bincount(labels))[:-1] / len(X)

    picture, axes = make_figure(1, 3, size=(12, 3.8))
    for ax, k in zip(axes, (3, 4)):
        counts, best = found[k][0]
        ax.bar(range(1, len(counts) + 1), counts, color=[_PALETTE_OF_BARS[one] for one in _by_size(counts, best)])
        ax.set(xlabel="feature value", ylabel="number of points")
        heading(ax, f"{k} clusters of lowest Gini criterion")
    clusters(axes[2], X, labels, f"kernel k-means, 3 clusters, σ = {_SIGMA}")
    return Figure(
        "clusters",
        "Section 2.2: Breiman's bias with more than two clusters",
        "Bars: the best of all partitions of a histogram's values into three and four clusters. Points: three bumps of "
        "one shape and different densities on a wide background, cut in three by Gaussian kernel k-means.",
        picture,
        [
            Claim.judge(
                "Any two clusters of the best partition are the best split of their union.",
                "; ".join(f"{k} clusters: {n} of {len(trials)} random histograms" for k, n in pairwise.items())
                + ", all partitions tried",
                all(n == len(trials) for n in pairwise.values()),
                at="eq. 20",
            ),
            Claim.judge(
                "So all clusters but one are single modes.",
                "; ".join(f"{k} clusters: {n} of {len(trials)}" for k, n in isolated.items())
                + " isolate the highest values",
                all(n == len(trials) for n in isolated.values()),
            ),
            Claim.judge(
                "Kernel k-means of three clusters isolates dense spots too.",
                f"two clusters of {smaller[0]:.0%} and {smaller[1]:.0%} of the points, {contrast[0]:.1f} and "
                f"{contrast[1]:.1f} times as dense as the rest in the median",
                bool(contrast.min() > 2 and smaller.max() < 0.3),
                at="Figure 3",
            ),
        ],
        {"isolated": isolated, "pairwise": pairwise, "trials": len(trials), "density_ratio": contrast},
    )


def best_partition(counts: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """The partition of a histogram's values of lowest Gini criterion, by trying all.

    Examples
    --------
    >>> import numpy as np
    >>> best_partition(np.array([2, 5, 3]), 2)
    array([0, 1, 0])
    """
    best, lowest = None, np.inf
    for rest in product(range(n_clusters), repeat=len(counts) - 1):
        labels = np.array([0, *rest])
        # Each partition once: new clusters in the order of their numbers.
        names, first = np.unique(labels, return_index=True)
        if len(names) < n_clusters or (np.diff(first) < 0).any():
            continue
        value = sum(counts[labels == k].sum() * gini_impurity(counts[labels == k]) for k in range(n_clusters))
        if value < lowest - 1e-12:
            best, lowest = labels, value
    assert best is not None
    return best


def _isolates(counts: NDArray, best: NDArray, n_clusters: int) -> bool:
    """Whether all clusters but one are single values, none less frequent than any value of the last."""
    alone = [k for k in range(n_clusters) if np.sum(best == k) == 1]
    rest = [k for k in range(n_clusters) if k not in alone]
    if len(rest) != 1:
        return False
    return bool(min(counts[best == k][0] for k in alone) >= counts[best == rest[0]].max())


def _pairs_are_best(counts: NDArray, best: NDArray) -> bool:
    """Whether every two clusters are the best split of their union (a tie may be cut otherwise)."""
    for one, other in combinations(np.unique(best), 2):
        both = (best == one) | (best == other)
        own, again = best[both] == one, best_partition(counts[both], 2) == 1
        values = [
            sum(counts[both][side].sum() * gini_impurity(counts[both][side]) for side in (cut, ~cut))
            for cut in (own, again)
        ]
        if not np.isclose(values[0], values[1]):
            return False
    return True


def _by_size(counts: NDArray, best: NDArray) -> NDArray[np.int64]:
    """Clusters renumbered by falling number of points, so that colours mean the same in both panels."""
    order = np.argsort(-np.bincount(best, counts))
    return np.argsort(order)[best]


def _bumps(rng: np.random.Generator, n_samples: int) -> NDArray[np.float64]:
    centres = np.array([[-1.5, 0.0], [1.5, 0.0], [0.0, 1.5]])
    shares = (0.2, 0.15, 0.1)
    dense = [centre + 0.12 * rng.normal(size=(round(s * n_samples), 2)) for centre, s in zip(centres, shares)]
    background = rng.uniform([-3, -1.5], [3, 3], size=(n_samples - sum(map(len, dense)), 2))
    return np.concatenate([*dense, background])


def _three_clusters(X: NDArray) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Kernel k-means, and how much denser than the largest cluster the two others are."""
    labels = KernelKMeans(3, kernel=Gaussian(_SIGMA), random_state=SEED).fit(X).labels_
    density: Any = knn_density(X, 10)
    largest = np.bincount(labels).argmax()
    rest = float(np.median(density[labels == largest]))
    return labels, np.array([np.median(density[labels == k]) / rest for k in range(3) if k != largest])
