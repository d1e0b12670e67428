"""What each constant of the default is worth: the scores with it at half and at double its value.

    python -m benchmarks ablation --data DIR [--most 450]

Every number, or tuple of numbers, at the top of a module of `evencut.selection` is a constant. Those of the partition
are judged by the mean adjusted Rand index with the true number of clusters, those of the number by how often
`n_clusters="auto"` is right. A constant that changes nothing here either bounds the cost or matters only for other
sets.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from evencut import EvenCut

from . import families, structureless
from .leaderboard import collections, reference_sets
from .records import publish

#: Modules of `evencut.selection`, by what their constants decide.
PARTITION = ("graphs", "propose", "mixtures", "vote")
NUMBER = ("number",)
#: Draws from here on are for choosing; those that the leaderboard shows are never looked at here.
FIRST = 2000
#: Rows of overlapping Gaussians, and of data without clusters, at most.
LARGER = 1000

Problem = tuple[np.ndarray, list[tuple[int, np.ndarray]]]
Score = Callable[[], dict[str, float]]


def constants(module: ModuleType) -> dict[str, Any]:
    """The numbers, and tuples of numbers, at the top of a module.

    >>> constants(importlib.import_module("evencut.selection.vote"))
    {'POWER': 2}
    """
    named = {name: value for name, value in vars(module).items() if re.fullmatch("_?[A-Z][A-Z_]*", name)}
    return {name: value for name, value in named.items() if all(type(part) in (int, float) for part in parts(value))}


def parts(value: Any) -> tuple[Any, ...]:
    """The members of a tuple, or the value alone."""
    return value if isinstance(value, tuple) else (value,)


def changed(value: Any, factor: float) -> Any:
    """A number, or every number of a tuple, times a factor; whole numbers stay whole and above zero.

    >>> changed(25, 0.5), changed((0.6, 1.0), 2)
    (12, (1.2, 2.0))
    """
    if isinstance(value, tuple):
        return tuple(changed(part, factor) for part in value)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def reference_problems(folder: Path, most: int) -> list[Problem]:
    """Points and references of every second reference set with at most so many rows."""
    return [
        (X, [(int(y.max()), y - 1) for y in references])
        for part in collections(folder)
        for _, _, X, references in list(reference_sets(part))[::2]
        if len(X) <= most
    ]


def tables(folder: Path, most: int) -> list[Problem]:
    """Every second table with at most so many rows, raw and at one deviation."""
    chosen: list[Problem] = []
    for path in sorted((folder / "tables").glob("*.npz"))[::2]:
        content = np.load(path)
        X, y = content["X"].astype(float), content["y"]
        if len(X) <= most:
            deviation = X.std(axis=0)
            chosen += [(Z, [(int(y.max()) + 1, y)]) for Z in (X, X / np.where(deviation > 0, deviation, 1))]
    return chosen


def generated(most: int) -> list[Problem]:
    """Two draws of every family with at most so many rows, and larger ones where a rule needs many rows.

    Steps in density, and Gaussians that overlap, are not counted on few rows.
    """
    return [
        (X, [(int(y.max()), y - 1)])
        for name, number, X, y in families.draws(8, first=FIRST)
        if (len(X) <= most and number < FIRST + 2)
        or ("density" in name and number < FIRST + 2)
        or (name == "blobs_overlapping" and len(X) <= LARGER)
    ]


def agreement(X: np.ndarray, references: list[tuple[int, np.ndarray]]) -> float:
    """The best adjusted Rand index over the references."""
    labels = {k: EvenCut(k, random_state=0).fit_predict(X) for k in {k for k, _ in references}}
    return max(adjusted_rand_score(y[y >= 0], labels[k][y >= 0]) for k, y in references)


def distance(X: np.ndarray, references: list[tuple[int, np.ndarray]]) -> int:
    """How far "auto" is from the nearest number of the references."""
    answer = EvenCut(random_state=0).fit(X).n_clusters_
    return min(abs(answer - k) for k, _ in references)


def partition_scores(groups: Mapping[str, list[Problem]]) -> dict[str, float]:
    """The mean adjusted Rand index of each group."""
    return {name: float(np.mean([agreement(*problem) for problem in group])) for name, group in groups.items()}


def number_scores(drawn: list[Problem], real: list[Problem], shapes: list[np.ndarray]) -> dict[str, float]:
    """How often "auto" is right: exactly, within one, and on data without clusters."""
    return {
        "generated sets, exact": float(np.mean([distance(*problem) == 0 for problem in drawn])),
        "tables, within one": float(np.mean([distance(*problem) <= 1 for problem in real])),
        "no structure, answer 1": float(np.mean([EvenCut(random_state=0).fit(X).n_clusters_ == 1 for X in shapes])),
    }


def ablations(modules: tuple[str, ...], score: Score) -> Iterator[str]:
    """A table: a row for the values in use, then one for each constant."""
    now = score()
    header = [f"{group}, {what}" for what in ("half", "double") for group in now]
    yield "| constant | value | " + " | ".join(header) + " |"
    yield "|---" * (2 + len(header)) + "|"
    yield "| all at their values | | " + " | ".join([f"{value:.3f}" for value in now.values()] * 2) + " |"
    for module_name in modules:
        module = importlib.import_module(f"evencut.selection.{module_name}")
        for name, value in constants(module).items():
            cells = [cell for factor in (0.5, 2.0) for cell in _cells(module, name, changed(value, factor), score, now)]
            yield f"| `{module_name}.{name}` | {value} | " + " | ".join(cells) + " |"


def _cells(module: ModuleType, name: str, value: Any, score: Score, now: dict[str, float]) -> list[str]:
    """The scores with another value of a constant."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        return [f"{mean:.3f}" for mean in score().values()]
    except (ValueError, IndexError) as error:
        return [f"fails: {type(error).__name__}"] * len(now)
    finally:
        setattr(module, name, before)


def printed(lines: Iterator[str]) -> list[str]:
    """The lines, each printed when it is known."""
    kept = []
    for line in lines:
        print(line, flush=True)
        kept.append(line)
    return kept


def main(arguments: list[str] | None = None) -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--most", type=int, default=450, help="rows of a set at most")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds clustering*/ and tables/ with --data.")
    warnings.simplefilter("ignore")
    folder, most = Path(options.data), options.most
    drawn, real, made = reference_problems(folder, most), tables(folder, most), generated(most)
    shapes = [X for _, X in structureless.draws(3, first=FIRST) if len(X) <= LARGER]
    intro = [
        "# Constants of the default",
        "",
        "Each constant of `evencut.selection` at half and at double its value, the others unchanged, seed 0. A "
        "constant that changes nothing bounds the cost or matters for other data only. The sets are few: a small "
        "difference means nothing.",
        "",
    ]
    with threadpool_limits(1):
        partition = [
            "## The partition",
            "",
            "Mean adjusted Rand index with the true number of clusters: every second reference set of at most "
            f"{most} rows ({len(drawn)}), and every second such table, raw and standardised ({len(real)}).",
            "",
            *printed(ablations(PARTITION, lambda: partition_scores({"reference sets": drawn, "tables": real}))),
            "",
        ]
        number = [
            "## The number of clusters",
            "",
            f'Share of sets where `n_clusters="auto"` is right: {len(made)} generated sets (exact), {len(real)} tables '
            f"(within one) and {len(shapes)} sets without structure (answer 1). Tables and most generated sets have at "
            f"most {most} rows, overlapping Gaussians and sets without structure {LARGER}.",
            "",
            *printed(ablations(NUMBER, lambda: number_scores(made, real, shapes))),
        ]
    publish("ablation", {"all": "\n".join([*intro, *partition, *number])})


if __name__ == "__main__":
    main()
