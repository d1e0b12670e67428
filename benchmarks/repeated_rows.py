"""Tables whose rows repeat: are they clustered as well as by the best of k-means, a mixture and spectral clustering?

Run `python -m benchmarks repeated_rows`; it writes `benchmarks/REPEATED_ROWS.md`, all methods in one run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from evencut import EvenCut, KernelClustering, __version__

from .records import publish

ALLOWED = 0.03


class Case(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    n_clusters: int


def answers(seed: int, n_rows: int = 683) -> Case:
    """A table like the Wisconsin one: nine answers from 1 to 10, mostly 1 for the benign two thirds."""
    rng = np.random.default_rng(seed)
    n_benign = int(0.65 * n_rows)
    y = np.repeat([0, 1], [n_benign, n_rows - n_benign])
    severity = np.r_[rng.gamma(1.2, 0.35, n_benign), rng.normal(5.5, 1.6, n_rows - n_benign)][:, None]
    noise = rng.normal(0, 0.5, (n_rows, 9)) * (1.5 * y[:, None] + 0.3)
    return Case(np.clip(np.round(1 + severity * rng.uniform(0.5, 1.5, (n_rows, 9)) + noise), 1, 10), y, 2)


def resampled_answers(seed: int) -> Case:
    """The same table, rows drawn again until there are seven times as many."""
    table = answers(seed)
    rows = np.random.default_rng(seed).integers(len(table.X), size=5000)
    return Case(table.X[rows], table.y[rows], 2)


def repeated_moons(seed: int) -> Case:
    X, y = make_moons(200, noise=0.05, random_state=seed)
    return Case(np.repeat(X, 30, axis=0), np.repeat(y, 30), 2)


def repeated_pair(seed: int) -> Case:
    X, y = make_blobs(150, centers=[[0, 0], [8, 0]], random_state=seed)
    return Case(np.repeat(X, 20, axis=0), np.repeat(y, 20), 2)


def rounded_blobs(seed: int) -> Case:
    """Three blobs on a grid as coarse as they are wide."""
    X, y = make_blobs(1000, centers=[[-4, 0], [3, 4], [2.5, -4]], random_state=seed)
    return Case(np.round(X), y, 3)


def binary_columns(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [350, 250])
    return Case((rng.random((600, 12)) < np.where(y, 0.8, 0.15)[:, None]).astype(float), y, 2)


CASES: dict[str, Callable[[int], Case]] = {
    "answers from 1 to 10": answers,
    "answers, resampled": resampled_answers,
    "moons x 30": repeated_moons,
    "two blobs x 20": repeated_pair,
    "rounded blobs": rounded_blobs,
    "binary columns": binary_columns,
}
OURS: dict[str, Callable[[int], Any]] = {
    "default": lambda k: EvenCut(k, random_state=0),
    'kernel="knn"': lambda k: KernelClustering(k, kernel="knn", random_state=0),
}
PEERS: dict[str, Callable[[int], Any]] = {
    "KMeans": lambda k: KMeans(k, n_init=10, random_state=0),
    "GaussianMixture": lambda k: GaussianMixture(k, n_init=3, random_state=0),
}
SPECTRAL = "SpectralClustering"
_MOST_SECONDS = 60


def score(method: Callable[[int], Any], case: Case) -> float:
    """The ARI of one method on one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a graph in pieces, columns that do not vary: peers complain of such tables
        return float(adjusted_rand_score(case.y, method(case.n_clusters).fit_predict(case.X)))


def spectral_score(case: Case) -> float:
    """The ARI of SpectralClustering; NaN after a minute of CPU: on a graph in pieces it may not end."""
    forked = multiprocessing.get_context("fork")
    found = forked.Value("d", np.nan)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
        found.value = score(lambda k: SpectralClustering(k, affinity="nearest_neighbors", random_state=0), case)

    process = forked.Process(target=work)
    process.start()
    process.join()
    return float(found.value)


def rows(n_draws: int) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Name, draw and the scores of all methods, case by case."""
    for name, make in CASES.items():
        for seed in range(n_draws):
            case = make(seed)
            scores = {method: score(build, case) for method, build in (OURS | PEERS).items()}
            yield name, seed, scores | {SPECTRAL: spectral_score(case)}


def page(n_draws: int) -> str:
    methods = [*OURS, *PEERS, SPECTRAL]
    lines = [
        "# Tables whose rows repeat",
        "",
        f"`python -m benchmarks repeated_rows --draws {n_draws}`: mean ARI over {n_draws} draws, all in one run,",
        "and how far ours is behind the best of the three peers on its worst draw (negative where it is ahead).",
        "",
        "| | " + " | ".join(methods) + " | " + " | ".join(f"{method}, worst draw" for method in OURS) + " |",
        "|---|" + "---|" * (len(methods) + len(OURS)),
    ]
    found: dict[str, list[dict[str, float]]] = {}
    for name, seed, scores in rows(n_draws):
        found.setdefault(name, []).append(scores)
        print(name, seed, {method: round(value, 3) for method, value in scores.items()}, flush=True)
    behind_on = []
    for name, draws in found.items():
        means = [f"{np.nanmean([scores[method] for scores in draws]):.3f}" for method in methods]
        best = [np.nanmax([scores[peer] for peer in (*PEERS, SPECTRAL)]) for scores in draws]
        behind = [[top - scores[method] for top, scores in zip(best, draws, strict=True)] for method in OURS]
        behind_on += [value for values in behind for value in values]
        lines.append(f"| {name} | " + " | ".join([*means, *(f"{max(values):+.3f}" for values in behind)]) + " |")
    n_silent = sum(bool(np.isnan(scores[SPECTRAL])) for draws in found.values() for scores in draws)
    n_behind = sum(value > ALLOWED for value in behind_on)
    return "\n".join(
        [
            *lines,
            "",
            f"{SPECTRAL} gave no answer within {_MOST_SECONDS} CPU s on {n_silent} draws; its mean leaves them out.",
            "",
            f"More than {ALLOWED} behind the best peer of that very draw: {n_behind} of {len(behind_on)}.",
            "",
            f"evencut {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}; "
            f"{time.process_time():.0f} CPU s.",
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="draws of every case [5]")
    chosen = parser.parse_args(arguments)
    print(publish("repeated_rows", {"all": page(chosen.draws)}))


if __name__ == "__main__":
    main()
