"""From one size to the next: the contour is decided anew in a narrow band of the larger image, tile by tile.

Only the tiles that the contour runs through are looked at, so the work grows with its length and not with the area.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from .grid import Labels, Mask, Shape, Slices, Steps, grown, scaled, window_of
from .images import enlarge
from .moves import GridLabeler

#: Side of a tile, in a plane and in space.
_TILE = {2: 96, 3: 24}


def sharpen_band(
    image: NDArray[np.floating],
    labels: Labels,
    costs: NDArray[np.floating],
    known: Labels,
    *,
    step: Steps,
    factor: Steps,
    radius: int,
    weigh: Callable[[NDArray[np.floating]], NDArray[np.floating]],
    drawn: Labels | None = None,
    redraw: Mask | None = None,
) -> Labels:
    """Labels at the size of `image`, from those at half the size.

    Parameters
    ----------
    image : ndarray of shape (..., n_channels)
    labels : ndarray of half the size
    costs : ndarray of shape (..., n_labels)
        Costs of the labels at a smaller size still, or the same.
    known : ndarray of the size of the image
        Labels that must be kept, -1 elsewhere.
    step : tuple of int
        How many times smaller the labels are than the image, along each axis.
    factor : tuple of int
        How many times smaller the costs are.
    radius : int
        Half the width of the band, in pixels of half the size.
    weigh : callable
        Boundary weights of a part of the image.
    drawn : ndarray of the size of the image, optional
        An earlier answer at this size, kept outside `redraw`.
    redraw : ndarray of bool of the shape of the costs, optional

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((4, 8, 1))
    >>> half = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> costs = np.stack([half, 1 - half], axis=2) - 0.5
    >>> free, even = np.full((4, 8), -1), {"step": (2, 2), "factor": (2, 2)}
    >>> sharpen_band(image, half, costs, free, **even, radius=1, weigh=lambda part: np.zeros((*part.shape[:2], 8)))[0]
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    may_move = np.ones(costs.shape[:-1], dtype=bool) if redraw is None else redraw
    fine = _begin(labels, known, drawn, may_move, step, factor)
    for half in _tiles(labels, radius):
        tile = scaled(half, step)
        if not may_move[_covering(tile, factor)].any():
            continue
        undecided = _band(labels, half, radius, known[tile].shape, step) & (known[tile] < 0)
        undecided &= _enlarged(may_move, factor, tile, undecided.shape)
        if not undecided.any():
            continue
        window = window_of(undecided)
        inner = _moved(window, tile)
        # One pixel more on every side: the labels around the tile hold its contour in place.
        view = grown(inner, 1)
        pinned = fine[view].copy()
        part = undecided[window]
        within = tuple(
            slice(i.start - v.start, i.start - v.start + size) for i, v, size in zip(inner, view, part.shape)
        )
        pinned[within][part] = -1
        labeler = GridLabeler(weigh(image[view]), pinned, costs.shape[-1])
        fine[view] = labeler.improve(enlarge_part(costs, factor, view, pinned.shape), fine[view])
    return fine


def enlarge_part(
    values: NDArray[np.floating], factor: Steps, window: Slices, shape: Shape
) -> NDArray[np.floating]:
    """A window of the values enlarged by linear interpolation, as rows of shape (n_pixels, n_values).

    Parameters
    ----------
    values : ndarray of shape (..., n_values)
    factor : tuple of int
    window : tuple of slice
        In pixels of the enlarged size; of `shape` where it is cut off by the end of the image.
    shape : tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> enlarge_part(np.array([[[0.0], [4.0]]]), (2, 2), (slice(0, 1), slice(0, 4)), (1, 4)).ravel()
    array([0., 1., 3., 4.])
    """
    for axis, (part, size, times) in enumerate(zip(window, shape, factor)):
        place = (np.arange(part.start, part.start + size) + 0.5) / times - 0.5
        before = np.floor(place).astype(np.intp)
        near = (place - before).astype(values.dtype).reshape(-1, *(1,) * (len(shape) - axis))
        first, second = (np.clip(index, 0, values.shape[axis] - 1) for index in (before, before + 1))
        values = (1 - near) * values.take(first, axis=axis) + near * values.take(second, axis=axis)
    return values.reshape(-1, values.shape[-1])


def _moved(window: Slices, by: Slices) -> Slices:
    """A window of a part, in the whole."""
    return tuple(slice(part.start + other.start, part.stop + other.start) for part, other in zip(window, by))


def _begin(
    labels: Labels, known: Labels, drawn: Labels | None, may_move: Mask, step: Steps, factor: Steps
) -> Labels:
    """The labels of half the size enlarged where they may move, what was drawn elsewhere, what is known everywhere."""
    if drawn is None:
        fine = enlarge(labels, known.shape, step).astype(known.dtype)
        np.copyto(fine, known, where=known >= 0)
        return fine
    fine = drawn.copy()
    window = scaled(window_of(may_move), factor)
    part, shape = fine[window], fine[window].shape
    between = tuple(times // along for times, along in zip(factor, step))
    half = enlarge(labels[scaled(window_of(may_move), between)], shape, step)
    np.copyto(part, half, where=_enlarged(may_move, factor, window, shape), casting="same_kind")
    np.copyto(part, known[window], where=known[window] >= 0)
    return fine


def _enlarged(region: Mask, factor: Steps, window: Slices, shape: Shape) -> Mask:
    """A window of the region at the larger size."""
    places = (
        np.arange(part.start, part.start + size) // times for part, size, times in zip(window, shape, factor)
    )
    return region[np.ix_(*places)]


def _covering(window: Slices, factor: Steps) -> Slices:
    """The window, at a size so many times smaller, that covers all of it."""
    return tuple(slice(part.start // times, -(-part.stop // times)) for part, times in zip(window, factor))


def _band(labels: Labels, half: Slices, radius: int, shape: Shape, step: Steps) -> Mask:
    """Where the contour is near in a tile of half the size, at the full size of that tile."""
    around = grown(half, radius)
    size = 2 * radius + 1
    near = maximum_filter(labels[around], size) != minimum_filter(labels[around], size)
    inner = tuple(slice(h.start - a.start, h.stop - a.start) for h, a in zip(half, around))
    return enlarge(near[inner], shape, step)


def _tiles(labels: Labels, radius: int) -> Iterator[Slices]:
    """Tiles of half the size in which the contour is near."""
    side = _TILE[labels.ndim]
    edge = np.zeros(labels.shape, dtype=bool)
    for axis in range(labels.ndim):
        along, edges = np.moveaxis(labels, axis, 0), np.moveaxis(edge, axis, 0)
        edges[1:] |= along[1:] != along[:-1]
    places = np.stack(np.nonzero(edge))
    n_tiles = tuple(size // side + 1 for size in labels.shape)
    numbers = []
    for moves in itertools.product((-radius - 1, radius), repeat=labels.ndim):
        beside = (np.clip(at + move, 0, size - 1) // side for at, move, size in zip(places, moves, labels.shape))
        numbers.append(np.unique(np.ravel_multi_index(tuple(beside), n_tiles)))
    for place in zip(*np.unravel_index(np.unique(np.concatenate(numbers)), n_tiles)):
        yield tuple(slice(side * int(at), min(side * int(at) + side, size)) for at, size in zip(place, labels.shape))
