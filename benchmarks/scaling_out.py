"""What a fit on a cluster costs: CPU time of a pass, messages and bytes, and the effect of a slow network.

`python -m benchmarks.scaling_out` measures the cost of a million rows, runs fits on two worker processes whose messages
are delayed, fits the model of `docs/going_further.md` to them, and tests it on one more; then prints it for 10^9 rows.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import dask
import numpy as np
from distributed import Client, LocalCluster

from benchmarks import slow_network
from benchmarks.large_data import write_blobs
from evencut import LandmarkClustering
from evencut.landmarks import Attachment, draw_rows, open_files, sample_rows
from evencut.landmarks.blocks import row_blocks
from evencut.landmarks.dask import DaskBlocks
from evencut.landmarks.sampling import _MARGIN

# Block counts and delays from which the model is fitted, and the run it is then asked to predict.
_FITTED = ((8, 0.0), (40, 0.0), (8, 0.1), (40, 0.1))
_PREDICTED = (24, 0.05)
_ROWS_PER_BLOCK = 500
# An assumption on the safe side: Dask's documentation speaks of some hundred microseconds a task.
_SCHEDULER_S_PER_TASK = 1e-3


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=200_000, help="rows whose passes are timed")
    options.add_argument("--landmarks", type=int, default=3000)
    options.add_argument("--features", type=int, default=8)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.npy")
        write_blobs(path, asked.rows, asked.features)
        cost = measure_passes(np.load(path, mmap_mode="r"), asked.landmarks)
        print_passes(cost, asked)
        runs = measure_cluster(folder, [*_FITTED, _PREDICTED])
        model = fit_model(runs[:-1])
        print_cluster(runs, model)
        print_billion(cost, model, asked)


def measure_passes(X, n_landmarks):
    """CPU seconds of each pass for a million rows, and what a block sends back, on one thread."""
    rows = row_blocks(X)
    per_million = 1e6 / rows.n_rows
    model = LandmarkClustering(20, n_landmarks=n_landmarks, random_state=0)
    model.fit(np.array(X[:10_000]) if len(X) > 10_000 else X)
    begun = time.process_time()
    model.fit(X)
    whole = time.process_time() - begun
    sampling = _cpu(lambda: draw_rows(rows, sample_rows(n_landmarks, rows.n_features), 0)) * per_million
    attachment = Attachment.to(model.landmarks_, 5)
    labels = _cpu(lambda: rows.gathered(attachment.labelled(model.landmark_labels_).predict)) * per_million
    return {
        "sampling": sampling,
        "labels": labels,
        "fixed": max(whole - (sampling + labels) / per_million, 0.0),
        "landmark_bytes": attachment.landmarks.nbytes + attachment.radius.nbytes,
    }


def _cpu(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measure_cluster(folder, plan):
    """Fits and labels on two worker processes that read files themselves; the delay holds up every message.

    Blocks are small, so that the time is that of the messages, not of computing.
    """
    slow_network.install()
    preload = {"distributed.worker.preload": ["benchmarks.slow_network"]}
    with (
        dask.config.set(preload),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        measure_fit(client, folder, 4, 0.0)  # Loads and compiles on the workers.
        return [measure_fit(client, folder, n_blocks, delay_s) for n_blocks, delay_s in plan]


def measure_fit(client, folder, n_blocks, delay_s):
    """Wall time and traffic of one fit, and of its labels, at a delay."""
    paths = []
    for number in range(n_blocks):
        paths.append(os.path.join(folder, f"block-{number:03d}.npy"))
        np.save(paths[-1], np.random.default_rng(number).normal(size=(_ROWS_PER_BLOCK, 2)).astype(np.float32))
    files = open_files(paths)
    rows = DaskBlocks(files.blocks, files.n_features)
    model = LandmarkClustering(4, n_landmarks=200, random_state=0)
    before = _traffic(client)
    client.run(_set_delay, delay_s)
    _set_delay(delay_s)
    begun = time.perf_counter()
    model.fit(rows)
    fitted = time.perf_counter()
    for _ in model.predict_blocks(rows):
        pass
    done = time.perf_counter()
    _set_delay(0.0)
    client.run(_set_delay, 0.0)
    after = _traffic(client)
    moved = {name: after[name] - before[name] for name in after}
    return {"blocks": n_blocks, "delay_s": delay_s, "fit_s": fitted - begun, "labels_s": done - fitted, **moved}


def _set_delay(delay_s):
    os.environ["EVENCUT_DELAY_S"] = str(delay_s)


def _traffic(client):
    counts = [*client.run(_sent).values(), slow_network.sent]
    return {name: sum(count[name] for count in counts) for name in slow_network.sent}


def _sent():
    from benchmarks import slow_network

    return dict(slow_network.sent)


def print_passes(cost, asked):
    print(f"CPU seconds for a million rows of {asked.features} float32, {asked.landmarks} landmarks, one thread:")
    for name in ("sampling", "labels"):
        print(f"  {name:9s} {cost[name]:6.2f}")
    print(f"once, whatever the rows (landmarks, their graph, solver): {cost['fixed']:.2f} s")
    print(f"the landmarks: {cost['landmark_bytes'] / 1e6:.2f} MB\n")


def fit_model(runs):
    """Least squares of the seconds of a fit: t0 + t1 b + (m0 + m1 b) delay, with b the blocks of a worker."""
    table = [[1, r["blocks"] / 2, r["delay_s"], r["delay_s"] * r["blocks"] / 2] for r in runs]
    return np.linalg.lstsq(np.array(table), np.array([run["fit_s"] for run in runs]), rcond=None)[0]


def print_cluster(runs, model):
    print(f"fits on two worker processes that read blocks of {_ROWS_PER_BLOCK} rows from files:")
    print("  blocks   delay ms   fit s   labels s   messages   MB moved   fit s by the model")
    for run in runs:
        each = run["blocks"] / 2
        expected = model @ [1, each, run["delay_s"], run["delay_s"] * each]
        times = f"{run['fit_s']:7.2f} {run['labels_s']:10.2f}"
        moved = f"{run['messages']:10d} {run['bytes'] / 1e6:10.1f}"
        kind = "predicted" if run is runs[-1] else "fitted"
        print(f"  {run['blocks']:6d} {1e3 * run['delay_s']:10.0f} {times} {moved} {expected:10.2f} ({kind})")
    print(f"a fit waits for {model[2]:.0f} messages, and for {model[3]:.1f} more for each block of a worker\n")


def print_billion(cost, model, asked, n_rows=10**9, n_workers=100, rows_per_block=10**6, delay_s=0.02):
    n_blocks = n_rows // rows_per_block
    each = n_blocks / n_workers
    million_each = n_rows / n_workers / 1e6
    computing = million_each * cost["sampling"]
    waiting = delay_s * (model[2] + model[3] * each)
    # The scheduler is one process for all workers; a block is a task to read it and one to work on it.
    scheduling = 2 * n_blocks * _SCHEDULER_S_PER_TASK
    print(f"{n_rows:.0e} rows on {n_workers} one-thread workers, {n_blocks} blocks, {delay_s * 1e3:.0f} ms a message:")
    print(f"  fit: {computing:.0f} s computing, {waiting:.1f} s waiting, {scheduling:.0f} s scheduling, ", end="")
    print(f"{cost['fixed']:.0f} s once")
    print(f"  labels: {million_each * cost['labels']:.0f} s")
    sampled = _MARGIN * sample_rows(asked.landmarks, asked.features) * asked.features * 4 / 1e6
    print(f"  moved: {sampled:.0f} MB of sampled rows, {n_rows * 8 / 1e9:.0f} GB of labels")


if __name__ == "__main__":
    main()
