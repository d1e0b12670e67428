"""What a box says beyond its outside: the object reaches near its sides, lies in its middle and not in its corners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label as connected_parts

from .grid import Shape, Slices

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
    for axis, size in enumerate(object_.shape):
        filled = np.flatnonzero(object_.any(axis=tuple(other for other in range(object_.ndim) if other != axis)))
        gaps += [filled[0] / size, (size - 1 - filled[-1]) / size]
    return float(max(gaps))


def off_centre(first: Sequence[float], last: Sequence[float], shape: Shape) -> NDArray[np.float64]:
    r"""How far pixels are from the centre of the box, :math:`u^2 + v^2 - 0.6` with u and v from -1 to 1 in the box.

    Zero is about where an ellipse in the box would end; at most 1.4, which is reached in the corners.

    Parameters
    ----------
    first, last : sequence of float
        Where the box begins and ends along each axis.
    shape : tuple of int

    Examples
    --------
    >>> off_centre((0, 0), (1, 3), (1, 3)).round(2)
    array([[-0.16, -0.6 , -0.16]])
    """
    squared = np.zeros((1,) * len(shape))
    for axis, (begin, end, size) in enumerate(zip(first, last, shape)):
        along = (np.arange(size) + 0.5 - (begin + end) / 2) / ((end - begin) / 2)
        squared = squared + (along**2).reshape(-1, *(1,) * (len(shape) - 1 - axis))
    return np.minimum(squared, 2.0) - _MIDDLE
