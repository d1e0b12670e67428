"""Does the object fill its box? People draw boxes around objects, so an object far from a side was probably missed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label as connected_parts

from .grid import Slices

__all__ = ["largest_gap"]

_SPECK = 0.05


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
