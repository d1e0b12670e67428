"""What the user knows: a box, strokes, a first guess; checked, and turned into known labels (-1 where unknown)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._runtime import warn_user
from .grid import Labels, Shape, Steps
from .images import halve

#: The first corner of a box in pixels and the last, x first; the last is not inside.
Box = tuple[int, ...]

_NEARLY_ALL = 0.995


def check_box(box: ArrayLike, shape: Shape) -> Box:
    """The box (x0, y0, x1, y1), half-open, clipped to the image; in volumes (x0, y0, z0, x1, y1, z1).

    A box that covers all, or all but a sliver, leaves no background to learn from; the outermost pixels are then
    taken for background, with a warning if it is all.

    Examples
    --------
    >>> check_box([1, 1, 4, 3], (5, 5))
    (1, 1, 4, 3)
    """
    n_axes = len(shape)
    corners = ", ".join(f"{axis}{end}" for end in (0, 1) for axis in "xyz"[:n_axes])
    numbers = np.asarray(box, dtype=np.float64)
    if numbers.shape != (2 * n_axes,) or not np.isfinite(numbers).all():
        raise ValueError(f"box={box!r} must be {'four' if n_axes == 2 else 'six'} numbers: {corners}.")
    asked = tuple(int(value) for value in np.rint(numbers))
    first, last, sides = asked[:n_axes], asked[n_axes:], shape[::-1]
    size = " by ".join(map(str, sides))
    if any(begin >= end for begin, end in zip(first, last)):
        needs = " and ".join(f"{axis}0 < {axis}1" for axis in "xyz"[:n_axes])
        raise ValueError(f"box={asked} is empty; it must have {needs}.")
    first = tuple(max(begin, 0) for begin in first)
    last = tuple(min(end, side) for end, side in zip(last, sides))
    if any(begin >= end for begin, end in zip(first, last)):
        raise ValueError(f"box={asked} lies outside the image of {size} pixels.")
    if first + last != asked:
        warn_user(f"box={asked} is clipped to the image: {first + last}.")
    covered = np.prod([(end - begin) / side for begin, end, side in zip(first, last, sides)])
    if covered > _NEARLY_ALL and min(shape) >= 3:
        if covered == 1:
            warn_user(
                "box covers the whole image: the outermost pixels are taken for background; draw a tighter box or give "
                "scribbles.",
            )
        return (*(max(1, begin) for begin in first), *(min(side - 1, end) for end, side in zip(last, sides)))
    if covered == 1:
        raise ValueError(f"box={first + last} covers the whole image of {size}: no background is left.")
    return first + last


def outside_of(box: Box, shape: Shape) -> NDArray[np.bool_]:
    """The pixels outside the box.

    Examples
    --------
    >>> outside_of((1, 0, 2, 1), (1, 3))
    array([[ True, False,  True]])
    """
    outside = np.ones(shape, dtype=bool)
    n_axes = len(shape)
    outside[tuple(slice(begin, end) for begin, end in zip(box[n_axes - 1 :: -1], box[: n_axes - 1 : -1]))] = False
    return outside


def check_scribbles(scribbles: ArrayLike, shape: Shape) -> NDArray[np.int64]:
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


def check_mask(mask: ArrayLike, shape: Shape) -> NDArray[np.bool_]:
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


def halve_known(
    known: Labels, n_labels: int, outside: NDArray[np.bool_] | None, steps: Steps = (2, 2)
) -> Labels:
    """Known labels at half the size: strokes are kept however thin; the outside of a box where it fills half.

    Examples
    --------
    >>> import numpy as np
    >>> halve_known(np.array([[-1, 1], [-1, -1]]), 2, None)
    array([[1]])
    """
    strokes = known if outside is None else np.where(outside & (known == 0), known.dtype.type(-1), known)
    coarse = np.full([-(-length // step) for length, step in zip(known.shape, steps)], -1, dtype=known.dtype)
    most = np.zeros(coarse.shape, dtype=np.float32)
    for label in range(n_labels):
        marked = strokes == label
        if marked.any():
            share = halve(marked, steps)
            wins = share > most
            coarse[wins], most[wins] = label, share[wins]
    if outside is not None:
        coarse[(coarse < 0) & (halve(outside, steps) >= 0.5)] = 0
    return coarse
