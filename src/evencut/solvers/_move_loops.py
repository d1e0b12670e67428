# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops of the single-point moves; imported only when moves are made.

`clusters` is the labels of the points and, of each cluster, M(S_k, S_k), w(S_k) and the number of points.
"""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

# A move must gain more than rounding could feign.
_LEAST_GAIN = 1e-12


@compiled
def _best_move(source, links, own, w_p, inside, weight):
    """The cluster whose taking p from `source` raises the ratio association most, and the gain."""
    n_clusters = len(weight)
    kept = (inside[source] - 2.0 * links[source] + own) / (weight[source] - w_p)
    leave = kept - inside[source] / weight[source]
    best, best_gain = source, 0.0
    for k in range(n_clusters):
        if k != source:
            gain = leave + (inside[k] + 2.0 * links[k] + own) / (weight[k] + w_p) - inside[k] / weight[k]
            if gain > best_gain:
                best, best_gain = k, gain
    scale = abs(inside[source] / weight[source]) + abs(inside[best] / weight[best])
    if best_gain <= _LEAST_GAIN * (scale + 1e-300):
        return source, 0.0
    return best, best_gain


@compiled
def _transfer(p, source, target, links, own, w_p, clusters):
    labels, inside, weight, count = clusters
    inside[source] += own - 2.0 * links[source]
    inside[target] += own + 2.0 * links[target]
    weight[source] -= w_p
    weight[target] += w_p
    count[source] -= 1
    count[target] += 1
    labels[p] = target


@compiled
def sweep_csr(graph, clusters, order):
    """One pass of moves over a CSR matrix; returns how many points moved. Costs degree + k a point."""
    indptr, indices, data, diagonal, w = graph
    labels, inside, weight, count = clusters
    n_clusters = len(weight)
    links = np.zeros(n_clusters)
    n_moves = 0
    for p in order:
        source = labels[p]
        if count[source] == 1:
            continue
        links[:] = 0.0
        own = diagonal[p]
        for e in range(indptr[p], indptr[p + 1]):
            q = indices[e]
            links[labels[q]] += data[e]
            if q == p:
                own += data[e]
        links[source] += diagonal[p]
        target, gain = _best_move(source, links, own, w[p], inside, weight)
        if gain > 0.0:
            _transfer(p, source, target, links, own, w[p], clusters)
            n_moves += 1
    return n_moves


@compiled
def sweep_dense(matrix, diagonal, w, clusters, order, table):
    """One pass over a dense matrix; `table[k, p]` holds the links of p to cluster k and is kept up to date."""
    labels, inside, weight, count = clusters
    n_clusters = len(weight)
    links = np.zeros(n_clusters)
    n_moves = 0
    for p in order:
        source = labels[p]
        if count[source] == 1:
            continue
        for k in range(n_clusters):
            links[k] = table[k, p]
        own = matrix[p, p] + diagonal[p]
        links[source] += diagonal[p]
        target, gain = _best_move(source, links, own, w[p], inside, weight)
        if gain > 0.0:
            _transfer(p, source, target, links, own, w[p], clusters)
            for q in range(len(labels)):
                table[source, q] -= matrix[p, q]
                table[target, q] += matrix[p, q]
            n_moves += 1
    return n_moves
