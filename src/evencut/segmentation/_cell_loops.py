# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled median splits of points into cells of equal numbers, and the nearest of these cells."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled


@compiled
def split_cells(points, n_levels):
    """The cell of each point: the widest side of every block is split at its median, `n_levels` times."""
    n_points, n_features = points.shape
    order = np.arange(n_points).astype(np.int32)
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
    """Bring the key that belongs at `place` there, smaller ones before it and larger ones behind."""
    while first < last:
        begin, middle, end = keys[first], keys[(first + last) // 2], keys[last]
        pivot = max(min(begin, middle), min(max(begin, middle), end))
        larger = first + _bring_forward(keys[first : last + 1], order[first : last + 1], pivot, False)
        if place < larger:
            last = larger - 1
            continue
        first = larger + _bring_forward(keys[larger : last + 1], order[larger : last + 1], pivot, True)
        if place < first:
            return


@compiled
def _bring_forward(keys, order, pivot, equal):
    """Put keys below the pivot first, or those equal to it; returns how many they are.

    Every key is exchanged, with itself if need be: a branch that cannot be foretold would cost more.
    """
    place = 0
    for i in range(keys.size):
        key, item = keys[i], order[i]
        keys[i], order[i] = keys[place], order[place]
        keys[place], order[place] = key, item
        place += key <= pivot if equal else key < pivot
    return place


@compiled
def nearest_cells(centres, n_near, block_size):
    """The nearest cells of each cell, itself among them, in no particular order.

    Parameters
    ----------
    centres : ndarray of shape (n_cells, n_features)
        In the order of :func:`split_cells`, so that cells of near numbers lie near each other.
    n_near : int
        At most `n_cells`.
    block_size : int
        Cells that are passed over together where their box is too far; a power of two, as is the number of cells.
    """
    n_cells, n_features = centres.shape
    n_blocks = n_cells // block_size
    low, high = np.empty((n_blocks, n_features)), np.empty((n_blocks, n_features))
    for block in range(n_blocks):
        for c in range(n_features):
            values = centres[block * block_size : (block + 1) * block_size, c]
            low[block, c], high[block, c] = values.min(), values.max()
    near = np.empty((n_cells, n_near), np.int32)
    heap = np.empty(n_near)
    for cell in range(n_cells):
        heap[:] = np.inf
        near[cell] = -1
        own = cell // block_size
        for turn in range(n_blocks):
            # Own block first, then its neighbours in the tree: the limit falls early.
            block = own ^ turn
            gap = 0.0
            for c in range(n_features):
                value = centres[cell, c]
                out = max(low[block, c] - value, value - high[block, c], 0.0)
                gap += out * out
            if gap >= heap[0]:
                continue
            for other in range(block * block_size, (block + 1) * block_size):
                squared = 0.0
                for c in range(n_features):
                    difference = centres[other, c] - centres[cell, c]
                    squared += difference * difference
                if squared < heap[0]:
                    _replace_largest(heap, near[cell], squared, other)
    return near


@compiled
def _replace_largest(heap, items, value, item):
    """Put a value in the place of the largest, which is kept on top."""
    place, size = 0, heap.size
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place], items[place] = heap[child], items[child]
        place = child
    heap[place], items[place] = value, item
