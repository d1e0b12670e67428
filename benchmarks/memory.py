"""Clustered again with new rows: how many rows keep their cluster, and whether births and deaths are seen.

    python -m benchmarks memory [--data FOLDER] [--draws 1]

Rows are drawn twice from the same set, half of the second draw being rows of the first. `EvenCut.refit` keeps numbers
by itself; for the others the clusters of the two fits are matched afterwards by the rows in both (Hungarian method).
Then a class is left out of the first draw, or of the second.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from evencut import EvenCut, match

from .diagnosis_sets import labelled_sets
from .families import draws
from .records import publish
from .tables import shipped

Named = tuple[str, np.ndarray, np.ndarray]
_MAX_ROWS, _KINDS = 2000, ("drawn sets", "tables", "public sets", "embeddings")
METHODS = ("EvenCut.refit", "EvenCut, k given, refit", "k-means, k given, matched", "HDBSCAN, matched")


def sets(n_draws: int, folder: Path | None) -> Iterator[tuple[str, Named]]:
    """Kind, name, points and classes (0 is noise) of every set."""
    for family, number, X, y in draws(n_draws):
        yield _KINDS[0], (f"{family} {number}", X, y)
    tables = {**shipped(), "digits": load_digits(return_X_y=True)}
    for name, (X, y) in tables.items():
        yield _KINDS[1], (name, StandardScaler().fit_transform(X), np.asarray(y) + 1)
    if folder is not None:
        for one in list(labelled_sets(folder / "clustering2"))[::4]:
            yield _KINDS[2], (one.name, one.X, one.references[0])
        for path in sorted((folder / "real").glob("*/*.npz"))[::4]:
            rows = np.load(path)
            if "X" in rows:
                yield _KINDS[3], (f"{path.parent.name}/{path.stem}", rows["X"].astype(np.float64), rows["y"] + 1)


def two_draws(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the first and of the second draw, and those in both: half of either."""
    order = rng.permutation(n)[:_MAX_ROWS]
    third = len(order) // 3
    return order[: 2 * third], order[third:], order[third : 2 * third]


def matched_share(before: np.ndarray, after: np.ndarray) -> float:
    """Share of rows in clusters that the best matching joins."""
    table = np.zeros((before.max() + 1, after.max() + 1))
    known = (before >= 0) & (after >= 0)
    np.add.at(table, (before[known], after[known]), 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(before))


def kept(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, tuple[float, float]]:
    """For each method the share of rows in both draws that keep their cluster, and the ARI of the second fit."""
    first, second, both = two_draws(len(X), np.random.default_rng([5, seed]))
    at_first, at_second = len(first) - len(both) + np.arange(len(both)), np.arange(len(both))
    k, real, found = len(np.unique(y[y > 0])), y[second] > 0, {}
    for method in METHODS:
        if method.startswith("EvenCut"):
            model = EvenCut("auto" if method == METHODS[0] else k, random_state=seed).fit(X[first])
            before = model.labels_[at_first]
            labels = model.refit(X[second]).labels_
            share = float(np.mean(before == labels[at_second]))
        else:
            fits = [
                (KMeans(k, n_init=10, random_state=seed) if "k-means" in method else HDBSCAN(10)).fit_predict(X[rows])
                for rows in (first, second)
            ]
            labels = fits[1]
            share = matched_share(fits[0][at_first], labels[at_second])
        found[method] = share, float(adjusted_rand_score(y[second][real], labels[real]))
    return found


def births(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[int, ...]:
    """A class is born, then one is gone: planted, births found, false ones, deaths found, false ones, could be found.

    A death can be found if the class had a cluster, and nothing else was in it.
    """
    rng = np.random.default_rng([9, seed])
    first, second, _ = two_draws(len(X), rng)
    classes, sizes = np.unique(y[first][y[first] > 0], return_counts=True)
    classes = classes[sizes >= 20]
    if len(classes) < 3:
        return 0, 0, 0, 0, 0, 0
    one = rng.choice(classes)
    model = EvenCut(random_state=seed).fit(X[first[y[first] != one]]).refit(X[second])
    new = [change.after[0] for change in model.changes_.of_kind("born")]
    right = [np.mean(y[second][model.labels_ == k] == one) > 0.5 for k in new]
    model = EvenCut(random_state=seed).fit(X[first])
    before = model.labels_.copy()
    could_die = any(np.mean(y[first][before == k] == one) > 0.9 for k in np.unique(before))
    model.refit(X[second[y[second] != one]])
    gone = [change.before[0] for change in model.changes_.of_kind("gone")]
    dead = [np.mean(y[first][before == k] == one) > 0.5 for k in gone]
    return 1, int(any(right)), len(new) - sum(right), int(any(dead)), len(gone) - sum(dead), int(could_die)


def report(n_draws: int, folder: Path | None) -> str:
    """The page."""
    shares: dict[str, list[dict[str, tuple[float, float]]]] = {kind: [] for kind in _KINDS}
    counts = {kind: np.zeros(6, dtype=int) for kind in _KINDS}
    for kind, (name, X, y) in sets(n_draws, folder):
        if len(np.unique(y[y > 0])) < 2:
            continue
        shares[kind].append(kept(X, y, 0))
        counts[kind] += births(X, y, 0)
        print(kind, name, {method: f"{share:.2f}" for method, (share, _) in shares[kind][-1].items()}, flush=True)
    lines = [
        "# Clustered again", "",
        f"Written by `python -m benchmarks memory --draws {n_draws}`. Two draws of at most {_MAX_ROWS * 2 // 3} rows "
        "of a set, half of the second from the first: share of the rows in both that keep the number of their cluster, "
        "and the mean adjusted Rand index of the second fit. k-means and HDBSCAN are matched afterwards by the rows in "
        "both.",
        "", "| kind | sets | " + " | ".join(f"{method}: kept | ARI" for method in METHODS) + " |",
        "|---" * (2 + 2 * len(METHODS)) + "|",
    ]  # fmt: skip
    for kind, rows in shares.items():
        if rows:
            means = np.mean([[row[method] for method in METHODS] for row in rows], axis=0).ravel()
            lines.append(f"| {kind} | {len(rows)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    lines += [
        "", "## Births and deaths", "", "One class of three or more is left out of the first draw (born), then of the "
        "second (gone); number chosen automatically. A death can only be found if the class had a cluster of its own "
        "before (the last column).", "",
        "| kind | planted | births found | false births | deaths found | false deaths | with a cluster |",
        "|---|---|---|---|---|---|---|",
        *(f"| {kind} | {' | '.join(map(str, count))} |" for kind, count in counts.items() if count[0]),
    ]  # fmt: skip
    return "\n".join([*lines, "", *times()]) + "\n"


def times() -> list[str]:
    """CPU time of a refit and of a match beside a fit."""
    _, (_, X, _) = next(sets(1, None))
    X = np.vstack([X] * (1 + 3000 // len(X)))
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    took = []
    model = EvenCut(random_state=0)
    for act in (lambda: model.fit(X), lambda: model.refit(X), lambda: match(model.labels_, model.labels_)):
        start = time.process_time()
        act()
        took.append(time.process_time() - start)
    ratios = f"`refit` takes {took[1] / took[0]:.2f} times as long as `fit`, `match` {took[2] / took[0]:.4f} times"
    return [f"On {len(X)} rows {ratios} (CPU)."]


def main(arguments: list[str]) -> None:
    """Measure, and draw the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1, help="draws of each family of generated sets")
    parser.add_argument("--data", default=os.environ.get("EVENCUT_DATA"), help="folder with clustering2/")
    options = parser.parse_args(arguments)
    with threadpool_limits(1):
        publish("memory", {"all": report(options.draws, Path(options.data) if options.data else None)})


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
