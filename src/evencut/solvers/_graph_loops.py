# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops that shrink a graph: grouping nodes that belong together, and adding up the links of the groups.

A graph is CSR rows (entries on the diagonal are passed over), the diagonal of M apart, and the weights w.
"""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

__all__ = ["contract", "group", "random_below", "row_diagonal", "take_pairs"]

# Nodes are visited in random order, but in runs of neighbours in memory where there are many.
_RUNS = 2048


@compiled
def random_below(state, bound):
    """A random whole number below `bound` by xorshift: the same on every machine and thread."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(bound))


@compiled
def _shuffled(n, state):
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = random_below(state, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


@compiled
def row_diagonal(indptr, indices, data):
    """The diagonal of a CSR matrix, duplicates summed."""
    diagonal = np.zeros(len(indptr) - 1)
    for p in range(len(diagonal)):
        for e in range(indptr[p], indptr[p + 1]):
            if indices[e] == p:
                diagonal[p] += data[e]
    return diagonal


@compiled
def group(graph, labels, cap, n_sweeps, state):
    """Parents of the nodes and their number, after sweeps in which each node joins the group that pulls most.

    The pull of a group g on p is link(p, g) / sqrt(w_g): heavy edges first, and light groups before heavy
    ones, so that clusters of any density shrink alike. No group outweighs `cap`; where labels are given (one a
    node), nodes of different labels never meet.
    """
    weights = graph[4]
    n = len(weights)
    parent = np.arange(n).astype(np.int32)
    load = weights.copy()
    pull = 1 / np.sqrt(weights)
    groups = (parent, load, pull, np.zeros(n))
    run = max(1, n // _RUNS)
    runs = _shuffled((n + run - 1) // run, state)
    for sweep in range(n_sweeps):
        for r in runs:
            for p in range(r * run, min((r + 1) * run, n)):
                # In the first sweep a node that others have joined stays with them.
                if sweep > 0 or load[parent[p]] <= weights[p]:
                    _join(p, graph, labels, cap, groups)
    _join_hangers_on(graph, labels, cap, groups)
    return _renumber(parent)


@compiled
def _join(p, graph, labels, cap, groups):
    """Take p to the group that pulls it most; the links, last of `groups`, are zero before and after."""
    indptr, indices, data, _, weights = graph
    parent, load, pull, link = groups
    a, w = parent[p], weights[p]
    near, affinity = indices[indptr[p] : indptr[p + 1]], data[indptr[p] : indptr[p + 1]]
    for e in range(len(near)):
        if near[e] != p:
            link[parent[near[e]]] += affinity[e]
    best, strongest = a, 0.0
    if load[a] > w:
        strongest = link[a] / np.sqrt(load[a] - w)
    link[a] = 0.0
    for q in near:
        g = parent[q]
        force = link[g] * pull[g]
        link[g] = 0.0
        if force > strongest and load[g] + w <= cap and (len(labels) == 0 or labels[q] == labels[p]):
            best, strongest = g, force
    if best != a:
        parent[p] = best
        load[best] += w
        load[a] -= w
        pull[best] = 1 / np.sqrt(load[best])
        pull[a] = 1 / np.sqrt(load[a]) if load[a] > 0 else 0.0


@compiled
def _join_hangers_on(graph, labels, cap, groups):
    """Put nodes still alone together with others that hang on the same heavy neighbour, as leaves of a star do."""
    indptr, indices, data, _, weights = graph
    parent, load, _, _ = groups
    n = len(weights)
    companion = np.full(n, -1, dtype=np.int32)
    for p in range(n):
        if load[parent[p]] > weights[p]:
            continue
        anchor, heaviest = -1, 0.0
        for e in range(indptr[p], indptr[p + 1]):
            if data[e] > heaviest and indices[e] != p:
                anchor, heaviest = indices[e], data[e]
        if anchor < 0:
            continue
        q = companion[anchor]
        if q >= 0 and load[parent[q]] + weights[p] <= cap and (len(labels) == 0 or labels[q] == labels[p]):
            load[parent[p]] -= weights[p]
            parent[p] = parent[q]
            load[parent[q]] += weights[p]
        else:
            companion[anchor] = p


@compiled
def _renumber(parent):
    number = np.full(len(parent), -1, dtype=np.int32)
    n_groups = 0
    for p in range(len(parent)):
        g = parent[p]
        if number[g] < 0:
            number[g] = n_groups
            n_groups += 1
        parent[p] = number[g]
    return parent, n_groups


@compiled
def take_pairs(first, second, order, n, limit):
    """Parents after merging pairs in the given order, each node once, `limit` pairs at most; how many groups."""
    parent = np.arange(n).astype(np.int32)
    free = np.ones(n, dtype=np.bool_)
    merged = 0
    for i in order:
        if merged == limit:
            break
        a, b = first[i], second[i]
        if free[a] and free[b]:
            free[a] = False
            free[b] = False
            parent[max(a, b)] = min(a, b)
            merged += 1
    return _renumber(parent)


@compiled
def contract(graph, parent, n_groups):
    """The graph of the groups: links between groups add up, links inside go to the diagonal."""
    indptr, indices, data, diagonal, weights = graph
    members, start = members_of(parent, n_groups)
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
            near, affinity = indices[indptr[p] : indptr[p + 1]], data[indptr[p] : indptr[p + 1]]
            for e in range(len(near)):
                h = parent[near[e]]
                if h == g:
                    if near[e] != p:
                        new_diagonal[g] += affinity[e]
                elif place[h] < row:
                    place[h] = used
                    new_indices[used] = h
                    new_data[used] = affinity[e]
                    used += 1
                else:
                    new_data[place[h]] += affinity[e]
        new_indptr[g + 1] = used
    return new_indptr, new_indices[:used].copy(), new_data[:used].copy(), new_diagonal, new_weights


@compiled
def members_of(parent, n_groups):
    """Nodes sorted by group, and where each group starts among them."""
    start = np.zeros(n_groups + 1, dtype=np.int64)
    for g in parent:
        start[g + 1] += 1
    for g in range(n_groups):
        start[g + 1] += start[g]
    members = np.empty(len(parent), dtype=np.int32)
    fill = start[:-1].copy()
    for p in range(len(parent)):
        members[fill[parent[p]]] = p
        fill[parent[p]] += 1
    return members, start
