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
from .grid import Mask, Shape, Slices, Steps

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
            said = ", ".join(str(number) for number in place)
            raise ValueError(f"click ({said}) lies outside the image of {size} pixels.")
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


def footprint(click: Click, shape: Shape, spacing: tuple[float, ...] | None = None) -> tuple[Slices, Mask]:
    """The ball that a click fixes, as a window of the image and a region of it: radius 5, smaller on small images.

    Examples
    --------
    >>> footprint(Click((20, 20), True), (60, 60))
    ((slice(20, 21, None), slice(20, 21, None)), array([[ True]]))
    """
    radius = min(_RADIUS, int(np.hypot.reduce(shape) / 100))
    window, squared = [], np.zeros((1,) * len(shape))
    for axis, (centre, size, side) in enumerate(zip(click.at, shape, spacing or (1.0,) * len(shape))):
        reach = int(radius / side)
        along = np.arange(max(0, centre - reach), min(centre + reach + 1, size))
        squared = squared + (((along - centre) * side) ** 2).reshape(-1, *(1,) * (len(shape) - 1 - axis))
        window.append(slice(int(along[0]), int(along[-1]) + 1))
    return tuple(window), squared <= radius**2


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


def click_evidence(
    ground: NDArray[np.float64],
    clicks: Iterable[Click],
    factor: Steps,
    *,
    strength: float,
    reach: float,
    step: float,
    spacing: tuple[float, ...] | None = None,
) -> NDArray[np.float64]:
    r"""What each pixel pays for contradicting the clicks, of shape (n_pixels, 2).

    .. math:: \lambda\, e^{-(g(p) / \tau)^2}

    with g the geodesic distance to the nearest click of the other label.

    Parameters
    ----------
    ground : ndarray of shape (..., n_channels)
    clicks : iterable of Click
        In pixels of the image `factor` times larger.
    factor : tuple of int
    strength, reach : float
        :math:`\lambda` and :math:`\tau`.
    step : float
        Of the geodesic distance.
    spacing : tuple of float, optional
        Length of a voxel along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> even = np.zeros((1, 3, 1))
    >>> click_evidence(even, [Click((0, 0), True)], (1, 1), strength=4.0, reach=1.0, step=1.0).round(2)
    array([[4.  , 0.  ],
           [1.47, 0.  ],
           [0.07, 0.  ]])
    """
    clicks = tuple(clicks)
    evidence = np.zeros((ground[..., 0].size, 2))
    for code in (0, 1):
        same = [click for click in clicks if click.code == code]
        if same:
            seeds = seeds_of(same, ground.shape[:-1], factor)
            distance = geodesic_distance(ground, seeds, step=step, spacing=spacing)
            evidence[:, 1 - code] = strength * np.exp(-((distance.ravel() / reach) ** 2))
    return evidence
