"""Compiled loops of spanning trees: Boruvka's rounds on a table of neighbours, depth-first order, and cuts."""

from .._lazy import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np

__all__ = ["cut_longest", "depth_first", "pieces_of", "shortest_edges"]

_INFINITE = cython.declare(cython.double, float("inf"))


@cython.cfunc
@cython.nogil
@cython.inline
def _top(owner: cython.longlong[::1], p: cython.longlong) -> cython.longlong:
    """The representative of p's piece, with the path halved on the way."""
    while owner[p] != p:
        owner[p] = owner[owner[p]]
        p = owner[p]
    return p


def pieces_of(indices: cython.const[cython.int][:, :]):
    """How many pieces the graph of a table of neighbours has, and the piece of each point, by lowest number first."""
    n: cython.longlong = indices.shape[0]
    owner: cython.longlong[::1] = np.arange(n, dtype=np.int64)
    piece_of_points = np.empty(n, dtype=np.int64)
    piece: cython.longlong[::1] = piece_of_points
    n_pieces: cython.longlong = 0
    p: cython.longlong
    i: cython.Py_ssize_t
    with cython.nogil:
        for p in range(n):
            a = _top(owner, p)
            for i in range(indices.shape[1]):
                b = _top(owner, indices[p, i])
                if a != b:
                    a, b = min(a, b), max(a, b)
                    owner[b] = a
        for p in range(n):
            if owner[p] == p:
                piece[p] = n_pieces
                n_pieces += 1
            else:
                piece[p] = piece[_top(owner, p)]
    return n_pieces, piece_of_points


@cython.final
@cython.cclass
class _Forest:
    """Pieces that grow together: of each point its piece, of each piece the shortest edge to another one."""

    reach: cython.const[cython.double][::1]
    owner: cython.longlong[::1]
    piece: cython.longlong[::1]
    start: cython.longlong[::1]
    best: cython.double[::1]
    best_p: cython.longlong[::1]
    best_q: cython.longlong[::1]
    edges: cython.longlong[:, ::1]
    length: cython.double[::1]
    n_edges: cython.Py_ssize_t

    def __init__(self, reach):
        n = len(reach)
        self.reach = reach
        self.owner, self.piece = np.arange(n, dtype=np.int64), np.arange(n, dtype=np.int64)
        self.start = np.ones(n, dtype=np.int64)  # neighbours before it are in the piece of their point
        self.best, self.best_p, self.best_q = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
        self.edges, self.length, self.n_edges = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0

    @cython.cfunc
    @cython.nogil
    def begin_round(self) -> cython.int:
        """Forget the edges of the last round."""
        self.best[:] = _INFINITE
        self.best_p[:] = self.owner.shape[0]
        self.best_q[:] = self.owner.shape[0]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def offer(self, p: cython.longlong, q: cython.longlong, distance: cython.double) -> cython.double:
        """Note the edge (p, q) for the two pieces it joins if it is their shortest so far; its length."""
        away: cython.double = max(distance, max(self.reach[p], self.reach[q]))
        low, high = min(p, q), max(p, q)
        self.note(self.piece[p], low, high, away)
        self.note(self.piece[q], low, high, away)
        return away

    @cython.cfunc
    @cython.nogil
    @cython.inline
    def note(
        self, piece: cython.longlong, low: cython.longlong, high: cython.longlong, length: cython.double
    ) -> cython.int:
        """Note an edge for a piece; equal ones go by their ends."""
        if length < self.best[piece] or (
            length == self.best[piece]
            and (low < self.best_p[piece] or (low == self.best_p[piece] and high < self.best_q[piece]))
        ):
            self.best[piece], self.best_p[piece], self.best_q[piece] = length, low, high
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def end_round(self) -> cython.bint:
        """Join the pieces along their shortest edges; whether there were any."""
        before = self.n_edges
        a: cython.Py_ssize_t
        for a in range(self.owner.shape[0]):
            if self.best[a] < _INFINITE:
                p, q = _top(self.owner, self.best_p[a]), _top(self.owner, self.best_q[a])
                if p != q:
                    self.owner[max(p, q)] = min(p, q)
                    self.edges[self.n_edges, 0], self.edges[self.n_edges, 1] = self.best_p[a], self.best_q[a]
                    self.length[self.n_edges] = self.best[a]
                    self.n_edges += 1
        for a in range(self.owner.shape[0]):
            self.piece[a] = _top(self.owner, a)
        return self.n_edges > before


def shortest_edges(
    distances: cython.const[cython.double][:, :],
    indices: cython.const[cython.int][:, :],
    reach,
    first: cython.const[cython.longlong][::1],
    second: cython.const[cython.longlong][::1],
    between: cython.const[cython.double][::1],
):
    """Edges of the minimum spanning tree of max(distance, reach, reach): two ends and a length for each.

    Edges lead from each point to its neighbours (rows sorted by distance, the point itself first), and from `first`
    to `second`. By Boruvka's rounds: every piece takes its shortest edge to another one.
    """
    forest: _Forest = _Forest(reach)
    n: cython.longlong = indices.shape[0]
    p: cython.longlong
    i: cython.Py_ssize_t
    with cython.nogil:
        while forest.n_edges < n - 1:
            forest.begin_round()
            for p in range(n):
                _offer_neighbors(p, distances, indices, forest)
            for i in range(first.shape[0]):
                if forest.piece[first[i]] != forest.piece[second[i]]:
                    forest.offer(first[i], second[i], between[i])
            if not forest.end_round():
                break
    return np.asarray(forest.edges)[: forest.n_edges], np.asarray(forest.length)[: forest.n_edges]


@cython.cfunc
@cython.nogil
def _offer_neighbors(
    p: cython.longlong,
    distances: cython.const[cython.double][:, :],
    indices: cython.const[cython.int][:, :],
    forest: _Forest,
) -> cython.int:
    """Offer the edges of p to other pieces, as far as they can be its shortest."""
    n_near: cython.Py_ssize_t = indices.shape[1]
    own = forest.piece[p]
    i: cython.Py_ssize_t
    start: cython.Py_ssize_t = forest.start[p]
    while start < n_near and forest.piece[indices[p, start]] == own:
        start += 1
    forest.start[p] = start
    nearest: cython.double = _INFINITE
    for i in range(start, n_near):
        # Later neighbours are no shorter than this one.
        if max(distances[p, i], forest.reach[p]) > nearest:
            break
        q: cython.longlong = indices[p, i]
        if forest.piece[q] != own:
            nearest = min(nearest, forest.offer(p, q, distances[p, i]))
    return 0


@cython.cfunc
@cython.nogil
def _edges_beside(
    edges: cython.const[cython.longlong][:, ::1], starts: cython.longlong[::1], beside: cython.longlong[::1]
) -> cython.int:
    """Where the edges of each point begin, and which they are; `starts`, zero before, has room for two more."""
    n: cython.Py_ssize_t = edges.shape[0] + 1
    e: cython.Py_ssize_t
    p: cython.Py_ssize_t
    side: cython.Py_ssize_t
    for e in range(n - 1):
        for side in range(2):
            starts[edges[e, side] + 2] += 1
    for p in range(n):
        starts[p + 2] += starts[p + 1]
    for e in range(n - 1):
        for side in range(2):
            p = edges[e, side]
            beside[starts[p + 1]] = e
            starts[p + 1] += 1
    return 0


def depth_first(edges: cython.const[cython.longlong][:, ::1], length: cython.const[cython.double][::1], weights):
    """The tree hung up at point 0: points in depth-first order and, by place in it, parent, end of the branch, length
    of the edge above and weight of the branch."""
    n: cython.Py_ssize_t = len(weights)
    order, parent = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    above = np.full(n, -np.inf)
    _hang_up(edges, length, order, parent, above)
    end, branch = np.arange(1, n + 1, dtype=np.int64), np.asarray(weights, dtype=np.float64)[order]
    _sum_branches(parent, end, branch)
    return order, parent, end, above, branch


@cython.cfunc
@cython.exceptval(-1)
def _hang_up(
    edges: cython.const[cython.longlong][:, ::1],
    length: cython.const[cython.double][::1],
    order: cython.longlong[::1],
    parent: cython.longlong[::1],
    above: cython.double[::1],
) -> cython.int:
    """Points in depth-first order, their parents and the lengths above them."""
    n: cython.Py_ssize_t = order.shape[0]
    starts: cython.longlong[::1] = np.zeros(n + 2, dtype=np.int64)
    beside: cython.longlong[::1] = np.empty(2 * (n - 1), dtype=np.int64)
    # Of the points that wait: which they are, their parent, and the edge that leads to them.
    stack: cython.longlong[:, ::1] = np.zeros((n, 3), dtype=np.int64)
    depth: cython.Py_ssize_t = 1
    n_placed: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    stack[0, 1] = stack[0, 2] = -1
    with cython.nogil:
        _edges_beside(edges, starts, beside)
        while depth > 0:
            depth -= 1
            p, from_edge = stack[depth, 0], stack[depth, 2]
            order[n_placed], parent[n_placed] = p, stack[depth, 1]
            if from_edge >= 0:
                above[n_placed] = length[from_edge]
            for at in range(starts[p], starts[p + 1]):
                e = beside[at]
                if e != from_edge:
                    stack[depth, 0] = edges[e, 1] if edges[e, 0] == p else edges[e, 0]
                    stack[depth, 1], stack[depth, 2] = n_placed, e
                    depth += 1
            n_placed += 1
    return 0


@cython.cfunc
def _sum_branches(
    parent: cython.const[cython.longlong][::1], end: cython.longlong[::1], branch: cython.double[::1]
) -> cython.int:
    """Let every branch end where its last twig does, and weigh as much as all of them."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(parent.shape[0] - 1, 0, -1):
            end[parent[i]] = max(end[parent[i]], end[i])
            branch[parent[i]] += branch[i]
    return 0


def cut_longest(
    parent: cython.const[cython.longlong][::1],
    end: cython.const[cython.longlong][::1],
    longest_first: cython.const[cython.longlong][::1],
    branch: cython.double[::1],
    n_clusters: cython.Py_ssize_t,
    fewest: cython.double,
):
    """Part of each place of a tree, by cuts that leave a weight of `fewest` on both sides; `branch` is used up.

    Where fewer parts are found than asked for, half the weight will do for the rest, and so on.
    """
    n: cython.Py_ssize_t = parent.shape[0]
    parts = np.zeros(n, dtype=np.int64)
    part: cython.longlong[::1] = parts
    top: cython.longlong[::1] = np.zeros(n_clusters, dtype=np.int64)
    smallest: cython.double = 1e-3 * branch[0] / n
    n_parts: cython.Py_ssize_t = 1
    at: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        while n_parts < n_clusters:
            for at in range(longest_first.shape[0]):
                i = longest_first[at]
                old = part[i]
                low = branch[i]
                if top[old] == i or low < fewest or branch[top[old]] - low < fewest:
                    continue
                for j in range(i, end[i]):
                    if part[j] == old:
                        part[j] = n_parts
                above = parent[i]
                while above != top[old]:
                    branch[above] -= low
                    above = parent[above]
                branch[above] -= low
                top[n_parts] = i
                n_parts += 1
                if n_parts == n_clusters:
                    break
            fewest = fewest / 2 if fewest > smallest else 0.0
    return parts
