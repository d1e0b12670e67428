"""The data sets below `--data`, in groups: drawn shapes, tables, texts, cells, images, audio, words beside numbers.

DIR holds clustering*/BATTERY/NAME.data.gz, tables/NAME.npz, real/GROUP/NAME.npz and mixed/NAME.csv with the column
`class` last. Rows of text, images and audio get unit length and are compared by cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .leaderboard import collections, prepare

__all__ = ["COSINE", "GROUPS", "Found", "GivenSet", "Place", "fit", "places", "read"]

#: The groups in the order of the pages.
GROUPS = ("drawn", "tables", "standardised", "text", "cells", "images", "audio", "mixed")
COSINE = ("text", "images", "audio")


class Place(NamedTuple):
    """Where a set is: its group and its file."""

    group: str
    path: Path

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.path.name.split(".")[0]


class GivenSet(NamedTuple):
    """Points (or a data frame), the reference labellings from 0 (-1 is not scored), and the metric."""

    X: Any
    references: list[np.ndarray]
    metric: str


class Found(NamedTuple):
    """A fit: its adjusted Rand index with the best reference, the classes of that, clusters found, and confidence."""

    index: float
    n_classes: int
    n_clusters: int
    confidence: float


def places(folder: Path, groups: Sequence[str] = GROUPS) -> list[Place]:
    """The sets of some groups."""
    files: dict[str, list[Path]] = {
        "drawn": [path for part in collections(folder) for path in sorted(part.glob("*/*.data.gz"))],
        "tables": sorted((folder / "tables").glob("*.npz")),
        "mixed": sorted((folder / "mixed").glob("*.csv")),
    }
    files["standardised"] = files["tables"]
    files |= {group: sorted((folder / "real" / group).glob("*.npz")) for group in GROUPS if group not in files}
    return [Place(group, path) for group in groups for path in files[group]]


def read(place: Place, most: int = 2000) -> GivenSet:
    """A set, thinned at random to so many rows."""
    if place.group == "drawn":
        X = prepare(np.loadtxt(place.path, ndmin=2))
        stem = place.path.name.removesuffix(".data.gz")
        files = sorted(place.path.parent.glob(f"{stem}.labels*.gz"))
        references = [np.loadtxt(file, dtype=int) - 1 for file in files]
    elif place.group == "mixed":
        import pandas as pd

        X = pd.read_csv(place.path)
        references = [pd.factorize(X.pop("class"))[0]]
    else:
        content = np.load(place.path)
        X, y = content["X"].astype(float), content["y"]
        references = [np.unique(y if y.ndim == 1 else y[:, 0], return_inverse=True)[1]]
        if place.group == "standardised":
            deviation = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
        if place.group in COSINE:
            X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    if len(X) > most:
        rows = np.random.default_rng(0).permutation(len(X))[:most]
        X = X.iloc[rows].reset_index(drop=True) if place.group == "mixed" else X[rows]
        references = [reference[rows] for reference in references]
    return GivenSet(X, references, "cosine" if place.group in COSINE else "euclidean")


def fit(given: GivenSet, n_clusters: str = "given", random_state: int = 0) -> Found:
    """`EvenCut` with the number of classes of each reference, or with "auto"; the best of the references."""
    from sklearn.metrics import adjusted_rand_score

    from evencut import EvenCut

    models: dict[Any, Any] = {}
    found = []
    for y in given.references:
        n_classes = int(y.max()) + 1
        key = n_classes if n_clusters == "given" else n_clusters
        if key not in models:
            models[key] = EvenCut(key, metric=given.metric, random_state=random_state).fit(given.X)
        model, scored = models[key], y >= 0
        index = float(adjusted_rand_score(y[scored], model.labels_[scored]))
        found.append(Found(index, n_classes, model.n_clusters_, float(model.confidence_)))
    return max(found)
