"""What the user knows: a box, strokes, a first guess; checked, and turned into known labels (-1 where unknown)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..affinity.notices import warn_user
from .grid import Labels
from .images import halve

__all__ = ["Box", "check_box", "check_mask", "check_scribbles", "halve_known", "outside_of"]

#: Left, top, right and bottom of a box in pixels; right and bottom are not inside.
Box = tuple[int, int, int, int]

_NEARLY_ALL = 0.995


def check_box(box: ArrayLike, shape: tuple[int, int]) -> Box:
    """The box (x0, y0, x1, y1), half-open, clipped to the image.

    A box that covers all, or all but a sliver, leaves no background to learn from; the outermost pixels are then
    taken for background, with a warning if it is all.

    Examples
    --------
    >>> check_box([1, 1, 4, 3], (5, 5))
    (1, 1, 4, 3)
    """
    numbers = np.asarray(box, dtype=np.float64)
    if numbers.shape != (4,) or not np.isfinite(numbers).all():
        raise ValueError(f"box={box!r} must be four numbers: x0, y0, x1, y1.")
    x0, y0, x1, y1 = (int(value) for value in np.rint(numbers))
    height, width = shape
    if x0 >= x1 or y0 >= y1:
        raise ValueError(f"box=({x0}, {y0}, {x1}, {y1}) is empty; it must have x0 < x1 and y0 < y1.")
    clipped = (max(x0, 0), max(y0, 0), min(x1, width), min(y1, height))
    if clipped[0] >= clipped[2] or clipped[1] >= clipped[3]:
        raise ValueError(f"box=({x0}, {y0}, {x1}, {y1}) lies outside the image of {width} by {height} pixels.")
    if clipped != (x0, y0, x1, y1):
        warn_user(f"box=({x0}, {y0}, {x1}, {y1}) is clipped to the image: {clipped}.")
    covered = (clipped[2] - clipped[0]) * (clipped[3] - clipped[1]) / (width * height)
    if covered > _NEARLY_ALL and min(height, width) >= 3:
        if covered == 1:
            warn_user(
                "box covers the whole image: the outermost pixels are taken for background; draw a tighter box or give "
                "scribbles.",
            )
        return max(1, clipped[0]), max(1, clipped[1]), min(width - 1, clipped[2]), min(height - 1, clipped[3])
    if covered == 1:
        raise ValueError(f"box={clipped} covers the whole image of {width} by {height}: no background is left.")
    return clipped


def outside_of(box: Box, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """The pixels outside the box.

    Examples
    --------
    >>> outside_of((1, 0, 2, 1), (1, 3))
    array([[ True, False,  True]])
    """
    outside = np.ones(shape, dtype=bool)
    outside[box[1] : box[3], box[0] : box[2]] = False
    return outside


def check_scribbles(scribbles: ArrayLike, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Strokes as an image of labels: zero where nothing was drawn, else the (positive) label.

    Examples
    --------
    >>> check_scribbles([[0, 2]], (1, 2))
    array([[0, 2]])
    """
    strokes = np.asarray(scribbles)
    if strokes.shape != shape:
        raise ValueError(f"scribbles have shape {strokes.shape}; the image has {shape}.")
    if strokes.dtype.kind not in "biu":
        raise ValueError(f"scribbles have values of type {strokes.dtype}; they must be whole numbers, 0 for none.")
    if strokes.size and strokes.min() < 0:
        raise ValueError(f"scribbles contain the label {strokes.min()}; labels are positive, 0 where none is drawn.")
    return strokes.astype(np.int64)


def check_mask(mask: ArrayLike, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """A first guess of the object; anything but zero is object.

    Examples
    --------
    >>> check_mask([[0, 255]], (1, 2))
    array([[False,  True]])
    """
    guess = np.asarray(mask)
    if guess.shape != shape:
        raise ValueError(f"mask has shape {guess.shape}; the image has {shape}.")
    guess = guess != 0
    if guess.all() or not guess.any():
        raise ValueError("mask has one value everywhere; it must show some object and some background.")
    return guess


def halve_known(known: Labels, n_labels: int, outside: NDArray[np.bool_] | None) -> Labels:
    """Known labels at half the size: strokes are kept however thin; the outside of a box where it fills half.

    Examples
    --------
    >>> import numpy as np
    >>> halve_known(np.array([[-1, 1], [-1, -1]]), 2, None)
    array([[1]])
    """
    strokes = known if outside is None else np.where(outside & (known == 0), known.dtype.type(-1), known)
    coarse = np.full([-(-length // 2) for length in known.shape], -1, dtype=known.dtype)
    most = np.zeros(coarse.shape, dtype=np.float32)
    for label in range(n_labels):
        marked = strokes == label
        if marked.any():
            share = halve(marked)
            wins = share > most
            coarse[wins], most[wins] = label, share[wins]
    if outside is not None:
        coarse[(coarse < 0) & (halve(outside) >= 0.5)] = 0
    return coarse
