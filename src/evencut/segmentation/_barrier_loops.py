# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled raster scans of the minimum barrier distance."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled


@compiled
def barrier_scan(channel, seeds, n_passes):
    """Distance of every pixel to the seeds, by sweeps that alternate between the two corners of the image.

    A sweep tries to come from the four neighbours already swept; each pixel remembers the highest and the lowest
    value on its best path so far. The result is an upper bound of the exact distance, tight in practice. Rows that
    nothing has changed in or beside since they were last swept the same way are passed over.
    """
    height, width = channel.shape
    distance = np.where(seeds, 0.0, np.inf)
    # Where no path has led yet the two are infinitely far apart, so that none leads on from there.
    highest = np.where(seeds, channel, np.inf)
    lowest = np.where(seeds, channel, -np.inf)
    stamp = np.zeros(height, np.int64)
    for sweep in range(n_passes):
        step = 1 if sweep % 2 == 0 else -1
        changed = False
        for i in range(height):
            y = i if step == 1 else height - 1 - i
            if stamp[y] < sweep - 1 and (i == 0 or stamp[y - step] < sweep - 1):
                continue
            better = False
            if i > 0:
                for t in range(-1, 2):
                    first, last = max(0, -t), width - max(0, t)
                    before = highest[y - step, first + t : last + t], lowest[y - step, first + t : last + t]
                    here = distance[y, first:last], highest[y, first:last], lowest[y, first:last]
                    better |= _come_from(channel[y, first:last], before, here)
            better |= _come_along(channel[y], step, distance[y], highest[y], lowest[y])
            if better:
                stamp[y] = sweep
                changed = True
        if not changed and sweep > 0:
            break
    return distance


@compiled
def _come_from(values, before, here):
    """Try the neighbours in the row swept before; no pixel waits for another."""
    high_before, low_before = before
    distance, highest, lowest = here
    n_better = 0
    for x in range(values.size):
        value = values[x]
        high = high_before[x] if high_before[x] > value else value
        low = low_before[x] if low_before[x] < value else value
        shorter = high - low < distance[x]
        distance[x] = high - low if shorter else distance[x]
        highest[x] = high if shorter else highest[x]
        lowest[x] = low if shorter else lowest[x]
        n_better += shorter
    return n_better > 0


@compiled
def _come_along(values, step, distance, highest, lowest):
    """Try the neighbours within a row, one after the other."""
    width = values.size
    better = False
    for j in range(1, width):
        x = j if step == 1 else width - 1 - j
        high = max(highest[x - step], values[x])
        low = min(lowest[x - step], values[x])
        if high - low < distance[x]:
            distance[x], highest[x], lowest[x] = high - low, high, low
            better = True
    return better
