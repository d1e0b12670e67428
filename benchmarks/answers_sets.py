"""Sets for the page on answers: drawn ones and tables with classes, planted outliers, and tables with words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import confusion_matrix

__all__ = ["drawn", "is_right", "mixed", "tables", "with_outliers"]

MOST_ROWS = 1500
_LOADERS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}

Set = tuple[str, np.ndarray, np.ndarray]


def drawn(data: Path | None) -> list[Set]:
    """Sets of the reference suite in two or three dimensions, noise left out."""
    found = []
    for path in sorted((data / "clustering").glob("*/*.data.gz")) if data is not None else []:
        X = np.loadtxt(path, ndmin=2)
        truth = np.loadtxt(str(path).replace(".data.gz", ".labels0.gz")).astype(int)
        if X.shape[1] <= 3:
            kept = truth > 0
            found.append((path.name[:-8], *_few(X[kept], truth[kept])))
    return found


def tables(data: Path | None) -> list[Set]:
    """Tables of scikit-learn, whole, and the given ones."""
    found = [(name, *load(return_X_y=True)) for name, load in _LOADERS.items()]
    for path in sorted((data / "tables").glob("*.npz")) if data is not None else []:
        if path.stem not in _LOADERS:
            with np.load(path) as held:
                found.append((path.stem, *_few(held["X"], held["y"])))
    return found


def with_outliers(sets: list[Set]) -> Iterator[Set]:
    """One row in twenty more, even over a box a little wider than the points; 1 marks them."""
    for name, X, _ in sets:
        rng = np.random.default_rng(1)
        low, high = X.min(axis=0), X.max(axis=0)
        planted = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (max(5, len(X) // 20), X.shape[1]))
        yield name, np.vstack([X, planted]), np.repeat([0, 1], [len(X), len(planted)])


def mixed(sets: list[Set], seed: int) -> Iterator[tuple[str, dict[str, np.ndarray], np.ndarray]]:
    """Tables of which every second column, drawn anew, becomes words: its quarters by size, under names."""
    for name, X, truth in sets:
        rng = np.random.default_rng(seed)
        as_words = rng.permutation(X.shape[1])[: X.shape[1] // 2]
        columns: dict[str, np.ndarray] = {}
        for j in range(X.shape[1]):
            values = X[:, j]
            if j in as_words and len(np.unique(values)) > 1:
                edges = np.unique(np.quantile(values, [0.25, 0.5, 0.75]))
                columns[f"c{j}"] = np.array(list("abcd"))[np.searchsorted(edges, values)]
            elif len(np.unique(values)) > 1:
                columns[f"c{j}"] = values
        yield name, columns, truth


def is_right(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Whether each row is in the cluster that stands for its class, one for one."""
    truth, labels = (np.unique(values, return_inverse=True)[1] for values in (truth, labels))
    clusters, classes = linear_sum_assignment(-confusion_matrix(labels, truth))
    of_cluster = np.full(max(labels.max(), truth.max()) + 1, -1)
    of_cluster[clusters] = classes
    return truth == of_cluster[labels]


def _few(X: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(X) <= MOST_ROWS:
        return X, truth
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
    return X[rows], truth[rows]
