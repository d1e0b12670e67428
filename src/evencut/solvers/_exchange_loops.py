# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled exchange of clusters: split one, merge another pair, settle, and keep it where the objective grew.

It carries a whole cluster across the graph, which single-point moves cannot do.
"""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled
from ._border_loops import TINY, cluster_sums, settle
from ._graph_loops import members_of, random_below

__all__ = ["exchange"]


@compiled
def exchange(graph, labels, n_clusters, trials, state):
    """Try `trials` exchanges, in place; the energy afterwards."""
    n, spare = len(labels), n_clusters  # one label more than clusters is in use while two become three
    inside, weight, count, waiting = cluster_sums(graph, labels, n_clusters + 1)
    waiting[:] = False
    weight[spare] = 1.0
    energy = -np.sum(inside / weight)
    floor = TINY * np.abs(inside / weight).max()
    link = np.full(n_clusters + 1, np.nan)
    seen = np.empty(n_clusters + 1, dtype=np.int64)
    queue = np.empty(n, dtype=np.int32)
    log = np.empty((10 * n, 2), dtype=np.int32)  # at most 1 + 4 + 1 + 4 times n rows are written a trial
    clusters, work = (labels, inside, weight, count), (queue, waiting, link, seen, log)
    saved = inside.copy(), weight.copy(), count.copy()
    for _ in range(trials):
        node = random_below(state, n)
        c = labels[node]
        if count[c] < 2:
            continue
        saved[0][:], saved[1][:], saved[2][:] = inside, weight, count
        logged, n_waiting = _split(c, node, spare, graph, clusters, work)
        logged, _ = settle(graph, clusters, work, n_waiting, floor, 4 * n, logged)
        a, b, between = _cheapest_union(graph, clusters, work, min(c, spare), max(c, spare))
        after = energy
        if a >= 0:
            if count[a] < count[b]:
                a, b = b, a
            logged, n_waiting = _unite(a, b, between, graph, clusters, work, logged)
            logged, _ = settle(graph, clusters, work, n_waiting, floor, 4 * n, logged)
            after = -np.sum(inside / weight)
        if after < energy - 10 * floor:
            energy, spare = after, b
        else:
            for i in range(logged - 1, -1, -1):
                labels[log[i, 0]] = log[i, 1]
            inside[:], weight[:], count[:] = saved
    for p in range(n):
        if labels[p] == n_clusters:
            labels[p] = spare
    return energy


@compiled
def _split(c, node, spare, graph, clusters, work):
    """Give half of cluster c, the half around one of its far ends, the label `spare`; queue both halves.

    Gives the number of log rows and of queued nodes. `waiting` is False before.
    """
    indptr, indices, data, diagonal, weights = graph
    labels, inside, weight, count = clusters
    queue, waiting, _, _, log = work
    for _ in range(2):  # the last node of the first walk is a far end, where the second begins
        n_queue = _walk(node, indptr, indices, labels, queue, waiting)
        node = queue[n_queue - 1]
    half = min(n_queue, (count[c] + 1) // 2, count[c] - 1)
    inside[spare], weight[spare], count[spare] = 0.0, 0.0, half
    count[c] -= half
    for i in range(half):
        p = queue[i]
        for e in range(indptr[p], indptr[p + 1]):
            q = indices[e]
            if q != p and labels[q] == c:
                inside[c] -= 2 * data[e]
            elif labels[q] == spare:
                inside[spare] += 2 * data[e]
        inside[c] -= diagonal[p]
        inside[spare] += diagonal[p]
        weight[c] -= weights[p]
        weight[spare] += weights[p]
        labels[p] = spare
        log[i, 0] = p
        log[i, 1] = c
    for i in range(n_queue):
        waiting[queue[i]] = True
    return half, n_queue


@compiled
def _walk(node, indptr, indices, labels, queue, mark):
    """Nodes of the cluster of `node`, breadth first from it, into `queue`; their number. `mark` ends as False."""
    queue[0] = node
    mark[node] = True
    head, tail = 0, 1
    while head < tail:
        p = queue[head]
        head += 1
        for e in range(indptr[p], indptr[p + 1]):
            q = indices[e]
            if not mark[q] and labels[q] == labels[node]:
                mark[q] = True
                queue[tail] = q
                tail += 1
    for i in range(tail):
        mark[queue[i]] = False
    return tail


@compiled
def _cheapest_union(graph, clusters, work, apart_low, apart_high):
    """The two linked clusters whose union costs least, and their link; the pair just split stays apart."""
    indptr, indices, data, _, _ = graph
    labels, inside, weight, _ = clusters
    _, _, link, seen, _ = work
    members, start = members_of(labels, len(inside))
    best_a, best_b, least, between = -1, -1, np.inf, 0.0
    for a in range(len(inside)):
        n_seen = 0
        for m in range(start[a], start[a + 1]):
            p = members[m]
            for e in range(indptr[p], indptr[p + 1]):
                b = labels[indices[e]]
                if b <= a:
                    continue
                if np.isnan(link[b]):
                    seen[n_seen] = b
                    n_seen += 1
                    link[b] = 0.0
                link[b] += data[e]
        for i in range(n_seen):
            b = seen[i]
            union = (inside[a] + inside[b] + 2 * link[b]) / (weight[a] + weight[b])
            loss = inside[a] / weight[a] + inside[b] / weight[b] - union
            if loss < least and not (a == apart_low and b == apart_high):
                best_a, best_b, least, between = a, b, loss, link[b]
            link[b] = np.nan
    return best_a, best_b, between


@compiled
def _unite(a, b, between, graph, clusters, work, logged):
    """Give the nodes of b the label a and queue them with their neighbours; log rows and queued nodes."""
    indptr, indices = graph[0], graph[1]
    labels, inside, weight, count = clusters
    queue, waiting, _, _, log = work
    inside[a] += inside[b] + 2 * between
    weight[a] += weight[b]
    count[a] += count[b]
    inside[b], weight[b], count[b] = 0.0, 1.0, 0
    n_waiting = 0
    for p in range(len(labels)):
        if labels[p] != b:
            continue
        labels[p] = a
        log[logged, 0] = p
        log[logged, 1] = b
        logged += 1
        for e in range(indptr[p] - 1, indptr[p + 1]):
            q = p if e < indptr[p] else indices[e]
            if not waiting[q]:
                waiting[q] = True
                queue[n_waiting] = q
                n_waiting += 1
    return logged, n_waiting
