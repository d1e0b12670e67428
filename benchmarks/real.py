"""Real data with classes: texts, cells, images, audio, and tables of words and numbers, beside peers.

    python -m benchmarks real --data DIR [--groups text cells] [--methods evencut k-means] [--most 2000] [--jobs 1]

Once with the number of classes given, once with the number that each method finds. Peers that are not installed
(`pip install "evencut[bench]"`), fail, or take too long are named on the page. `benchmarks.given_sets` says what DIR
holds.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .given_sets import GivenSet, Place, places, read
from .records import publish

_DOMAINS = ("text", "cells", "images", "audio", "mixed")
_TITLES = {"mixed": "Words beside numbers"}
# Numbers of clusters that peers without a rule of their own are tried with.
_TRIED = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 27, 36, 50, 64, 90, 128, 160)
# Directions that mixtures are fitted in, at most.
_COMPONENTS = 30
# A number of clusters within this factor of the classes is near.
_NEAR = 1.5


class Outcome(NamedTuple):
    """What a method made of a set: index and number of clusters, CPU seconds, and what went wrong."""

    place: Place
    way: str
    method: str
    index: float
    n_clusters: int
    seconds: float
    trouble: str
    size: tuple[int, int, int]


def rows_of(given: GivenSet) -> np.ndarray:
    """Numbers for peers: of a data frame words as columns of 0 and 1, beside standardised numbers; gaps filled."""
    if isinstance(given.X, np.ndarray):
        return given.X
    import pandas as pd

    numbers = given.X.select_dtypes("number")
    numbers = numbers.fillna(numbers.median())
    numbers = (numbers - numbers.mean()) / numbers.std().replace(0, 1)
    words = given.X.select_dtypes(exclude="number").fillna("?").astype(str)
    parts = [numbers.to_numpy(float)] + ([pd.get_dummies(words).to_numpy(float)] if words.shape[1] else [])
    return np.hstack(parts)


def _evencut(given: GivenSet, k: int | None) -> np.ndarray:
    from evencut import EvenCut

    return EvenCut("auto" if k is None else k, metric=given.metric, random_state=0).fit_predict(given.X)


def _kmeans(given: GivenSet, k: int | None) -> np.ndarray:
    """Of the numbers tried, that of the highest mean silhouette."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    X = rows_of(given)
    if k is not None:
        return KMeans(k, n_init=10, random_state=0).fit_predict(X)
    found = [KMeans(n, n_init=3, random_state=0).fit_predict(X) for n in _TRIED if n < len(X) // 4]
    return max(found, key=lambda labels: silhouette_score(X, labels))


def _mixture(given: GivenSet, k: int | None) -> np.ndarray:
    """Full or diagonal covariances in the leading components, of the numbers tried: the mixture of lowest BIC."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    X = rows_of(given)
    if X.shape[1] > _COMPONENTS:
        X = PCA(_COMPONENTS, random_state=0).fit_transform(X)
    floor = 1e-4 * X.var(axis=0).mean() + 1e-9
    models = [
        GaussianMixture(n, covariance_type=kind, reg_covar=floor, random_state=0).fit(X)
        for n in ([k] if k is not None else [n for n in _TRIED if n < len(X) // 8])
        for kind in ("full", "diag")
    ]
    return min(models, key=lambda model: model.bic(X)).predict(X)


def _hdbscan(given: GivenSet, k: int | None) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(copy=True).fit_predict(rows_of(given))


def _leiden(given: GivenSet, k: int | None) -> np.ndarray:
    """Modularity at resolution one, on the graph of 15 nearest neighbours."""
    import igraph
    import leidenalg
    from sklearn.neighbors import kneighbors_graph

    X = rows_of(given)
    graph = kneighbors_graph(X, 15)
    graph = graph.maximum(graph.T).tocoo()
    once = graph.row < graph.col
    edges = igraph.Graph(n=len(X), edges=np.column_stack([graph.row[once], graph.col[once]]).tolist())
    return np.array(leidenalg.find_partition(edges, leidenalg.RBConfigurationVertexPartition, seed=0).membership)


def _evoc(given: GivenSet, k: int | None) -> np.ndarray:
    import evoc

    return np.asarray(evoc.EVoC(random_state=0).fit_predict(rows_of(given).astype(np.float32)))


#: How to label a set, what must be installed, and whether a number can be given.
METHODS: dict[str, tuple[Callable[[GivenSet, int | None], np.ndarray], str, bool]] = {
    "evencut": (_evencut, "evencut", True),
    "k-means": (_kmeans, "sklearn", True),
    "Gaussian mixture": (_mixture, "sklearn", True),
    "HDBSCAN": (_hdbscan, "sklearn", False),
    "Leiden": (_leiden, "leidenalg", False),
    "EVoC": (_evoc, "evoc", False),
}


def measure(task: tuple[Place, str, str], most: int, limit: int) -> Outcome:
    """One method on one set; a failure is an outcome too."""
    from sklearn.metrics import adjusted_rand_score

    place, way, method = task
    warnings.simplefilter("ignore")
    given = read(place, most)
    (y,) = given.references
    n_classes = int(y.max()) + 1
    labels, trouble, begin = None, "", time.process_time()
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        with threadpool_limits(1):
            labels = np.asarray(METHODS[method][0](given, n_classes if way == "given" else None))
    except Exception as error:
        trouble = "too slow" if isinstance(error, TimeoutError) else type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    index = 0.0 if labels is None else float(adjusted_rand_score(y, labels))
    n_clusters = 0 if labels is None else len(np.unique(labels[labels >= 0]))
    size = (*given.X.shape, n_classes)
    return Outcome(place, way, method, index, n_clusters, time.process_time() - begin, trouble, size)


def _give_up(*_: Any) -> None:
    raise TimeoutError


def section(group: str, outcomes: list[Outcome], methods: list[str]) -> str:
    """The tables of one group: the number given, and the number found."""
    lines = [f"## {_TITLES.get(group, group.capitalize())}", ""]
    for way, title in (("given", "Number given"), ("found", "Number found; beside the index, the clusters")):
        own = [name for name in methods if way == "found" or METHODS[name][2]]
        here = {(one.place, one.method): one for one in outcomes if one.place.group == group and one.way == way}
        lines += [f"{title}:", "", "| set | rows x columns | classes | " + " | ".join(own) + " |"]
        lines.append("|---" * (3 + len(own)) + "|")
        for place in dict.fromkeys(place for place, _ in here):
            row = [here[place, name] for name in own]
            n_rows, n_columns, n_classes = row[0].size
            cells = [
                one.trouble or f"{one.index:.2f}" + (f" ({one.n_clusters})" if way == "found" else "") for one in row
            ]
            lines.append(f"| {place.name} | {n_rows} x {n_columns} | {n_classes} | " + " | ".join(cells) + " |")
        means = [np.mean([one.index for one in here.values() if one.method == name]) for name in own]
        lines += ["| mean | | | " + " | ".join(f"**{mean:.3f}**" for mean in means) + " |", ""]
    return "\n".join(lines)


def summary(outcomes: list[Outcome], methods: list[str]) -> str:
    """Means over all sets, how often the number was near, and the time."""
    lines = [
        "| method | ARI, number given | ARI, number found | within a factor of 1.5 | CPU s, given | CPU s, found |",
        "|---|---|---|---|---|---|",
    ]
    for name in methods:
        given, found = ([o for o in outcomes if (o.method, o.way) == (name, way)] for way in ("given", "found"))
        near = np.mean([1 / _NEAR <= max(o.n_clusters, 0.1) / o.size[2] <= _NEAR for o in found])
        cells = [f"{np.mean([o.index for o in given]):.3f}" if given else "-"]
        cells += [f"{np.mean([o.index for o in found]):.3f}", f"{near:.0%}"]
        cells += [f"{sum(o.seconds for o in some):.0f}" if some else "-" for some in (given, found)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def head(groups: list[str], methods: list[str], most: int, limit: int) -> str:
    """What stands before the tables, the peers that are missing included."""
    absent = [name for name, (_, module, _) in METHODS.items() if not find_spec(module)]
    left_out = [name for name in METHODS if name not in methods and name not in absent]
    packages = ["scikit-learn", *(METHODS[name][1] for name in methods if name in ("Leiden", "EVoC"))]
    said = [", ".join(f"{package} {version(package)}" for package in packages)]
    said += [f"{why}: {', '.join(some)}" for why, some in (("not installed", absent), ("not run", left_out)) if some]
    return (
        f"# Real data\n\nAdjusted Rand index with the classes of {', '.join(groups)}: at most {most} rows of each set, "
        "seed 0, one thread. Vectors of texts, images and audio have unit length, and `EvenCut` compares them by "
        "cosine. Tables of words and numbers go to `EvenCut` as they are, gaps included; all others get one-hot "
        "columns beside standardised numbers. The peers find their number by their own rule (HDBSCAN, Leiden, EVoC), "
        f"by the silhouette (k-means) or by BIC (mixtures, in at most {_COMPONENTS} principal components), the latter "
        f"two among {len(_TRIED)} numbers from {_TRIED[0]} to {_TRIED[-1]}. A method that fails, or takes more than "
        f"{limit} CPU seconds, counts 0 and is marked. {'; '.join(said)}.\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--groups", nargs="+", choices=_DOMAINS, default=list(_DOMAINS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--most", type=int, default=2000, help="rows of a set at most")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds of a method on one set at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds real/ and mixed/ with --data.")
    if options.limit < 1 or options.jobs < 1:
        sys.exit(f"--limit={options.limit} and --jobs={options.jobs} must be at least 1.")
    methods = [name for name in options.methods if find_spec(METHODS[name][1])]
    tasks = [
        (place, way, method)
        for place in places(Path(options.data), options.groups)
        for way in ("given", "found")
        for method in methods
        if way == "found" or METHODS[method][2]
    ]
    outcomes = []
    with get_context("spawn").Pool(options.jobs) as pool:
        for one in pool.imap(partial(measure, most=options.most, limit=options.limit), tasks):
            outcomes.append(one)
            print(one.place.name, one.way, one.method, f"{one.index:.3f}", one.n_clusters, one.trouble, flush=True)
    parts = {"about": head(options.groups, methods, options.most, options.limit), "summary": summary(outcomes, methods)}
    parts |= {group: section(group, outcomes, methods) for group in options.groups}
    print(publish("real", parts))


if __name__ == "__main__":
    main()
