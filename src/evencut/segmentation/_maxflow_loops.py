"""Compiled max-flow on grids of any number of axes: two search trees, grown from source and sink and repaired (Boykov
and Kolmogorov, 2004). Residuals stay in the caller's arrays, so that the next problem on the same grid starts warm.

Nodes are numbered row by row on a grid padded by one node on every side; direction d of a node leads to the node at
``index + offsets[d]`` and is undone by direction ``last - d``, `last` being the last direction.
"""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np

_FREE = cython.declare(cython.int, 0)
_SOURCE = cython.declare(cython.int, 1)
_SINK = cython.declare(cython.int, 2)
_NO_PARENT = cython.declare(cython.int, -1)
_TERMINAL = cython.declare(cython.int, 100)
_ORPHAN = cython.declare(cython.int, 101)
_FAR = cython.declare(cython.longlong, 1 << 30)


def maximum_flow(residual, excess, offsets, tree):
    """Push all flow; returns its value and leaves in `tree` 1 at the nodes on the source side.

    Parameters
    ----------
    residual : ndarray of shape (n_nodes, n_directions)
        Residual capacities, changed in place; edges that leave the grid must have capacity zero.
    excess : ndarray of shape (n_nodes,)
        Residual terminal capacity: from the source where positive, to the sink where negative; changed in place.
    offsets : ndarray of shape (n_directions,)
        Steps to the neighbours.
    tree : ndarray of int8 of shape (n_nodes,)
        Written: 1 for the source side of the minimal minimum cut, 0 or 2 elsewhere.
    """
    search: _Search = _Search(residual, excess, offsets, tree)
    with cython.nogil:
        search.push_to_neighbors()
        search.plant()
        search.run()
    return search.flow


@cython.final
@cython.cclass
class _Search:
    """The network and its two trees.

    Of each node are kept: the tree it is in, the direction of its parent, and when and how far it last knew its root
    to be. Nodes that can still grow wait in a ring, those that lost their parent in another.
    """

    residual: cython.double[:, ::1]
    excess: cython.double[::1]
    offsets: cython.const[cython.longlong][::1]
    far: cython.int
    tree: cython.schar[::1]
    parent: cython.schar[::1]
    stamp: cython.int[::1]
    depth: cython.int[::1]
    ring: cython.int[::1]
    queued: cython.uchar[::1]
    first: cython.longlong
    last: cython.longlong
    orphans: cython.int[::1]
    n_orphans: cython.longlong
    clock: cython.int
    flow: cython.double

    def __init__(self, residual, excess, offsets, tree):
        n_nodes = len(excess)
        self.residual, self.excess, self.offsets, self.tree = residual, excess, offsets, tree
        # The last direction; named so because `last` is the end of the ring.
        self.far = len(offsets) - 1
        self.parent = np.full(n_nodes, _NO_PARENT, np.int8)
        self.stamp, self.depth = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
        self.ring, self.queued = np.empty(n_nodes + 1, np.int32), np.zeros(n_nodes, np.uint8)
        self.orphans = np.empty(n_nodes + 1, np.int32)
        self.first = self.last = self.n_orphans = self.clock = 0
        self.flow = 0.0

    @cython.cfunc
    @cython.nogil
    def push_to_neighbors(self) -> cython.int:
        """Push what goes over single edges, which needs no trees."""
        reach = self.offsets[self.far]
        for node in range(reach, self.excess.shape[0] - reach):
            if self.excess[node] <= 0.0:
                continue
            for d in range(self.far + 1):
                other = node + self.offsets[d]
                if self.excess[other] < 0.0 and self.residual[node, d] > 0.0:
                    amount: cython.double = min(self.excess[node], -self.excess[other], self.residual[node, d])
                    self.excess[node] -= amount
                    self.excess[other] += amount
                    self.residual[node, d] -= amount
                    self.residual[other, self.far - d] += amount
                    self.flow += amount
                    if self.excess[node] <= 0.0:
                        break
        return 0

    @cython.cfunc
    @cython.nogil
    def plant(self) -> cython.int:
        """Make every node with an excess a root of its tree."""
        n_nodes: cython.longlong = self.excess.shape[0]
        reach = self.offsets[self.far]
        for node in range(n_nodes):
            self.tree[node] = _FREE
            if self.excess[node] != 0.0:
                self.tree[node] = _SOURCE if self.excess[node] > 0.0 else _SINK
                self.parent[node] = _TERMINAL
                self.depth[node] = 1
        for node in range(reach, n_nodes - reach):
            # A node among its like has nothing to grow into, until a neighbour is set free or taken: that wakes it.
            side = self.tree[node]
            if side != _FREE:
                for d in range(self.far + 1):
                    if self.tree[node + self.offsets[d]] != side:
                        self.enqueue(node)
                        break
        return 0

    @cython.cfunc
    @cython.nogil
    def run(self) -> cython.int:
        """Grow the trees, push along the paths between them and repair them, until they meet no more."""
        current: cython.longlong = -1
        while True:
            if current < 0 or self.tree[current] == _FREE:
                if self.first == self.last:
                    return 0
                current = self.dequeue()
                if self.tree[current] == _FREE:
                    current = -1
                    continue
            meeting = self.grow(current)
            if meeting < 0:
                current = -1
                continue
            self.clock += 1
            self.flow += self.augment(meeting // (self.far + 1), meeting % (self.far + 1))
            self.adopt()

    @cython.cfunc
    @cython.nogil
    def grow(self, node: cython.longlong) -> cython.longlong:
        """Extend the tree of `node`; returns an edge between the trees.

        The edge is its source end times the number of directions, plus its direction; -1 where there is none.
        """
        side = self.tree[node]
        for d in range(self.far + 1):
            other = node + self.offsets[d]
            # Most neighbours are of the same tree and as near to its root: their capacities need not be looked at.
            if self.tree[other] == side and (
                self.depth[other] <= self.depth[node] + 1 or self.stamp[other] > self.stamp[node]
            ):
                continue
            if self.capacity(other, self.far - d, side) <= 0.0:
                continue
            if self.tree[other] != _FREE and self.tree[other] != side:
                n_directions: cython.longlong = self.far + 1
                return n_directions * node + d if side == _SOURCE else n_directions * other + self.far - d
            # A node of the same tree gets a shorter way to its root, which keeps later paths short.
            is_new: cython.bint = self.tree[other] == _FREE
            self.tree[other] = side
            self.parent[other] = self.far - d
            self.stamp[other] = self.stamp[node]
            self.depth[other] = self.depth[node] + 1
            if is_new:
                self.enqueue(other)
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def enqueue(self, node: cython.longlong) -> cython.int:
        if not self.queued[node]:
            self.queued[node] = True
            self.ring[self.last] = node
            self.last = self.last + 1 if self.last < self.ring.shape[0] - 1 else 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def dequeue(self) -> cython.longlong:
        node = self.ring[self.first]
        self.first = self.first + 1 if self.first < self.ring.shape[0] - 1 else 0
        self.queued[node] = False
        return node

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def capacity(self, node: cython.longlong, d: cython.int, side: cython.int) -> cython.double:
        """What can flow between a node and its neighbour in a direction: from the source's tree or to the sink's."""
        return self.residual[node + self.offsets[d], self.far - d] if side == _SOURCE else self.residual[node, d]

    @cython.cfunc
    @cython.nogil
    def augment(self, source_end: cython.longlong, direction: cython.int) -> cython.double:
        """Push the most that the path through the given edge carries; nodes cut from their root become orphans."""
        sink_end = source_end + self.offsets[direction]
        amount: cython.double = self.residual[source_end, direction]
        amount = self.bottleneck(source_end, _SOURCE, amount)
        amount = self.bottleneck(sink_end, _SINK, amount)
        self.n_orphans = 0
        self.residual[source_end, direction] -= amount
        self.residual[sink_end, self.far - direction] += amount
        self.drain(source_end, _SOURCE, -amount)
        self.drain(sink_end, _SINK, amount)
        return amount

    @cython.cfunc
    @cython.nogil
    def bottleneck(self, node: cython.longlong, side: cython.int, amount: cython.double) -> cython.double:
        """As much of an amount as the way between a node and its root carries."""
        while self.parent[node] != _TERMINAL:
            d = self.parent[node]
            amount = min(amount, self.capacity(node, d, side))
            node += self.offsets[d]
        return min(amount, self.excess[node] if side == _SOURCE else -self.excess[node])

    @cython.cfunc
    @cython.nogil
    def drain(self, node: cython.longlong, side: cython.int, change: cython.double) -> cython.int:
        """Push along the way between a node and its root: an amount in the sink's tree, its negative otherwise."""
        while self.parent[node] != _TERMINAL:
            d = self.parent[node]
            above = node + self.offsets[d]
            self.residual[node, d] -= change
            self.residual[above, self.far - d] += change
            if self.capacity(node, d, side) <= 0.0:
                self.make_orphan(node)
            node = above
        self.excess[node] += change
        if self.excess[node] == 0.0 or (self.excess[node] < 0.0) == (side == _SOURCE):
            self.make_orphan(node)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def make_orphan(self, node: cython.longlong) -> cython.int:
        self.parent[node] = _ORPHAN
        self.orphans[self.n_orphans] = node
        self.n_orphans += 1
        return 0

    @cython.cfunc
    @cython.nogil
    def adopt(self) -> cython.int:
        """Give every orphan a parent that still reaches its root, or set it free and orphan its children."""
        first: cython.longlong = 0
        last = self.n_orphans
        size: cython.longlong = self.orphans.shape[0]
        while first != last:
            node: cython.longlong = self.orphans[first]
            first = first + 1 if first < size - 1 else 0
            side = self.tree[node]
            best = _NO_PARENT
            best_depth = _FAR
            for d in range(self.far + 1):
                other = node + self.offsets[d]
                if self.tree[other] != side:
                    continue
                if self.capacity(node, d, side) <= 0.0:
                    continue
                distance = self.distance_to_root(other)
                if distance < best_depth:
                    best, best_depth = d, distance
            if best != _NO_PARENT:
                self.parent[node] = best
                self.stamp[node] = self.clock
                self.depth[node] = best_depth + 1
                continue
            for d in range(self.far + 1):
                other = node + self.offsets[d]
                if self.tree[other] != side:
                    continue
                if self.capacity(node, d, side) > 0.0:
                    self.enqueue(other)
                if self.parent[other] == self.far - d:
                    self.parent[other] = _ORPHAN
                    self.orphans[last] = other
                    last = last + 1 if last < size - 1 else 0
            self.tree[node] = _FREE
            self.parent[node] = _NO_PARENT
        return 0

    @cython.cfunc
    @cython.nogil
    def distance_to_root(self, start: cython.longlong) -> cython.longlong:
        """Edges from a node to its terminal, or a huge number where the way ends at an orphan; marks the way."""
        node = start
        distance: cython.longlong = 0
        while True:
            if self.stamp[node] == self.clock:
                distance += self.depth[node]
                break
            d = self.parent[node]
            distance += 1
            if d == _TERMINAL:
                self.stamp[node] = self.clock
                self.depth[node] = 1
                break
            if d < 0 or d > _TERMINAL:
                return _FAR
            node += self.offsets[d]
        node = start
        steps = distance
        while self.stamp[node] != self.clock:
            self.stamp[node] = self.clock
            self.depth[node] = steps
            steps -= 1
            node += self.offsets[self.parent[node]]
        return distance
