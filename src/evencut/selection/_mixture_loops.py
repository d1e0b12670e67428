# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops of a mixture of Gaussians: covariances of the components, and how likely each is at every point."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

__all__ = ["covariance_factors", "log_joint_of_factors"]

# A point that belongs to a component by less than this share, times its mass, adds nothing to a covariance.
_NEGLIGIBLE = 1e-15


@compiled
def covariance_factors(X, share, size, means, floor):
    """Lower Cholesky factors of the covariances of the components, `floor` added to every variance."""
    n, d = X.shape
    factors = np.zeros((len(size), d, d))
    apart = np.empty(d)
    for k in range(len(size)):
        sums = factors[k]
        for p in range(n):
            mass = share[p, k]
            if mass < _NEGLIGIBLE:
                continue
            for i in range(d):
                apart[i] = X[p, i] - means[k, i]
            for i in range(d):
                for j in range(i + 1):
                    sums[i, j] += mass * apart[i] * apart[j]
        for i in range(d):
            for j in range(i + 1):
                sums[i, j] /= size[k]
            sums[i, i] += floor
        _factorize(sums)
    return factors


@compiled
def _factorize(matrix):
    """Cholesky's factor in place of the lower half; a pivot lost to rounding is taken for the smallest there is."""
    d = len(matrix)
    for j in range(d):
        pivot = matrix[j, j]
        for i in range(j):
            pivot -= matrix[j, i] ** 2
        matrix[j, j] = np.sqrt(max(pivot, 1e-14 * matrix[j, j]))
        for i in range(j + 1, d):
            total = matrix[i, j]
            for m in range(j):
                total -= matrix[i, m] * matrix[j, m]
            matrix[i, j] = total / matrix[j, j]


@compiled
def log_joint_of_factors(X, size, means, factors):
    """Logarithm, up to a constant, of the weight of each component times its density at each point."""
    n, d = X.shape
    joint = np.empty((n, len(size)))
    whitened = np.empty(d)
    for k in range(len(size)):
        factor = factors[k]
        constant = np.log(size[k])
        for i in range(d):
            constant -= np.log(factor[i, i])
        for p in range(n):
            squared = 0.0
            for i in range(d):
                value = X[p, i] - means[k, i]
                for j in range(i):
                    value -= factor[i, j] * whitened[j]
                whitened[i] = value / factor[i, i]
                squared += whitened[i] ** 2
            joint[p, k] = constant - 0.5 * squared
    return joint
