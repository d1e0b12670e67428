"""Whole fits on a GPU, timed: what a fit costs step by step, where all pairs start, and the same work on the CPU."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from evencut import KernelClustering
from evencut.affinity import NeighborSearch, PreparedPoints
from evencut.estimators.device_fits import condensed
from evencut.estimators.device_points import prepare_on_device
from evencut.gpu.all_pairs import adaptive_sums
from evencut.gpu.lloyd import improve_by_lloyd
from evencut.gpu.nearest import nearest_to_points
from evencut.gpu.problem import pose
from evencut.gpu.starts import sample_start, spectral_start
from evencut.gpu.tensors import count_copies, to_array
from evencut.kernels import KNN


def ari(truth, labels):
    """Agreement of tensors or arrays of labels."""
    return float(adjusted_rand_score(*(np.asarray(x.cpu()) if torch.is_tensor(x) else x for x in (truth, labels))))


def time_fit(bench, name, model, X, truth, repeats=1):
    """Fit, with what crossed the border to the CPU, and note the median of the times."""
    found = []
    for _ in range(repeats):
        with count_copies() as crossed:
            fitted, seconds = bench.once(lambda: model.fit(X))
        found.append(seconds)
    bench.note(
        f"fit: {name}", seconds=float(np.median(found)), ari=ari(truth, fitted.labels_),
        energy=float(fitted.energy_), on_device=str(fitted.labels_.device), largest_copy_mb=max(crossed) / 1e6,
        copies_mb=sum(crossed) / 1e6,
    )  # fmt: skip
    return fitted


def default_steps(bench, model, X):
    """Seconds of each step of the default fit, as the estimator takes them."""
    weights = torch.ones(len(X), dtype=torch.float64, device=X.device)
    prepared, merging_s = bench.once(lambda: prepare_on_device(X, weights, scale=model._scale_with(None)))
    few, condensing_s = bench.once(lambda: condensed(prepared, model._most_points()))
    parts = (few.points, few.weights, few.of_row, few.first_row, few.feature_scale)
    host, copying_s = bench.once(lambda: PreparedPoints(*(to_array(part) for part in parts)))
    solution, clustering_s = bench.once(lambda: model._fit_prepared(host, None, None))
    _, labelling_s = bench.once(lambda: model._label_rows(to_array(X[few.of_row < 0]), host, solution, None))
    bench.note(
        "default: steps", merging_s=merging_s, condensing_s=condensing_s, copying_s=copying_s,
        clustering_on_cpu_s=clustering_s, labelling_on_cpu_s=labelling_s,
    )  # fmt: skip


def starts_of_all_pairs(bench, X, n_clusters=20):
    """Energy and seconds from the spectrum of a sample and from that of all points, for clusters and for noise."""
    tables = {"clusters, 8 features": X, "noise, 2 features": bench.noise(len(X), 2)}
    for table, points in tables.items():
        problem = pose(adaptive_sums(points), "normalized_cut")
        for start in (sample_start, spectral_start):
            (energy, n_steps), seconds = bench.once(
                lambda start=start, problem=problem: _end_of(problem, start, n_clusters)
            )
            bench.note(f"start: {start.__name__}, {table}", n=len(X), seconds=seconds, energy=energy, n_steps=n_steps)


def _end_of(problem, start, n_clusters):
    """Energy after Lloyd steps from a start, and their number."""
    labels = start(problem, n_clusters, 4, torch.Generator().manual_seed(0))
    if labels is None:
        return float("nan"), 0
    found = improve_by_lloyd(problem, labels, n_clusters)
    return found.trace[-1], len(found.trace)


def against_cpu_exact(bench, X, truth):
    """Exact neighbours, and a fit to their graph, on the device and on all cores: the same work on both."""
    array = X.cpu().numpy()
    nearest_to_points(X, 16)
    _, device_s = bench.once(lambda: nearest_to_points(X, 16))
    _, cpu_s = bench.once(lambda: NeighborSearch(array, n_jobs=-1, method="exact").query_self(16))
    bench.note("exact neighbours: against the CPU", n=len(X), device_s=device_s, cpu_s=cpu_s,
               times_faster=cpu_s / device_s)  # fmt: skip
    how = {"n_clusters": 20, "kernel": KNN(16, neighbors="exact"), "random_state": 0, "n_jobs": -1}
    KernelClustering(**how).fit(X)
    _, device_s = bench.once(lambda: KernelClustering(**how).fit(X))
    on_cpu, cpu_s = bench.once(lambda: KernelClustering(**how).fit(array))
    bench.note(
        "exact neighbours, fit: against the CPU", n=len(X), device_s=device_s, cpu_s=cpu_s,
        times_faster=cpu_s / device_s, cpu_ari=ari(truth[: len(X)], on_cpu.labels_),
    )  # fmt: skip
