"""The default against its peers: reference data sets by battery, and generated families, as one Markdown page.

    python -m benchmarks.leaderboard --data DIR

DIR holds BATTERY/NAME.data.gz and one or more NAME.labels*.gz, as the public suite clustering-data-v1 does, or several
folders `clustering*` with such batteries; without it only the generated families are run. The rules are the suite's:
constant columns are dropped, noise of 1e-6 of the spread is added, one global scale; every method gets the number of
clusters of each reference labelling and scores its best one; label 0 is noise and is not scored.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks import structureless
from benchmarks.families import draws
from evencut import EvenCut, __version__

from .records import publish

MAX_POINTS = 10_000
SEEDS = range(5)
# Draws below this number were used to choose the default; the page shows others.
FRESH = 1000

Method = Callable[[np.ndarray, int, int], np.ndarray]


def methods() -> dict[str, tuple[Method, bool]]:
    """The methods by name, and whether a seed changes what they do; peers that are not installed are left out."""
    found: dict[str, tuple[Method, bool]] = {
        "evencut": (lambda X, k, seed: EvenCut(k, random_state=seed).fit_predict(X), True)
    }
    try:
        from lumbermark import Lumbermark

        found["lumbermark"] = (lambda X, k, seed: Lumbermark(n_clusters=k).fit_predict(X), False)
    except ModuleNotFoundError as missing:
        print(f"left out: {missing}", file=sys.stderr)
    try:
        from genieclust import Genie

        found["Genie"] = (lambda X, k, seed: Genie(n_clusters=k).fit_predict(X), False)
    except ModuleNotFoundError as missing:
        print(f"left out: {missing}", file=sys.stderr)
    found["SpectralClustering"] = (_spectral, True)
    found["GaussianMixture"] = (lambda X, k, seed: GaussianMixture(k, random_state=seed).fit_predict(X), True)
    found["HDBSCAN"] = (lambda X, k, seed: HDBSCAN(copy=True).fit_predict(X), False)
    found["KMeans"] = (lambda X, k, seed: KMeans(k, random_state=seed).fit_predict(X), True)
    return found


def _spectral(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


def prepare(X: np.ndarray) -> np.ndarray:
    """The points as the suite's rules prepare them."""
    X = X[:, X.var(axis=0) > 0].astype(float)
    X = X + np.random.RandomState(123).normal(0, X.std(ddof=1) * 1e-6, X.shape)
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=None, ddof=1))


def collections(folder: Path) -> list[Path]:
    """The folders that hold batteries: those named `clustering*`, or the folder itself."""
    return sorted(path for path in folder.glob("clustering*") if path.is_dir()) or [folder]


def reference_sets(folder: Path) -> Iterator[tuple[str, str, np.ndarray, list[np.ndarray]]]:
    """Battery, name, points and reference labellings of every set of at most 10 000 points."""
    for path in [found for part in collections(folder) for found in sorted(part.glob("*/*.data.gz"))]:
        X = np.loadtxt(path, ndmin=2)
        if len(X) <= MAX_POINTS:
            stem = path.name.removesuffix(".data.gz")
            labels = [np.loadtxt(file, dtype=int) for file in sorted(path.parent.glob(f"{stem}.labels*.gz"))]
            yield path.parent.name, stem, prepare(X), labels


def run(method: Method, X: np.ndarray, references: list[np.ndarray], seed: int) -> tuple[float, float]:
    """Best ARI over the reference labellings, and CPU seconds; a method that fails scores 0."""
    found: dict[int, np.ndarray | None] = {}
    best, begin = 0.0 if not references else -1.0, time.process_time()
    for reference in references:
        k, scored = int(reference.max()), reference > 0
        if k not in found:
            try:
                found[k] = np.asarray(method(X.copy(), k, seed))
            except Exception as error:
                print(f"failed: {type(error).__name__}: {error}", file=sys.stderr)
                found[k] = None
        labels = found[k]
        best = max(best, 0.0 if labels is None else adjusted_rand_score(reference[scored], labels[scored]))
    return best, time.process_time() - begin


def score_all(sets: list, seeds: range) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Mean ARI over seeds and mean CPU seconds of each method (name -> one value a set)."""
    scores, seconds = {}, {}
    for name, (method, seeded) in methods().items():
        run(method, sets[0][2], sets[0][3], 0)  # compilation is not counted
        rows = [
            np.mean([run(method, X, references, seed) for seed in (seeds if seeded else [0])], axis=0)
            for _, _, X, references in sets
        ]
        scores[name], seconds[name] = np.array(rows).T
        print(f"{name}: {scores[name].mean():.4f}, {seconds[name].sum():.1f} s", flush=True)
    return scores, seconds


def interval(values: np.ndarray, n_draws: int = 10_000) -> tuple[float, float]:
    """95 % bootstrap interval of the mean over data sets."""
    drawn = np.random.default_rng(0).integers(len(values), size=(n_draws, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def total_table(scores: dict[str, np.ndarray], seconds: dict[str, np.ndarray]) -> list[str]:
    """One row a method: mean, interval, lead over it with interval, time."""
    ours = scores["evencut"]
    lines = [
        "| method | mean ARI | 95 % interval | evencut ahead by (95 % interval) | CPU s, all sets | slowest set |",
        "|---|---|---|---|---|---|",
    ]
    for name in sorted(scores, key=lambda name: -scores[name].mean()):
        low, high = interval(scores[name])
        ahead = ours - scores[name]
        least, most = interval(ahead)
        lead = "" if name == "evencut" else f"{ahead.mean():+.3f} ({least:+.3f} to {most:+.3f})"
        spent = seconds[name]
        lines.append(
            f"| {name} | {scores[name].mean():.3f} | {low:.3f} to {high:.3f} | {lead} "
            f"| {spent.sum():.1f} | {spent.max():.2f} |"
        )
    return lines


def group_table(groups: list[str], scores: dict[str, np.ndarray], what: str) -> list[str]:
    """Mean ARI by battery or family; the best of each row in bold."""
    lines = [f"| {what} | sets | " + " | ".join(scores) + " |", "|---" * (len(scores) + 2) + "|"]
    groups_array = np.array(groups)
    for group in dict.fromkeys(groups):
        rows = groups_array == group
        means = [values[rows].mean() for values in scores.values()]
        cells = [f"**{mean:.3f}**" if mean >= max(means) - 5e-4 else f"{mean:.3f}" for mean in means]
        lines.append(f"| {group} | {rows.sum()} | " + " | ".join(cells) + " |")
    return lines


def time_table(groups: list[str], seconds: dict[str, np.ndarray]) -> list[str]:
    """CPU seconds of each method over all sets of a collection."""
    lines = ["| CPU s of a collection | sets | " + " | ".join(seconds) + " |", "|---" * (len(seconds) + 2) + "|"]
    for group in dict.fromkeys(groups):
        rows = np.array(groups) == group
        cells = [f"{spent[rows].sum():.1f}" for spent in seconds.values()]
        lines.append(f"| {group} | {rows.sum()} | " + " | ".join(cells) + " |")
    return lines


def number_lines(sets: list) -> list[str]:
    """How often `n_clusters="auto"` finds the reference number; the nearest where there are several."""
    off = []
    for _, _, X, references in sets:
        found = EvenCut("auto", random_state=0).fit(X).n_clusters_
        off.append(min(abs(found - int(reference.max())) for reference in references))
    misses = np.array(off)
    return [
        "",
        f'`n_clusters="auto"` finds the reference number on {np.mean(misses == 0):.0%} of the sets and is within '
        f"one of it on {np.mean(misses <= 1):.0%}.",
    ]


def structureless_section(per_shape: int) -> list[str]:
    """What the number of clusters is taken for where there are none."""
    return [
        "## No structure",
        "",
        f'`n_clusters="auto"` on {per_shape} draws each of `benchmarks/structureless.py`, 1 to 16 dimensions and 200 '
        "to 5000 points.",
        "",
        *structureless.table(per_shape, first=FRESH),
        "",
    ]


def families_section(per_family: int) -> list[str]:
    """The generated sets, one seed each: there are enough of them."""
    sets = [(family, str(number), prepare(X), [y]) for family, number, X, y in draws(per_family, first=FRESH)]
    scores, seconds = score_all(sets, range(1))
    return [
        "## Generated families",
        "",
        f"{len(sets)} sets of `benchmarks/families.py`, {per_family} draws a family, every second one thinned "
        "to few points; seed 0.",
        "",
        *total_table(scores, seconds),
        "",
        *group_table([family for family, *_ in sets], scores, "family"),
        *number_lines(sets),
        "",
    ]


def reference_section(folder: Path) -> list[str]:
    """The reference sets, five seeds each."""
    sets, part_of = [], []
    for part in collections(folder):
        found = list(reference_sets(part))
        sets += found
        part_of += [part.name] * len(found)
    if not sets:
        sys.exit(f"no BATTERY/NAME.data.gz under {folder}; give the folder that holds the batteries with --data.")
    scores, seconds = score_all(sets, SEEDS)
    return [
        "## Reference data sets",
        "",
        f"{len(sets)} public sets with at most {MAX_POINTS} points; mean over seeds 0 to 4 (methods without a seed run "
        "once).",
        "",
        *total_table(scores, seconds),
        "",
        *group_table(part_of, scores, "collection"),
        "",
        *time_table(part_of, seconds),
        "",
        *group_table([battery for battery, *_ in sets], scores, "battery"),
        *number_lines(sets),
        "",
        "<!-- in records/leaderboard_sets.csv -->",
        *group_table([name for _, name, *_ in sets], scores, "set"),
        "",
    ]


def main(arguments: list[str] | None = None) -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--per-family", type=int, default=10, help="draws of each generated family")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    peers = ["lumbermark", "genieclust", "scikit-learn"]
    versions = [f"evencut {__version__}"]
    versions += [f"{name} {importlib.metadata.version(name)}" for name in peers if _installed(name)]
    lines = [
        "# Leaderboard",
        "",
        "Adjusted Rand index with default settings, every method gets the number of clusters (except HDBSCAN, which "
        "chooses it). Intervals by bootstrap over data sets; one thread; CPU seconds after compilation.",
        "Made by `make leaderboard`, that is `python -m benchmarks.leaderboard --data DIR`. The default of evencut was "
        f"chosen on draws of the generated families below number {FRESH} and from 2000 on (shown here: from {FRESH} "
        "on), on tables of scikit-learn, and on the reference sets themselves: we evaluated on them about fifty times, "
        "comparing more than a thousand rules of consensus and a hundred for the number of clusters. So they are not "
        "held out, and other sets may score lower.",
        "",
        f"Versions: {', '.join(versions)}.",
        "",
    ]
    with threadpool_limits(1):
        if options.data is not None:
            lines += reference_section(Path(options.data))
        lines += families_section(options.per_family)
        lines += structureless_section(options.per_family)
    print(publish("leaderboard", {"all": "\n".join(lines)}))


def _installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    main()
