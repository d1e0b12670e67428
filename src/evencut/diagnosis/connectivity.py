"""Connected pieces of the neighbour graph, and the smallest number of neighbours that joins them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..density import squared_distances
from ..neighbors import kneighbors

__all__ = ["joining_neighbors"]

#: Distances computed to rank the points nearest to another piece; above it only the nearest are ranked.
_DISTANCES = 2_000_000


def joining_neighbors(X: NDArray[np.float64], graph: sparse.csr_array, used: int) -> tuple[int, int]:
    """Number of connected pieces of `graph`, and the neighbour count that would join them all.

    Pieces are joined one after the other, each to the one it reaches with the fewest neighbours, from either
    side. For very large data the count is an upper bound, for it ranks only the points nearest to other pieces.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    graph : CSR array
        Its neighbour graph with `used` neighbours a point.
    used : int

    Returns
    -------
    n_pieces, n_neighbors : int
        With one piece `n_neighbors` is `used`: more are not needed.
    """
    n_pieces, piece = connected_components(graph, directed=False)
    count, left = used, n_pieces
    while left > 1:
        links = [_cheapest_link(X, piece == k, piece) for k in range(left) if not _is_largest(piece, k)]
        joined = sparse.csr_array(
            (np.ones(len(links)), ([k for k in range(left) if not _is_largest(piece, k)], [to for _, to in links])),
            shape=(left, left),
        )
        count = max(count, *(rank for rank, _ in links))
        fewer, group = connected_components(joined, directed=False)
        piece, left = group[piece], fewer
    return n_pieces, count


def _is_largest(piece: NDArray[np.integer], k: int) -> bool:
    """The largest piece waits to be reached: every other piece finds a way out of itself."""
    return int(np.bincount(piece).argmax()) == k


def _cheapest_link(X, inside, piece):
    """Fewest neighbours by which the piece `inside` and another one see each other, and that other piece."""
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    gap, nearest = kneighbors(X[others], 1, at=X[members])
    order = np.argsort(gap[:, 0], kind="stable")[: max(16, _DISTANCES // len(X))]
    gap, near, far = gap[order, 0], members[order], others[nearest[order, 0]]
    ranks = np.minimum(_rank(X, near, gap), _rank(X, far, gap))
    best = int(np.argmin(ranks))
    return int(ranks[best]), int(piece[far[best]])


def _rank(X, centres, radius):
    """How many other points lie as near to each centre as `radius`."""
    step = max(1, _DISTANCES // len(X))
    counts = [
        np.sum(squared_distances(X, X[centres[i : i + step]]) <= radius[i : i + step] ** 2 * (1 + 1e-9), axis=0)
        for i in range(0, len(centres), step)
    ]
    return np.concatenate(counts) - 1
