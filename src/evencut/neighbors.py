"""From points to their nearest neighbours: a KD-tree in low dimension, blocked brute force above.

One function chooses the search, so that no other room needs to know how neighbours are found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["kneighbors"]

# Beyond this many features a KD-tree visits most of its leaves and brute force wins.
_MAX_TREE_FEATURES = 15


def kneighbors(
    X: NDArray[np.floating],
    n_neighbors: int,
    *,
    at: NDArray[np.floating] | None = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Distances and indices of the nearest points of `X`, nearest first.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points searched.
    n_neighbors : int
        How many; where it is more than `n_samples`, all points are neighbours.
    at : ndarray of shape (n_queries, n_features), optional
        Where to look from. Without it, from every point of `X`, and each point comes first among
        its own neighbours (also where others coincide with it).
    n_jobs : int, optional
        Threads of the tree search; -1 takes all cores. The result does not depend on it.

    Returns
    -------
    distances, indices : ndarrays of shape (n_queries, n_neighbors)

    Examples
    --------
    >>> import numpy as np
    >>> distances, indices = kneighbors(np.array([[0.0], [1.0], [3.0]]), 2)
    >>> indices
    array([[0, 1],
           [1, 0],
           [2, 1]])
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors} must be at least 1.")
    n_neighbors = min(int(n_neighbors), len(X))
    queries = X if at is None else at
    if X.shape[1] <= _MAX_TREE_FEATURES:
        distances, indices = _search_tree(X, queries, n_neighbors, n_jobs)
    else:
        distances, indices = _search_all(X, queries, n_neighbors, n_jobs)
    if at is None:
        _put_self_first(distances, indices)
    return distances, indices


def _search_tree(X, queries, n_neighbors, n_jobs):
    from scipy.spatial import cKDTree

    distances, indices = cKDTree(X).query(queries, k=n_neighbors, workers=n_jobs or 1)
    shape = (len(queries), n_neighbors)
    return distances.reshape(shape), indices.reshape(shape)


def _search_all(X, queries, n_neighbors, n_jobs):
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=n_jobs).fit(X)
    distances, indices = search.kneighbors(queries)
    return distances.astype(np.float64, copy=False), indices


def _put_self_first(distances: NDArray, indices: NDArray) -> None:
    """Swap each point to the front of its own row; among coinciding points any order is right."""
    late = np.flatnonzero(indices[:, 0] != np.arange(len(indices)))
    found = indices[late] == late[:, None]
    position = np.where(found.any(axis=1), found.argmax(axis=1), indices.shape[1] - 1)
    indices[late, position] = indices[late, 0]
    distances[late, position] = distances[late, 0]
    indices[late, 0] = late
    distances[:, 0] = 0.0
