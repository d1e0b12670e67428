"""What each constant of the default is worth: the mean adjusted Rand index with it at half and at double its value.

    python -m benchmarks ablation --data DIR [--most 600]

The sets are every second of the reference sets and of the tables with at most so many rows, tables raw and at one
deviation, the true number of clusters given, seed 0. A constant that changes nothing here either bounds the cost or
matters only for larger sets.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from evencut import EvenCut

from .leaderboard import collections, reference_sets
from .records import publish

#: The constants that the partition hangs on, by module.
CONSTANTS = {
    "candidates": (
        "_CLUSTERS_PER_NEIGHBORHOOD", "_FEWEST", "_MOST", "_SCALES", "_CORES", "_SHARES", "_STEP", "_SMOOTHINGS",
        "_LOCAL_DIMENSION",
    ),
    "centres": (
        "_NEIGHBOR", "_WIDTHS", "_NATS", "_PLANE", "_POINTS_PER_PARAMETER", "_SHARE_OF_MIXTURES", "_LITTLE_WORTH",
        "_SAMPLE", "_SAMPLE_PER_CLUSTER", "_FIRST_STEPS",
    ),
    "choose": ("_BESIDE_TREES", "_BESIDE_CENTRES"),
    "consensus": ("_POWER",),
    "mixtures": ("_STEPS", "_TOLERANCE", "_FLOOR"),
}  # fmt: skip

Problem = tuple[np.ndarray, list[tuple[int, np.ndarray]]]


def problems(folder: Path, most: int) -> dict[str, list[Problem]]:
    """Points and references of every second small set, by group."""
    drawn = [
        (X, [(int(y.max()), y - 1) for y in references])
        for part in collections(folder)
        for _, _, X, references in list(reference_sets(part))[::2]
        if len(X) <= most
    ]
    tables = []
    for path in sorted((folder / "tables").glob("*.npz"))[::2]:
        content = np.load(path)
        X, y = content["X"].astype(float), content["y"]
        if len(X) <= most:
            tables += [(Z, [(int(y.max()) + 1, y)]) for Z in (X, X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1))]
    return {"drawn sets": drawn, "tables": tables}


def score(X: np.ndarray, references: list[tuple[int, np.ndarray]]) -> float:
    """The best adjusted Rand index over the references."""
    labels = {k: EvenCut(k, random_state=0).fit_predict(X) for k in {k for k, _ in references}}
    return max(adjusted_rand_score(y[y >= 0], labels[k][y >= 0]) for k, y in references)


def means(sets: dict[str, list[Problem]]) -> list[float]:
    """The mean of each group."""
    return [float(np.mean([score(*problem) for problem in group])) for group in sets.values()]


def changed(value: Any, factor: float) -> Any:
    """A number, or every number of a tuple, times a factor; whole numbers stay whole and above zero."""
    if isinstance(value, tuple):
        return tuple(changed(part, factor) for part in value)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def ablations(sets: dict[str, list[Problem]]) -> Iterator[str]:
    """One row a constant."""
    for module_name, names in CONSTANTS.items():
        module = importlib.import_module(f"evencut.selection.{module_name}")
        for name in names:
            value = getattr(module, name)
            cells = []
            for factor in (0.5, 2.0):
                setattr(module, name, changed(value, factor))
                try:
                    cells += [f"{mean:.3f}" for mean in means(sets)]
                except (ValueError, IndexError) as error:
                    cells += [f"fails: {type(error).__name__}"] * len(sets)
                finally:
                    setattr(module, name, value)
            row = f"| `{module_name}.{name}` | {value} | " + " | ".join(cells) + " |"
            print(row, flush=True)
            yield row


def main(arguments: list[str] | None = None) -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--most", type=int, default=600, help="rows of a set at most")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds clustering*/ and tables/ with --data.")
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        sets = problems(Path(options.data), options.most)
        now = " | ".join(f"{mean:.3f}" for mean in means(sets))
        header = [f"{what}, {group}" for what in ("at half", "at double") for group in sets]
        lines = [
            "# Constants of the default",
            "",
            "Mean adjusted Rand index with each constant at half and at double its value: every second reference set "
            f"of at most {options.most} rows ({len(sets['drawn sets'])} of them), and every second such table raw and "
            f"at one deviation ({len(sets['tables'])}), seed 0. As it is: {now}.",
            "",
            "| constant | value | " + " | ".join(header) + " |",
            "|---" * (2 + len(header)) + "|",
        ]
        print(lines[2], flush=True)
        lines += list(ablations(sets))
    publish("ablation", {"all": "\n".join(lines)})


if __name__ == "__main__":
    main()
