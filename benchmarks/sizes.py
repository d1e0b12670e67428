"""One path for all sizes: quality and CPU time from ten thousand points on, and a million beside lumbermark.

    python -m benchmarks.sizes [--draws 10] [--million 10]

Worm-like curves and a grid of blobs, the same draws at every size; a jump is a time above the trend of the other sizes.
All fits run in this process with one thread, after small ones that load what they use; the sizes, and the methods, take
turns, so that a busy moment of the machine falls on all of them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from evencut import __version__

from .data import grid_blobs, worms
from .peers import METHODS
from .records import publish

SIZES = (10_000, 19_000, 21_000, 50_000, 100_000)
MILLION = 1_000_000
_OURS, _PEER = "evencut EvenCut", "lumbermark"
DATA: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "35 worms": lambda n, draw: worms(n, 35, random_state=draw),
    "100 blobs": lambda n, draw: grid_blobs(n, random_state=draw),
}

Row = dict[str, float]


def fit(method: str, X: np.ndarray, truth: np.ndarray) -> Row:
    """ARI, CPU and wall seconds of one method on one set."""
    wall, cpu = time.perf_counter(), time.process_time()
    labels = METHODS[method][0](X, int(truth.max()) + 1, 1)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"ari": adjusted_rand_score(truth, labels), "cpu": cpu, "wall": wall}


def over_trend(sizes: tuple[int, ...], seconds: list[float]) -> list[float]:
    """Each time over that of the straight line, in logarithms, through all the others."""
    x, y = np.log(sizes), np.log(seconds)
    ratios = []
    for i in range(len(sizes)):
        others = np.arange(len(sizes)) != i
        ratios.append(float(np.exp(y[i] - np.polyval(np.polyfit(x[others], y[others], 1), x[i]))))
    return ratios


def sizes_table(n_draws: int) -> list[str]:
    """Mean and lowest ARI, mean CPU seconds and their ratio to the trend, at every size."""
    lines = ["| data | points | mean ARI | lowest | CPU s | over the trend |", "|---|---|---|---|---|---|"]
    for name, make in DATA.items():
        rows: dict[int, list[Row]] = {n: [] for n in SIZES}
        for draw in range(n_draws):
            for n in SIZES:
                rows[n].append(fit(_OURS, *make(n, draw)))
        seconds = [float(np.mean([row["cpu"] for row in rows[n]])) for n in SIZES]
        for n, spent, ratio in zip(SIZES, seconds, over_trend(SIZES, seconds)):
            ari = [row["ari"] for row in rows[n]]
            lines.append(f"| {name} | {n:,} | {np.mean(ari):.3f} | {min(ari):.3f} | {spent:.2f} | {ratio:.2f} |")
            print(lines[-1], flush=True)
    return lines


def million_table(n_draws: int) -> list[str]:
    """The methods there are on the same draws of a million points, twenty worms."""
    found: dict[str, list[Row]] = {_OURS: [], **({_PEER: []} if importlib.util.find_spec(_PEER) else {})}
    for draw in range(n_draws):
        X, truth = worms(MILLION, 20, random_state=draw)
        for method, rows in found.items():
            rows.append(fit(method, X, truth))
            print(draw, method, {key: round(value, 3) for key, value in rows[-1].items()}, flush=True)
    lines = ["| method | draws | mean ARI | lowest | CPU s | wall s |", "|---|---|---|---|---|---|"]
    for method, rows in found.items():
        ari, cpu, wall = np.array([[row[key] for key in ("ari", "cpu", "wall")] for row in rows]).T
        cells = f"{ari.mean():.3f} | {ari.min():.3f} | {cpu.mean():.1f} | {wall.mean():.1f}"
        lines.append(f"| {method} | {len(rows)} | {cells} |")
    return lines


def warm_up() -> None:
    """Load what the fits use, on enough points for the code that large sets take."""
    for n in (4000, 30_000):
        X, truth = worms(n, 5)
        for method in (_OURS, *([_PEER] if importlib.util.find_spec(_PEER) else [])):
            fit(method, X, truth)


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10, help="of each data set, the same at every size")
    parser.add_argument("--million", type=int, default=10, help="draws of a million points; 0 leaves them out")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        warm_up()
        table = sizes_table(options.draws)
        million = million_table(options.million) if options.million else []
    versions = [f"evencut {__version__}"]
    versions += [f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scikit-learn")]
    if importlib.util.find_spec(_PEER):
        versions.append(f"{_PEER} {importlib.metadata.version(_PEER)}")
    lines = [
        "# All sizes",
        "",
        "Made by `python -m benchmarks.sizes`: the default with the true number of clusters, one thread. *Over the "
        "trend* is the CPU time over that of the line, in logarithms, through the other sizes of the same data: a "
        f"cliff would show as a number above 1.5. Versions: {', '.join(versions)}.",
        "",
        f"{options.draws} draws, the same at every size:",
        "",
        *table,
        "",
    ]
    if million:
        lines += [f"A million points in 2-D, {options.million} draws of 20 worms, in the same run:", "", *million, ""]
    print(publish("sizes", {"all": "\n".join(lines)}))


if __name__ == "__main__":
    main()
