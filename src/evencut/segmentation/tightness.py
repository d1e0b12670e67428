"""What a box says beyond its outside: the object reaches near its sides, lies in its middle and not in its corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label as connected_parts

from .grid import Slices

__all__ = ["largest_gap", "off_centre"]

_SPECK = 0.05
_MIDDLE = 0.6


def largest_gap(mask: NDArray[np.bool_], box: Slices) -> float:
    """Largest distance of the object from a side of the box, as a share of the box's width or height.

    Parts smaller than a twentieth of the largest part do not count.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((10, 10), dtype=bool)
    >>> mask[2:8, 1:9] = True
    >>> largest_gap(mask, (slice(0, 8), slice(1, 9)))
    0.25
    """
    parts, _ = connected_parts(mask[box])
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    if not sizes.any():
        return 1.0
    object_ = (sizes >= _SPECK * sizes.max())[parts] & (parts > 0)
    gaps = []
    for axis in (0, 1):
        filled = np.flatnonzero(object_.any(axis=1 - axis))
        size = object_.shape[axis]
        gaps += [filled[0] / size, (size - 1 - filled[-1]) / size]
    return float(max(gaps))


def off_centre(box: tuple[float, float, float, float], shape: tuple[int, int]) -> NDArray[np.float64]:
    r"""How far pixels are from the centre of the box, :math:`u^2 + v^2 - 0.6` with u and v from -1 to 1 in the box.

    Zero is about where an ellipse in the box would end; at most 1.4, which is reached in the corners.

    Parameters
    ----------
    box : tuple of float
        x0, y0, x1, y1.
    shape : tuple of int
        Height and width.

    Examples
    --------
    >>> off_centre((0, 0, 3, 1), (1, 3)).round(2)
    array([[-0.16, -0.6 , -0.16]])
    """
    x0, y0, x1, y1 = box
    u = (np.arange(shape[1]) + 0.5 - (x0 + x1) / 2) / ((x1 - x0) / 2)
    v = (np.arange(shape[0]) + 0.5 - (y0 + y1) / 2) / ((y1 - y0) / 2)
    return np.minimum(u**2 + (v**2)[:, None], 2.0) - _MIDDLE
