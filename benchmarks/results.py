"""`python -m benchmarks results`: measures evencut and its peers on the same data in one run."""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from .data import crossing_worms, grid_blobs, worms
from .peers import GAUSSIAN_BANDWIDTH, graph_of
from .records import publish
from .results_page import report

_ALL = (
    "evencut NormalizedCut",
    "evencut EvenCut",
    "evencut NormalizedCut, equalised",
    "scikit-learn SpectralClustering amg",
    "scikit-learn SpectralClustering arpack",
    "scikit-learn KMeans",
    "genieclust Genie",
    "lumbermark",
    "scikit-learn HDBSCAN",
)
# Neither arpack nor HDBSCAN is asked for more: they take minutes.
_UP_TO_100_000 = tuple(name for name in _ALL if "arpack" not in name and "HDBSCAN" not in name)
_ON_GRAPH = ("evencut multilevel, solve alone", "pymetis, partition alone", "scikit-learn amg, solve alone")
_FAST = (
    "evencut NormalizedCut",
    "evencut EvenCut",
    "scikit-learn KMeans",
    "genieclust Genie",
    "lumbermark",
)
_GAUSSIAN = ("evencut KernelKMeans, Gaussian", "tslearn KernelKMeans, rbf")

#: Data set, its generator, methods, threads.
TASKS = (
    ("worms 2-D, 10 000 points, 35 clusters", lambda: worms(10_000, 35), _ALL, 1),
    ("worms 2-D, 100 000 points, 35 clusters", lambda: worms(100_000, 35), (*_UP_TO_100_000, *_ON_GRAPH), 1),
    ("worms 8-D, 100 000 points, 35 clusters", lambda: worms(100_000, 35, 8), _FAST, 1),
    ("worms 64-D, 20 000 points, 35 clusters", lambda: worms(20_000, 35, 64), _FAST, 1),
    ("blobs 2-D, 100 000 points, 100 clusters", lambda: grid_blobs(100_000), (*_FAST, *_ON_GRAPH), 1),
    ("worms 2-D, 100 000 points, 20 clusters", lambda: worms(100_000, 20), _FAST, 2),
    ("worms 2-D, 1 000 000 points, 20 clusters", lambda: worms(1_000_000, 20), _FAST, 2),
    ("crossing worms 2-D, 1 000 000 points, 20 clusters", lambda: crossing_worms(1_000_000, 20), _FAST, 2),
    ("worms 2-D, 5 000 points, 10 clusters, all pairs", lambda: worms(5_000, 10), _GAUSSIAN, 1),
    (
        "worms 2-D, 20 000 points, 10 clusters, all pairs",
        lambda: worms(20_000, 10),
        ("evencut KernelKMeans, Gaussian by blocks",),
        2,
    ),
)

#: One draw of worms favours one method or another by luck: ARI is also taken over several.
DRAWS = tuple(
    (f"{name}, 100 000 points, {n_clusters} clusters", functools.partial(make, 100_000, n_clusters))
    for name, make in (("worms", worms), ("crossing worms", crossing_worms))
    for n_clusters in (20, 35)
)
_N_DRAWS = 5
_DRAWN = (
    "evencut EvenCut",
    "evencut NormalizedCut",
    "genieclust Genie",
    "lumbermark",
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks results", description=__doc__)
    parser.add_argument("--only", default="", help="run only data sets whose name contains this")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a measurement may take")
    options = parser.parse_args(arguments)
    rows, draws = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, make, methods, n_jobs) in enumerate(TASKS):
            if options.only in name:
                rows += run_task(Path(folder), number, name, make, methods, n_jobs, options.timeout)
                # What was measured is kept if a later row is interrupted.
                publish("results", {"all": report(rows, draws)})
        for name, make in DRAWS:
            if options.only in name:
                draws += run_draws(Path(folder), name, make, options.timeout)
                publish("results", {"all": report(rows, draws)})


def run_task(folder, number, name, make, methods, n_jobs, timeout):
    X, truth = make()
    n_clusters = int(truth.max()) + 1
    source = folder / f"data{number}.npz"
    np.savez(source, X=X)
    problem = _judge(X, "all pairs" in name)
    if problem.matrix.is_graph:
        sparse.save_npz(f"{source}.graph.npz", problem.matrix.entries, compressed=False)
    rows = []
    for method in methods:
        found = measure(method, source, n_clusters, n_jobs, timeout)
        row = {"data": name, "threads": n_jobs, "method": method}
        if found is not None:
            labels = found.pop("labels")
            row |= found | {"ari": adjusted_rand_score(truth, labels)}
            if len(np.unique(labels)) == n_clusters:
                row["energy"] = problem.energy(labels) + (0 if "all pairs" in name else n_clusters)
        rows.append(row)
        print({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
    return rows


def run_draws(folder, name, make, timeout):
    """The ARI of each method on draws 1 to 5; draw 0 is in the table."""
    scores = {method: [] for method in _DRAWN}
    for draw in range(1, _N_DRAWS + 1):
        X, truth = make(random_state=draw)
        source = folder / "draw.npz"
        np.savez(source, X=X)
        for method in _DRAWN:
            found = measure(method, source, int(truth.max()) + 1, 2, timeout)
            scores[method].append(adjusted_rand_score(truth, found["labels"]) if found else float("nan"))
    for method, found in scores.items():
        print(name, method, np.round(found, 3), flush=True)
    return [{"data": name, "method": method, "ari": found} for method, found in scores.items()]


def _judge(X, all_pairs):
    """The problem on which the labels of all methods are valued."""
    from evencut.criteria import average_association, normalized_cut
    from evencut.kernels import Gaussian

    return average_association(Gaussian(GAUSSIAN_BANDWIDTH).affinity(X)) if all_pairs else normalized_cut(graph_of(X))


def measure(method, source, n_clusters, n_jobs, timeout):
    """Seconds, memory and labels of one method in a fresh process; None where it did not finish."""
    target = source.with_name("result.npz")
    target.unlink(missing_ok=True)
    threads = {key: str(n_jobs) for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    command = [sys.executable, "-m", "benchmarks.measure", method, str(source), str(n_clusters), str(n_jobs)]
    try:
        subprocess.run(
            [*command, str(target)],
            env={**os.environ, **threads},
            cwd=Path(__file__).parent.parent,
            timeout=timeout,
            check=True,
            stderr=subprocess.PIPE,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{method}: {str(getattr(error, 'stderr', b'') or error)[-300:]}", file=sys.stderr)
        return None
    with np.load(target) as found:
        return {"labels": found["labels"], **{key: float(found[key]) for key in ("cpu", "wall", "peak")}}


if __name__ == "__main__":
    main()
