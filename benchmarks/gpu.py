"""Speed and precision of the GPU room: `PYTHONPATH=src python benchmarks/gpu.py --out DIR`.

Every section stands alone, prints as it goes and has a time limit; what was measured is also written to gpu.json.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import traceback
from pathlib import Path

import numpy as np
import torch

from evencut.gpu import naive
from evencut.gpu import nearest as search
from evencut.gpu import sums as summing
from evencut.gpu.all_pairs import adaptive_sums, solve_all_pairs
from evencut.gpu.density import knn_radius
from evencut.gpu.graph import _pairs, common_counts, shared_neighbor_graph
from evencut.gpu.nearest import SearchTiles, nearest, nearest_to_points
from evencut.gpu.problem import equalizing_scale, pose
from evencut.gpu.sums import KernelSums, Tiles

SECTIONS = {}
RESULTS: dict[str, object] = {}


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

    def seconds(self, work, repeats=3, warm=1):
        """Median wall seconds after warm-up."""
        for _ in range(warm):
            work()
        times = []
        for _ in range(repeats):
            self.sync()
            start = time.perf_counter()
            work()
            self.sync()
            times.append(time.perf_counter() - start)
        return float(np.median(times))

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


def relative_error(found, expected):
    return float(((found - expected).abs() / expected.abs().clamp(min=1e-300)).max())


def sum_error(sums, V, precision, rows, tiles=None):
    """Largest relative error of K V at some rows, against float64."""
    part = sums.part(rows=rows)
    blocks = torch.arange(len(rows), device=V.device).split(64)
    expected = torch.cat([part.part(rows=block).dense() @ V.double() for block in blocks])
    return relative_error(sums(V, precision, tiles=tiles)[rows], expected)


@section(40)
def machine(bench):
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    bench.note("versions", torch=torch.__version__, device=name)
    size = 1 << (28 if bench.n > 10**5 else 16)
    a, b = torch.rand(size, device=bench.device), torch.empty(size, device=bench.device)
    bench.note("copy", tb_per_s=8 * size / bench.seconds(lambda: b.copy_(a), 5) / 1e12)
    side = 8192 if bench.n > 10**5 else 128
    m = torch.randn(side, side, device=bench.device).half()
    bench.note("fp16 product", tflops=2 * side**3 / bench.seconds(lambda: m @ m, 5, 3) / 1e12)
    side = min(bench.n, 4000)
    pairs = torch.rand(side, side, device=bench.device, dtype=torch.float64)
    pairs = pairs + pairs.T
    for kind in (torch.float64, torch.float32):
        bench.note(f"eigh {kind}", seconds=bench.seconds(lambda kind=kind: torch.linalg.eigh(pairs.to(kind)), 1))
    bench.note("exp2", giga_per_s=size / bench.seconds(lambda: torch.exp2(a, out=b), 5) / 1e9)


@section(60)
def check_sums(bench):
    n = min(bench.n, 20000)
    for n_features, forms in ((8, summing.FORMS), (2, ("mean",)), (100, ("mean",))):
        X = bench.noise(n, n_features) + 3
        radius = knn_radius(X[: min(n, 5000)], 7).median() * (0.5 + torch.rand(n, device=bench.device).double())
        rows = torch.randperm(n, device=bench.device)[:256]
        for form in forms:
            sums = KernelSums(X, float(radius.median()) if form == "gaussian" else radius, form=form)
            errors = {}
            for n_vectors in (1, 20):
                V = torch.rand(n, n_vectors, device=bench.device) + 0.01
                for precision in summing.PRECISIONS:
                    errors[f"{precision}_{n_vectors}"] = sum_error(sums, V, precision, rows)
            bench.note(f"sum errors {n_features}d {form}", **errors)


def time_sums(bench, name, sums, V, precision, choices):
    """The best of some ways to cut a sum into tiles."""
    n_pairs = sums.shape[0] * sums.shape[1]
    best = None
    for tiles in choices:
        try:
            start = time.perf_counter()
            sums(V, precision, tiles=tiles)
            bench.sync()
            compile_s = time.perf_counter() - start
            seconds = bench.seconds(lambda tiles=tiles: sums(V, precision, tiles=tiles), 3, 0)
        except Exception as error:
            print(f"  {name} {tuple(tiles)}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            continue
        rate = n_pairs / seconds / 1e9
        print(f"  {name} {tuple(tiles)}: {rate:.0f} G pairs/s (first call {compile_s:.1f} s)", flush=True)
        if best is None or rate > best[0]:
            best = (rate, tiles)
    if best:
        bench.best[name] = best[1]
        bench.note(f"best {name}", giga_pairs_per_s=best[0], tiles=str(tuple(best[1])))


FAST = [
    Tiles(128, 128, 8, 3, 128), Tiles(128, 128, 8, 3), Tiles(128, 64, 4, 3, 128), Tiles(256, 64, 8, 3, 128),
    Tiles(64, 128, 4, 3, 128), Tiles(128, 64, 8, 4),
]  # fmt: skip
DIRECT = [Tiles(128, 64, 8, 3), Tiles(64, 64, 4, 3, 128), Tiles(128, 128, 8, 2), Tiles(128, 32, 4, 3)]
VECTOR = [Tiles(64, 32, 8, 3), Tiles(32, 32, 4, 3), Tiles(128, 32, 8, 3), Tiles(32, 64, 8, 3)]


@section(150)
def tune_sums(bench):
    n = bench.n // 4
    X = bench.noise(n, 8)
    V = torch.rand(n, 32, device=bench.device) + 0.01
    gaussian = KernelSums(X, 0.5)
    mean = KernelSums(X, knn_radius(X, 7), form="mean")
    time_sums(bench, "fast gaussian", gaussian, V, "fast", FAST)
    time_sums(bench, "exact gaussian direct", gaussian, V, "exact", DIRECT)
    time_sums(bench, "fast mean", mean, V, "fast", FAST)
    time_sums(bench, "exact mean direct", mean, V, "exact", DIRECT[:3])
    time_sums(bench, "exact mean vector", mean, V[:, 0], "exact", VECTOR)
    time_sums(bench, "fast mean vector", mean, V[:, 0], "fast", [Tiles(128, 64, 8, 3), Tiles(64, 64, 4, 3)])
    direct = summing._MOST_DIRECT
    summing._MOST_DIRECT = 0
    try:
        time_sums(bench, "exact gaussian split", gaussian, V, "exact", FAST[:4])
        time_sums(bench, "exact mean split", mean, V, "exact", FAST[:2])
        rows = torch.arange(256, device=bench.device)
        errors = {name: sum_error(sums, V, "exact", rows) for name, sums in (("gaussian", gaussian), ("mean", mean))}
        bench.note("error of split", **errors)
    finally:
        summing._MOST_DIRECT = direct


@section(90)
def full_sums(bench):
    X = bench.noise(bench.n, 8)
    V = torch.rand(bench.n, 32, device=bench.device) + 0.01
    rows = torch.randperm(bench.n, device=bench.device)[:512]
    gaussian = KernelSums(X, float(torch.std(X)) * bench.n ** (-1 / 12))
    mean = KernelSums(X, knn_radius(X, 7), form="mean")
    kinds = {
        "gaussian exact 32": (gaussian, V, "exact", "exact gaussian direct"),
        "gaussian fast 32": (gaussian, V, "fast", "fast gaussian"),
        "mean exact 32": (mean, V, "exact", "exact mean direct"),
        "mean fast 32": (mean, V, "fast", "fast mean"),
        "mean exact 1": (mean, V[:, 0], "exact", "exact mean vector"),
    }
    for name, (sums, values, precision, tuned) in kinds.items():
        tiles = bench.best.get(tuned)
        error = sum_error(sums, values, precision, rows, tiles)
        seconds = bench.seconds(lambda: sums(values, precision, tiles=tiles), 2, 0)  # noqa: B023
        bench.note(f"sums {name}", seconds=seconds, giga_pairs_per_s=bench.n**2 / seconds / 1e9, error=error)
    block = X[:8192]

    def plain():
        return torch.exp(-0.5 * torch.cdist(block, X[: bench.n // 4]) ** 2) @ V[: bench.n // 4]

    bench.note("sums plain torch", giga_pairs_per_s=len(block) * (bench.n // 4) / bench.seconds(plain, 2) / 1e9)


SEARCHES = {
    8: [SearchTiles(128, 128, 8, 3, True), SearchTiles(128, 128, 4, 3, True), SearchTiles(256, 128, 8, 3, True)],
    64: [SearchTiles(128, 128, 8, 3, True), SearchTiles(128, 128, 4, 3, True), SearchTiles(128, 256, 8, 3, True),
         SearchTiles(256, 128, 8, 3, True), SearchTiles(128, 128, 8, 4, True)],
    384: [SearchTiles(128, 128, 8, 3, True), SearchTiles(128, 128, 8, 3, False), SearchTiles(128, 256, 8, 3, True),
          SearchTiles(128, 256, 8, 3, False), SearchTiles(256, 128, 8, 3, True), SearchTiles(256, 128, 8, 3, False),
          SearchTiles(128, 128, 4, 3, True)],
}  # fmt: skip


@section(130)
def tune_nearest(bench):
    for n_features, choices in SEARCHES.items():
        tune_one_search(bench, n_features, choices)


def tune_one_search(bench, n_features, choices):
    """The best tiles of the minima, and the seconds each stage of the search takes with them for all points."""
    X = bench.noise(bench.n, n_features)
    centre = X.mean(dim=0, dtype=torch.float64)
    n_super = -(-bench.n // 1024)
    n_queries = min(1 << 15, bench.n)
    at, all_blocks = X[:n_queries], bench.n / n_queries
    points = search._rough(X, centre, 64.0, n_super * 1024, left=False)
    rough_s = bench.seconds(lambda: search._rough(X, centre, 64.0, n_super * 1024, left=False), 1, 0)
    queries = search._rough(at, centre, 64.0, -(-n_queries // 256) * 256, left=True)
    best = None
    for tiles in choices:
        try:
            seconds = bench.seconds(lambda tiles=tiles: search._minima(queries, points, tiles), 2)
        except Exception as error:
            print(f"  minima {n_features} {tuple(tiles)}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            continue
        tflops = 2 * bench.n * n_queries * points.points.shape[1] / seconds / 1e12
        print(f"  minima {n_features} {tuple(tiles)}: {seconds * all_blocks:.3f} s, {tflops:.0f} TFLOP/s", flush=True)
        if best is None or seconds < best[0]:
            best = (seconds, tiles)
    if best is None:
        return
    bench.best[f"nearest {n_features}"] = best[1]
    minima, supers = search._minima(queries, points, best[1])
    groups, _ = search._least_groups(minima, supers, n_queries, 24)
    rough = torch.rand(n_queries, 24 * 32, device=bench.device)
    stages = {
        "least_groups_s": lambda: search._least_groups(minima, supers, n_queries, 24),
        "top_supers_s": lambda: torch.topk(supers, min(25, supers.shape[1]), dim=1, largest=False),
        "rank_s": lambda: search._rank(X, at, groups, 16),
        "top_candidates_s": lambda: torch.topk(rough, 20, dim=1, largest=False),
    }
    times = {name: bench.seconds(work, 2) * all_blocks for name, work in stages.items()}
    note = {"minima_s": best[0] * all_blocks, **times, "rough_s": rough_s, "tiles": str(tuple(best[1]))}
    bench.note(f"neighbour stages {n_features}", **note)


@section(90)
def full_nearest(bench):
    for n_features in (8, 64, 384):
        time_one_search(bench, f"{n_features}", bench.noise(bench.n, n_features))
    for n_features in (64, 384):
        time_one_search(bench, f"{n_features} clusters", bench.blobs(bench.n, n_features)[0])


def time_one_search(bench, name, X):
    """Seconds for the 16 nearest of all points, and how a sample of them compares with float64."""
    tiles = bench.best.get(f"nearest {X.shape[1]}")
    unproved, old = [], search._unproved
    search._unproved = lambda *args: unproved.append(int((found := old(*args)).sum())) or found
    try:
        distances, indices = nearest(X, 16, tiles=tiles)
    finally:
        search._unproved = old
    seconds = bench.seconds(lambda: nearest(X, 16, tiles=tiles), 2, 0)
    rows = torch.randperm(bench.n, device=bench.device)[:1000]
    exact, right = naive.nearest(X, 16, X[rows])
    swapped = indices[rows] != right
    wrong = swapped & ((exact - distances[rows]).abs() > 1e-7 * exact)
    counts = {"wrong": int(wrong.sum()), "swapped": int(swapped.sum()), "unproved": sum(unproved)}
    bench.note(f"neighbours {name}", seconds=seconds, **counts)


@section(60)
def equalize(bench):
    X = bench.blobs(bench.n, 8)[0]
    sums = adaptive_sums(X)
    calls = []
    old = KernelSums.__call__

    def counted(self, *args, **kwargs):
        calls.append(1)
        return old(self, *args, **kwargs)

    KernelSums.__call__ = counted
    try:
        bench.sync()
        start = time.perf_counter()
        equalizing_scale(sums)
        bench.sync()
        bench.note("equalising scale", seconds=time.perf_counter() - start, sweeps=len(calls))
    finally:
        KernelSums.__call__ = old


@section(120)
def all_pairs_fit(bench):
    from sklearn.metrics import adjusted_rand_score

    X, truth = bench.blobs(bench.n, 8, spread=1.6)
    for criterion, equal in (("average_association", None), ("normalized_cut", None), ("average_association", "exact")):
        bench.sync()
        start = time.perf_counter()
        sums = adaptive_sums(X)
        bench.sync()
        bandwidths_s = time.perf_counter() - start
        problem = pose(sums, criterion, equal)
        bench.sync()
        posed_s = time.perf_counter() - start - bandwidths_s
        found = solve_all_pairs(problem, 20)
        bench.sync()
        total_s = time.perf_counter() - start
        bench.note(
            f"all pairs {criterion} {equal}", seconds=total_s, bandwidths_s=bandwidths_s, pose_s=posed_s,
            solve_s=total_s - bandwidths_s - posed_s, steps=len(found.trace), converged=found.converged,
            first=found.trace[0], last=found.trace[-1],
            ari=float(adjusted_rand_score(truth.cpu().numpy(), found.labels.cpu().numpy())),
        )  # fmt: skip


@section(60)
def same_as_cpu(bench):
    from sklearn.metrics import adjusted_rand_score

    X, truth = bench.blobs(min(bench.n, 10000), 8, n_clusters=10, spread=1.6)
    on_device = solve_all_pairs(pose(adaptive_sums(X), "normalized_cut"), 10)
    Y = X.cpu()
    start = time.perf_counter()
    on_cpu = solve_all_pairs(pose(adaptive_sums(Y), "normalized_cut"), 10)
    bench.note(
        "device against plain torch on the CPU", cpu_s=time.perf_counter() - start,
        agreement=float(adjusted_rand_score(on_device.labels.cpu().numpy(), on_cpu.labels.numpy())),
        ari=float(adjusted_rand_score(truth.cpu().numpy(), on_device.labels.cpu().numpy())),
        energies=(on_device.energy, on_cpu.energy),
    )  # fmt: skip


@section(150)
def graph_fit(bench):
    from sklearn.metrics import adjusted_rand_score

    X, truth = bench.blobs(bench.n, 384, spread=1.6)
    nearest_to_points(X[:2000], 26)
    bench.sync()
    times, start = {}, time.perf_counter()

    def lap(name):
        bench.sync()
        times[name] = time.perf_counter() - start - sum(times.values())

    distances, indices = nearest_to_points(X, 26)
    lap("neighbours_s")
    p, q = _pairs(indices)
    lap("pairs_s")
    common_counts(indices, indices, p, q)
    lap("common_s")
    graph = shared_neighbor_graph(X, distances, indices)
    lap("graph_s")
    matrix = graph.to_scipy()
    lap("copy_s")
    bench.note("default graph", entries=matrix.nnz, **times)
    from evencut.criteria import normalized_cut
    from evencut.solvers import solve

    solve(normalized_cut(matrix[:3000][:, :3000]), 20, solver="multilevel", random_state=0)
    start = time.perf_counter()
    found = solve(normalized_cut(matrix), 20, solver="multilevel", n_init=1, random_state=0)
    bench.note(
        "multilevel on the CPU", seconds=time.perf_counter() - start, energy=found.energy,
        ari=float(adjusted_rand_score(truth.cpu().numpy(), found.labels)),
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--only", default="", help="sections to run, by commas")
    parser.add_argument("--n", type=int, default=1_000_000, help="number of points")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=540, help="no section starts after this long")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(chosen.device, chosen.n, chosen.out)
    begin = time.perf_counter()

    def late(signum, frame):
        raise TimeoutError("the section's time is up")

    signal.signal(signal.SIGALRM, late)
    for name, (work, limit) in SECTIONS.items():
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
    print(f"== done in {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
