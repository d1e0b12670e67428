# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled max-flow on 8-connected grids: two search trees, grown from source and sink and repaired (Boykov and
Kolmogorov, 2004).  Residuals stay in the caller's arrays, so that the next problem on the same grid starts warm.

Nodes are numbered row by row on a grid padded by one node on every side; direction d of a node leads to the node at
``index + offsets[d]`` and is undone by direction ``7 - d``.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..affinity.compiled import compiled

_FREE, _SOURCE, _SINK = 0, 1, 2
_NO_PARENT, _TERMINAL, _ORPHAN = -1, 8, 9
_FAR = 1 << 30


#: Residual capacities of the edges, residual terminal capacities, and the steps to the neighbours.
Network = namedtuple("Network", "residual excess offsets")

#: Of each node: the tree it is in, the direction of its parent, and when and how far it last knew its root to be.
Trees = namedtuple("Trees", "side parent stamp depth")

#: A ring of nodes that wait; `place` holds the first and one past the last.
Ring = namedtuple("Ring", "nodes queued place")


@compiled
def maximum_flow(residual, excess, offsets, tree):
    """Push all flow; returns its value and leaves in `tree` 1 at the nodes on the source side.

    Parameters
    ----------
    residual : ndarray of shape (n_nodes, 8)
        Residual capacities, changed in place; edges that leave the grid must have capacity zero.
    excess : ndarray of shape (n_nodes,)
        Residual terminal capacity: from the source where positive, to the sink where negative; changed in place.
    offsets : ndarray of shape (8,)
        Steps to the neighbours.
    tree : ndarray of int8 of shape (n_nodes,)
        Written: 1 for the source side of the minimal minimum cut, 0 or 2 elsewhere.
    """
    n_nodes = excess.size
    network = Network(residual, excess, offsets)
    flow = _push_to_neighbors(network)
    parent = np.full(n_nodes, _NO_PARENT, np.int8)
    trees = Trees(tree, parent, np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32))
    active = Ring(np.empty(n_nodes + 1, np.int32), np.zeros(n_nodes, np.bool_), np.zeros(2, np.int64))
    orphans = np.empty(n_nodes + 1, np.int32)
    for node in range(n_nodes):
        tree[node] = _FREE
        if excess[node] != 0.0:
            tree[node] = _SOURCE if excess[node] > 0.0 else _SINK
            parent[node] = _TERMINAL
            trees.depth[node] = 1
    reach = offsets[7]
    for node in range(reach, n_nodes - reach):
        # A node among its like has nothing to grow into, until a neighbour is set free or taken: that wakes it.
        if tree[node] != _FREE:
            side = tree[node]
            for d in range(8):
                if tree[node + offsets[d]] != side:
                    _enqueue(node, active)
                    break
    clock = 0
    current = -1
    while True:
        if current < 0 or tree[current] == _FREE:
            if active.place[0] == active.place[1]:
                break
            current = _dequeue(active)
            if tree[current] == _FREE:
                current = -1
                continue
        meeting, direction = _grow(current, network, trees, active)
        if meeting < 0:
            current = -1
            continue
        clock += 1
        pushed, n_orphans = _augment(meeting, direction, network, trees, orphans)
        flow += pushed
        _adopt(n_orphans, clock, network, trees, active, orphans)
    return flow


@compiled
def _push_to_neighbors(network):
    """Push what goes over single edges, which needs no trees; returns how much."""
    residual, excess, offsets = network.residual, network.excess, network.offsets
    reach = offsets[7]
    flow = 0.0
    for node in range(reach, excess.size - reach):
        if excess[node] <= 0.0:
            continue
        for d in range(8):
            other = node + offsets[d]
            if excess[other] < 0.0 and residual[node, d] > 0.0:
                amount = min(excess[node], -excess[other], residual[node, d])
                excess[node] -= amount
                excess[other] += amount
                residual[node, d] -= amount
                residual[other, 7 - d] += amount
                flow += amount
                if excess[node] <= 0.0:
                    break
    return flow


@compiled
def _grow(node, network, trees, active):
    """Extend the tree of `node`; returns the source end and direction of an edge between the trees, or -1."""
    residual, offsets = network.residual, network.offsets
    tree, parent, stamp, depth = trees.side, trees.parent, trees.stamp, trees.depth
    side = tree[node]
    for d in range(8):
        other = node + offsets[d]
        # Most neighbours are of the same tree and as near to its root: their capacities need not be looked at.
        if tree[other] == side and (depth[other] <= depth[node] + 1 or stamp[other] > stamp[node]):
            continue
        capacity = residual[node, d] if side == _SOURCE else residual[other, 7 - d]
        if capacity <= 0.0:
            continue
        if tree[other] == _FREE:
            tree[other] = side
            parent[other] = 7 - d
            stamp[other] = stamp[node]
            depth[other] = depth[node] + 1
            _enqueue(other, active)
        elif tree[other] != side:
            if side == _SOURCE:
                return node, d
            return other, 7 - d
        else:
            # A shorter way to the root keeps later paths short.
            parent[other] = 7 - d
            stamp[other] = stamp[node]
            depth[other] = depth[node] + 1
    return -1, 0


@compiled
def _enqueue(node, ring):
    if not ring.queued[node]:
        ring.queued[node] = True
        last = ring.place[1]
        ring.nodes[last] = node
        ring.place[1] = last + 1 if last < ring.nodes.size - 1 else 0


@compiled
def _dequeue(ring):
    first = ring.place[0]
    node = ring.nodes[first]
    ring.place[0] = first + 1 if first < ring.nodes.size - 1 else 0
    ring.queued[node] = False
    return node


@compiled
def _augment(source_end, direction, network, trees, orphans):
    """Push the most that the path through the given edge carries; nodes cut from their root become orphans."""
    residual, excess, offsets = network.residual, network.excess, network.offsets
    parent = trees.parent
    sink_end = source_end + offsets[direction]
    amount = residual[source_end, direction]
    node = source_end
    while parent[node] != _TERMINAL:
        d = parent[node]
        node += offsets[d]
        amount = min(amount, residual[node, 7 - d])
    amount = min(amount, excess[node])
    node = sink_end
    while parent[node] != _TERMINAL:
        d = parent[node]
        amount = min(amount, residual[node, d])
        node += offsets[d]
    amount = min(amount, -excess[node])

    n_orphans = 0
    residual[source_end, direction] -= amount
    residual[sink_end, 7 - direction] += amount
    node = source_end
    while parent[node] != _TERMINAL:
        d = parent[node]
        above = node + offsets[d]
        residual[node, d] += amount
        residual[above, 7 - d] -= amount
        if residual[above, 7 - d] <= 0.0:
            parent[node] = _ORPHAN
            orphans[n_orphans] = node
            n_orphans += 1
        node = above
    excess[node] -= amount
    if excess[node] <= 0.0:
        parent[node] = _ORPHAN
        orphans[n_orphans] = node
        n_orphans += 1
    node = sink_end
    while parent[node] != _TERMINAL:
        d = parent[node]
        above = node + offsets[d]
        residual[node, d] -= amount
        residual[above, 7 - d] += amount
        if residual[node, d] <= 0.0:
            parent[node] = _ORPHAN
            orphans[n_orphans] = node
            n_orphans += 1
        node = above
    excess[node] += amount
    if excess[node] >= 0.0:
        parent[node] = _ORPHAN
        orphans[n_orphans] = node
        n_orphans += 1
    return amount, n_orphans


@compiled
def _adopt(n_orphans, clock, network, trees, active, orphans):
    """Give every orphan a parent that still reaches its root, or set it free and orphan its children."""
    residual, offsets = network.residual, network.offsets
    tree, parent, stamp, depth = trees.side, trees.parent, trees.stamp, trees.depth
    first, last = 0, n_orphans
    size = orphans.size
    while first != last:
        node = orphans[first]
        first = first + 1 if first < size - 1 else 0
        side = tree[node]
        best, best_depth = _NO_PARENT, _FAR
        for d in range(8):
            other = node + offsets[d]
            if tree[other] != side:
                continue
            capacity = residual[other, 7 - d] if side == _SOURCE else residual[node, d]
            if capacity <= 0.0:
                continue
            distance = _distance_to_root(other, clock, offsets, trees)
            if distance < best_depth:
                best, best_depth = d, distance
        if best != _NO_PARENT:
            parent[node] = best
            stamp[node] = clock
            depth[node] = best_depth + 1
            continue
        for d in range(8):
            other = node + offsets[d]
            if tree[other] != side:
                continue
            capacity = residual[other, 7 - d] if side == _SOURCE else residual[node, d]
            if capacity > 0.0:
                _enqueue(other, active)
            if parent[other] == 7 - d:
                parent[other] = _ORPHAN
                orphans[last] = other
                last = last + 1 if last < size - 1 else 0
        tree[node] = _FREE
        parent[node] = _NO_PARENT


@compiled
def _distance_to_root(node, clock, offsets, trees):
    """Edges from `node` to its terminal, or a huge number where the way ends at an orphan; marks the way."""
    parent, stamp, depth = trees.parent, trees.stamp, trees.depth
    start = node
    distance = 0
    while True:
        if stamp[node] == clock:
            distance += depth[node]
            break
        d = parent[node]
        distance += 1
        if d == _TERMINAL:
            stamp[node] = clock
            depth[node] = 1
            break
        if d < 0 or d > _TERMINAL:
            return _FAR
        node += offsets[d]
    node = start
    steps = distance
    while stamp[node] != clock:
        stamp[node] = clock
        depth[node] = steps
        steps -= 1
        node += offsets[parent[node]]
    return distance
