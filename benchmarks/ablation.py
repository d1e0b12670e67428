"""What each constant of the default is worth: the scores with it at half and at double its value.

    python -m benchmarks ablation --data DIR [--groups text tables] [--constants PLANE POWER] [--most 600] [--jobs 16]

Every number, or tuple of numbers, with a name in capitals at the top of a module of `evencut.selection` is a constant.
It is judged by the mean adjusted Rand index with the classes, of the number given and of the number found, over all
sets of `benchmarks.given_sets`, and over draws without clusters, where one cluster scores 1 and more score 0.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from evencut import selection

from . import structureless
from .given_sets import GROUPS, GivenSet, Place, fit, places, read
from .records import publish

#: Draws from here on are for choosing; those that the page of structureless draws shows are never looked at here.
FIRST = 2000
_NULL = "no clusters"
_FACTORS = {"half": 0.5, "double": 2.0}
# A tuple of more values than this is a grid, which is made coarser or finer.
_GRID = 5


class Task(NamedTuple):
    """A constant, what it is multiplied by (1: as it is), and a set."""

    constant: str
    factor: float
    place: Place


class Scores(NamedTuple):
    """The adjusted Rand index with the number given (NaN for draws without clusters) and with the number found."""

    given: float
    found: float


def modules() -> list[ModuleType]:
    """The modules of `evencut.selection` that hold constants."""
    names = [found.name for found in pkgutil.iter_modules(selection.__path__) if not found.name.startswith("_")]
    return [importlib.import_module(f"evencut.selection.{name}") for name in names]


def constants() -> dict[str, Any]:
    """The constants by name, as `module.NAME`, where they are defined.

    >>> constants()["vote.POWER"]
    2
    """
    return {
        f"{module.__name__.rsplit('.', 1)[1]}.{name}": value
        for module in modules()
        for name, value in vars(module).items()
        if re.fullmatch("[A-Z][A-Z_]*", name)
        and all(type(part) in (int, float) for part in (value if isinstance(value, tuple) else (value,)))
        and re.search(rf"^(?:\w+, )*{name}(?:, \w+)* = ", inspect.getsource(module), re.M)
    }


def changed(value: Any, factor: float) -> Any:
    """A number, or every number of a tuple, times a factor; a grid has half or twice as many values.

    Whole numbers stay whole and above zero.

    >>> changed(25, 0.5), changed((0.6, 1.0), 2), changed((2, 3, 4, 6, 8, 16), 0.5)
    (12, (1.2, 2.0), (2, 4, 8))
    """
    if isinstance(value, tuple) and len(value) > _GRID:
        between = [round((low * high) ** 0.5) for low, high in zip(value, value[1:])]
        return value[::2] if factor < 1 else tuple(sorted({*value, *between}))
    if isinstance(value, tuple):
        return tuple(changed(part, factor) for part in value)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


@contextmanager
def set_to(name: str, value: Any) -> Iterator[None]:
    """A constant at another value, in all modules that import it too."""
    holders = [module for module in modules() if hasattr(module, name)]
    before = getattr(holders[0], name)
    try:
        for module in holders:
            setattr(module, name, value)
        yield
    finally:
        for module in holders:
            setattr(module, name, before)


def measure(task: Task, most: int) -> Scores | None:
    """One set with one constant at another value; None where the fit fails."""
    warnings.simplefilter("ignore")
    without = task.place.group == _NULL
    given = draw(int(task.place.path.name)) if without else read(task.place, most)
    value = changed(constants()[task.constant], task.factor) if task.factor != 1 else constants()[task.constant]
    with threadpool_limits(1), set_to(task.constant.split(".")[1], value):
        try:
            return Scores(np.nan if without else fit(given).index, fit(given, "auto").index)
        except (ValueError, IndexError):
            return None


def draw(number: int) -> GivenSet:
    """A draw without clusters."""
    X = _draws()[number]
    return GivenSet(X, [np.zeros(len(X), dtype=int)], "euclidean")


def _draws() -> list[np.ndarray]:
    return [X for _, X in structureless.draws(3, first=FIRST) if len(X) <= 1000]


def row(name: str, groups: list[str], results: dict[Task, Scores | None], now: dict[str, np.ndarray]) -> str:
    """Means with a constant at half and at double its value, and the group that changes most."""
    cells = []
    for factor in _FACTORS.values():
        means = group_means(name, factor, groups, results)
        if any(np.isnan(means[group][1]) for group in groups):
            cells += ["fails"] * 3
            continue
        changes = [
            (float(np.nan_to_num(change)), f"{group}, {way}")
            for group in groups
            for way, change in zip(Scores._fields, means[group] - now[group])
        ]
        most, where = max(changes, key=lambda one: abs(one[0]))
        cells += [f"{mean:.3f}" for mean in overall(means)] + [f"{where}: {most:+.3f}"]
    return f"| `{name}` | {constants()[name]} | " + " | ".join(cells) + " |"


def group_means(
    name: str, factor: float, groups: list[str], results: dict[Task, Scores | None]
) -> dict[str, np.ndarray]:
    """Mean scores of each group; NaN where a fit failed."""
    means = {}
    for group in groups:
        own = [one for task, one in results.items() if task[:2] == (name, factor) and task.place.group == group]
        means[group] = np.mean([(np.nan, np.nan) if one is None else one for one in own], axis=0)
    return means


def overall(means: dict[str, np.ndarray]) -> np.ndarray:
    """The mean over the groups, each counted once."""
    return np.nanmean(list(means.values()), axis=0)


def main(arguments: list[str] | None = None) -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--groups", nargs="+", choices=(*GROUPS, _NULL), default=[*GROUPS, _NULL], help="which sets")
    parser.add_argument("--constants", nargs="+", help="names of constants; all by default")
    parser.add_argument("--most", type=int, default=600, help="rows of a set at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds clustering*/, tables/, real/ and mixed/ with --data.")
    names = [name for name in constants() if not options.constants or name.split(".")[1] in options.constants]
    if not names:
        sys.exit(f"no constant is called {options.constants}; there are {', '.join(constants())}.")
    chosen = places(Path(options.data), [group for group in options.groups if group != _NULL])
    if _NULL in options.groups:
        chosen += [Place(_NULL, Path(str(number))) for number in range(len(_draws()))]
    tasks = [Task(names[0], 1.0, place) for place in chosen]
    tasks += [Task(name, factor, place) for name in names for factor in _FACTORS.values() for place in chosen]
    with get_context("spawn").Pool(options.jobs) as pool:
        results = {}
        for task, scores in zip(tasks, pool.imap(partial(measure, most=options.most), tasks)):
            results[task] = scores
            if task.place is chosen[-1]:
                print(task.constant, task.factor, flush=True)
    now = group_means(names[0], 1.0, options.groups, results)
    header = ["constant", "value"]
    header += [f"{what}: {part}" for what in _FACTORS for part in ("given", "found", "largest change of a group")]
    means = [f"{mean:.3f}" for mean in overall(now)]
    text = [
        "# Constants of the default",
        "",
        "Each constant of `evencut.selection` at half and at double its value (a grid with half or twice as many "
        "values), the others unchanged, seed 0. A constant that changes nothing bounds the cost, or matters for other "
        f"data only. Mean adjusted Rand index over {len(options.groups)} groups, "
        f"{len(chosen)} sets in all ({', '.join(options.groups)}), at most {options.most} rows of each. A set without "
        "clusters scores 1 if one is found, and has no number to be given. Small differences mean nothing.",
        "",
        "| group | given | found |",
        "|---|---|---|",
        *(f"| {group} | {mean[0]:.3f} | {mean[1]:.3f} |".replace("nan", "-") for group, mean in now.items()),
        "",
        "| " + " | ".join(header) + " |",
        "|---" * len(header) + "|",
        "| all at their values | | " + " | ".join([*means, ""] * 2) + " |",
        *(row(name, options.groups, results, now) for name in names),
    ]
    print(publish("ablation", {"all": "\n".join(text)}))


if __name__ == "__main__":
    main()
