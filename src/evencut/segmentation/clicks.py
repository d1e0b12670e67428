"""Clicks: points that the user calls object or background, and what they say about the pixels around them.

A click fixes a small disc of like colour. Beyond it, it is evidence that fades with the geodesic distance: strong on
even ground around the click, nothing behind a contour.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .geodesic import geodesic_distance
from .grid import Mask, Slices

__all__ = ["Click", "check_clicks", "click_evidence", "footprint", "seeds_of"]

_RADIUS = 5
_OBJECT, _BACKGROUND = "object", "background"


class Click(NamedTuple):
    """One click: column, row, and what is there."""

    x: int
    y: int
    is_object: bool

    @property
    def code(self) -> int:
        """1 for the object, 0 for the background."""
        return int(self.is_object)


def check_clicks(clicks: Iterable[Any], shape: tuple[int, int]) -> tuple[Click, ...]:
    """Clicks (x, y, "object" or "background") as checked points of the image.

    Examples
    --------
    >>> check_clicks([(3, 1, "object")], (5, 5))
    (Click(x=3, y=1, is_object=True),)
    """
    height, width = shape
    checked = []
    for click in clicks:
        try:
            x, y, kind = click
            column, row = float(x), float(y)
        except (TypeError, ValueError):
            raise ValueError(f"click {click!r} must be (x, y, 'object') or (x, y, 'background').") from None
        if kind not in (_OBJECT, _BACKGROUND):
            raise ValueError(f"click {click!r} is called {kind!r}; call it 'object' or 'background'.")
        if not (np.isfinite([column, row]).all() and 0 <= column < width and 0 <= row < height):
            raise ValueError(f"click ({x}, {y}) lies outside the image of {width} by {height} pixels.")
        checked.append(Click(int(column), int(row), kind == _OBJECT))
    if not checked:
        raise ValueError("clicks are empty; give at least one (x, y, 'object').")
    kinds: dict[tuple[int, int], bool] = {}
    for one in checked:
        if kinds.setdefault((one.x, one.y), one.is_object) != one.is_object:
            raise ValueError(
                f"the pixel ({one.x}, {one.y}) is clicked as object and as background; keep one of these clicks."
            )
    return tuple(checked)


def footprint(click: Click, shape: tuple[int, ...]) -> tuple[Slices, Mask]:
    """The disc that a click fixes, as a window of the image and a region of it: radius 5, smaller on small images.

    Examples
    --------
    >>> footprint(Click(20, 20, True), (60, 60))
    ((slice(20, 21, None), slice(20, 21, None)), array([[ True]]))
    """
    radius = min(_RADIUS, int(np.hypot(shape[0], shape[1]) / 100))
    rows, columns = (
        np.arange(max(0, centre - radius), min(centre + radius + 1, length))
        for centre, length in zip((click.y, click.x), shape)
    )
    disc = (rows[:, None] - click.y) ** 2 + (columns - click.x) ** 2 <= radius**2
    window = (slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1))
    return window, disc


def seeds_of(clicks: Iterable[Click], shape: tuple[int, ...], factor: int) -> NDArray[np.bool_]:
    """The pixels clicked, in an image `factor` times smaller.

    Examples
    --------
    >>> seeds_of([Click(3, 0, True)], (1, 2), 2)
    array([[False,  True]])
    """
    seeds = np.zeros(shape, dtype=bool)
    for click in clicks:
        seeds[min(click.y // factor, shape[0] - 1), min(click.x // factor, shape[1] - 1)] = True
    return seeds


def click_evidence(
    ground: NDArray[np.float64], clicks: Iterable[Click], factor: int, *, strength: float, reach: float, step: float
) -> NDArray[np.float64]:
    r"""What each pixel pays for contradicting the clicks, of shape (n_pixels, 2).

    .. math:: \lambda\, e^{-(g(p) / \tau)^2}

    with g the geodesic distance to the nearest click of the other label.

    Parameters
    ----------
    ground : ndarray of shape (height, width, n_channels)
    clicks : iterable of Click
        In pixels of the image `factor` times larger.
    factor : int
    strength, reach : float
        :math:`\lambda` and :math:`\tau`.
    step : float
        Of the geodesic distance.

    Examples
    --------
    >>> import numpy as np
    >>> even = np.zeros((1, 3, 1))
    >>> click_evidence(even, [Click(0, 0, True)], 1, strength=4.0, reach=1.0, step=1.0).round(2)
    array([[4.  , 0.  ],
           [1.47, 0.  ],
           [0.07, 0.  ]])
    """
    clicks = tuple(clicks)
    evidence = np.zeros((ground.shape[0] * ground.shape[1], 2))
    for code in (0, 1):
        same = [click for click in clicks if click.code == code]
        if same:
            distance = geodesic_distance(ground, seeds_of(same, ground.shape[:2], factor), step=step)
            evidence[:, 1 - code] = strength * np.exp(-((distance.ravel() / reach) ** 2))
    return evidence
