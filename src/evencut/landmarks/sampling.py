"""The sample that landmarks are made from, and the choice of landmarks by the density law.

The sample holds the distinct rows of the smallest hashes, so that it depends neither on blocks nor on the order of the
rows: a table fitted at once and a stream of its batches leave the same sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .. import tensors
from ..kernels import AdaptiveGaussian
from ..neighbors import MAX_TREE_FEATURES, SparsePoints, unit_rows
from ..points import distinct_points
from ..points.distinct import distinct_rows, kmeans_sweeps, row_hashes
from ..tensors import Floats, Ints
from .blocks import RowBlocks, is_wide, mix, stacked

# By how much more rows are looked at than kept, where all are distinct: many deviations of chance.
_MARGIN = 1.1


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
    max_rows : int
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
    max_rows: int
    seed: int

    @classmethod
    def of(cls, rows: Any, max_rows: int, seed: int, mass: Ints | None = None, share: float = 1.0) -> RowReservoir:
        """The reservoir of one batch.

        Parameters
        ----------
        rows : array, CSR array or tensor of shape (n_rows, n_features)
        max_rows : int
        seed : int
        mass : ndarray of whole numbers of shape (n_rows,), optional
            How much each row counts; one of none is left out.
        share : float
            Only rows among the smallest of all possible hashes are looked at, this share of them.
        """
        hashes = mix(_hashes(rows), seed)
        counts = tensors.array_namespace(hashes).ones_like(hashes) if mass is None else mass
        below = hashes <= int(share * 2**64) - 2**63 - 1
        candidates = tensors.array_namespace(hashes).where(below & (counts > 0))[0]
        first, total = _smallest(hashes[candidates], counts[candidates], max_rows)
        sample = candidates[first]
        chosen = rows[sample].toarray() if sparse.issparse(rows) and not is_wide(rows) else rows[sample]
        n_seen = rows.shape[0] if mass is None else int(mass.sum())
        return cls(chosen, tensors.to_array(hashes[sample]), total, n_seen, max_rows, seed)

    @property
    def nbytes(self) -> int:
        """Memory that it takes, which stops growing once `max_rows` rows are kept."""
        rows = self.rows.data if sparse.issparse(self.rows) else self.rows
        return int(rows.nbytes + self.hashes.nbytes + self.counts.nbytes)

    def __add__(self, other: RowReservoir) -> RowReservoir:
        """The reservoir of the rows of both."""
        hashes, counts = np.concatenate([self.hashes, other.hashes]), np.concatenate([self.counts, other.counts])
        first, total = _smallest(hashes, counts, self.max_rows)
        rows = stacked([self.rows, other.rows])[first]
        return RowReservoir(rows, hashes[first], total, self.n_seen + other.n_seen, self.max_rows, self.seed)


def draw_rows(rows: RowBlocks, max_rows: int, seed: int, mass: Ints | None = None, unit: bool = False) -> RowReservoir:
    """The reservoir of all rows of a table.

    Parameters
    ----------
    rows : RowBlocks
    max_rows : int
        How many are kept.
    seed : int
    mass : ndarray of whole numbers of shape (n_rows,), optional
        How much each row counts.
    unit : bool
        Whether rows are taken at unit length.
    """
    share = min(_MARGIN * max_rows / rows.n_rows, 1.0)
    reservoir = partial(_reservoir, max_rows=max_rows, seed=seed, mass=mass, unit=unit)
    drawn = rows.total(partial(reservoir, share=share))
    if share < 1 and len(drawn.hashes) < max_rows:
        # So many rows are copies that the others have larger hashes too.
        drawn = rows.total(partial(reservoir, share=1.0))
    return drawn


def _reservoir(
    rows: Any, first: int, *, max_rows: int, seed: int, mass: Ints | None, share: float, unit: bool
) -> RowReservoir:
    rows = unit_rows(rows, first) if unit else rows
    return RowReservoir.of(rows, max_rows, seed, None if mass is None else mass[first : first + rows.shape[0]], share)


def _smallest(hashes: Any, mass: Any, max_rows: int) -> tuple[Any, Ints]:
    """Where the smallest hashes stand first, each once and in order, and the mass of each: exact below 2^53."""
    first, which = tensors.unique_first(hashes)
    return first[:max_rows], tensors.to_array(tensors.group_sums(mass, which, len(first))[:max_rows]).astype(np.int64)


def _hashes(rows: Any) -> Any:
    """One 64-bit number a row, from its values; sparse rows have that of dense ones unless they stay sparse."""
    if not sparse.issparse(rows):
        return row_hashes(rows)
    if not is_wide(rows):
        step = max(1, (1 << 22) // rows.shape[1])
        parts = (rows[begin : begin + step].toarray() for begin in range(0, rows.shape[0], step))
        return np.concatenate([row_hashes(reservoir) for reservoir in parts])
    entries = mix(row_hashes(np.column_stack([rows.indices, rows.data])), 0) * (rows.data != 0)
    sums = np.concatenate([[0], np.cumsum(entries)])
    return sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]


def choose_landmarks(
    pilot: Any,
    n_landmarks: int,
    transform: str | Callable[[Floats], ArrayLike],
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Any:
    r"""Landmarks whose density follows the density law, not the data.

    Points of the pilot sample are drawn, without replacement, with probability

    .. math:: w_p \propto \sigma_p^2, \qquad \sigma_p \propto \sqrt[N]{\tau(\rho_p)/\rho_p}

    the squared bandwidth of the density law (eq. 59; in one dimension not squared). For the constant
    transform it is the squared distance to the 8th neighbour, which is also what the point adds to the error
    of the landmarks as centres: all landmarks carry the same share of it. In the plane their density is even;
    in higher dimensions it is tempered, as most of the volume there is empty. A few sweeps of k-means with the
    same weights then move each landmark to the middle of what it stands for; sparse rows stay where they are, as their
    middles would be dense.

    Parameters
    ----------
    pilot : ndarray or tensor of shape (n_pilot, n_features), or SparsePoints
    n_landmarks : int
        Fewer are returned where the pilot has fewer distinct points.
    transform : str or callable
        As in :func:`evencut.affinity.density_law`; `"identity"` draws uniformly from the data.
    rng : Generator
    n_jobs : int, optional
        Threads of the neighbour searches; the result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> pilot = np.concatenate([rng.normal(0, 1, 1900), rng.normal(20, 1, 100)])[:, None]
    >>> even = choose_landmarks(pilot, 100, "constant", rng)
    >>> uniform = choose_landmarks(pilot, 100, "identity", rng)
    >>> bool((even > 10).sum() > 3 * (uniform > 10).sum())
    True
    """
    points: Any = np.ascontiguousarray(pilot) if isinstance(pilot, np.ndarray) else pilot
    if isinstance(points, SparsePoints):
        points = distinct_points(points).points
        if len(points) <= n_landmarks:
            return points
    elif len(distinct_rows(points)[0]) <= n_landmarks:
        return _each_once(points)
    if isinstance(transform, str) and transform == "identity":
        weights = tensors.asarray_like(points, np.ones(len(points)))
    else:
        sigma = AdaptiveGaussian(8, transform).bandwidths(points, n_jobs=n_jobs)
        weights = (sigma / sigma.max()) ** min(2, points.shape[1])
    # The smallest of exponential waiting times are a weighted draw without replacement.
    waiting = tensors.asarray_like(weights, rng.standard_exponential(len(points))) / weights.clip(np.finfo(float).tiny)
    drawn = tensors.stable_order(waiting)[:n_landmarks]
    if isinstance(points, SparsePoints):
        return points[np.sort(drawn)]
    centres = points[drawn] if tensors.is_tensor(points) else tensors.as_float64(points[drawn])
    # Without a tree, distances to all centres take most of the time; the first sweeps improve most.
    n_sweeps = 5 if points.shape[1] <= MAX_TREE_FEATURES else 2
    return _each_once(kmeans_sweeps(centres, points, weights, n_sweeps, n_jobs=n_jobs))


def _each_once(points: Any) -> Any:
    return points[distinct_rows(points)[0]] if tensors.is_tensor(points) else np.unique(points, axis=0)
