"""Compiled exchange of clusters: split one, merge another pair, settle, and keep it where the objective grew.

It carries a whole cluster across the graph, which single-point moves cannot do.
"""

from .._lazy import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.evencut.solvers._border_loops import Borders, energy_of, largest_ratio, settle, sum_clusters
from cython.cimports.evencut.solvers._graph_loops import Graph, random_below, sort_members
from cython.cimports.libc.math import isnan

# A move must gain more than rounding, relative to the largest ratio of a cluster.
_TINY = cython.declare(cython.double, 1e-11)
_NAN = cython.declare(cython.double, float("nan"))
_INFINITE = cython.declare(cython.double, float("inf"))


def exchange(graph, labels, n_clusters: cython.Py_ssize_t, trials: cython.Py_ssize_t, state: cython.ulonglong[::1]):
    """Try `trials` exchanges, in place; the energy afterwards."""
    # At most 1 + 4 + 1 + 4 times n rows of the log are written a trial.
    borders: Borders = Borders(graph, labels, n_clusters + 1, 10 * len(labels))
    trade: _Trade = _Trade(borders, n_clusters)
    with cython.nogil:
        trade.begin(borders)
        for trial in range(trials):
            trade.try_one(borders, random_below(state, borders.labels.shape[0]))
        for p in range(borders.labels.shape[0]):
            if borders.labels[p] == n_clusters:
                borders.labels[p] = trade.spare
    return trade.energy


@cython.final
@cython.cclass
class _Trade:
    """The label beyond those of the clusters, in use while two become three; the energy; the sums before a trial."""

    spare: cython.Py_ssize_t
    energy: cython.double
    inside: cython.double[::1]
    weight: cython.double[::1]
    count: cython.longlong[::1]
    members: cython.int[::1]
    start: cython.longlong[::1]
    # The two clusters whose union costs least, and their link.
    first: cython.Py_ssize_t
    second: cython.Py_ssize_t
    between: cython.double

    def __init__(self, borders: Borders, n_clusters):
        self.spare = n_clusters
        self.inside, self.weight = np.empty(n_clusters + 1), np.empty(n_clusters + 1)
        self.count, self.start = np.empty(n_clusters + 1, np.int64), np.empty(n_clusters + 2, np.int64)
        self.members = np.empty(borders.labels.shape[0], np.int32)

    @cython.cfunc
    @cython.nogil
    def begin(self, borders: Borders) -> cython.int:
        """Sum the clusters up; nobody waits."""
        sum_clusters(borders)
        borders.waiting[:] = False
        borders.weight[self.spare] = 1.0
        self.energy = energy_of(borders)
        borders.floor = _TINY * largest_ratio(borders)
        return 0

    @cython.cfunc
    @cython.nogil
    def try_one(self, borders: Borders, node: cython.Py_ssize_t) -> cython.int:
        """Split the cluster of a node and unite two others; what did not pay is undone."""
        n: cython.Py_ssize_t = borders.labels.shape[0]
        c: cython.Py_ssize_t = borders.labels[node]
        if borders.count[c] < 2:
            return 0
        self.inside[:], self.weight[:], self.count[:] = borders.inside, borders.weight, borders.count
        self.split(borders, borders.graph, c, node)
        settle(borders, 4 * n)
        self.find_cheapest_union(borders, borders.graph, min(c, self.spare), max(c, self.spare))
        after = self.energy
        if self.first >= 0:
            if borders.count[self.first] < borders.count[self.second]:
                self.first, self.second = self.second, self.first
            self.unite(borders, borders.graph)
            settle(borders, 4 * n)
            after = energy_of(borders)
        if after < self.energy - 10 * borders.floor:
            self.energy, self.spare = after, self.second
        else:
            for i in range(borders.logged - 1, -1, -1):
                borders.labels[borders.log[i, 0]] = borders.log[i, 1]
            borders.inside[:], borders.weight[:], borders.count[:] = self.inside, self.weight, self.count
        return 0

    @cython.cfunc
    @cython.nogil
    def split(self, borders: Borders, graph: Graph, c: cython.Py_ssize_t, node: cython.Py_ssize_t) -> cython.int:
        """Give half of cluster c, the half around one of its far ends, the label `spare`; queue both halves.

        The log begins here.
        """
        spare = self.spare
        n_queue: cython.longlong = 0
        for i in range(2):  # the last node of the first walk is a far end, where the second begins
            n_queue = self.walk(borders, graph, node)
            node = borders.queue[n_queue - 1]
        half: cython.longlong = min(n_queue, min((borders.count[c] + 1) // 2, borders.count[c] - 1))
        borders.inside[spare], borders.weight[spare], borders.count[spare] = 0.0, 0.0, half
        borders.count[c] -= half
        for i in range(half):
            p = borders.queue[i]
            for e in range(graph.indptr[p], graph.indptr[p + 1]):
                q = graph.indices[e]
                if q != p and borders.labels[q] == c:
                    borders.inside[c] -= 2 * graph.data[e]
                elif borders.labels[q] == spare:
                    borders.inside[spare] += 2 * graph.data[e]
            borders.inside[c] -= graph.diagonal[p]
            borders.inside[spare] += graph.diagonal[p]
            borders.weight[c] -= graph.weights[p]
            borders.weight[spare] += graph.weights[p]
            borders.labels[p] = spare
            borders.log[i, 0], borders.log[i, 1] = p, c
        borders.logged = half
        for i in range(n_queue):
            borders.waiting[borders.queue[i]] = True
        borders.n_waiting = n_queue
        return 0

    @cython.cfunc
    @cython.nogil
    def walk(self, borders: Borders, graph: Graph, node: cython.Py_ssize_t) -> cython.longlong:
        """Nodes of the cluster of `node`, breadth first from it, into the queue; their number. Nobody waits after."""
        own = borders.labels[node]
        head: cython.longlong = 0
        tail: cython.longlong = 1
        borders.queue[0] = node
        borders.waiting[node] = True
        while head < tail:
            p = borders.queue[head]
            head += 1
            for e in range(graph.indptr[p], graph.indptr[p + 1]):
                q = graph.indices[e]
                if not borders.waiting[q] and borders.labels[q] == own:
                    borders.waiting[q] = True
                    borders.queue[tail] = q
                    tail += 1
        for i in range(tail):
            borders.waiting[borders.queue[i]] = False
        return tail

    @cython.cfunc
    @cython.nogil
    def find_cheapest_union(
        self, borders: Borders, graph: Graph, apart_low: cython.Py_ssize_t, apart_high: cython.Py_ssize_t
    ) -> cython.int:
        """The two linked clusters whose union costs least, and their link; the pair just split stays apart."""
        link, inside, weight = borders.link, borders.inside, borders.weight
        least: cython.double = _INFINITE
        b: cython.longlong
        self.first = self.second = -1
        sort_members(borders.labels, self.members, self.start)
        for a in range(inside.shape[0]):
            n_seen: cython.Py_ssize_t = 0
            for m in range(self.start[a], self.start[a + 1]):
                p = self.members[m]
                for e in range(graph.indptr[p], graph.indptr[p + 1]):
                    b = borders.labels[graph.indices[e]]
                    if b <= a:
                        continue
                    if isnan(link[b]):
                        borders.seen[n_seen] = b
                        n_seen += 1
                        link[b] = 0.0
                    link[b] += graph.data[e]
            for i in range(n_seen):
                b = borders.seen[i]
                union = (inside[a] + inside[b] + 2 * link[b]) / (weight[a] + weight[b])
                loss = inside[a] / weight[a] + inside[b] / weight[b] - union
                if loss < least and not (a == apart_low and b == apart_high):
                    self.first, self.second, self.between = a, b, link[b]
                    least = loss
                link[b] = _NAN
        return 0

    @cython.cfunc
    @cython.nogil
    def unite(self, borders: Borders, graph: Graph) -> cython.int:
        """Give the nodes of the second cluster the label of the first, and queue them with their neighbours."""
        a, b = self.first, self.second
        borders.inside[a] += borders.inside[b] + 2 * self.between
        borders.weight[a] += borders.weight[b]
        borders.count[a] += borders.count[b]
        borders.inside[b], borders.weight[b], borders.count[b] = 0.0, 1.0, 0
        for p in range(borders.labels.shape[0]):
            if borders.labels[p] != b:
                continue
            borders.labels[p] = a
            borders.log[borders.logged, 0], borders.log[borders.logged, 1] = p, b
            borders.logged += 1
            for e in range(graph.indptr[p] - 1, graph.indptr[p + 1]):
                q: cython.Py_ssize_t = p if e < graph.indptr[p] else graph.indices[e]
                if not borders.waiting[q]:
                    borders.waiting[q] = True
                    borders.queue[borders.n_waiting] = q
                    borders.n_waiting += 1
        return 0
