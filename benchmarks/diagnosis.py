"""Does `diagnose` tell right from wrong? Confusion tables on clusterings of known truth, and on real ones.

Run `python -m benchmarks diagnosis`; it writes `benchmarks/DIAGNOSIS.md`. Real data (labelled sets, LabelMe scenes)
join where `EVENCUT_DATA` names their folder; `--cache DIR` keeps the clusterings of the labelled sets between runs.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.diagnosis_cases import HELD_OUT, KINDS, OK, TUNING, cases
from benchmarks.diagnosis_limits import report_limits
from benchmarks.diagnosis_trust import report_sets
from evencut import KernelKMeans, __version__, diagnose
from evencut.diagnosis import BIASES, VERDICTS

from .records import publish

PARTS = {"tuning": (TUNING, 1), "held out": (HELD_OUT, 1001)}


def judge_part(part: dict, n_each: int, seed: int) -> tuple[list[tuple], int]:
    """(truth, verdict, family, maker, dimension, size) of every case, and how many draws were not of their kind."""
    rows, redrawn = [], 0
    for case in cases(part, n_each, seed):
        if case is None:
            redrawn += 1
            continue
        verdict = diagnose(case.X, case.labels).verdict
        rows.append((case.kind, verdict, case.family, case.maker, case.X.shape[1], len(case.X)))
    return rows, redrawn


def rates(rows: list[tuple]) -> tuple[float, float, float]:
    """Share of the biased called biased, of these with the right kind, and of the honest called biased."""
    biased = [row for row in rows if row[0] != OK]
    honest = [row for row in rows if row[0] == OK]
    called = [row for row in biased if row[1] in BIASES]
    return (
        len(called) / len(biased),
        sum(row[0] == row[1] for row in called) / max(len(called), 1),
        sum(row[1] in BIASES for row in honest) / len(honest),
    )


def report_part(name: str, rows: list[tuple], redrawn: int, seed: int) -> list[str]:
    found, right, false = rates(rows)
    table = Counter((row[0], row[1]) for row in rows)
    lines = [
        f"## {name.capitalize()}: {len(rows)} cases, seed {seed}",
        "",
        f"Biased and called biased: **{found:.1%}** (wanted 95 %). Of these, of the right kind: **{right:.1%}** "
        f"(wanted 90 %). Honest but called biased: **{false:.1%}** (at most 5 %).",
        "",
        "| truth, then verdict | " + " | ".join(VERDICTS) + " |",
        "|---" * (len(VERDICTS) + 1) + "|",
    ]
    lines += [f"| {t} | " + " | ".join(str(table[t, v]) for v in VERDICTS) + " |" for t in KINDS]
    lines += ["", "| truth | family | made by | right |", "|---|---|---|---|"]
    groups: dict[tuple, list[bool]] = {}
    for truth, verdict, family, maker, *_ in rows:
        groups.setdefault((truth, family, maker.split(",")[0]), []).append(truth == verdict)
    lines += [f"| {t} | {f} | {m} | {sum(ok)} of {len(ok)} |" for (t, f, m), ok in sorted(groups.items())]
    lines += ["", f"{redrawn} corrupted clusterings turned out good, or of a mixed kind, and were redrawn.", ""]
    return lines


def report_labelme(data_folder: Path) -> list[str]:
    """Scott's Gaussian kernel against neighbours on real features (the paper's figure "labelme")."""
    file = data_folder / "labelme" / "features.npz"
    if not file.is_file():
        return ["## LabelMe scenes", "", "Not run: set EVENCUT_DATA to a folder with labelme/features.npz.", ""]
    data = np.load(file)
    chosen = np.isin(data["category"], ["coast", "forest", "highway", "tallbuilding"])
    X = PCA(5, random_state=0).fit_transform(data["features"][chosen].astype(float))
    truth = data["category"][chosen]
    lines = ["## LabelMe scenes, four categories, 5 principal components", ""]
    lines += ["| kernel k-means with | NMI | largest cluster | verdict |", "|---|---|---|---|"]
    for kernel in ("gaussian", "knn"):
        labels = KernelKMeans(4, kernel=kernel, random_state=0).fit_predict(X)
        found = diagnose(X, labels, kernel=kernel)
        nmi = normalized_mutual_info_score(truth, labels)
        share = np.bincount(labels).max() / len(labels)
        lines.append(f"| {kernel} | {nmi:.2f} | {share:.0%} | {found.verdict} ({found.confidence:.0%}) |")
    return [*lines, ""]


def report_time(n_points: int = 100_000) -> list[str]:
    """CPU time on many points, against the neighbour search of scikit-learn alone on the same points."""
    lines = [f"## {n_points} points, judged on a random sample of 20000 (the default)", ""]
    lines += ["| dimension | clustering | diagnose, CPU s | scikit-learn neighbours, CPU s | ratio |"]
    lines += ["|---|---|---|---|---|"]
    for dimension in (2, 8):
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 8, n_points)
        X = rng.normal(size=(n_points, dimension)) + 6 * rng.normal(size=(8, dimension))[truth]
        start = time.process_time()
        NearestNeighbors(n_neighbors=11).fit(X).kneighbors()
        theirs = time.process_time() - start
        spoilt = np.where(truth == 0, 0, 1 + (X[:, 0] > np.median(X[:, 0])))
        for name, labels in (("true", truth), ("spoilt, a cure is tried", spoilt)):
            start = time.process_time()
            diagnose(X, labels)
            ours = time.process_time() - start
            lines.append(f"| {dimension} | {name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")
    return [*lines, ""]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=40, help="cases of each bias a part; twice as many honest ones")
    parser.add_argument("--part", choices=[*PARTS, "both"], default="both")
    parser.add_argument("--cache", type=Path, default=None, help="folder that keeps clusterings of labelled sets")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = [
        "# How often `diagnose` is right",
        "",
        f"Written by `python -m benchmarks diagnosis --each {options.each}`; evencut {__version__}, "
        f"scikit-learn {sklearn.__version__}. 2 to 6 clusters, 2 to 20 dimensions, 200 to 5000 points. The constants "
        "of `diagnosis/verdicts.py` were chosen on the tuning part alone; the held-out part has other shapes and "
        "seeds. Truth is what the generator knows (components and their density), and only clear cases count: "
        "clusterings that mix two biases, or come out good, are drawn again.",
        "",
    ]
    for name, (part, seed) in PARTS.items():
        if options.part in (name, "both"):
            lines += report_part(name, *judge_part(part, options.each, seed), seed)
            print("\n".join(lines[-1 - len(KINDS) :]), flush=True)
    data_folder = Path(os.environ.get("EVENCUT_DATA", ""))
    lines += report_limits() + report_sets(data_folder, options.cache) + report_labelme(data_folder) + report_time()
    text = "\n".join(lines)
    print(publish("diagnosis", {"all": text}) if options.part == "both" else text)


if __name__ == "__main__":
    main()
