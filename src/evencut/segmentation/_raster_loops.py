"""Compiled raster scans of the minimum barrier distance and of the geodesic distance, over the rows of an image."""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

_FAR = 1e300


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
    _sweep(np.empty((0, 0, 0)), channel, distance, highest, lowest, before, after, n_passes)
    return distance


def geodesic_scan(
    channels: cython.const[cython.double][:, :, ::1],
    seeds: cython.const[cython.uchar][:, ::1],
    before: cython.const[cython.longlong][:, ::1],
    after: cython.const[cython.longlong][:, ::1],
    steps: cython.const[cython.double][::1],
    n_passes: cython.int,
):
    """Length of the shortest way to a seed, by sweeps over the rows that alternate between first to last and back.

    A step costs the difference of the colours and what `steps` says of its direction: from each of the rows `before`,
    to the left, straight and to the right, and along the row. Rows that nothing has changed in or beside since they
    were last swept the same way are passed over.
    """
    distance = np.where(np.asarray(seeds) != 0, 0.0, _FAR)
    costs = np.empty((len(steps), *distance.shape))
    _fill_step_costs(channels, before, steps, costs)
    nothing = np.empty((0, 0))
    _sweep(costs, nothing, distance, nothing, nothing, before, after, n_passes)
    return distance


@cython.cfunc
@cython.exceptval(-1)
def _sweep(
    costs: cython.const[cython.double][:, :, ::1],
    channel: cython.const[cython.double][:, ::1],
    distance: cython.double[:, ::1],
    highest: cython.double[:, ::1],
    lowest: cython.double[:, ::1],
    before: cython.const[cython.longlong][:, ::1],
    after: cython.const[cython.longlong][:, ::1],
    n_passes: cython.int,
) -> cython.int:
    """The sweeps of either distance: with the costs of steps it is the geodesic one."""
    n_rows: cython.Py_ssize_t = distance.shape[0]
    # The last sweep that changed a row.
    stamp: cython.longlong[::1] = np.zeros(n_rows, np.int64)
    is_geodesic: cython.bint = costs.shape[0] > 0
    with cython.nogil:
        for sweep in range(n_passes):
            turn: cython.int = 1 if sweep % 2 == 0 else -1
            changed: cython.bint = False
            for i in range(n_rows):
                y: cython.Py_ssize_t = i if turn == 1 else n_rows - 1 - i
                due: cython.bint = stamp[y] >= sweep - 1
                for k in range(before.shape[1]):
                    beside: cython.Py_ssize_t = before[y, k] if turn == 1 else after[y, k]
                    if beside >= 0 and stamp[beside] >= sweep - 1:
                        due = True
                if not due:
                    continue
                better: cython.bint = False
                for k in range(before.shape[1]):
                    beside = before[y, k] if turn == 1 else after[y, k]
                    if beside < 0:
                        continue
                    for t in range(-1, 2):
                        if is_geodesic:
                            better |= _geodesic_from(costs, distance, y, beside, k, turn, t)
                        else:
                            better |= _barrier_from(channel, distance, highest, lowest, y, beside, t)
                if is_geodesic:
                    better |= _geodesic_along(costs, distance, y, turn)
                else:
                    better |= _barrier_along(channel, distance, highest, lowest, y, turn)
                if better:
                    stamp[y] = sweep
                    changed = True
            if not changed and sweep > 0:
                break
    return 0


@cython.cfunc
@cython.nogil
def _barrier_from(
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
def _barrier_along(
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


@cython.cfunc
@cython.exceptval(-1)
def _fill_step_costs(
    channels: cython.const[cython.double][:, :, ::1],
    before: cython.const[cython.longlong][:, ::1],
    steps: cython.const[cython.double][::1],
    costs: cython.double[:, :, ::1],
) -> cython.int:
    """What it costs to come to each pixel from the rows before, left, straight and right, and from its left."""
    along: cython.Py_ssize_t = steps.shape[0] - 1
    with cython.nogil:
        for d in range(steps.shape[0]):
            dx: cython.Py_ssize_t = d % 3 - 1
            for y in range(channels.shape[0]):
                other: cython.Py_ssize_t = y if d == along else before[y, d // 3]
                if other < 0:
                    continue
                for x in range(max(0, -dx), channels.shape[1] - max(0, dx)):
                    squared: cython.double = 0.0
                    for c in range(channels.shape[2]):
                        difference = channels[y, x, c] - channels[other, x + dx, c]
                        squared += difference * difference
                    costs[d, y, x] = sqrt(squared) + steps[d]
    return 0


@cython.cfunc
@cython.nogil
def _geodesic_from(
    costs: cython.const[cython.double][:, :, ::1],
    distance: cython.double[:, ::1],
    y: cython.Py_ssize_t,
    beside: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
    turn: cython.int,
    t: cython.int,
) -> cython.bint:
    """Try the neighbours in a row swept before, `t` to the right; no pixel waits for another."""
    n_better: cython.Py_ssize_t = 0
    # A step is kept at its later end: going back that is where it comes from.
    shift: cython.Py_ssize_t = 0 if turn == 1 else t
    later: cython.Py_ssize_t = y if turn == 1 else beside
    direction: cython.Py_ssize_t = 3 * k + 1 + t * turn
    for x in range(max(0, -t), distance.shape[1] - max(0, t)):
        way = distance[beside, x + t] + costs[direction, later, x + shift]
        shorter: cython.bint = way < distance[y, x]
        distance[y, x] = way if shorter else distance[y, x]
        n_better += shorter
    return n_better > 0


@cython.cfunc
@cython.nogil
def _geodesic_along(
    costs: cython.const[cython.double][:, :, ::1],
    distance: cython.double[:, ::1],
    y: cython.Py_ssize_t,
    turn: cython.int,
) -> cython.bint:
    """Try the neighbours within a row, one after the other."""
    width = distance.shape[1]
    better: cython.bint = False
    for j in range(1, width):
        x: cython.Py_ssize_t = j if turn == 1 else width - 1 - j
        way = distance[y, x - turn] + costs[costs.shape[0] - 1, y, max(x, x - turn)]
        if way < distance[y, x]:
            distance[y, x] = way
            better = True
    return better
