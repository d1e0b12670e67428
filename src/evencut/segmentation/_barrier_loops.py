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
    value on its best path so far. The result is an upper bound of the exact distance, tight in practice.
    """
    height, width = channel.shape
    distance = np.where(seeds, 0.0, np.inf)
    highest = channel.copy()
    lowest = channel.copy()
    for sweep in range(n_passes):
        step = 1 if sweep % 2 == 0 else -1
        changed = False
        for i in range(height):
            y = i if step == 1 else height - 1 - i
            for j in range(width):
                x = j if step == 1 else width - 1 - j
                if seeds[y, x]:
                    continue
                value = channel[y, x]
                for t in range(4):
                    yy = y - step if t < 3 else y
                    xx = x + t - 1 if t < 3 else x - step
                    if yy < 0 or xx < 0 or yy >= height or xx >= width or distance[yy, xx] == np.inf:
                        continue
                    high = max(highest[yy, xx], value)
                    low = min(lowest[yy, xx], value)
                    if high - low < distance[y, x]:
                        distance[y, x] = high - low
                        highest[y, x] = high
                        lowest[y, x] = low
                        changed = True
        if not changed and sweep > 0:
            break
    return distance
