"""One path for all sizes: quality and CPU time from ten thousand points on, and a million beside lumbermark.

    python -m benchmarks.sizes [--draws 5] [--million 10]

Worm-like curves and a grid of blobs at each size, several draws; a jump is a time above the trend of the others. Every
fit is a process of its own with one thread, and compilation is not counted.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from .__main__ import measure
from .data import grid_blobs, worms

PAGE = Path(__file__).with_name("SIZES.md")
SIZES = (10_000, 19_000, 21_000, 50_000, 100_000)
MILLION = 1_000_000
_OURS, _PEER = "evencut KernelClustering, default kernel", "lumbermark"
DATA: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "35 worms": lambda n, draw: worms(n, 35, random_state=draw),
    "100 blobs": lambda n, draw: grid_blobs(n, random_state=draw),
}

Row = dict[str, float]


def fit(method: str, X: np.ndarray, truth: np.ndarray, folder: Path, timeout: float) -> Row | None:
    """ARI, CPU and wall seconds of one method on one set; None where it did not finish or is not installed."""
    source = folder / "points.npz"
    np.savez(source, X=X)
    found = measure(method, source, int(truth.max()) + 1, 1, timeout)
    if found is None:
        return None
    return {"ari": adjusted_rand_score(truth, found["labels"]), "cpu": found["cpu"], "wall": found["wall"]}


def over_trend(sizes: tuple[int, ...], seconds: list[float]) -> list[float]:
    """Each time over that of the straight line, in logarithms, through all the others."""
    x, y = np.log(sizes), np.log(seconds)
    ratios = []
    for i in range(len(sizes)):
        others = np.arange(len(sizes)) != i
        ratios.append(float(np.exp(y[i] - np.polyval(np.polyfit(x[others], y[others], 1), x[i]))))
    return ratios


def sizes_table(n_draws: int, folder: Path, timeout: float) -> list[str]:
    """Mean and lowest ARI, mean CPU seconds and their ratio to the trend, at every size."""
    lines = ["| data | points | mean ARI | lowest | CPU s | over the trend |", "|---|---|---|---|---|---|"]
    for name, make in DATA.items():
        rows = {n: [fit(_OURS, *make(n, draw), folder, timeout) for draw in range(n_draws)] for n in SIZES}
        done = {n: [row for row in found if row is not None] for n, found in rows.items()}
        if not all(done.values()):
            raise SystemExit(f"{name}: no fit of some size ended within {timeout:g} s; give more with --timeout.")
        seconds = [float(np.mean([row["cpu"] for row in done[n]])) for n in SIZES]
        for n, spent, ratio in zip(SIZES, seconds, over_trend(SIZES, seconds)):
            ari = [row["ari"] for row in done[n]]
            lines.append(f"| {name} | {n:,} | {np.mean(ari):.3f} | {min(ari):.3f} | {spent:.2f} | {ratio:.2f} |")
            print(lines[-1], flush=True)
    return lines


def million_table(n_draws: int, folder: Path, timeout: float) -> list[str]:
    """Both methods on the same draws of a million points, twenty worms."""
    found: dict[str, list[Row]] = {_OURS: [], _PEER: []}
    for draw in range(n_draws):
        X, truth = worms(MILLION, 20, random_state=draw)
        for method, rows in found.items():
            row = fit(method, X, truth, folder, timeout)
            if row is not None:
                rows.append(row)
                print(draw, method, {key: round(value, 3) for key, value in row.items()}, flush=True)
    lines = ["| method | draws | mean ARI | lowest | CPU s | wall s |", "|---|---|---|---|---|---|"]
    for method, rows in found.items():
        if rows:
            ari, cpu, wall = np.array([[row[key] for key in ("ari", "cpu", "wall")] for row in rows]).T
            cells = f"{ari.mean():.3f} | {ari.min():.3f} | {cpu.mean():.1f} | {wall.mean():.1f}"
            lines.append(f"| {method} | {len(rows)} | {cells} |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5, help="of each data set and size")
    parser.add_argument("--million", type=int, default=10, help="draws of a million points; 0 leaves them out")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a fit may take")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        table = sizes_table(options.draws, Path(folder), options.timeout)
        million = million_table(options.million, Path(folder), options.timeout) if options.million else []
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("evencut", "numpy", "scikit-learn"))
    lines = [
        "# All sizes",
        "",
        "Made by `python -m benchmarks.sizes`: the default, told the number of clusters, one thread. *Over the trend* "
        "is the CPU time over that of the line, in logarithms, through the other sizes of the same data: a cliff would "
        f"show as a number above 1.5. Versions: {versions}.",
        "",
        f"{options.draws} draws each:",
        "",
        *table,
        "",
    ]
    if million:
        lines += [f"A million points in 2-D, {options.million} draws of 20 worms, both in this run:", "", *million, ""]
    options.out.write_text("\n".join(lines), encoding="utf-8")
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
