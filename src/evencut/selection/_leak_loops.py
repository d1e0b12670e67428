# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled random walks inside clusters: what leaves a cluster, and how fast the rest of a walk forgets its start."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

__all__ = ["leak_and_mixing"]


@compiled
def leak_and_mixing(graph, labels, n_clusters, start, n_steps):
    """The share of links that leave each cluster, and one minus the second eigenvalue of the walk inside it.

    The eigenvalue is the Rayleigh quotient after `n_steps` of the power method from `start`, all clusters at once, each
    with its own constant taken out. An empty cluster has NaN for both.
    """
    indptr, indices, data, diagonal, degree = graph
    n = len(labels)
    inside = diagonal.copy()
    own, whole = np.zeros(n_clusters), np.zeros(n_clusters)
    for p in range(n):
        for e in range(indptr[p], indptr[p + 1]):
            if labels[indices[e]] == labels[p] and indices[e] != p:
                inside[p] += data[e]
        own[labels[p]] += inside[p]
        whole[labels[p]] += degree[p]
    values, after = start.copy(), np.empty(n)
    mean, product, square = np.empty(n_clusters), np.empty(n_clusters), np.empty(n_clusters)
    for _ in range(n_steps):
        mean[:], product[:], square[:] = 0.0, 0.0, 0.0
        for p in range(n):
            mean[labels[p]] += inside[p] * values[p]
        for p in range(n):
            if own[labels[p]] > 0:
                values[p] -= mean[labels[p]] / own[labels[p]]
        for p in range(n):
            total = diagonal[p] * values[p]
            for e in range(indptr[p], indptr[p + 1]):
                if labels[indices[e]] == labels[p] and indices[e] != p:
                    total += data[e] * values[indices[e]]
            product[labels[p]] += values[p] * total
            square[labels[p]] += inside[p] * values[p] ** 2
            # A lazy walk: no eigenvalue is negative.
            after[p] = 0.5 * values[p] + (0.5 * total / inside[p] if inside[p] > 0 else 0.0)
        for p in range(n):
            size = np.sqrt(square[labels[p]])
            values[p] = after[p] / size if size > 0 else 0.0
    leak, mixing = np.full(n_clusters, np.nan), np.full(n_clusters, np.nan)
    for k in range(n_clusters):
        if whole[k] > 0:
            leak[k] = 1 - own[k] / whole[k]
            # A cluster of one group has nothing to mix.
            mixing[k] = 1 - product[k] / square[k] if square[k] > 1e-12 * own[k] else 1.0
    return leak, mixing
