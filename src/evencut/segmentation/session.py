"""One image with one user: the first answer, and the next one after more strokes or clicks.

A `State` is all that the next answer needs; it holds arrays only, so that results can be pickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import binary_dilation, binary_erosion

from .._runtime import warn_user
from .corrections import correct_photo
from .distances import (
    follow_strokes,
    geodesic_distance,
    largest_gap,
    off_centre,
    parts_with,
    start_from_strokes,
    starts_from_box,
)
from .engine import Clock, Engine
from .grid import Labels, Mask, Steps, halve, rim_of, window_of
from .knowledge import Knowledge, gather
from .prompts import Click, check_clicks, seeds_of
from .result import Segmentation
from .walks import Walker

_FULL, _EMPTY = 0.98, 0.002

#: Voxels on either side of a contour that its contrast is measured on.
_SHELL = 2


def evidence_of(engine: Engine, knowledge: Knowledge) -> NDArray[np.float64] | None:
    r"""What every pixel of the working size pays for contradicting clicks or the shape of the box; None without either.

    .. math:: \lambda\, e^{-(g(p) / \tau)^2}

    for clicks, with g the geodesic distance to the nearest one of the other label.
    """
    settings, shape = engine.settings, engine.channels.shape[:-1]
    evidence = np.zeros((int(np.prod(shape)), engine.n_labels))

    def nearness(seeds: Mask) -> NDArray[np.float64]:
        distance = geodesic_distance(engine.ground, seeds, step=settings.click_step, spacing=engine.spacing)
        return np.exp(-((distance.ravel() / settings.click_reach) ** 2))

    for code in (0, 1):
        same = [click for click in knowledge.clicks if click.code == code]
        if same:
            evidence[:, 1 - code] = settings.click_strength * nearness(seeds_of(same, shape, engine.factor))
    if knowledge.is_begun_by_clicks:
        evidence[:, 1] += settings.rim_strength * nearness(rim_of(shape))
    if knowledge.around is not None and settings.criterion == "entropy":
        box = list(zip(window_of(~knowledge.around), engine.factor))
        first, last = [span.start / times for span, times in box], [span.stop / times for span, times in box]
        evidence[:, 1] += settings.centrality * off_centre(first, last, shape).ravel()
    return evidence if evidence.any() else None


class Rounds(NamedTuple):
    """What is told of the rounds that led to the first answer."""

    trace: tuple[float, ...]
    converged: bool
    smoothness: float


@dataclass(frozen=True, eq=False)
class State:
    """The machine of an image, what its user said, and the last answer.

    Parameters
    ----------
    engine : Engine
    knowledge : Knowledge
    labels : ndarray of int
        At full size, of the frame.
    rounds : Rounds
        What led to the first answer; clicks leave it as it is.
    coarse : ndarray of int or None
        The labels at the working size; None after clicks, which change them at full size.
    deepest : float
        No later click on a photo is taken for deeper than this.
    field : ndarray of int8 or None
        What the labels of a volume are the sign of; None while it is the labels themselves.
    """

    engine: Engine
    knowledge: Knowledge
    labels: Labels
    rounds: Rounds
    coarse: Labels | None = None
    deepest: float = np.inf
    field: NDArray[np.int8] | None = None

    def with_strokes(self, scribbles: ArrayLike) -> Segmentation:
        """The answer after more strokes, from the last labels."""
        clock = Clock()
        engine = self.engine.localized(clock)
        knowledge = self.knowledge.with_strokes(scribbles)
        if self.field is not None:
            with clock("walk"):
                return _painted(replace(self, engine=engine, knowledge=knowledge)).result(clock)
        known = knowledge.known_levels
        with clock("start"):
            coarse = self.coarse
            if coarse is None:
                coarse = _shrunk(self.labels == 1, engine.sizes.steps).astype(np.int64)
            labels = follow_strokes(engine.channels, coarse, known[-1], engine.n_labels)
            if not np.bincount(labels.ravel(), minlength=engine.n_labels).all():
                # The stroke resembles all of a label: it changes nothing beyond itself.
                labels = np.where(known[-1] < 0, coarse, known[-1])
        return _Round(engine, knowledge, clock).solve([labels]).result(clock)

    def with_clicks(self, clicks: Iterable[Any]) -> Segmentation:
        """The answer after more clicks, one after the other."""
        if len(self.knowledge.names) != 2:
            raise ValueError(f"clicks need an object and a background; there are {len(self.knowledge.names)} labels.")
        more = self.knowledge.in_frame(check_clicks(clicks, self.knowledge.shape))
        if not more:
            raise ValueError("every click lies on what is known to be background: far outside the box.")
        clock = Clock()
        return self.after(more, clock).result(clock)

    def begun_anew(self, clicks: Iterable[Any]) -> Segmentation:
        """The answer to first clicks on the same image."""
        if not self.knowledge.is_begun_by_clicks:
            raise ValueError("this segmentation was not begun by clicks; use segment() with clicks.")
        hard, spacing = self.engine.settings.hard, self.knowledge.levels.spacing
        knowledge = gather(self.knowledge.shape, clicks=clicks, hard=hard, spacing=spacing)
        clock = Clock()
        return first_answer(self.engine, knowledge, clock).result(clock)

    def after(self, clicks: Iterable[Click], clock: Clock) -> State:
        """The state after clicks in pixels of the frame, at least one."""
        # Walks in volumes need no graph of the pixels.
        engine = self.engine.localized(clock) if self.labels.ndim == 2 else self.engine
        knowledge, labels, deepest, field = self.knowledge, self.labels, self.deepest, self.field
        for click in clicks:
            with clock("click"):
                if labels.ndim == 2:
                    labels, knowledge, deepest = correct_photo(engine, knowledge, labels, click, deepest)
                    continue
                if field is None:
                    field = np.where(labels == 1, 127, -127).astype(np.int8)
                field, labels, knowledge = Walker(engine).correct(field, labels, knowledge, click)
        return State(engine, knowledge, labels, self.rounds, None, deepest, field)

    def with_field(self, field: NDArray[np.int8]) -> State:
        """The state whose labels are the signs of a field."""
        labels = Walker(self.engine).labels_of(field, self.knowledge.known)
        return replace(self, labels=labels, coarse=None, field=field)

    def result(self, clock: Clock) -> Segmentation:
        """The answer for the user: of the whole image, with the names of the labels."""
        knowledge, rounds, codes = self.knowledge, self.rounds, self.labels
        if codes.shape != knowledge.shape:
            codes = np.zeros(knowledge.shape, dtype=codes.dtype)
            codes[knowledge.frame] = self.labels
        return Segmentation(
            codes=codes,
            energy=min(rounds.trace),
            trace=rounds.trace,
            n_iter=len(rounds.trace) - 1,
            converged=rounds.converged,
            smoothness=rounds.smoothness,
            timings=clock.seconds,
            label_names=knowledge.names,
            _state=self,
        )


def first_answer(engine: Engine, knowledge: Knowledge, clock: Clock, size: float | None = None) -> State:
    """Find a start, then solve; a start too strict for the object to fill its box gives way to the next.

    Where contrast does not carry the answer to a click or strokes in a volume, or it is far from the size that was
    named, walks around the click replace it. Clicks beyond what is needed to begin with correct that answer in turn, as
    if they had come later.
    """
    waiting, knowledge = knowledge.waiting, replace(knowledge, waiting=())
    if knowledge.clicks:
        engine = engine.localized(clock)
    knowledge = replace(knowledge, levels=knowledge.levels.deepened(engine.sizes.steps))
    known = knowledge.known_levels
    outside = None if knowledge.around is None else _shrunk(knowledge.around, engine.sizes.steps)
    if outside is not None and outside.all():
        raise ValueError("the box is too small to be seen at the working size; use hard=True or more working_pixels.")
    starts = _starts(engine, knowledge, known[-1], outside, clock)
    fills_its_box = None if knowledge.guess is not None else outside
    first = _Round(engine, knowledge, clock, fills_its_box).solve(starts)
    if len(knowledge.shape) == 3 and outside is None and knowledge.guess is None:
        with clock("walk"):
            first = _walked(first, size)
    return first.after(waiting, clock) if waiting else first


def _starts(
    engine: Engine, knowledge: Knowledge, known: Labels, outside: Mask | None, clock: Clock
) -> Iterator[Labels]:
    settings = engine.settings
    with clock("start"):
        if knowledge.guess is not None:
            guesses: list[Labels] = [_shrunk(knowledge.guess, engine.sizes.steps).astype(np.int64)]
        elif outside is None:
            guesses = [start_from_strokes(engine.channels, known, engine.n_labels)]
        elif settings.start == "box":
            guesses = [(~outside).astype(np.int64)]
        else:
            # A soft box does not constrain labels, but its outside is still where the start takes the background from.
            guesses = starts_from_box(engine.channels, outside, settings.strictness)
    for labels in guesses:
        yield follow_strokes(engine.channels, labels, known, engine.n_labels)


class _Round:
    """One call of the engine, with what this user's hints say about a good answer."""

    def __init__(self, engine: Engine, knowledge: Knowledge, clock: Clock, outside: Mask | None = None) -> None:
        self.engine = engine
        self.knowledge = knowledge
        self.known = knowledge.known_levels
        self.clock = clock
        self.free = self.known[-1] < 0
        self.box = None if outside is None else window_of(~outside)

    def solve(self, starts: Iterable[Labels]) -> State:
        """The state that the rounds lead to; a warning where it says nothing."""
        levels, rounds, smoothness = self.engine.solve(
            self.known,
            map(self._checked, starts),
            self.clock,
            evidence=evidence_of(self.engine, self.knowledge),
            hold=self.engine.settings.hold(in_box=not self.knowledge.is_begun_by_clicks),
            trivial=self._is_trivial,
            flaw=self._emptiness,
            finish=self._only_what_was_clicked,
        )
        coarse = rounds.step.labels
        if rounds.lost_label or self._is_trivial(coarse):
            warn_user(
                f"{(coarse[self.free] == 1).mean():.1%} of what was undecided came out as object even with a weak "
                "boundary term: the colours do not tell object and background apart; add scribbles.",
            )
        summary = Rounds(rounds.trace, rounds.converged, smoothness)
        return State(self.engine, self.knowledge, levels[0], summary, levels[-1])

    def _only_what_was_clicked(self, labels: Labels) -> Labels:
        """Without parts that only share the object's colours: an object begun by clicks is where the clicks are."""
        if not self.knowledge.is_begun_by_clicks:
            return labels
        return np.where(parts_with(labels == 1, self.known[-1] == 1), labels, 0)

    def _checked(self, labels: Labels) -> Labels:
        missing = np.flatnonzero(np.bincount(labels.ravel(), minlength=self.engine.n_labels) == 0)
        if missing.size:
            raise ValueError(
                f"no pixel is left for label {self.knowledge.names[missing[0]]}: the box, mask and scribbles rule it "
                "out; draw less over it."
            )
        return labels

    def _is_trivial(self, labels: Labels) -> bool:
        """Whether the raw box, or a speck of it, is given back as if it were an answer."""
        if self.knowledge.outside is None or not self.free.any():
            return False
        share = float((labels[self.free] == 1).mean())
        return share > _FULL or share < _EMPTY

    def _emptiness(self, labels: Labels) -> float:
        """How much of the box the object leaves empty along a side, beyond what may be."""
        return 0.0 if self.box is None else max(0.0, largest_gap(labels == 1, self.box) - self.engine.settings.slack)


def _walked(state: State, size: float | None) -> State:
    """The first answer in a volume, or one of walks where contrast does not carry it."""
    engine, knowledge, settings = state.engine, state.knowledge, state.engine.settings
    if len(knowledge.names) != 2 or settings.criterion != "entropy" or state.coarse is None:
        return state
    if knowledge.clicks:
        # With the voxels beside it: one alone is noise.
        beside = tuple(slice(max(0, at - 1), at + 2) for at in knowledge.clicks[0].at)
        shown = engine.images[0][beside].reshape(-1, engine.images[0].shape[-1])
    else:
        shown = engine.images[0][knowledge.known == 1]
    unlike = np.linalg.norm(engine.images[-1] - shown.mean(axis=0), axis=-1)
    carried = contrast_of(unlike, state.coarse == 1) >= settings.volumes.contrast
    if size is not None and carried:
        n_voxels = np.count_nonzero(state.labels == 1) * np.prod(engine.sizes.spacings[0])
        carried = bool(0.5 < n_voxels / (4 / 3 * np.pi * size**3) < 2)
    if carried:
        return state
    if not knowledge.clicks:
        return _painted(state)
    return state.with_field(Walker(engine).first_field(knowledge.clicks[0], size))


def _painted(state: State) -> State:
    """The answer to strokes by walks from them; beyond their reach the last field stays as it is."""
    return state.with_field(Walker(state.engine).painted_field(state.field, state.labels, state.knowledge.levels))


def contrast_of(unlike: NDArray[np.floating], mask: Mask) -> float:
    """The probability that a voxel within two of the contour inside is less `unlike` than one outside.

    .5 says nothing, 1 everything.

    Examples
    --------
    >>> row = np.array([[1.0, 0.9, 0.1, 0.0]])
    >>> contrast_of(row, row < 0.5)
    1.0
    """
    if mask.all() or not mask.any():
        return 0.5
    block = np.ones((3,) * mask.ndim)
    inside = unlike[mask & ~binary_erosion(mask, block, iterations=_SHELL, border_value=1)]
    outside = np.sort(unlike[binary_dilation(mask, block, iterations=_SHELL) & ~mask])
    below, up_to = (np.searchsorted(outside, inside, side=side) for side in ("left", "right"))
    return 1 - float((below + up_to).mean()) / (2 * len(outside))


def _shrunk(region: Mask, steps: Iterable[Steps]) -> Mask:
    """The region at the working size: where it fills half."""
    share = region.astype(np.float32)
    for step in steps:
        share = halve(share, step)
    return share >= 0.5
