"""Affinities whose entries are on a device: all pairs of a kernel, never formed, and rows of new points.

They are multiplied with tensors, which stay where they are; all else follows from products, as for any affinity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors import array_namespace, double, one_hot, to_tensor
from .density import knn_radius
from .matrix import Affinity

# Updating changes costs as much a column as a new table; beyond this share a new table also clears its rounding.
_FEW_CHANGES = 0.5


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

    def beside(self, values: Any) -> Any:
        """Values as tensors on the device."""
        return to_tensor(values, self.sums.like)

    def __matmul__(self, other: Any) -> Any:
        return self._times(other, "exact")

    def rough(self, other: Any) -> Any:
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
            self._degrees = self @ self.beside(np.ones(self.shape[1]))
        return self._degrees

    def diagonal(self) -> Any:
        """The affinity of each point with itself, which is one before scaling."""
        return self._scale() ** 2

    def part(self, rows: Any, columns: Any = slice(None)) -> Any:
        """The dense block at some rows and columns."""
        rows, columns = self._places(rows), self._places(columns)
        dense = self.sums.part(rows, columns).dense()
        return dense if self.scale is None else dense * self.scale[rows][:, None] * self.scale[columns]

    def rescaled(self, scale: Any) -> PairsAffinity:
        """The same sums at another scale."""
        scale = double(self.beside(scale))
        if (scale == 1).all():
            return self
        return PairsAffinity(self.sums, scale if self.scale is None else self.scale * scale, self._precision)

    def among(self, points: Any) -> PairsAffinity:
        """The affinity among some of the points."""
        points = self._places(points)
        return PairsAffinity(self.sums.part(points, points), None if self.scale is None else self.scale[points])

    def widened(self, points: Any, n_neighbors: int) -> tuple[PairsAffinity, Any]:
        """All points (rows) with some of them (columns), and the scale of these.

        Bandwidths are larger, by a factor, so that the points reach so many neighbours among each other.
        """
        some = self.sums.part(points, points)
        radius = knn_radius(some.like, min(n_neighbors, max(len(points) - 1, 1)))
        factor = max(1.0, float((radius / some.bandwidth).log().mean().exp()))
        return PairsAffinity(self.sums.widened(factor).part(columns=points)), self._scale()[points]

    def links(self, labels: Any, n_clusters: int, scale: Any = None) -> Any:
        """Sums of the affinities of each point with each cluster."""
        return self._times(one_hot(labels, n_clusters, scale), self._precision)

    def links_after(self, links: Any, before: Any, labels: Any, n_clusters: int) -> Any:
        """The links brought up to date with the points that changed alone, so that late steps cost little."""
        changed = array_namespace(labels).where(labels != before)[0]
        if len(changed) > _FEW_CHANGES * len(labels):
            return self.links(labels, n_clusters)
        change = one_hot(labels[changed], n_clusters) - one_hot(before[changed], n_clusters)
        return links + self._times_some(changed, change)

    def links_to_some(self, points: Any, labels: Any, n_clusters: int) -> Any:
        """The links of every point to clusters of some points."""
        return self._times_some(points, one_hot(labels, n_clusters))

    def _times_some(self, points: Any, table: Any) -> Any:
        scale = self._scale()
        return scale[:, None] * self.sums.part(columns=points)(table * scale[points, None], self._precision)

    def _scale(self) -> Any:
        if self.scale is not None:
            return self.scale
        return array_namespace(self.sums.like).ones_like(self.sums.bandwidth)

    def _places(self, rows: Any) -> Any:
        return rows if isinstance(rows, slice) else self.beside(rows)


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
        self.indices, self.values = indices, double(values)
        self.shape = (len(indices), n_points)

    def links(self, labels: Any, n_clusters: int, scale: Any = None) -> Any:
        """Sums of the affinities of each row with each cluster, entry by entry, always in the same order."""
        members = one_hot(labels, n_clusters, scale)
        total = self.values[:, 0, None] * members[self.indices[:, 0]]
        for place in range(1, self.indices.shape[1]):
            total += self.values[:, place, None] * members[self.indices[:, place]]
        return total


def gaussian_pairs(X: Any, sigma: Any, form: str, Y: Any = None, y_sigma: Any = None) -> PairsAffinity:
    """All pairs of a Gaussian kernel of tensors, with bandwidths, or those of new points X with the points Y.

    Examples
    --------
    >>> import torch
    >>> gaussian_pairs(torch.tensor([[0.0], [2.0]]), 1.0, "gaussian").part([0], [0, 1]).round(decimals=3)
    tensor([[1.0000, 0.1350]], dtype=torch.float64)
    """
    from ..gpu.sums import KernelSums

    sums = KernelSums(X, sigma, form=form, Y=Y, y_bandwidth=y_sigma)
    # Rows of new points may have nothing but tiny affinities, and are labelled by those.
    return PairsAffinity(sums, links="fast" if Y is None else "careful")
