"""Compiled raster scans of the minimum barrier distance."""

from ..interpreted import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np


def barrier_scan(
    channel: cython.const[cython.double][:, ::1],
    seeds: cython.const[cython.uchar][:, ::1],
    before: cython.const[cython.longlong][:, ::1],
    after: cython.const[cython.longlong][:, ::1],
    n_passes: cython.int,
):
    """Distance of every pixel to the seeds, by sweeps over the rows that alternate between first to last and back.

    A sweep tries to come from the neighbours already swept, in the rows `before` and in the row itself; each pixel
    remembers the highest and the lowest value on its best path so far. The result is an upper bound of the exact
    distance, tight in practice. Rows that nothing has changed in or beside since they were last swept the same way are
    passed over.
    """
    marked = np.asarray(seeds) != 0
    distance = np.where(marked, 0.0, np.inf)
    # Where no path has led yet the two are infinitely far apart, so that none leads on from there.
    highest = np.where(marked, channel, np.inf)
    lowest = np.where(marked, channel, -np.inf)
    _sweep(channel, distance, highest, lowest, before, after, np.zeros(len(marked), np.int64), n_passes)
    return distance


@cython.cfunc
def _sweep(
    channel: cython.const[cython.double][:, ::1],
    distance: cython.double[:, ::1],
    highest: cython.double[:, ::1],
    lowest: cython.double[:, ::1],
    before: cython.const[cython.longlong][:, ::1],
    after: cython.const[cython.longlong][:, ::1],
    stamp: cython.longlong[::1],
    n_passes: cython.int,
) -> cython.int:
    n_rows: cython.Py_ssize_t = channel.shape[0]
    sweep: cython.int
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.int
    with cython.nogil:
        for sweep in range(n_passes):
            step: cython.int = 1 if sweep % 2 == 0 else -1
            changed: cython.bint = False
            for i in range(n_rows):
                y: cython.Py_ssize_t = i if step == 1 else n_rows - 1 - i
                due: cython.bint = stamp[y] >= sweep - 1
                for k in range(before.shape[1]):
                    beside: cython.Py_ssize_t = before[y, k] if step == 1 else after[y, k]
                    if beside >= 0 and stamp[beside] >= sweep - 1:
                        due = True
                if not due:
                    continue
                better: cython.bint = False
                for k in range(before.shape[1]):
                    beside = before[y, k] if step == 1 else after[y, k]
                    if beside >= 0:
                        for t in range(-1, 2):
                            better |= _come_from(channel, distance, highest, lowest, y, beside, t)
                better |= _come_along(channel, distance, highest, lowest, y, step)
                if better:
                    stamp[y] = sweep
                    changed = True
            if not changed and sweep > 0:
                break
    return 0


@cython.cfunc
@cython.nogil
def _come_from(
    channel: cython.const[cython.double][:, ::1],
    distance: cython.double[:, ::1],
    highest: cython.double[:, ::1],
    lowest: cython.double[:, ::1],
    y: cython.Py_ssize_t,
    before: cython.Py_ssize_t,
    t: cython.int,
) -> cython.bint:
    """Try the neighbours in the row swept already, `t` to the right; no pixel waits for another."""
    n_better: cython.Py_ssize_t = 0
    x: cython.Py_ssize_t
    for x in range(max(0, -t), channel.shape[1] - max(0, t)):
        value = channel[y, x]
        high = highest[before, x + t] if highest[before, x + t] > value else value
        low = lowest[before, x + t] if lowest[before, x + t] < value else value
        shorter: cython.bint = high - low < distance[y, x]
        distance[y, x] = high - low if shorter else distance[y, x]
        highest[y, x] = high if shorter else highest[y, x]
        lowest[y, x] = low if shorter else lowest[y, x]
        n_better += shorter
    return n_better > 0


@cython.cfunc
@cython.nogil
def _come_along(
    channel: cython.const[cython.double][:, ::1],
    distance: cython.double[:, ::1],
    highest: cython.double[:, ::1],
    lowest: cython.double[:, ::1],
    y: cython.Py_ssize_t,
    step: cython.int,
) -> cython.bint:
    """Try the neighbours within a row, one after the other."""
    width = channel.shape[1]
    better: cython.bint = False
    j: cython.Py_ssize_t
    for j in range(1, width):
        x: cython.Py_ssize_t = j if step == 1 else width - 1 - j
        high = max(highest[y, x - step], channel[y, x])
        low = min(lowest[y, x - step], channel[y, x])
        if high - low < distance[y, x]:
            distance[y, x] = high - low
            highest[y, x] = high
            lowest[y, x] = low
            better = True
    return better
