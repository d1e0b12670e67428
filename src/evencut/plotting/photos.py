"""A photo with a labelling painted over it, and the colours of its labels; arrays in, arrays out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from ..tensors import AnyInts
from .clusters import PALETTE

__all__ = ["label_colors", "paint_labels"]

_CONTOUR = (255, 230, 0)


def label_colors(n_labels: int) -> NDArray[np.uint8]:
    """Colour of each label, from :data:`PALETTE`; darker each time the palette repeats.

    Examples
    --------
    >>> label_colors(1).tolist()
    [[0, 114, 178]]
    """
    hues = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in PALETTE])
    turn = np.arange(n_labels) // len(PALETTE)
    return (hues[np.arange(n_labels) % len(PALETTE)] * (0.75**turn)[:, None]).astype(np.uint8)


def paint_labels(photo: NDArray[np.uint8], codes: AnyInts, n_labels: int) -> NDArray[np.uint8]:
    """Show the object with a bright contour on a dimmed background, or several labels in colours.

    Parameters
    ----------
    photo : ndarray of shape (height, width, 3)
    codes : ndarray of int of shape (height, width)
        Labels from 0; with two of them, 1 is the object.
    n_labels : int

    Examples
    --------
    >>> import numpy as np
    >>> paint_labels(np.full((1, 4, 3), 200, dtype=np.uint8), np.array([[0, 0, 1, 1]]), 2)[0, :, 0]
    array([ 70, 255, 255, 200], dtype=uint8)
    """
    light = photo.astype(np.float64)
    if n_labels == 2:
        painted = np.where(codes[..., None] == 1, light, 0.35 * light)
    else:
        painted = 0.45 * light + 0.55 * label_colors(n_labels)[codes]
    painted[maximum_filter(codes, 3) != minimum_filter(codes, 3)] = _CONTOUR
    return painted.astype(np.uint8)
