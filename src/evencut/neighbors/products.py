r"""Nearest points in high dimension by matrix products: of all pairs, exactly, or of the nearest of many cells.

Of :math:`\|x-y\|^2 = \|x\|^2 + \|y\|^2 - 2 x^T y` only the products are computed for all pairs, in single precision and
about the middle. A few candidates more than asked for are kept, their distances taken anew in double precision, and a
bound on the rounding tells whether any other point could have been nearer; where it could, the row is searched again
in double precision. The result is therefore exact.

Cells are those of a short k-means. A query looks at the cells whose centres are nearest, by matrix products of all
queries that look at a cell with all points in it. How many cells it takes is not guessed: on a sample the true
neighbours are found by all pairs, and as many cells are searched as hold the share of them that is wanted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._runtime import in_threads
from ..tensors import AnyFloats, Floats, Ints, Places

_ROWS_AT_ONCE = 256
_COLUMNS_AT_ONCE = 4096
_Found = tuple[Floats, Ints]
# The share of true neighbours that is wanted, and the sample on which it is measured.
_SAMPLE = 256
_CELL_ROWS = 4096


def refine_candidates(queries: NDArray, points: NDArray, candidates: Ints, n_neighbors: int) -> _Found:
    """The nearest of the candidates of each row (-1: none), by distances in double precision."""
    from ._nearest_loops import pair_distances, sort_pairs

    distances = np.empty(candidates.shape)
    queries, points = np.ascontiguousarray(queries, dtype=np.float64), np.ascontiguousarray(points)
    pair_distances(queries, points, candidates, distances)
    sort_pairs(distances, candidates)
    return distances[:, :n_neighbors], candidates[:, :n_neighbors]


class DenseProducts:
    """All pairs of dense points, exactly.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> search = DenseProducts(np.eye(20))
    >>> search.query(np.eye(20)[:1] * 0.9, 1)[1]
    array([[0]])
    """

    def __init__(self, X: AnyFloats):
        self.X = X
        # In the precision of the points, so that differences are rounded once. An outlier moves the mean far from all
        # other points, whose differences would be rounding alone; it does not move the median.
        self.centre = np.median(X[:: -(-len(X) // 100)], axis=0).astype(X.dtype)
        largest = float(np.maximum(X.max(axis=0) - self.centre, self.centre - X.min(axis=0)).max())
        # A power of two that brings immense or tiny values to one; one if single precision can square them unscaled.
        self._unit = 1.0 if largest == 0 or 1e-15 <= largest <= 1e15 else float(2.0 ** np.frexp(largest)[1])
        self._single: tuple[NDArray, NDArray] | None = None

    def query(self, at: AnyFloats, n_neighbors: int, n_threads: int = 1) -> _Found:
        """Distances and indices of the nearest points, nearest first."""
        at, n_neighbors = np.ascontiguousarray(at), min(n_neighbors, len(self.X))
        if self._single is None:
            self._single = self._operands(np.float32)
        blocks = [at[start : start + _ROWS_AT_ONCE] for start in range(0, len(at), _ROWS_AT_ONCE)]
        # Where rounding matters for most of the first rows it does for all: single precision would be in vain.
        first, doubtful = self._block(blocks[0], n_neighbors)
        in_vain = 2 * len(doubtful) > len(blocks[0])
        results = [self._certain(blocks[0], n_neighbors, first, doubtful)]
        double = self._operands(np.float64) if in_vain else None

        def search(block: NDArray) -> _Found:
            if double is not None:
                return self._candidates(block, n_neighbors, double)[0]
            return self._certain(block, n_neighbors, *self._block(block, n_neighbors))

        results += in_threads(search, blocks[1:], n_threads)
        return _joined(results)

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed anew would only make a saved model larger.
        return {**vars(self), "_single": None}

    def centred(self, rows: AnyFloats, dtype: Any) -> NDArray:
        """Rows less the mean of the points, in a unit whose squares single precision can hold."""
        offsets = rows - self.centre
        return (offsets if self._unit == 1 else offsets / self._unit).astype(dtype, copy=False)

    def _operands(self, dtype: Any) -> tuple[NDArray, NDArray]:
        """The points about their mean, and half their squared lengths."""
        points = self.centred(self.X, dtype)
        return points, 0.5 * np.einsum("pi,pi->p", points, points)

    def _candidates(
        self, queries: NDArray, n_neighbors: int, operands: tuple[NDArray, NDArray]
    ) -> tuple[_Found, Floats]:
        """The nearest found in the precision of the operands, and the score that all left out have at least."""
        from ._nearest_loops import keep_nearest

        points, halves = operands
        # Rounding may swap the order of a few candidates.
        n_kept = min(n_neighbors + 8, len(points))
        best = np.full((len(queries), n_kept), np.inf, dtype=points.dtype)
        indices = np.full(best.shape, -1, dtype=np.int64)
        turned = -self.centred(queries, points.dtype)
        rows = np.arange(len(queries))
        for first in range(0, len(points), _COLUMNS_AT_ONCE):
            some = slice(first, first + _COLUMNS_AT_ONCE)
            keep_nearest(turned @ points[some].T, halves[some], first, rows, best, indices)
        left_out = best[:, -1].astype(np.float64) if n_kept < len(points) else np.full(len(queries), np.inf)
        return refine_candidates(queries, self.X, indices, n_neighbors), left_out

    def _block(self, queries: NDArray, n_neighbors: int) -> tuple[_Found, Places]:
        """Neighbours by single precision, and the rows for which it may have missed one."""
        assert self._single is not None
        nearest, left_out = self._candidates(queries, n_neighbors, self._single)
        offsets = self.centred(queries.astype(np.float64), np.float64)
        squared = np.einsum("pi,pi->p", offsets, offsets)
        # Worst-case rounding of a product of so many terms, and of the squared length.
        largest = float(np.sqrt(2 * self._single[1].max()))
        unit = float(np.finfo(np.float32).eps)
        slack = unit * ((queries.shape[1] + 4) * np.sqrt(squared) * largest + largest**2)
        reach = 0.5 * (nearest[0][:, -1] / self._unit) ** 2
        return nearest, np.flatnonzero(~(left_out + 0.5 * squared - slack > reach))

    def _certain(self, queries: NDArray, n_neighbors: int, nearest: _Found, doubtful: Places) -> _Found:
        """The same with the doubtful rows searched in double precision."""
        if doubtful.size:
            again = self._candidates(queries[doubtful], n_neighbors, self._operands(np.float64))[0]
            nearest[0][doubtful], nearest[1][doubtful] = again
        return nearest


class SparseProducts:
    """All pairs of sparse rows: sparse products, of which a block of rows at a time is dense.

    Parameters
    ----------
    X : CSR array of shape (n, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> rows = sparse.csr_array(np.eye(4))
    >>> SparseProducts(rows).query(rows[:1], 1)
    (array([[0.]]), array([[0]]))
    """

    def __init__(self, X: sparse.csr_array):
        self.X = X
        self._columns = X.astype(np.float64).T.tocsr()
        self._halves = 0.5 * squared_lengths(X)

    def query(self, at: sparse.csr_array, n_neighbors: int, n_threads: int = 1) -> _Found:
        """Distances and indices of the nearest rows, nearest first."""
        at = sparse.csr_array(at)

        def search(first: int) -> _Found:
            return self._block(at[first : first + _ROWS_AT_ONCE], n_neighbors)

        return _joined(in_threads(search, range(0, at.shape[0], _ROWS_AT_ONCE), n_threads))

    def _block(self, queries: sparse.csr_array, n_neighbors: int) -> _Found:
        from ._nearest_loops import keep_nearest, subtract_products

        # By hand: most scores are not zero, and a sparse product would first gather them as a sparse matrix.
        scores = np.zeros((queries.shape[0], self.X.shape[0]))
        subtract_products(queries.astype(np.float64), self._columns, scores)
        best = np.full((queries.shape[0], n_neighbors), np.inf)
        indices = np.full(best.shape, -1, dtype=np.int64)
        keep_nearest(scores, self._halves, 0, np.arange(len(best)), best, indices)
        lengths = squared_lengths(queries)
        squared = 2 * best + lengths[:, None]
        # Rounding of lengths and products is all that is left of the distance of equal rows.
        squared[squared <= 1e-14 * (lengths[:, None] + 2 * self._halves[indices])] = 0.0
        return np.sqrt(squared), indices


def _joined(results: list[_Found]) -> _Found:
    """Tables of blocks of rows as one."""
    distances, indices = zip(*results)
    return np.concatenate(distances), np.concatenate(indices)


def squared_lengths(X: sparse.csr_array) -> Floats:
    """Squared lengths of sparse rows."""
    squares = X.astype(np.float64)
    squares.data **= 2
    return np.asarray(squares.sum(axis=1)).ravel()


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
        points = self.exact.centred(X, np.float32)
        self.centres = _centres(points, max(2, round(1.2 * math.sqrt(len(X)))), n_threads)
        cell = _nearest_cells(points, self.centres, 1, n_threads)[:, 0]
        self.order = np.argsort(cell, kind="stable")
        self.starts = np.searchsorted(cell[self.order], np.arange(len(self.centres) + 1))
        self.points = points[self.order]
        self.halves = 0.5 * np.einsum("pi,pi->p", self.points, self.points)
        # How near, among the cells of a query, those of its true neighbours are.
        self._ranks = self._sampled_ranks(cell, n_neighbors, n_threads)
        self.n_searched = int(self._ranks[math.ceil(0.99 * len(self._ranks)) - 1]) + 1
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
        turned = -self.exact.centred(at, np.float32)
        searched = _nearest_cells(-turned, self.centres, self.n_searched, n_threads)
        best = np.full((len(at), min(n_neighbors + 4, len(self.X))), np.inf, dtype=np.float32)
        indices = np.full(best.shape, -1, dtype=np.int64)

        # The nearest cells first: they leave little to do for the others.
        for rank in range(self.n_searched):
            order = np.argsort(searched[:, rank], kind="stable")
            ends = np.searchsorted(searched[order, rank], np.arange(len(self.centres) + 1))

            def look(cell: int, order: NDArray = order, ends: NDArray = ends) -> None:
                rows, inside = order[ends[cell] : ends[cell + 1]], slice(*self.starts[cell : cell + 2])
                for first in range(0, len(rows), _CELL_ROWS):
                    some = rows[first : first + _CELL_ROWS]
                    scores = turned[some] @ self.points[inside].T
                    keep_nearest(scores, self.halves[inside], inside.start, some, best, indices)

            in_threads(look, np.flatnonzero(np.diff(ends)), n_threads)
        indices = np.where(indices >= 0, self.order[indices], -1)
        nearest = refine_candidates(at, self.X, indices, n_neighbors)
        short = np.flatnonzero((nearest[1] < 0).any(axis=1))
        if short.size:
            nearest[0][short], nearest[1][short] = self.exact.query(at[short], n_neighbors, n_threads)
        return nearest

    def _sampled_ranks(self, cell: Places, n_neighbors: int, n_threads: int) -> Places:
        """For the true neighbours of a sample: which of its cells, in the order of distance, they are in; sorted."""
        n_sample = min(max(_SAMPLE, 1000 // n_neighbors), len(self.X))
        sample = np.random.default_rng(0).choice(len(self.X), n_sample, replace=False)
        # The first is the point itself and found wherever one looks.
        true = self.exact.query(self.X[sample], n_neighbors + 1, n_threads)[1][:, 1:]
        offsets = self.exact.centred(self.X[sample], np.float32)
        nearest = _nearest_cells(offsets, self.centres, len(self.centres), n_threads)
        rank = np.empty_like(nearest)
        np.put_along_axis(rank, nearest, np.broadcast_to(np.arange(nearest.shape[1]), nearest.shape), axis=1)
        return np.sort(np.take_along_axis(rank, cell[true], axis=1).ravel())


def _centres(points: NDArray[np.float32], n_cells: int, n_threads: int) -> NDArray[np.float32]:
    """Centres of a short k-means on a sample."""
    rng = np.random.default_rng(0)
    n_rows = min(len(points), 40 * n_cells)
    rows = points[np.sort(rng.choice(len(points), n_rows, replace=False))]
    centres = rows[rng.choice(n_rows, min(n_cells, n_rows), replace=False)]
    for _ in range(8):
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
        scores = halves - points[first : first + _CELL_ROWS] @ centres.T
        if n_near == 1:
            return scores.argmin(axis=1)[:, None]
        if n_near == len(centres):
            return scores.argsort(axis=1, kind="stable")
        nearest = np.sort(np.argpartition(scores, n_near - 1, axis=1)[:, :n_near], axis=1)
        return np.take_along_axis(nearest, np.take_along_axis(scores, nearest, 1).argsort(axis=1, kind="stable"), 1)

    return np.concatenate(in_threads(block, range(0, len(points), _CELL_ROWS), n_threads))
