"""Compiled loops over the rows of a block: weights of the nearest landmarks, pairs of them, votes."""

from ..interpreted import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import exp, rint

_EMPTY = cython.declare(cython.longlong, -1)
_MIX = cython.declare(cython.ulonglong, 0x9E3779B1)


def weigh(
    distances: cython.const[cython.double][:, :],
    radius: cython.const[cython.double][::1],
    indices: cython.const[cython.longlong][:, ::1],
    scale: cython.double,
    units: cython.longlong[:, ::1],
):
    """Fill `units` with the weights of the landmarks in `indices`, whole numbers that sum to about `scale`."""
    n_nearest: cython.Py_ssize_t = indices.shape[1]
    exponent: cython.double[::1] = np.empty(n_nearest)
    with cython.nogil:
        for p in range(indices.shape[0]):
            farthest = distances[p, 0]
            for j in range(1, n_nearest):
                if distances[p, j] > farthest:
                    farthest = distances[p, j]
            for j in range(n_nearest):
                # The two ratios are small where the square of a distance might leave the range of floats.
                exponent[j] = (
                    (distances[p, j] / farthest) * (distances[p, j] / radius[indices[p, j]]) if farthest > 0.0 else 0.0
                )
            least = exponent[0]
            for j in range(1, n_nearest):
                if exponent[j] < least:
                    least = exponent[j]
            total: cython.double = 0.0
            for j in range(n_nearest):
                exponent[j] = exp(least - exponent[j])
                total += exponent[j]
            for j in range(n_nearest):
                units[p, j] = cython.cast(cython.longlong, rint(exponent[j] / total * scale))


@cython.cfunc
@cython.nogil
@cython.inline
def _slot(keys: cython.longlong[::1], key: cython.longlong) -> cython.Py_ssize_t:
    """Where `key` is, or would be put, in a table with open addresses."""
    mask: cython.Py_ssize_t = keys.shape[0] - 1
    # A product that leaves the range of whole numbers wraps around.
    mixed: cython.longlong = cython.cast(cython.longlong, cython.cast(cython.ulonglong, key) * _MIX)
    slot: cython.Py_ssize_t = (mixed >> 7) & mask
    while keys[slot] != _EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


def add_pairs(
    indices: cython.const[cython.longlong][:, ::1],
    units: cython.const[cython.longlong][:, ::1],
    mass: cython.const[cython.longlong][::1],
    n_landmarks: cython.longlong,
    keys: cython.longlong[::1],
    sums: cython.longlong[::1],
    n_used: cython.longlong,
):
    """Add the products of the weights of every two landmarks of a row, times its mass, to a growing hash table."""
    n_nearest: cython.Py_ssize_t = indices.shape[1]
    p: cython.Py_ssize_t = 0
    while p < indices.shape[0]:
        is_full: cython.bint = False
        with cython.nogil:
            while p < indices.shape[0] and not is_full:
                for a in range(n_nearest):
                    for b in range(n_nearest):
                        product = units[p, a] * units[p, b] * mass[p]
                        if indices[p, a] > indices[p, b] or product == 0:
                            continue
                        key = indices[p, a] * n_landmarks + indices[p, b]
                        slot = _slot(keys, key)
                        if keys[slot] == _EMPTY:
                            keys[slot] = key
                            n_used += 1
                        sums[slot] += product
                p += 1
                is_full = 2 * (n_used + n_nearest * n_nearest) > keys.shape[0]
        if is_full:
            keys, sums = _doubled(keys, sums)
    return np.asarray(keys), np.asarray(sums), n_used


def _doubled(old_keys: cython.longlong[::1], old_sums: cython.longlong[::1]):
    """The same table with twice the room."""
    new_keys = np.full(2 * old_keys.shape[0], _EMPTY, dtype=np.int64)
    new_sums = np.zeros(2 * old_keys.shape[0], dtype=np.int64)
    keys: cython.longlong[::1] = new_keys
    sums: cython.longlong[::1] = new_sums
    with cython.nogil:
        for old in range(old_keys.shape[0]):
            if old_keys[old] != _EMPTY:
                slot = _slot(keys, old_keys[old])
                keys[slot] = old_keys[old]
                sums[slot] = old_sums[old]
    return new_keys, new_sums


def vote(
    indices: cython.const[cython.longlong][:, ::1],
    units: cython.const[cython.longlong][:, ::1],
    landmark_labels: cython.const[cython.longlong][::1],
    n_clusters: cython.Py_ssize_t,
    labels: cython.longlong[::1],
):
    """Give each row the cluster with the most weight among its landmarks; among equals the first."""
    votes: cython.longlong[::1] = np.empty(n_clusters, dtype=np.int64)
    with cython.nogil:
        for p in range(labels.shape[0]):
            votes[:] = 0
            for j in range(indices.shape[1]):
                votes[landmark_labels[indices[p, j]]] += units[p, j]
            best: cython.Py_ssize_t = 0
            for k in range(1, n_clusters):
                if votes[k] > votes[best]:
                    best = k
            labels[p] = best
