"""What a fit on a cluster costs: CPU time of a pass, messages and bytes for each block, and the effect of a slow network.

`python -m benchmarks.scaling_out` measures the cost of a million rows, runs fits on two worker processes over networks
of growing delay, compares them with the model of `docs/going_further.md`, and prints what it gives for 10^9 rows.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks import slow_network
from benchmarks.large_data import write_blobs
from evencut import LandmarkClustering
from evencut.landmarks.attachment import Attachment
from evencut.landmarks.blocks import row_blocks
from evencut.landmarks.choosing import RowSample

_DELAYS_S = (0.0, 0.02, 0.05)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=200_000, help="rows of a fit on the cluster")
    options.add_argument("--blocks", type=int, default=16)
    options.add_argument("--landmarks", type=int, default=3000)
    options.add_argument("--features", type=int, default=8)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "X.npy")
        write_blobs(path, asked.rows, asked.features)
        X = np.load(path, mmap_mode="r")
        cost = measure_passes(X, asked.landmarks)
        print_passes(cost, asked)
        runs = [measure_cluster(path, asked, delay) for delay in _DELAYS_S]
        print_cluster(runs, asked)
        print_billion(cost, runs[0], asked)


def measure_passes(X, n_landmarks):
    """CPU seconds of each pass for a million rows, and what a block sends back, on one thread."""
    rows = row_blocks(X)
    per_million = 1e6 / rows.n_rows
    model = LandmarkClustering(20, n_landmarks=n_landmarks, random_state=0)
    model.fit(np.array(X[:10_000]) if len(X) > 10_000 else X)
    begun = time.process_time()
    model.fit(rows)
    whole = time.process_time() - begun
    draw = RowSample.of(20 * n_landmarks, rows.n_rows, 0)
    sampling = _cpu(lambda: rows.gathered(draw)) * per_million
    attachment = Attachment.to(model.landmarks_, 5)
    graph = _cpu(lambda: rows.total(attachment.graph)) * per_million
    labels = _cpu(lambda: rows.gathered(attachment.labelled(model.landmark_labels_).predict)) * per_million
    part = attachment.graph(X[: len(X) // 16])
    return {
        "sampling": sampling,
        "graph": graph,
        "labels": labels,
        "fixed": max(whole - (sampling + graph) / per_million, 0.0),
        "graph_bytes": part.data.nbytes + part.indices.nbytes + part.indptr.nbytes,
        "landmark_bytes": attachment.landmarks.nbytes + attachment.radius.nbytes,
    }


def _cpu(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measure_cluster(path, asked, delay_s):
    """A fit and its labels on two worker processes; every message is held up by the delay."""
    os.environ["EVENCUT_DELAY_S"] = "0"
    slow_network.install()
    preload = {"distributed.worker.preload": ["benchmarks.slow_network"]}
    with (
        dask.config.set(preload),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        chunk = -(-asked.rows // asked.blocks)
        X = da.from_array(np.load(path, mmap_mode="r"), chunks=(chunk, -1), inline_array=True)
        model = LandmarkClustering(20, n_landmarks=asked.landmarks, random_state=0)
        model.fit(X)  # Loads and compiles on the workers.
        before = _traffic(client)
        _set_delay(delay_s)
        client.run(_set_delay, delay_s)
        begun = time.perf_counter()
        model.fit(X)
        fitted = time.perf_counter()
        model.labels_.compute()
        done = time.perf_counter()
        client.run(_set_delay, 0.0)
        _set_delay(0.0)
        after = _traffic(client)
    moved = {name: after[name] - before[name] for name in after}
    return {"delay_s": delay_s, "fit_s": fitted - begun, "labels_s": done - fitted, **moved}


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
    for name in ("sampling", "graph", "labels"):
        print(f"  {name:9s} {cost[name]:6.2f}")
    print(f"once, whatever the rows (density of the pilot, landmarks, solver): {cost['fixed']:.2f} s")
    print(f"the graph of a block: {cost['graph_bytes'] / 1e6:.2f} MB; landmarks: {cost['landmark_bytes'] / 1e6:.2f} MB\n")


def print_cluster(runs, asked):
    free = runs[0]
    print(f"{asked.rows} rows in {asked.blocks} blocks on two worker processes:")
    print("  delay ms   fit s   labels s   messages   MB moved   fit s by the model")
    for run in runs:
        expected = free["fit_s"] + rounds(asked.blocks, 2) * run["delay_s"]
        moved = f"{run['messages']:8d} {run['bytes'] / 1e6:10.1f}"
        print(f"  {1e3 * run['delay_s']:8.0f} {run['fit_s']:7.2f} {run['labels_s']:10.2f} {moved} {expected:14.2f}")
    print()


def rounds(n_blocks, n_workers, fan_in=8):
    """Messages that wait for one another in a fit: there and back for a pass of blocks, and for each level of a sum."""
    depth = int(np.ceil(np.log(max(n_blocks, 2)) / np.log(fan_in)))
    # Sampling: the graph goes out, tasks go out, results are announced, asked for and sent. The sum: the same, and
    # for each level a worker is told, asks another for its part, and gets it.
    return 5 + 5 + 3 * depth


def print_billion(cost, free, asked, n_rows=10**9, n_workers=100, rows_per_block=10**6):
    n_blocks = n_rows // rows_per_block
    per_worker = n_rows / n_workers / 1e6
    compute = per_worker * (cost["sampling"] + cost["graph"])
    labels = per_worker * cost["labels"]
    wave = 0.02 * rounds(n_blocks, n_workers)
    # Dask's scheduler takes about a millisecond for a task; three passes and the sums.
    scheduling = 1e-3 * n_blocks * (2 + 1 / 8)
    print(f"{n_rows:.0e} rows on {n_workers} workers of one thread, blocks of {rows_per_block} rows, 20 ms a message:")
    print(f"  fit: {compute:.0f} s computing + {scheduling:.0f} s scheduling + {wave:.1f} s waiting + {cost['fixed']:.0f} s once")
    print(f"  labels: {labels:.0f} s")
    sums = n_blocks * cost["graph_bytes"] * (1 + 1 / 8) / 1e9
    pilot = 20 * asked.landmarks * asked.features * 4 / 1e6
    print(f"  moved: {sums:.1f} GB of graphs between workers, {pilot:.0f} MB of pilot rows, {n_rows * 8 / 1e9:.0f} GB of labels")


if __name__ == "__main__":
    main()
