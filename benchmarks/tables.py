"""Real tables with classes, as they come and standardised: the default beside what people would try first.

    python -m benchmarks tables --data DIR [--seeds 3]

DIR/tables/*.npz hold X and y. The true number of classes is given, and the number that the default finds by itself
stands beside it. Then the regret on four tables that people meet first, blobs that overlap, and moons with a clump.
Without DIR only the tables that scikit-learn ships are measured.
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
from evencut.datasets import make_clumped_moons

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
_BLOBS, _MOONS = 25, 10
# Seeds change nothing, or hardly anything, for these; and beyond so many rows they take minutes.
_ONCE = ("Ward", "spectral")
_MOST_ROWS = 8000
# The tables that people meet first, and the seeds that their regret is averaged over.
_FIRST_TABLES = ("penguins", "iris", "wine", "breast cancer")
_SEEDS_OF_REGRET = 5


def shipped() -> dict[str, Table]:
    """The tables of scikit-learn."""
    loaders = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
    return {name: load(return_X_y=True) for name, load in loaders.items()}


def in_folder(folder: Path) -> dict[str, Table]:
    """The tables of a folder."""
    contents = {path.stem: np.load(path) for path in sorted(folder.glob("*.npz"))}
    return {name: (content["X"].astype(float), content["y"]) for name, content in contents.items()}


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of one deviation."""
    return StandardScaler().fit_transform(X)


def scores(table: Table, n_seeds: int) -> dict[str, float]:
    """The mean adjusted Rand index of each method; not a number where it is left out."""
    X, y = table
    k, found = len(np.unique(y)), {}
    for name, label in METHODS.items():
        seeds = range(1 if name in _ONCE else n_seeds)
        left_out = name in _ONCE and len(X) > _MOST_ROWS
        indices = [] if left_out else [adjusted_rand_score(y, label(X, k, seed)) for seed in seeds]
        found[name] = float(np.mean(indices)) if indices else np.nan
    return found


def section(tables: dict[str, Table], n_seeds: int) -> str:
    """A row a table, raw and standardised, with the number of clusters found, and the means."""
    lines = ["| table | columns | classes, found | " + " | ".join(METHODS) + " |", "|---" * (3 + len(METHODS)) + "|"]
    for columns in ("raw", "standardised"):
        rows, off = [], []
        for name, (X, y) in tables.items():
            Z = standardised(X) if columns == "standardised" else X
            rows.append(scores((Z, y), n_seeds))
            n_classes, n_found = len(np.unique(y)), EvenCut(random_state=0).fit(Z).n_clusters_
            off.append(abs(n_classes - n_found))
            cells = " | ".join(f"{value:.2f}" if np.isfinite(value) else "-" for value in rows[-1].values())
            lines.append(f"| {name} | {columns} | {n_classes}, {n_found} | {cells} |")
            print(lines[-1], flush=True)
        means = [f"**{np.nanmean([row[method] for row in rows]):.3f}**" for method in METHODS]
        numbers = f"exact {np.mean(np.array(off) == 0):.0%}, within one {np.mean(np.array(off) <= 1):.0%}"
        lines.append(f"| mean | {columns} | {numbers} | " + " | ".join(means) + " |")
    return "\n".join(lines)


def regrets(tables: dict[str, Table]) -> str:
    """How far the default is below the best of the others on the same table."""
    lines = ["| table | columns | evencut | best other | regret |", "|---|---|---|---|---|"]
    missed = []
    for name in (name for name in _FIRST_TABLES if name in tables):
        X, y = tables[name]
        for columns, Z in (("raw", X), ("standardised", standardised(X))):
            found = scores((Z, y), _SEEDS_OF_REGRET)
            own, (other, best) = found.pop("evencut"), max(found.items(), key=lambda item: item[1])
            missed.append(max(best - own, 0.0))
            lines.append(f"| {name} | {columns} | {own:.2f} | {best:.2f} ({other}) | {missed[-1]:.3f} |")
    lines.append(f"| mean, worst | | | | {np.mean(missed):.3f}, {max(missed):.3f} |")
    return "\n".join(lines)


def drawn(tables: list[Table]) -> str:
    """The mean of each method over draws, seed 0, and on how many it is above .9."""
    lines = ["| | " + " | ".join(METHODS) + " |", "|---" * (1 + len(METHODS)) + "|"]
    rows = [scores(table, 1) for table in tables]
    of_method = {method: np.array([row[method] for row in rows]) for method in METHODS}
    lines.append("| mean | " + " | ".join(f"{values.mean():.3f}" for values in of_method.values()) + " |")
    solved = (f"{(values > 0.9).sum()} of {len(rows)}" for values in of_method.values())
    return "\n".join([*lines, "| above .9 | " + " | ".join(solved) + " |"])


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--seeds", type=int, default=3, help="of each method")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    given = {} if options.data is None else in_folder(Path(options.data) / "tables")
    parts = {}
    with threadpool_limits(1):
        head = (
            f"# Real tables\n\nMean adjusted Rand index with the classes over {options.seeds} seeds; every method gets "
            f"the number of classes (one seed of {' and '.join(_ONCE)}, which are left out above {_MOST_ROWS} rows). "
            "Beside the number of classes stands the one that `EvenCut()` finds.\n\n"
        )
        parts["tables"] = head + section(given or shipped(), options.seeds)
        first = f"## First tables\n\nBest other: the best of the other methods in the mean of {_SEEDS_OF_REGRET} seeds."
        parts["regret"] = f"{first}\n\n" + regrets({**shipped(), **given})
        blobs = [make_blobs(300, centers=3, cluster_std=2, random_state=seed) for seed in range(_BLOBS)]
        said = f"## Blobs that overlap\n\n`make_blobs(300, centers=3, cluster_std=2)`, {_BLOBS} draws."
        parts["blobs"] = f"{said}\n\n" + drawn(blobs)
        moons = [make_clumped_moons(600, clump=0.8, random_state=seed) for seed in range(_MOONS)]
        said = f"## Moons with a clump\n\n`make_clumped_moons(600, clump=0.8)`, {_MOONS} draws."
        parts["moons"] = f"{said}\n\n" + drawn(moons)
    print(publish("tables", parts))


if __name__ == "__main__":
    main()
