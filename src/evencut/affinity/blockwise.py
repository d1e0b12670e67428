"""Dense affinities larger than memory: rows are computed in blocks, used and forgotten, by several threads.

A `BlockwiseAffinity` can be multiplied and rescaled, which is all that degrees, equalisation, Lloyd steps and
energies need.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..tensors import AnyFloats, Places
from .matrix import Affinity
from .products import in_threads
from .threads import n_threads

# One block of rows is to stay near the cache: larger ones are slower, smaller ones pay for their calls.
_BLOCK_BYTES = 1 << 23
_FREE_SHARE = 0.25
# A fit with all pairs of more points takes more than a minute on one core.
_MOST_POINTS = 25_000


class BlockwiseAffinity(Affinity):
    r"""The affinity :math:`s_p s_q A_{pq}`, its rows computed whenever they are needed.

    Parameters
    ----------
    compute : callable
        `compute(p, q)` gives the block of affinities of the points at p with those at q; p and q are slices or
        index arrays. It must be symmetric.
    n_points : int
    dtype : float type
        Of the blocks.
    n_jobs : int, optional
        Threads; -1 uses all cores. Results do not depend on it.
    scale : ndarray of shape (n_points,), optional
        The scale s, ones without it.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> affinity = BlockwiseAffinity(lambda p, q: np.exp(-abs(x[p, None] - x[q])), 3, np.float64)
    >>> (affinity @ np.ones(3)).round(3)
    array([1.418, 1.503, 1.185])
    >>> affinity.rescaled(np.array([1.0, 2.0, 1.0])).diagonal()
    array([1., 4., 1.])
    """

    def __init__(
        self,
        compute: Callable[[Any, Any], AnyFloats],
        n_points: int,
        dtype: Any,
        *,
        n_jobs: int | None = None,
        scale: AnyFloats | None = None,
    ):
        self._compute = compute
        self.shape = (n_points, n_points)
        self.dtype = np.dtype(dtype)
        self._n_jobs = n_jobs
        self._scale = scale

    def __matmul__(self, other: AnyFloats) -> AnyFloats:
        other = np.asarray(other)
        if other.shape[:1] != self.shape[1:]:
            raise ValueError(f"an affinity of {self.shape[0]} points cannot multiply an array of shape {other.shape}.")
        right = other if self._scale is None else (other.T * self._scale).T
        right = right.astype(self.dtype, copy=False)
        product = np.empty(other.shape, dtype=self.dtype)

        def fill(rows: slice) -> None:
            product[rows] = self._compute(rows, slice(None)) @ right

        # Threads take whole blocks, each multiplied by one thread alone, so that sums do not depend on them.
        in_threads(fill, self._blocks(), n_threads(self._n_jobs))
        return product if self._scale is None else (product.T * self._scale.astype(self.dtype)).T

    def rescaled(self, scale: AnyFloats) -> BlockwiseAffinity:
        """The affinity with rows and columns multiplied by `scale` as well."""
        scale = np.asarray(scale, dtype=np.float64)
        both = scale if self._scale is None else self._scale * scale
        return BlockwiseAffinity(self._compute, self.shape[0], self.dtype, n_jobs=self._n_jobs, scale=both)

    def among(self, points: Places) -> BlockwiseAffinity:
        """The affinity among some of the points, in the order given."""
        scale = None if self._scale is None else self._scale[points]
        compute = _Among(self._compute, np.asarray(points))
        return BlockwiseAffinity(compute, len(points), self.dtype, n_jobs=self._n_jobs, scale=scale)

    def part(self, rows: Any, columns: Any = slice(None)) -> AnyFloats:
        """The dense block at some rows and columns (slices or index arrays).

        Examples
        --------
        >>> import numpy as np
        >>> BlockwiseAffinity(lambda p, q: np.eye(3)[p][:, q], 3, np.float64).part([0, 1], [1])
        array([[0.],
               [1.]])
        """
        block = self._compute(rows, columns)
        if self._scale is not None:
            block = block * np.multiply.outer(self._scale[rows], self._scale[columns]).astype(self.dtype)
        return block

    def diagonal(self) -> AnyFloats:
        """The affinity of each point with itself."""
        found = np.empty(self.shape[0], dtype=self.dtype)
        for first in range(0, self.shape[0], 256):
            rows = slice(first, first + 256)
            found[rows] = self.part(rows, rows).diagonal()
        return found

    def _blocks(self) -> list[slice]:
        step = max(1, _BLOCK_BYTES // (self.shape[0] * self.dtype.itemsize))
        return [slice(first, first + step) for first in range(0, self.shape[0], step)]


@dataclass(frozen=True, eq=False)
class _Among:
    """Blocks of some of the points."""

    compute: Callable[[Any, Any], AnyFloats]
    points: Places

    def __call__(self, p: Any, q: Any) -> AnyFloats:
        return self.compute(self.points[p], self.points[q])


class GaussianBlocks:
    r"""Blocks of a Gaussian kernel, of one bandwidth or of one at each point.

    .. math:: \exp\left(-\frac{\|f_p-f_q\|^2}{2\sigma^2}\right)

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        In units of the bandwidth where there is only one.
    sigma : ndarray of shape (n_points,), optional
        A bandwidth for each point.
    pairing : {"mean", "product"}
        With bandwidths, the mean of both points' kernels, or :math:`\sigma^2 = \sigma_p \sigma_q`.

    Examples
    --------
    >>> import numpy as np
    >>> blocks = GaussianBlocks(np.array([[0.0], [1.0], [3.0]]))
    >>> blocks(slice(0, 1), slice(None)).round(3)
    array([[1.   , 0.607, 0.011]])
    """

    def __init__(self, points: AnyFloats, sigma: AnyFloats | None = None, pairing: str = "mean"):
        # About the mean, |x|^2 + |y|^2 - 2xy cancels least; as one product it needs no second pass.
        centred = points - points.mean(axis=0)
        half_norm = -0.5 * np.einsum("ij,ij->i", centred, centred)[:, None]
        ones = np.ones_like(half_norm)
        self._left = np.hstack([centred, half_norm, ones])
        self._right = np.hstack([centred, ones, half_norm])
        self._sigma = None if sigma is None else sigma.astype(points.dtype)
        self._pairing = pairing

    def __call__(self, p: Any, q: Any) -> AnyFloats:
        """The block of the kernel between the points at p and those at q."""
        exponent = self._left[p] @ self._right[q].T
        if self._sigma is None:
            return _exp(exponent)
        own, other = self._sigma[p][:, None], self._sigma[q]
        if self._pairing == "product":
            exponent /= own
            exponent /= other
            return _exp(exponent)
        kernel = _exp(exponent / own**2)
        exponent /= other**2
        kernel += _exp(exponent)
        kernel *= 0.5
        return kernel


def _exp(exponent: AnyFloats) -> AnyFloats:
    """The exponential in place, without subnormal numbers, which are slow and count for nothing."""
    lowest = np.log(np.finfo(exponent.dtype).tiny) + 1
    np.clip(exponent, lowest, 0, out=exponent)
    return np.exp(exponent, out=exponent)


def fits_in_memory(n_points: int, dtype: Any, memory: float | None = None) -> bool:
    """Whether an affinity of all pairs stays within `memory` bytes, by default a quarter of the free memory.

    Examples
    --------
    >>> fits_in_memory(1000, float, memory=8e6), fits_in_memory(1000, float, memory=7e6)
    (True, False)
    """
    if memory is None:
        memory = _FREE_SHARE * free_memory()
    elif not memory >= 0:
        raise ValueError(f"memory={memory!r} must be a number of bytes, or None for a quarter of the free memory.")
    return n_points * n_points * np.dtype(dtype).itemsize <= memory


def keeps_in_memory(n_points: int, dtype: Any, memory: float | None = None) -> bool:
    """Whether all pairs are kept; raises where computing them again and again would take minutes, unless asked for.

    Examples
    --------
    >>> keeps_in_memory(1000, float)
    True
    """
    if fits_in_memory(n_points, dtype, memory):
        return True
    if memory is None and n_points > _MOST_POINTS:
        raise ValueError(
            f"a kernel of all pairs of {n_points} points does not fit in memory, and computing its {n_points**2:.1g} "
            "entries for every step takes minutes; use kernel='knn', or LandmarkClustering, or put the points on a "
            "GPU. To compute them anyway, give the kernel a memory in bytes."
        )
    return False


def free_memory() -> int:
    """Free memory in bytes, within the limit of a container.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    free = _system_memory()
    limit, used = _number(Path("/sys/fs/cgroup/memory.max")), _number(Path("/sys/fs/cgroup/memory.current"))
    if limit is not None and used is not None:
        free = min(free, max(limit - used, 0))
    return free


def _system_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        # Elsewhere count half of what is built in: the rest is in use, or may be.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
