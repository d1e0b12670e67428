"""Everything a segmentation can be told beside the image and the user's hints, in one object that is passed around."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cuts import REGULARIZERS

#: The first guesses from a box, by name.
STARTS = ("barrier", "box")

#: Pixels of an image, or voxels of a volume, that the rounds work on.
_WORKING_SIZE = {2: 100_000, 3: 300_000}

#: Below so many the boundary weighs less: an image of 158 pixels a side, a volume of 50.
_SMALL = {2: 25_000, 3: 125_000}

#: What the boundary weighs, as a multiple of what it weighs in a plane.
_IN_SPACE = {2: 1.0, 3: 0.5}


@dataclass(frozen=True)
class VolumeSettings:
    """Constants of clicks in volumes; lengths are in depths of a click, or in sides of the volume for the first one.

    Parameters
    ----------
    contrast : float
        A first answer of the criterion stands where the brightness of a voxel inside its contour is nearer to that of
        the click than one outside with at least this probability; elsewhere the first field is one of walks.
    smoothing : float
        Deviation of a filter of the brightness, in voxels.
    edge : float
        Squared steps of brightness of so many variances of noise cut the conductance to a third.
    leak : float
        What is left of it at any step.
    like : float
        Brightness so many deviations of the volume from the click's halves the life of a walker.
    reach : float
        How far a walker gets on even ground after a first click, as a share of the side of the volume.
    level : float
        The first field ends where the chance of a walker has fallen by the exponential of this.
    core : float
        The share of the reach around a click that has its label for sure.
    wide : float
        The reach of a later click in depths.
    fall : float
        How sharply its correction ends.
    limit : float
        Where it ends for good, in reaches.
    roundness : float
        Deviation of the filter that smooths the field, in voxels.
    most_voxels : int
        Larger windows are solved at a smaller size.
    """

    contrast: float = 0.9
    smoothing: float = 0.5
    edge: float = 2.0
    leak: float = 0.01
    like: float = 0.4
    reach: float = 0.28
    level: float = 3.0
    core: float = 0.233
    wide: float = 3.0
    fall: float = 0.5
    limit: float = 4.0
    roundness: float = 1.2
    most_voxels: int = 300_000


@dataclass(frozen=True)
class Settings:
    """Options of the user and constants of the method; the constants were tuned over boxes of all kinds.

    Parameters
    ----------
    kernel, criterion, equalize, regularizer, smoothness, hard, start, max_iter, working_pixels
        As in :func:`evencut.segmentation.segment`.
    strictness : tuple of float
        Share of Otsu's threshold above which a barrier distance means object; the later ones are tried where the
        object found leaves too much of the box empty.
    slack : float
        How much of the box may be empty along a side, as a share of its size.
    surcharge : float
        What an object pixel of a box pays in the entropy criterion: doubt goes to the background.
    centrality : float
        How that grows with the distance from the centre of the box: objects seldom fill its corners.
    auto_smoothness : dict
        Weight of the boundary term by criterion ("entropy" or "ratio") and regularizer; in ratio criteria it is
        multiplied by the mean affinity over the square root of the pixels.
    band_radius : int
        Pixels on either side of the enlarged contour that are decided anew at the next size.
    band_weight : float
        Weight of the boundary term there, relative to the rounds.
    click_strength : float
        What a pixel pays for contradicting a click beside it, in nats.
    click_reach : float
        Geodesic distance at which that has fallen to a third, in tens of units of LAB.
    click_step : float
        What a pixel of distance adds to the geodesic distance.
    place_weight : float
        Weight of the place beside the colours in the second graph, which makes colour models local.
    click_hold : float
        What the boundary weighs in an object begun by clicks, where little is known of its colours yet, as a multiple
        of what it weighs in a box.
    rim_strength : float
        What a pixel beside the rim of the image pays for being object, where only clicks say what is, in nats.
    odds_at_depth : float
        Log odds that a pixel as far from a later click as that is deep, on the contour, is wrong as well.
    odds_distance, odds_inside : float
        What they lose with the logarithm of the distance to the click, and with that to the contour, in depths.
    odds_way, odds_densities, odds_local : float
        Weights of the logarithm of the geodesic distance, and of the log likelihood ratios of the colours under the
        densities of the criterion and around the click.
    click_core : float
        Depths around a click that have its label for sure.
    click_around, local_width : float
        Depths beyond which colours count as those around, and the bandwidth of their densities in tens of LAB.
    click_window : float
        Half the side of the window of a click, in depths.
    click_boundary : float
        Weight of the boundary against the odds.
    most_pixels : int
        Larger windows are looked at in a smaller image.
    volumes : VolumeSettings

    Examples
    --------
    >>> Settings(max_iter=0)
    Traceback (most recent call last):
    ValueError: max_iter=0 must be at least 1.
    """

    kernel: Any = "knn"
    criterion: str = "entropy"
    equalize: str | None = None
    regularizer: str | None = "contrast"
    smoothness: float | str = "auto"
    hard: bool = True
    start: str = "barrier"
    max_iter: int = 15
    working_pixels: int | None = None
    strictness: tuple[float, ...] = (0.5, 0.4, 0.25)
    slack: float = 0.2
    surcharge: float = 0.4
    centrality: float = 0.4
    auto_smoothness: dict[tuple[str, str | None], float] = field(
        default_factory=lambda: {
            ("entropy", "contrast"): 16.0,
            ("entropy", "length"): 4.0,
            ("ratio", "contrast"): 0.08,
            ("ratio", "length"): 0.04,
        }
    )
    band_radius: int = 3
    band_weight: float = 0.5
    click_strength: float = 4.0
    click_reach: float = 5.0
    click_step: float = 0.07
    place_weight: float = 0.5
    click_hold: float = 1.5
    rim_strength: float = 1.0
    odds_at_depth: float = 2.9
    odds_distance: float = 1.6
    odds_inside: float = 0.8
    odds_way: float = 0.5
    odds_densities: float = 0.4
    odds_local: float = 0.65
    click_core: float = 0.7
    click_around: float = 2.0
    local_width: float = 0.8
    click_window: float = 6.0
    click_boundary: float = 10.0
    most_pixels: int = 160_000
    volumes: VolumeSettings = VolumeSettings()

    def __post_init__(self) -> None:
        if self.regularizer not in REGULARIZERS:
            raise ValueError(f"regularizer={self.regularizer!r} is not known; choose one of {REGULARIZERS}.")
        if self.start not in STARTS:
            raise ValueError(f"start={self.start!r} is not known; choose one of {STARTS}.")
        for name in ("max_iter", "working_pixels"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1.")
        if self.smoothness != "auto" and (
            isinstance(self.smoothness, str) or not (np.isfinite(self.smoothness) and self.smoothness >= 0)
        ):
            raise ValueError(f"smoothness={self.smoothness!r} must be 'auto' or a number of at least 0.")

    def working_size(self, n_axes: int) -> int:
        """The most pixels of the size that the rounds work on.

        Examples
        --------
        >>> Settings().working_size(2), Settings(working_pixels=500).working_size(3)
        (100000, 500)
        """
        return _WORKING_SIZE[n_axes] if self.working_pixels is None else self.working_pixels

    def hold(self, *, in_box: bool) -> float:
        """What the boundary weighs in a first answer, as a multiple of what it weighs in a box.

        A weight that the user named is used as it is.

        Examples
        --------
        >>> Settings().hold(in_box=False), Settings(smoothness=2.0).hold(in_box=False)
        (1.5, 1.0)
        """
        return 1.0 if in_box or self.smoothness != "auto" or self.criterion != "entropy" else self.click_hold

    @property
    def relative_smoothness(self) -> float:
        """The weight of the boundary that the user named, as a multiple of the automatic one.

        Examples
        --------
        >>> Settings().relative_smoothness, Settings(smoothness=8.0).relative_smoothness
        (1.0, 0.5)
        """
        if self.smoothness == "auto" or self.regularizer is None:
            return 1.0
        kind = "entropy" if self.criterion == "entropy" else "ratio"
        return float(self.smoothness) / self.auto_smoothness[kind, self.regularizer]

    def boundary_weight(self, n_pixels: int, n_axes: int = 2) -> float:
        """The weight of the boundary term for an image of so many pixels, in units of the criterion.

        Examples
        --------
        >>> Settings().boundary_weight(100_000), Settings(smoothness=2.0).boundary_weight(100)
        (16.0, 2.0)
        """
        if self.regularizer is None:
            return 0.0
        if self.smoothness != "auto":
            return float(self.smoothness)
        if self.criterion != "entropy":
            return self.auto_smoothness["ratio", self.regularizer]
        # The entropy grows with the number of pixels, the boundary with a root less: small images need less of it.
        return self.auto_smoothness["entropy", self.regularizer] * _IN_SPACE[n_axes] * float(
            min(1.0, n_pixels / _SMALL[n_axes]) ** (1 / n_axes)
        )
