"""One image with one user: the first answer, and the next one after more strokes or clicks.

A `State` is all that the next answer needs; it holds arrays only, so that results can be pickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._runtime import warn_user
from .clicks import Click, check_clicks
from .clock import Clock
from .corrections import correct, evidence_of
from .engine import Engine
from .first_guess import follow_strokes, parts_with, start_from_strokes, starts_from_box
from .grid import Labels, Mask, Steps, window_of
from .images import halve
from .knowledge import Knowledge, gather
from .result import Segmentation
from .tightness import largest_gap

_FULL, _EMPTY = 0.98, 0.002


@dataclass(frozen=True, eq=False)
class State:
    """The machine of an image, what its user said, and the last labels at every size from full size on."""

    engine: Engine
    knowledge: Knowledge
    levels: tuple[Labels, ...]

    @property
    def coarse(self) -> Labels:
        """The labels at the working size."""
        return self.levels[-1]

    def with_strokes(self, scribbles: ArrayLike) -> Segmentation:
        """The answer after more strokes, from the last labels."""
        clock = Clock()
        engine = self.engine.localized(clock)
        knowledge = self.knowledge.with_strokes(scribbles)
        known = knowledge.known_levels
        with clock("start"):
            labels = follow_strokes(engine.channels, self.coarse, known[-1], engine.n_labels)
            if not np.bincount(labels.ravel(), minlength=engine.n_labels).all():
                # The stroke is like all of a label: it speaks for itself only.
                labels = np.where(known[-1] < 0, self.coarse, known[-1])
        return _Round(engine, knowledge, clock).solve([labels])

    def with_clicks(self, clicks: Iterable[Any]) -> Segmentation:
        """The answer after more clicks, one after the other; the contour is drawn anew where labels changed."""
        if len(self.knowledge.names) != 2:
            raise ValueError(f"clicks need an object and a background; there are {len(self.knowledge.names)} labels.")
        more = self.knowledge.in_frame(check_clicks(clicks, self.knowledge.shape))
        if not more:
            raise ValueError("every click lies on what is known to be background: far outside the box.")
        return self.after(more, Clock())

    def begun_anew(self, clicks: Iterable[Any]) -> Segmentation:
        """The answer to first clicks on the same image."""
        if not self.knowledge.is_begun_by_clicks:
            raise ValueError("this segmentation was not begun by clicks; use segment() with clicks.")
        hard, spacing = self.engine.settings.hard, self.knowledge.levels.spacing
        knowledge = gather(self.knowledge.shape, clicks=clicks, hard=hard, spacing=spacing)
        return first_answer(self.engine, knowledge, Clock())

    def after(self, clicks: Iterable[Click], clock: Clock) -> Segmentation:
        """The answer after clicks in pixels of the frame, at least one."""
        engine, knowledge, coarse = self.engine.localized(clock), self.knowledge, self.coarse
        touched = np.zeros(coarse.shape, dtype=bool)
        for click in clicks:
            with clock("rounds"):
                knowledge = knowledge.with_click(click)
                last = correct(engine, knowledge, knowledge.known_levels[-1], coarse, click)
            coarse, touched = last.end.labels, touched | last.touched
        with clock("contour"):
            levels = engine.sharpen(knowledge.known_levels, last.end, last.smoothness, self.levels, touched)
        return _result(State(engine, knowledge, levels), last.trace, last.converged, last.smoothness, clock)


def first_answer(engine: Engine, knowledge: Knowledge, clock: Clock) -> Segmentation:
    """Find a start, then solve; a start too strict for the object to fill its box gives way to the next.

    Clicks beyond what is needed to begin with correct that answer in turn, as if they had come later.
    """
    waiting, knowledge = knowledge.waiting, replace(knowledge, waiting=())
    if knowledge.clicks:
        engine = engine.localized(clock)
    knowledge = knowledge.for_sizes(engine.sizes.steps)
    known = knowledge.known_levels
    around = None if knowledge.around is None else _shrunk(knowledge.around, engine.sizes.steps)
    if around is not None and around.all():
        raise ValueError("the box is too small to be seen at the working size; use hard=True or more working_pixels.")
    starts = _starts(engine, knowledge, known[-1], around, clock)
    fills_its_box = None if knowledge.guess is not None else around
    first = _Round(engine, knowledge, clock, fills_its_box).solve(starts)
    return first._state.after(waiting, clock) if waiting and first._state is not None else first


def _starts(
    engine: Engine, knowledge: Knowledge, known: Labels, around: Mask | None, clock: Clock
) -> Iterator[Labels]:
    settings = engine.settings
    with clock("start"):
        if knowledge.guess is not None:
            rough: list[Labels] = [_shrunk(knowledge.guess, engine.sizes.steps).astype(np.int64)]
        elif around is None:
            rough = [start_from_strokes(engine.channels, known, engine.n_labels)]
        elif settings.start == "box":
            rough = [(~around).astype(np.int64)]
        else:
            # A soft box is no constraint, but its outside is still where the start takes the background from.
            rough = starts_from_box(engine.channels, around, settings.strictness)
    for labels in rough:
        yield follow_strokes(engine.channels, labels, known, engine.n_labels)


class _Round:
    """One call of the engine, with what this user's hints say about a good answer."""

    def __init__(self, engine: Engine, knowledge: Knowledge, clock: Clock, around: Mask | None = None) -> None:
        self.engine = engine
        self.knowledge = knowledge
        self.known = knowledge.known_levels
        self.clock = clock
        self.free = self.known[-1] < 0
        self.box = None if around is None else window_of(~around)

    def solve(self, starts: Iterable[Labels]) -> Segmentation:
        """The result; a warning where it says nothing."""
        answer = self.engine.solve(
            self.known,
            map(self._checked, starts),
            self.clock,
            evidence=evidence_of(self.engine, self.knowledge),
            hold=self.engine.settings.hold(0, in_box=not self.knowledge.is_begun_by_clicks),
            trivial=self._is_trivial,
            flaw=self._emptiness,
            finish=self._only_what_was_clicked,
        )
        coarse = answer.rounds.step.labels
        if answer.rounds.lost_label or self._is_trivial(coarse):
            _warn_of_trivial(float((coarse[self.free] == 1).mean()))
        state = State(self.engine, self.knowledge, answer.levels)
        return _result(state, answer.rounds.trace, answer.rounds.converged, answer.smoothness, self.clock)

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


def _result(
    state: State, trace: tuple[float, ...], converged: bool, smoothness: float, clock: Clock
) -> Segmentation:
    knowledge = state.knowledge
    codes = state.levels[0]
    if codes.shape != knowledge.shape:
        part, codes = codes, np.zeros(knowledge.shape, dtype=codes.dtype)
        codes[knowledge.frame] = part
    return Segmentation(
        codes=codes,
        energy=min(trace),
        trace=trace,
        n_iter=len(trace) - 1,
        converged=converged,
        smoothness=smoothness,
        timings=clock.seconds,
        label_names=knowledge.names,
        _state=state,
    )


def _shrunk(region: Mask, steps: Iterable[Steps]) -> Mask:
    """The region at the working size: where it fills half."""
    share = region.astype(np.float32)
    for step in steps:
        share = halve(share, step)
    return share >= 0.5


def _warn_of_trivial(share: float) -> None:
    warn_user(
        f"{share:.1%} of what was undecided came out as object even with a weak boundary term: the colours do not tell "
        "object and background apart; add scribbles.",
    )
