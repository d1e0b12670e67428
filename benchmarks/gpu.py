"""Speed and precision on a GPU: `PYTHONPATH=src python -m benchmarks.gpu --out DIR` writes GPU.md and gpu.json there.

Every section stands alone, prints as it goes and has a time limit. Times are medians after a warm-up, with the device
synchronised; fits of more than a few seconds run once, after a small one that compiles what they need.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
import traceback
from pathlib import Path

import numpy as np
import torch

from benchmarks.gpu_fits import against_cpu_exact, ari, default_steps, starts_of_all_pairs, time_fit, time_predict
from benchmarks.gpu_peers import TILE, peer_neighbours, peer_sums
from evencut import EvenCut, KernelClustering, KernelKMeans, LandmarkClustering
from evencut.affinity import knn_radius
from evencut.gpu import naive
from evencut.gpu import nearest as search
from evencut.gpu.nearest import nearest
from evencut.gpu.sums import KernelSums

SECTIONS = {}
RESULTS: dict[str, dict] = {}


def section(limit):
    """Mark a function as a section that may take `limit` seconds."""

    def mark(function):
        SECTIONS[function.__name__] = (function, limit)
        return function

    return mark


class Bench:
    """The device, the sizes, and how to time on it."""

    def __init__(self, device, n, out):
        self.device, self.n, self.out = torch.device(device), n, out
        self.best: dict[str, object] = {}

    def sync(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def once(self, work):
        """What the work gives, and its wall seconds."""
        self.sync()
        start = time.perf_counter()
        result = work()
        self.sync()
        return result, time.perf_counter() - start

    def seconds(self, work, repeats=3, warm=1):
        """Median wall seconds after warm-up."""
        for _ in range(warm):
            work()
        return float(np.median([self.once(work)[1] for _ in range(repeats)]))

    def note(self, name, **values):
        RESULTS[name] = values
        words = [f"{key}={x:.4g}" if isinstance(x, float) else f"{key}={x}" for key, x in values.items()]
        print(f"{name}: {' '.join(words)}", flush=True)
        (self.out / "gpu.json").write_text(json.dumps(RESULTS, indent=1, default=str))

    def blobs(self, n, n_features, n_clusters=20, spread=1.0, seed=0):
        """Gaussian clusters of very different sizes, as points and true labels."""
        draw = torch.Generator(device=self.device).manual_seed(seed)
        centres = 6 * torch.randn(n_clusters, n_features, generator=draw, device=self.device) / n_features**0.5
        share = torch.logspace(0, -1, n_clusters, device=self.device)
        labels = torch.multinomial(share, n, replacement=True, generator=draw)
        noise = torch.randn(n, n_features, generator=draw, device=self.device) / n_features**0.5
        return centres[labels] + spread * noise, labels

    def noise(self, n, n_features, seed=0):
        draw = torch.Generator(device=self.device).manual_seed(seed)
        return torch.randn(n, n_features, generator=draw, device=self.device)


def sum_error(sums, V, precision, rows, tiles=None):
    """Largest relative error of K V at some rows, against float64."""
    part = sums.block(rows=rows)
    blocks = torch.arange(len(rows), device=V.device).split(64)
    expected = torch.cat([part.block(rows=block).dense() @ V.double() for block in blocks])
    found = sums(V, precision, tiles=tiles)[rows]
    return float(((found - expected).abs() / expected.abs().clamp(min=1e-300)).max())


@section(40)
def machine(bench):
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    bench.note("machine", torch=torch.__version__, device=name, cpu_cores=len(os.sched_getaffinity(0)))
    side = 8192 if bench.n > 10**5 else 128
    m = torch.randn(side, side, device=bench.device).half()
    bench.note("fp16 product", tflops=2 * side**3 / bench.seconds(lambda: m @ m, 5, 3) / 1e12)


@section(110)
def default(bench):
    X, truth = bench.blobs(bench.n, 384, spread=1.6)
    how = {"n_clusters": 20, "random_state": 0, "n_jobs": -1}
    warm = EvenCut(**how).fit(X)
    fitted = time_fit(bench, "default", EvenCut(**how), X, truth, repeats=3)
    time_predict(bench, "384 features", fitted, X, RESULTS["fit: default"]["seconds"])
    default_steps(bench, EvenCut(**how), X)
    array = X.cpu().numpy()
    on_cpu, cpu_s = bench.once(lambda: EvenCut(**how).fit(array))
    seconds = RESULTS["fit: default"]["seconds"]
    bench.note(
        "default: against the CPU", n=len(X), device_s=seconds, cpu_s=cpu_s, times_faster=cpu_s / seconds,
        cpu_ari=ari(truth, on_cpu.labels_), agreement=ari(on_cpu.labels_, fitted.labels_),
        same_seed_same_labels=bool((warm.labels_ == fitted.labels_).all()),
    )  # fmt: skip
    narrow, truth = bench.blobs(bench.n, 64, spread=1.6)
    fitted, fit_s = bench.once(lambda: EvenCut(**how).fit(narrow))
    time_predict(bench, "64 features", fitted, narrow, fit_s)


@section(130)
def all_pairs(bench):
    X, truth = bench.blobs(bench.n, 8, spread=1.6)
    for equalize in (None, "exact"):
        how = {"kernel": "adaptive_gaussian", "equalize": equalize, "random_state": 0}
        KernelKMeans(20, **how).fit(X[:20000])
        time_fit(bench, f"all pairs, equalize={equalize}", KernelKMeans(20, **how), X, truth)
    n_few = min(bench.n, 10000)
    few = X[:n_few]
    on_device, again = (KernelKMeans(20, **how).fit(few).labels_ for _ in range(2))
    on_cpu = KernelKMeans(20, **how, n_jobs=-1).fit(few.cpu().numpy()).labels_
    bench.note(
        "all pairs: labels", same_seed_same_labels=bool((on_device == again).all()), n_few=n_few,
        ari_device=ari(truth[:n_few], on_device), ari_cpu=ari(truth[:n_few], on_cpu),
    )  # fmt: skip
    starts_of_all_pairs(bench, X[: max(bench.n // 4, n_few)])


@section(90)
def sums(bench):
    X = bench.noise(bench.n, 8)
    V = torch.rand(bench.n, 32, device=bench.device) + 0.01
    rows = torch.randperm(bench.n, device=bench.device)[:512]
    gaussian = KernelSums(X, float(torch.std(X)) * bench.n ** (-1 / 12))
    mean = KernelSums(X, knn_radius(X, 7), form="mean")
    kinds = {
        "Gaussian, 32 columns, exact": (gaussian, V, "exact"),
        "Gaussian, 32 columns, fast": (gaussian, V, "fast"),
        "adaptive Gaussian, 32 columns, exact": (mean, V, "exact"),
        "adaptive Gaussian, 32 columns, fast": (mean, V, "fast"),
        "adaptive Gaussian, 1 column, exact": (mean, V[:, 0], "exact"),
    }
    for name, (kernel, values, precision) in kinds.items():
        error = sum_error(kernel, values, precision, rows)
        seconds = bench.seconds(lambda: kernel(values, precision), 2, 0)  # noqa: B023
        bench.note(f"sums: {name}", seconds=seconds, giga_pairs_per_s=bench.n**2 / seconds / 1e9, error=error)
    some, n_points = X[:8192], bench.n // 4

    def plain():
        return torch.exp(-0.5 * torch.cdist(some, X[:n_points]) ** 2) @ V[:n_points]

    bench.note("sums: plain torch", giga_pairs_per_s=len(some) * n_points / bench.seconds(plain, 2) / 1e9)


@section(120)
def neighbours(bench):
    for n_features in (8, 64, 384):
        time_one_search(bench, f"{n_features} features", bench.noise(bench.n, n_features))
    for n_features in (64, 384):
        time_one_search(bench, f"{n_features} features, clusters", bench.blobs(bench.n, n_features)[0])
    for n_features in (64, 384):
        X = bench.noise(bench.n, n_features)
        queries, norms = X[: bench.n // 32], (X * X).sum(dim=1)

        def plain(X=X, queries=queries, norms=norms):
            for at in queries.split(4096):
                torch.topk(torch.addmm(norms, at, X.T, alpha=-2), 16, largest=False)

        torch.backends.cuda.matmul.allow_tf32 = True
        seconds = bench.seconds(plain, 1) * bench.n / len(queries)
        torch.backends.cuda.matmul.allow_tf32 = False
        bench.note(f"neighbours: plain torch, {n_features} features", seconds=seconds)


def time_one_search(bench, name, X):
    """Seconds for the 16 nearest of all points, rows without a proof, and a sample compared with float64."""
    attempts, old = [], search._attempt

    def counted(points, at, *rest):
        attempts.append(len(at))
        return old(points, at, *rest)

    search._attempt = counted
    brute, old_brute = [], naive.nearest
    search.naive.nearest = lambda points, k, at: brute.append(len(at)) or old_brute(points, k, at)
    try:
        distances, indices = nearest(X, 16)
    finally:
        search._attempt, search.naive.nearest = old, old_brute
    seconds = bench.seconds(lambda: nearest(X, 16), 2, 0)
    rows = torch.randperm(bench.n, device=bench.device)[:1000]
    exact, right = naive.nearest(X, 16, X[rows])
    swapped = indices[rows] != right
    wrong = swapped & ((exact - distances[rows]).abs() > 1e-7 * exact)
    counts = {"wrong": int(wrong.sum()), "swapped": int(swapped.sum())}
    bench.note(f"neighbours: {name}", seconds=seconds, **counts, attempts=attempts, in_float64=sum(brute))


@section(60)
def peers(bench):
    """The same sums and neighbours by what is at hand without fused kernels."""
    name, search_nearest = peer_neighbours()
    for n_features in (64, 384):
        points = bench.noise(bench.n, n_features)
        queries = points[: max(bench.n // 64, 1)]
        torch.backends.cuda.matmul.allow_tf32 = True
        seconds = bench.seconds(lambda: [search_nearest(points, 16, at) for at in queries.split(4096)], 1)  # noqa: B023
        torch.backends.cuda.matmul.allow_tf32 = False
        bench.note(f"peer: neighbours, {n_features} features", library=name, seconds=seconds * bench.n / len(queries))
    # Whole tiles, so that nothing is compiled for a last one of another size.
    n_rows, n_points = (max(n // TILE, 1) * TILE for n in (bench.n // 64, bench.n // 4))
    X, V = bench.noise(n_points, 8), torch.rand(n_points, 32, device=bench.device)
    for name, multiply in peer_sums(bench.device):
        seconds = bench.seconds(lambda: multiply(X[:n_rows], X, V), 2)  # noqa: B023
        bench.note(f"peer: sums, {name}", giga_pairs_per_s=len(X[:n_rows]) * n_points / seconds / 1e9)


@section(110)
def graph(bench):
    X, truth = bench.blobs(bench.n, 384, spread=1.6)
    how = {"n_clusters": 20, "kernel": "shared_neighbors", "random_state": 0, "n_jobs": -1}
    KernelClustering(**how).fit(X[:21000])
    LandmarkClustering(20, random_state=0).fit(X[:21000])
    time_fit(bench, "landmarks", LandmarkClustering(20, random_state=0), X, truth)
    against_cpu_exact(bench, X[: min(bench.n, 50_000)], truth)
    time_fit(bench, "shared neighbours of all points", KernelClustering(**how), X, truth)


def main(arguments=None, sections=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--only", default="", help="sections to run, by commas")
    parser.add_argument("--n", type=int, default=1_000_000, help="number of points")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=350, help="no section starts after this long")
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(chosen.device, chosen.n, chosen.out)
    begin = time.perf_counter()

    def late(signum, frame):
        raise TimeoutError("the section's time is up")

    signal.signal(signal.SIGALRM, late)
    for name, (work, limit) in (sections or SECTIONS).items():
        left = chosen.seconds - (time.perf_counter() - begin)
        if (chosen.only and name not in chosen.only.split(",")) or left < 5:
            continue
        print(f"== {name} (at {time.perf_counter() - begin:.0f} s)", flush=True)
        signal.alarm(int(min(limit, left)))
        try:
            work(bench)
        except Exception:
            traceback.print_exc()
        finally:
            signal.alarm(0)
        if chosen.device == "cuda":
            torch.cuda.empty_cache()
    if sections is None:
        from benchmarks.gpu_page import page
        from benchmarks.records import publish

        publish("gpu", {"all": page(RESULTS, chosen.n)}, folder=chosen.out)
    print(f"== done in {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
