"""Affinities that are computed when needed: in blocks of rows by several threads, or as sums over pairs on a device.

They can be multiplied and rescaled, which is all that degrees, equalisation, Lloyd steps and energies need.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._runtime import in_threads, n_threads
from ..tensors import AnyFloats, Places, array_namespace, as_float64, one_hot, to_tensor
from .density import knn_radius
from .matrix import Affinity

# A block of rows is to stay near the cache: larger ones are slower, smaller ones pay for their calls.
_BLOCK_BYTES = 1 << 23
# Updating changes costs as much a column as a new table; beyond this share a new table also clears its rounding.
_FEW_CHANGES = 0.5



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
        self, compute: Callable[[Any, Any], AnyFloats], n_points: int, dtype: Any, *, n_jobs: int | None = None,
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
        step = max(1, _BLOCK_BYTES // (self.shape[0] * self.dtype.itemsize))
        blocks = [slice(first, first + step) for first in range(0, self.shape[0], step)]
        in_threads(fill, blocks, n_threads(self._n_jobs))
        return product if self._scale is None else (product.T * self._scale.astype(self.dtype)).T

    def rescaled(self, scale: AnyFloats) -> BlockwiseAffinity:
        """The affinity with rows and columns multiplied by `scale` as well."""
        scale = np.asarray(scale, dtype=np.float64)
        both = scale if self._scale is None else self._scale * scale
        return BlockwiseAffinity(self._compute, self.shape[0], self.dtype, n_jobs=self._n_jobs, scale=both)

    def submatrix(self, points: Places) -> BlockwiseAffinity:
        """The affinity among some of the points, in the order given."""
        scale = None if self._scale is None else self._scale[points]
        compute = partial(_block_among, self._compute, np.asarray(points))
        return BlockwiseAffinity(compute, len(points), self.dtype, n_jobs=self._n_jobs, scale=scale)

    def block(self, rows: Any, columns: Any = slice(None)) -> AnyFloats:
        """The dense block at some rows and columns (slices or index arrays).

        Examples
        --------
        >>> import numpy as np
        >>> BlockwiseAffinity(lambda p, q: np.eye(3)[p][:, q], 3, np.float64).block([0, 1], [1])
        array([[0.],
               [1.]])
        """
        block = self._compute(rows, columns)
        if self._scale is not None:
            block = block * np.multiply.outer(self._scale[rows], self._scale[columns]).astype(self.dtype)
        return block

    def diagonal(self) -> AnyFloats:
        """The affinity of each point with itself."""
        diagonal = np.empty(self.shape[0], dtype=self.dtype)
        for first in range(0, self.shape[0], 256):
            rows = slice(first, first + 256)
            diagonal[rows] = self.block(rows, rows).diagonal()
        return diagonal


def _block_among(compute: Callable[[Any, Any], AnyFloats], points: Places, p: Any, q: Any) -> AnyFloats:
    """A block of the affinities among some of the points."""
    return compute(points[p], points[q])


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


class PairsAffinity(Affinity):
    r"""All pairs of a kernel, rows and columns scaled: :math:`s_p s_q K_{pq}`, as sums that never form the matrix.

    Products are exact to 1e-5. Links to clusters are sums of few digits (5e-3) unless asked otherwise: a point between
    two clusters is not placed better by more.

    Parameters
    ----------
    sums : evencut.gpu.sums.KernelSums
    scale : tensor of shape (n,), optional
    links : {"fast", "exact", "careful"}
        Precision of the links.

    Examples
    --------
    >>> import torch
    >>> from evencut.gpu.sums import KernelSums
    >>> pairs = PairsAffinity(KernelSums(torch.tensor([[0.0], [1.0], [3.0]]), 1.0))
    >>> pairs.rescaled(torch.tensor([2.0, 1.0, 1.0])).degrees().round(decimals=3)
    tensor([5.2350, 2.3480, 1.1580], dtype=torch.float64)
    """

    #: Fast sums are no more exact; a smaller gain of energy is noise.
    rounding = 1e-8

    def __init__(self, sums: Any, scale: Any = None, links: str = "fast"):
        self.sums, self.scale, self._precision, self._degrees = sums, scale, links, None
        self.shape, self.dtype = sums.shape, array_namespace(sums.like).float32

    @property
    def entries(self) -> Any:
        """The sums themselves, which a user multiplies by calling them."""
        return self.sums if self.scale is None else self

    def asarray(self, values: Any) -> Any:
        """Values as tensors on the device."""
        return to_tensor(values, self.sums.like)

    def __matmul__(self, other: Any) -> Any:
        return self._times(other, "exact")

    def matmul_fast(self, other: Any) -> Any:
        """The product by fast sums."""
        return self._times(other, "fast")

    def _times(self, other: Any, precision: str) -> Any:
        if self.scale is None:
            return self.sums(other, precision)
        scale = self.scale if other.ndim == 1 else self.scale[:, None]
        return scale * self.sums(scale * other, precision)

    def degrees(self) -> Any:
        """Node degrees, summed once."""
        if self._degrees is None:
            self._degrees = self @ self.asarray(np.ones(self.shape[1]))
        return self._degrees

    def diagonal(self) -> Any:
        """The affinity of each point with itself, which is one before scaling."""
        return self._scale() ** 2

    def block(self, rows: Any, columns: Any = slice(None)) -> Any:
        """The dense block at some rows and columns."""
        rows, columns = self._places(rows), self._places(columns)
        dense = self.sums.block(rows, columns).dense()
        return dense if self.scale is None else dense * self.scale[rows][:, None] * self.scale[columns]

    def rescaled(self, scale: Any) -> PairsAffinity:
        """The same sums at another scale."""
        scale = as_float64(self.asarray(scale))
        if (scale == 1).all():
            return self
        return PairsAffinity(self.sums, scale if self.scale is None else self.scale * scale, self._precision)

    def submatrix(self, points: Any) -> PairsAffinity:
        """The affinity among some of the points."""
        points = self._places(points)
        return PairsAffinity(self.sums.block(points, points), None if self.scale is None else self.scale[points])

    def widened(self, points: Any, n_neighbors: int) -> tuple[PairsAffinity, Any]:
        """All points (rows) with some of them (columns), and the scale of these.

        Bandwidths are larger, by a factor, so that the points reach so many neighbours among each other.
        """
        some = self.sums.block(points, points)
        radius = knn_radius(some.like, min(n_neighbors, max(len(points) - 1, 1)))
        factor = max(1.0, float((radius / some.bandwidth).log().mean().exp()))
        return PairsAffinity(self.sums.widened(factor).block(columns=points)), self._scale()[points]

    def links(self, labels: Any, n_clusters: int, scale: Any = None) -> Any:
        """Sums of the affinities of each point with each cluster."""
        return self._times(one_hot(labels, n_clusters, scale), self._precision)

    def updated_links(self, links: Any, old_labels: Any, labels: Any, n_clusters: int) -> Any:
        """The links brought up to date with the points that changed alone, so that late steps cost little."""
        changed = array_namespace(labels).where(labels != old_labels)[0]
        if len(changed) > _FEW_CHANGES * len(labels):
            return self.links(labels, n_clusters)
        change = one_hot(labels[changed], n_clusters) - one_hot(old_labels[changed], n_clusters)
        return links + self._times_some(changed, change)

    def links_to_some(self, points: Any, labels: Any, n_clusters: int) -> Any:
        """The links of every point to clusters of some points."""
        return self._times_some(points, one_hot(labels, n_clusters))

    def _times_some(self, points: Any, table: Any) -> Any:
        scale = self._scale()
        return scale[:, None] * self.sums.block(columns=points)(table * scale[points, None], self._precision)

    def _scale(self) -> Any:
        if self.scale is not None:
            return self.scale
        return array_namespace(self.sums.like).ones_like(self.sums.bandwidth)

    def _places(self, rows: Any) -> Any:
        return rows if isinstance(rows, slice) else self.asarray(rows)


class NeighborRows:
    """Affinities of new points with a few points each, as two tables.

    Parameters
    ----------
    indices, values : tensors of shape (n_rows, n_near)
    n_points : int

    Examples
    --------
    >>> import torch
    >>> rows = NeighborRows(torch.tensor([[0, 2]]), torch.tensor([[1.0, 0.5]]), 3)
    >>> rows.links(torch.tensor([0, 0, 1]), 2)
    tensor([[1.0000, 0.5000]], dtype=torch.float64)
    """

    def __init__(self, indices: Any, values: Any, n_points: int):
        self.indices, self.values = indices, as_float64(values)
        self.shape = (len(indices), n_points)

    def links(self, labels: Any, n_clusters: int, scale: Any = None) -> Any:
        """Sums of the affinities of each row with each cluster, entry by entry, always in the same order."""
        return self @ one_hot(labels, n_clusters, scale)

    def __matmul__(self, other: Any) -> Any:
        total = self.values[:, 0, None] * other[self.indices[:, 0]]
        for place in range(1, self.indices.shape[1]):
            total += self.values[:, place, None] * other[self.indices[:, place]]
        return total


def gaussian_pairs(X: Any, sigma: Any, form: str, Y: Any = None, y_sigma: Any = None) -> PairsAffinity:
    """All pairs of a Gaussian kernel of tensors, with bandwidths, or those of new points X with the points Y.

    Examples
    --------
    >>> import torch
    >>> gaussian_pairs(torch.tensor([[0.0], [2.0]]), 1.0, "gaussian").block([0], [0, 1]).round(decimals=3)
    tensor([[1.0000, 0.1350]], dtype=torch.float64)
    """
    from ..gpu.sums import KernelSums

    sums = KernelSums(X, sigma, form=form, Y=Y, y_bandwidth=y_sigma)
    # Rows of new points may have nothing but tiny affinities, and are labelled by those.
    return PairsAffinity(sums, links="fast" if Y is None else "careful")
