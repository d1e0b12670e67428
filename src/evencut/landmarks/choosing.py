"""Which landmarks: centres spread by the density law; and samples of rows drawn by a hash of their numbers.

Both depend on the data and the seed only, not on how the rows are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..kernels import AdaptiveGaussian
from ..neighbors import MAX_TREE_FEATURES, SparsePoints
from ..points import distinct_points
from ..points.distinct import distinct_rows, kmeans_sweeps
from ..tensors import Floats, Places, beside, double, is_tensor, stable_order

__all__ = ["RowSample", "choose_landmarks", "is_wide", "mix"]

_DENSITY_NEIGHBORS = 8
_SWEEPS = 5
# Where distances to all centres take most of the time, the first sweeps do most of the good.
_SWEEPS_WITHOUT_TREE = 2
# Sparse rows of more columns stay sparse: thousands of landmarks would not fit in memory otherwise.
_MOST_DENSE_FEATURES = 1000


@dataclass(frozen=True)
class RowSample:
    """The rows whose hash is below a threshold: each of `n_rows` with probability about `n_wanted / n_rows`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.arange(1000.0)[:, None]
    >>> draw = RowSample.of(100, 1000, seed=0)
    >>> whole = draw(rows, 0)
    >>> halves = np.vstack([draw(rows[:300], 0), draw(rows[300:], 300)])
    >>> bool((whole == halves).all())
    True
    """

    threshold: int
    seed: int

    @classmethod
    def of(cls, n_wanted: int, n_rows: int, seed: int) -> RowSample:
        """A sample of about `n_wanted` of `n_rows` rows, or all of them."""
        return cls(2**64 if n_wanted >= n_rows else (n_wanted << 64) // n_rows, seed)

    def __call__(self, rows: Any, first: int) -> Any:
        """Those of the rows that belong to the sample; `first` is the number of the first row."""
        places = self.places(rows.shape[0], first)
        if is_tensor(rows):
            return rows[beside(rows, places)]
        kept = rows[places]
        if sparse.issparse(kept):
            return kept if is_wide(rows) else kept.toarray()
        return np.array(kept)

    def places(self, n_rows: int, first: int) -> Places:
        """Which of `n_rows` rows from number `first` on belong to the sample."""
        if self.threshold >= 2**64:
            return np.arange(n_rows)
        return np.flatnonzero(_hash(first, n_rows, self.seed) < np.uint64(self.threshold))


def is_wide(rows: Any) -> bool:
    """Whether rows have so many columns that sparse ones stay sparse."""
    return bool(rows.shape[1] > _MOST_DENSE_FEATURES)


def _hash(first: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """A 64-bit number for each row number, even and unrelated to its neighbours'."""
    return np.asarray(mix(np.arange(first, first + n_rows), seed)).view(np.uint64)


def mix(numbers: Any, seed: int) -> Any:
    """Signed numbers whose every bit depends on every bit of those given and of the seed (as splitmix64 ends)."""
    numbers = (numbers + _signed(seed * 0xD1342543DE82EF95 + 1)) * _signed(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        # A shift of signed numbers brings their sign along, which the mask takes away.
        numbers = (numbers ^ (numbers >> shift & 2 ** (64 - shift) - 1)) * _signed(factor)
    return numbers ^ (numbers >> 31 & 2**33 - 1)


def _signed(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


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
        weights = beside(points, np.ones(len(points)))
    else:
        sigma = AdaptiveGaussian(_DENSITY_NEIGHBORS, transform).bandwidths(points, n_jobs=n_jobs)
        weights = (sigma / sigma.max()) ** min(2, points.shape[1])
    # The smallest of exponential waiting times are a weighted draw without replacement.
    waiting = beside(weights, rng.standard_exponential(len(points))) / weights.clip(np.finfo(float).tiny)
    drawn = stable_order(waiting)[:n_landmarks]
    if isinstance(points, SparsePoints):
        return points[np.sort(drawn)]
    centres = points[drawn] if is_tensor(points) else double(points[drawn])
    n_sweeps = _SWEEPS if points.shape[1] <= MAX_TREE_FEATURES else _SWEEPS_WITHOUT_TREE
    return _each_once(kmeans_sweeps(centres, points, weights, n_sweeps, n_jobs=n_jobs))


def _each_once(points: Any) -> Any:
    return points[distinct_rows(points)[0]] if is_tensor(points) else np.unique(points, axis=0)
