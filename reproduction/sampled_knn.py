"""The neighbour graph of the pixels: a random part of each pixel's nearest colours, found block by block.

A share of all neighbours kept at random serves as well as all of them, and costs a tenth: the pixels are split at
random into parts, and each part is asked for the neighbours in one other part only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evencut.affinity import Affinity, GraphAffinity
from evencut.segmentation import CellKNN


class PixelGraph(Affinity):
    """Symmetric affinity (G + G')/2 of a list of neighbours, multiplied without being built.

    Parameters
    ----------
    neighbors : ndarray of int32 of shape (n_pixels, n_kept)
        The neighbours of each pixel.
    scale : ndarray of shape (n_pixels,), optional
        The affinity is multiplied by ``scale[p] * scale[q]``.

    Examples
    --------
    >>> import numpy as np
    >>> graph = PixelGraph(np.array([[1], [0], [1]], dtype=np.int32))
    >>> graph @ np.ones(3)
    array([1. , 1.5, 0.5])
    """

    dtype = np.dtype(np.float64)

    def __init__(self, neighbors: NDArray[np.int32], scale: NDArray[np.floating] | None = None):
        self.neighbors = neighbors
        self.scale = scale
        self.shape = (len(neighbors), len(neighbors))

    def __matmul__(self, other: NDArray[np.floating]) -> NDArray[np.float64]:
        other = np.asarray(other, dtype=np.float64)
        scale = self.scale if other.ndim == 1 or self.scale is None else self.scale[:, None]
        scaled = other if scale is None else other * scale
        out = self._one_way @ scaled + self._one_way.T @ scaled
        return out if scale is None else out * scale

    def diagonal(self) -> NDArray[np.float64]:
        """How often each pixel is among its own neighbours."""
        own = (self.neighbors == np.arange(len(self.neighbors))[:, None]).sum(axis=1).astype(np.float64)
        return own if self.scale is None else own * self.scale**2

    def part(self, rows: Any, columns: Any = slice(None)) -> NDArray[np.float64]:
        """A dense block, counted from the lists of either side."""
        one_way = self._one_way
        block = one_way[rows][:, columns].toarray() + one_way[columns][:, rows].toarray().T
        return block if self.scale is None else block * self.scale[rows][:, None] * self.scale[columns]

    def rescaled(self, scale: NDArray[np.floating]) -> PixelGraph:
        """The same lists with another scale, or this graph where every scale is one."""
        if np.all(scale == 1):
            return self
        return PixelGraph(self.neighbors, scale if self.scale is None else scale * self.scale)

    def among(self, points: NDArray[np.intp]) -> GraphAffinity:
        """The graph of some of the pixels; its lists differ in length, so it is a matrix."""
        one_way = self._one_way[points][:, points]
        scale = np.ones(len(points)) if self.scale is None else self.scale[points]
        return GraphAffinity(sparse.csr_array(one_way + one_way.T)).rescaled(scale)

    def joined(self, other: PixelGraph) -> PixelGraph:
        """The sum of two graphs of the same pixels, neither of them scaled."""
        return PixelGraph(np.concatenate([self.neighbors, other.neighbors], axis=1))

    @cached_property
    def _one_way(self) -> sparse.csr_array:
        """Half a link from each pixel to each of its neighbours."""
        n_points, n_kept = self.neighbors.shape
        starts = np.arange(0, n_points * n_kept + 1, n_kept)
        return sparse.csr_array((np.full(n_points * n_kept, 0.5), self.neighbors.ravel(), starts), self.shape)


@dataclass
class SampledKNN(CellKNN):
    """Kernel of `keep` random pixels among the nearest `share` of all pixels, symmetrised by the mean.

    Parameters
    ----------
    share : float, default=0.01
        The neighbourhood as a share of all pixels.
    keep : int, default=40
        Neighbours kept of each pixel.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> SampledKNN(share=0.1, keep=10).affinity(rng.normal(size=(500, 3)), rng).neighbors.shape
    (500, 10)
    """

    share: float = 0.01
    keep: int = 40

    def affinity(self, X: NDArray[np.floating], random_state: np.random.Generator) -> PixelGraph:  # type: ignore[override]
        """The graph of the points `X` of shape (n_pixels, n_features)."""
        from scipy.spatial import cKDTree

        if not 0 < self.share <= 1:
            raise ValueError(f"share={self.share} must be above 0 and at most 1.")
        if self.keep < 1:
            raise ValueError(f"keep={self.keep} must be at least 1.")
        n_pixels = len(X)
        keep = min(self.keep, n_pixels)
        # An odd number of parts: a ring of an even number would be a bipartite graph.
        n_parts = max(1, round(self.share * n_pixels / keep)) // 2 * 2 + 1
        if n_pixels < n_parts * keep:
            n_parts = 1
        parts = np.array_split(random_state.permutation(n_pixels), n_parts)
        trees = [cKDTree(X[part], compact_nodes=False, balanced_tree=False) for part in parts]
        neighbors = np.empty((n_pixels, keep), dtype=np.int32)
        for part, tree, other in zip(parts, trees[1:] + trees[:1], parts[1:] + parts[:1]):
            _, nearest = tree.query(X[part], keep)
            neighbors[part] = other[nearest].reshape(len(part), keep)
        return PixelGraph(neighbors)
