"""Clusters of a spanning tree: cut its longest edges, as long as enough points are left on both sides.

Lengths are mutual-reachability distances, so that a lone point between two clusters does not connect them; the tree is
that of a table of neighbours, its pieces joined by their nearest points. A part must hold a neighbourhood, the point
and those its core distance reaches to: fewer points are as far from each other as from the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from .._runtime import single_threaded_blas
from ..neighbors import NeighborSearch, kneighbors

__all__ = ["Joins", "SpanningTree", "join_pieces", "spanning_tree"]


class Joins(NamedTuple):
    """Edges between the pieces of a neighbour graph: two ends and a distance for each."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    distance: NDArray[np.float64]


class SpanningTree(NamedTuple):
    """A tree rooted at one point, with its places in depth-first order, ready to be cut for any number of clusters.

    Parameters
    ----------
    place : ndarray of shape (n,)
        The place of each point; the subtree at place i has the places i to `end[i]`.
    parent, end : ndarrays of shape (n,)
    branch : ndarray of shape (n,)
        Weight of the points in the subtree at each place, its own included.
    longest_first : ndarray of shape (n,)
        The places by falling length of the edge above.
    core : int
        Neighbour that core distances reach to.
    """

    place: NDArray[np.int64]
    parent: NDArray[np.int64]
    end: NDArray[np.int64]
    branch: NDArray[np.float64]
    longest_first: NDArray[np.int64]
    core: int

    def cut(self, n_clusters: int, share: float) -> NDArray[np.int64]:
        """Labels of k parts: the longest edges are cut that leave `share` of an average cluster on both sides, and no
        less than a neighbourhood.

        Where these are too few, half the share will do for the rest of the cuts, and so on.
        """
        from ._tree_loops import cut_longest

        if not 1 <= n_clusters <= len(self.place):
            raise ValueError(f"n_clusters={n_clusters} must be between 1 and the number of points, {len(self.place)}.")
        neighborhood = (self.core + 1) * self.branch[0] / len(self.place)
        fewest = max(share * self.branch[0] / n_clusters, neighborhood)
        labels = cut_longest(self.parent, self.end, self.longest_first, self.branch.copy(), n_clusters, fewest)
        return labels[self.place]


def spanning_tree(
    distances: NDArray[np.float64],
    indices: NDArray[np.integer],
    joins: Joins,
    core: int,
    weights: NDArray[np.floating],
) -> SpanningTree:
    r"""The minimum spanning tree of mutual-reachability distances.

    .. math:: \max(\|f_p - f_q\|, R_p, R_q)

    with :math:`R_p` the distance of p to its neighbour number `core`.

    Parameters
    ----------
    distances, indices : ndarrays of shape (n, K + 1)
        Each point first among its own neighbours, as :func:`evencut.neighbors.kneighbors` gives them.
    joins : Joins
        As :func:`join_pieces` gives them.
    core : int
    weights : ndarray of shape (n,)
        How many points each stands for.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.5], [9.0], [10.0]])
    >>> near = kneighbors(X, 3)
    >>> tree = spanning_tree(*near, join_pieces(NeighborSearch(X), near[1]), 1, np.ones(5))
    >>> tree.cut(2, 0.25)
    array([0, 0, 0, 1, 1])
    """
    from ._tree_loops import depth_first, shortest_edges

    reach = np.ascontiguousarray(distances[:, min(core, distances.shape[1] - 1)])
    edges, length = shortest_edges(distances, indices, reach, *joins)
    order, parent, end, above, branch = depth_first(edges, length, weights)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return SpanningTree(place, parent, end, branch, np.argsort(-above, kind="stable"), core)


def join_pieces(search: NeighborSearch, indices: NDArray[np.integer]) -> Joins:
    """Edges between the nearest points of the pieces of a neighbour graph: the minimum spanning tree of the pieces.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> join_pieces(NeighborSearch(X), kneighbors(X, 2)[1]).distance
    array([8.])
    """
    from ._tree_loops import pieces_of

    n_pieces, piece = pieces_of(indices)
    if n_pieces == 1:
        joins = []
    elif search.method == "tree":
        joins = _joins_by_rounds(search.X, piece, n_pieces, search.n_jobs)
    else:
        joins = _joins_of_all_pairs(search.X, _largest_first(piece), n_pieces, search.n_jobs)
    first, second, distance = zip(*joins) if joins else ((), (), ())
    return Joins(np.array(first, dtype=np.int64), np.array(second, dtype=np.int64), np.array(distance, dtype=float))


def _largest_first(piece: NDArray[np.integer]) -> NDArray[np.integer]:
    """The pieces numbered by their size."""
    return np.argsort(np.argsort(-np.bincount(piece), kind="stable"))[piece]


def _joins_of_all_pairs(
    X: NDArray[np.floating], piece: NDArray[np.integer], n_pieces: int, n_jobs: int | None
) -> list[tuple[int, int, float]]:
    """The nearest points of any two pieces, half of all pairs of points, of which the tree keeps the closest.

    As slow as one brute-force search; joining in rounds would repeat that search.
    """
    apart = np.zeros((n_pieces, n_pieces))
    ends = np.zeros((2, n_pieces, n_pieces), dtype=np.int64)
    with single_threaded_blas:
        for later in range(1, n_pieces):
            targets, asking = np.flatnonzero(piece == later), np.flatnonzero(piece < later)
            distances, indices = kneighbors(X[targets], 1, at=X[asking], n_jobs=n_jobs)
            order = np.lexsort((distances[:, 0], piece[asking]))
            best = order[np.searchsorted(piece[asking[order]], np.arange(later))]
            apart[later, :later] = distances[best, 0]
            ends[:, later, :later] = asking[best], targets[indices[best, 0]]
    # Distinct points may be at distance zero by rounding; the tree would take that for no edge.
    apart[apart < np.finfo(float).tiny] = np.finfo(float).tiny
    later, earlier = minimum_spanning_tree(sparse.csr_array(np.tril(apart, -1))).nonzero()
    chosen = zip(*ends[:, later, earlier].tolist(), apart[later, earlier].tolist())
    return [(p, q, distance) for p, q, distance in chosen]


def _joins_by_rounds(
    X: NDArray[np.floating], piece: NDArray[np.integer], n_pieces: int, n_jobs: int | None
) -> list[tuple[int, int, float]]:
    """The same by Boruvka's rounds.

    Any two pieces differ in some bit of their number, so one search from side to side for every bit finds the nearest
    foreign point of all points.
    """
    joins: list[tuple[int, int, float]] = []
    while n_pieces > 1:
        # The largest piece is number 0 and is found by the others.
        piece = _largest_first(piece)
        nearest, partner = _nearest_foreign(X, piece, n_pieces, n_jobs)
        order = np.lexsort((nearest, piece))
        best = order[np.searchsorted(piece[order], np.arange(1, n_pieces))]
        merged = np.arange(n_pieces)
        for p in best:
            ours, theirs = merged[piece[p]], merged[piece[partner[p]]]
            if ours != theirs:
                merged[merged == ours] = theirs
                joins.append((int(p), int(partner[p]), float(nearest[p])))
        names, merged = np.unique(merged, return_inverse=True)
        n_pieces, piece = len(names), merged[piece]
    return joins


def _nearest_foreign(
    X: NDArray[np.floating], piece: NDArray[np.integer], n_pieces: int, n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distance and number of the nearest point of another piece, for all points but those of piece 0."""
    nearest = np.full(len(piece), np.inf)
    partner = np.zeros(len(piece), dtype=np.int64)
    for bit in range(int(n_pieces - 1).bit_length()):
        odd = (piece >> bit) & 1 == 1
        for side in (odd, ~odd):
            asking, targets = np.flatnonzero(side & (piece > 0)), np.flatnonzero(~side)
            if len(asking):
                distances, indices = kneighbors(X[targets], 1, at=X[asking], n_jobs=n_jobs)
                closer = distances[:, 0] < nearest[asking]
                nearest[asking[closer]] = distances[closer, 0]
                partner[asking[closer]] = targets[indices[closer, 0]]
    return nearest, partner
