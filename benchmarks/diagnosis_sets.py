"""Clusterings of labelled public sets by seven methods, as people make them: the points as they are, defaults kept.

The sets are those of `EVENCUT_DATA/clustering` and `EVENCUT_DATA/clustering2` (BATTERY/NAME.data.gz and labels).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from evencut import EvenCut, KernelKMeans

#: The half on which the constants of the diagnosis were chosen, and the half on which they are judged.
FOLDERS = {"tuning": "clustering", "held out": "clustering2"}
#: Larger sets are thinned at random to so many points.
MAX_POINTS = 4000

Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """Points with one or more reference labellings, in which 0 is noise."""

    name: str
    X: NDArray[np.float64]
    references: list[Labels]

    @property
    def n_clusters(self) -> int:
        """As the first reference has it."""
        return len(np.unique(self.references[0][self.references[0] > 0]))

    def score(self, labels: Labels) -> float:
        """The best adjusted Rand index over the references, noise left out."""
        return max(adjusted_rand_score(r[r > 0], labels[r > 0]) for r in self.references)


METHODS: dict[str, Callable[[NDArray[np.float64], int], Labels]] = {
    "k-means": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
    "Gaussian mixture": lambda X, k: GaussianMixture(k, n_init=3, random_state=0).fit_predict(X),
    "SpectralClustering": lambda X, k: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "kernel k-means": lambda X, k: KernelKMeans(k, kernel="gaussian", random_state=0).fit_predict(X),
    "Ward": lambda X, k: AgglomerativeClustering(k, linkage="ward").fit_predict(X),
    "average linkage": lambda X, k: AgglomerativeClustering(k, linkage="average").fit_predict(X),
    "the default": lambda X, k: EvenCut(k, random_state=0).fit_predict(X),
}


def labelled_sets(folder: Path) -> Iterator[LabelledSet]:
    """Every set of the folder, in the order of the names."""
    for path in sorted(folder.glob("*/*.data.gz")):
        X = np.loadtxt(path, ndmin=2)
        stem = path.name.removesuffix(".data.gz")
        references = [np.loadtxt(file, dtype=int) for file in sorted(path.parent.glob(f"{stem}.labels*.gz"))]
        if len(X) > MAX_POINTS:
            kept = np.sort(np.random.default_rng(0).choice(len(X), MAX_POINTS, replace=False))
            X, references = X[kept], [reference[kept] for reference in references]
        yield LabelledSet(f"{path.parent.name}/{stem}", X, references)


def clustered(data: LabelledSet, method: str, cache: Path | None = None) -> Labels | None:
    """Labels of the set by the method, read from the cache where it has them; None where the method fails."""
    kept = None if cache is None else cache / f"{data.name}/{method}.npy".replace("/", "_").replace(" ", "-")
    if kept is not None and kept.exists():
        stored: Labels = np.load(kept)
        return stored if stored.size else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            labels = METHODS[method](data.X, data.n_clusters).astype(np.int64)
        except ValueError as error:
            print(f"{method} on {data.name}: {error}", flush=True)
            labels = None
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, np.empty(0, np.int64) if labels is None else labels)
    return labels
