r"""A Gaussian kernel on all pixels that never looks at pairs: values go on a grid over feature space and are blurred.

.. math:: A \approx W B W', \qquad A_{pq} = e^{-|f_p - f_q|^2 / 2}

with W the linear interpolation of the grid and B a Gaussian blur (a "bilateral grid"); symmetric by construction.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.ndimage import gaussian_filter

from ..affinity import Affinity, whiten

__all__ = ["BilateralGaussian", "bilateral_gaussian"]

_CELLS_PER_SIGMA = 2.0
_MOST_CELLS = 8_000_000
_REACH = 5.0


class BilateralGaussian(Affinity):
    """Gaussian affinity through a grid; supports products and rescaling.

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
        # Reading and writing by linear interpolation each blur by a sixth of a squared cell.
        sigma = np.sqrt(_CELLS_PER_SIGMA**2 - 1 / 3)
        blurred = gaussian_filter(cells, sigma, mode="constant", truncate=_REACH)
        peak = (np.sqrt(2 * np.pi) * _CELLS_PER_SIGMA) ** len(self.grid)
        out = self.interpolation @ (peak * blurred.ravel())
        return out if self.scale is None else out * self.scale

    def rescaled(self, scale: NDArray[np.floating]) -> BilateralGaussian:
        """The affinity multiplied by ``scale[p] * scale[q]``."""
        return BilateralGaussian(self.interpolation, self.grid, scale if self.scale is None else scale * self.scale)


def bilateral_gaussian(
    features: NDArray[np.floating], bandwidth: float | str | ArrayLike = "scott"
) -> BilateralGaussian:
    """The Gaussian kernel (eq. gauss_k) of many points of few features.

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
