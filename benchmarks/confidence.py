"""Whether `confidence_` means what it says: the adjusted Rand index with the truth, beside the confidence.

    python -m benchmarks confidence --data DIR

On the half of the reference sets and tables (raw and at one deviation) that the curve was not fitted to: every second
one from the second on, seed 0, the true number of clusters given.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from evencut import EvenCut

from .leaderboard import collections, reference_sets
from .records import publish

_BINS = 6


def fits(folder: Path) -> list[tuple[str, float, float]]:
    """Group, confidence and adjusted Rand index of every set."""
    measured = []
    for part in collections(folder):
        for _, _, X, references in list(reference_sets(part))[1::2]:
            model = EvenCut(int(references[0].max()), random_state=0).fit(X)
            scored = references[0] > 0
            index = adjusted_rand_score(references[0][scored], model.labels_[scored])
            measured.append(("reference sets", model.confidence_, index))
    for path in sorted((folder / "tables").glob("*.npz"))[1::2]:
        content = np.load(path)
        X, y = content["X"].astype(float), content["y"]
        for Z in (X, X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)):
            model = EvenCut(int(y.max()) + 1, random_state=0).fit(Z)
            measured.append(("tables", model.confidence_, adjusted_rand_score(y, model.labels_)))
    return measured


def table(measured: list[tuple[str, float, float]]) -> list[str]:
    """Means of confidence and index: by sixths of the confidence, and by group."""
    lines = ["| sets | mean confidence | mean adjusted Rand index |", "|---|---|---|"]
    order = sorted(measured, key=lambda one: one[1])
    for part in np.array_split(np.arange(len(order)), _BINS):
        chosen = [order[i] for i in part]
        lines.append(_row(f"{len(chosen)} of confidence {chosen[0][1]:.2f} to {chosen[-1][1]:.2f}", chosen))
    for group in dict.fromkeys(name for name, *_ in measured):
        lines.append(_row(f"all {group}", [one for one in measured if one[0] == group]))
    return lines


def _row(name: str, chosen: list[tuple[str, float, float]]) -> str:
    confidence, index = np.mean([one[1:] for one in chosen], axis=0)
    return f"| {name} | {confidence:.2f} | {index:.2f} |"


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds clustering*/ and tables/ with --data.")
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        lines = table(fits(Path(options.data)))
    text = [
        "# Confidence",
        "",
        "`confidence_` of `EvenCut` beside the adjusted Rand index with the truth, on the half of the reference sets "
        "and tables that its curve was not fitted to; the true number of clusters given, seed 0.",
        "",
        *lines,
    ]
    print(publish("confidence", {"all": "\n".join(text)}))


if __name__ == "__main__":
    main()
