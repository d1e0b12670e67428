"""The two ways in which a criterion is optimised here, and the measures of what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from evencut.affinity import knn_radius
from evencut.datasets import make_clumped_moons, make_sparse_subset
from evencut.estimators import KernelClustering
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian, LocalScaling
from evencut.tensors import AnyFloats, Floats, Ints, Mask

SEED = 0
#: An ARI above it counts as the true clusters.
WELL = 0.98


class Solver(NamedTuple):
    """A solver by the name that the estimators take."""

    name: str

    def fit(
        self, X: Any, kernel: Any, criterion: str = "average_association", equalize: str | None = None,
        n_clusters: int = 2, sample_weight: Any = None,
    ) -> KernelClustering:  # fmt: skip
        """The fitted estimator; the points may be an affinity, for `kernel="precomputed"`."""
        options: dict[str, Any] = {"kernel": kernel, "criterion": criterion, "equalize": equalize}
        model = KernelClustering(n_clusters, solver=self.name, random_state=SEED, **options)
        return model.fit(X, sample_weight=sample_weight)

    def cut(self, X: Any, kernel: Any, *args: Any, **options: Any) -> Ints:
        """Its labels."""
        return self.fit(X, kernel, *args, **options).labels_


#: Lloyd's steps from spectral starts, as in the paper.
STEPS = Solver("lloyd")
#: The lowest energy that evencut finds: moves of single points, exchanges of clusters, multilevel cycles.
LOWEST = Solver("auto")


def make_moons(n_samples: int = 600, random_state: int = SEED) -> tuple[Floats, Ints]:
    """The data of Figures 1, 5 and 9: the upper moon has a dense clump, the lower one a thin tail.

    Examples
    --------
    >>> X, y = make_moons(100)
    >>> X.shape, int(y.sum())
    ((100, 2), 50)
    """
    clumped, upper = make_clumped_moons(n_samples, clump=0.5, random_state=random_state)
    tailed, lower = make_sparse_subset(n_samples, random_state=random_state)
    X = np.vstack([clumped[upper == 0], tailed[lower == 1]])
    return X, np.repeat([0, 1], [np.sum(upper == 0), np.sum(lower == 1)])


def adaptive_gaussian(X: NDArray, n_neighbors: int = 7, factor: float = 0.7, **options: Any) -> AdaptiveGaussian:
    """The paper's adaptive kernel, whose bandwidths are proportional to the distance to the K-th neighbour.

    The paper states neither K nor the factor.
    """
    variance = (factor * knn_radius(X, n_neighbors)) ** 2
    return AdaptiveGaussian(n_neighbors, covariances=variance[:, None, None] * np.eye(X.shape[1]), **options)


def cures_of(X: NDArray, bandwidth: float) -> dict[str, tuple[Any, str | None]]:
    """The paper's cures, and exact equalisation: a kernel and an equalisation each."""
    return {
        "adaptive weights": (Gaussian(bandwidth), "weights"),
        "exact equalisation": (Gaussian(bandwidth), "exact"),
        "adaptive Gaussian": (adaptive_gaussian(X), None),
        "local scaling": (LocalScaling(7), None),
        "KNN kernel": (KNN(10), None),
    }


def score(truth: Any, labels: Any) -> float:
    """Adjusted Rand index: 1 for the true clusters, about 0 for clusters that have nothing to do with them."""
    return float(adjusted_rand_score(truth, labels))


def smaller(labels: Ints) -> Mask:
    """The points of the smallest cluster.

    Examples
    --------
    >>> smaller(np.array([0, 0, 1]))
    array([False, False,  True])
    """
    return np.asarray(labels == np.bincount(labels).argmin())


def contrast(density: AnyFloats, inside: Mask) -> float:
    """Median density inside over that outside; 1 where one of them is empty."""
    if inside.all() or not inside.any():
        return 1.0
    return float(np.median(density[inside]) / np.median(density[~inside]))


def share_below(density: AnyFloats, inside: Mask) -> float:
    """Share of all points that are less dense than those inside in the median."""
    return float(np.mean(density < np.median(density[inside])))


@dataclass(frozen=True)
class Sweep:
    """What each bandwidth of a sweep gives."""

    sigma: Floats
    labels: list[Ints]
    score: Floats

    @property
    def smallest(self) -> Ints:
        """Sizes of the smaller clusters."""
        return np.array([np.bincount(labels, minlength=2).min() for labels in self.labels])

    @property
    def best(self) -> float:
        """The best score over all bandwidths."""
        return float(self.score.max())


def sweep(solver: Solver, X: Any, truth: Any, sigmas: Iterable[float], *args: Any, **options: Any) -> Sweep:
    """Two clusters with a Gaussian kernel of each fixed bandwidth."""
    sigma = np.array(list(sigmas))
    labels = [solver.cut(X, Gaussian(s), *args, **options) for s in sigma]
    return Sweep(sigma, labels, np.array([score(truth, one) for one in labels]))
