r"""The neighbour graph of cells of like pixels: what all pixels of a cell have in common is computed once.

.. math:: A = P\, \frac{G + G'}{2}\, P'

with P the cell of each pixel and G the nearest cells of each cell. The cells are the leaves of a tree of median splits,
so that they hold equally many pixels and are small where pixels are dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..affinity import Affinity

_FEWEST = 40
_TOGETHER = 32


class CellGraph(Affinity):
    """Affinity of pixels through their cells; several graphs of cells add up.

    Parameters
    ----------
    layers : list of (cells, links)
        The cell of each pixel, and the symmetric affinity of the cells as a CSR array.
    scale : ndarray of shape (n_pixels,), optional
        The affinity is multiplied by ``scale[p] * scale[q]``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> graph = CellGraph([(np.array([0, 0, 1]), sparse.csr_array(np.eye(2)))])
    >>> graph @ np.ones(3)
    array([2., 2., 1.])
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self,
        layers: list[tuple[NDArray[np.int64], sparse.csr_array]],
        scale: NDArray[np.floating] | None = None,
    ):
        self.layers = layers
        self.scale = scale
        self.shape = (len(layers[0][0]),) * 2

    def __matmul__(self, other: NDArray[np.floating]) -> NDArray[np.float64]:
        other = np.asarray(other, dtype=np.float64)
        if other.ndim == 2:
            return np.column_stack([self @ column for column in other.T])
        values = other if self.scale is None else other * self.scale
        out = np.zeros(len(other))
        for cells, links in self.layers:
            out += (links @ np.bincount(cells, values, links.shape[0]))[cells]
        return out if self.scale is None else out * self.scale

    def diagonal(self) -> NDArray[np.float64]:
        """Affinity of each pixel with itself."""
        own = sum(links.diagonal()[cells] for cells, links in self.layers)
        return own if self.scale is None else own * self.scale**2

    def block(self, rows: Any, columns: Any = slice(None)) -> NDArray[np.float64]:
        """A dense block."""
        block = sum(links[cells[rows]][:, cells[columns]].toarray() for cells, links in self.layers)
        return block if self.scale is None else block * self.scale[rows][:, None] * self.scale[columns]

    def rescaled(self, scale: NDArray[np.floating]) -> CellGraph:
        """The same cells with another scale, or this graph where every scale is one."""
        if np.all(scale == 1):
            return self
        return CellGraph(self.layers, scale if self.scale is None else scale * self.scale)

    def submatrix(self, points: NDArray[np.intp]) -> CellGraph:
        """The same cells seen from some of the pixels."""
        layers = [(cells[points], links) for cells, links in self.layers]
        return CellGraph(layers, None if self.scale is None else self.scale[points])

    def joined(self, other: CellGraph) -> CellGraph:
        """The sum of two graphs of the same pixels, neither of them scaled."""
        return CellGraph([*self.layers, *other.layers])


@dataclass
class CellKNN:
    """Kernel of the nearest `share` of all pixels, symmetrised by the mean, by cells of pixels.

    Parameters
    ----------
    share : float, default=0.01
        The neighbourhood as a share of all pixels; at least 40 pixels.
    fineness : int, default=20
        About how many cells a neighbourhood has.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> CellKNN(share=0.1).affinity(rng.normal(size=(500, 3)), rng).degrees().mean().round()
    np.float64(51.0)
    """

    share: float = 0.01
    fineness: int = 20

    def affinity(self, X: NDArray[np.floating], random_state: np.random.Generator) -> CellGraph:
        """The graph of the points `X` of shape (n_pixels, n_features); nothing in it is left to chance."""
        from ._cell_loops import nearest_cells

        if not 0 < self.share <= 1:
            raise ValueError(f"share={self.share} must be above 0 and at most 1.")
        if self.fineness < 1:
            raise ValueError(f"fineness={self.fineness} must be at least 1.")
        n_pixels = len(X)
        n_neighbors = min(n_pixels, max(_FEWEST, round(self.share * n_pixels)))
        cells, n_cells = median_cells(X, max(1.0, n_neighbors / self.fineness))
        counts = np.bincount(cells, minlength=n_cells)
        sums = [np.bincount(cells, X[:, c], n_cells) for c in range(X.shape[1])]
        centres = np.stack(sums, axis=1) / counts[:, None]
        n_near = int(np.clip(round(n_neighbors * n_cells / n_pixels), 1, n_cells))
        near = nearest_cells(centres, n_near, min(_TOGETHER, n_cells))
        starts = np.arange(0, near.size + 1, n_near)
        one_way = sparse.csr_array((np.full(near.size, 0.5), near.ravel(), starts), (n_cells, n_cells))
        return CellGraph([(cells, sparse.csr_array(one_way + one_way.T))])


def median_cells(X: NDArray[np.floating], size: float) -> tuple[NDArray[np.int64], int]:
    """The cell of each point, and how many cells there are: the power of two that brings cells nearest to `size`.

    Examples
    --------
    >>> import numpy as np
    >>> median_cells(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)
    (array([0, 1, 0, 1]), 2)
    """
    from ._cell_loops import split_cells

    n_levels = max(0, round(np.log2(len(X) / size)))
    if 2**n_levels > len(X):
        n_levels -= 1
    return split_cells(np.ascontiguousarray(X, dtype=np.float32), n_levels), 2**n_levels
