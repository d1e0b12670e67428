"""One method on one set of data in high dimension, in a process of its own: CPU and wall seconds, memory, agreement.

Called as `python -m benchmarks.embedding_tasks TASK`, with the task as JSON; prints the answer as JSON. A small call
first loads and compiles what the method needs; it is not counted.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from .embedding_data import documents, vectors
from .measure import peak_megabytes

__all__ = ["METHODS", "SEARCHES"]

_N_NEIGHBORS = 26


def _evencut(n_clusters):
    from evencut import EvenCut

    return EvenCut(n_clusters, metric="cosine", random_state=0)


def _landmarks(n_clusters):
    from evencut import LandmarkClustering

    return LandmarkClustering(n_clusters, metric="cosine", random_state=0, n_jobs=int(os.environ["OMP_NUM_THREADS"]))


def _sklearn(name, **options):
    def make(n_clusters):
        import sklearn.cluster

        sized = {} if name == "HDBSCAN" else {"n_clusters": n_clusters}
        seeded = {} if name in ("HDBSCAN", "Birch") else {"random_state": 0}
        return getattr(sklearn.cluster, name)(**sized, **seeded, **options)

    return make


#: Methods by name: how to make them, and the most rows they are asked for.
METHODS = {
    "evencut EvenCut": (_evencut, None),
    "evencut LandmarkClustering": (_landmarks, None),
    "scikit-learn KMeans": (_sklearn("KMeans", n_init=1), None),
    "scikit-learn MiniBatchKMeans": (_sklearn("MiniBatchKMeans", n_init=3), None),
    "scikit-learn Birch, threshold 0.6": (_sklearn("Birch", threshold=0.6), None),
    "scikit-learn HDBSCAN, 20 points": (_sklearn("HDBSCAN", min_cluster_size=20, copy=True), 10_000),
    "scikit-learn SpectralClustering": (_sklearn("SpectralClustering", affinity="nearest_neighbors"), 10_000),
}


def _evencut_search(method):
    def search(X):
        from evencut.neighbors import kneighbors

        return kneighbors(X, _N_NEIGHBORS, method=method)[1]

    return search


def _brute_force(X):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(algorithm="brute").fit(X).kneighbors(X, _N_NEIGHBORS)[1]


def _faiss(n_probed=None):
    def search(X):
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexFlatL2(X.shape[1])
        if n_probed is not None:
            index = faiss.IndexIVFFlat(index, X.shape[1], 256)
            index.train(X)
            index.nprobe = n_probed
        index.add(X)
        return index.search(X, _N_NEIGHBORS)[1]

    return search


#: Searches by name.
SEARCHES = {
    "evencut, all pairs": _evencut_search("exact"),
    "evencut, cells": _evencut_search("approximate"),
    "scikit-learn brute force": _brute_force,
    "faiss flat": _faiss(),
    "faiss IVF, 256 cells, 8 searched": _faiss(8),
    "faiss IVF, 256 cells, 16 searched": _faiss(16),
}


class OwnMemory(threading.Thread):
    """Watches how much memory is the process's own: pages of a memory map, which the system may take back, are not."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self._done = 0.0, threading.Event()

    def run(self):
        while not self._done.wait(0.02):
            status = Path("/proc/self/status").read_text()
            self.peak = max(self.peak, int(status.split("RssAnon:")[1].split()[0]) / 1024)

    def stop(self):
        self._done.set()
        self.join()
        return self.peak


def main(task):
    warnings.simplefilter("ignore")
    if task["cpu_limit"]:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (task["cpu_limit"], task["cpu_limit"]))
    kind, n_rows = task["kind"], task["n_rows"]
    if kind == "searches":
        return _measure_search(SEARCHES[task["method"]], vectors(n_rows)[0])
    if kind == "documents":
        X, y = documents(n_rows)
        X = X.toarray() if task["dense"] else X
    elif kind == "million":
        X, y = np.load(task["file"], mmap_mode="r"), np.load(task["file"] + ".labels.npy")
    else:
        X, y = vectors(n_rows)
    make = METHODS[task["method"]][0]
    make(5).fit(np.array(X[:2000, :300]) if isinstance(X, np.ndarray) else X[:2000])
    watch = OwnMemory() if kind == "million" else None
    if watch:
        watch.start()
    cpu, wall = time.process_time(), time.perf_counter()
    labels = make(len(np.unique(y))).fit(X).labels_
    answer = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    if watch:
        answer["own"] = watch.stop()
    return {**answer, "ari": adjusted_rand_score(y, labels), "peak": peak_megabytes()}


def _measure_search(search, X):
    from evencut.neighbors import neighbor_recall

    search(X[:2000])
    cpu = time.process_time()
    near = search(X)
    return {"cpu": time.process_time() - cpu, "recall": neighbor_recall(X, near)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
