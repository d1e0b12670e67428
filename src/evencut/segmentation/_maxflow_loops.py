# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled max-flow on 8-connected grids: two search trees, grown from source and sink and repaired (Boykov and
Kolmogorov, 2004).  Residuals stay in the caller's arrays, so that the next problem on the same grid starts warm.

Nodes are numbered row by row on a grid padded by one node on every side; direction d of a node leads to the node at
``index + offsets[d]`` and is undone by direction ``7 - d``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FREE, _SOURCE, _SINK = 0, 1, 2
_NO_PARENT, _TERMINAL, _ORPHAN = -1, 8, 9
_FAR = 1 << 30


@njit(cache=True)
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
    parent = np.full(n_nodes, _NO_PARENT, np.int8)
    stamp = np.zeros(n_nodes, np.int32)
    depth = np.zeros(n_nodes, np.int32)
    queue = np.empty(n_nodes + 1, np.int32)
    queued = np.zeros(n_nodes, np.bool_)
    orphans = np.empty(n_nodes + 1, np.int32)
    head = tail = 0
    for node in range(n_nodes):
        tree[node] = _FREE
        if excess[node] != 0.0:
            tree[node] = _SOURCE if excess[node] > 0.0 else _SINK
            parent[node] = _TERMINAL
            depth[node] = 1
            queue[tail] = node
            queued[node] = True
            tail += 1
    clock = 0
    flow = 0.0
    current = -1
    while True:
        if current < 0 or tree[current] == _FREE:
            if head == tail:
                break
            current = queue[head]
            head = head + 1 if head < n_nodes else 0
            queued[current] = False
            if tree[current] == _FREE:
                current = -1
                continue
        meeting, direction, tail = _grow(
            current, residual, offsets, tree, parent, stamp, depth, queue, queued, tail
        )
        if meeting < 0:
            current = -1
            continue
        clock += 1
        pushed, n_orphans = _augment(meeting, direction, residual, excess, offsets, tree, parent, orphans)
        flow += pushed
        tail = _adopt(
            n_orphans, clock, residual, offsets, tree, parent, stamp, depth, queue, queued, tail, orphans
        )
    return flow


@njit(cache=True)
def _grow(node, residual, offsets, tree, parent, stamp, depth, queue, queued, tail):
    """Extend the tree of `node`; returns the source end and direction of an edge between the trees, or -1."""
    side = tree[node]
    for d in range(8):
        other = node + offsets[d]
        capacity = residual[node, d] if side == _SOURCE else residual[other, 7 - d]
        if capacity <= 0.0:
            continue
        if tree[other] == _FREE:
            tree[other] = side
            parent[other] = 7 - d
            stamp[other] = stamp[node]
            depth[other] = depth[node] + 1
            tail = _enqueue(other, queue, queued, tail)
        elif tree[other] != side:
            if side == _SOURCE:
                return node, d, tail
            return other, 7 - d, tail
        elif stamp[other] <= stamp[node] and depth[other] > depth[node] + 1:
            # A shorter way to the root keeps later paths short.
            parent[other] = 7 - d
            stamp[other] = stamp[node]
            depth[other] = depth[node] + 1
    return -1, 0, tail


@njit(cache=True)
def _enqueue(node, queue, queued, tail):
    if not queued[node]:
        queued[node] = True
        queue[tail] = node
        tail = tail + 1 if tail < queue.size - 1 else 0
    return tail


@njit(cache=True)
def _augment(source_end, direction, residual, excess, offsets, tree, parent, orphans):
    """Push the most that the path through the given edge carries; nodes cut from their root become orphans."""
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


@njit(cache=True)
def _adopt(n_orphans, clock, residual, offsets, tree, parent, stamp, depth, queue, queued, tail, orphans):
    """Give every orphan a parent that still reaches its root, or set it free and orphan its children."""
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
            distance = _distance_to_root(other, clock, offsets, parent, stamp, depth)
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
                tail = _enqueue(other, queue, queued, tail)
            if parent[other] == 7 - d:
                parent[other] = _ORPHAN
                orphans[last] = other
                last = last + 1 if last < size - 1 else 0
        tree[node] = _FREE
        parent[node] = _NO_PARENT
    return tail


@njit(cache=True)
def _distance_to_root(node, clock, offsets, parent, stamp, depth):
    """Edges from `node` to its terminal, or a huge number where the way ends at an orphan; marks the way."""
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
