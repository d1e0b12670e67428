r"""Nearest points in high dimension by matrix products, block by block: the cost is that of the products.

Of :math:`\|x-y\|^2 = \|x\|^2 + \|y\|^2 - 2 x^T y` only the products are computed for all pairs, in single precision and
about the middle. A few candidates more than asked for are kept, their distances taken anew in double precision, and a
bound on the rounding tells whether any other point could have been nearer; where it could, the row is searched again
in double precision. The result is therefore exact.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from ..tensors import AnyFloats, Floats, Ints, Places

_ROWS_AT_ONCE = 256
_COLUMNS_AT_ONCE = 4096
# Points whose medians are the middle: it need only be among them.
_ROWS_OF_MIDDLE = 100
# Candidates kept beyond those asked for: rounding may swap the order of a few.
_SPARE = 8
_Found = tuple[Floats, Ints]


class _OneThread:
    """Products on one thread while anybody is inside: limits set from several threads would undo each other."""

    def __init__(self) -> None:
        self._lock, self._inside, self._n_modules = threading.Lock(), 0, 0
        self._libraries: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = self._loaded().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()

    def _loaded(self) -> ThreadpoolController:
        # To look for the libraries takes longer than a small fit's search; only an import can have loaded more of them.
        if len(sys.modules) != self._n_modules:
            self._n_modules, self._libraries = len(sys.modules), ThreadpoolController()
        return self._libraries

    def begin_thread(self, n_threads: int) -> None:
        """Set what each thread has for itself: its loops run alone, and `n_jobs=None` means the threads left for it."""
        from joblib import parallel_config

        self._libraries.limit(limits=1, user_api="openmp")
        parallel_config("threading", n_jobs=n_threads)


#: To be entered around many searches, which then look for the libraries of products only once.
ONE_THREAD = _OneThread()


def in_threads(work: Callable[[Any], Any], tasks: Iterable[Any], n_threads: int) -> list[Any]:
    """What `work` makes of each task, in order; every product on one thread, so that sums do not depend on them."""
    with ONE_THREAD:
        if n_threads == 1:
            return [work(task) for task in tasks]
        tasks = list(tasks)
        threads_left = max(1, n_threads // max(1, len(tasks)))
        with ThreadPoolExecutor(n_threads, initializer=ONE_THREAD.begin_thread, initargs=(threads_left,)) as pool:
            return list(pool.map(work, tasks))


def refined(queries: NDArray, points: NDArray, candidates: Ints, n_neighbors: int) -> _Found:
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
        # In the precision of the points: what is left after it is taken off is rounded once, as it is anyway. Beside a
        # point far away the mean is far from all, and what is left is all rounding; medians are not.
        self.centre = np.median(X[:: -(-len(X) // _ROWS_OF_MIDDLE)], axis=0).astype(X.dtype)
        self._unit = _single_unit(float(np.maximum(X.max(axis=0) - self.centre, self.centre - X.min(axis=0)).max()))
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
        found = [self._certain(blocks[0], n_neighbors, first, doubtful)]
        double = self._operands(np.float64) if in_vain else None

        def search(block: NDArray) -> _Found:
            if double is not None:
                return self._candidates(block, n_neighbors, double)[0]
            return self._certain(block, n_neighbors, *self._block(block, n_neighbors))

        found += in_threads(search, blocks[1:], n_threads)
        return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found])

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed anew would only make a saved model larger.
        return {**vars(self), "_single": None}

    def about_mean(self, rows: AnyFloats, dtype: Any) -> NDArray:
        """Rows less the mean of the points, in a unit whose squares single precision can hold."""
        offsets = rows - self.centre
        return (offsets if self._unit == 1 else offsets / self._unit).astype(dtype, copy=False)

    def _operands(self, dtype: Any) -> tuple[NDArray, NDArray]:
        """The points about their mean, and half their squared lengths."""
        points = self.about_mean(self.X, dtype)
        return points, 0.5 * np.einsum("pi,pi->p", points, points)

    def _candidates(
        self, queries: NDArray, n_neighbors: int, operands: tuple[NDArray, NDArray]
    ) -> tuple[_Found, Floats]:
        """The nearest found in the precision of the operands, and the score that all left out have at least."""
        from ._nearest_loops import keep_nearest

        points, halves = operands
        n_kept = min(n_neighbors + _SPARE, len(points))
        best = np.full((len(queries), n_kept), np.inf, dtype=points.dtype)
        indices = np.full(best.shape, -1, dtype=np.int64)
        turned = -self.about_mean(queries, points.dtype)
        rows = np.arange(len(queries))
        for first in range(0, len(points), _COLUMNS_AT_ONCE):
            some = slice(first, first + _COLUMNS_AT_ONCE)
            keep_nearest(turned @ points[some].T, halves[some], first, rows, best, indices)
        left_out = best[:, -1].astype(np.float64) if n_kept < len(points) else np.full(len(queries), np.inf)
        return refined(queries, self.X, indices, n_neighbors), left_out

    def _block(self, queries: NDArray, n_neighbors: int) -> tuple[_Found, Places]:
        """Neighbours by single precision, and the rows for which it may have missed one."""
        assert self._single is not None
        found, left_out = self._candidates(queries, n_neighbors, self._single)
        offsets = self.about_mean(queries.astype(np.float64), np.float64)
        squared = np.einsum("pi,pi->p", offsets, offsets)
        # Worst-case rounding of a product of so many terms, and of the squared length.
        largest = float(np.sqrt(2 * self._single[1].max()))
        unit = float(np.finfo(np.float32).eps)
        slack = unit * ((queries.shape[1] + 4) * np.sqrt(squared) * largest + largest**2)
        reach = 0.5 * (found[0][:, -1] / self._unit) ** 2
        return found, np.flatnonzero(~(left_out + 0.5 * squared - slack > reach))

    def _certain(self, queries: NDArray, n_neighbors: int, found: _Found, doubtful: Places) -> _Found:
        """The same with the doubtful rows searched in double precision."""
        if doubtful.size:
            again = self._candidates(queries[doubtful], n_neighbors, self._operands(np.float64))[0]
            found[0][doubtful], found[1][doubtful] = again
        return found


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
        starts = range(0, at.shape[0], _ROWS_AT_ONCE)
        found = in_threads(lambda first: self._block(at[first : first + _ROWS_AT_ONCE], n_neighbors), starts, n_threads)
        return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found])

    def _block(self, queries: sparse.csr_array, n_neighbors: int) -> _Found:
        from ._nearest_loops import keep_nearest, subtract_products

        # By hand: most scores are not zero, and a sparse product would first gather them as a sparse matrix.
        scores = np.zeros((queries.shape[0], self.X.shape[0]))
        mine, columns = queries.astype(np.float64), self._columns
        subtract_products(
            (mine.indptr, mine.indices, mine.data), (columns.indptr, columns.indices, columns.data), scores
        )
        best = np.full((queries.shape[0], n_neighbors), np.inf)
        indices = np.full(best.shape, -1, dtype=np.int64)
        keep_nearest(scores, self._halves, 0, np.arange(len(best)), best, indices)
        lengths = squared_lengths(queries)
        squared = 2 * best + lengths[:, None]
        # Rounding of lengths and products is all that is left of the distance of equal rows.
        squared[squared <= 1e-14 * (lengths[:, None] + 2 * self._halves[indices])] = 0.0
        return np.sqrt(squared), indices


def _single_unit(largest: float) -> float:
    """A power of two that brings immense or tiny values to one; one where single precision can square them as is."""
    return 1.0 if largest == 0 or 1e-15 <= largest <= 1e15 else float(2.0 ** np.frexp(largest)[1])


def squared_lengths(X: sparse.csr_array) -> Floats:
    """Squared lengths of sparse rows."""
    squares = X.astype(np.float64)
    squares.data **= 2
    return np.asarray(squares.sum(axis=1)).ravel()
