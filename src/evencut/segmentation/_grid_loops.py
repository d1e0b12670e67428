# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled passes over the 8-connected grid: differences of neighbours, and what labels beyond a window pull at."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled


@compiled
def squared_differences(image, dy, dx):
    """Squared difference of each pixel and its neighbour one step on, of the shape of the pairs; `dy` is 0 or 1."""
    height, width, n_channels = image.shape
    left, right = max(0, -dx), width - max(0, dx)
    out = np.empty((height - dy, right - left), image.dtype)
    for y in range(height - dy):
        for x in range(left, right):
            total = image.dtype.type(0)
            for c in range(n_channels):
                difference = image[y + dy, x + dx, c] - image[y, x, c]
                total += difference * difference
            out[y, x - left] = total
    return out


@compiled
def sum_of_squared_differences(image, dy, dx):
    """Their sum, in eight parts that are added side by side."""
    height, width = image.shape[:2]
    left, right = max(0, -dx), width - max(0, dx)
    parts = np.zeros(8)
    for y in range(height - dy):
        here = image[y, left:right].ravel()
        there = image[y + dy, left + dx : right + dx].ravel()
        whole = here.size // 8 * 8
        for i in range(0, whole, 8):
            for t in range(8):
                difference = there[i + t] - here[i + t]
                parts[t] += difference * difference
        for i in range(whole, here.size):
            difference = there[i] - here[i]
            parts[0] += difference * difference
    return parts.sum()


@compiled
def add_pull(weights, known, window, steps, pull):
    """Add to `pull`, a window of the grid, what known labels just outside add to the cost of label 1 at its rim."""
    height, width = known.shape
    top, bottom, left, right = window
    for y in range(top, bottom):
        inner = top < y < bottom - 1
        x = left
        while x < right:
            for d in range(8):
                yy, xx = y + steps[d, 0], x + steps[d, 1]
                if top <= yy < bottom and left <= xx < right:
                    continue
                if 0 <= yy < height and 0 <= xx < width:
                    pull[y - top, x - left] += -weights[y, x, d] if known[yy, xx] == 1 else weights[y, x, d]
            # Rows inside the window have a rim at their two ends only.
            x = right - 1 if inner and x < right - 1 else x + 1
