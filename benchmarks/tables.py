"""Real tables with classes, as they come and standardised: the default beside what people would try first.

    python -m benchmarks tables --data DIR [--seeds 3]

DIR/tables/*.npz hold X and y. The true number of classes is given. Without DIR only the tables that scikit-learn ships
are measured, with blobs that overlap.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from evencut import EvenCut

from .records import publish

Table = tuple[np.ndarray, np.ndarray]

#: The labels of each method for points, a number of clusters and a seed.
METHODS: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    "evencut": lambda X, k, seed: EvenCut(k, random_state=seed).fit_predict(X),
    "k-means": lambda X, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(X),
    "Gaussian mixture": lambda X, k, seed: GaussianMixture(
        k, n_init=3, reg_covar=1e-4 * X.var(axis=0).mean() + 1e-9, random_state=seed
    ).fit_predict(X),
    "Ward": lambda X, k, seed: AgglomerativeClustering(k).fit_predict(X),
    "spectral": lambda X, k, seed: SpectralClustering(
        k, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=seed
    ).fit_predict(X),
}
_BLOBS = 25


def shipped() -> dict[str, Table]:
    """The tables of scikit-learn."""
    loaders = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
    return {name: load(return_X_y=True) for name, load in loaders.items()}


def scores(table: Table, n_seeds: int) -> dict[str, float]:
    """The mean adjusted Rand index of each method."""
    X, y = table
    k = len(np.unique(y))
    return {
        name: float(np.mean([adjusted_rand_score(y, label(X, k, seed)) for seed in range(n_seeds)]))
        for name, label in METHODS.items()
    }


def section(tables: dict[str, Table], n_seeds: int) -> str:
    """A row a table, raw and standardised, and the means."""
    lines = ["| table | columns | " + " | ".join(METHODS) + " |", "|---" * (2 + len(METHODS)) + "|"]
    for columns in ("raw", "standardised"):
        rows = []
        for name, (X, y) in tables.items():
            Z = StandardScaler().fit_transform(X) if columns == "standardised" else X
            rows.append(scores((Z, y), n_seeds))
            lines.append(f"| {name} | {columns} | " + " | ".join(f"{value:.2f}" for value in rows[-1].values()) + " |")
            print(lines[-1], flush=True)
        means = [f"**{np.mean([row[method] for row in rows]):.3f}**" for method in METHODS]
        lines.append(f"| mean | {columns} | " + " | ".join(means) + " |")
    return "\n".join(lines)


def overlapping() -> str:
    """Three blobs of deviation 2, whose overlap differs from seed to seed."""
    blobs = [make_blobs(300, centers=3, cluster_std=2, random_state=seed) for seed in range(_BLOBS)]
    means = {name: np.mean([scores_of(name, table) for table in blobs]) for name in METHODS}
    return "\n".join(
        [
            "| | " + " | ".join(METHODS) + " |",
            "|---" * (1 + len(METHODS)) + "|",
            "| mean | " + " | ".join(f"{mean:.3f}" for mean in means.values()) + " |",
        ]
    )


def scores_of(method: str, table: Table) -> float:
    """The adjusted Rand index of one method with seed 0."""
    X, y = table
    return float(adjusted_rand_score(y, METHODS[method](X, len(np.unique(y)), 0)))


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--seeds", type=int, default=3, help="of each method")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    intro = "# Real tables\n\nMean adjusted Rand index with the classes, the number of classes given, of "
    parts = {}
    with threadpool_limits(1):
        if options.data is not None:
            found = {path.stem: np.load(path) for path in sorted((Path(options.data) / "tables").glob("*.npz"))}
            tables = {name: (content["X"].astype(float), content["y"]) for name, content in found.items()}
            parts["tables"] = f"{intro}{options.seeds} seeds.\n\n" + section(tables, options.seeds)
        own = section(shipped(), options.seeds)
        parts["shipped"] = f"## Tables of scikit-learn\n\n{options.seeds} seeds.\n\n" + own
        drawn = f"`make_blobs(300, centers=3, cluster_std=2)`, {_BLOBS} draws."
        parts["blobs"] = f"## Blobs that overlap\n\n{drawn}\n\n" + overlapping()
    print(publish("tables", parts))


if __name__ == "__main__":
    main()
