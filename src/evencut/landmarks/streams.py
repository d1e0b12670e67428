"""A sample of a stream that does not hang on the order of its batches: the rows of the smallest hashes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .choosing import mix

__all__ = ["RowReservoir"]


@dataclass(frozen=True, eq=False)
class RowReservoir:
    """The rows kept of a stream, sorted by a hash of their values.

    Parameters
    ----------
    rows : ndarray of shape (n_kept, n_features)
    hashes : ndarray of shape (n_kept,)
    n_seen : int
        Rows that have come by.
    most : int
        How many are kept.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> whole = RowReservoir.empty(2, 10, seed=0).with_rows(X)
    >>> halves = RowReservoir.empty(2, 10, seed=0).with_rows(X[50:]).with_rows(X[:50])
    >>> bool((whole.rows == halves.rows).all()), halves.n_seen
    (True, 100)
    """

    rows: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    n_seen: int
    most: int
    seed: int

    @classmethod
    def empty(cls, n_features: int, most: int, seed: int) -> RowReservoir:
        """Before the first batch."""
        return cls(np.empty((0, n_features)), np.empty(0, dtype=np.uint64), 0, most, seed)

    @property
    def nbytes(self) -> int:
        """Memory that it takes, which stops growing once `most` rows are kept."""
        return self.rows.nbytes + self.hashes.nbytes

    def with_rows(self, rows: NDArray[np.float64]) -> RowReservoir:
        """The reservoir after one more batch."""
        all_rows = np.vstack([self.rows, rows])
        hashes = np.concatenate([self.hashes, row_hashes(rows, self.seed)])
        # Equal rows have equal hashes: the columns keep the order of what is left of them out of it.
        order = np.lexsort((*all_rows.T, hashes))[: self.most]
        return RowReservoir(all_rows[order], hashes[order], self.n_seen + len(rows), self.most, self.seed)


def row_hashes(rows: NDArray[np.float64], seed: int) -> NDArray[np.uint64]:
    """A 64-bit number for the values of each row, the same wherever it stands."""
    # The two zeros are one value.
    words = np.ascontiguousarray(rows + 0.0, dtype=np.float64).view(np.uint64)
    hashes = np.full(len(rows), (seed * 0xD1342543DE82EF95 + 1) % 2**64, dtype=np.uint64)
    for column in words.T:
        hashes = mix((hashes ^ column) * np.uint64(0x9E3779B97F4A7C15))
    return hashes
