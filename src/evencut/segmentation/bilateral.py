r"""A Gaussian kernel on all pixels that never looks at pairs: values go on a grid over feature space and are blurred.

.. math:: A \approx W B W', \qquad A_{pq} = e^{-|f_p - f_q|^2 / 2}

with W the linear interpolation of the grid and B a Gaussian blur (a "bilateral grid"); symmetric by construction.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.ndimage import gaussian_filter

from ..affinity import Affinity, whiten

_CELLS_PER_SIGMA = 2.0
_MOST_CELLS = 8_000_000
_REACH = 5.0


class BilateralGaussian(Affinity):
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

    dtype = np.dtype(np.float64)

    def __init__(
        self, interpolation: sparse.csr_array, grid: tuple[int, ...], scale: NDArray[np.floating] | None = None
    ):
        self.interpolation = interpolation
        self.grid = grid
        self.scale = scale
        self.shape = (interpolation.shape[0],) * 2

    def __matmul__(self, other: NDArray[np.floating]) -> NDArray[np.float64]:
        other = np.asarray(other, dtype=np.float64)
        if other.ndim == 2:
            return np.column_stack([self @ column for column in other.T])
        values = other if self.scale is None else other * self.scale
        cells = (self.interpolation.T @ values).reshape(self.grid)
        out = self.interpolation @ _blur(cells).ravel()
        return out if self.scale is None else out * self.scale

    def diagonal(self) -> NDArray[np.float64]:
        """Affinity of each point with itself: what the corners of its cell give each other."""
        corners = np.array(list(itertools.product((0, 1), repeat=len(self.grid))))
        # One axis is enough: the blur of a grid is the product of the blurs of its axes.
        reach = _blur(np.eye(1, 64, 32)[0])[32:34]
        shared = np.prod(reach[np.abs(corners[:, None] - corners)], axis=2)
        weights = self.interpolation.data.reshape(-1, len(corners))
        own = np.einsum("pa,ab,pb->p", weights, shared, weights)
        return own if self.scale is None else own * self.scale**2

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

    def rescaled(self, scale: NDArray[np.floating]) -> BilateralGaussian:
        """The same grid with another scale, or this affinity where every scale is one."""
        if np.all(scale == 1):
            return self
        return BilateralGaussian(self.interpolation, self.grid, scale if self.scale is None else scale * self.scale)


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
