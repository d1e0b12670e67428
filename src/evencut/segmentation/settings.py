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
    rest : float
        Share of the pixels that a round of the entropy criterion must change for another one to follow.
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
    click_limit : float
        Where a later click can still change labels, in units of `click_reach`.
    click_depth : float
        How deep a change may be, as a multiple of the distance of the click from the nearest pixel that has its label.
    click_trust : float
        What a pixel pays for changing the label that a box gave it, beyond the depth that a change may have, in nats;
        nearer to the click in proportion less.
    place_weight : float
        Weight of the place beside the colours in the second graph, which makes colour models local.
    click_hold : float
        What the boundary weighs in an object begun by clicks, where little is known of its colours yet, as a multiple
        of what it weighs in a box.
    click_ease : float
        How much less it weighs after each click more: what takes many clicks has parts that a short boundary cuts off.
    rim_strength : float
        What a pixel beside the rim of the image pays for being object, where only clicks say what is, in nats.

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
    rest: float = 0.0003
    band_radius: int = 3
    band_weight: float = 0.5
    click_strength: float = 4.0
    click_reach: float = 5.0
    click_step: float = 0.07
    click_limit: float = 3.5
    click_depth: float = 2.0
    click_trust: float = 1.0
    place_weight: float = 0.5
    click_hold: float = 1.5
    click_ease: float = 0.1
    rim_strength: float = 1.0

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

    def hold(self, n_corrections: int, *, in_box: bool) -> float:
        """What the boundary weighs after so many clicks, as a multiple of what it weighs in a box.

        A weight that the user named is used as it is.

        Examples
        --------
        >>> Settings().hold(5, in_box=False), Settings(smoothness=2.0).hold(5, in_box=False)
        (1.0, 1.0)
        """
        if self.smoothness != "auto" or self.criterion != "entropy":
            return 1.0
        return (1.0 if in_box else self.click_hold) / (1 + self.click_ease * n_corrections)

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
