"""From one size to the next: the contour is decided anew in a narrow band of the larger image, tile by tile.

Only the tiles that the contour runs through are looked at, so the work grows with its length and not with the area.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from .grid import Labels, Mask, Slices, grown, scaled, window_of
from .images import enlarge
from .moves import GridLabeler

__all__ = ["enlarge_part", "sharpen_band"]

_TILE = 96


def sharpen_band(
    image: NDArray[np.floating],
    labels: Labels,
    costs: NDArray[np.floating],
    known: Labels,
    *,
    radius: int,
    weigh: Callable[[NDArray[np.floating]], NDArray[np.floating]],
    drawn: Labels | None = None,
    redraw: Mask | None = None,
) -> Labels:
    """Labels at the size of `image`, from those at half the size.

    Parameters
    ----------
    image : ndarray of shape (height, width, n_channels)
    labels : ndarray of shape (height / 2, width / 2)
    costs : ndarray of shape (height / f, width / f, n_labels)
        Costs of the labels at a size f times smaller, f a power of two.
    known : ndarray of shape (height, width)
        Labels that must be kept, -1 elsewhere.
    radius : int
        Half the width of the band, in pixels of half the size.
    weigh : callable
        Boundary weights of a part of the image.
    drawn : ndarray of shape (height, width), optional
        An earlier answer at this size, kept outside `redraw`.
    redraw : ndarray of bool of the shape of the costs, optional

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((4, 8, 1))
    >>> half = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> costs = np.stack([half, 1 - half], axis=2) - 0.5
    >>> free = np.full((4, 8), -1)
    >>> sharpen_band(image, half, costs, free, radius=1, weigh=lambda part: np.zeros((*part.shape[:2], 8)))[0]
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    height, width = image.shape[:2]
    factor = 1
    while factor * costs.shape[0] < height or factor * costs.shape[1] < width:
        factor *= 2
    may_move = np.ones(costs.shape[:2], dtype=bool) if redraw is None else redraw
    fine = _begin(labels, known, drawn, may_move, factor)
    for half in _tiles(labels, radius):
        tile = scaled(half, 2)
        if not may_move[_covering(tile, factor)].any():
            continue
        undecided = _band(labels, half, radius, known[tile].shape) & (known[tile] < 0)
        undecided &= _enlarged(may_move, factor, tile, undecided.shape)
        if not undecided.any():
            continue
        rows, columns = window_of(undecided)
        inner = (
            slice(tile[0].start + rows.start, tile[0].start + rows.stop),
            slice(tile[1].start + columns.start, tile[1].start + columns.stop),
        )
        # One pixel more on every side: the labels around the tile hold its contour in place.
        view = grown(inner, 1)
        pinned = fine[view].copy()
        top, left = inner[0].start - view[0].start, inner[1].start - view[1].start
        part = undecided[rows, columns]
        pinned[top : top + part.shape[0], left : left + part.shape[1]][part] = -1
        labeler = GridLabeler(weigh(image[view]), pinned, costs.shape[2])
        shape = pinned.shape
        fine[view] = labeler.improve(enlarge_part(costs, factor, view, (shape[0], shape[1])), fine[view])
    return fine


def enlarge_part(
    values: NDArray[np.floating], factor: int, window: Slices, shape: tuple[int, int]
) -> NDArray[np.floating]:
    """A window of the values enlarged by linear interpolation, as rows of shape (n_pixels, n_values).

    Parameters
    ----------
    values : ndarray of shape (height, width, n_values)
    factor : int
    window : tuple of slice
        In pixels of the enlarged size; of `shape` where it is cut off by the end of the image.
    shape : tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> enlarge_part(np.array([[[0.0], [4.0]]]), 2, (slice(0, 1), slice(0, 4)), (1, 4)).ravel()
    array([0., 1., 3., 4.])
    """
    for axis, (part, length) in enumerate(zip(window, shape)):
        place = (np.arange(part.start, part.start + length) + 0.5) / factor - 0.5
        before = np.floor(place).astype(np.intp)
        near = (place - before).astype(values.dtype)
        near = near[:, None, None] if axis == 0 else near[None, :, None]
        first, second = (np.clip(index, 0, values.shape[axis] - 1) for index in (before, before + 1))
        values = (1 - near) * values.take(first, axis=axis) + near * values.take(second, axis=axis)
    return values.reshape(-1, values.shape[2])


def _begin(labels: Labels, known: Labels, drawn: Labels | None, may_move: Mask, factor: int) -> Labels:
    """The labels of half the size enlarged where they may move, what was drawn elsewhere, what is known everywhere."""
    height, width = known.shape
    if drawn is None:
        fine = enlarge(labels, (height, width)).astype(known.dtype)
        np.copyto(fine, known, where=known >= 0)
        return fine
    fine = drawn.copy()
    window = scaled(window_of(may_move), factor)
    part, shape = fine[window], fine[window].shape
    half = enlarge(labels[scaled(window_of(may_move), factor // 2)], (shape[0], shape[1]))
    np.copyto(part, half, where=_enlarged(may_move, factor, window, shape), casting="same_kind")
    np.copyto(part, known[window], where=known[window] >= 0)
    return fine


def _enlarged(region: Mask, factor: int, window: Slices, shape: tuple[int, ...]) -> Mask:
    """A window of the region at the larger size."""
    rows, columns = (
        np.arange(part.start, part.start + length) // factor for part, length in zip(window, shape)
    )
    return region[rows[:, None], columns]


def _covering(window: Slices, factor: int) -> Slices:
    """The window, at a size so many times smaller, that covers all of it."""
    rows, columns = (slice(part.start // factor, -(-part.stop // factor)) for part in window)
    return rows, columns


def _band(labels: Labels, half: Slices, radius: int, shape: tuple[int, ...]) -> Mask:
    """Where the contour is near in a tile of half the size, at the full size of that tile."""
    around = grown(half, radius)
    size = 2 * radius + 1
    near = maximum_filter(labels[around], size) != minimum_filter(labels[around], size)
    top, left = half[0].start - around[0].start, half[1].start - around[1].start
    near = near[top : top + half[0].stop - half[0].start, left : left + half[1].stop - half[1].start]
    return enlarge(near, (shape[0], shape[1]))


def _tiles(labels: Labels, radius: int) -> Iterator[Slices]:
    """Tiles of half the size in which the contour is near."""
    edge = np.zeros(labels.shape, dtype=bool)
    edge[1:] |= labels[1:] != labels[:-1]
    edge[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    rows, columns = np.nonzero(edge)
    n_across = labels.shape[1] // _TILE + 1
    numbers = [
        np.clip(rows + dy, 0, labels.shape[0] - 1) // _TILE * n_across
        + np.clip(columns + dx, 0, labels.shape[1] - 1) // _TILE
        for dy in (-radius - 1, radius)
        for dx in (-radius - 1, radius)
    ]
    for number in np.unique(np.concatenate(numbers)):
        top, left = _TILE * int(number // n_across), _TILE * int(number % n_across)
        yield slice(top, min(top + _TILE, labels.shape[0])), slice(left, min(left + _TILE, labels.shape[1]))
