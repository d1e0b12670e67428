"""`python -m benchmarks embeddings`: high dimension, measured beside peers in one run; writes EMBEDDINGS.md.

`--part` measures some parts and leaves the others as they are, each under the stamp of its own measurement. Every
method runs in a process of its own, on one thread unless stated: CPU seconds and the peak of memory are its own. The
part cells needs scanpy and leidenalg; searches include faiss where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from .embedding_data import write_vectors
from .embedding_tasks import METHODS, SEARCHES
from .embeddings_page import about_page, section
from .records import publish

# CPU seconds after which a method is given up; said in the table.
_CPU_LIMIT = 60
_PACKAGES = ("numpy", "scikit-learn", "faiss-cpu", "scanpy", "leidenalg")


def measure(kind, method, n_rows, n_threads=1, **more):
    """One task in a process of its own."""
    task = {"kind": kind, "method": method, "n_rows": n_rows, "dense": False, "cpu_limit": _CPU_LIMIT, **more}
    settings = {f"{name}_NUM_THREADS": str(n_threads) for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    settings |= _known_processor()
    command = [sys.executable, "-m", "benchmarks.embedding_tasks", json.dumps(task)]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    row = {"method": method, "n_rows": n_rows, "dense": task["dense"]}
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        row["gave_up"] = _CPU_LIMIT
    elif done.returncode:
        raise SystemExit(f"{method} on {n_rows} rows failed:\n{done.stderr}")
    else:
        row |= json.loads(done.stdout.splitlines()[-1])
    print(f"{kind}: {row}", file=sys.stderr, flush=True)
    return row


def _known_processor():
    """The OpenBLAS that comes with faiss knows no processor newer than itself, and takes one of 2004 for it."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    return {"OPENBLAS_CORETYPE": "SkylakeX" if "avx512" in flags else "Haswell" if "avx2" in flags else ""}


def searches(n_rows):
    there = [name for name in SEARCHES if not name.startswith("faiss") or find_spec("faiss")]
    return [measure("searches", name, n_rows) for name in there]


def clusterings(n_rows):
    there = [name for name, (_, most) in METHODS.items() if most is None or n_rows <= most]
    return [measure("vectors", name, n_rows) for name in there]


def sparse_rows(n_rows=20_000, n_dense=1000):
    return [
        measure("documents", "evencut EvenCut", n_rows),
        measure("documents", "evencut LandmarkClustering", n_rows),
        measure("documents", "scikit-learn KMeans", n_rows),
        measure("documents", "scikit-learn MiniBatchKMeans", n_rows),
        measure("documents", "evencut EvenCut", n_dense),
        measure("documents", "evencut EvenCut", n_dense, dense=True),
    ]


def cells():
    from .embedding_cells import measure_cells

    return measure_cells()


def million(n_rows=1_000_000):
    """Landmarks on a memory map, in a folder that is deleted afterwards."""
    needed = 2 * n_rows * 384 * 4
    if shutil.disk_usage(tempfile.gettempdir()).free < needed:
        raise SystemExit(f"the part million needs {needed / 2**30:.0f} GB free in {tempfile.gettempdir()}")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "vectors.npy")
        write_vectors(file, n_rows)
        return [measure("million", "evencut LandmarkClustering", n_rows, n_threads=2, file=file, cpu_limit=0)]


PARTS = {
    "searches": lambda: searches(50_000),
    "searches of 20 000": lambda: searches(20_000),
    "ten": lambda: clusterings(10_000),
    "twenty": lambda: clusterings(20_000),
    "fifty": lambda: clusterings(50_000),
    "documents": sparse_rows,
    "cells": cells,
    "million": million,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, nargs="+", help="measure these parts only")
    asked = parser.parse_args(arguments)
    for part in asked.part or PARTS:
        if part == "cells" and not (find_spec("scanpy") and find_spec("leidenalg")):
            print("cells: scanpy and leidenalg are not installed", file=sys.stderr)
            continue
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
        about = about_page({name: _version(name) for name in _PACKAGES})
        # What was measured is kept if a later part is interrupted.
        publish("embeddings", {"about": about, part: section(part, PARTS[part](), load)})


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


if __name__ == "__main__":
    main()
