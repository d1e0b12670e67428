"""Compiled single-point moves along the borders of clusters: only adjacent clusters are tried, and a node is
looked at again only when a neighbour has moved.
"""

from .._lazy import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.evencut.solvers._graph_loops import Graph
from cython.cimports.libc.math import isnan

# A move must gain more than rounding, relative to the largest ratio of a cluster.
_TINY = cython.declare(cython.double, 1e-11)
_NAN = cython.declare(cython.double, float("nan"))


@cython.final
@cython.cclass
class Borders:
    """Clusters of a graph while nodes move between them.

    Of each cluster it keeps M(S_k, S_k), w(S_k) and the number of nodes; the queue, and who waits in it; the links of a
    node (NaN between uses) and the clusters it touches; and a log of moves, each a node and its old label.
    """

    def __init__(self, graph, labels, n_clusters, n_logged):
        n = len(labels)
        self.graph, self.labels = Graph(*graph), labels
        self.inside, self.weight = np.zeros(n_clusters), np.zeros(n_clusters)
        self.count = np.zeros(n_clusters, np.int64)
        self.queue, self.waiting, self.n_waiting = np.empty(n, np.int32), np.zeros(n, np.uint8), 0
        self.link, self.seen = np.full(n_clusters, np.nan), np.empty(n_clusters, np.int64)
        self.log, self.logged = np.empty((n_logged, 2), np.int32), 0


@cython.cfunc
@cython.nogil
def sum_clusters(borders: Borders) -> cython.int:
    """The sums of all clusters; nodes that touch another cluster are queued."""
    for p in range(borders.labels.shape[0]):
        a = borders.labels[p]
        total: cython.double = borders.graph.diagonal[p]
        for e in range(borders.graph.indptr[p], borders.graph.indptr[p + 1]):
            if borders.labels[borders.graph.indices[e]] != a:
                borders.waiting[p] = True
            elif borders.graph.indices[e] != p:
                total += borders.graph.data[e]
        borders.inside[a] += total
        borders.weight[a] += borders.graph.weights[p]
        borders.count[a] += 1
    for p in range(borders.labels.shape[0]):
        if borders.waiting[p]:
            borders.queue[borders.n_waiting] = p
            borders.n_waiting += 1
    return 0


@cython.cfunc
@cython.nogil
def energy_of(borders: Borders) -> cython.double:
    """Minus the sum of the ratios of the clusters."""
    total: cython.double = 0.0
    for k in range(borders.inside.shape[0]):
        total += borders.inside[k] / borders.weight[k]
    return -total


@cython.cfunc
@cython.nogil
def largest_ratio(borders: Borders) -> cython.double:
    """The largest ratio of a cluster, whatever its sign."""
    largest: cython.double = 0.0
    for k in range(borders.inside.shape[0]):
        largest = max(largest, abs(borders.inside[k] / borders.weight[k]))
    return largest


@cython.cfunc
@cython.nogil
def _best_move(borders: Borders, p: cython.Py_ssize_t) -> cython.longlong:
    """The adjacent cluster where p gains most; the gain and the links of p to its own and to that cluster are kept.

    A zero in `link` is a cluster seen.
    """
    a: cython.longlong = borders.labels[p]
    b: cython.longlong
    n_seen: cython.Py_ssize_t = 1
    borders.seen[0] = a
    borders.link[a] = 0.0
    for e in range(borders.graph.indptr[p], borders.graph.indptr[p + 1]):
        q = borders.graph.indices[e]
        if q == p:
            continue
        b = borders.labels[q]
        if isnan(borders.link[b]):
            borders.seen[n_seen] = b
            n_seen += 1
            borders.link[b] = 0.0
        borders.link[b] += borders.graph.data[e]
    w, own = borders.graph.weights[p], borders.graph.diagonal[p]
    left = (borders.inside[a] - 2 * borders.link[a] - own) / (borders.weight[a] - w)
    loss = borders.inside[a] / borders.weight[a] - left
    best = a
    best_gain: cython.double = 0.0
    for i in range(1, n_seen):
        b = borders.seen[i]
        joined = (borders.inside[b] + 2 * borders.link[b] + own) / (borders.weight[b] + w)
        gain = joined - borders.inside[b] / borders.weight[b] - loss
        if gain > best_gain:
            best, best_gain = b, gain
    borders.gain, borders.to_old, borders.to_new = best_gain, borders.link[a], borders.link[best]
    for i in range(n_seen):
        borders.link[borders.seen[i]] = _NAN
    return best


@cython.cfunc
@cython.nogil
def settle(borders: Borders, max_moves: cython.longlong) -> cython.bint:
    """Move queued nodes while the objective grows by more than `floor`; neighbours of a moved node queue again.

    Moved nodes and their old labels are logged as far as there is room. Gives whether the queue ran empty, which it
    is afterwards.
    """
    n: cython.Py_ssize_t = borders.labels.shape[0]
    head: cython.Py_ssize_t = 0
    while borders.n_waiting > 0 and max_moves > 0:
        p = borders.queue[head]
        head = head + 1 if head + 1 < n else 0
        borders.n_waiting -= 1
        borders.waiting[p] = False
        a = borders.labels[p]
        if borders.count[a] == 1:
            continue
        b = _best_move(borders, p)
        if b == a or borders.gain <= borders.floor:
            continue
        if borders.logged < borders.log.shape[0]:
            borders.log[borders.logged, 0], borders.log[borders.logged, 1] = p, a
        borders.logged += 1
        max_moves -= 1
        borders.inside[a] -= 2 * borders.to_old + borders.graph.diagonal[p]
        borders.inside[b] += 2 * borders.to_new + borders.graph.diagonal[p]
        borders.weight[a] -= borders.graph.weights[p]
        borders.weight[b] += borders.graph.weights[p]
        borders.count[a] -= 1
        borders.count[b] += 1
        borders.labels[p] = b
        for e in range(borders.graph.indptr[p], borders.graph.indptr[p + 1]):
            q = borders.graph.indices[e]
            if not borders.waiting[q] and borders.labels[q] != b:
                borders.waiting[q] = True
                tail = head + borders.n_waiting
                borders.queue[tail - n if tail >= n else tail] = q
                borders.n_waiting += 1
    settled: cython.bint = borders.n_waiting == 0
    for i in range(borders.n_waiting):
        at = head + i
        borders.waiting[borders.queue[at - n if at >= n else at]] = False
    borders.n_waiting = 0
    return settled


def refine(graph, labels, n_clusters, max_moves: cython.longlong):
    """Single-point moves from the border inwards until none gains, in place.

    Gives the energy afterwards, the number of moves, and whether no move was left.
    """
    borders: Borders = Borders(graph, labels, n_clusters, 0)
    settled: cython.bint
    energy: cython.double
    with cython.nogil:
        sum_clusters(borders)
        borders.floor = _TINY * largest_ratio(borders)
        settled = settle(borders, max_moves)
        energy = energy_of(borders)
    return energy, borders.logged, settled
