"""Whole fits on a GPU, timed: what a fit costs step by step, where all pairs start, and the same work on the CPU."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from evencut import KernelClustering
from evencut.criteria import pose
from evencut.estimators.clustering import FitInput
from evencut.gpu.nearest import nearest_to_points
from evencut.kernels import KNN, AdaptiveGaussian
from evencut.neighbors import NeighborSearch
from evencut.points import condense, distinct_points, feature_scale, prepare_points
from evencut.solvers.descent import lloyd_descent
from evencut.solvers.solve import Effort, _solve_by_cuts, sample_problem, spread_labels
from evencut.solvers.spectral import spectral_start
from evencut.tensors import count_copies


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
        energy=float(getattr(fitted, "energy_", "nan")), on_device=str(fitted.labels_.device),
        largest_copy_mb=max(crossed) / 1e6,
        copies_mb=sum(crossed) / 1e6,
    )  # fmt: skip
    return fitted


def default_steps(bench, model, X):
    """Seconds of each step of the default fit, as the estimator takes them."""
    _, scaling_s = bench.once(lambda: feature_scale(X, "auto"))
    table, merging_s = bench.once(lambda: distinct_points(X))
    _, condensing_s = bench.once(lambda: condense(table, model._max_points()))
    host = prepare_points(X, max_points=model._max_points()).in_memory
    inputs = FitInput(host.points[:0], host.weights)
    result, clustering_s = bench.once(lambda: model._cluster(host, inputs))
    _, labelling_s = bench.once(lambda: model._record(inputs, result))
    bench.note(
        "default: steps", scaling_s=scaling_s, merging_s=merging_s, condensing_s=condensing_s,
        clustering_on_cpu_s=clustering_s, labelling_on_cpu_s=labelling_s,
    )  # fmt: skip


def time_predict(bench, name, fitted, X, fit_s):
    """Seconds to label all rows again by a fitted default model, beside those of its fit."""
    fitted.predict(X[: len(X) // 50])
    labels, seconds = bench.once(lambda: fitted.predict(X))
    agreement = float((labels == fitted.labels_).double().mean())
    bench.note(f"predict: {name}", seconds=seconds, fit_s=fit_s, of_the_fit=seconds / fit_s, agreement=agreement)


def starts_of_all_pairs(bench, X, n_clusters=20):
    """Energy and seconds from the spectrum of a sample and from that of all points, for clusters and for noise."""
    tables = {"clusters, 8 features": X, "noise, 2 features": bench.noise(len(X), 2)}
    for table, points in tables.items():
        problem = pose(AdaptiveGaussian().affinity(points), np.ones(len(points)), "normalized_cut").problem
        for name, start in {"sample_start": _sample_start, "spectral_start": _spectral_start}.items():
            (energy, n_steps), seconds = bench.once(
                lambda start=start, problem=problem: _end_of(problem, start, n_clusters)
            )
            bench.note(f"start: {name}, {table}", n=len(X), seconds=seconds, energy=energy, n_steps=n_steps)


def _sample_start(problem, n_clusters, rng):
    rows, sample = sample_problem(problem, n_clusters, rng)
    labels = _solve_by_cuts(sample, n_clusters, Effort(), rng).labels
    return spread_labels(problem, rows, sample, labels, n_clusters)


def _spectral_start(problem, n_clusters, rng):
    return spectral_start(problem, n_clusters, 4, sample_problem(problem, n_clusters, rng)[0], rng)


def _end_of(problem, start, n_clusters):
    """Energy after Lloyd steps from a start, and their number."""
    end = lloyd_descent(problem, start(problem, n_clusters, np.random.default_rng(0)), n_clusters)
    return end.trace[-1], len(end.trace)


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
