"""Compiled loops that shrink a dense matrix, and merge, split and exchange clusters of the small one.

The nodes of a small matrix are groups of points; its diagonal is what the groups hold inside.
"""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np
from cython.cimports.evencut.solvers._graph_loops import random_below
from cython.cimports.evencut.solvers._move_loops import Clusters, sweep_table

Real = cython.fused_type(cython.float, cython.double)
# An exchange must gain more than rounding, relative to the energy.
_LEAST_GAIN = cython.declare(cython.double, 1e-11)
# Sweeps of moves after a split or a union; a better exchange is found again, and settles further.
_SWEEPS = cython.declare(cython.int, 6)
_INFINITE = cython.declare(cython.double, float("inf"))


def strongest_links(
    matrix: cython.const[Real][:, ::1], scale: cython.const[cython.double][::1], n_links: cython.Py_ssize_t
):
    """Columns and values of the largest entries of every row, where columns are scaled; the diagonal is passed over."""
    tables = np.zeros((len(matrix), n_links), np.int32), np.full((len(matrix), n_links), -np.inf)
    columns: cython.int[:, ::1] = tables[0]
    values: cython.double[:, ::1] = tables[1]
    with cython.nogil:
        for p in range(matrix.shape[0]):
            for q in range(matrix.shape[1]):
                value: cython.double = matrix[p, q] * scale[q]
                if q == p or value <= values[p, n_links - 1]:
                    continue
                at: cython.Py_ssize_t = n_links - 1
                while at > 0 and values[p, at - 1] < value:
                    values[p, at] = values[p, at - 1]
                    columns[p, at] = columns[p, at - 1]
                    at -= 1
                values[p, at] = value
                columns[p, at] = q
    return tables


def contract_dense(
    matrix: cython.const[Real][:, ::1], parent: cython.const[cython.longlong][::1], n_groups: cython.Py_ssize_t
):
    """M summed over each pair of groups."""
    sums = np.zeros((n_groups, n_groups))
    rows: cython.double[:, ::1] = np.zeros((n_groups, len(parent)))
    small: cython.double[:, ::1] = sums
    n: cython.Py_ssize_t = parent.shape[0]
    with cython.nogil:
        for p in range(n):
            g = parent[p]
            for q in range(n):
                rows[g, q] += matrix[p, q]
        for g in range(small.shape[0]):
            for q in range(n):
                small[g, parent[q]] += rows[g, q]
        for g in range(small.shape[0]):
            for h in range(g):
                small[g, h] = small[h, g] = 0.5 * (small[g, h] + small[h, g])
    return sums


@cython.cfunc
@cython.nogil
@cython.inline
def _union_loss(
    a: cython.Py_ssize_t, b: cython.Py_ssize_t, links: cython.double[:, ::1], weights: cython.double[::1]
) -> cython.double:
    """What the union of two clusters costs the objective."""
    union = (links[a, a] + links[b, b] + 2 * links[a, b]) / (weights[a] + weights[b])
    return links[a, a] / weights[a] + links[b, b] / weights[b] - union


def merge_nodes(matrix, weights, n_clusters, extra=None):
    """The merges, again and again, of the two clusters of nodes whose union costs least: who stays, and who joins it.

    What is `extra` for a pair is added to its cost; a union has the lesser of its two.
    """
    n: cython.Py_ssize_t = len(weights)
    merger: _Merger = _Merger(matrix, weights, np.zeros((n, n)) if extra is None else extra.copy())
    pairs = np.empty((n - n_clusters, 2), dtype=np.int64)
    merges: cython.longlong[:, ::1] = pairs
    with cython.nogil:
        for i in range(n):
            merger.find_partner(i)
        for i in range(merges.shape[0]):
            merges[i, 0] = merger.merge()
            merges[i, 1] = merger.gone
    return pairs


@cython.final
@cython.cclass
class _Merger:
    """Clusters while they merge: links and weights, what a union costs beside them, who is left, the best partners."""

    links: cython.double[:, ::1]
    extra: cython.double[:, ::1]
    weight: cython.double[::1]
    alive: cython.uchar[::1]
    gone: cython.Py_ssize_t
    partner: cython.longlong[::1]
    loss: cython.double[::1]

    def __init__(self, matrix, weights, extra):
        n = len(weights)
        self.links, self.weight, self.extra = np.array(matrix, order="C"), weights.copy(), extra
        self.alive = np.ones(n, np.uint8)
        self.partner, self.loss = np.full(n, -1, np.int64), np.full(n, np.inf)

    @cython.cfunc
    @cython.nogil
    def find_partner(self, a: cython.Py_ssize_t) -> cython.int:
        """The cluster whose union with a costs least."""
        self.partner[a] = -1
        self.loss[a] = _INFINITE
        for b in range(self.weight.shape[0]):
            if b != a and self.alive[b]:
                loss = _union_loss(a, b, self.links, self.weight) + self.extra[a, b]
                if loss < self.loss[a]:
                    self.partner[a], self.loss[a] = b, loss
        return 0

    @cython.cfunc
    @cython.nogil
    def merge(self) -> cython.Py_ssize_t:
        """Unite the two clusters whose union costs least; the one that stays, and in `gone` the one that joins it."""
        n: cython.Py_ssize_t = self.weight.shape[0]
        kept: cython.Py_ssize_t = 0
        for a in range(1, n):
            if self.loss[a] < self.loss[kept]:
                kept = a
        gone = self.gone = self.partner[kept]
        self.alive[gone] = False
        self.loss[gone] = _INFINITE
        self.weight[kept] += self.weight[gone]
        for b in range(n):
            self.links[kept, b] += self.links[gone, b]
        for b in range(n):
            self.links[b, kept] += self.links[b, gone]
            self.extra[kept, b] = self.extra[b, kept] = min(self.extra[kept, b], self.extra[gone, b])
        for a in range(n):
            if not self.alive[a]:
                continue
            if a == kept or self.partner[a] == kept or self.partner[a] == gone:
                self.find_partner(a)
            else:
                changed = _union_loss(a, kept, self.links, self.weight) + self.extra[a, kept]
                if changed < self.loss[a]:
                    self.partner[a], self.loss[a] = kept, changed
        return kept


def exchange_grown(
    matrix, weights, labels: cython.longlong[::1], n_clusters: cython.Py_ssize_t,
    ranked: cython.const[cython.longlong][::1], trials: cython.Py_ssize_t, state: cython.ulonglong[::1],
):
    """Try `trials` exchanges of clusters (one split, two merged), in place; the energy afterwards.

    `ranked` holds the nodes from the most isolated to the densest. Every second split begins at one of its ends, in
    turn: outliers and modes are what criteria fall for, and few nodes among many.
    """
    growth: _Growth = _Growth(matrix, weights, n_clusters)
    # Links of all nodes to all clusters, and to a spare one that is in use while two become three.
    table: cython.double[:, ::1] = np.zeros((n_clusters + 1, len(weights)))
    changed: cython.double[:, ::1] = np.zeros((n_clusters + 1, len(weights)))
    proposal: cython.longlong[::1] = np.empty(len(weights), dtype=np.int64)
    now: Clusters = _unsummed(labels, n_clusters)
    narrow: Clusters = _unsummed(proposal, n_clusters)
    wide: Clusters = _unsummed(proposal, n_clusters + 1)
    n: cython.Py_ssize_t = labels.shape[0]
    energy: cython.double
    with cython.nogil:
        for p in range(n):
            for q in range(n):
                table[labels[p], q] += growth.matrix[p, q]
        energy = growth.settle(now, table)
        for trial in range(trials):
            if trial % 2 == 1:
                node: cython.Py_ssize_t = random_below(state, n)
            elif trial % 4 == 0:
                node = ranked[(trial // 4) % n]
            else:
                node = ranked[n - 1 - (trial // 4) % n]
            parted: cython.Py_ssize_t = labels[node]
            proposal[:], changed[:, :] = labels, table
            if not growth.part(proposal, changed, node):
                continue
            growth.settle(wide, changed)
            growth.unite_cheapest(proposal, changed, parted)
            after = growth.settle(narrow, changed)
            if after < energy - _LEAST_GAIN * abs(energy):
                energy = after
                labels[:], table[:, :] = proposal, changed
    return energy


@cython.cfunc
def _unsummed(labels: cython.longlong[::1], n_clusters: cython.Py_ssize_t) -> Clusters:
    """Clusters whose sums are still to be taken."""
    return Clusters(labels, np.empty(n_clusters), np.empty(n_clusters), np.empty(n_clusters, np.int64))


@cython.final
@cython.cclass
class _Growth:
    """The small matrix and its weights, and room to work in: members of a cluster, what has grown among them, links."""

    matrix: cython.const[cython.double][:, ::1]
    weights: cython.const[cython.double][::1]
    members: cython.longlong[::1]
    tie: cython.double[::1]
    is_grown: cython.uchar[::1]
    order: cython.longlong[::1]
    links: cython.double[:, ::1]
    weight: cython.double[::1]

    def __init__(self, matrix, weights, n_clusters):
        n = len(weights)
        self.matrix, self.weights = matrix, weights
        self.members, self.order = np.empty(n, np.int64), np.empty(n, np.int64)
        self.tie, self.is_grown = np.empty(n), np.empty(n, np.uint8)
        self.links, self.weight = np.empty((n_clusters + 1, n_clusters + 1)), np.empty(n_clusters + 1)

    @cython.cfunc
    @cython.nogil
    def settle(self, clusters: Clusters, table: cython.double[:, ::1]) -> cython.double:
        """Sweeps of single-node moves, in place; the energy afterwards."""
        clusters.inside[:] = 0.0
        clusters.weight[:] = 0.0
        clusters.count[:] = 0
        for p in range(self.weights.shape[0]):
            k = clusters.labels[p]
            clusters.inside[k] += table[k, p]
            clusters.weight[k] += self.weights[p]
            clusters.count[k] += 1
        for p in range(_SWEEPS):
            if sweep_table(self.matrix, self.weights, clusters, table) == 0:
                break
        energy: cython.double = 0.0
        for p in range(clusters.inside.shape[0]):
            energy += clusters.inside[p] / clusters.weight[p]
        return -energy

    @cython.cfunc
    @cython.nogil
    def part(self, labels: cython.longlong[::1], table: cython.double[:, ::1], node: cython.Py_ssize_t) -> cython.bint:
        """Give what grows best from a node the last label; False, and nothing done, where it has its cluster alone."""
        last: cython.Py_ssize_t = table.shape[0] - 1
        parted: cython.Py_ssize_t = labels[node]
        n_members: cython.Py_ssize_t = 0
        place: cython.Py_ssize_t = 0
        for p in range(labels.shape[0]):
            if labels[p] == parted:
                if p == node:
                    place = n_members
                self.members[n_members] = p
                n_members += 1
        if n_members < 2:
            return False
        for q in range(labels.shape[0]):
            table[last, q] = 0.0
        for i in range(self.grow(table, parted, n_members, place)):
            p = self.order[i]
            labels[p] = last
            for q in range(labels.shape[0]):
                table[parted, q] -= self.matrix[p, q]
                table[last, q] += self.matrix[p, q]
        return True

    @cython.cfunc
    @cython.nogil
    def grow(
        self, table: cython.double[:, ::1], parted: cython.Py_ssize_t, n_members: cython.Py_ssize_t,
        at: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """The part of a cluster that grows from a node, always by what is tied to it most, cut off where it pays most.

        Around a mode it is the mode, from an outlier the outlier, inside a long shape one end of it. It stands at
        the beginning of `order`; its size.
        """
        members, tie = self.members, self.tie
        left: cython.double = 0.0
        weight_left: cython.double = 0.0
        inside: cython.double = 0.0
        weight: cython.double = 0.0
        best: cython.double = -_INFINITE
        size: cython.Py_ssize_t = 1
        for i in range(n_members):
            left += table[parted, members[i]]
            tie[i] = 0.0
            self.is_grown[i] = False
        for i in range(n_members):
            weight_left += self.weights[members[i]]
        for i in range(n_members - 1):
            p = members[at]
            self.is_grown[at] = True
            self.order[i] = p
            own = self.matrix[p, p]
            inside += 2 * tie[at] + own
            left -= 2 * (table[parted, p] - tie[at]) - own
            weight += self.weights[p]
            weight_left -= self.weights[p]
            value = inside / weight + left / weight_left
            if value > best:
                best, size = value, i + 1
            strongest: cython.double = -_INFINITE
            for j in range(n_members):
                if not self.is_grown[j]:
                    q = members[j]
                    tie[j] += self.matrix[p, q]
                    pull = tie[j] / self.weights[q]
                    if pull > strongest:
                        at, strongest = j, pull
        return size

    @cython.cfunc
    @cython.nogil
    def unite_cheapest(
        self, labels: cython.longlong[::1], table: cython.double[:, ::1], parted: cython.Py_ssize_t
    ) -> cython.int:
        """Unite the two clusters whose union costs least, but not `parted` and the last, which were one; renumber."""
        n_clusters: cython.Py_ssize_t = table.shape[0]
        last: cython.Py_ssize_t = n_clusters - 1
        first: cython.Py_ssize_t = 0
        second: cython.Py_ssize_t = last
        least: cython.double = _INFINITE
        self.links[:, :] = 0.0
        self.weight[:] = 0.0
        for p in range(labels.shape[0]):
            self.weight[labels[p]] += self.weights[p]
            for a in range(n_clusters):
                self.links[a, labels[p]] += table[a, p]
        for a in range(n_clusters):
            for b in range(a):
                loss = _union_loss(a, b, self.links, self.weight)
                if loss < least and not (a == last and b == parted):
                    first, second, least = b, a, loss
        for p in range(labels.shape[0]):
            table[first, p] += table[second, p]
            table[second, p] = table[last, p]
            if labels[p] == second:
                labels[p] = first
            elif labels[p] == last:
                labels[p] = second
        return 0
