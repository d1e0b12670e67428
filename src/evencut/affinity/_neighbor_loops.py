# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops over tables of neighbours: their symmetric union, and the neighbours of crowds of equal points."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

__all__ = ["expand_ties", "fill_union", "transpose_table", "union_sizes"]


@compiled
def transpose_table(table):
    """For each point, the points that have it among their neighbours, in rising order; where each list starts.

    The rows of the table are sorted too, in place: lists in rising order put every point back in its turn.
    """
    n, k = table.shape
    starts = np.zeros(n + 1, dtype=np.int64)
    for p in range(n):
        for i in range(k):
            starts[table[p, i] + 1] += 1
    for p in range(n):
        starts[p + 1] += starts[p]
    sources = np.empty(n * k, dtype=table.dtype)
    fill = starts[:-1].copy()
    for p in range(n):
        for i in range(k):
            q = table[p, i]
            sources[fill[q]] = p
            fill[q] += 1
    fill[:] = 0
    for q in range(n):
        for at in range(starts[q], starts[q + 1]):
            p = sources[at]
            table[p, fill[p]] = q
            fill[p] += 1
    return starts, sources


@compiled
def union_sizes(table, starts, sources, one_sided):
    """Row starts of the union (or, unless one_sided, of the intersection) of each row with its transpose."""
    n, k = table.shape
    indptr = np.zeros(n + 1, dtype=np.int64)
    for p in range(n):
        i, j, last, both = 0, starts[p], starts[p + 1], 0
        while i < k and j < last:
            if table[p, i] == sources[j]:
                both += 1
                i += 1
                j += 1
            elif table[p, i] < sources[j]:
                i += 1
            else:
                j += 1
        indptr[p + 1] = indptr[p] + (k + last - starts[p] - both if one_sided else both)
    return indptr


@compiled
def fill_union(table, starts, sources, one_sided, lone, indptr, columns, data):
    """Columns and values of the union: `lone` where only one of a pair names the other, else what data holds."""
    n, k = table.shape
    for p in range(n):
        i, j, last, at = 0, starts[p], starts[p + 1], indptr[p]
        while i < k or j < last:
            mine = i < k and (j == last or table[p, i] <= sources[j])
            theirs = j < last and (i == k or sources[j] <= table[p, i])
            if one_sided or (mine and theirs):
                columns[at] = table[p, i] if mine else sources[j]
                if mine != theirs:
                    data[at] = lone
                at += 1
            i += mine
            j += theirs


@compiled
def expand_ties(inverse, near, distances, reach, indices):
    """Fill tables of neighbours from those of the distinct points: equal points first, in a ring from each on.

    `inverse` gives the distinct point of each point; rows of `near` begin with the point itself.
    """
    n, n_neighbors = indices.shape
    n_distinct = len(near)
    starts = np.zeros(n_distinct + 1, dtype=np.int64)
    for u in inverse:
        starts[u + 1] += 1
    for u in range(n_distinct):
        starts[u + 1] += starts[u]
    members = np.empty(n, dtype=np.int64)
    fill = starts[:-1].copy()
    rank = np.empty(n, dtype=np.int64)
    for p in range(n):
        u = inverse[p]
        rank[p] = fill[u] - starts[u]
        members[fill[u]] = p
        fill[u] += 1
    for p in range(n):
        found = 0
        for i in range(near.shape[1]):
            u = near[inverse[p], i]
            size = starts[u + 1] - starts[u]
            for step in range(min(size, n_neighbors - found)):
                indices[p, found] = members[starts[u] + (rank[p] + step) % size]
                reach[p, found] = distances[inverse[p], i]
                found += 1
            if found == n_neighbors:
                break
