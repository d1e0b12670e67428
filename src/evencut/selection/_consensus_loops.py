"""Compiled loops of selection: Rand indices of all pairs of partitions, and affinities lowered at steps in density."""

from .._lazy import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import exp

__all__ = ["rand_indices", "step_down"]

Real = cython.fused_type(cython.float, cython.double)


def rand_indices(
    labels: cython.const[cython.int][:, ::1], weights: cython.const[cython.double][::1], n_labels: cython.Py_ssize_t
):
    """The adjusted Rand index of every pair of rows, in the form for weights: sums of squares in place of pairs.

    Examples
    --------
    >>> rand_indices(np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], dtype=np.int32), np.ones(4), 2)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    n_partitions: cython.Py_ssize_t = labels.shape[0]
    agreement = np.ones((n_partitions, n_partitions))
    index: cython.double[:, ::1] = agreement
    pairs: cython.double[::1] = np.empty(n_partitions)
    both: cython.double[:, ::1] = np.empty((n_labels, n_labels))
    total: cython.double = 0.0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(weights.shape[0]):
            total += weights[i]
        for i in range(n_partitions):
            # A partition shares its sizes with itself.
            pairs[i] = _shared_squares(labels, weights, i, i, both)
            for j in range(i):
                by_chance = pairs[i] * pairs[j] / (total * total)
                most = (pairs[i] + pairs[j]) / 2
                # Two partitions that are both all one cluster agree.
                index[i, j] = 1.0
                if most > by_chance:
                    shared = _shared_squares(labels, weights, i, j, both)
                    index[i, j] = (shared - by_chance) / (most - by_chance)
                index[j, i] = index[i, j]
    return agreement


@cython.cfunc
@cython.nogil
def _shared_squares(
    labels: cython.const[cython.int][:, ::1],
    weights: cython.const[cython.double][::1],
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    both: cython.double[:, ::1],
) -> cython.double:
    """The sum of the squared weights that clusters of two partitions share."""
    p: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    both[:, :] = 0.0
    for p in range(weights.shape[0]):
        both[labels[i, p], labels[j, p]] += weights[p]
    total: cython.double = 0.0
    for a in range(both.shape[0]):
        for b in range(both.shape[1]):
            total += both[a, b] * both[a, b]
    return total


def step_down(indptr, indices, data, density, sharpness):
    """The entries of a CSR matrix times exp(-sharpness (difference of densities)^2)."""
    lowered = np.empty_like(data)
    _fill_lowered(np.asarray(indptr, np.int64), np.asarray(indices, np.int32), data, density, sharpness, lowered)
    return lowered


def _fill_lowered(
    indptr: cython.const[cython.longlong][::1],
    indices: cython.const[cython.int][::1],
    data: cython.const[Real][::1],
    density: cython.const[cython.double][::1],
    sharpness: cython.double,
    lowered: Real[::1],
):
    p: cython.Py_ssize_t
    e: cython.Py_ssize_t
    with cython.nogil:
        for p in range(indptr.shape[0] - 1):
            for e in range(indptr[p], indptr[p + 1]):
                apart = density[p] - density[indices[e]]
                lowered[e] = data[e] * exp(-sharpness * (apart * apart))
