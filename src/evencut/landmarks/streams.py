"""A sample of a stream that does not hang on the order of its batches: the rows of the smallest hashes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .choosing import mix

__all__ = ["RowReservoir"]


@dataclass(frozen=True, eq=False)
class RowReservoir:
    """The distinct rows kept of a stream, sorted by a hash of their values, and how often each has come.

    Two of them add up to the one of all rows: a row whose hash is among the smallest of all is so in each part, and its
    count is complete.

    Parameters
    ----------
    rows : ndarray of shape (n_kept, n_features)
    hashes : ndarray of shape (n_kept,)
    counts : ndarray of shape (n_kept,)
        Rows of these values that have come by.
    n_seen : int
        Rows that have come by.
    most : int
        How many are kept.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> whole = RowReservoir.of(X, 10, seed=0)
    >>> halves = RowReservoir.of(X[50:], 10, seed=0) + RowReservoir.of(X[:50], 10, seed=0)
    >>> bool((whole.rows == halves.rows).all()), halves.n_seen
    (True, 100)
    """

    rows: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    n_seen: int
    most: int
    seed: int

    @classmethod
    def of(cls, rows: NDArray[np.float64], most: int, seed: int) -> RowReservoir:
        """The reservoir of one batch."""
        counts = np.ones(len(rows), dtype=np.int64)
        kept, first, counts = _each_once(row_hashes(rows, seed), counts, most)
        return cls(rows[first], kept, counts, len(rows), most, seed)

    @property
    def nbytes(self) -> int:
        """Memory that it takes, which stops growing once `most` rows are kept."""
        return int(self.rows.nbytes + self.hashes.nbytes + self.counts.nbytes)

    def __add__(self, other: RowReservoir) -> RowReservoir:
        """The reservoir of the rows of both."""
        hashes, counts = np.concatenate([self.hashes, other.hashes]), np.concatenate([self.counts, other.counts])
        kept, first, counts = _each_once(hashes, counts, self.most)
        rows = np.vstack([self.rows, other.rows])[first]
        return RowReservoir(rows, kept, counts, self.n_seen + other.n_seen, self.most, self.seed)


def _each_once(
    hashes: NDArray[np.uint64], mass: NDArray[np.int64], most: int
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.int64]]:
    """The smallest hashes, each once and in order, where each stands first, and what it counts."""
    kept, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    # As whole numbers: floats would round counts beyond 2^53.
    counts = np.zeros(len(kept), dtype=np.int64)
    np.add.at(counts, which.ravel(), mass)
    return kept[:most], first[:most], counts[:most]


def row_hashes(rows: NDArray[np.float64], seed: int) -> NDArray[np.uint64]:
    """A 64-bit number for the values of each row, the same wherever it stands."""
    # The two zeros are one value.
    words = np.ascontiguousarray(rows + 0.0, dtype=np.float64).view(np.uint64)
    hashes = np.full(len(rows), (seed * 0xD1342543DE82EF95 + 1) % 2**64, dtype=np.uint64)
    for column in words.T:
        hashes = mix((hashes ^ column) * np.uint64(0x9E3779B97F4A7C15))
    return hashes
