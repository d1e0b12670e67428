# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled raster scans of the geodesic distance over an image."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

_FAR = 1e300


@compiled
def geodesic_scan(channels, seeds, step, n_passes):
    """Length of the shortest way to a seed, by sweeps that alternate between the two corners of the image.

    A step costs the difference of the colours and `step` for each pixel of its length. Rows that nothing has changed
    in or beside since they were last swept the same way are passed over.
    """
    height, width = seeds.shape
    distance = np.where(seeds, 0.0, _FAR)
    costs = _step_costs(channels, step)
    stamp = np.zeros(height, np.int64)
    for sweep in range(n_passes):
        turn = 1 if sweep % 2 == 0 else -1
        changed = False
        for i in range(height):
            y = i if turn == 1 else height - 1 - i
            if stamp[y] < sweep - 1 and (i == 0 or stamp[y - turn] < sweep - 1):
                continue
            better = False
            if i > 0:
                for t in range(-1, 2):
                    first, last = max(0, -t), width - max(0, t)
                    # A step is kept at its lower end: going up that is where it comes from.
                    shift = 0 if turn == 1 else t
                    steps = costs[1 + t * turn, max(y, y - turn), first + shift : last + shift]
                    before = distance[y - turn, first + t : last + t]
                    better |= _come_from(before, steps, distance[y, first:last])
            better |= _come_along(costs[3, y], turn, distance[y])
            if better:
                stamp[y] = sweep
                changed = True
        if not changed and sweep > 0:
            break
    return distance


@compiled
def _step_costs(channels, step):
    """What it costs to come to each pixel from up left, up, up right and left."""
    height, width, n_channels = channels.shape
    costs = np.empty((4, height, width))
    for t in range(4):
        dy, dx = (-1, t - 1) if t < 3 else (0, -1)
        length = np.sqrt(2.0) if t == 0 or t == 2 else 1.0
        for y in range(-dy, height):
            for x in range(max(0, -dx), width - max(0, dx)):
                squared = 0.0
                for c in range(n_channels):
                    difference = channels[y, x, c] - channels[y + dy, x + dx, c]
                    squared += difference * difference
                costs[t, y, x] = np.sqrt(squared) + step * length
    return costs


@compiled
def _come_from(before, steps, distance):
    """Try the neighbours in the row swept before; no pixel waits for another."""
    n_better = 0
    for x in range(distance.size):
        way = before[x] + steps[x]
        shorter = way < distance[x]
        distance[x] = way if shorter else distance[x]
        n_better += shorter
    return n_better > 0


@compiled
def _come_along(steps, turn, distance):
    """Try the neighbours within a row, one after the other."""
    width = distance.size
    better = False
    for j in range(1, width):
        x = j if turn == 1 else width - 1 - j
        way = distance[x - turn] + steps[max(x, x - turn)]
        if way < distance[x]:
            distance[x] = way
            better = True
    return better
