"""The sample that landmarks are made from: the distinct rows of the smallest hashes, in whatever order they come.

A table fitted at once and a stream of its batches leave the same sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..neighbors import unit_rows
from ..points.distinct import row_hashes
from ..tensors import Ints, array_namespace, first_of_each, group_sums, to_array
from .blocks import RowBlocks, stacked
from .choosing import is_wide, mix

__all__ = ["RowReservoir", "draw_rows"]

# By how much more rows are looked at than kept, where all are distinct: many deviations of chance.
_MARGIN = 1.1
_ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class RowReservoir:
    """A sample of the distinct rows of a stream, sorted by a hash of their values, with their counts.

    Two of them add up to the one of all rows: a row whose hash is among the smallest of all is so in each part, and its
    count is complete.

    Parameters
    ----------
    rows : array, CSR array or tensor of shape (n_kept, n_features)
    hashes : ndarray of shape (n_kept,)
    counts : ndarray of shape (n_kept,)
        Rows of these values that have come by, or their mass.
    n_seen : int
        Rows that have come by, or their mass.
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

    rows: Any
    hashes: Ints
    counts: Ints
    n_seen: int
    most: int
    seed: int

    @classmethod
    def of(cls, rows: Any, most: int, seed: int, mass: Ints | None = None, share: float = 1.0) -> RowReservoir:
        """The reservoir of one batch.

        Parameters
        ----------
        rows : array, CSR array or tensor of shape (n_rows, n_features)
        most : int
        seed : int
        mass : ndarray of whole numbers of shape (n_rows,), optional
            How much each row counts; one of none is left out.
        share : float
            Only rows among the smallest of all possible hashes are looked at, this share of them.
        """
        hashes = mix(_hashes(rows), seed)
        counts = array_namespace(hashes).ones_like(hashes) if mass is None else mass
        below = hashes <= int(share * 2**64) - 2**63 - 1
        places = array_namespace(hashes).where(below & (counts > 0))[0]
        first, total = _smallest(hashes[places], counts[places], most)
        kept = places[first]
        chosen = rows[kept].toarray() if sparse.issparse(rows) and not is_wide(rows) else rows[kept]
        n_seen = rows.shape[0] if mass is None else int(mass.sum())
        return cls(chosen, to_array(hashes[kept]), total, n_seen, most, seed)

    @property
    def nbytes(self) -> int:
        """Memory that it takes, which stops growing once `most` rows are kept."""
        rows = self.rows.data if sparse.issparse(self.rows) else self.rows
        return int(rows.nbytes + self.hashes.nbytes + self.counts.nbytes)

    def __add__(self, other: RowReservoir) -> RowReservoir:
        """The reservoir of the rows of both."""
        hashes, counts = np.concatenate([self.hashes, other.hashes]), np.concatenate([self.counts, other.counts])
        first, total = _smallest(hashes, counts, self.most)
        rows = stacked([self.rows, other.rows])[first]
        return RowReservoir(rows, hashes[first], total, self.n_seen + other.n_seen, self.most, self.seed)


def draw_rows(rows: RowBlocks, most: int, seed: int, mass: Ints | None = None, unit: bool = False) -> RowReservoir:
    """The reservoir of all rows of a table.

    Parameters
    ----------
    rows : RowBlocks
    most : int
        How many are kept.
    seed : int
    mass : ndarray of whole numbers of shape (n_rows,), optional
        How much each row counts.
    unit : bool
        Whether rows are taken at unit length.
    """
    share = min(_MARGIN * most / rows.n_rows, 1.0)
    part = partial(_part, most=most, seed=seed, mass=mass, unit=unit)
    drawn = rows.total(partial(part, share=share))
    if share < 1 and len(drawn.hashes) < most:
        # So many rows are copies that the others have larger hashes too.
        drawn = rows.total(partial(part, share=1.0))
    return drawn


def _part(rows: Any, first: int, *, most: int, seed: int, mass: Ints | None, share: float, unit: bool) -> RowReservoir:
    rows = unit_rows(rows, first) if unit else rows
    return RowReservoir.of(rows, most, seed, None if mass is None else mass[first : first + rows.shape[0]], share)


def _smallest(hashes: Any, mass: Any, most: int) -> tuple[Any, Ints]:
    """Where the smallest hashes stand first, each once and in order, and the mass of each: exact below 2^53."""
    first, which = first_of_each(hashes)
    return first[:most], to_array(group_sums(mass, which, len(first))[:most]).astype(np.int64)


def _hashes(rows: Any) -> Any:
    """One 64-bit number a row, from its values; sparse rows have that of dense ones unless they stay sparse."""
    if not sparse.issparse(rows):
        return row_hashes(rows)
    if not is_wide(rows):
        step = max(1, _ENTRIES_AT_ONCE // rows.shape[1])
        parts = (rows[begin : begin + step].toarray() for begin in range(0, rows.shape[0], step))
        return np.concatenate([row_hashes(part) for part in parts])
    entries = mix(row_hashes(np.column_stack([rows.indices, rows.data])), 0) * (rows.data != 0)
    sums = np.concatenate([[0], np.cumsum(entries)])
    return sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
