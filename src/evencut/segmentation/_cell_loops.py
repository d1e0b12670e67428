"""Compiled median splits of points into cells of equal numbers, and the nearest of these cells."""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np

_INFINITE = cython.declare(cython.double, float("inf"))


def split_cells(points: cython.const[cython.float][:, ::1], n_levels: cython.int):
    """The cell of each point: the widest side of every block is split at its median, `n_levels` times."""
    n_points: cython.longlong = points.shape[0]
    cells_of_points = np.empty(n_points, np.int64)
    cells: cython.longlong[::1] = cells_of_points
    order: cython.int[::1] = np.arange(n_points, dtype=np.int32)
    keys: cython.float[::1] = np.empty(n_points, np.float32)
    n_cells: cython.longlong = 1 << n_levels
    with cython.nogil:
        for level in range(n_levels):
            _split_level(points, order, keys, level)
        for cell in range(n_cells):
            for i in range(cell * n_points // n_cells, (cell + 1) * n_points // n_cells):
                cells[order[i]] = cell
    return cells_of_points


@cython.cfunc
@cython.nogil
def _split_level(
    points: cython.const[cython.float][:, ::1], order: cython.int[::1], keys: cython.float[::1], level: cython.int
) -> cython.int:
    """Split every block of a level at the median of its widest side."""
    n_points: cython.longlong = points.shape[0]
    n_blocks: cython.longlong = 1 << level
    for block in range(n_blocks):
        first = block * n_points // n_blocks
        last = (block + 1) * n_points // n_blocks
        axis: cython.Py_ssize_t = 0
        width: cython.double = -1.0
        for c in range(points.shape[1]):
            low: cython.float = points[order[first], c]
            high: cython.float = low
            for i in range(first + 1, last):
                value = points[order[i], c]
                low, high = min(low, value), max(high, value)
            if high - low > width:
                axis, width = c, high - low
        for i in range(first, last):
            keys[i] = points[order[i], axis]
        _select(keys, order, first, last - 1, (2 * block + 1) * n_points // (2 * n_blocks))
    return 0


@cython.cfunc
@cython.nogil
def _select(
    keys: cython.float[::1],
    order: cython.int[::1],
    first: cython.longlong,
    last: cython.longlong,
    place: cython.longlong,
) -> cython.int:
    """Bring the key that belongs at `place` there, smaller ones before it and larger ones behind."""
    while first < last:
        begin, middle, end = keys[first], keys[(first + last) // 2], keys[last]
        pivot: cython.float = max(min(begin, middle), min(max(begin, middle), end))
        larger = _bring_forward(keys, order, first, last + 1, pivot, False)
        if place < larger:
            last = larger - 1
            continue
        first = _bring_forward(keys, order, larger, last + 1, pivot, True)
        if place < first:
            return 0
    return 0


@cython.cfunc
@cython.nogil
def _bring_forward(
    keys: cython.float[::1],
    order: cython.int[::1],
    first: cython.longlong,
    last: cython.longlong,
    pivot: cython.float,
    equal: cython.bint,
) -> cython.longlong:
    """Put keys below the pivot first, or those equal to it; returns where they end.

    Every key is exchanged, with itself if need be: a branch that cannot be foretold would cost more.
    """
    place: cython.longlong = first
    for i in range(first, last):
        key, item = keys[i], order[i]
        keys[i], order[i] = keys[place], order[place]
        keys[place], order[place] = key, item
        place += (key < pivot) | (equal & (key == pivot))
    return place


def nearest_cells(
    centres: cython.const[cython.double][:, ::1], n_near: cython.Py_ssize_t, block_size: cython.Py_ssize_t
):
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
    n_cells: cython.Py_ssize_t = centres.shape[0]
    n_blocks: cython.Py_ssize_t = n_cells // block_size
    blocks = np.reshape(centres, (n_blocks, block_size, -1))
    low: cython.double[:, ::1] = np.min(blocks, axis=1)
    high: cython.double[:, ::1] = np.max(blocks, axis=1)
    nearest = np.full((n_cells, n_near), -1, np.int32)
    near: cython.int[:, ::1] = nearest
    heap: cython.double[::1] = np.empty(n_near)
    with cython.nogil:
        for cell in range(n_cells):
            heap[:] = _INFINITE
            own = cell // block_size
            for turn in range(n_blocks):
                # Own block first, then its neighbours in the tree: the limit falls early.
                block = own ^ turn
                gap: cython.double = 0.0
                for c in range(centres.shape[1]):
                    value = centres[cell, c]
                    out: cython.double = max(low[block, c] - value, value - high[block, c], 0.0)
                    gap += out * out
                if gap >= heap[0]:
                    continue
                for other in range(block * block_size, (block + 1) * block_size):
                    squared: cython.double = 0.0
                    for c in range(centres.shape[1]):
                        difference = centres[other, c] - centres[cell, c]
                        squared += difference * difference
                    if squared < heap[0]:
                        _replace_largest(heap, near, cell, squared, other)
    return nearest


@cython.cfunc
@cython.nogil
def _replace_largest(
    heap: cython.double[::1], near: cython.int[:, ::1], row: cython.Py_ssize_t, value: cython.double, item: cython.int
) -> cython.int:
    """Put a value in the place of the largest of a row, which is kept on top."""
    place: cython.Py_ssize_t = 0
    size = heap.shape[0]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place], near[row, place] = heap[child], near[row, child]
        place = child
    heap[place], near[row, place] = value, item
    return 0
