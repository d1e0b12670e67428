r"""Affinities of hundreds of thousands of pixels: cells of like pixels, and a Gaussian through a grid.

.. math:: A = P\, \frac{G + G'}{2}\, P', \qquad A \approx W B W'

with P the cell of each pixel and G the nearest cells of each cell; or W the linear interpolation of a grid over feature
space (a "bilateral grid") and B a Gaussian blur. The cells are the leaves of a tree of median splits, so that they hold
equally many pixels and are small where pixels are dense.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.ndimage import gaussian_filter

from ..affinity import Affinity, AffinityLike, whiten
from ..affinity import equalize as even_out
from ..criteria import CRITERIA, EQUALIZATIONS, pose
from .energy import EntropyTerm, RatioTerm, Term

_FEWEST = 40
_TOGETHER = 32


class PixelAffinity(Affinity):
    """An affinity of many pixels that is known by its products, multiplied by ``scale[p] * scale[q]``.

    Without the scale its product with a column is `_product`, and its diagonal `_own`.
    """

    dtype = np.dtype(np.float64)
    scale: NDArray[np.floating] | None

    def __matmul__(self, other: NDArray[np.floating]) -> NDArray[np.float64]:
        other = np.asarray(other, dtype=np.float64)
        if other.ndim == 2:
            return np.column_stack([self @ column for column in other.T])
        if self.scale is None:
            return self._product(other)
        return self._product(other * self.scale) * self.scale

    def diagonal(self) -> NDArray[np.float64]:
        """Affinity of each pixel with itself."""
        return self._own() if self.scale is None else self._own() * self.scale**2

    def rescaled(self, scale: NDArray[np.floating]) -> PixelAffinity:
        """The same with another scale, or this affinity where every scale is one."""
        if np.all(scale == 1):
            return self
        other = copy.copy(self)
        other.scale = scale if self.scale is None else scale * self.scale
        return other

    def _product(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _own(self) -> NDArray[np.float64]:
        raise NotImplementedError


class CellGraph(PixelAffinity):
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

    def __init__(
        self,
        layers: list[tuple[NDArray[np.int64], sparse.csr_array]],
        scale: NDArray[np.floating] | None = None,
    ):
        self.layers = layers
        self.scale = scale
        self.shape = (len(layers[0][0]),) * 2

    def _product(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        out = np.zeros(len(values))
        for cells, links in self.layers:
            out += (links @ np.bincount(cells, values, links.shape[0]))[cells]
        return out

    def _own(self) -> NDArray[np.float64]:
        return sum(links.diagonal()[cells] for cells, links in self.layers)

    def block(self, rows: Any, columns: Any = slice(None)) -> NDArray[np.float64]:
        """A dense block."""
        block = sum(links[cells[rows]][:, cells[columns]].toarray() for cells, links in self.layers)
        return block if self.scale is None else block * self.scale[rows][:, None] * self.scale[columns]

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
        nearest = nearest_cells(centres, n_near, min(_TOGETHER, n_cells))
        starts = np.arange(0, nearest.size + 1, n_near)
        one_way = sparse.csr_array((np.full(nearest.size, 0.5), nearest.ravel(), starts), (n_cells, n_cells))
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


_CELLS_PER_SIGMA = 2.0
_MOST_CELLS = 8_000_000
_REACH = 5.0


class BilateralGaussian(PixelAffinity):
    """Gaussian affinity through a grid.

    Parameters
    ----------
    interpolation : CSR array of shape (n_points, n_cells)
        Weights of the grid cells at each point.
    grid : tuple of int
        Number of cells along each feature.
    scale : ndarray of shape (n_points,), optional
        The affinity is multiplied by ``scale[p] * scale[q]``.

    Examples
    --------
    >>> import numpy as np
    >>> affinity = bilateral_gaussian(np.array([[0.0], [1.0]]), bandwidth=1.0)
    >>> (affinity @ np.eye(2)).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    def __init__(
        self, interpolation: sparse.csr_array, grid: tuple[int, ...], scale: NDArray[np.floating] | None = None
    ):
        self.interpolation = interpolation
        self.grid = grid
        self.scale = scale
        self.shape = (interpolation.shape[0],) * 2

    def _product(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        cells = (self.interpolation.T @ values).reshape(self.grid)
        return self.interpolation @ _blur(cells).ravel()

    def _own(self) -> NDArray[np.float64]:
        # What the corners of the cell of a point give each other.
        corners = np.array(list(itertools.product((0, 1), repeat=len(self.grid))))
        # One axis is enough: the blur of a grid is the product of the blurs of its axes.
        reach = _blur(np.eye(1, 64, 32)[0])[32:34]
        shared = np.prod(reach[np.abs(corners[:, None] - corners)], axis=2)
        weights = self.interpolation.data.reshape(-1, len(corners))
        return np.einsum("pa,ab,pb->p", weights, shared, weights)

    def block(self, rows: Any, columns: Any = slice(None)) -> NDArray[np.float64]:
        """A dense block, by one product for each point of its shorter side."""
        points = np.arange(self.shape[0])
        left, right = points[rows], points[columns]
        short, long = (left, right) if len(left) <= len(right) else (right, left)
        units = np.zeros((self.shape[0], len(short)))
        units[short, np.arange(len(short))] = 1
        block = (self @ units)[long]
        return block.T if short is left else block

    def submatrix(self, points: NDArray[np.intp]) -> BilateralGaussian:
        """The same grid seen from some of the points."""
        scale = None if self.scale is None else self.scale[points]
        return BilateralGaussian(self.interpolation[points], self.grid, scale)


def bilateral_gaussian(
    features: NDArray[np.floating], bandwidth: float | str | ArrayLike = "scott"
) -> BilateralGaussian:
    """The Gaussian kernel (eq. 1) of many points of few features.

    Parameters
    ----------
    features : ndarray of shape (n_points, n_features)
    bandwidth : float, array or {"scott", "silverman", "median"}
        As in :class:`evencut.kernels.Gaussian`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> dense = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    >>> bool(np.abs(bilateral_gaussian(X, 1.0) @ np.ones(50) / dense.sum(axis=1) - 1).max() < 0.02)
    True
    """
    points, _ = whiten(features, bandwidth)
    cells = (points - points.min(axis=0)) * _CELLS_PER_SIGMA
    grid = tuple(int(top) + 2 for top in cells.max(axis=0))
    if np.prod(grid, dtype=float) > _MOST_CELLS:
        raise ValueError(
            f"a Gaussian kernel of this bandwidth needs a grid of {'x'.join(map(str, grid))} cells over the "
            f"{len(grid)} features, more than {_MOST_CELLS}; use a larger bandwidth, fewer features or kernel='knn'."
        )
    return BilateralGaussian(_linear_interpolation(cells, grid), grid)


def _blur(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Gaussian of unit height on the grid."""
    # Reading and writing by linear interpolation each blur by a sixth of a squared cell.
    sigma = np.sqrt(_CELLS_PER_SIGMA**2 - 1 / 3)
    peak = (np.sqrt(2 * np.pi) * _CELLS_PER_SIGMA) ** cells.ndim
    return peak * gaussian_filter(cells, sigma, mode="constant", truncate=_REACH)


def _linear_interpolation(cells: NDArray[np.float64], grid: tuple[int, ...]) -> sparse.csr_array:
    """Weights of the 2^N corners around each point."""
    n_points, n_features = cells.shape
    lower = cells.astype(np.int64)
    fraction = cells - lower
    columns, weights = [], []
    for corner in itertools.product((0, 1), repeat=n_features):
        columns.append(np.ravel_multi_index(tuple((lower + corner).T), grid))
        weights.append(np.prod(np.where(corner, fraction, 1 - fraction), axis=1))
    starts = np.arange(0, n_points * len(columns) + 1, len(columns))
    parts = (np.column_stack(weights).ravel(), np.column_stack(columns).astype(np.int32).ravel(), starts)
    return sparse.csr_array(parts, shape=(n_points, int(np.prod(grid))))


_MOST_DENSE = 12_000
_EVEN_TO = 1e-6


def pixel_affinity(features: NDArray[np.floating], kernel: Any, random_state: np.random.Generator) -> AffinityLike:
    """Affinity of the pixels, sparse or lazy.

    Parameters
    ----------
    features : ndarray of shape (n_pixels, n_features)
    kernel : {"knn", "gaussian"}, CellKNN or a kernel of `evencut.kernels`
        `"knn"` links cells of pixels of like colour (:class:`CellKNN`). `"gaussian"` goes through a grid over
        feature space, at Scott's rule; a `Gaussian` object does the same at its own bandwidth.
    random_state : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> pixel_affinity(rng.normal(size=(30, 3)), "knn", rng).shape
    (30, 30)
    """
    if kernel == "knn":
        kernel = CellKNN()
    if isinstance(kernel, CellKNN):
        return kernel.affinity(features, random_state)
    # The other kernels bring scikit-learn along, which takes longer to load than a photo to cut.
    from ..kernels import KNN, Gaussian

    if isinstance(kernel, str):
        if kernel != "gaussian":
            raise ValueError(f"kernel={kernel!r} is not known; choose 'gaussian', 'knn' or give an object.")
        kernel = Gaussian()
    if isinstance(kernel, Gaussian):
        return bilateral_gaussian(features, kernel.bandwidth)
    if not hasattr(kernel, "affinity"):
        raise ValueError(f"kernel={kernel!r} is not a kernel; choose 'knn', 'gaussian' or one of evencut.kernels.")
    if len(features) > _MOST_DENSE and not isinstance(kernel, KNN):
        raise ValueError(
            f"kernel={kernel!r} fills a matrix of {len(features)} by {len(features)} pixels, more than {_MOST_DENSE} "
            "a side; shrink the image or use kernel='knn' or 'gaussian'."
        )
    return kernel.affinity(np.asarray(features, dtype=np.float64))


def pose_term(affinity: AffinityLike, criterion: str, equalize: str | None, surcharge: tuple[float, ...]) -> Term:
    """The criterion to minimise, on the affinity as it is or equalised.

    Parameters
    ----------
    affinity : Affinity
    criterion : str
        `"entropy"`, or a name in :data:`evencut.criteria.CRITERIA`.
    equalize : {None, "weights", "exact"}
        Adaptive weights (eq. 43) or exactly equal degrees.
    surcharge : tuple of float
        What a pixel of each label pays in the entropy criterion.

    Examples
    --------
    >>> import numpy as np
    >>> term = pose_term(np.ones((4, 4)), "normalized_cut", None, (0.0, 0.0))
    >>> term.at(np.array([0, 0, 1, 1]), 2).energy
    -1.0
    """
    if criterion != "entropy" and criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {('entropy', *CRITERIA)}.")
    if equalize not in EQUALIZATIONS:
        raise ValueError(f"equalize={equalize!r} is not known; choose None, 'weights' or 'exact'.")
    if criterion != "entropy":
        ones = np.ones(affinity.shape[0])
        return RatioTerm(pose(affinity, ones, criterion, equalize, tol=_EVEN_TO).problem)
    if equalize == "weights":
        raise ValueError("equalize='weights' has no meaning for criterion='entropy'; use 'exact' or None.")
    return EntropyTerm(even_out(affinity, tol=_EVEN_TO) if equalize == "exact" else affinity, surcharge)
