"""The nearest-neighbour kernel: an affinity of ones on a sparse graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..affinity import AffinityLike
from ..affinity.lazy import NeighborRows
from ..neighbors import NeighborSearch, neighbor_graph
from ..tensors import is_tensor
from .base import Extension, NeighborKernel, Points, check_neighbors, for_tensors


@dataclass(eq=False, repr=False)
class KNN(NeighborKernel):
    r"""Nearest-neighbour kernel (example KNN kernel), a sparse affinity of ones.

    .. math:: u_p(f_p, f_q) = [f_q \in KNN(f_p)]

    A point counts among its own neighbours, so the diagonal is kept.

    Parameters
    ----------
    n_neighbors : int, default=10
        K, the point itself included; where there are fewer points, all are neighbours, with a warning unless it is the
        default.
    symmetrize : {"mean", "union", "mutual"}, default="mean"
        An affinity of 1/2 for one-sided neighbours, 1, or 0.
    neighbors : {"auto", "exact", "approximate"} or neighbours transformer, default="auto"
        How neighbours are searched for, as in :class:`evencut.neighbors.NeighborSearch`.

    Examples
    --------
    >>> import numpy as np
    >>> KNN(n_neighbors=2).affinity(np.array([[0.0], [1.0], [3.0]])).toarray()
    array([[1. , 1. , 0. ],
           [1. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """

    title = "Nearest neighbours"

    n_neighbors: int = 10
    symmetrize: str = "mean"
    neighbors: Any = "auto"

    @property
    def takes_tensors(self) -> bool:
        """Where exact neighbours will do, which are the only ones there."""
        return super().takes_tensors and isinstance(self.neighbors, str) and self.neighbors in ("auto", "exact")

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """One for the K nearest points of `X`, seen from the new point alone."""
        return self._extension(NeighborSearch(X, n_jobs=n_jobs, method=self.neighbors))

    def _both(self, X: Points, n_jobs: int | None) -> tuple[AffinityLike, Extension]:
        check_neighbors(self, len(X), itself=1)
        search = NeighborSearch(X, n_jobs=n_jobs, method=self.neighbors)
        near = search.query_self(self.n_neighbors)[1]
        return neighbor_graph(near, self.symmetrize, X.dtype), self._extension(search)

    def _extension(self, search: NeighborSearch) -> Extension:
        return partial(_indicators, search, self.n_neighbors)


def _indicators(search: NeighborSearch, n_neighbors: int, Y: Points) -> AffinityLike:
    """Rows of ones at the nearest points."""
    indices = search.query(Y, n_neighbors)[1]
    if is_tensor(indices):
        return NeighborRows(indices, indices >= 0, search.n_points)
    n_rows, n_neighbors = indices.shape
    indptr = np.arange(0, indices.size + 1, n_neighbors)
    parts = (np.ones(indices.size, dtype=search.X.dtype), indices.ravel(), indptr)
    return sparse.csr_array(parts, shape=(n_rows, search.n_points))
