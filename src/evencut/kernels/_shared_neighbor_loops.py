"""Compiled affinities of the shared-neighbour kernel, one pair at a time, without a list of pairs."""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import exp, pow

Real = cython.fused_type(cython.float, cython.double)


def pair_affinities(
    rows, mine, theirs, is_symmetric: cython.bint, indptr, indices: cython.const[cython.int][::1],
    affinities: Real[::1], shape,
):  # fmt: skip
    """Fill in the affinity of query p with point q for the entries (p, q) of some rows of a CSR pattern.

    Distances are those of the tables of neighbours: one of a pair has the other among its own. `is_symmetric` if
    queries and points are the same: either may have it, the pattern is symmetric with sorted rows, and both entries of
    a pair are filled in from the row of the lower number. The shape is the sharpness and the power of the kernel.
    """
    sharpness: cython.double = shape[0]
    power: cython.double = shape[1]
    first: cython.Py_ssize_t = rows[0]
    last: cython.Py_ssize_t = rows[1]
    query_distances: cython.const[cython.double][:, :] = mine[0]
    query_radius: cython.const[cython.double][::1] = mine[1]
    query_lists: cython.const[cython.int][:, ::1] = mine[2]
    distances: cython.const[cython.double][:, :] = theirs[0]
    radius: cython.const[cython.double][::1] = theirs[1]
    lists: cython.const[cython.int][:, ::1] = theirs[2]
    ends: cython.const[cython.longlong][::1] = np.asarray(indptr, dtype=np.int64)
    n_near: cython.Py_ssize_t = lists.shape[1]
    # Tabulated by the number of common neighbours: a power costs half of the time.
    share: cython.double[::1] = np.empty(n_near + 1)
    for common in range(n_near + 1):
        share[common] = pow(cython.cast(cython.double, common) / n_near, power)
    # Which query last had a point among its neighbours, and where: common ones are then counted by one look each.
    owner: cython.int[::1] = np.full(lists.shape[0], -1, dtype=np.int32)
    slot: cython.int[::1] = np.zeros(lists.shape[0], dtype=np.int32)
    twin: cython.longlong[::1] = np.empty(lists.shape[0] if is_symmetric else 0, dtype=np.int64)
    with cython.nogil:
        # The first entry of each sorted row whose column is at least the first row to fill in.
        for p in range(twin.shape[0]):
            low = ends[p]
            high = ends[p + 1]
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < first:
                    low = middle + 1
                else:
                    high = middle
            twin[p] = low
        for p in range(first, last):
            for i in range(query_lists.shape[1]):
                owner[query_lists[p, i]] = p
                slot[query_lists[p, i]] = i
            for entry in range(twin[p] if is_symmetric else ends[p], ends[p + 1]):
                q: cython.Py_ssize_t = indices[entry]
                n_common: cython.Py_ssize_t = 0
                back: cython.Py_ssize_t = -1
                for i in range(n_near):
                    n_common += owner[lists[q, i]] == p
                    if lists[q, i] == p:
                        back = i
                distance = query_distances[p, slot[q]] if owner[q] == p else distances[q, back]
                scaled = distance / query_radius[p] * (distance / radius[q])
                affinities[entry] = exp(-sharpness * scaled) * share[n_common]
                if is_symmetric:
                    affinities[twin[q]] = affinities[entry]
                    twin[q] += 1
