# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled affinities of the shared-neighbour kernel, one pair at a time, so that no list of pairs is stored."""

import numpy as np

from ..affinity.compiled import compiled


@compiled
def pair_affinities(rows, mine, theirs, among, pattern, sharpness, power):
    """Fill in the affinity of query p with point q for the entries (p, q) of some rows of a CSR pattern.

    Distances are those of the tables of neighbours: one of a pair has the other among its own. `among` says that
    queries and points are the same, so that either may have it; the pattern is then symmetric with sorted rows, and
    both entries of a pair are filled in from the row of the lower number.
    """
    query_distances, query_radius, query_lists = mine
    distances, radius, lists = theirs
    indptr, indices, affinities = pattern
    n_near = lists.shape[1]
    # By the number of common neighbours: a power costs as much as all the rest.
    share = (np.arange(n_near + 1) / n_near) ** power
    # Which query last had a point among its neighbours, and where: common ones are then counted by one look each.
    owner = np.full(len(lists), -1, dtype=lists.dtype)
    slot = np.zeros(len(lists), dtype=lists.dtype)
    twin = _entries_from(rows[0], indptr, indices) if among else np.empty(0, dtype=np.int64)
    for p in range(rows[0], rows[1]):
        for i in range(query_lists.shape[1]):
            owner[query_lists[p, i]] = p
            slot[query_lists[p, i]] = i
        for entry in range(twin[p] if among else indptr[p], indptr[p + 1]):
            q = indices[entry]
            common = 0
            back = -1
            for i in range(n_near):
                common += owner[lists[q, i]] == p
                if lists[q, i] == p:
                    back = i
            distance = query_distances[p, slot[q]] if owner[q] == p else distances[q, back]
            scaled = distance / query_radius[p] * (distance / radius[q])
            affinities[entry] = np.exp(-sharpness * scaled) * share[common]
            if among:
                affinities[twin[q]] = affinities[entry]
                twin[q] += 1


@compiled
def _entries_from(first, indptr, indices):
    """The first entry of each sorted row whose column is no lower than `first`."""
    entries = np.empty(len(indptr) - 1, dtype=np.int64)
    for p in range(len(entries)):
        entries[p] = indptr[p] + np.searchsorted(indices[indptr[p] : indptr[p + 1]], first)
    return entries
