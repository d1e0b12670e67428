"""What is known of the labels before the work begins, at every size, cut to the relevant part of the image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .grid import Labels, Mask, Shape, Slices, Steps, everywhere, halve, rim_of, scaled, window_of
from .prompts import Click, check_box, check_clicks, check_mask, check_scribbles, footprint, halve_known, outside_of


@dataclass(frozen=True, eq=False)
class KnownLevels:
    """Known labels at full size, half of it, and so on.

    Parameters
    ----------
    known : tuple of ndarray of int
        Codes of known labels, -1 elsewhere; from full size on.
    outside : tuple of (ndarray of bool or None)
        What lies outside a hard box, at every size.
    n_labels : int
    steps : tuple of tuple of int
        How many times smaller each size is than the one before, along each axis.
    spacing : tuple of float, optional
        Length of a voxel along each axis at full size, in units of the finest.

    Examples
    --------
    >>> import numpy as np
    >>> levels = KnownLevels((np.full((2, 4), -1),), (None,), 2).deepened([(2, 2)]).with_click(Click((0, 3), True))
    >>> [level.tolist() for level in levels.known]
    [[[-1, -1, -1, 1], [-1, -1, -1, -1]], [[-1, 1]]]
    """

    known: tuple[Labels, ...]
    outside: tuple[Mask | None, ...]
    n_labels: int
    steps: tuple[Steps, ...] = ()
    spacing: tuple[float, ...] | None = None

    def deepened(self, steps: Sequence[Steps]) -> KnownLevels:
        """The same at all the sizes that the steps lead to."""
        known, outside = list(self.known), list(self.outside)
        for step in steps[len(known) - 1 :]:
            last = outside[-1]
            known.append(halve_known(known[-1], self.n_labels, last, step))
            outside.append(None if last is None else halve(last, step) >= 0.5)
        return replace(self, known=tuple(known), outside=tuple(outside), steps=tuple(steps))

    def with_click(self, click: Click, radius: float | None = None) -> KnownLevels:
        """The same after a click, which overrules what was known within the radius."""
        window, disc = footprint(click, self.known[0].shape, self.spacing, radius)
        known = [self.known[0].copy()]
        known[0][window][disc] = click.code
        for level in range(1, len(self.known)):
            step = self.steps[level - 1]
            window = _smaller(window, step)
            finer = scaled(window, step)
            last = self.outside[level - 1]
            known.append(self.known[level].copy())
            known[level][window] = halve_known(
                known[level - 1][finer], self.n_labels, None if last is None else last[finer], step
            )
        return replace(self, known=tuple(known))


def _smaller(window: Slices, step: Steps) -> Slices:
    return tuple(slice(span.start // times, -(-span.stop // times)) for span, times in zip(window, step))


_SURROUNDINGS = 2


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Box, clicks, strokes and first guess of one user on one image.

    Parameters
    ----------
    names : ndarray of int
        The user's label of each code.
    shape : tuple of int
        Of the whole image.
    frame : tuple of slice
        The part of the image that is looked at; what follows has its size.
    levels : KnownLevels
        Codes of known labels at full size, and at smaller sizes once they are needed.
    around : ndarray of bool or None
        The outside of the box.
    guess : ndarray of bool or None
        A first guess of the object.
    clicks : tuple of Click
        In pixels of the frame.
    waiting : tuple of Click
        Clicks that correct the first answer, one after the other; also in pixels of the frame.
    """

    names: NDArray[np.int64]
    shape: Shape
    frame: Slices
    levels: KnownLevels
    around: Mask | None
    guess: Mask | None
    clicks: tuple[Click, ...] = ()
    waiting: tuple[Click, ...] = ()

    @property
    def known(self) -> Labels:
        """Codes of known labels at full size, -1 elsewhere."""
        return self.levels.known[0]

    @property
    def outside(self) -> Mask | None:
        """The outside of the box where that cannot be object."""
        return self.levels.outside[0]

    @property
    def is_begun_by_clicks(self) -> bool:
        """Whether clicks alone, and strokes, say where the object is."""
        return bool(self.clicks) and self.around is None and self.guess is None

    @property
    def known_levels(self) -> tuple[Labels, ...]:
        """Known labels at every size; where nothing else is known of the background, the rim stands for it."""
        if self.around is not None or self.guess is not None or (self.known == 0).any():
            return self.levels.known
        return tuple(np.where(rim_of(known.shape) & (known < 0), 0, known) for known in self.levels.known)

    def with_click(self, click: Click, radius: float | None = None) -> Knowledge:
        """The same with another click (in pixels of the frame), which overrules what was known within the radius."""
        return replace(self, levels=self.levels.with_click(click, radius), clicks=(*self.clicks, click))

    def in_frame(self, clicks: tuple[Click, ...]) -> list[Click]:
        """Clicks on the whole image in pixels of the frame; background beyond it is known already."""
        inside = []
        for click in clicks:
            moved = click._replace(at=tuple(at - span.start for at, span in zip(click.at, self.frame)))
            if all(0 <= at < size for at, size in zip(moved.at, self.known.shape)):
                inside.append(moved)
            elif click.is_object:
                raise ValueError(f"click {click.place} is far outside the box; draw a larger box and begin anew.")
        return inside

    def with_strokes(self, scribbles: ArrayLike) -> Knowledge:
        """The same with more strokes, which overrule what was known."""
        codes = _codes(check_scribbles(scribbles, self.shape), self.names)
        if (codes < 0).all():
            raise ValueError("scribbles are empty: every pixel is 0.")
        if (codes > 0).sum() > (codes[self.frame] > 0).sum():
            raise ValueError("scribbles mark object far outside the box; draw a larger box and begin anew.")
        codes = codes[self.frame]
        known = np.where(codes < 0, self.known, codes)
        fresh = replace(self.levels, known=(known,), outside=(self.outside,))
        return replace(self, levels=fresh.deepened(self.levels.steps))


def gather(
    shape: Shape,
    *,
    box: ArrayLike | None = None,
    clicks: Iterable[Any] | None = None,
    scribbles: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    hard: bool = True,
    spacing: tuple[float, ...] | None = None,
) -> Knowledge:
    """Check the hints and put them together; `spacing` is the length of a voxel along each axis.

    Examples
    --------
    >>> gather((1, 4), box=(1, 0, 3, 1)).known
    array([[ 0, -1, -1,  0]], dtype=int16)
    """
    known = np.full(shape, -1, dtype=np.int16)
    outside = None if box is None else outside_of(check_box(box, shape), shape)
    strokes = None if scribbles is None else check_scribbles(scribbles, shape)
    points = () if clicks is None else check_clicks(clicks, shape)
    if box is not None or mask is not None or points:
        names = np.array([1, 2])
    elif strokes is not None:
        names = np.unique(strokes[strokes > 0])
        if len(names) < 2:
            raise ValueError(
                f"scribbles show {len(names)} label{'s' if len(names) != 1 else ''}; draw at least two, or add a box."
            )
    else:
        raise ValueError("give a box, clicks, scribbles or a mask; for regions without any, use partition().")
    if outside is not None and hard:
        known[outside] = 0
    if strokes is not None:
        codes = _codes(strokes, names)
        known = np.where(codes < 0, known, codes)
    guess = None if mask is None else check_mask(mask, shape)
    clicked = known.copy()
    for click in points:
        if click.is_object:
            clicked[click.at] = 1
    frame = _frame(clicked, outside if hard else None, guess)
    outside, guess = (None if span is None else span[frame] for span in (outside, guess))
    levels = KnownLevels((known[frame],), (outside if hard else None,), len(names), spacing=spacing)
    knowledge = Knowledge(names, shape, frame, levels, outside, guess)
    waiting = list(knowledge.in_frame(points))
    if outside is None and guess is None and points and not (known == 1).any():
        first = next((click for click in waiting if click.is_object), None)
        if first is None:
            raise ValueError("clicks show background only; add one on the object, or a box.")
        waiting.remove(first)
        knowledge = knowledge.with_click(first)
    return replace(knowledge, waiting=tuple(waiting))


def _frame(known: Labels, outside: Mask | None, guess: Mask | None) -> Slices:
    """The relevant part of the image: around a small hard box its surroundings, else everything."""
    everything = everywhere(known.shape)
    if outside is None:
        return everything
    relevant = ~outside | (known > 0) | (False if guess is None else guess)
    frame = tuple(
        slice(
            max(0, span.start - _SURROUNDINGS * (span.stop - span.start)),
            min(span.stop + _SURROUNDINGS * (span.stop - span.start), size),
        )
        for span, size in zip(window_of(relevant), known.shape)
    )
    return frame if known[frame].size < known.size / 4 else everything


def _codes(strokes: Labels, names: NDArray[np.int64]) -> NDArray[np.int16]:
    """Strokes as positions in `names`, -1 where nothing is drawn."""
    drawn = np.unique(strokes[strokes > 0])
    strange = np.setdiff1d(drawn, names)
    if strange.size:
        raise ValueError(
            f"scribbles contain the label {strange[0]}; the labels in use are {', '.join(map(str, names))}"
            f"{' (1 background, 2 object)' if list(names) == [1, 2] else ''}."
        )
    return np.where(strokes > 0, np.searchsorted(names, strokes), -1).astype(np.int16)
