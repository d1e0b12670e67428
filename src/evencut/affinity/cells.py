r"""Nearest points in high dimension and large number: the space is parted into cells, of which the near are searched.

Cells are those of a short k-means. A query looks at the cells whose centres are nearest, by matrix products of all
queries that look at a cell with all points in it. How many cells it takes is not guessed: on a sample the true
neighbours are found by all pairs, and as many cells are searched as hold the share of them that is asked for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tensors import AnyFloats, Floats, Ints, Places
from .products import DenseProducts, in_threads, refined

# The share of true neighbours that is wanted, and the sample on which it is measured.
_WANTED_RECALL = 0.99
_SAMPLE = 256
_SAMPLED_NEIGHBORS = 1000
_TRAINING_ROWS_PER_CELL = 40
_SWEEPS = 8
_SPARE = 4
_ROWS_AT_ONCE = 4096


class CellSearch:
    """A search of the near cells only.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    n_neighbors : int
        For which the number of cells searched is set.

    Attributes
    ----------
    n_searched : int
        Cells that each query looks at.
    recall : float
        Share of the true neighbours of a sample that are in those cells.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(3000, 20))
    >>> CellSearch(X, 5).recall >= 0.99
    True
    """

    def __init__(self, X: AnyFloats, n_neighbors: int, n_threads: int = 1):
        self.X = X
        self.exact = DenseProducts(X)
        points = self.exact.about_mean(X, np.float32)
        self.centres = _centres(points, max(2, round(1.2 * math.sqrt(len(X)))), n_threads)
        cell = _nearest_cells(points, self.centres, 1, n_threads)[:, 0]
        self.order = np.argsort(cell, kind="stable")
        self.starts = np.searchsorted(cell[self.order], np.arange(len(self.centres) + 1))
        self.points = points[self.order]
        self.halves = 0.5 * np.einsum("pi,pi->p", self.points, self.points)
        # How near, among the cells of a query, those of its true neighbours are.
        self._ranks = self._sampled_ranks(cell, n_neighbors, n_threads)
        self.n_searched = int(self._ranks[math.ceil(_WANTED_RECALL * len(self._ranks)) - 1]) + 1
        self.recall = float(np.mean(self._ranks < self.n_searched))

    @property
    def share(self) -> float:
        """Share of the cells that each query looks at."""
        return self.n_searched / len(self.centres)

    def limit(self, share: float) -> None:
        """Search at most this share of the cells, at whatever recall."""
        self.n_searched = min(self.n_searched, max(1, int(share * len(self.centres))))
        self.recall = float(np.mean(self._ranks < self.n_searched))

    def query(self, at: AnyFloats, n_neighbors: int, n_threads: int = 1) -> tuple[Floats, Ints]:
        """Distances and indices of the nearest points found, nearest first."""
        from ._nearest_loops import keep_nearest

        at = np.ascontiguousarray(at)
        turned = -self.exact.about_mean(at, np.float32)
        searched = _nearest_cells(-turned, self.centres, self.n_searched, n_threads)
        best = np.full((len(at), min(n_neighbors + _SPARE, len(self.X))), np.inf, dtype=np.float32)
        indices = np.full(best.shape, -1, dtype=np.int64)

        # The nearest cells first: they leave little to do for the others.
        for rank in range(self.n_searched):
            order = np.argsort(searched[:, rank], kind="stable")
            ends = np.searchsorted(searched[order, rank], np.arange(len(self.centres) + 1))

            def look(cell: int, order: NDArray = order, ends: NDArray = ends) -> None:
                rows, inside = order[ends[cell] : ends[cell + 1]], slice(*self.starts[cell : cell + 2])
                for first in range(0, len(rows), _ROWS_AT_ONCE):
                    some = rows[first : first + _ROWS_AT_ONCE]
                    scores = turned[some] @ self.points[inside].T
                    keep_nearest(scores, self.halves[inside], inside.start, some, best, indices)

            in_threads(look, np.flatnonzero(np.diff(ends)), n_threads)
        indices = np.where(indices >= 0, self.order[indices], -1)
        found = refined(at, self.X, indices, n_neighbors)
        short = np.flatnonzero((found[1] < 0).any(axis=1))
        if short.size:
            found[0][short], found[1][short] = self.exact.query(at[short], n_neighbors, n_threads)
        return found

    def _sampled_ranks(self, cell: Places, n_neighbors: int, n_threads: int) -> Places:
        """For the true neighbours of a sample: which of its cells, in the order of distance, they are in; sorted."""
        n_sample = min(max(_SAMPLE, _SAMPLED_NEIGHBORS // n_neighbors), len(self.X))
        sample = np.random.default_rng(0).choice(len(self.X), n_sample, replace=False)
        # The first is the point itself and found wherever one looks.
        true = self.exact.query(self.X[sample], n_neighbors + 1, n_threads)[1][:, 1:]
        offsets = self.exact.about_mean(self.X[sample], np.float32)
        near = _nearest_cells(offsets, self.centres, len(self.centres), n_threads)
        rank = np.empty_like(near)
        np.put_along_axis(rank, near, np.broadcast_to(np.arange(near.shape[1]), near.shape), axis=1)
        return np.sort(np.take_along_axis(rank, cell[true], axis=1).ravel())


def _centres(points: NDArray[np.float32], n_cells: int, n_threads: int) -> NDArray[np.float32]:
    """Centres of a short k-means on a sample."""
    rng = np.random.default_rng(0)
    n_rows = min(len(points), _TRAINING_ROWS_PER_CELL * n_cells)
    rows = points[np.sort(rng.choice(len(points), n_rows, replace=False))]
    centres = rows[rng.choice(n_rows, min(n_cells, n_rows), replace=False)]
    for _ in range(_SWEEPS):
        cell = _nearest_cells(rows, centres, 1, n_threads)[:, 0]
        order = np.argsort(cell, kind="stable")
        filled, first = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(rows[order], first, axis=0, dtype=np.float64)
        sizes = np.diff(np.r_[first, n_rows])
        # A centre without points goes on from a random one.
        centres = rows[rng.choice(n_rows, len(centres))]
        centres[filled] = (sums / sizes[:, None]).astype(np.float32)
    return centres


def _nearest_cells(points: NDArray[np.float32], centres: NDArray[np.float32], n_near: int, n_threads: int) -> Places:
    """The nearest centres of each point, nearest first."""
    halves = 0.5 * np.einsum("pi,pi->p", centres, centres)

    def block(first: int) -> NDArray[Any]:
        scores = halves - points[first : first + _ROWS_AT_ONCE] @ centres.T
        if n_near == 1:
            return scores.argmin(axis=1)[:, None]
        if n_near == len(centres):
            return scores.argsort(axis=1, kind="stable")
        near = np.sort(np.argpartition(scores, n_near - 1, axis=1)[:, :n_near], axis=1)
        return np.take_along_axis(near, np.take_along_axis(scores, near, 1).argsort(axis=1, kind="stable"), 1)

    return np.concatenate(in_threads(block, range(0, len(points), _ROWS_AT_ONCE), n_threads))
