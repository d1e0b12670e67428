# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled median splits of points into cells of equal numbers."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled


@compiled
def split_cells(points, n_levels):
    """The cell of each point: the widest side of every block is split at its median, `n_levels` times."""
    n_points, n_features = points.shape
    order = np.arange(n_points)
    keys = np.empty(n_points, points.dtype)
    for level in range(n_levels):
        n_blocks = 1 << level
        for block in range(n_blocks):
            first, last = block * n_points // n_blocks, (block + 1) * n_points // n_blocks
            axis, width = 0, -1.0
            for c in range(n_features):
                low = high = points[order[first], c]
                for i in range(first + 1, last):
                    value = points[order[i], c]
                    low, high = min(low, value), max(high, value)
                if high - low > width:
                    axis, width = c, high - low
            for i in range(first, last):
                keys[i] = points[order[i], axis]
            _select(keys, order, first, last - 1, (2 * block + 1) * n_points // (2 * n_blocks))
    cells = np.empty(n_points, np.int64)
    n_cells = 1 << n_levels
    for cell in range(n_cells):
        for i in range(cell * n_points // n_cells, (cell + 1) * n_points // n_cells):
            cells[order[i]] = cell
    return cells


@compiled
def _select(keys, order, first, last, place):
    """Bring the key that belongs at `place` there, smaller ones before it and larger ones behind (Hoare)."""
    while first < last:
        pivot = keys[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            last = j
        elif place >= i:
            first = i
        else:
            return
