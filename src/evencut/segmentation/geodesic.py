"""How far a pixel is from the clicks on the way of least change: over even ground near, across contours far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from .features import even_channels
from .grid import lengths
from .rows import rows_beside

_PASSES = 6
_SMOOTHING = 0.7
_UNIT = 10.0
_DEVIATION = 1.5
_ROUGH = 0.2


def terrain(channels: NDArray[np.floating]) -> NDArray[np.float64]:
    """The ground that ways are measured on: smoothed LAB in units of ten; other channels at a like deviation.

    In photos that are rough all over, by texture or noise, every step would count as a contour: there the unit is
    five times the median difference of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> terrain(np.full((2, 2, 3), 50.0))[0, 0].tolist()
    [5.0, 5.0, 5.0]
    >>> rough = np.random.default_rng(0).normal(50, 20, size=(9, 9, 3))
    >>> bool(np.allclose(terrain(rough), terrain(2 * rough)))
    True
    """
    ground = channels / _UNIT if channels.shape[-1] == 3 else _DEVIATION * even_channels(channels)
    smooth = [gaussian_filter(ground[..., c].astype(np.float64), _SMOOTHING) for c in range(ground.shape[-1])]
    even = np.stack(smooth, axis=-1)
    if even.shape[-2] < 2:
        return even
    roughness = float(np.median(np.linalg.norm(np.diff(even, axis=-2), axis=-1)))
    return even / max(1.0, roughness / _ROUGH)


def geodesic_distance(
    ground: NDArray[np.float64],
    seeds: NDArray[np.bool_],
    *,
    step: float,
    spacing: tuple[float, ...] | None = None,
) -> NDArray[np.float64]:
    r"""Length of the shortest way to a seed: colour differences along it, and `step` for each pixel.

    .. math:: g(p) = \min_{\pi: p \to \text{seeds}} \sum_{qr \in \pi} |I_q - I_r| + s\, |q - r|

    Parameters
    ----------
    ground : ndarray of shape (..., n_channels)
        As :func:`terrain` makes it.
    seeds : ndarray of bool, without the axis of channels
    step : float
    spacing : tuple of float, optional
        Length of a voxel along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.0, 3.0, 3.0]])[..., None]
    >>> geodesic_distance(row, np.array([[True, False, False, False]]), step=0.5)
    array([[0. , 0.5, 4. , 4.5]])
    """
    from ._raster_loops import geodesic_scan

    shape = seeds.shape
    before, after = rows_beside(shape)
    # One length for each way to come: from the rows before, to the left, straight or to the right; along a row.
    away = lengths(spacing or (1.0,) * len(shape))[: 3 * before.shape[1] + 1]
    rows = ground.reshape(-1, *ground.shape[-2:])
    return geodesic_scan(rows, seeds.reshape(rows.shape[:2]), before, after, step * away, _PASSES).reshape(shape)
