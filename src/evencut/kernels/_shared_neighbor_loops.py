# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled affinities of the shared-neighbour kernel, one pair at a time, so that no list of pairs is stored."""

import numpy as np

from ..affinity.compiled import compiled


@compiled
def pair_affinities(rows, mine, theirs, pattern, sharpness, power):
    """Fill in the affinity of query p with point q for the entries (p, q) of some rows of a CSR pattern."""
    queries, query_radius, query_lists = mine
    points, radius, lists = theirs
    indptr, indices, affinities = pattern
    n_near = lists.shape[1]
    # By the number of common neighbours: a power costs as much as all the rest.
    share = (np.arange(n_near + 1) / n_near) ** power
    # Which query last had a point among its neighbours: common ones are then counted by one look each.
    owner = np.full(len(points), -1, dtype=lists.dtype)
    for p in range(rows[0], rows[1]):
        for neighbor in query_lists[p]:
            owner[neighbor] = p
        for entry in range(indptr[p], indptr[p + 1]):
            q = indices[entry]
            common = 0
            for neighbor in lists[q]:
                common += owner[neighbor] == p
            squared = 0.0
            for i in range(queries.shape[1]):
                squared += (queries[p, i] - points[q, i]) ** 2
            scaled = squared / (query_radius[p] * radius[q])
            affinities[entry] = np.exp(-sharpness * scaled) * share[common]
