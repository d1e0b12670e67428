"""From one size to the next: the contour is decided anew in a narrow band of the larger image."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from .grid import Slices, window_of
from .images import enlarge
from .moves import GridLabeler

__all__ = ["enlarge_smoothly", "sharpen_band"]

_TILE = 1024


def sharpen_band(
    image: NDArray[np.floating],
    labels: NDArray[np.int64],
    costs: NDArray[np.floating],
    known: NDArray[np.int64],
    *,
    radius: int,
    weigh: Callable[[NDArray[np.floating]], NDArray[np.floating]],
    maxflow: str = "grid",
) -> tuple[NDArray[np.int64], NDArray[np.floating]]:
    """Labels and costs at the size of `image`, from those at half the size.

    Parameters
    ----------
    image : ndarray of shape (height, width, n_channels)
    labels : ndarray of shape (height / 2, width / 2)
    costs : ndarray of shape (height / 2, width / 2, n_labels)
        Costs of the labels at half the size.
    known : ndarray of shape (height, width)
        Labels that must be kept, -1 elsewhere.
    radius : int
        Half the width of the band, in pixels of half the size.
    weigh : callable
        Boundary weights of a part of the image.
    maxflow : str

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((4, 8, 1))
    >>> half = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> costs = np.stack([half, 1 - half], axis=2) - 0.5
    >>> free = np.full((4, 8), -1)
    >>> fine, _ = sharpen_band(image, half, costs, free, radius=1, weigh=lambda part: np.zeros((*part.shape[:2], 8)))
    >>> fine[0]
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    shape = image.shape[:2]
    size = 2 * radius + 1
    near = enlarge(maximum_filter(labels, size) != minimum_filter(labels, size), shape)
    fine = np.where(known < 0, enlarge(labels, shape), known)
    costs = np.stack([enlarge_smoothly(costs[..., k], shape) for k in range(costs.shape[2])], axis=2)
    undecided = near & (known < 0)
    for tile in _tiles(undecided):
        free = np.zeros(shape, dtype=bool)
        free[tile] = undecided[tile]
        # One pixel more on every side: the labels around the tile hold its contour in place.
        view = window_of(free, margin=1)
        pinned = np.where(free[view], -1, fine[view])
        labeler = GridLabeler(weigh(image[view]), pinned, costs.shape[2], maxflow)
        fine[view] = labeler.improve(costs[view].reshape(-1, costs.shape[2]), fine[view])
    return fine, costs


def enlarge_smoothly(values: NDArray[np.floating], shape: tuple[int, int]) -> NDArray[np.floating]:
    """Twice the size by linear interpolation, cut to `shape`.

    Examples
    --------
    >>> import numpy as np
    >>> enlarge_smoothly(np.array([[0.0, 4.0]]), (1, 4))
    array([[0., 1., 3., 4.]])
    """
    for axis in (0, 1):
        first, last = (np.take(values, [index], axis=axis) for index in (0, -1))
        inner = np.delete(values, 0, axis=axis), np.delete(values, -1, axis=axis)
        before = np.concatenate([first, inner[1]], axis=axis)
        after = np.concatenate([inner[0], last], axis=axis)
        pairs = np.stack([0.75 * values + 0.25 * before, 0.75 * values + 0.25 * after], axis=axis + 1)
        doubled = list(values.shape)
        doubled[axis] *= 2
        values = pairs.reshape(doubled)
    return values[: shape[0], : shape[1]]


def _tiles(undecided: NDArray[np.bool_]) -> Iterator[Slices]:
    """Windows that hold all undecided pixels, small enough for a max-flow of bounded memory."""
    if not undecided.any():
        return
    rows, columns = window_of(undecided)
    for top in range(rows.start, rows.stop, _TILE):
        for left in range(columns.start, columns.stop, _TILE):
            tile = (slice(top, min(top + _TILE, rows.stop)), slice(left, min(left + _TILE, columns.stop)))
            if undecided[tile].any():
                yield tile
