"""The grid of pixels or voxels, each joined to all its neighbours, diagonal ones too: directions, pairs and windows.

Edges live in arrays of shape (..., n_directions), 8 directions in a plane and 26 in space; direction d is undone by
direction ``n_directions - 1 - d``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

#: The label of each pixel, -1 where none is known; 16 bits at full size, where memory counts.
Labels = NDArray[np.integer]

#: A region of an image.
Mask = NDArray[np.bool_]

#: Rows and columns of an image, or slices, rows and columns of a volume.
Shape = tuple[int, ...]

#: A window of the grid, one slice an axis.
Slices = tuple[slice, ...]

#: How many times smaller something is along each axis.
Steps = tuple[int, ...]

_SAMPLES = 20_000


@cache
def directions(n_axes: int) -> tuple[tuple[int, ...], ...]:
    """The step along each axis of every direction.

    Examples
    --------
    >>> directions(2)[4:]
    ((0, 1), (1, -1), (1, 0), (1, 1))
    """
    return tuple(step for step in itertools.product((-1, 0, 1), repeat=n_axes) if any(step))


@cache
def lengths(spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """Length of each direction for voxels of the given size.

    Examples
    --------
    >>> lengths((1.0, 2.0))[[4, 6]]
    array([2., 1.])
    """
    return np.sqrt(((np.array(directions(len(spacing))) * np.array(spacing)) ** 2).sum(axis=1))


@cache
def edge_measures(spacing: tuple[float, ...]) -> NDArray[np.float64]:
    r"""What an edge of each direction adds to the length, or area, of the boundary that cuts it.

    .. math:: w_d = c\, \frac{\Phi_d}{|e_d|}

    with :math:`\Phi_d` the share of all directions that are nearest to d (the formula of Cauchy and Crofton, as Boykov
    and Kolmogorov, 2003, use it) and voxels brought to unit volume. In a plane of square pixels it is the inverse
    length of d; c makes a unit of area in space cost what a unit of length costs there.

    Examples
    --------
    >>> edge_measures((1.0, 1.0)).round(3)[:3]
    array([0.707, 1.   , 0.707])
    """
    n_axes = len(spacing)
    unit = tuple(float(side) for side in np.array(spacing) / np.prod(spacing) ** (1 / n_axes))
    steps = np.array(directions(n_axes)) * np.array(unit)
    length = lengths(unit)
    if n_axes == 2:
        angles = np.arctan2(steps[:, 0], steps[:, 1])
        order = np.argsort(angles)
        gaps = np.diff(np.append(angles[order], angles[order[0]] + 2 * np.pi))
        share = np.empty(len(steps))
        share[order] = (gaps + np.roll(gaps, 1)) / (4 * np.pi)
        return 8 * share / length
    # Points evenly spread over the sphere by the golden angle; of a pair of opposite directions each gets half.
    height = 1 - (2 * np.arange(_SAMPLES) + 1) / _SAMPLES
    angle = np.pi * (3 - np.sqrt(5)) * np.arange(_SAMPLES)
    flat = np.sqrt(1 - height**2)
    sphere = np.stack([height, flat * np.cos(angle), flat * np.sin(angle)], axis=1)
    nearest = np.argmax(sphere @ (steps / length[:, None]).T, axis=1)
    count = np.bincount(nearest, minlength=len(steps))
    share = (count + count[::-1]) / (2 * _SAMPLES)
    # The mean of |cos| is 2 / pi in a plane and a half in space.
    return 8 * (2 / np.pi) / 0.5 * share / length


def neighbor_pairs(shape: Shape, *, forward: bool = False) -> Iterator[tuple[int, Slices, Slices]]:
    """Direction, slices of the pixels that have a neighbour there, and slices of those neighbours.

    Parameters
    ----------
    shape : tuple of int
    forward : bool
        Each pair once instead of once from either end.

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.arange(6).reshape(2, 3)
    >>> [(grid[p].tolist(), grid[q].tolist()) for d, p, q in neighbor_pairs(grid.shape) if d == 6]
    [([[0, 1, 2]], [[3, 4, 5]])]
    """
    steps = directions(len(shape))
    for d in range(len(steps) // 2 if forward else 0, len(steps)):
        if all(size >= abs(step) for size, step in zip(shape, steps[d])):
            here = tuple(slice(max(0, -step), size - max(0, step)) for size, step in zip(shape, steps[d]))
            there = tuple(slice(max(0, step), size - max(0, -step)) for size, step in zip(shape, steps[d]))
            yield d, here, there


def boundary_energy(weights: NDArray[np.floating], labels: NDArray[np.integer]) -> float:
    """Sum of the weights of neighbouring pairs with different labels, each pair once.

    Examples
    --------
    >>> import numpy as np
    >>> boundary_energy(np.ones((1, 3, 8)), np.array([[0, 0, 1]]))
    1.0
    """
    total = 0.0
    for d, here, there in neighbor_pairs(labels.shape, forward=True):
        total += float(weights[..., d][here][labels[here] != labels[there]].sum(dtype=np.float64))
    return total


def everywhere(shape: Shape) -> Slices:
    """The window that is the whole grid.

    Examples
    --------
    >>> everywhere((2, 3))
    (slice(0, 2, None), slice(0, 3, None))
    """
    return tuple(slice(0, size) for size in shape)


def rim_of(shape: Shape) -> Mask:
    """The outermost pixels; an axis of one or two has no outside, or a thin stack of slices would be rim all through.

    Examples
    --------
    >>> rim_of((3, 4)).sum(), rim_of((1, 3, 4)).sum()
    (np.int64(10), np.int64(10))
    """
    rim = np.ones(shape, dtype=bool)
    rim[tuple(slice(1, -1) if size > 2 else slice(None) for size in shape)] = False
    return rim


def window_of(region: NDArray[np.bool_], margin: int = 0) -> Slices:
    """The smallest window that holds all True pixels, grown by `margin` inside the image.

    Examples
    --------
    >>> import numpy as np
    >>> window_of(np.array([[False, True], [False, True]]))
    (slice(0, 2, None), slice(1, 2, None))
    """
    axes = range(region.ndim)
    filled = [np.flatnonzero(region.any(axis=tuple(other for other in axes if other != axis))) for axis in axes]
    return grown(tuple(slice(int(places[0]), int(places[-1]) + 1) for places in filled), margin)


def scaled(window: Slices, factor: Sequence[int]) -> Slices:
    """The same window of an image that is `factor` times larger; slicing cuts it off at the image's end.

    Examples
    --------
    >>> scaled((slice(1, 3), slice(0, 2)), (4, 4))
    (slice(4, 12, None), slice(0, 8, None))
    """
    return tuple(slice(times * part.start, times * part.stop) for part, times in zip(window, factor))


def grown(window: Slices, margin: int) -> Slices:
    """The window with a margin on every side, begun inside the image; slicing cuts it off at the image's end.

    Examples
    --------
    >>> grown((slice(1, 3), slice(4, 6)), 2)
    (slice(0, 5, None), slice(2, 8, None))
    """
    return tuple(slice(max(0, part.start - margin), part.stop + margin) for part in window)
