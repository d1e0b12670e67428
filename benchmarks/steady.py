"""Whether the default answers the same in another unit, precision, place or order, and with another seed.

    python -m benchmarks steady --data DIR [--groups tables] [--numbers given auto] [--most 3000] [--jobs 1]

Every set is fitted once as it is and once after each change, which is no evidence about its clusters. The page shows
the adjusted Rand index of the two answers.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .given_sets import GROUPS, Place, places, read
from .records import publish

#: Each change of the points; the seed and the order of the rows are changed by `trials`.
CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "another seed": lambda X: X,
    "times 7.3": lambda X: 7.3 * X,
    "float32": lambda X: X.astype(np.float32),
    "shifted by 3.7 deviations": lambda X: X + 3.7 * X.std(axis=0),
    "a constant column": lambda X: np.column_stack([X, np.full(len(X), 2.0)]),
    "rows in another order": lambda X: X,
    "columns in reverse order": lambda X: X[:, ::-1],
}
# Below this, an answer counts as another one.
_SAME = 0.9


class Trial(NamedTuple):
    """One change of one set: the adjusted Rand index with the answer before, and whether the number stayed."""

    place: Place
    change: str
    index: float
    same_number: bool


def trials(place: Place, n_clusters: str, most: int) -> list[Trial]:
    """All changes of one set."""
    from sklearn.metrics import adjusted_rand_score

    from evencut import EvenCut

    warnings.simplefilter("ignore")
    X, references, metric = read(place, most)
    k = int(references[0].max()) + 1 if n_clusters == "given" else "auto"
    with threadpool_limits(1):
        before = EvenCut(k, metric=metric, random_state=0).fit(X)
        found = []
        for change, changed in CHANGES.items():
            # Directions, and not lengths, are compared by cosine: a shift or a constant would change them.
            if metric == "cosine" and change in ("shifted by 3.7 deviations", "a constant column"):
                continue
            rows = np.arange(len(X))
            if change == "rows in another order":
                rows = np.random.default_rng(1).permutation(len(X))
            model = EvenCut(k, metric=metric, random_state=int(change == "another seed")).fit(changed(X)[rows])
            index = float(adjusted_rand_score(before.labels_[rows], model.labels_))
            found.append(Trial(place, change, index, model.n_clusters_ == before.n_clusters_))
    return found


def table(found: list[Trial], n_clusters: str) -> list[str]:
    """A row for each change, and one for all."""
    numbers = n_clusters == "auto"
    lines = ["| change | mean ARI | worst | sets below 0.9 |" + " the same number |" * numbers]
    lines.append("|---" * (4 + numbers) + "|")
    for change in (*CHANGES, "all"):
        own = [trial for trial in found if change in (trial.change, "all")]
        if not own:
            continue
        worst = min(own, key=lambda trial: trial.index)
        below = sorted({trial.place.name for trial in own if trial.index < _SAME})
        cells = [f"{np.mean([trial.index for trial in own]):.3f}", f"{worst.index:.2f}, {worst.place.name}"]
        cells.append(f"{len(below)}: {', '.join(below)}" if below and change != "all" else str(len(below)))
        if numbers:
            cells.append(f"{np.mean([trial.same_number for trial in own]):.0%}")
        lines.append(f"| {change} | " + " | ".join(cells) + " |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--groups", nargs="+", choices=GROUPS[:-1], default=["tables"], help="which sets")
    parser.add_argument("--numbers", nargs="+", choices=("given", "auto"), default=["given", "auto"])
    parser.add_argument("--most", type=int, default=3000, help="rows of a set at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds tables/ with --data.")
    chosen = places(Path(options.data), options.groups)
    head = (
        "# Steady\n\nThe adjusted Rand index of `EvenCut` with itself, before and after a change that says nothing "
        f"about the clusters: {len(chosen)} sets ({', '.join(options.groups)}), at most {options.most} rows of each.\n"
    )
    parts = {"about": head}
    with get_context("spawn").Pool(options.jobs) as pool:
        for n_clusters in options.numbers:
            found: list[Trial] = []
            for some in pool.imap_unordered(partial(trials, n_clusters=n_clusters, most=options.most), chosen):
                found += some
                print(some[0].place.name, *(f"{trial.index:.2f}" for trial in some), flush=True)
            title = "The number of clusters given" if n_clusters == "given" else "The number of clusters found"
            parts[n_clusters] = "\n".join([f"## {title}", "", *table(found, n_clusters)])
            text = publish("steady", parts)
    print(text)


if __name__ == "__main__":
    main()
