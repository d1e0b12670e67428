"""Landmarks against the exact graph and what people would try first, and their cost for files bigger than memory.

`python -m benchmarks landmarks` measures everything and writes LANDMARKS.md beside this file; `--part` measures one
part and leaves the others as they are, each under the stamp of its own measurement.
Every fit has a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.large_data import moons, write_blobs, write_with_sparse_clusters
from benchmarks.measure import peak_megabytes
from evencut import __version__

from .records import publish

PARTS = ("table", "memory", "fifty", "sparse")
_METHODS = (
    *("landmarks, auto", "landmarks, 3000", "landmarks, 1000"),
    *("exact graph", "MiniBatchKMeans", "dask-ml SpectralClustering"),
)


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--part", choices=PARTS, action="append", help="measure this part only (may be repeated)")
    options.add_argument("--rows", type=float, default=1.0, help="share of the rows, to try it out")
    options.add_argument("--fit", help=argparse.SUPPRESS)
    asked = options.parse_args(arguments)
    if asked.fit:
        print(json.dumps(_fit(json.loads(asked.fit))))
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in asked.part or PARTS:
            text = "\n".join(_PAGES[part](globals()[f"measure_{part}"](Path(folder), asked.rows)))
            # What was measured is kept if a later part is interrupted.
            print(publish("landmarks", {"about": _ABOUT, part: text}) if asked.rows == 1 else text, flush=True)


def measure_table(folder, share):
    """All methods on one set of curved clusters of varied density, in one run."""
    X, y = moons(int(1_000_000 * share))
    np.save(folder / "X.npy", X)
    rows = []
    for method in _METHODS:
        if method.startswith("dask-ml") and not _installed("dask-ml"):
            print(f"{method}: not installed", file=sys.stderr)
            continue
        rows.append(_measure(method=method, data=folder / "X.npy", n_clusters=12, truth=y))
    (folder / "X.npy").unlink()
    peers = [name for name in ("scikit-learn", "dask-ml") if _installed(name)]
    versions = {"evencut": __version__, **{name: version(name) for name in peers}}
    return {"n_rows": len(X), "rows": rows, "versions": versions}


def _installed(package):
    return find_spec({"scikit-learn": "sklearn"}.get(package, package.replace("-", "_"))) is not None


def measure_memory(folder, share):
    """Ten million rows of 8 float32 against one million: time and peak memory."""
    rows = []
    for n_rows in (int(1_000_000 * share), int(10_000_000 * share)):
        y = write_blobs(folder / "X.npy", n_rows, 8)
        rows.append(_measure(method="landmarks, auto", data=folder / "X.npy", n_clusters=20, truth=y, n_jobs=2))
        (folder / "X.npy").unlink()
    return {"rows": rows}


def measure_fifty(folder, share):
    """Fifty million rows of 4 float32 on two cores."""
    y = write_blobs(folder / "X.npy", int(50_000_000 * share), 4)
    row = _measure(method="landmarks, auto", data=folder / "X.npy", n_clusters=20, truth=y, n_jobs=2)
    (folder / "X.npy").unlink()
    return {"rows": [row]}


def measure_sparse(folder, share):
    """Clusters of one row in a thousand, with landmarks evened out and with landmarks drawn like the data."""
    y = write_with_sparse_clusters(folder / "X.npy", int(10_000_000 * share))
    rows = []
    for density in ("constant", "identity"):
        options = {"landmark_density": density, "n_jobs": 2}
        labels = folder / "labels.npy"
        row = _measure("landmarks, auto", folder / "X.npy", 11, y, keep=labels, **options)
        found = np.load(labels)
        scores = []
        for k in (8, 9, 10):
            best = np.bincount(found[y == k]).argmax()
            scores.append(adjusted_rand_score(y == k, found == best))
        rows.append({**row, "density": density, "each": scores})
    (folder / "X.npy").unlink()
    return {"rows": rows}


def _measure(method, data, n_clusters, truth, keep=None, **options):
    """One fit in a process of its own; the score is taken here, outside its memory and time."""
    labels = keep or data.with_name("labels.npy")
    task = {"method": method, "data": str(data), "n_clusters": n_clusters, "labels": str(labels), **options}
    command = [sys.executable, "-m", "benchmarks.landmarks", "--fit", json.dumps(task)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    row = json.loads(done.stdout.splitlines()[-1])
    row = {"method": method, "n_rows": len(truth), **row, "ari": adjusted_rand_score(truth, np.load(labels))}
    print(row, file=sys.stderr, flush=True)
    return row


def _fit(task):
    X = np.load(task["data"], mmap_mode="r")
    # The first fit in a process loads and compiles; that is not what is measured.
    _run({**task, "method": "landmarks, 100"}, np.array(X[:2000]))
    before = _clocks()
    labels = _run(task, X)
    after = _clocks()
    np.save(task["labels"], labels)
    return {"cpu_s": after[0] - before[0], "wall_s": after[1] - before[1], "peak_mb": peak_megabytes()}


def _clocks():
    return time.process_time(), time.perf_counter()


def _run(task, X):
    k = task["n_clusters"]
    if task["method"].startswith("landmarks"):
        from evencut import LandmarkClustering

        options = {name: task[name] for name in ("landmark_density", "n_jobs") if name in task}
        asked = task["method"].split()[-1]
        n_landmarks = asked if asked == "auto" else int(asked)
        return LandmarkClustering(k, n_landmarks=n_landmarks, random_state=0, **options).fit(X).labels_
    if task["method"] == "exact graph":
        from evencut import KernelClustering
        from evencut.kernels import KNN

        return KernelClustering(k, kernel=KNN(15), random_state=0).fit(X).labels_
    if task["method"] == "MiniBatchKMeans":
        from sklearn.cluster import MiniBatchKMeans

        return MiniBatchKMeans(k, random_state=0, n_init=3).fit(X).labels_
    import dask
    import dask.array as da
    from dask_ml.cluster import SpectralClustering

    with dask.config.set(scheduler="threads", num_workers=2):
        model = SpectralClustering(k, random_state=0).fit(da.from_array(np.array(X), chunks=(100_000, -1)))
        return np.asarray(model.labels_)


_ABOUT = """# Landmarks: measured

CPU seconds of all threads. `python -m benchmarks landmarks` measures again.
"""


def _table_page(table):
    ours = table["rows"][0]
    versions = ", ".join(f"{name} {number}" for name, number in table["versions"].items())
    text = [
        f"## One table: {table['n_rows']:,} points of 12 curved clusters of varied density ({versions})",
        "",
        "| method | ARI | CPU s | times ours | peak MB |",
        "|---|---|---|---|---|",
    ]
    for row in table["rows"]:
        ratio = row["cpu_s"] / ours["cpu_s"]
        text.append(f"| {row['method']} | {row['ari']:.3f} | {row['cpu_s']:.1f} | {ratio:.1f} | {row['peak_mb']:.0f} |")
    note = "The exact graph has 15 neighbours for each point and is held in memory; dask-ml runs with its own defaults."
    absent = note.split(";")[0] + ". dask-ml was not installed."
    return [*text, "", note if "dask-ml" in table["versions"] else absent, ""]


def _memory_page(memory):
    one, ten = memory["rows"]
    return [
        "## A file larger than the memory used: 8 columns of float32, 20 clusters",
        "",
        *_lines((one, ten)),
        "",
        f"Ten times the rows take {ten['cpu_s'] / one['cpu_s']:.1f} times the CPU time "
        f"({ten['wall_s'] / one['wall_s']:.1f} times the wall time, which other work on the machine increases). Peak "
        "memory counts the pages of the file that the system keeps mapped.",
        "",
    ]


def _fifty_page(fifty):
    return ["## Fifty million rows of 4 float32, 20 clusters, two threads", "", *_lines(fifty["rows"]), ""]


def _sparse_page(sparse):
    text = [
        f"## Three clusters of 0.1 % each among {sparse['rows'][0]['n_rows']:,} points",
        "",
        "| landmarks | ARI of each sparse cluster | ARI of all | CPU s |",
        "|---|---|---|---|",
    ]
    words = {"constant": "evened out by the density law", "identity": "drawn like the data"}
    for row in sparse["rows"]:
        each = ", ".join(f"{score:.2f}" for score in row["each"])
        text.append(f"| {words[row['density']]} | {each} | {row['ari']:.3f} | {row['cpu_s']:.1f} |")
    return [*text, ""]


def _lines(rows):
    head = ["| rows | ARI | CPU s | wall s | peak MB |", "|---|---|---|---|---|"]
    return head + [
        f"| {row['n_rows']:,} | {row['ari']:.3f} | {row['cpu_s']:.1f} | {row['wall_s']:.1f} | {row['peak_mb']:.0f} |"
        for row in rows
    ]


_PAGES = {"table": _table_page, "memory": _memory_page, "fifty": _fifty_page, "sparse": _sparse_page}


if __name__ == "__main__":
    main()
