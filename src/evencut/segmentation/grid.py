"""The 8-connected pixel grid: its directions, the slices that pair neighbours, and cutting a window out of it.

Edges live in arrays of shape (height, width, 8); direction d is undone by direction ``7 - d``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DIRECTIONS",
    "LENGTHS",
    "Labels",
    "Mask",
    "Slices",
    "boundary_energy",
    "grown",
    "neighbor_pairs",
    "scaled",
    "window_of",
]

#: The label of each pixel, -1 where none is known; 16 bits at full size, where memory counts.
Labels = NDArray[np.integer]

#: A region of an image.
Mask = NDArray[np.bool_]

#: A window of the grid: rows and columns.
Slices = tuple[slice, slice]

#: Row and column step of each direction.
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))

#: Euclidean length of each direction.
LENGTHS = tuple(float(np.hypot(*step)) for step in DIRECTIONS)


def neighbor_pairs(shape: tuple[int, int], *, forward: bool = False) -> Iterator[tuple[int, Slices, Slices]]:
    """Direction, slices of the pixels that have a neighbour there, and slices of those neighbours.

    Parameters
    ----------
    shape : tuple of int
        Height and width.
    forward : bool
        Each pair once instead of once from either end.

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.arange(6).reshape(2, 3)
    >>> [(grid[p].tolist(), grid[q].tolist()) for d, p, q in neighbor_pairs(grid.shape) if d == 6]
    [([[0, 1, 2]], [[3, 4, 5]])]
    """
    height, width = shape
    for d in range(4 if forward else 0, 8):
        dy, dx = DIRECTIONS[d]
        here = (slice(max(0, -dy), height - max(0, dy)), slice(max(0, -dx), width - max(0, dx)))
        there = (slice(max(0, dy), height - max(0, -dy)), slice(max(0, dx), width - max(0, -dx)))
        if height > abs(dy) - 1 and width > abs(dx) - 1:
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
        total += float(weights[(*here, d)][labels[here] != labels[there]].sum(dtype=np.float64))
    return total


def window_of(region: NDArray[np.bool_], margin: int = 0) -> Slices:
    """The smallest window that holds all True pixels, grown by `margin` inside the image.

    Examples
    --------
    >>> import numpy as np
    >>> window_of(np.array([[False, True], [False, True]]))
    (slice(0, 2, None), slice(1, 2, None))
    """
    rows, columns = (np.flatnonzero(region.any(axis=axis)) for axis in (1, 0))
    return grown((slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)), margin)


def scaled(window: Slices, factor: int) -> Slices:
    """The same window of an image that is `factor` times larger; slicing cuts it off at the image's end.

    Examples
    --------
    >>> scaled((slice(1, 3), slice(0, 2)), 4)
    (slice(4, 12, None), slice(0, 8, None))
    """
    rows, columns = (slice(factor * part.start, factor * part.stop) for part in window)
    return rows, columns


def grown(window: Slices, margin: int) -> Slices:
    """The window with a margin on every side, begun inside the image; slicing cuts it off at the image's end.

    Examples
    --------
    >>> grown((slice(1, 3), slice(4, 6)), 2)
    (slice(0, 5, None), slice(2, 8, None))
    """
    rows, columns = (slice(max(0, part.start - margin), part.stop + margin) for part in window)
    return rows, columns
