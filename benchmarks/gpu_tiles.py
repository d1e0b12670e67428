"""Which tiles the fused kernels should be cut into: `PYTHONPATH=src python -m benchmarks.gpu_tiles --out DIR`.

The best are entered by hand in `evencut.gpu.sums.TILES` and `evencut.gpu.nearest`.
"""

from __future__ import annotations

import time

import torch

from benchmarks.gpu import main, sum_error
from evencut.affinity import knn_radius
from evencut.gpu import nearest as search
from evencut.gpu import sums as summing
from evencut.gpu.nearest import SearchTiles
from evencut.gpu.sums import KernelSums, Tiles


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


SEARCHES = {
    8: [SearchTiles(128, 128, 8, 3, True), SearchTiles(128, 128, 4, 3, True), SearchTiles(256, 128, 8, 3, True)],
    64: [SearchTiles(128, 128, 8, 3, True), SearchTiles(128, 128, 4, 3, True), SearchTiles(128, 256, 8, 3, True),
         SearchTiles(256, 128, 8, 3, True), SearchTiles(128, 128, 8, 4, True)],
    384: [SearchTiles(128, 128, 8, 3, True), SearchTiles(128, 128, 8, 3, False), SearchTiles(128, 256, 8, 3, True),
          SearchTiles(128, 256, 8, 3, False), SearchTiles(256, 128, 8, 3, True), SearchTiles(256, 128, 8, 3, False),
          SearchTiles(128, 128, 4, 3, True)],
}  # fmt: skip


def tune_nearest(bench):
    for n_features, choices in SEARCHES.items():
        tune_one_search(bench, n_features, choices)


def tune_one_search(bench, n_features, choices):
    """The best tiles of the minima, and the seconds each stage of the search takes with them for all points."""
    X = bench.noise(bench.n, n_features)
    centre = X.mean(dim=0, dtype=torch.float64)
    n_super = -(-bench.n // 1024)
    split = n_features <= search._MOST_SPLIT
    n_queries = min(1 << 15, bench.n)
    at, all_blocks = X[:n_queries], bench.n / n_queries
    points = search._rough(X, centre, 64.0, n_super * 1024, split=split, left=False)
    rough_s = bench.seconds(lambda: search._rough(X, centre, 64.0, n_super * 1024, split=split, left=False), 1, 0)
    queries = search._rough(at, centre, 64.0, -(-n_queries // 256) * 256, split=split, left=True)
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


if __name__ == "__main__":
    main(sections={"tune_sums": (tune_sums, 150), "tune_nearest": (tune_nearest, 130)})
