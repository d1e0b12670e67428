"""Every setting answers or is refused: up to 100 000 points through kernels, criteria, solvers and numbers of clusters.

Run `python -m benchmarks settings`; it writes `benchmarks/SETTINGS.md`. Each fit has a process of its own, one thread
and 60 CPU seconds, after which it counts as hung.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from evencut import EvenCut, KernelClustering, LandmarkClustering, __version__
from evencut.criteria import CRITERIA
from evencut.kernels import KERNELS
from evencut.solvers import SOLVERS

from .records import publish

MOST_SECONDS = 60
MANY = 100_000


def points(n: int, n_features: int) -> np.ndarray:
    """Five clusters of different density."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, n_features)) * 12 / np.sqrt(n_features)
    return centres[rng.integers(5, size=n)] + rng.normal(size=(n, n_features)) * rng.uniform(0.2, 1, size=(n, 1))


def integers(n: int) -> np.ndarray:
    """A table of few distinct rows."""
    return np.round(points(n, 4))


def settings() -> Iterator[tuple[str, Callable[[int], np.ndarray], Any, int]]:
    """Name, data, model and number of points of every setting."""
    for setting in at_full_size():
        yield *setting, MANY
    # Kernels of all pairs are refused at that size; these are the largest that are not.
    for n in (20_000, 25_000):
        for kernel in ("gaussian", "adaptive_gaussian", "local_scaling", "geodesic"):
            yield f"{kernel}, {n} points", lambda n: points(n, 2), KernelClustering(5, kernel=kernel), n
    exact = KernelClustering(5, kernel="gaussian", equalize="exact")
    yield "gaussian, equalize=exact, 20000 points", lambda n: points(n, 2), exact, 20_000


def at_full_size() -> Iterator[tuple[str, Callable[[int], np.ndarray], Any]]:
    """Name, data and model of every setting for many points."""

    def plane(n: int) -> np.ndarray:
        return points(n, 2)

    kernels = [name for name in KERNELS if name != "precomputed"]
    yield "default", plane, EvenCut(5)
    for kernel in kernels:
        for equalize in (None, "weights", "exact"):
            yield f"{kernel}, equalize={equalize}", plane, KernelClustering(5, kernel=kernel, equalize=equalize)
    for criterion in CRITERIA:
        yield f"knn, {criterion}", plane, KernelClustering(5, kernel="knn", criterion=criterion)
    for solver in SOLVERS:
        yield f"knn, {solver}", plane, KernelClustering(5, kernel="knn", solver=solver)
    for n_clusters in ("auto", 100, 1000):
        yield f"default, k={n_clusters}", plane, EvenCut(n_clusters)
    for n_features in (16, 256):
        wide = (lambda d: lambda n: points(n, d))(n_features)
        yield f"default, {n_features} columns", wide, EvenCut(5)
        yield f"knn, {n_features} columns", wide, KernelClustering(5, kernel="knn")
        yield f"landmarks, {n_features} columns", wide, LandmarkClustering(5)
    yield "default, integers", integers, EvenCut(5)
    yield "default, integers, k=auto", integers, EvenCut("auto")
    yield "knn, integers", integers, KernelClustering(5, kernel="knn")
    yield "landmarks, integers", integers, LandmarkClustering(5)
    yield "landmarks, auto", plane, LandmarkClustering("auto")
    yield "manhattan distances", plane, EvenCut(5, metric="manhattan")
    yield "cosine, 16 columns", lambda n: points(n, 16), EvenCut(5, metric="cosine")


def outcome(make: Callable[[int], np.ndarray], model: Any, n: int) -> str:
    """What becomes of the fit: its CPU seconds, the refusal, or that it hung."""
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        warnings.simplefilter("ignore")
        X = make(n)
        begun = time.process_time()
        try:
            model.set_params(random_state=0).fit(X)
            theirs.send(f"{time.process_time() - begun:.1f} s")
        except ValueError as refused:
            theirs.send(f"refused after {time.process_time() - begun:.1f} s: {str(refused).splitlines()[0]}")

    process = forked.Process(target=work)
    process.start()
    theirs.close()
    try:
        return str(ours.recv())
    except EOFError:
        process.join()
        return f"**no answer in {MOST_SECONDS} CPU s** (the process left with {process.exitcode})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args(arguments)
    # Loaded here once, so that no process counts it.
    for model in (EvenCut(2), KernelClustering(2, kernel="knn", equalize="exact"), LandmarkClustering(2)):
        model.fit(points(2000, 2))
    lines = []
    for name, make, model, n in settings():
        found = outcome(make, model, n)
        print(f"{name}: {found}", flush=True)
        lines.append(f"| {name} | {found} |")
    n_hung = sum("no answer" in line for line in lines)
    n_refused = sum("refused" in line for line in lines)
    n_answered = len(lines) - n_hung - n_refused
    head = [
        "# Every setting answers or is refused",
        "",
        f"`python -m benchmarks settings`, evencut {__version__}: {MANY:,} points where none are named, one thread,",
        f"at most {MOST_SECONDS} CPU seconds. Of {len(lines)} settings {n_answered} answered, {n_refused} were refused",
        f"with a reason, {n_hung} hung.",
        "",
        "| setting | answer |",
        "|---|---|",
    ]
    print(publish("settings", {"all": "\n".join([*head, *lines, ""])}))


if __name__ == "__main__":
    main()
