"""Measures one method on one data set, in a process of its own: CPU and wall seconds, and the peak of memory.

Called as `python -m benchmarks.measure METHOD INPUT.npz N_CLUSTERS N_JOBS OUTPUT.npz`. A small call first
loads what the method loads; it is not counted.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from .peers import METHODS, graph_of


def main(method, source, n_clusters, n_jobs, target):
    warnings.simplefilter("ignore")
    function, takes = METHODS[method]
    X = np.load(source)["X"]
    # Enough points for the code that large sets take.
    function(_prepare(X[:4000], takes), 5, n_jobs)
    given = _prepare(X, takes, source)
    wall, cpu = time.perf_counter(), time.process_time()
    labels = function(given, n_clusters, n_jobs)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_megabytes()
    np.savez(target, labels=labels, wall=wall, cpu=cpu, peak=peak)


def peak_megabytes():
    """The largest resident size of this process; what its parent held before the start does not count."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except OSError:
        # Not Linux: macOS counts bytes, other POSIX systems kilobytes; Windows has neither and is not measured.
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


def _prepare(X, takes, source=None):
    """What the method takes; graphs are built before the clock starts."""
    if takes == "points":
        return X
    A = graph_of(X) if source is None else sparse.csr_array(sparse.load_npz(f"{source}.graph.npz"))
    if takes == "graph":
        return A
    import pymetis

    A = sparse.csr_array(A - sparse.diags_array(A.diagonal()))
    A.eliminate_zeros()
    # METIS takes whole weights: a half becomes one, one becomes two.
    return pymetis.CSRAdjacency(A.indptr, A.indices), np.rint(2 * A.data).astype(np.int64)


if __name__ == "__main__":
    name, points, clusters, jobs, result = sys.argv[1:]
    main(name, points, int(clusters), int(jobs), result)
