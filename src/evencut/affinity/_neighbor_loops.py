"""Compiled loops over tables of neighbours: their symmetric union."""

from ..interpreted import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np

Real = cython.fused_type(cython.float, cython.double)


def transpose_table(table: cython.int[:, ::1]):
    """For each point, the points that have it among their neighbours, in rising order; where each list starts.

    The rows of the table are sorted too, in place: lists in rising order put every point back in its turn.

    Examples
    --------
    >>> table = np.array([[0, 1], [1, 0], [2, 1]], dtype=np.int32)
    >>> transpose_table(table)
    (array([0, 2, 5, 6]), array([0, 1, 0, 1, 2, 2], dtype=int32))
    """
    n: cython.Py_ssize_t = table.shape[0]
    k: cython.Py_ssize_t = table.shape[1]
    begins, lists = np.zeros(n + 1, dtype=np.int64), np.empty(n * k, dtype=np.int32)
    starts: cython.longlong[::1] = begins
    sources: cython.int[::1] = lists
    fill: cython.longlong[::1] = np.zeros(n, dtype=np.int64)
    with cython.nogil:
        for p in range(n):
            for i in range(k):
                starts[table[p, i] + 1] += 1
        for p in range(n):
            starts[p + 1] += starts[p]
            fill[p] = starts[p]
        for p in range(n):
            for i in range(k):
                q = table[p, i]
                sources[fill[q]] = p
                fill[q] += 1
        fill[:] = 0
        for q in range(n):
            for at in range(starts[q], starts[q + 1]):
                p = sources[at]
                table[p, fill[p]] = q
                fill[p] += 1
    return begins, lists


def union_sizes(
    table: cython.const[cython.int][:, ::1],
    starts: cython.const[cython.longlong][::1],
    sources: cython.const[cython.int][::1],
    one_sided: cython.bint,
):
    """Row starts of the union (or, unless one_sided, of the intersection) of each row with its transpose."""
    k: cython.Py_ssize_t = table.shape[1]
    ends = np.zeros(table.shape[0] + 1, dtype=np.int64)
    indptr: cython.longlong[::1] = ends
    with cython.nogil:
        for p in range(table.shape[0]):
            i: cython.Py_ssize_t = 0
            j: cython.Py_ssize_t = starts[p]
            last: cython.Py_ssize_t = starts[p + 1]
            both: cython.Py_ssize_t = 0
            while i < k and j < last:
                if table[p, i] == sources[j]:
                    both += 1
                    i += 1
                    j += 1
                elif table[p, i] < sources[j]:
                    i += 1
                else:
                    j += 1
            indptr[p + 1] = indptr[p] + (k + last - starts[p] - both if one_sided else both)
    return ends


def fill_union(
    table: cython.const[cython.int][:, ::1],
    starts: cython.const[cython.longlong][::1],
    sources: cython.const[cython.int][::1],
    one_sided: cython.bint,
    lone: cython.double,
    indptr: cython.const[cython.longlong][::1],
    columns: cython.int[::1],
    data: Real[::1],
):
    """Columns and values of the union: `lone` where only one of a pair names the other, else what data holds."""
    k: cython.Py_ssize_t = table.shape[1]
    with cython.nogil:
        for p in range(table.shape[0]):
            i: cython.Py_ssize_t = 0
            j: cython.Py_ssize_t = starts[p]
            last: cython.Py_ssize_t = starts[p + 1]
            at: cython.Py_ssize_t = indptr[p]
            while i < k or j < last:
                mine: cython.bint = i < k and (j == last or table[p, i] <= sources[j])
                theirs: cython.bint = j < last and (i == k or sources[j] <= table[p, i])
                if one_sided or (mine and theirs):
                    columns[at] = table[p, i] if mine else sources[j]
                    if mine != theirs:
                        data[at] = lone
                    at += 1
                i += mine
                j += theirs
