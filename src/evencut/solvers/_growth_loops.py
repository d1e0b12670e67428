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
def exchange_grown(matrix, weights, labels, n_clusters, trials, state):
    """Try `trials` exchanges of clusters (one split, two merged), in place; the energy afterwards."""
    n = len(labels)
    _settle(matrix, weights, labels, n_clusters)
    energy = _energy(matrix, weights, labels, n_clusters)
    for _ in range(trials):
        node = random_below(state, n)
        members = np.flatnonzero(labels == labels[node])
        if len(members) < 2:
            continue
        proposal = labels.copy()
        grown = _best_growth(matrix, weights, members, node)
        proposal[grown] = n_clusters
        _settle(matrix, weights, proposal, n_clusters + 1)
        _unite_cheapest(matrix, weights, proposal, n_clusters + 1, labels[node])
        _settle(matrix, weights, proposal, n_clusters)
        after = _energy(matrix, weights, proposal, n_clusters)
        if after < energy - _LEAST_GAIN * abs(energy):
            energy = after
            labels[:] = proposal
    return energy


@compiled
def _best_growth(matrix, weights, members, seed):
    """The part of a cluster that grows from a node, always by what is tied to it most, cut off where it pays most.

    Around a mode it is the mode, from a straggler the straggler, inside a long shape one end of it.
    """
    n = len(members)
    tie, total = np.empty(n), np.zeros(n)
    left, weight_left, at = 0.0, 0.0, 0
    for i in range(n):
        p = members[i]
        tie[i] = 0.0
        for q in members:
            total[i] += matrix[p, q]
        left += total[i]
        weight_left += weights[p]
        if p == seed:
            at = i
    grown, order = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64)
    inside, weight, best, size = 0.0, 0.0, -np.inf, 1
    for i in range(n - 1):
        p = members[at]
        grown[at] = True
        order[i] = p
        own = matrix[p, p]
        inside += 2 * tie[at] + own
        left -= 2 * (total[at] - tie[at]) - own
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
def _unite_cheapest(matrix, weights, labels, n_clusters, parted):
    """Unite the two clusters whose union costs least, but not `parted` and the last, which were one; renumber."""
    links, weight = np.zeros((n_clusters, n_clusters)), np.zeros(n_clusters)
    for p in range(len(labels)):
        weight[labels[p]] += weights[p]
        row = links[labels[p]]
        for q in range(len(labels)):
            row[labels[q]] += matrix[p, q]
    last = n_clusters - 1
    first, second, least = 0, last, np.inf
    for a in range(n_clusters):
        for b in range(a):
            loss = _union_loss(a, b, links, weight)
            if loss < least and not (a == last and b == parted):
                first, second, least = b, a, loss
    for p in range(len(labels)):
        if labels[p] == second:
            labels[p] = first
        elif labels[p] == last:
            labels[p] = second


@compiled
def _settle(matrix, weights, labels, n_clusters):
    """Sweeps of single-node moves, in place."""
    n = len(labels)
    table = np.zeros((n_clusters, n))
    for p in range(n):
        row = table[labels[p]]
        for q in range(n):
            row[q] += matrix[p, q]
    inside, weight, count = np.zeros(n_clusters), np.zeros(n_clusters), np.zeros(n_clusters, dtype=np.int64)
    for p in range(n):
        inside[labels[p]] += table[labels[p], p]
        weight[labels[p]] += weights[p]
        count[labels[p]] += 1
    none = np.zeros(n)
    for _ in range(_SWEEPS):
        if sweep_dense(matrix, none, weights, (labels, inside, weight, count), np.arange(n), table) == 0:
            break


@compiled
def _energy(matrix, weights, labels, n_clusters):
    inside, weight = np.zeros(n_clusters), np.zeros(n_clusters)
    for p in range(len(labels)):
        a = labels[p]
        weight[a] += weights[p]
        for q in range(len(labels)):
            if labels[q] == a:
                inside[a] += matrix[p, q]
    return -np.sum(inside / weight)
