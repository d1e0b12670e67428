# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops of selection: Rand indices of all pairs of partitions, and affinities lowered at steps in density."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

__all__ = ["rand_indices", "step_down"]


@compiled
def rand_indices(labels, weights, n_labels):
    """The adjusted Rand index of every pair of rows, in the form for weights: sums of squares in place of pairs."""
    n_partitions, n = labels.shape
    total = weights.sum()
    sizes = np.zeros((n_partitions, n_labels))
    for i in range(n_partitions):
        for p in range(n):
            sizes[i, labels[i, p]] += weights[p]
    pairs = (sizes**2).sum(axis=1)
    found = np.ones((n_partitions, n_partitions))
    both = np.empty((n_labels, n_labels))
    for i in range(n_partitions):
        for j in range(i):
            both[:] = 0.0
            for p in range(n):
                both[labels[i, p], labels[j, p]] += weights[p]
            by_chance = pairs[i] * pairs[j] / total**2
            most = (pairs[i] + pairs[j]) / 2
            # Two partitions that are both all one cluster agree.
            index = ((both**2).sum() - by_chance) / (most - by_chance) if most > by_chance else 1.0
            found[i, j] = found[j, i] = index
    return found


@compiled
def step_down(indptr, indices, data, density, sharpness):
    """The entries of a CSR matrix times exp(-sharpness (difference of densities)^2)."""
    lowered = np.empty_like(data)
    for p in range(len(indptr) - 1):
        for e in range(indptr[p], indptr[p + 1]):
            lowered[e] = data[e] * np.exp(-sharpness * (density[p] - density[indices[e]]) ** 2)
    return lowered
