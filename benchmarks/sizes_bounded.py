"""What bounds on the size of clusters cost: sums of squares beside k-means-constrained, normalised cuts, and time.

    python -m benchmarks sizes_bounded
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from evencut import EvenCut, KernelClustering, KernelKMeans
from evencut.kernels import SharedNeighbors

from .records import publish
from .tables import shipped


def tables() -> dict[str, tuple[np.ndarray, int]]:
    """Points and numbers of clusters."""
    found = {name: (StandardScaler().fit_transform(X), 3) for name, (X, _) in shipped().items()}
    found["digits"] = load_digits().data / 16, 10
    sizes = [700, 200, 60, 40]
    found["unequal blobs"] = make_blobs(sizes, 5, centers=4 * np.eye(4, 5), random_state=1, cluster_std=2)[0], 4
    return found


def squares(X: np.ndarray, labels: np.ndarray) -> float:
    """Sum of squared distances to the means."""
    return float(sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels)))


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    """The answer, and CPU seconds."""
    start = time.process_time()
    return act(), time.process_time() - start


def beside_k_means() -> list[str]:
    """Sums of squares within equal sizes, and within a fifth of them, over those of free k-means."""
    from k_means_constrained import KMeansConstrained

    lines = [
        "## Sums of squares", "",
        "Over those of k-means without bounds (10 starts); both get 4 starts. KernelKMeans has the linear kernel.", "",
        "| table | bounds | KernelKMeans | k-means-constrained | CPU s | CPU s |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name, (X, k) in tables().items():
        X = X - X.mean(axis=0)
        free = KMeans(k, n_init=10, random_state=0).fit(X).inertia_
        for spread in (0.0, 0.2):
            low, high = int(len(X) / k * (1 - spread)), int(np.ceil(len(X) / k * (1 + spread)))
            ours = KernelKMeans(k, kernel="precomputed", min_size=low, max_size=high, random_state=0)
            labels, seconds = timed(lambda X=X, ours=ours: ours.fit_predict(X @ X.T))
            peer = KMeansConstrained(k, size_min=low, size_max=high, n_init=4, random_state=0)
            theirs, slower = timed(lambda X=X, peer=peer: peer.fit_predict(X))
            sizes = np.bincount(labels, minlength=k)
            assert low <= sizes.min() and sizes.max() <= high
            ratios = f"{squares(X, labels) / free:.4f} | {squares(X, theirs) / free:.4f}"
            lines.append(f"| {name} | {low} to {high} | {ratios} | {seconds:.2f} | {slower:.2f} |")
            print(lines[-1], flush=True)
    return lines


def beside_free_cuts() -> list[str]:
    """Normalised cuts within the bounds beside those without any, and a million rows."""
    lines = [
        "", "## Normalised cut and time", "",
        "Clusters within a fifth of equal sizes: energy over that without bounds (1 is the same), and CPU time over "
        "that of the same fit without bounds.", "", "| points | estimator | energy | time |", "|---|---|---|---|",
    ]  # fmt: skip
    unequal = [0.5, 0.25, 0.15, 0.1]
    for n in (2000, 5000, 1_000_000):
        X = make_blobs([int(n * share) for share in unequal], 3, centers=6 * np.eye(4, 3), random_state=0)[0]
        models = [EvenCut(4, random_state=0)]
        if n <= 5000:
            models.append(KernelClustering(4, kernel=SharedNeighbors(), random_state=0))
        for model in models:
            _, free = timed(lambda X=X, model=model: model.fit(X))
            energy = getattr(model, "energy_", np.nan)
            model.set_params(min_size=0.2 * n, max_size=0.3 * n)
            _, bound = timed(lambda X=X, model=model: model.fit(X))
            sizes = np.bincount(model.labels_)
            assert 0.2 * n <= sizes.min() and sizes.max() <= 0.3 * n
            ratio = f"{model.energy_ / energy:.3f}" if hasattr(model, "energy_") else "-"
            lines.append(f"| {n} | {type(model).__name__} | {ratio} | {bound / free:.1f} |")
            print(lines[-1], flush=True)
    return lines


def main(arguments: list[str]) -> None:
    """Measure, and draw the page."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    with threadpool_limits(1):
        text = "\n".join(["# Clusters of bounded size", "", *beside_k_means(), *beside_free_cuts()])
        publish("sizes_bounded", {"all": text + "\n"})


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
