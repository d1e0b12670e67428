"""Compiled loops of the single-point moves; imported only when moves are made.

Clusters are the labels of the points and, of each cluster, M(S_k, S_k), w(S_k) and the number of points.
"""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np

Real = cython.fused_type(cython.float, cython.double)
Index = cython.fused_type(cython.int, cython.longlong)
# A move must gain more than rounding could feign.
_LEAST_GAIN = cython.declare(cython.double, 1e-12)


@cython.final
@cython.cclass
class Clusters:
    """Clusters while points move between them, and the links of the point at hand."""

    def __init__(self, labels, inside, weight, count):
        self.labels, self.inside, self.weight, self.count = labels, inside, weight, count
        self.links = np.zeros(len(weight))


@cython.cfunc
@cython.nogil
def _best_move(
    clusters: Clusters, source: cython.Py_ssize_t, own: cython.double, w_p: cython.double
) -> cython.Py_ssize_t:
    """The cluster whose taking the point from `source` raises the ratio association most, or `source`."""
    kept = (clusters.inside[source] - 2.0 * clusters.links[source] + own) / (clusters.weight[source] - w_p)
    leave = kept - clusters.inside[source] / clusters.weight[source]
    best = source
    best_gain: cython.double = 0.0
    for k in range(clusters.weight.shape[0]):
        if k != source:
            joined = (clusters.inside[k] + 2.0 * clusters.links[k] + own) / (clusters.weight[k] + w_p)
            gain = leave + joined - clusters.inside[k] / clusters.weight[k]
            if gain > best_gain:
                best, best_gain = k, gain
    scale = abs(clusters.inside[source] / clusters.weight[source]) + abs(clusters.inside[best] / clusters.weight[best])
    return source if best_gain <= _LEAST_GAIN * (scale + 1e-300) else best


@cython.cfunc
@cython.nogil
def _transfer(
    clusters: Clusters, p: cython.Py_ssize_t, target: cython.Py_ssize_t, own: cython.double, w_p: cython.double
) -> cython.int:
    """Take p to another cluster."""
    source = clusters.labels[p]
    clusters.inside[source] += own - 2.0 * clusters.links[source]
    clusters.inside[target] += own + 2.0 * clusters.links[target]
    clusters.weight[source] -= w_p
    clusters.weight[target] += w_p
    clusters.count[source] -= 1
    clusters.count[target] += 1
    clusters.labels[p] = target
    return 0


def sweep_graph(
    indptr: cython.const[cython.longlong][::1], indices: cython.const[Index][::1], data: cython.const[Real][::1],
    diagonal: cython.const[cython.double][::1], w: cython.const[cython.double][::1], clusters: Clusters,
    order: cython.const[cython.longlong][::1],
):
    """One pass of moves over a CSR matrix; returns how many points moved. Costs degree + k a point."""
    labels, links = clusters.labels, clusters.links
    n_moves: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(order.shape[0]):
            p: cython.Py_ssize_t = order[i]
            source = labels[p]
            if clusters.count[source] == 1:
                continue
            links[:] = 0.0
            own: cython.double = diagonal[p]
            for e in range(indptr[p], indptr[p + 1]):
                q: cython.Py_ssize_t = indices[e]
                links[labels[q]] += data[e]
                if q == p:
                    own += data[e]
            links[source] += diagonal[p]
            target = _best_move(clusters, source, own, w[p])
            if target != source:
                _transfer(clusters, p, target, own, w[p])
                n_moves += 1
    return n_moves


def sweep_dense(
    matrix: cython.const[Real][:, ::1], diagonal: cython.const[cython.double][::1],
    w: cython.const[cython.double][::1], clusters: Clusters, order: cython.const[cython.longlong][::1],
    table: cython.double[:, ::1],
):
    """One pass over a dense matrix; `table[k, p]` holds the links of p to cluster k and is updated."""
    n_moves: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(order.shape[0]):
            n_moves += _try_to_move(matrix, table, clusters, order[i], diagonal[order[i]], w[order[i]])
    return n_moves


@cython.cfunc
@cython.nogil
def sweep_table(
    matrix: cython.const[cython.double][:, ::1], weights: cython.const[cython.double][::1], clusters: Clusters,
    table: cython.double[:, ::1],
) -> cython.Py_ssize_t:
    """One pass over a dense matrix in double precision, node by node, for other compiled loops."""
    n_moves: cython.Py_ssize_t = 0
    for p in range(weights.shape[0]):
        n_moves += _try_to_move(matrix, table, clusters, p, 0.0, weights[p])
    return n_moves


@cython.cfunc
@cython.nogil
@cython.inline
def _try_to_move(
    matrix: cython.const[Real][:, ::1], table: cython.double[:, ::1], clusters: Clusters, p: cython.Py_ssize_t,
    diagonal: cython.double, w_p: cython.double,
) -> cython.bint:
    """Take p to where it gains most, and keep the table up to date; whether it moved."""
    source: cython.Py_ssize_t = clusters.labels[p]
    if clusters.count[source] == 1:
        return False
    for k in range(clusters.links.shape[0]):
        clusters.links[k] = table[k, p]
    own: cython.double = matrix[p, p] + diagonal
    clusters.links[source] += diagonal
    target = _best_move(clusters, source, own, w_p)
    if target == source:
        return False
    _transfer(clusters, p, target, own, w_p)
    for q in range(table.shape[1]):
        table[source, q] -= matrix[p, q]
        table[target, q] += matrix[p, q]
    return True
