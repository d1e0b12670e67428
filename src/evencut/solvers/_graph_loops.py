"""Compiled loops that shrink a graph: grouping nodes that belong together, and adding up the links of the groups.

A graph is CSR rows (entries on the diagonal are passed over), the diagonal of M apart, and the weights w.
"""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

# Nodes are visited in random order, but in runs of neighbours in memory if there are many.
_RUNS = 2048


@cython.final
@cython.cclass
class Graph:
    """CSR rows, the diagonal of M and the weights, as compiled loops read them."""

    def __init__(self, indptr, indices, data, diagonal, weights):
        self.indptr, self.indices, self.data = indptr, indices, data
        self.diagonal, self.weights = diagonal, weights


@cython.cfunc
@cython.nogil
def random_below(state: cython.ulonglong[::1], bound: cython.longlong) -> cython.longlong:
    """A random whole number below `bound` by xorshift: the same on every machine and thread."""
    x = state[0]
    x ^= x << 13
    x ^= x >> 7
    x ^= x << 17
    state[0] = x
    return cython.cast(cython.longlong, (x >> 11) % cython.cast(cython.ulonglong, bound))


@cython.cfunc
@cython.nogil
def sort_members(
    parent: cython.const[cython.int][::1], members: cython.int[::1], start: cython.longlong[::1]
) -> cython.int:
    """Nodes sorted by group into `members`; where each group starts among them, and the last ends, into `start`."""
    n_groups = start.shape[0] - 1
    start[:] = 0
    for p in range(parent.shape[0]):
        start[parent[p]] += 1
    for g in range(1, n_groups + 1):
        start[g] += start[g - 1]
    # From the ends back, so that members rise within a group.
    for p in range(parent.shape[0] - 1, -1, -1):
        start[parent[p]] -= 1
        members[start[parent[p]]] = p
    return 0


def group(graph, labels, cap: cython.double, n_sweeps: cython.int, state: cython.ulonglong[::1]):
    """Parents of the nodes and their number, after sweeps in which each node joins the group that pulls most.

    The pull of a group g on p is link(p, g) / sqrt(w_g): heavy edges first, and light groups before heavy
    ones, so that clusters of any density shrink alike. No group outweighs `cap`; where labels are given (one a
    node), nodes of different labels never meet.
    """
    groups: _Groups = _Groups(Graph(*graph), labels, cap)
    n: cython.Py_ssize_t = groups.load.shape[0]
    run: cython.Py_ssize_t = max(1, n // _RUNS)
    runs: cython.longlong[::1] = np.arange((n + run - 1) // run, dtype=np.int64)
    n_groups: cython.Py_ssize_t
    with cython.nogil:
        for r in range(runs.shape[0] - 1, 0, -1):
            j = random_below(state, r + 1)
            runs[r], runs[j] = runs[j], runs[r]
        for sweep in range(n_sweeps):
            for r in range(runs.shape[0]):
                for p in range(runs[r] * run, min((runs[r] + 1) * run, n)):
                    # In the first sweep a node that others have joined stays with them.
                    if sweep > 0 or groups.load[groups.parent[p]] <= groups.graph.weights[p]:
                        groups.join(p)
        groups.group_leaves()
        n_groups = _renumber(groups.parent, groups.companion)
    return np.asarray(groups.parent), n_groups


@cython.final
@cython.cclass
class _Groups:
    """The group of each node; of each group its weight and its pull; links, zero between uses; and companions."""

    graph: Graph
    labels: cython.const[cython.int][::1]
    cap: cython.double
    parent: cython.int[::1]
    load: cython.double[::1]
    pull: cython.double[::1]
    link: cython.double[::1]
    companion: cython.int[::1]

    def __init__(self, graph: Graph, labels, cap):
        self.graph, self.labels, self.cap = graph, labels, cap
        weights = np.asarray(graph.weights)
        self.parent = np.arange(len(weights), dtype=np.int32)
        self.load, self.pull, self.link = weights.copy(), 1 / np.sqrt(weights), np.zeros(len(weights))
        self.companion = np.full(len(weights), -1, dtype=np.int32)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def may_meet(self, p: cython.Py_ssize_t, q: cython.Py_ssize_t) -> cython.bint:
        return self.labels.shape[0] == 0 or self.labels[q] == self.labels[p]

    @cython.cfunc
    @cython.nogil
    def join(self, p: cython.Py_ssize_t) -> cython.int:
        """Take p to the group that pulls it most."""
        first, last = self.graph.indptr[p], self.graph.indptr[p + 1]
        a = self.parent[p]
        w = self.graph.weights[p]
        for e in range(first, last):
            if self.graph.indices[e] != p:
                self.link[self.parent[self.graph.indices[e]]] += self.graph.data[e]
        best = a
        strongest: cython.double = 0.0
        if self.load[a] > w:
            strongest = self.link[a] / sqrt(self.load[a] - w)
        self.link[a] = 0.0
        for e in range(first, last):
            q = self.graph.indices[e]
            g = self.parent[q]
            force = self.link[g] * self.pull[g]
            self.link[g] = 0.0
            if force > strongest and self.load[g] + w <= self.cap and self.may_meet(p, q):
                best, strongest = g, force
        if best != a:
            self.parent[p] = best
            self.load[best] += w
            self.load[a] -= w
            self.pull[best] = 1 / sqrt(self.load[best])
            self.pull[a] = 1 / sqrt(self.load[a]) if self.load[a] > 0 else 0.0
        return 0

    @cython.cfunc
    @cython.nogil
    def group_leaves(self) -> cython.int:
        """Put nodes still alone together with others linked to the same heavy neighbour, as leaves of a star do."""
        for p in range(self.parent.shape[0]):
            if self.load[self.parent[p]] > self.graph.weights[p]:
                continue
            anchor: cython.Py_ssize_t = -1
            heaviest: cython.double = 0.0
            for e in range(self.graph.indptr[p], self.graph.indptr[p + 1]):
                if self.graph.data[e] > heaviest and self.graph.indices[e] != p:
                    anchor, heaviest = self.graph.indices[e], self.graph.data[e]
            if anchor < 0:
                continue
            q: cython.Py_ssize_t = self.companion[anchor]
            if q >= 0 and self.load[self.parent[q]] + self.graph.weights[p] <= self.cap and self.may_meet(p, q):
                self.load[self.parent[p]] -= self.graph.weights[p]
                self.parent[p] = self.parent[q]
                self.load[self.parent[q]] += self.graph.weights[p]
            else:
                self.companion[anchor] = p
        return 0


@cython.cfunc
@cython.nogil
def _renumber(parent: cython.int[::1], number: cython.int[::1]) -> cython.Py_ssize_t:
    """Number the groups in the order of their first nodes, in place; how many they are. `number` is room to work in."""
    n_groups: cython.Py_ssize_t = 0
    number[:] = -1
    for p in range(parent.shape[0]):
        g = parent[p]
        if number[g] < 0:
            number[g] = n_groups
            n_groups += 1
        parent[p] = number[g]
    return n_groups


def take_pairs(
    first: cython.const[cython.int][::1], second: cython.const[cython.int][::1],
    order: cython.const[cython.longlong][::1], n: cython.Py_ssize_t, limit: cython.Py_ssize_t,
):
    """Parents after merging pairs in the given order, each node once, `limit` pairs at most; how many groups."""
    parents = np.arange(n, dtype=np.int32)
    parent: cython.int[::1] = parents
    is_free: cython.uchar[::1] = np.ones(n, dtype=np.uint8)
    n_merged: cython.Py_ssize_t = 0
    n_groups: cython.Py_ssize_t
    number: cython.int[::1] = np.empty(n, dtype=np.int32)
    with cython.nogil:
        for i in range(order.shape[0]):
            if n_merged == limit:
                break
            a, b = first[order[i]], second[order[i]]
            if is_free[a] and is_free[b]:
                is_free[a] = is_free[b] = False
                parent[max(a, b)] = min(a, b)
                n_merged += 1
        n_groups = _renumber(parent, number)
    return parents, n_groups


def contract(graph, parent: cython.const[cython.int][::1], n_groups: cython.Py_ssize_t):
    """The graph of the groups: links between groups add up, links inside go to the diagonal."""
    fine: Graph = Graph(*graph)
    n_links = len(graph[1])
    ends, columns, entries = np.zeros(n_groups + 1, np.int64), np.empty(n_links, np.int32), np.empty(n_links)
    inside, mass = np.zeros(n_groups), np.zeros(n_groups)
    new_indptr: cython.longlong[::1] = ends
    new_indices: cython.int[::1] = columns
    new_data: cython.double[::1] = entries
    diagonal: cython.double[::1] = inside
    weights: cython.double[::1] = mass
    members: cython.int[::1] = np.empty(parent.shape[0], dtype=np.int32)
    start: cython.longlong[::1] = np.empty(n_groups + 1, dtype=np.int64)
    place: cython.longlong[::1] = np.full(n_groups, -1, dtype=np.int64)
    used: cython.Py_ssize_t = 0
    with cython.nogil:
        sort_members(parent, members, start)
        for g in range(n_groups):
            row = used
            for m in range(start[g], start[g + 1]):
                p = members[m]
                weights[g] += fine.weights[p]
                diagonal[g] += fine.diagonal[p]
                for e in range(fine.indptr[p], fine.indptr[p + 1]):
                    h = parent[fine.indices[e]]
                    if h == g:
                        if fine.indices[e] != p:
                            diagonal[g] += fine.data[e]
                    elif place[h] < row:
                        place[h] = used
                        new_indices[used] = h
                        new_data[used] = fine.data[e]
                        used += 1
                    else:
                        new_data[place[h]] += fine.data[e]
            new_indptr[g + 1] = used
    return ends, columns[:used].copy(), entries[:used].copy(), inside, mass
