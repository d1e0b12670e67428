"""Compiled count of the neighbours that two points have in common, one pair an edge of a graph."""

import numpy as np
from numba import njit


@njit(cache=True)
def count_shared(lists, other_lists, indptr, indices):
    """For each entry (p, q) of a CSR pattern, how many of `lists[p]` are in `other_lists[q]`."""
    n_points = 0
    for row in lists:
        for point in row:
            n_points = max(n_points, point + 1)
    for row in other_lists:
        for point in row:
            n_points = max(n_points, point + 1)
    owner = np.full(n_points, -1, dtype=np.int64)
    shared = np.zeros(len(indices), dtype=np.float64)
    for p in range(len(lists)):
        for point in lists[p]:
            owner[point] = p
        for entry in range(indptr[p], indptr[p + 1]):
            count = 0
            for point in other_lists[indices[entry]]:
                count += owner[point] == p
            shared[entry] = count
    return shared
