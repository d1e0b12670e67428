"""A click corrects the mask around itself: its depth is the bandwidth, and nothing changes out of its reach.

The depth is the distance of a click to the contour. A click in the middle of an error is about as deep as the error is
thick. In photos every pixel of a window without the click's label gets log odds of being wrong, too, and one graph cut
decides; for volumes see `walks`.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, maximum_filter

from .cuts import GridCut, boundary_weights
from .distances import geodesic_distance, parts_of, parts_with
from .engine import Engine, enlarge_part, sharpen_band
from .grid import Labels, Mask, Shape, Slices, enlarge, halve, scaled
from .knowledge import Knowledge
from .prompts import Click, pin_radius

Floats = NDArray[np.floating]



def depth_of(click: Click, labels: Labels, spacing: tuple[float, ...]) -> float:
    """Distance of a click to the nearest pixel that has its label; infinite where there is none.

    Examples
    --------
    >>> depth_of(Click((0, 1), True), np.array([[0, 0, 0, 1]]), (1.0, 2.0))
    4.0
    """
    reach = 8.0
    while True:
        window = window_around(click, reach, labels.shape, spacing)
        right = np.argwhere(labels[window] == click.code)
        nearest = np.inf
        if len(right):
            away = (right + [part.start for part in window] - np.array(click.at)) * spacing
            nearest = float(np.sqrt((away**2).sum(axis=1).min()))
        if nearest <= reach or labels[window].size == labels.size:
            return nearest
        reach *= 2


def window_around(click: Click, reach: float, shape: Shape, spacing: tuple[float, ...]) -> Slices:
    """The part of the grid within `reach` of a click along every axis.

    Examples
    --------
    >>> window_around(Click((5, 1), True), 2.0, (9, 9), (2.0, 1.0))
    (slice(4, 7, None), slice(0, 4, None))
    """
    return tuple(
        slice(max(0, at - int(reach / side)), min(size, at + int(reach / side) + 1))
        for at, size, side in zip(click.at, shape, spacing)
    )


def distances_from(window: Slices, centre: NDArray[np.floating], spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """From a point to every pixel of a window."""
    along = [((np.arange(part.start, part.stop) - at) * side) ** 2 for part, at, side in zip(window, centre, spacing)]
    squared = np.zeros((1,) * len(along))
    for axis in np.ix_(*along):
        squared = squared + axis
    return np.sqrt(squared)


def correct_photo(
    engine: Engine, knowledge: Knowledge, labels: Labels, click: Click, deepest: float = np.inf
) -> tuple[Labels, Knowledge, float]:
    """The labels after one more click: of what may change in its window, the part that holds the click.

    Also what is known with it, and how deep the next click can be.

    No click is taken for deeper than the one before, or than what that one changed, since people click on the largest
    error first. A large window is looked at in a smaller image, and the contour of what changes is then found anew at
    every size.
    """
    spacing, settings = engine.sizes.spacings[0], engine.settings
    depth = min(depth_of(click, labels, spacing), deepest, float(np.hypot.reduce(labels.shape)))
    depth = max(1.5, _even_depth(engine, click, depth))
    knowledge = knowledge.with_click(click, pin_radius(labels.shape, settings.click_core * depth))
    reach = settings.click_window * depth + 4
    level, window = size_for(engine, click, reach, settings.most_pixels)
    view = _View(engine, knowledge, labels, click, depth, (level, window))
    odds = view.odds()
    taken = view.part_under_click(view.cut(odds))
    corrected = labels.copy()
    whole = scaled(window, engine.sizes.factor_to(level))
    corrected[whole] = view.drawn(taken, odds)
    known = knowledge.known[whole]
    corrected[whole][known >= 0] = known[known >= 0]
    if not np.bincount(corrected.ravel(), minlength=2).all():
        # The click is like all of a label: it speaks for its own place only.
        corrected[whole] = np.where(known >= 0, known, labels[whole])
    if not click.is_object and knowledge.is_begun_by_clicks:
        # What the click has cut off from every click on the object is no part of it.
        corrected = np.where(parts_with(corrected == 1, knowledge.known == 1), corrected, 0).astype(labels.dtype)
    if labels[click.at] == click.code:
        return corrected, knowledge, deepest
    changed = corrected[whole] != labels[whole]
    inner = float(distance_transform_edt(np.pad(changed, 1), sampling=spacing).max()) if changed.any() else 0.0
    return corrected, knowledge, max(depth, inner)


def _even_depth(engine: Engine, click: Click, depth: float) -> float:
    """The depth, or how far the even ground around a click goes: a circle all behind contours ends it."""
    level, window = size_for(engine, click, depth, engine.settings.most_pixels)
    place = np.array(click.at) // engine.sizes.factor_to(level)
    away = distances_from(window, place, engine.sizes.spacings[level])
    ground = engine.ground_in(level, window)
    way = geodesic_distance(ground, away <= 1.5 * min(engine.sizes.spacings[level]), step=0.0)
    circle = (away / max(engine.sizes.spacings[level])).astype(int)
    on_even_ground = np.bincount(circle.ravel(), (way <= engine.settings.click_reach).ravel())
    ends = np.flatnonzero(on_even_ground == 0) * max(engine.sizes.spacings[level])
    return min(depth, float(ends[0])) if len(ends) else depth


def size_for(engine: Engine, click: Click, reach: float, most: int) -> tuple[int, Slices]:
    """The first size at which the window of a click has at most so many pixels, and that window."""
    for level, image in enumerate(engine.images):
        factor = engine.sizes.factor_to(level)
        moved = click._replace(at=tuple(at // times for at, times in zip(click.at, factor)))
        window = window_around(moved, reach, image.shape[:-1], engine.sizes.spacings[level])
        if level == len(engine.images) - 1 or np.prod([part.stop - part.start for part in window]) <= most:
            break
    return level, window


class _View:
    """The window of a click at one of the sizes of the image."""

    def __init__(
        self,
        engine: Engine,
        knowledge: Knowledge,
        labels: Labels,
        click: Click,
        depth: float,
        place: tuple[int, Slices],
    ):
        self.engine, self.knowledge, self.click = engine, knowledge, click
        level, window = place
        self.depth, self.level, self.window, self.spacing = depth, level, window, engine.sizes.spacings[level]
        self.settings, self.factor = engine.settings, engine.sizes.factor_to(level)
        self.whole_labels = labels
        self.finer = [labels[scaled(window, self.factor)]]
        for step in engine.sizes.steps[:level]:
            self.finer.append((halve(self.finer[-1] == 1, step) >= 0.5).astype(labels.dtype))
        self.labels = self.finer[-1]
        self.known = knowledge.levels.known[level][window]
        self.ground = engine.ground_in(level, window)
        self.place = tuple(at // times for at, times in zip(click.at, self.factor))
        self.here = tuple(at - part.start for at, part in zip(self.place, window))
        self.away = distances_from(window, np.array(self.place), self.spacing)
        self.free = (self.labels != click.code) & (self.known < 0)
        self.core = self.away <= max(self.settings.click_core * depth, 0.7 * min(self.spacing))

    def odds(self) -> NDArray[np.float64]:
        """Log odds that pixels are wrong in the way that the one clicked on is."""
        settings, wrong = self.settings, self.labels != self.click.code
        inside = np.full(wrong.shape, np.inf)
        if not wrong.all():
            inside = distance_transform_edt(wrong, sampling=self.spacing)
        way = geodesic_distance(self.ground, self.core, step=settings.click_step, spacing=self.spacing)
        odds = settings.odds_at_depth - settings.odds_distance * np.log(np.maximum(self.away / self.depth, 0.3))
        odds -= settings.odds_inside * np.minimum(inside / self.depth, 4)
        odds -= settings.odds_way * np.log(0.05 + np.minimum(way, 20))
        odds += settings.odds_densities * np.clip(self._densities(), -4, 4)
        return np.asarray(odds + settings.odds_local * self._local_densities(wrong))

    def _densities(self) -> NDArray[np.floating]:
        """Log likelihood ratio of the click's label under the densities of the criterion, once they know its core."""
        engine, factor, code = self.engine, self.engine.factor, self.click.code
        coarse = self.whole_labels[tuple(slice(None, None, times) for times in factor)].astype(np.int64)
        core = np.argwhere(self.core) + [part.start for part in self.window]
        coarse[tuple((core * self.factor // factor).T)] = code
        if not np.bincount(coarse.ravel(), minlength=2).all():
            return np.zeros(self.labels.shape)
        costs = engine.term.at(coarse.ravel(), 2).costs
        ratio = (costs[:, 1 - code] - costs[:, code]).reshape(*coarse.shape, 1) / engine.term.nat
        step = tuple(large // small for large, small in zip(factor, self.factor))
        return enlarge_part(ratio, step, self.window, self.labels.shape).reshape(self.labels.shape)

    def _local_densities(self, wrong: Mask) -> Floats:
        """Log likelihood ratio of the colours of the core against those some depths around, from a few pixels each."""
        settings, random = self.settings, np.random.default_rng(0)
        step = 1 + (wrong.size > 10_000) + (wrong.size > 60_000)
        some = self.ground[(slice(None, None, step),) * wrong.ndim]
        flat = some.reshape(-1, some.shape[-1]).astype(np.float32)
        around = wrong & (self.away > settings.click_around * self.depth)
        density = []
        for region, most in ((self.core, 60), (around, 120)):
            sample = self.ground[region].astype(np.float32)
            sample = sample[random.permutation(len(sample))[:most]]
            squared = (flat**2).sum(axis=1)[:, None] + (sample**2).sum(axis=1) - 2 * flat @ sample.T
            near = np.exp(-np.maximum(squared, 0) / np.float32(2 * settings.local_width**2))
            density.append(np.asarray(near.mean(axis=1) if len(sample) else np.full(len(flat), 1e-3)))
        ratio = np.log((density[0] + 0.01) / (density[1] + 0.01)).reshape(*some.shape[:-1], 1)
        window = tuple(slice(0, size) for size in wrong.shape)
        enlarged: Floats = enlarge_part(ratio, (step,) * wrong.ndim, window, wrong.shape)
        return enlarged.reshape(wrong.shape)

    def cut(self, odds: Floats) -> Mask:
        """The pixels whose label the least cut changes: what lies at the rim of the window stays as it is."""
        may = np.zeros(self.free.shape, dtype=bool)
        sizes = self.engine.images[self.level].shape[:-1]
        inner = tuple(
            slice(int(part.start > 0), part.stop - part.start - int(part.stop < size))
            for part, size in zip(self.window, sizes)
        )
        may[inner] = self.free[inner]
        force = 1e3 * max(1.0, self.settings.relative_smoothness)
        fixed = np.where(self.known < 0, self.labels, self.known)
        unary = np.where(may, -odds if self.click.is_object else odds, np.where(fixed == 1, -force, force))
        weights = self._weigh(self.engine.images[self.level][self.window], level=self.level, weight=1.0)
        return np.asarray(GridCut(weights).minimize(unary) != (self.labels == 1))

    def _weigh(self, part: Floats, *, level: int, weight: float) -> NDArray[np.float64]:
        engine, settings = self.engine, self.settings
        spacing, scale = engine.sizes.spacings[level], engine.scales[level]
        weights = boundary_weights(np.ascontiguousarray(part), settings.regularizer, scale=scale, spacing=spacing)
        weights *= weight * settings.click_boundary * settings.relative_smoothness
        return weights

    def part_under_click(self, changed: Mask) -> Mask:
        """The part of what changes that holds the click."""
        parts = parts_of(changed)
        return (parts == parts[self.here]) & changed

    def drawn(self, taken: Mask, odds: Floats) -> Labels:
        """The labels of the window at full size: around the contour of what is taken they are decided anew."""
        labels = np.where(taken, self.click.code, self.labels).astype(self.labels.dtype)
        near = maximum_filter(taken, 2 * self.settings.band_radius + 1)
        costs = np.zeros((*odds.shape, 2))
        costs[..., self.click.code] = -odds
        sizes = self.engine.sizes
        for level in range(self.level - 1, -1, -1):
            factor = tuple(large // small for large, small in zip(self.factor, sizes.factor_to(level)))
            part, before = scaled(self.window, factor), self.finer[level]
            # What has the click's label keeps it.
            may = enlarge(near, before.shape, factor) & (before != self.click.code)
            known = np.where(may, self.knowledge.levels.known[level][part], before)
            weight = self.settings.band_weight ** (self.level - level)
            labels = sharpen_band(
                self.engine.images[level][part],
                labels,
                costs,
                known,
                step=sizes.steps[level],
                factor=factor,
                radius=self.settings.band_radius,
                weigh=partial(self._weigh, level=level, weight=weight),
            )
        return labels
