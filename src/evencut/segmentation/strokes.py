"""Strokes as a picture of labels: discs along lines, as a brush draws them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_BACKGROUND = 1
Points = Sequence[tuple[float, float]]


def draw_strokes(
    shape: tuple[int, ...], *strokes: tuple[Points, float, int], framed: bool = False
) -> NDArray[np.int64]:
    """Labels of the pixels that strokes cover, 0 elsewhere, for the `scribbles` of :func:`segment`.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the image.
    *strokes : tuples of points, radius and label
        Each a list of (x, y), the radius of the brush, and the label it draws: 1 is background, 2 the object. Later
        ones lie over earlier ones.
    framed : bool, default=False
        Whether the outermost pixels are background where nothing is drawn.

    Examples
    --------
    >>> draw_strokes((3, 5), ([(1, 1), (3, 1)], 1.0, 2), framed=True)
    array([[1, 2, 2, 2, 1],
           [2, 2, 2, 2, 2],
           [1, 2, 2, 2, 1]])
    """
    drawn = np.zeros(shape[:2], dtype=np.int64)
    for points, radius, label in strokes:
        for x, y in _along(points, radius):
            _disc(drawn, x, y, radius, label)
    if framed:
        for edge in (drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]):
            edge[edge == 0] = _BACKGROUND
    return drawn


def _along(points: Points, radius: float) -> list[tuple[float, float]]:
    """The points, and more between those that lie further apart than half a radius."""
    dense = [points[0]]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        n_steps = max(1, int(np.ceil(np.hypot(x1 - x0, y1 - y0) / (radius / 2))))
        dense += [(x0 + (x1 - x0) * i / n_steps, y0 + (y1 - y0) * i / n_steps) for i in range(1, n_steps + 1)]
    return dense


def _disc(strokes: NDArray[np.int64], x: float, y: float, radius: float, label: int) -> None:
    height, width = strokes.shape
    top, bottom = max(0, int(y - radius)), min(height, int(y + radius) + 2)
    left, right = max(0, int(x - radius)), min(width, int(x + radius) + 2)
    if top >= bottom or left >= right:
        return
    rows, columns = np.ogrid[top:bottom, left:right]
    strokes[top:bottom, left:right][(columns - x) ** 2 + (rows - y) ** 2 <= radius**2] = label
