"""CPU seconds of work that compiled loops do, beside another version of evencut, and whether the answers are the same.

    python -m benchmarks.loop_work OTHER_PYTHON NAME

`OTHER_PYTHON` is the Python of an environment with the other version, which the page calls `NAME`. Each works in a
process of its own with one thread; the first time is not counted, since it loads (or compiles) what is used. A section
of `FIRST_ANSWER.md`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

TIMES = 5


def worms(n: int, k: int, seed: int) -> np.ndarray:
    """Points along `k` arcs in the plane."""
    rng = np.random.default_rng(seed)
    arc, along = rng.integers(0, k, n), rng.uniform(0, 1, n)
    start, middle = rng.uniform(0, 2 * np.pi, k)[arc], rng.uniform(-20, 20, (k, 2))[arc]
    bend = np.column_stack([np.cos(start + 2 * along), np.sin(start + 2 * along)])
    return middle + 3 * bend + rng.normal(scale=0.15, size=(n, 2))


def work() -> dict[str, Callable[[], Any]]:
    """What is measured: a name, and a function that returns whole numbers."""
    from sklearn.neighbors import kneighbors_graph

    from evencut import EvenCut, KernelClustering, LandmarkClustering
    from evencut.neighbors import NeighborSearch
    from evencut.segmentation import segment

    few, many, some = worms(1500, 8, 1), worms(1_000_000, 20, 0), worms(100_000, 20, 2)
    graph = kneighbors_graph(some, 10)
    graph = sparse.csr_array(graph.maximum(graph.T))
    wide = np.random.default_rng(0).normal(size=(8000, 40))
    photo = np.random.default_rng(0).normal(scale=0.05, size=(480, 640, 3))
    photo[100:300, 150:400] += (0.6, 0.2, 0.1)
    clicks = [(250, 200, "object"), (50, 50, "background")]
    return {
        "1 500 points, default": lambda: EvenCut(8, random_state=0).fit(few).labels_,
        "1 000 000 points, default": lambda: EvenCut(20, random_state=0).fit(many).labels_,
        "a graph of 100 000 points": lambda: (
            KernelClustering(20, kernel="precomputed", random_state=0).fit(graph).labels_
        ),
        "15 neighbours of 8 000 points, 40 columns": lambda: NeighborSearch(wide).query(wide, 15)[1],
        "200 000 points by landmarks": lambda: LandmarkClustering(20, random_state=0).fit(many[:200_000]).labels_,
        "two clicks on 640 × 480 pixels": lambda: segment(photo, clicks=clicks).mask,
    }


def measure() -> None:
    """Print, as JSON, the median seconds of each work and a digest of its answer."""
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    measured = {}
    with threadpool_limits(1):
        for name, function in work().items():
            answer, taken = function(), []
            for _ in range(TIMES):
                start = time.process_time()
                answer = function()
                taken.append(time.process_time() - start)
            digest = hashlib.sha256(np.ascontiguousarray(answer, dtype=np.int64).tobytes()).hexdigest()
            measured[name] = (float(np.median(taken)), digest)
    print(json.dumps(measured))


def main(arguments: list[str]) -> None:
    """Measure both and keep the section."""
    from .records import publish

    other, name_of_other = arguments
    runs = ([python, "-P", __file__] for python in (other, sys.executable))
    before, now = (json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout) for run in runs)
    same = {name: "yes" if before[name][1] == now[name][1] else "no" for name in now}
    rows = [f"| {name} | {before[name][0]:.3f} | {now[name][0]:.3f} | {same[name]} |" for name in now]
    text = (
        f"## The loops, before and after\n\nCPU seconds with one thread, medians of {TIMES} after a first time that is "
        "not counted.\n\n"
        f"| | {name_of_other} | now | same answer |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    print(publish("first_answer", {"loops": text}))


if __name__ == "__main__":
    # Run by path, it measures the evencut of the Python that runs it.
    main(sys.argv[1:]) if sys.argv[1:] else measure()
