"""`python -m benchmarks.embeddings`: high dimension, measured beside peers in one run; writes EMBEDDINGS.md.

Every method runs in a process of its own, on one thread unless told: CPU seconds and the peak of memory are its own.
Sections are searches, vectors, documents, cells (needs scanpy and leidenalg) and million.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, recall_score

from .measure import peak_megabytes

_TARGET = Path(__file__).parent / "EMBEDDINGS.md"
SECTIONS = ("searches", "vectors", "documents", "cells", "million")


def vectors(n_rows, n_features=384, n_clusters=50, n_directions=12, seed=0):
    """Unit vectors shaped like sentence embeddings: clusters of unequal size on patches of few dimensions."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_clusters, n_rows, p=rng.dirichlet(np.full(n_clusters, 2.0)))
    centres = rng.normal(size=(n_clusters, n_features))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    patches = [np.linalg.qr(rng.normal(size=(n_features, n_directions)))[0].T for _ in range(n_clusters)]
    X = np.empty((n_rows, n_features), dtype=np.float32)
    for k in range(n_clusters):
        rows = np.flatnonzero(y == k)
        along = 0.45 * rng.uniform(-1, 1, size=(len(rows), n_directions)) @ patches[k]
        X[rows] = centres[k] + along + 0.01 * rng.normal(size=(len(rows), n_features))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def documents(n_rows=20_000, n_terms=50_000, n_topics=20, length=100, seed=0):
    """TF-IDF-like rows: common words by Zipf's law, and one term in three from a vocabulary of the topic."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_topics, n_rows, p=rng.dirichlet(np.full(n_topics, 3.0)))
    common = np.minimum(rng.zipf(1.3, size=(n_rows, length)) + 200, n_terms - 1)
    own = rng.integers(0, 600, size=(n_rows, length)) + 600 * y[:, None] + 1000
    terms = np.where(rng.random((n_rows, length)) < 1 / 3, own, common)
    rows = np.repeat(np.arange(n_rows), length)
    counts = sparse.csr_array((np.ones(rows.size), (rows, terms.ravel())), shape=(n_rows, n_terms))
    counts.sum_duplicates()
    weight = np.log((1 + n_rows) / (1 + np.bincount(counts.indices, minlength=n_terms))) + 1
    counts.data = np.log1p(counts.data) * weight[counts.indices]
    return counts, y


def _evencut(n_clusters, metric="cosine"):
    from evencut import KernelClustering

    return KernelClustering(n_clusters, metric=metric, random_state=0)


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
    "evencut KernelClustering": (_evencut, None),
    "evencut LandmarkClustering": (_landmarks, None),
    "scikit-learn KMeans": (_sklearn("KMeans", n_init=1), None),
    "scikit-learn MiniBatchKMeans": (_sklearn("MiniBatchKMeans", n_init=3), None),
    "scikit-learn Birch": (_sklearn("Birch", threshold=0.6), None),
    "scikit-learn HDBSCAN": (_sklearn("HDBSCAN", min_cluster_size=20, copy=True), 10_000),
    "scikit-learn SpectralClustering": (_sklearn("SpectralClustering", affinity="nearest_neighbors"), 10_000),
}


def _search(method, X, n_neighbors):
    """Neighbours of all points, by name of the search."""
    if method.startswith("evencut"):
        from evencut.affinity import kneighbors

        return kneighbors(X, n_neighbors, method="approximate" if "cells" in method else "exact")[1]
    if method == "scikit-learn brute force":
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(algorithm="brute").fit(X).kneighbors(X, n_neighbors)[1]
    import faiss

    if "flat" in method:
        index = faiss.IndexFlatL2(X.shape[1])
    else:
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], 256)
        index.train(X)
        index.nprobe = 16 if "16" in method else 8
    index.add(X)
    return index.search(X, n_neighbors)[1]


SEARCHES = (
    "evencut, all pairs",
    "evencut, cells",
    "scikit-learn brute force",
    "faiss flat",
    "faiss IVF, 256 cells, 8 searched",
    "faiss IVF, 256 cells, 16 searched",
)


def run_child(task):
    """Do one task and print what it took."""
    warnings.simplefilter("ignore")
    kind, method, n_rows = task["kind"], task["method"], task["n_rows"]
    if kind == "documents":
        X, y = documents(n_rows)
    elif kind == "million":
        X = np.load(task["file"], mmap_mode="r")
        y = np.load(task["file"] + ".labels.npy")
    else:
        X, y = vectors(n_rows)
    answer = {}
    if kind == "searches":
        _search(method, X[:2000], 5)
        cpu = time.process_time()
        near = _search(method, X, 26)
        answer["cpu"] = time.process_time() - cpu
        from evencut.affinity import neighbor_recall

        answer["recall"] = neighbor_recall(X, near)
    else:
        make = METHODS[method][0]
        # What is compiled and loaded is not counted.
        make(5).fit(
            X[:2000].toarray()[:, :300]
            if kind == "documents" and task["dense"]
            else np.array(X[:2000])
            if not sparse.issparse(X)
            else X[:2000]
        )
        given = X.toarray() if kind == "documents" and task["dense"] else X
        cpu, wall = time.process_time(), time.perf_counter()
        labels = make(len(np.unique(y))).fit(given).labels_
        answer["cpu"], answer["wall"] = time.process_time() - cpu, time.perf_counter() - wall
        answer["ari"] = adjusted_rand_score(y, labels)
    answer["peak"] = peak_megabytes()
    print(json.dumps(answer))


def measure(kind, method, n_rows, n_threads=1, **more):
    """One task in a process of its own; None where it failed."""
    task = {"kind": kind, "method": method, "n_rows": n_rows, "dense": False, **more}
    threads = {f"{name}_NUM_THREADS": str(n_threads) for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    command = [sys.executable, "-m", "benchmarks.embeddings", "--child", json.dumps(task)]
    done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{method} on {n_rows}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"{kind}, {method}, {n_rows} rows: {answer}", file=sys.stderr, flush=True)
    return answer


def search_table(n_rows):
    """CPU seconds and recall of searches for 26 neighbours."""
    lines = [
        f"## Neighbours of {n_rows} x 384, 26 each, one thread",
        "",
        "| search | CPU s | recall |",
        "|---|---|---|",
    ]
    for method in SEARCHES:
        if method.startswith("faiss") and not find_spec("faiss"):
            continue
        if found := measure("searches", method, n_rows):
            lines.append(f"| {method} | {found['cpu']:.1f} | {found['recall']:.3f} |")
    return lines


def vector_table(sizes):
    """CPU seconds, memory and agreement with the truth on unit vectors."""
    lines = []
    for n_rows in sizes:
        lines += [f"## {n_rows} x 384 unit vectors, 50 clusters, one thread", ""]
        lines += ["| method | rows | CPU s | peak MB | ARI |", "|---|---|---|---|---|"]
        for method, (_, most) in METHODS.items():
            rows = n_rows if most is None else min(n_rows, most)
            if found := measure("vectors", method, rows):
                lines.append(f"| {method} | {rows} | {found['cpu']:.1f} | {found['peak']:.0f} | {found['ari']:.3f} |")
        lines.append("")
    return lines


def document_table(n_rows):
    """Sparse rows as they are; beside them the same rows as an array, on a part."""
    lines = [f"## {n_rows} x 50 000 sparse rows (0.2 % filled), 20 topics, cosine, one thread", ""]
    lines += ["| method | rows | CPU s | peak MB | ARI |", "|---|---|---|---|---|"]
    part = min(1000, n_rows)
    for rows, dense in ((n_rows, False), (part, False), (part, True)):
        if found := measure("documents", "evencut KernelClustering", rows, dense=dense):
            name = "evencut KernelClustering" + (", as a dense array" if dense else "")
            lines.append(f"| {name} | {rows} | {found['cpu']:.1f} | {found['peak']:.0f} | {found['ari']:.3f} |")
    if found := measure("documents", "evencut LandmarkClustering", n_rows):
        lines.append(
            f"| evencut LandmarkClustering | {n_rows} | {found['cpu']:.1f} | {found['peak']:.0f} | {found['ari']:.3f} |"
        )
    return lines


def cell_table():
    """Cells of blood, as they come with scanpy: agreement with their types, and who finds the rare ones."""
    import scanpy
    from sklearn.cluster import KMeans

    from evencut.anndata import cluster

    warnings.simplefilter("ignore")
    adata = scanpy.datasets.pbmc68k_reduced()
    types = adata.obs["bulk_labels"].astype(str)
    n_types = types.nunique()
    found = {}
    scanpy.tl.leiden(adata, random_state=0)
    found["Leiden, default resolution"] = adata.obs["leiden"].astype(str)
    means = KMeans(n_types, n_init=10, random_state=0).fit_predict(adata.obsm["X_pca"])
    found[f"k-means, {n_types} clusters"] = [str(k) for k in means]
    for n_clusters, name in ((n_types, f"evencut, {n_types} clusters"), ("auto", "evencut, auto")):
        cluster(adata, n_clusters)
        found[name] = adata.obs["evencut"].astype(str)
    rare = [name for name, share in types.value_counts(normalize=True).items() if share < 0.05]
    lines = [f"## Single cells: pbmc68k_reduced, {len(types)} cells, {n_types} types", ""]
    lines += [
        "Recall of a type: the share of its cells in the cluster that holds most of them, if that cluster is mostly of "
        "this type; else nothing.",
        "",
        f"| method | clusters | ARI | {' | '.join(rare)} |",
        "|---|---|---|" + "---|" * len(rare),
    ]
    for name, labels in found.items():
        labels = np.asarray(labels)
        recalls = [f"{_recall(np.asarray(types), labels, kind):.2f}" for kind in rare]
        score = adjusted_rand_score(types, labels)
        lines.append(f"| {name} | {len(np.unique(labels))} | {score:.3f} | {' | '.join(recalls)} |")
    return lines


def _recall(types, labels, kind):
    names, counts = np.unique(labels[types == kind], return_counts=True)
    inside = labels == names[counts.argmax()]
    mostly = np.unique(types[inside], return_counts=True)
    if mostly[0][mostly[1].argmax()] != kind:
        return 0.0
    return recall_score(types == kind, inside)


def million_table(n_rows):
    """Landmarks on a memory map; the map itself counts where its pages are in memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "vectors.npy")
        X = np.lib.format.open_memmap(file, "w+", np.float32, (n_rows, 384))
        y = np.empty(n_rows, dtype=np.int64)
        for first in range(0, n_rows, 100_000):
            part = slice(first, first + 100_000)
            X[part], y[part] = vectors(len(X[part]))
        np.save(file + ".labels.npy", y)
        del X
        found = measure("million", "evencut LandmarkClustering", n_rows, n_threads=2, file=file)
    if not found:
        return []
    return [
        f"## {n_rows} x 384, memory-mapped, landmarks on two threads",
        "",
        f"{found['wall']:.0f} s ({found['cpu']:.0f} CPU s), peak {found['peak']:.0f} MB with the pages of the map "
        f"({n_rows * 384 * 4 / 2**20:.0f} MB), ARI {found['ari']:.3f}.",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=SECTIONS)
    parser.add_argument("--rows", type=int, nargs="*", default=[20_000, 50_000])
    parser.add_argument("--search-rows", type=int, default=50_000)
    parser.add_argument("--document-rows", type=int, default=20_000)
    parser.add_argument("--million-rows", type=int, default=1_000_000)
    parser.add_argument("--output", default=str(_TARGET))
    asked = parser.parse_args()
    if asked.child:
        run_child(json.loads(asked.child))
        return
    makers = {
        "searches": lambda: search_table(asked.search_rows),
        "vectors": lambda: vector_table(asked.rows),
        "documents": lambda: document_table(asked.document_rows),
        "cells": cell_table,
        "million": lambda: million_table(asked.million_rows),
    }
    lines = [
        "# High dimension",
        "",
        "Written by `python -m benchmarks.embeddings`. CPU seconds, everything measured in "
        "one run; what is compiled and loaded is not counted.",
        "",
    ]
    packages = [name for name in ("scikit-learn", "numpy", "faiss-cpu", "scanpy", "leidenalg") if _installed(name)]
    lines += ["Versions: " + ", ".join(f"{name} {version(name)}" for name in packages) + ".", ""]
    for section in asked.only:
        if section == "cells" and not (find_spec("scanpy") and find_spec("leidenalg")):
            print("cells: scanpy and leidenalg are not installed", file=sys.stderr)
            continue
        lines += [*makers[section](), ""]
    Path(asked.output).write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _installed(name):
    try:
        return bool(version(name))
    except ImportError:
        return False


if __name__ == "__main__":
    main()
