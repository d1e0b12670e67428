"""What a user says of an image: boxes, clicks, strokes and first guesses, checked.

A click fixes a small disc of like colour. Beyond it, it is evidence that fades with the geodesic distance: strong on
even ground around the click, nothing behind a contour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._runtime import warn_user
from .grid import Labels, Mask, Shape, Slices, Steps, halve

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
    rounded = tuple(int(value) for value in np.rint(numbers))
    first, last, sides = rounded[:n_axes], rounded[n_axes:], shape[::-1]
    size = " by ".join(map(str, sides))
    if any(begin >= end for begin, end in zip(first, last)):
        needs = " and ".join(f"{axis}0 < {axis}1" for axis in "xyz"[:n_axes])
        raise ValueError(f"box={rounded} is empty; it must have {needs}.")
    first = tuple(max(begin, 0) for begin in first)
    last = tuple(min(end, side) for end, side in zip(last, sides))
    if any(begin >= end for begin, end in zip(first, last)):
        raise ValueError(f"box={rounded} lies outside the image of {size} pixels.")
    if first + last != rounded:
        warn_user(f"box={rounded} is clipped to the image: {first + last}.")
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
    largest_share = np.zeros(coarse.shape, dtype=np.float32)
    for label in range(n_labels):
        marked = strokes == label
        if marked.any():
            share = halve(marked, steps)
            wins = share > largest_share
            coarse[wins], largest_share[wins] = label, share[wins]
    if outside is not None:
        coarse[(coarse < 0) & (halve(outside, steps) >= 0.5)] = 0
    return coarse


_RADIUS = 5
_OBJECT, _BACKGROUND = "object", "background"


class Click(NamedTuple):
    """One click: row and column (in volumes slice, row and column), and what is there."""

    at: tuple[int, ...]
    is_object: bool

    @property
    def code(self) -> int:
        """1 for the object, 0 for the background."""
        return int(self.is_object)

    @property
    def place(self) -> str:
        """Where it is, as the user says it: x first."""
        return f"({', '.join(map(str, reversed(self.at)))})"


def check_clicks(clicks: Iterable[Any], shape: Shape) -> tuple[Click, ...]:
    """Clicks (x, y, "object" or "background") as checked points of the image; in volumes (x, y, z, ...).

    Examples
    --------
    >>> check_clicks([(3, 1, "object")], (5, 5))
    (Click(at=(1, 3), is_object=True),)
    """
    axes = ", ".join("xyz"[: len(shape)])
    checked = []
    for click in clicks:
        try:
            *place, kind = click
            numbers = [float(number) for number in place]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != len(shape):
            raise ValueError(f"click {click!r} must be ({axes}, 'object') or ({axes}, 'background').")
        if kind not in (_OBJECT, _BACKGROUND):
            raise ValueError(f"click {click!r} is called {kind!r}; call it 'object' or 'background'.")
        if not (np.isfinite(numbers).all() and all(0 <= at < size for at, size in zip(reversed(numbers), shape))):
            size = " by ".join(str(length) for length in reversed(shape))
            text = ", ".join(str(number) for number in place)
            raise ValueError(f"click ({text}) lies outside the image of {size} pixels.")
        checked.append(Click(tuple(int(at) for at in reversed(numbers)), kind == _OBJECT))
    if not checked:
        raise ValueError(f"clicks are empty; give at least one ({axes}, 'object').")
    kinds: dict[tuple[int, ...], bool] = {}
    for one in checked:
        if kinds.setdefault(one.at, one.is_object) != one.is_object:
            raise ValueError(
                f"the pixel {one.place} is clicked as object and as background; keep one of these clicks."
            )
    return tuple(checked)


def pin_radius(shape: Shape, largest: float = np.inf) -> float:
    """The radius of the ball that a click fixes: 5, less in small images; at most about `largest`, but its neighbours.

    Examples
    --------
    >>> pin_radius((300, 400)), pin_radius((300, 400), 2.5), pin_radius((60, 60))
    (5, 2.5, 0)
    """
    return min(_RADIUS, int(np.hypot.reduce(shape) / 100), max(1.0, largest))


def window_around(click: Click, reach: float, shape: Shape, spacing: tuple[float, ...]) -> Slices:
    """The part of the grid within `reach` of a click along every axis.

    Examples
    --------
    >>> window_around(Click((5, 1), True), 2.0, (9, 9), (2.0, 1.0))
    (slice(4, 7, None), slice(0, 4, None))
    """
    return tuple(
        slice(max(0, at - int(reach / side)), min(size, at + int(reach / side) + 1))
        for at, size, side in zip(click.at, shape, spacing)
    )


def squared_distances(
    window: Slices, centre: Sequence[float] | NDArray[Any], spacing: tuple[float, ...]
) -> NDArray[np.float64]:
    """From a point to every pixel of a window.

    Examples
    --------
    >>> squared_distances((slice(0, 2), slice(1, 3)), (0, 1), (2.0, 1.0))
    array([[0., 1.],
           [4., 5.]])
    """
    along = [((np.arange(span.start, span.stop) - at) * side) ** 2 for span, at, side in zip(window, centre, spacing)]
    return np.asarray(reduce(np.add.outer, along), dtype=np.float64)


def footprint(
    click: Click, shape: Shape, spacing: tuple[float, ...] | None = None, radius: float | None = None
) -> tuple[Slices, Mask]:
    """The ball that a click fixes, as a window of the image and a region of it; by default of :func:`pin_radius`.

    Examples
    --------
    >>> footprint(Click((20, 20), True), (60, 60))
    ((slice(20, 21, None), slice(20, 21, None)), array([[ True]]))
    """
    radius = pin_radius(shape) if radius is None else radius
    spacing = spacing or (1.0,) * len(shape)
    window = window_around(click, radius, shape, spacing)
    return window, squared_distances(window, click.at, spacing) <= radius**2


def seeds_of(clicks: Iterable[Click], shape: Shape, factor: Steps) -> NDArray[np.bool_]:
    """The pixels clicked, in an image `factor` times smaller.

    Examples
    --------
    >>> seeds_of([Click((0, 3), True)], (1, 2), (2, 2))
    array([[False,  True]])
    """
    seeds = np.zeros(shape, dtype=bool)
    for click in clicks:
        seeds[tuple(min(at // times, size - 1) for at, times, size in zip(click.at, factor, shape))] = True
    return seeds
