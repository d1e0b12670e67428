"""Compiled loops of the multilevel solver: grouping points, contracting a graph, moving points, exchanging clusters.

Everything here works on one level: a graph without loops in CSR form, the diagonal of M and the weights w apart.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["contract", "exchange", "group", "merge_groups", "refine", "split_diagonal"]

_TINY = 1e-11


@njit(cache=True, nogil=True)
def _random(state):
    """Xorshift: the same numbers on every machine and thread."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@njit(cache=True, nogil=True)
def _below(state, bound):
    return np.int64((_random(state) >> np.uint64(11)) % np.uint64(bound))


@njit(cache=True, nogil=True)
def shuffled(n, state):
    """A random order of n nodes; large graphs are shuffled in blocks, which keeps memory accesses close."""
    order = np.arange(n, dtype=np.int32)
    block = 1 << 14
    for first in range(0, n, block):
        last = min(first + block, n)
        for i in range(last - 1, first, -1):
            j = first + _below(state, i - first + 1)
            order[i], order[j] = order[j], order[i]
    return order


@njit(cache=True, nogil=True)
def split_diagonal(indptr, indices, data):
    """The diagonal of a CSR matrix, duplicates summed, and whether any entry lies there."""
    n = len(indptr) - 1
    diagonal = np.zeros(n)
    for p in range(n):
        for e in range(indptr[p], indptr[p + 1]):
            if indices[e] == p:
                diagonal[p] += data[e]
    return diagonal


@njit(cache=True, nogil=True)
def group(indptr, indices, data, weights, labels, cap, state, power=1.0, rounds=2):
    """Join each node to the group it is linked to most for its weight; no group outweighs `cap`."""
    n = len(weights)
    parent = np.arange(n).astype(np.int32)
    load = weights.copy()
    pull = 1 / np.sqrt(weights)
    link = np.zeros(n)
    restricted = len(labels) > 0
    block = max(1, n // 2048)
    blocks = shuffled((n + block - 1) // block, state)
    for r in range(rounds):
        for u in blocks:
          for p in range(u * block, min((u + 1) * block, n)):
            a = parent[p]
            w = weights[p]
            if r == 0 and load[a] > w:
                continue
            first, last = indptr[p], indptr[p + 1]
            for e in range(first, last):
                link[parent[indices[e]]] += data[e]
            best = a
            best_score = 0.0
            if load[a] > w:
                best_score = link[a] / np.sqrt(load[a] - w)
            room = cap - w
            link[a] = 0.0
            for e in range(first, last):
                g = parent[indices[e]]
                score = link[g] * pull[g]
                link[g] = 0.0
                if score > best_score and load[g] <= room and not (restricted and labels[indices[e]] != labels[p]):
                    best, best_score = g, score
            if best != a:
                parent[p] = best
                load[best] += w
                load[a] -= w
                pull[best] = 1 / np.sqrt(load[best])
                pull[a] = 1 / np.sqrt(load[a]) if load[a] > 0 else 0.0
    number = np.full(n, -1, dtype=np.int32)
    n_groups = 0
    for p in range(n):
        g = parent[p]
        if number[g] < 0:
            number[g] = n_groups
            n_groups += 1
        parent[p] = number[g]
    return parent, n_groups


@njit(cache=True, nogil=True)
def merge_groups(first, second, order, n, limit):
    """Merge pairs in the given order, each node at most once and at most `limit` pairs; the parents of the nodes."""
    parent = np.full(n, -1, dtype=np.int32)
    n_groups = 0
    merged = 0
    for i in order:
        if merged == limit:
            break
        a, b = first[i], second[i]
        if a != b and parent[a] < 0 and parent[b] < 0:
            parent[a] = n_groups
            parent[b] = n_groups
            n_groups += 1
            merged += 1
    for p in range(n):
        if parent[p] < 0:
            parent[p] = n_groups
            n_groups += 1
    return parent, n_groups


@njit(cache=True, nogil=True)
def contract(indptr, indices, data, diagonal, weights, parent, n_groups):
    """The graph of the groups: links between groups add up, links inside go to the diagonal."""
    n = len(weights)
    start = np.zeros(n_groups + 1, dtype=np.int64)
    for p in range(n):
        start[parent[p] + 1] += 1
    for g in range(n_groups):
        start[g + 1] += start[g]
    members = np.empty(n, dtype=np.int32)
    fill = start[:-1].copy()
    for p in range(n):
        members[fill[parent[p]]] = p
        fill[parent[p]] += 1

    new_indptr = np.zeros(n_groups + 1, dtype=np.int64)
    new_indices = np.empty(len(indices), dtype=np.int32)
    new_data = np.empty(len(indices))
    new_diagonal = np.zeros(n_groups)
    new_weights = np.zeros(n_groups)
    place = np.full(n_groups, -1, dtype=np.int64)
    used = 0
    for g in range(n_groups):
        row = used
        for m in range(start[g], start[g + 1]):
            p = members[m]
            new_weights[g] += weights[p]
            new_diagonal[g] += diagonal[p]
            for e in range(indptr[p], indptr[p + 1]):
                q = indices[e]
                h = parent[q]
                if h == g:
                    if q != p:
                        new_diagonal[g] += data[e]
                elif place[h] < row:
                    place[h] = used
                    new_indices[used] = h
                    new_data[used] = data[e]
                    used += 1
                else:
                    new_data[place[h]] += data[e]
        new_indptr[g + 1] = used
    return new_indptr, new_indices[:used].copy(), new_data[:used].copy(), new_diagonal, new_weights


@njit(cache=True, nogil=True)
def cluster_sums(indptr, indices, data, diagonal, weights, labels, n_clusters):
    """M(S_k, S_k), w(S_k) and the number of nodes of each cluster, and which nodes touch another cluster."""
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


@njit(cache=True, nogil=True)
def _best_move(p, indptr, indices, data, diagonal, weights, labels, inside, weight, link, seen):
    """The adjacent cluster where p raises the objective most, and the gain. `link` is NaN before and after."""
    a = labels[p]
    n_seen = 0
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
    if np.isnan(link[a]):
        seen[n_seen] = a
        n_seen += 1
        link[a] = 0.0
    w = weights[p]
    loss = inside[a] / weight[a] - (inside[a] - 2 * link[a] - diagonal[p]) / (weight[a] - w)
    best, best_gain = a, 0.0
    for i in range(n_seen):
        b = seen[i]
        if b != a:
            gain = (inside[b] + 2 * link[b] + diagonal[p]) / (weight[b] + w) - inside[b] / weight[b] - loss
            if gain > best_gain:
                best, best_gain = b, gain
    to_old, to_new = link[a], link[best]
    for i in range(n_seen):
        link[seen[i]] = np.nan
    return best, best_gain, to_old, to_new


@njit(cache=True, nogil=True)
def _settle(
    queue, waiting, n_waiting, indptr, indices, data, diagonal, weights, labels, inside, weight, count, link, seen,
    tolerance, max_moves, log, logged,
):
    """Move queued nodes while the objective grows; a node whose neighbour moved is queued again.

    Old labels of moved nodes go to `log` from position `logged` on, where there is room (node, old label).
    """
    n = len(labels)
    head = 0
    moves = 0
    while n_waiting > 0 and moves < max_moves:
        p = queue[head]
        head = head + 1 if head + 1 < n else 0
        n_waiting -= 1
        waiting[p] = False
        a = labels[p]
        if count[a] == 1:
            continue
        b, gain, to_a, to_b = _best_move(
            p, indptr, indices, data, diagonal, weights, labels, inside, weight, link, seen
        )
        if b == a or gain <= tolerance:
            continue
        if logged < len(log):
            log[logged, 0] = p
            log[logged, 1] = a
        logged += 1
        inside[a] -= 2 * to_a + diagonal[p]
        inside[b] += 2 * to_b + diagonal[p]
        weight[a] -= weights[p]
        weight[b] += weights[p]
        count[a] -= 1
        count[b] += 1
        labels[p] = b
        moves += 1
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
    return moves, logged, n_waiting == 0


@njit(cache=True, nogil=True)
def refine(indptr, indices, data, diagonal, weights, labels, n_clusters, max_moves):
    """Single-point moves from the border inwards until none gains, in place; moves made, and whether it settled."""
    n = len(labels)
    inside, weight, count, border = cluster_sums(indptr, indices, data, diagonal, weights, labels, n_clusters)
    queue = np.empty(n, dtype=np.int32)
    n_waiting = 0
    for p in range(n):
        if border[p]:
            queue[n_waiting] = p
            n_waiting += 1
    link = np.full(n_clusters, np.nan)
    seen = np.empty(n_clusters, dtype=np.int64)
    tolerance = _TINY * np.abs(inside / weight).max()
    log = np.empty((0, 2), dtype=np.int32)
    moves, _, settled = _settle(
        queue, border, n_waiting, indptr, indices, data, diagonal, weights, labels, inside, weight, count, link,
        seen, tolerance, max_moves, log, 0,
    )
    return moves, settled


@njit(cache=True, nogil=True)
def _cheapest_merge(indptr, indices, data, labels, inside, weight, count, link, seen, keep_apart_a, keep_apart_b):
    """The pair of linked clusters whose union costs least; the two given stay apart."""
    n_clusters = len(inside)
    start = np.zeros(n_clusters + 1, dtype=np.int64)
    for c in range(n_clusters):
        start[c + 1] = start[c] + count[c]
    members = np.empty(len(labels), dtype=np.int32)
    fill = start[:-1].copy()
    for p in range(len(labels)):
        members[fill[labels[p]]] = p
        fill[labels[p]] += 1
    best_a, best_b, best_loss, best_link = -1, -1, np.inf, 0.0
    for a in range(n_clusters):
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
            if loss < best_loss and not (a == keep_apart_a and b == keep_apart_b):
                best_a, best_b, best_loss, best_link = a, b, loss, link[b]
            link[b] = np.nan
    return best_a, best_b, best_link


@njit(cache=True, nogil=True)
def _grow_half(c, seed_node, indptr, indices, labels, half, queue, mark):
    """Nodes of cluster c nearest to a far end of it, breadth first, half of its weight-count; their number.

    A first walk from `seed_node` finds the far end, the second collects from there. `mark` is False before and after.
    """
    for _ in range(2):
        queue[0] = seed_node
        mark[seed_node] = True
        n_queue = 1
        head = 0
        while head < n_queue:
            p = queue[head]
            head += 1
            for e in range(indptr[p], indptr[p + 1]):
                q = indices[e]
                if labels[q] == c and not mark[q]:
                    mark[q] = True
                    queue[n_queue] = q
                    n_queue += 1
        for i in range(n_queue):
            mark[queue[i]] = False
        seed_node = queue[n_queue - 1]
    return n_queue if n_queue < half else half


@njit(cache=True, nogil=True)
def exchange(indptr, indices, data, diagonal, weights, labels, n_clusters, trials, state):
    """Split one cluster, merge the cheapest pair, settle; keep it where the objective grew. In place; the gain.

    This is the step that single-point moves cannot make: it carries a whole cluster across the graph.
    """
    n = len(labels)
    k = n_clusters + 1
    inside, weight, count, waiting = cluster_sums(indptr, indices, data, diagonal, weights, labels, k)
    waiting[:] = False
    link = np.full(k, np.nan)
    seen = np.empty(k, dtype=np.int64)
    queue = np.empty(n, dtype=np.int32)
    line = np.empty(n, dtype=np.int32)
    log = np.empty((16 * n, 2), dtype=np.int32)
    tolerance = _TINY * np.abs(inside[:n_clusters] / weight[:n_clusters]).max()
    spare = n_clusters
    total_gain = 0.0
    saved_inside, saved_weight, saved_count = inside.copy(), weight.copy(), count.copy()
    for trial in range(trials):
        seed_node = _below(state, n)
        c = labels[seed_node]
        if count[c] < 2:
            continue
        saved_inside[:], saved_weight[:], saved_count[:] = inside, weight, count
        before = 0.0
        for a in range(k):
            if a != spare:
                before += inside[a] / weight[a]
        half = (count[c] + 1) // 2
        n_half = _grow_half(c, seed_node, indptr, indices, labels, half, line, waiting)
        if n_half == count[c]:
            n_half -= 1
        # The half becomes the spare cluster, then both halves settle against each other and their neighbours.
        logged = 0
        inside[spare] = 0.0
        weight[spare] = 0.0
        count[spare] = 0
        for i in range(n_half):
            p = line[i]
            to_c, to_spare = 0.0, 0.0
            for e in range(indptr[p], indptr[p + 1]):
                q = indices[e]
                if q == p:
                    continue
                if labels[q] == c:
                    to_c += data[e]
                elif labels[q] == spare:
                    to_spare += data[e]
            inside[c] -= 2 * to_c + diagonal[p]
            inside[spare] += 2 * to_spare + diagonal[p]
            weight[c] -= weights[p]
            weight[spare] += weights[p]
            labels[p] = spare
            log[logged, 0] = p
            log[logged, 1] = c
            logged += 1
        count[c] -= n_half
        count[spare] = n_half
        n_waiting = 0
        for i in range(n_half):
            p = line[i]
            queue[n_waiting] = p
            waiting[p] = True
            n_waiting += 1
            for e in range(indptr[p], indptr[p + 1]):
                q = indices[e]
                if not waiting[q] and labels[q] == c:
                    waiting[q] = True
                    queue[n_waiting] = q
                    n_waiting += 1
        _, logged, _ = _settle(
            queue, waiting, n_waiting, indptr, indices, data, diagonal, weights, labels, inside, weight, count,
            link, seen, tolerance, 4 * n, log, logged,
        )
        low, high = min(c, spare), max(c, spare)
        a, b, between = _cheapest_merge(
            indptr, indices, data, labels, inside, weight, count, link, seen, low, high
        )
        after = before
        freed = -1
        if a >= 0:
            # The smaller of the pair gives up its label, so that fewer nodes change hands.
            if count[a] < count[b]:
                a, b = b, a
            inside[a] += inside[b] + 2 * between
            weight[a] += weight[b]
            count[a] += count[b]
            n_waiting = 0
            for p in range(n):
                if labels[p] == b:
                    labels[p] = a
                    if logged < len(log):
                        log[logged, 0] = p
                        log[logged, 1] = b
                    logged += 1
                    if not waiting[p]:
                        waiting[p] = True
                        queue[n_waiting] = p
                        n_waiting += 1
                    for e in range(indptr[p], indptr[p + 1]):
                        q = indices[e]
                        if not waiting[q]:
                            waiting[q] = True
                            queue[n_waiting] = q
                            n_waiting += 1
            freed = b
            inside[b], weight[b], count[b] = 0.0, 0.0, 0
            _, logged, _ = _settle(
                queue, waiting, n_waiting, indptr, indices, data, diagonal, weights, labels, inside, weight, count,
                link, seen, tolerance, 4 * n, log, logged,
            )
            after = 0.0
            for j in range(k):
                if j != freed:
                    after += inside[j] / weight[j]
        if freed >= 0 and after > before + 10 * tolerance and logged <= len(log):
            total_gain += after - before
            spare = freed
        else:
            for i in range(min(logged, len(log)) - 1, -1, -1):
                labels[log[i, 0]] = log[i, 1]
            inside[:], weight[:], count[:] = saved_inside, saved_weight, saved_count
    if spare != n_clusters:
        for p in range(n):
            if labels[p] == n_clusters:
                labels[p] = spare
    return total_gain
