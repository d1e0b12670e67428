"""Compiled affinities of the shared-neighbour kernel, one pair at a time, so that no list of pairs is stored."""

from .._lazy import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import exp, pow

Real = cython.fused_type(cython.float, cython.double)


@cython.final
@cython.cclass
class _Pairs:
    """Which rows to fill in, and from what: distances and radii of both sides, starts of rows, weights of shares."""

    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    among: cython.bint
    query_distances: cython.const[cython.double][:, :]
    query_radius: cython.const[cython.double][::1]
    distances: cython.const[cython.double][:, :]
    radius: cython.const[cython.double][::1]
    indptr: cython.const[cython.longlong][::1]
    share: cython.double[::1]
    sharpness: cython.double


def pair_affinities(rows, mine, theirs, among, pattern, sharpness, power: cython.double):
    """Fill in the affinity of query p with point q for the entries (p, q) of some rows of a CSR pattern.

    Distances are those of the tables of neighbours: one of a pair has the other among its own. `among` says that
    queries and points are the same, so that either may have it; the pattern is then symmetric with sorted rows, and
    both entries of a pair are filled in from the row of the lower number.
    """
    query_distances, query_radius, query_lists = mine
    distances, radius, lists = theirs
    indptr, indices, affinities = pattern
    pairs: _Pairs = _Pairs()
    pairs.first, pairs.last = rows
    pairs.among, pairs.sharpness = among, sharpness
    pairs.query_distances, pairs.query_radius = query_distances, query_radius
    pairs.distances, pairs.radius = distances, radius
    pairs.indptr = np.asarray(indptr, dtype=np.int64)
    n_near: cython.Py_ssize_t = lists.shape[1]
    # By the number of common neighbours: a power costs as much as all the rest.
    pairs.share = np.empty(n_near + 1)
    for common in range(n_near + 1):
        pairs.share[common] = pow(cython.cast(cython.double, common) / n_near, power)
    _fill(pairs, query_lists, lists, indices, affinities)


def _fill(
    pairs: _Pairs,
    query_lists: cython.const[cython.int][:, ::1],
    lists: cython.const[cython.int][:, ::1],
    indices: cython.const[cython.int][::1],
    affinities: Real[::1],
):
    # Which query last had a point among its neighbours, and where: common ones are then counted by one look each.
    owner: cython.int[::1] = np.full(lists.shape[0], -1, dtype=np.int32)
    slot: cython.int[::1] = np.zeros(lists.shape[0], dtype=np.int32)
    twin: cython.longlong[::1] = np.empty(lists.shape[0] if pairs.among else 0, dtype=np.int64)
    n_near: cython.Py_ssize_t = lists.shape[1]
    with cython.nogil:
        if pairs.among:
            _find_entries(pairs, indices, twin)
        for p in range(pairs.first, pairs.last):
            for i in range(query_lists.shape[1]):
                owner[query_lists[p, i]] = p
                slot[query_lists[p, i]] = i
            for entry in range(twin[p] if pairs.among else pairs.indptr[p], pairs.indptr[p + 1]):
                q: cython.Py_ssize_t = indices[entry]
                common: cython.Py_ssize_t = 0
                back: cython.Py_ssize_t = -1
                for i in range(n_near):
                    common += owner[lists[q, i]] == p
                    if lists[q, i] == p:
                        back = i
                distance = pairs.query_distances[p, slot[q]] if owner[q] == p else pairs.distances[q, back]
                scaled = distance / pairs.query_radius[p] * (distance / pairs.radius[q])
                affinities[entry] = exp(-pairs.sharpness * scaled) * pairs.share[common]
                if pairs.among:
                    affinities[twin[q]] = affinities[entry]
                    twin[q] += 1


@cython.cfunc
@cython.nogil
def _find_entries(pairs: _Pairs, indices: cython.const[cython.int][::1], entries: cython.longlong[::1]) -> cython.int:
    """The first entry of each sorted row whose column is no lower than the first row to fill in."""
    for p in range(entries.shape[0]):
        low = pairs.indptr[p]
        high = pairs.indptr[p + 1]
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < pairs.first:
                low = middle + 1
            else:
                high = middle
        entries[p] = low
    return 0
