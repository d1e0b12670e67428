"""Compiled loops of a mixture of Gaussians: covariances of the components, and how likely each is at every point."""

from .._lazy import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import log, sqrt

__all__ = ["covariance_factors", "log_joint_of_factors"]

# A point that belongs to a component by less than this share, times its mass, adds nothing to a covariance.
_NEGLIGIBLE = cython.declare(cython.double, 1e-15)


def covariance_factors(
    X: cython.const[cython.double][:, :],
    share: cython.const[cython.double][:, :],
    size: cython.const[cython.double][::1],
    means: cython.const[cython.double][:, ::1],
    floor: cython.double,
):
    """Lower Cholesky factors of the covariances of the components, `floor` added to every variance."""
    d: cython.Py_ssize_t = X.shape[1]
    factors = np.zeros((size.shape[0], d, d))
    sums: cython.double[:, :, ::1] = factors
    apart: cython.double[::1] = np.empty(d)
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for k in range(size.shape[0]):
            for p in range(X.shape[0]):
                mass = share[p, k]
                if mass < _NEGLIGIBLE:
                    continue
                for i in range(d):
                    apart[i] = X[p, i] - means[k, i]
                for i in range(d):
                    weighted = mass * apart[i]
                    for j in range(i + 1):
                        sums[k, i, j] += weighted * apart[j]
            for i in range(d):
                for j in range(i + 1):
                    sums[k, i, j] /= size[k]
                sums[k, i, i] += floor
            _factorize(sums, k)
    return factors


@cython.cfunc
@cython.nogil
def _factorize(matrices: cython.double[:, :, ::1], k: cython.Py_ssize_t) -> cython.int:
    """Cholesky's factor in place of the lower half; a pivot lost to rounding is taken for the smallest there is."""
    d: cython.Py_ssize_t = matrices.shape[1]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    m: cython.Py_ssize_t
    for j in range(d):
        pivot = matrices[k, j, j]
        for i in range(j):
            pivot -= matrices[k, j, i] * matrices[k, j, i]
        matrices[k, j, j] = sqrt(max(pivot, 1e-14 * matrices[k, j, j]))
        for i in range(j + 1, d):
            total = matrices[k, i, j]
            for m in range(j):
                total -= matrices[k, i, m] * matrices[k, j, m]
            matrices[k, i, j] = total / matrices[k, j, j]
    return 0


def log_joint_of_factors(
    X: cython.const[cython.double][:, :],
    size: cython.const[cython.double][::1],
    means: cython.const[cython.double][:, ::1],
    factors: cython.const[cython.double][:, :, ::1],
):
    """Logarithm, up to a constant, of the weight of each component times its density at each point."""
    d: cython.Py_ssize_t = X.shape[1]
    logarithms = np.empty((X.shape[0], size.shape[0]))
    joint: cython.double[:, ::1] = logarithms
    whitened: cython.double[::1] = np.empty(d)
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for k in range(size.shape[0]):
            constant = log(size[k])
            for i in range(d):
                constant -= log(factors[k, i, i])
            for p in range(X.shape[0]):
                squared: cython.double = 0.0
                for i in range(d):
                    value = X[p, i] - means[k, i]
                    for j in range(i):
                        value -= factors[k, i, j] * whitened[j]
                    whitened[i] = value / factors[k, i, i]
                    squared += whitened[i] * whitened[i]
                joint[p, k] = constant - 0.5 * squared
    return logarithms
