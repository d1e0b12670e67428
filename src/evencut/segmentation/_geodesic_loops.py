# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled raster scans of the geodesic distance over an image."""

from __future__ import annotations

import numpy as np
from numba import njit

_FAR = 1e300


@njit(cache=True)
def geodesic_scan(channels, seeds, step, n_passes):
    """Length of the shortest way to a seed, by sweeps that alternate between the two corners of the image.

    A step costs the difference of the colours and `step` for each pixel of its length.
    """
    height, width, n_channels = channels.shape
    distance = np.where(seeds, 0.0, _FAR)
    for sweep in range(n_passes):
        turn = 1 if sweep % 2 == 0 else -1
        changed = False
        for i in range(height):
            y = i if turn == 1 else height - 1 - i
            for j in range(width):
                x = j if turn == 1 else width - 1 - j
                best = distance[y, x]
                for t in range(4):
                    yy = y - turn if t < 3 else y
                    xx = x + t - 1 if t < 3 else x - turn
                    if yy < 0 or xx < 0 or yy >= height or xx >= width or distance[yy, xx] >= best:
                        continue
                    squared = 0.0
                    for c in range(n_channels):
                        difference = channels[y, x, c] - channels[yy, xx, c]
                        squared += difference * difference
                    length = np.sqrt(2.0) if t == 0 or t == 2 else 1.0
                    way = distance[yy, xx] + np.sqrt(squared) + step * length
                    if way < best:
                        best = way
                        changed = True
                distance[y, x] = best
        if not changed and sweep > 0:
            break
    return distance
