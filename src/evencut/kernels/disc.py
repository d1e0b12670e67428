"""The disc kernel: an affinity of ones between points nearer than one radius, the simplest of the fixed bandwidths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from .._runtime import free_memory, n_threads
from ..affinity import AffinityLike, whiten
from ..neighbors import is_dense, squared_distances
from .base import Extension, FixedBandwidth, Points

# A column number and a value; lists of neighbours take as much again while they are turned into rows.
_BYTES_PER_PAIR = 24


class Disc(FixedBandwidth):
    r"""The 0-1 kernel of one radius for all points (Section 2.3): the affinity of a disc graph.

    .. math:: A_{pq} = [\|f_p - f_q\| \le \sigma]

    Its maximal cliques lie in discs that hold many points, that is at modes of the density, and kernel k-means with it
    isolates such a mode (Breiman's bias) just as with the Gaussian kernel of a small bandwidth (eq. 1). Where the
    radius adapts to the density it is the :class:`KNN` kernel (Example 3).

    Parameters
    ----------
    bandwidth : float, array or {"scott", "silverman", "median"}, default="scott"
        The radius sigma; one a feature or a full matrix Sigma make the discs ellipsoids; or a rule.
    memory : float, optional
        Bytes the graph may take, by default half of the free memory; a larger one is refused.

    Examples
    --------
    >>> import numpy as np
    >>> Disc(bandwidth=1.0).affinity(np.array([[0.0], [1.0], [3.0]])).toarray()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    title = "Disc of one radius"
    is_graph = True

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The sparse affinity of the disc graph; every point is joined to itself."""
        if not is_dense(X):
            graph = sparse.csr_array(squared_distances(X) <= self._length(X) ** 2, dtype=X.dtype)
        else:
            points = whiten(X, self.bandwidth)[0]
            graph = self._within(cKDTree(points), points, X.dtype, n_jobs)
        # Rounding may see a distance of exactly the radius from one side only.
        return graph.maximum(graph.T).tocsr()

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """One for the points of `X` within the radius of a new point."""
        if not is_dense(X):
            return partial(self._rows_elsewhere, X, self._length(X))
        return partial(self._rows, X, cKDTree(whiten(X, self.bandwidth)[0]), n_jobs)

    def _rows(self, X: Points, tree: cKDTree, n_jobs: int | None, Y: Points) -> sparse.csr_array:
        return self._within(tree, whiten(Y, self.bandwidth, like=X)[0], X.dtype, n_jobs)

    def _rows_elsewhere(self, X: Any, length: float, Y: Any) -> sparse.csr_array:
        return sparse.csr_array(squared_distances(Y, X) <= length**2, dtype=X.dtype)

    def _within(self, tree: cKDTree, queries: Points, dtype: Any, n_jobs: int | None) -> sparse.csr_array:
        """Ones at the points within one bandwidth of the queries."""
        workers = n_threads(n_jobs)
        sizes = np.asarray(tree.query_ball_point(queries, 1.0, workers=workers, return_length=True), dtype=np.int64)
        limit = 0.5 * free_memory() if self.memory is None else self.memory
        if sizes.sum() * _BYTES_PER_PAIR > limit:
            raise ValueError(
                f"discs of bandwidth={self.bandwidth!r} hold {sizes.mean():.0f} points in the mean, a graph of "
                f"{sizes.sum() * _BYTES_PER_PAIR / 1e9:.2g} GB, more than {limit / 1e9:.2g} GB; give a smaller "
                "bandwidth or kernel='knn'."
            )
        near = tree.query_ball_point(queries, 1.0, workers=workers, return_sorted=True)
        indices = np.concatenate([np.asarray(one, dtype=np.int64) for one in near])
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        return sparse.csr_array((np.ones(len(indices), dtype=dtype), indices, indptr), shape=(len(queries), tree.n))
