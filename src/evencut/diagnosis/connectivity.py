"""Connected pieces of the neighbour graph, and the smallest number of neighbours that joins them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from ..neighbors import kneighbors, squared_distances
from ..tensors import AnyFloats, AnyInts, Floats, Mask

#: Distances computed to rank the points nearest to another piece; above it only the nearest are ranked.
_DISTANCES = 2_000_000
#: More pieces than this, all beyond the neighbours known, are not ranked one by one.
_MANY = 32


def joining_neighbors(X: AnyFloats, graph: sparse.csr_array, neighbors: AnyInts, used: int) -> tuple[int, int | None]:
    """Number of connected pieces of `graph`, and the smallest neighbour count that joins them all.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    graph : CSR array
        Its graph with `used` neighbours a point, seen from either side.
    neighbors : ndarray of shape (n_samples, n_known)
        Neighbours of each point, nearest first, the point itself not among them; more of them than `used`.
    used : int

    Returns
    -------
    n_pieces : int
    n_neighbors : int or None
        `used` where there is one piece; None where many pieces lie beyond all the neighbours known. For very
        large data it is an upper bound, for it ranks only the points nearest to other pieces.
    """
    n_pieces, piece = connected_components(graph, directed=False)
    if n_pieces == 1:
        return 1, used
    first, second, rank = _known_links(piece, neighbors)
    joined, count = _tree(first, second, rank, n_pieces)
    n_left, group = connected_components(joined, directed=False)
    piece, count = group[piece], max(count, used)
    if n_left > _MANY:
        return n_pieces, None
    while n_left > 1:
        # The largest piece waits to be reached: every other one finds the cheapest way out of itself.
        waiting = np.delete(np.arange(n_left), np.bincount(piece).argmax())
        links = [_cheapest_link(X, piece == k, piece) for k in waiting]
        count = max(count, *(rank for rank, _ in links))
        ends = (waiting, np.array([to for _, to in links]))
        joined = sparse.csr_array((np.ones(len(waiting)), ends), shape=(n_left, n_left))
        n_left, group = connected_components(joined, directed=False)
        piece = group[piece]
    return n_pieces, int(count)


def _known_links(piece: AnyInts, neighbors: AnyInts) -> tuple[AnyInts, AnyInts, AnyInts]:
    """Pairs of pieces that see each other among the neighbours known, and the rank at which they do."""
    p, rank = np.nonzero(piece[neighbors] != piece[:, None])
    return piece[p], piece[neighbors[p, rank]], rank + 1


def _tree(first: AnyInts, second: AnyInts, rank: AnyInts, n_pieces: int) -> tuple[sparse.csr_array, int]:
    """The links of least rank that join what can be joined, and the largest rank among them."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((rank, high, low))
    low, high, rank = low[order], high[order], rank[order]
    cheapest = np.r_[True, (np.diff(low) > 0) | (np.diff(high) > 0)][: len(rank)]
    ends = (low[cheapest], high[cheapest])
    tree = minimum_spanning_tree(sparse.csr_array((rank[cheapest].astype(float), ends), shape=(n_pieces,) * 2))
    return tree, int(tree.data.max()) if tree.nnz else 0


def _cheapest_link(X: AnyFloats, inside: Mask, piece: AnyInts) -> tuple[int, int]:
    """Fewest neighbours by which the piece `inside` and another one see each other, and that other piece."""
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    gap, nearest = kneighbors(X[others], 1, at=X[members], method="exact")
    order = np.argsort(gap[:, 0], kind="stable")[: max(16, _DISTANCES // len(X))]
    gap, near, far = gap[order, 0], members[order], others[nearest[order, 0]]
    ranks = np.minimum(_rank(X, near, gap), _rank(X, far, gap))
    best = int(np.argmin(ranks))
    return int(ranks[best]), int(piece[far[best]])


def _rank(X: AnyFloats, centres: AnyInts, radius: Floats) -> AnyInts:
    """How many other points lie as near to each centre as `radius`."""
    step = max(1, _DISTANCES // len(X))
    counts = [
        np.sum(squared_distances(X, X[centres[i : i + step]]) <= radius[i : i + step] ** 2 * (1 + 1e-9), axis=0)
        for i in range(0, len(centres), step)
    ]
    return np.concatenate(counts) - 1
