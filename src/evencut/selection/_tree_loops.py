# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops of spanning trees: Boruvka's rounds on a table of neighbours, depth-first order, and cuts."""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled

__all__ = ["cut_longest", "depth_first", "pieces_of", "shortest_edges"]


@compiled
def _top(owner, p):
    """The representative of p's piece, with the path halved on the way."""
    while owner[p] != p:
        owner[p] = owner[owner[p]]
        p = owner[p]
    return p


@compiled
def pieces_of(indices):
    """How many pieces the graph of a table of neighbours has, and the piece of each point, by lowest number first."""
    n = len(indices)
    owner = np.arange(n)
    for p in range(n):
        a = _top(owner, p)
        for i in range(indices.shape[1]):
            b = _top(owner, indices[p, i])
            if a != b:
                a, b = min(a, b), max(a, b)
                owner[b] = a
    piece = np.empty(n, dtype=np.int64)
    n_pieces = 0
    for p in range(n):
        if owner[p] == p:
            piece[p] = n_pieces
            n_pieces += 1
        else:
            piece[p] = piece[_top(owner, p)]
    return n_pieces, piece


@compiled
def _offer(a, b, p, q, length, shortest):
    """Note the edge (p, q) for the pieces a and b if it is the shortest so far; equal ones go by their ends."""
    best, best_p, best_q = shortest
    low, high = min(p, q), max(p, q)
    for piece in (a, b):
        if length < best[piece] or (
            length == best[piece] and (low < best_p[piece] or (low == best_p[piece] and high < best_q[piece]))
        ):
            best[piece], best_p[piece], best_q[piece] = length, low, high


@compiled
def _offer_neighbors(p, distances, indices, reach, piece, start, shortest):
    """Offer the edges of p to other pieces, as far as they can be its shortest."""
    n_near = indices.shape[1]
    while start[p] < n_near and piece[indices[p, start[p]]] == piece[p]:
        start[p] += 1
    nearest = np.inf
    for i in range(start[p], n_near):
        # Later neighbours are no shorter than this one.
        if max(distances[p, i], reach[p]) > nearest:
            break
        q = indices[p, i]
        if piece[q] != piece[p]:
            away = max(distances[p, i], max(reach[p], reach[q]))
            nearest = min(nearest, away)
            _offer(piece[p], piece[q], p, q, away, shortest)


@compiled
def shortest_edges(distances, indices, reach, first, second, between):
    """Edges of the minimum spanning tree of max(distance, reach, reach): two ends and a length for each.

    Edges lead from each point to its neighbours (rows sorted by distance, the point itself first), and from `first`
    to `second`. By Boruvka's rounds: every piece takes its shortest edge to another one.
    """
    n = len(indices)
    owner = np.arange(n)
    piece = np.arange(n)
    start = np.ones(n, dtype=np.int64)  # neighbours before it are in the piece of their point
    best = np.empty(n)
    best_p = np.empty(n, dtype=np.int64)
    best_q = np.empty(n, dtype=np.int64)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    length = np.empty(n - 1)
    found = 0
    while found < n - 1:
        best[:] = np.inf
        best_p[:] = n
        best_q[:] = n
        for p in range(n):
            _offer_neighbors(p, distances, indices, reach, piece, start, (best, best_p, best_q))
        for i in range(len(first)):
            p, q = first[i], second[i]
            if piece[p] != piece[q]:
                away = max(between[i], max(reach[p], reach[q]))
                _offer(piece[p], piece[q], p, q, away, (best, best_p, best_q))
        before = found
        for a in range(n):
            if best[a] < np.inf:
                p, q = _top(owner, best_p[a]), _top(owner, best_q[a])
                if p != q:
                    owner[max(p, q)] = min(p, q)
                    edges[found, 0], edges[found, 1], length[found] = best_p[a], best_q[a], best[a]
                    found += 1
        if found == before:
            break
        for p in range(n):
            piece[p] = _top(owner, p)
    return edges[:found], length[:found]


@compiled
def _edges_beside(edges, n):
    """Where the edges of each point begin, and which they are."""
    starts = np.zeros(n + 1, dtype=np.int64)
    for e in range(n - 1):
        starts[edges[e, 0] + 1] += 1
        starts[edges[e, 1] + 1] += 1
    for p in range(n):
        starts[p + 1] += starts[p]
    beside = np.empty(2 * (n - 1), dtype=np.int64)
    fill = starts[:-1].copy()
    for e in range(n - 1):
        for side in range(2):
            p = edges[e, side]
            beside[fill[p]] = e
            fill[p] += 1
    return starts, beside


@compiled
def depth_first(edges, length, weights):
    """The tree hung up at point 0: points in depth-first order and, by place in it, parent, end of the branch, length
    of the edge above and weight of the branch."""
    n = len(weights)
    starts, beside = _edges_beside(edges, n)
    order = np.empty(n, dtype=np.int64)
    parent = np.full(n, -1, dtype=np.int64)
    above = np.full(n, -np.inf)
    stack = np.empty(n, dtype=np.int64)
    stack_parent = np.empty(n, dtype=np.int64)
    stack_edge = np.empty(n, dtype=np.int64)
    stack[0], stack_parent[0], stack_edge[0] = 0, -1, -1
    depth, found = 1, 0
    while depth > 0:
        depth -= 1
        p, from_edge = stack[depth], stack_edge[depth]
        order[found], parent[found] = p, stack_parent[depth]
        if from_edge >= 0:
            above[found] = length[from_edge]
        for at in range(starts[p], starts[p + 1]):
            e = beside[at]
            if e != from_edge:
                stack[depth] = edges[e, 1] if edges[e, 0] == p else edges[e, 0]
                stack_parent[depth], stack_edge[depth] = found, e
                depth += 1
        found += 1
    end = np.arange(1, n + 1)
    branch = weights[order].astype(np.float64)
    for i in range(n - 1, 0, -1):
        end[parent[i]] = max(end[parent[i]], end[i])
        branch[parent[i]] += branch[i]
    return order, parent, end, above, branch


@compiled
def cut_longest(parent, end, longest_first, branch, n_clusters, fewest):
    """Part of each place of a tree, by cuts that leave a weight of `fewest` on both sides; `branch` is used up.

    Where fewer parts are found than asked for, half the weight will do for the rest, and so on.
    """
    n = len(parent)
    part = np.zeros(n, dtype=np.int64)
    top = np.zeros(n_clusters, dtype=np.int64)
    smallest = 1e-3 * branch[0] / n
    found = 1
    while True:
        for i in longest_first:
            if found == n_clusters:
                return part
            old = part[i]
            low = branch[i]
            if top[old] == i or low < fewest or branch[top[old]] - low < fewest:
                continue
            for j in range(i, end[i]):
                if part[j] == old:
                    part[j] = found
            above = parent[i]
            while above != top[old]:
                branch[above] -= low
                above = parent[above]
            branch[above] -= low
            top[found] = i
            found += 1
        fewest = fewest / 2 if fewest > smallest else 0.0
