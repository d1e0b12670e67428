"""The two moons of Figures 1, 5 and 9, and kernel k-means or normalised cut on them over a range of bandwidths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from ..affinity import knn_radius
from ..estimators import KernelClustering
from ..kernels import AdaptiveGaussian, Gaussian

__all__ = ["SEED", "Sweep", "adaptive_gaussian", "score", "split", "sweep"]

SEED = 0


def split(X: Any, kernel: Any, criterion: str = "average_association", equalize: str | None = None) -> KernelClustering:
    """Two clusters of the points; kernel k-means by its own steps, as in the paper.

    Its lowest energies are biased even under adaptive kernels, whose densities are even only on average.
    """
    solver = "lloyd" if criterion == "average_association" else "auto"
    model = KernelClustering(2, kernel=kernel, criterion=criterion, equalize=equalize, solver=solver, random_state=SEED)
    return model.fit(X)


def adaptive_gaussian(X: NDArray, n_neighbors: int = 7, factor: float = 0.7) -> AdaptiveGaussian:
    """The paper's adaptive kernel, whose bandwidths are proportional to the distance to the K-th neighbour.

    The paper tells neither K nor the factor.
    """
    variance = (factor * knn_radius(X, n_neighbors)) ** 2
    return AdaptiveGaussian(n_neighbors, covariances=variance[:, None, None] * np.eye(X.shape[1]))


def score(truth: Any, labels: Any) -> float:
    """Adjusted Rand index: 1 for the true clusters, about 0 for clusters that have nothing to do with them."""
    return float(adjusted_rand_score(truth, labels))


@dataclass(frozen=True)
class Sweep:
    """What each bandwidth of a sweep gives."""

    sigma: NDArray[np.float64]
    score: NDArray[np.float64]
    smallest: NDArray[np.int64]
    labels: list[NDArray[np.int64]]

    @property
    def best(self) -> float:
        """The best score over all bandwidths."""
        return float(self.score.max())


def sweep(X: Any, truth: Any, sigmas: Iterable[float], criterion: str = "average_association") -> Sweep:
    """Cluster with a Gaussian kernel of each fixed bandwidth; each labelling is what the estimator returns there."""
    sigma = np.array(list(sigmas))
    labels = [split(X, Gaussian(s), criterion).labels_ for s in sigma]
    return Sweep(
        sigma,
        np.array([score(truth, found) for found in labels]),
        np.array([np.bincount(found).min() for found in labels]),
        labels,
    )
