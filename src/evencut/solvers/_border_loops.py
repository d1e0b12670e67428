# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled single-point moves along the borders of clusters: only adjacent clusters are tried, and a node is
looked at again only when a neighbour has moved.

`graph` is CSR rows, the diagonal of M and the weights; `clusters` the labels and, of each cluster, M(S_k, S_k), w(S_k)
and the number of nodes; `work` the queue, who waits in it, the links of a node (NaN between uses), the clusters it
touches, and the log of moves.
"""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

__all__ = ["cluster_sums", "refine", "settle"]

# A move must gain more than rounding, relative to the largest ratio of a cluster.
TINY = 1e-11


@compiled
def cluster_sums(graph, labels, n_clusters):
    """M(S_k, S_k), w(S_k) and the number of nodes of each cluster, and which nodes touch another cluster."""
    indptr, indices, data, diagonal, weights = graph
    inside = np.zeros(n_clusters)
    weight = np.zeros(n_clusters)
    count = np.zeros(n_clusters, dtype=np.int64)
    border = np.zeros(len(labels), dtype=np.bool_)
    for p in range(len(labels)):
        a = labels[p]
        total = diagonal[p]
        for e in range(indptr[p], indptr[p + 1]):
            if labels[indices[e]] != a:
                border[p] = True
            elif indices[e] != p:
                total += data[e]
        inside[a] += total
        weight[a] += weights[p]
        count[a] += 1
    return inside, weight, count, border


@compiled
def _best_move(p, graph, labels, inside, weight, link, seen):
    """The adjacent cluster where p gains most, the gain, and the links of p to its own and to that cluster.

    `link` is NaN before and after; a zero there is a cluster seen.
    """
    indptr, indices, data, diagonal, weights = graph
    a = labels[p]
    n_seen = 1
    seen[0] = a
    link[a] = 0.0
    for e in range(indptr[p], indptr[p + 1]):
        q = indices[e]
        if q == p:
            continue
        b = labels[q]
        if np.isnan(link[b]):
            seen[n_seen] = b
            n_seen += 1
            link[b] = 0.0
        link[b] += data[e]
    w, own = weights[p], diagonal[p]
    loss = inside[a] / weight[a] - (inside[a] - 2 * link[a] - own) / (weight[a] - w)
    best, best_gain = a, 0.0
    for i in range(1, n_seen):
        b = seen[i]
        gain = (inside[b] + 2 * link[b] + own) / (weight[b] + w) - inside[b] / weight[b] - loss
        if gain > best_gain:
            best, best_gain = b, gain
    to_old, to_new = link[a], link[best]
    for i in range(n_seen):
        link[seen[i]] = np.nan
    return best, best_gain, to_old, to_new


@compiled
def settle(graph, clusters, work, n_waiting, floor, max_moves, logged):
    """Move queued nodes while the objective grows by more than `floor`; neighbours of a moved node queue again.

    Moved nodes and their old labels are written to `log` from row `logged` on, as far as there is room. Gives
    the number of log rows and whether the queue ran empty.
    """
    indptr, indices, _, diagonal, weights = graph
    labels, inside, weight, count = clusters
    queue, waiting, link, seen, log = work
    n = len(labels)
    head = 0
    while n_waiting > 0 and max_moves > 0:
        p = queue[head]
        head = head + 1 if head + 1 < n else 0
        n_waiting -= 1
        waiting[p] = False
        a = labels[p]
        if count[a] == 1:
            continue
        b, gain, to_a, to_b = _best_move(p, graph, labels, inside, weight, link, seen)
        if b == a or gain <= floor:
            continue
        if logged < len(log):
            log[logged, 0] = p
            log[logged, 1] = a
        logged += 1
        max_moves -= 1
        inside[a] -= 2 * to_a + diagonal[p]
        inside[b] += 2 * to_b + diagonal[p]
        weight[a] -= weights[p]
        weight[b] += weights[p]
        count[a] -= 1
        count[b] += 1
        labels[p] = b
        for e in range(indptr[p], indptr[p + 1]):
            q = indices[e]
            if not waiting[q] and labels[q] != b:
                waiting[q] = True
                tail = head + n_waiting
                queue[tail - n if tail >= n else tail] = q
                n_waiting += 1
    for i in range(n_waiting):
        at = head + i
        waiting[queue[at - n if at >= n else at]] = False
    return logged, n_waiting == 0


@compiled
def refine(graph, labels, n_clusters, max_moves):
    """Single-point moves from the border inwards until none gains, in place.

    Gives the energy afterwards, the number of moves, and whether no move was left.
    """
    inside, weight, count, border = cluster_sums(graph, labels, n_clusters)
    queue = np.empty(len(labels), dtype=np.int32)
    n_waiting = 0
    for p in range(len(labels)):
        if border[p]:
            queue[n_waiting] = p
            n_waiting += 1
    link = np.full(n_clusters, np.nan)
    seen = np.empty(n_clusters, dtype=np.int64)
    no_log = np.empty((0, 2), dtype=np.int32)
    floor = TINY * np.abs(inside / weight).max()
    work = (queue, border, link, seen, no_log)
    moves, settled = settle(graph, (labels, inside, weight, count), work, n_waiting, floor, max_moves, 0)
    return -np.sum(inside / weight), moves, settled
