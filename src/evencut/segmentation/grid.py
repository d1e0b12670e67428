"""The grid of pixels or voxels, each joined to all its neighbours, diagonal ones too: pairs, windows, rows, sizes.

Edges live in arrays of shape (..., n_directions), 8 directions in a plane and 26 in space; direction d is undone by
direction ``n_directions - 1 - d``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

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
            pixels = tuple(slice(max(0, -step), size - max(0, step)) for size, step in zip(shape, steps[d]))
            neighbors = tuple(slice(max(0, step), size - max(0, -step)) for size, step in zip(shape, steps[d]))
            yield d, pixels, neighbors


def boundary_energy(weights: NDArray[np.floating], labels: NDArray[np.integer]) -> float:
    """Sum of the weights of neighbouring pairs with different labels, each pair once.

    Examples
    --------
    >>> import numpy as np
    >>> boundary_energy(np.ones((1, 3, 8)), np.array([[0, 0, 1]]))
    1.0
    """
    total = 0.0
    for d, pixels, neighbors in neighbor_pairs(labels.shape, forward=True):
        total += float(weights[..., d][pixels][labels[pixels] != labels[neighbors]].sum(dtype=np.float64))
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
    return grown(tuple(slice(int(positions[0]), int(positions[-1]) + 1) for positions in filled), margin)


def scaled(window: Slices, factor: Sequence[int]) -> Slices:
    """The same window of an image that is `factor` times larger; slicing cuts it off at the image's end.

    Examples
    --------
    >>> scaled((slice(1, 3), slice(0, 2)), (4, 4))
    (slice(4, 12, None), slice(0, 8, None))
    """
    return tuple(slice(times * span.start, times * span.stop) for span, times in zip(window, factor))


def relative(window: Slices, outer: Slices) -> Slices:
    """A window counted from the first pixel of another one that holds it.

    Examples
    --------
    >>> relative((slice(4, 6),), (slice(3, 9),))
    (slice(1, 3, None),)
    """
    return tuple(slice(span.start - side.start, span.stop - side.start) for span, side in zip(window, outer))


def absolute(window: Slices, outer: Slices) -> Slices:
    """A window of another window, counted as that one is: what undoes :func:`relative`.

    Examples
    --------
    >>> absolute((slice(1, 3),), (slice(3, 9),))
    (slice(4, 6, None),)
    """
    return tuple(slice(side.start + span.start, side.start + span.stop) for span, side in zip(window, outer))


def grown(window: Slices, margin: int) -> Slices:
    """The window with a margin on every side, begun inside the image; slicing cuts it off at the image's end.

    Examples
    --------
    >>> grown((slice(1, 3), slice(4, 6)), 2)
    (slice(0, 5, None), slice(2, 8, None))
    """
    return tuple(slice(max(0, span.start - margin), span.stop + margin) for span in window)


def rows_beside(shape: Shape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows beside each row that come before it, and those that come after; -1 if the grid ends.

    Both are of shape (n_rows, n_before), one in a plane and four in space, in the order of :func:`directions`; the row
    that is `k`-th before another has that one `k`-th after it.

    Examples
    --------
    >>> before, after = rows_beside((3, 5))
    >>> before.ravel(), after.ravel()
    (array([-1,  0,  1]), array([ 1,  2, -1]))
    """
    outer = shape[:-1]
    positions = np.indices(outer).reshape(len(outer), -1).T
    steps = [step for step in directions(len(outer)) if step < (0,) * len(outer)]
    before = np.full((len(positions), len(steps)), -1, dtype=np.int64)
    after = before.copy()
    for k, step in enumerate(steps):
        neighbors = positions + step
        inside = ((neighbors >= 0) & (neighbors < outer)).all(axis=1)
        before[inside, k] = np.ravel_multi_index(tuple(neighbors[inside].T), outer)
        after[before[inside, k], k] = np.flatnonzero(inside)
    return before, after


#: The contour of larger volumes is found at half their size, or less; that of photos never.
MOST_DRAWN = 20_000_000

#: An axis is halved with the finest one unless its voxels are longer by more than this.
_ABOUT_EQUAL = 2**0.5


@dataclass(frozen=True)
class Sizes:
    """Shapes and lengths of voxels, from full size on.

    Parameters
    ----------
    shapes : tuple of tuple of int
    spacings : tuple of tuple of float
        Length of a voxel along each axis, in units of the finest axis at full size.
    steps : tuple of tuple of int
        How many times smaller the next size is, along each axis.

    Examples
    --------
    >>> Sizes.of((4, 64, 64), (4.0, 1.0, 1.0), most=1100).shapes
    ((4, 64, 64), (4, 32, 32), (4, 16, 16))
    """

    shapes: tuple[Shape, ...]
    spacings: tuple[tuple[float, ...], ...]
    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, shape: Shape, spacing: tuple[float, ...], most: int) -> Sizes:
        """The sizes from `shape` down to the first of at most so many voxels."""
        shapes, spacings, steps = [shape], [tuple(side / min(spacing) for side in spacing)], []
        while np.prod(shapes[-1], dtype=float) > most:
            finest = min(side for side, size in zip(spacings[-1], shapes[-1]) if size > 1)
            step = tuple(2 if side <= _ABOUT_EQUAL * finest else 1 for side in spacings[-1])
            steps.append(step)
            shapes.append(tuple(-(-size // times) for size, times in zip(shapes[-1], step)))
            spacings.append(tuple(side * times for side, times in zip(spacings[-1], step)))
        return cls(tuple(shapes), tuple(spacings), tuple(steps))

    def is_drawn(self, level: int) -> bool:
        """Whether the contour is found anew at this size, and not only enlarged from the next."""
        return len(self.shapes[level]) < 3 or np.prod(self.shapes[level], dtype=float) <= MOST_DRAWN

    def factor(self, larger: int, smaller: int) -> Steps:
        """How many times smaller one level is than another, along each axis."""
        return tuple(int(np.prod(along)) for along in zip(*self.steps[larger:smaller])) or (1,) * len(self.shapes[0])


def halve(values: NDArray[Any], steps: Steps = (2, 2)) -> NDArray[np.float32]:
    """Means of 2 by 2 pixels, or along the axes that have a step of 2; an odd last row or column counts twice.

    Examples
    --------
    >>> import numpy as np
    >>> halve(np.array([[0.0, 4.0, 5.0]]))
    array([[2., 5.]], dtype=float32)
    """
    # Whole rows first: they lie together in memory.
    total = values
    for axis, step in enumerate(steps):
        if step == 2:
            if total.shape[axis] % 2:
                odd = [(0, int(other == axis)) for other in range(total.ndim)]
                total = np.pad(total, odd, mode="edge")
            leading = (slice(None),) * axis
            total = np.add(total[(*leading, slice(0, None, 2))], total[(*leading, slice(1, None, 2))], dtype=np.float32)
    if total is values:
        return values.astype(np.float32)
    total *= np.float32(0.5 ** steps.count(2))
    return total


def enlarge(values: NDArray[Any], shape: Shape, steps: Steps = (2, 2)) -> NDArray[Any]:
    """Every pixel as often as `steps` says along each axis, cut to `shape`: what undoes the size of :func:`halve`.

    Examples
    --------
    >>> import numpy as np
    >>> enlarge(np.array([[1, 2]]), (1, 3))
    array([[1, 1, 2]])
    """
    for axis, step in enumerate(steps):
        if step > 1:
            values = np.repeat(values, step, axis=axis)
    return values[everywhere(shape)]
