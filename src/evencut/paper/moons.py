"""The two moons of Figures 1, 5 and 9, and kernel k-means or normalised cut on them over a range of bandwidths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from ..criteria import CRITERIA
from ..estimators import KernelClustering
from ..kernels import Gaussian

__all__ = ["SEED", "Sweep", "score", "split", "sweep"]

SEED = 0


def split(X: Any, kernel: Any, criterion: str = "average_association", equalize: str | None = None) -> KernelClustering:
    """Two clusters of the points."""
    return KernelClustering(2, kernel=kernel, criterion=criterion, equalize=equalize, random_state=SEED).fit(X)


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
    energy: NDArray[np.float64]

    @property
    def best(self) -> float:
        """The best score over all bandwidths."""
        return float(self.score.max())


def sweep(X: Any, truth: Any, sigmas: Iterable[float], criterion: str = "average_association") -> Sweep:
    """Cluster with a Gaussian kernel of each fixed bandwidth.

    Every labelling found on the way is tried at every bandwidth and the one of lowest energy kept, so that a miss of
    the optimiser at one bandwidth does not pass for a property of the criterion.
    """
    sigma = np.array(list(sigmas))
    solved = [split(X, Gaussian(s), criterion).labels_ for s in sigma]
    tried = list({labels.tobytes(): labels for labels in solved}.values())
    labels, energy = [], []
    for s in sigma:
        problem = CRITERIA[criterion](Gaussian(s).affinity(X))
        energies = [problem.energy(candidate) for candidate in tried]
        labels.append(tried[int(np.argmin(energies))])
        energy.append(min(energies))
    return Sweep(
        sigma,
        np.array([score(truth, found) for found in labels]),
        np.array([np.bincount(found).min() for found in labels]),
        labels,
        np.array(energy),
    )
