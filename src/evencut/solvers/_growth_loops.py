# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops that shrink a dense matrix, and merge, split and exchange clusters of the small one.

The nodes of a small matrix are groups of points; its diagonal is what the groups hold inside.
"""

from __future__ import annotations

import numpy as np

from ..affinity.compiled import compiled
from ._graph_loops import random_below
from ._move_loops import sweep_dense

__all__ = ["contract_dense", "exchange_grown", "merge_nodes", "strongest_links"]

# An exchange must gain more than rounding, relative to the energy.
_LEAST_GAIN = 1e-11
# Sweeps of moves after a split or a union; a better exchange is found again, and settles further.
_SWEEPS = 6


@compiled
def strongest_links(matrix, scale, n_links):
    """Columns and values of the largest entries of every row, where columns are scaled; the diagonal is passed over."""
    n = len(matrix)
    columns = np.zeros((n, n_links), dtype=np.int32)
    values = np.full((n, n_links), -np.inf)
    for p in range(n):
        row, column = values[p], columns[p]
        for q in range(n):
            value = matrix[p, q] * scale[q]
            if q == p or value <= row[n_links - 1]:
                continue
            at = n_links - 1
            while at > 0 and row[at - 1] < value:
                row[at] = row[at - 1]
                column[at] = column[at - 1]
                at -= 1
            row[at] = value
            column[at] = q
    return columns, values


@compiled
def contract_dense(matrix, parent, n_groups):
    """M summed over each pair of groups."""
    n = len(parent)
    rows = np.zeros((n_groups, n))
    for p in range(n):
        row = rows[parent[p]]
        for q in range(n):
            row[q] += matrix[p, q]
    small = np.zeros((n_groups, n_groups))
    for g in range(n_groups):
        for q in range(n):
            small[g, parent[q]] += rows[g, q]
    for g in range(n_groups):
        for h in range(g):
            small[g, h] = small[h, g] = 0.5 * (small[g, h] + small[h, g])
    return small


@compiled
def _union_loss(a, b, links, weights):
    """What the union of two clusters costs the objective."""
    union = (links[a, a] + links[b, b] + 2 * links[a, b]) / (weights[a] + weights[b])
    return links[a, a] / weights[a] + links[b, b] / weights[b] - union


@compiled
def _best_partner(a, links, weights, alive):
    best, least = -1, np.inf
    for b in range(len(weights)):
        if b != a and alive[b]:
            loss = _union_loss(a, b, links, weights)
            if loss < least:
                best, least = b, loss
    return best, least


@compiled
def merge_nodes(matrix, weights, n_clusters):
    """Labels after merging, again and again, the two clusters of nodes whose union costs least."""
    n = len(weights)
    links, weight = matrix.copy(), weights.copy()
    alive = np.ones(n, dtype=np.bool_)
    owner = np.arange(n)
    partner = np.empty(n, dtype=np.int64)
    loss = np.full(n, np.inf)
    for a in range(n):
        partner[a], loss[a] = _best_partner(a, links, weight, alive)
    for _ in range(n - n_clusters):
        kept = np.argmin(loss)
        gone = partner[kept]
        alive[gone] = False
        loss[gone] = np.inf
        weight[kept] += weight[gone]
        for b in range(n):
            links[kept, b] += links[gone, b]
        for b in range(n):
            links[b, kept] += links[b, gone]
            if owner[b] == gone:
                owner[b] = kept
        for a in range(n):
            if not alive[a]:
                continue
            if a == kept or partner[a] == kept or partner[a] == gone:
                partner[a], loss[a] = _best_partner(a, links, weight, alive)
            else:
                changed = _union_loss(a, kept, links, weight)
                if changed < loss[a]:
                    partner[a], loss[a] = kept, changed
    number = np.full(n, -1)
    n_found = 0
    for p in range(n):
        if number[owner[p]] < 0:
            number[owner[p]] = n_found
            n_found += 1
    return number[owner]


@compiled
def exchange_grown(matrix, weights, labels, n_clusters, ranked, trials, state):
    """Try `trials` exchanges of clusters (one split, two merged), in place; the energy afterwards.

    `ranked` holds the nodes from the most isolated to the densest. Every second split begins at one of its ends, in
    turn: stragglers and modes are what criteria fall for, and few nodes among many.
    """
    n, spare = len(labels), n_clusters
    # Links of all nodes to all clusters, and to one more that is in use while two become three.
    table = np.zeros((n_clusters + 1, n))
    for p in range(n):
        table[labels[p]] += matrix[p]
    energy = _settle(matrix, weights, labels, table, n_clusters)
    proposal, changed = labels.copy(), table.copy()
    for trial in range(trials):
        if trial % 2 == 1:
            node = random_below(state, n)
        elif trial % 4 == 0:
            node = ranked[(trial // 4) % n]
        else:
            node = ranked[n - 1 - (trial // 4) % n]
        parted = labels[node]
        members = np.flatnonzero(labels == parted)
        if len(members) < 2:
            continue
        proposal[:], changed[:] = labels, table
        changed[spare] = 0.0
        for p in _best_growth(matrix, weights, table[parted], members, node):
            proposal[p] = spare
            changed[parted] -= matrix[p]
            changed[spare] += matrix[p]
        _settle(matrix, weights, proposal, changed, n_clusters + 1)
        _unite_cheapest(weights, proposal, changed, parted)
        after = _settle(matrix, weights, proposal, changed, n_clusters)
        if after < energy - _LEAST_GAIN * abs(energy):
            energy = after
            labels[:], table[:] = proposal, changed
    return energy


@compiled
def _best_growth(matrix, weights, total, members, seed):
    """The part of a cluster that grows from a node, always by what is tied to it most, cut off where it pays most.

    Around a mode it is the mode, from a straggler the straggler, inside a long shape one end of it. `total` holds the
    links of nodes to the cluster.
    """
    n = len(members)
    at = np.searchsorted(members, seed)
    left, weight_left = np.sum(total[members]), np.sum(weights[members])
    tie, grown, order = np.zeros(n), np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    inside, weight, best, size = 0.0, 0.0, -np.inf, 1
    for i in range(n - 1):
        p = members[at]
        grown[at] = True
        order[i] = p
        own = matrix[p, p]
        inside += 2 * tie[at] + own
        left -= 2 * (total[p] - tie[at]) - own
        weight += weights[p]
        weight_left -= weights[p]
        value = inside / weight + left / weight_left
        if value > best:
            best, size = value, i + 1
        strongest = -np.inf
        for j in range(n):
            if not grown[j]:
                q = members[j]
                tie[j] += matrix[p, q]
                pull = tie[j] / weights[q]
                if pull > strongest:
                    at, strongest = j, pull
    return order[:size]


@compiled
def _unite_cheapest(weights, labels, table, parted):
    """Unite the two clusters whose union costs least, but not `parted` and the last, which were one; renumber."""
    n_clusters = len(table)
    links, weight = np.zeros((n_clusters, n_clusters)), np.zeros(n_clusters)
    for p in range(len(labels)):
        weight[labels[p]] += weights[p]
        for a in range(n_clusters):
            links[a, labels[p]] += table[a, p]
    last = n_clusters - 1
    first, second, least = 0, last, np.inf
    for a in range(n_clusters):
        for b in range(a):
            loss = _union_loss(a, b, links, weight)
            if loss < least and not (a == last and b == parted):
                first, second, least = b, a, loss
    table[first] += table[second]
    table[second] = table[last]
    for p in range(len(labels)):
        if labels[p] == second:
            labels[p] = first
        elif labels[p] == last:
            labels[p] = second


@compiled
def _settle(matrix, weights, labels, table, n_clusters):
    """Sweeps of single-node moves, in place; the energy afterwards."""
    n = len(labels)
    inside, weight, count = np.zeros(n_clusters), np.zeros(n_clusters), np.zeros(n_clusters, dtype=np.int64)
    for p in range(n):
        inside[labels[p]] += table[labels[p], p]
        weight[labels[p]] += weights[p]
        count[labels[p]] += 1
    none, order = np.zeros(n), np.arange(n)
    for _ in range(_SWEEPS):
        if sweep_dense(matrix, none, weights, (labels, inside, weight, count), order, table) == 0:
            break
    return -np.sum(inside / weight)
