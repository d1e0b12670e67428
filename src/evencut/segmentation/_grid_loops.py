"""Compiled passes over the pixels: differences of neighbours on the 8-connected grid, what labels beyond a window pull
at, and products with a graph that is read from its lists of neighbours."""

from ..interpreted import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np

Real = cython.fused_type(cython.float, cython.double)


def squared_differences(image, dy: cython.int, dx: cython.int):
    """Squared difference of each pixel and its neighbour one step on, of the shape of the pairs; `dy` is 0 or 1."""
    height, width = image.shape[:2]
    differences = np.empty((height - dy, width - abs(dx)), image.dtype)
    _fill_differences(np.ascontiguousarray(image), dy, dx, differences)
    return differences


def _fill_differences(image: cython.const[Real][:, :, ::1], dy: cython.int, dx: cython.int, out: Real[:, ::1]):
    left: cython.Py_ssize_t = max(0, -dx)
    y: cython.Py_ssize_t
    x: cython.Py_ssize_t
    c: cython.Py_ssize_t
    with cython.nogil:
        for y in range(out.shape[0]):
            for x in range(left, left + out.shape[1]):
                total: Real = 0
                for c in range(image.shape[2]):
                    difference: Real = image[y + dy, x + dx, c] - image[y, x, c]
                    total += difference * difference
                out[y, x - left] = total


def sum_of_squared_differences(image, dy: cython.int, dx: cython.int):
    """Their sum, in eight parts that are added side by side."""
    height, _, n_channels = image.shape
    return _sum_differences(np.ascontiguousarray(image).reshape(height, -1), dy, dx * n_channels)


def _sum_differences(rows: cython.const[Real][:, ::1], dy: cython.int, shift: cython.Py_ssize_t):
    left: cython.Py_ssize_t = max(0, -shift)
    size: cython.Py_ssize_t = max(0, rows.shape[1] - abs(shift))
    parts: cython.double[::1] = np.zeros(8)
    y: cython.Py_ssize_t
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    total: cython.double = 0.0
    with cython.nogil:
        for y in range(rows.shape[0] - dy):
            for i in range(left, left + size // 8 * 8, 8):
                for t in range(8):
                    difference: Real = rows[y + dy, i + t + shift] - rows[y, i + t]
                    parts[t] += difference * difference
            for i in range(left + size // 8 * 8, left + size):
                difference = rows[y + dy, i + shift] - rows[y, i]
                parts[0] += difference * difference
        for t in range(8):
            total += parts[t]
    return total


def add_pull(
    weights: cython.const[cython.double][:, :, ::1],
    known,
    window,
    steps: cython.const[cython.longlong][:, ::1],
    pull: cython.double[:, ::1],
):
    """Add to `pull`, a window of the grid, what known labels just outside add to the cost of label 1 at its rim."""
    label: cython.const[cython.short][:, :] = np.asarray(known, dtype=np.int16)
    top: cython.Py_ssize_t = window[0]
    bottom: cython.Py_ssize_t = window[1]
    left: cython.Py_ssize_t = window[2]
    right: cython.Py_ssize_t = window[3]
    y: cython.Py_ssize_t
    d: cython.Py_ssize_t
    with cython.nogil:
        for y in range(top, bottom):
            inner: cython.bint = top < y < bottom - 1
            x: cython.Py_ssize_t = left
            while x < right:
                for d in range(8):
                    yy: cython.Py_ssize_t = y + steps[d, 0]
                    xx: cython.Py_ssize_t = x + steps[d, 1]
                    if top <= yy < bottom and left <= xx < right:
                        continue
                    if 0 <= yy < label.shape[0] and 0 <= xx < label.shape[1]:
                        pull[y - top, x - left] += -weights[y, x, d] if label[yy, xx] == 1 else weights[y, x, d]
                # Rows inside the window have a rim at their two ends only.
                x = right - 1 if inner and x < right - 1 else x + 1


def add_products(
    neighbors: cython.const[cython.int][:, ::1], columns: cython.const[cython.double][:, ::1], out: cython.double[:, ::1]
):
    """Add (G + G')/2 times the columns to `out`, where G has a one at each neighbour listed."""
    p: cython.Py_ssize_t
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for p in range(neighbors.shape[0]):
            for t in range(neighbors.shape[1]):
                q = neighbors[p, t]
                for k in range(columns.shape[1]):
                    out[p, k] += 0.5 * columns[q, k]
                    out[q, k] += 0.5 * columns[p, k]


def add_product(
    neighbors: cython.const[cython.int][:, ::1], vector: cython.const[cython.double][::1], out: cython.double[::1]
):
    """The same for one vector."""
    p: cython.Py_ssize_t
    t: cython.Py_ssize_t
    with cython.nogil:
        for p in range(neighbors.shape[0]):
            own = 0.5 * vector[p]
            total = 0.0
            for t in range(neighbors.shape[1]):
                q = neighbors[p, t]
                total += vector[q]
                out[q] += own
            out[p] += 0.5 * total
