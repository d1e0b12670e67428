"""Compiled raster scans of the geodesic distance over an image."""

from ..interpreted import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

_FAR = 1e300


def geodesic_scan(
    channels: cython.const[cython.double][:, :, ::1],
    seeds: cython.const[cython.uchar][:, ::1],
    step: cython.double,
    n_passes: cython.int,
):
    """Length of the shortest way to a seed, by sweeps that alternate between the two corners of the image.

    A step costs the difference of the colours and `step` for each pixel of its length. Rows that nothing has changed
    in or beside since they were last swept the same way are passed over.
    """
    distance = np.where(np.asarray(seeds) != 0, 0.0, _FAR)
    costs = np.empty((4, *distance.shape))
    _fill_step_costs(channels, step, costs)
    _sweep(costs, distance, np.zeros(len(distance), np.int64), n_passes)
    return distance


@cython.cfunc
def _sweep(
    costs: cython.const[cython.double][:, :, ::1],
    distance: cython.double[:, ::1],
    stamp: cython.longlong[::1],
    n_passes: cython.int,
) -> cython.int:
    height: cython.Py_ssize_t = distance.shape[0]
    sweep: cython.int
    i: cython.Py_ssize_t
    t: cython.int
    with cython.nogil:
        for sweep in range(n_passes):
            turn: cython.int = 1 if sweep % 2 == 0 else -1
            changed: cython.bint = False
            for i in range(height):
                y: cython.Py_ssize_t = i if turn == 1 else height - 1 - i
                if stamp[y] < sweep - 1 and (i == 0 or stamp[y - turn] < sweep - 1):
                    continue
                better: cython.bint = False
                if i > 0:
                    for t in range(-1, 2):
                        better |= _come_from(costs, distance, y, turn, t)
                better |= _come_along(costs, distance, y, turn)
                if better:
                    stamp[y] = sweep
                    changed = True
            if not changed and sweep > 0:
                break
    return 0


@cython.cfunc
def _fill_step_costs(
    channels: cython.const[cython.double][:, :, ::1], step: cython.double, costs: cython.double[:, :, ::1]
) -> cython.int:
    """What it costs to come to each pixel from up left, up, up right and left."""
    t: cython.Py_ssize_t
    y: cython.Py_ssize_t
    x: cython.Py_ssize_t
    c: cython.Py_ssize_t
    with cython.nogil:
        for t in range(4):
            dy: cython.Py_ssize_t = -1 if t < 3 else 0
            dx: cython.Py_ssize_t = t - 1 if t < 3 else -1
            length = sqrt(2.0) if t == 0 or t == 2 else 1.0
            for y in range(-dy, channels.shape[0]):
                for x in range(max(0, -dx), channels.shape[1] - max(0, dx)):
                    squared = 0.0
                    for c in range(channels.shape[2]):
                        difference = channels[y, x, c] - channels[y + dy, x + dx, c]
                        squared += difference * difference
                    costs[t, y, x] = sqrt(squared) + step * length
    return 0


@cython.cfunc
@cython.nogil
def _come_from(
    costs: cython.const[cython.double][:, :, ::1],
    distance: cython.double[:, ::1],
    y: cython.Py_ssize_t,
    turn: cython.int,
    t: cython.int,
) -> cython.bint:
    """Try the neighbours in the row swept before, `t` to the right; no pixel waits for another."""
    n_better: cython.Py_ssize_t = 0
    x: cython.Py_ssize_t
    # A step is kept at its lower end: going up that is where it comes from.
    shift: cython.Py_ssize_t = 0 if turn == 1 else t
    lower: cython.Py_ssize_t = y if turn == 1 else y + 1
    direction: cython.Py_ssize_t = 1 + t * turn
    for x in range(max(0, -t), distance.shape[1] - max(0, t)):
        way = distance[y - turn, x + t] + costs[direction, lower, x + shift]
        shorter: cython.bint = way < distance[y, x]
        distance[y, x] = way if shorter else distance[y, x]
        n_better += shorter
    return n_better > 0


@cython.cfunc
@cython.nogil
def _come_along(
    costs: cython.const[cython.double][:, :, ::1], distance: cython.double[:, ::1], y: cython.Py_ssize_t, turn: cython.int
) -> cython.bint:
    """Try the neighbours within a row, one after the other."""
    width = distance.shape[1]
    better: cython.bint = False
    j: cython.Py_ssize_t
    for j in range(1, width):
        x: cython.Py_ssize_t = j if turn == 1 else width - 1 - j
        way = distance[y, x - turn] + costs[3, y, max(x, x - turn)]
        if way < distance[y, x]:
            distance[y, x] = way
            better = True
    return better
