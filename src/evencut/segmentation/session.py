"""One image with one user: the first answer, and the next one after more strokes or clicks.

A `State` is all that the next answer needs; it holds arrays only, so that results can be pickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import binary_dilation, distance_transform_edt, maximum_filter

from .._runtime import warn_user
from .distances import (
    follow_strokes,
    geodesic_distance,
    largest_gap,
    off_centre,
    parts_of,
    parts_with,
    start_from_strokes,
    starts_from_box,
)
from .energy import Round
from .engine import Clock, Engine
from .grid import Labels, Mask, Steps, halve, rim_of, window_of
from .knowledge import Knowledge, gather
from .prompts import Click, check_clicks, click_evidence, seeds_of
from .result import Segmentation

#: How many times smaller the working size may be for all of a click's reach to be drawn anew.
_MOST_REDRAWN = {2: 4, 3: 1}
_HALVINGS = 5


@dataclass(frozen=True, eq=False)
class Correction:
    """What clicks changed at the working size.

    Parameters
    ----------
    end : Round
        The labels after the click, with the costs that led to them.
    touched : ndarray of bool
        Where the contour is drawn anew: in the reach of the click; in photos of many megapixels and in volumes,
        where that would take long, around what changed.
    smoothness : float
        Weight of the boundary term that was used.
    trace : tuple of float
        Energies of the rounds.
    converged : bool
    """

    end: Round
    touched: Mask
    smoothness: float
    trace: tuple[float, ...]
    converged: bool


def evidence_of(engine: Engine, knowledge: Knowledge) -> NDArray[np.float64] | None:
    """What the clicks and the shape of the box say about every pixel of the working size; None without either."""
    settings, shape = engine.settings, engine.channels.shape
    evidence = None
    if knowledge.clicks:
        evidence = click_evidence(
            engine.ground,
            knowledge.clicks,
            engine.factor,
            strength=settings.click_strength,
            reach=settings.click_reach,
            step=settings.click_step,
            spacing=engine.spacing,
        )
        if knowledge.is_begun_by_clicks:
            distance = geodesic_distance(
                engine.ground, rim_of(shape[:-1]), step=settings.click_step, spacing=engine.spacing
            )
            evidence[:, 1] += settings.rim_strength * np.exp(-((distance.ravel() / settings.click_reach) ** 2))
    if knowledge.around is not None and settings.criterion == "entropy":
        box = list(zip(window_of(~knowledge.around), engine.factor))
        first, last = [part.start / times for part, times in box], [part.stop / times for part, times in box]
        place = off_centre(first, last, shape[:-1]).ravel()
        evidence = np.zeros((place.size, 2)) if evidence is None else evidence
        evidence[:, 1] += settings.centrality * place
    return evidence


def correct(engine: Engine, knowledge: Knowledge, known: Labels, labels: Labels, click: Click) -> Correction:
    """The labels at the working size after the last click of `knowledge`.

    Pixels that have the click's label keep it, and so do pixels out of its reach; of what then changes, only the
    parts that touch the click are accepted. People click in the middle of what is wrong, so that what is wrong is
    nowhere deeper than the click is far from what has its label: where the change would be deeper by far, the reach of
    the click is halved until it is not. An answer that a box made is trusted: beyond that depth it costs more to change
    what the box has found, or a click on a thin part would flow over the even ground beside it.
    """
    settings = engine.settings
    seeds = seeds_of([click], labels.shape, engine.factor)
    under = _dilated(seeds) | ((known >= 0) & (labels != known))
    distance = geodesic_distance(engine.ground, seeds, step=settings.click_step, spacing=engine.spacing)
    limit = settings.click_limit * settings.click_reach
    evidence = evidence_of(engine, knowledge)
    hold = settings.hold(len(knowledge.clicks), in_box=not knowledge.is_begun_by_clicks)
    away = _distances(seeds, engine.spacing)
    deepest = settings.click_depth * max(1.0, away.min(where=labels == click.code, initial=np.inf))
    if evidence is not None and knowledge.around is not None:
        kept = np.where(labels == click.code, 0.0, np.minimum(away / deepest, 1.0))
        evidence[:, click.code] += settings.click_trust * kept.ravel()
    followed = follow_strokes(engine.channels, labels, known, engine.n_labels)
    reach = limit
    for _ in range(_HALVINGS):
        in_reach = distance <= reach
        settled = np.where((known < 0) & (~in_reach | (labels == click.code)), labels, known)
        start = np.where(settled < 0, followed, settled)
        if not np.bincount(start.ravel(), minlength=engine.n_labels).all():
            # The click is like all of a label: it speaks for its own place only.
            start = np.where(known < 0, labels, known)
        rounds, smoothness = engine.rounds(settled, start, evidence, hold)
        accepted = np.where(known < 0, _parts_that_touch(under, rounds.step.labels, labels), known)
        if _depth(accepted != labels, engine.spacing) <= deepest:
            break
        reach /= 2
    else:
        # Even ground all over: the click speaks for what is near.
        accepted = np.where((known < 0) & (away > deepest), labels, accepted)
    if not click.is_object and knowledge.is_begun_by_clicks:
        # What the click has cut off from every click on the object is no part of it.
        accepted = np.where(parts_with(accepted == 1, known == 1), accepted, 0)
    touched = maximum_filter((accepted != labels) | under, 2 * (2 * settings.band_radius + 1) + 1)
    if max(engine.factor) <= _MOST_REDRAWN[labels.ndim]:
        touched |= in_reach
    end = Round(accepted, rounds.step.energy, rounds.step.state)
    return Correction(end, touched, smoothness, rounds.trace, rounds.converged)


def _distances(seeds: Mask, spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """From a single seed to every pixel."""
    squared = np.zeros((1,) * seeds.ndim)
    for axis, (at, size, side) in enumerate(zip(np.argwhere(seeds)[0], seeds.shape, spacing)):
        squared = squared + (((np.arange(size) - at) * side) ** 2).reshape(-1, *(1,) * (seeds.ndim - 1 - axis))
    return np.sqrt(squared)


def _depth(region: Mask, spacing: tuple[float, ...]) -> float:
    """How far the innermost pixel of a region is from what is not of it."""
    if not region.any():
        return 0.0
    return float(distance_transform_edt(np.pad(region[window_of(region)], 1), sampling=spacing).max())


def _parts_that_touch(place: Mask, found: Labels, labels: Labels) -> Labels:
    """The labels, changed to those found in the parts that touch the place."""
    parts = parts_of(found != labels)
    touching = np.isin(parts, np.unique(parts[_dilated(place)])) & (found != labels)
    return np.where(touching, found, labels)


def _dilated(region: Mask) -> Mask:
    """The region with all neighbours of its pixels."""
    return binary_dilation(region, np.ones((3,) * region.ndim))


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
