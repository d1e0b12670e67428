"""Compiled passes over the pixels: differences of neighbours, and products with a graph that is read from its lists of
neighbours."""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np

Real = cython.fused_type(cython.float, cython.double)


def squared_differences(here, there):
    """Squared difference of each pixel and its neighbour, of the shape of the pairs, without the axis of channels."""
    differences = np.empty(here.shape[: here.ndim - 1], here.dtype)
    for first, second, out in zip(_planes(here), _planes(there), _planes(differences, 2)):
        _fill_differences(first, second, out)
    return differences


def _planes(values, n_axes=3):
    """Views of the last axes, which are rows, columns and channels."""
    return [values[place] for place in np.ndindex(values.shape[:-n_axes])]


def _fill_differences(here: cython.const[Real][:, :, :], there: cython.const[Real][:, :, :], out: Real[:, :]):
    with cython.nogil:
        for y in range(out.shape[0]):
            for x in range(out.shape[1]):
                total: Real = 0
                for c in range(here.shape[2]):
                    difference: Real = there[y, x, c] - here[y, x, c]
                    total += difference * difference
                out[y, x] = total


def sum_of_squared_differences(here, there):
    """Their sum."""
    return sum(_sum_differences(first, second) for first, second in zip(_planes(here), _planes(there)))


def _sum_differences(here: cython.const[Real][:, :, :], there: cython.const[Real][:, :, :]):
    total: cython.double = 0.0
    with cython.nogil:
        for y in range(here.shape[0]):
            # A row at a time: few roundings, and sums that do not wait for each other.
            row: cython.double = 0.0
            for x in range(here.shape[1]):
                for c in range(here.shape[2]):
                    difference: Real = there[y, x, c] - here[y, x, c]
                    row += difference * difference
            total += row
    return total
