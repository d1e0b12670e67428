"""A click corrects the mask around itself: its depth is the bandwidth, and nothing changes out of its reach.

The depth is the distance of a click to the contour. A click in the middle of an error is about as deep as the error is
thick. In photos every pixel of a window without the click's label gets log odds of being wrong, too, and one graph cut
decides; a click beside the middle is then moved to the centre of the largest ball that it changes. For volumes see
`walks`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, maximum_filter

from .cuts import GridCut
from .distances import geodesic_distance, parts_of, parts_with
from .engine import Engine, enlarge_part
from .grid import Labels, Mask, Slices, boundary_energy, edge_measures, enlarge, everywhere, halve, scaled
from .knowledge import Knowledge
from .prompts import Click, pin_radius, squared_distances, window_around

Floats = NDArray[np.floating]

#: Pixels; a click on the contour itself is taken for so deep.
_LEAST_DEPTH = 1.5

#: A ball this much larger than the depth of a click shows that the click is beside the middle of the error.
_LARGER = 1.2


def depth_of(click: Click, labels: Labels, spacing: tuple[float, ...]) -> float:
    """Distance of a click to the nearest pixel that has its label; infinite if no pixel has it.

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
            offsets = (right + [span.start for span in window] - np.array(click.at)) * spacing
            nearest = float(np.sqrt((offsets**2).sum(axis=1).min()))
        if nearest <= reach or labels[window].size == labels.size:
            return nearest
        reach *= 2


def correct_photo(
    engine: Engine, knowledge: Knowledge, labels: Labels, click: Click, deepest: float = np.inf
) -> tuple[Labels, Knowledge, float]:
    """The labels after another click: of what may change in its window, the part that holds the click.

    Also what is known with it, and how deep the next click can be.

    No click is taken for deeper than the one before, or than what that one changed, since people click on the largest
    error first. A click on a thin part can be far from the contour, so the depth is halved while that halves the
    openness of the new contour. A click beside the middle of an error is not as deep as the error is thick: where what
    it changes holds a larger ball around it, that ball has the depth and the middle. A large window is corrected in a
    smaller image, and the contour of what changes is then found at every size.
    """
    spacing = engine.sizes.spacings[0]
    depth = min(depth_of(click, labels, spacing), deepest, float(np.hypot.reduce(labels.shape)))
    view = _View(engine, knowledge, labels, click, max(depth, _LEAST_DEPTH))
    while view.depth >= 2 * _LEAST_DEPTH:
        smaller = _View(engine, knowledge, labels, click, view.depth / 2)
        if view.openness <= 2 * smaller.openness:
            break
        view = smaller
    if labels[click.at] != click.code and view.taken.any():
        radius, centre = view.largest_ball()
        if min(radius, deepest) >= _LARGER * view.depth:
            larger = _View(engine, knowledge, labels, click, min(radius, deepest), centre)
            view = larger if larger.taken.any() else view
    known, depth, window = view.knowledge.known[view.whole], view.depth, view.whole
    corrected = labels.copy()
    corrected[window] = view.drawn()
    corrected[window][known >= 0] = known[known >= 0]
    if not np.bincount(corrected.ravel(), minlength=2).all():
        # The click is similar to all of a label: it fixes its own place only.
        corrected[window] = np.where(known >= 0, known, labels[window])
    knowledge = view.knowledge
    if not click.is_object and knowledge.is_begun_by_clicks:
        # Remove what the click has cut off from every click on the object.
        corrected = np.where(parts_with(corrected == 1, knowledge.known == 1), corrected, 0).astype(labels.dtype)
    if labels[click.at] == click.code:
        return corrected, knowledge, deepest
    changed = corrected[window] != labels[window]
    inner = float(distance_transform_edt(np.pad(changed, 1), sampling=spacing).max()) if changed.any() else 0.0
    return corrected, knowledge, max(depth, inner)


def size_for(engine: Engine, click: Click, reach: float, max_pixels: int) -> tuple[int, Slices]:
    """The first size at which the window of a click has at most so many pixels, and that window."""
    for level, image in enumerate(engine.images):
        factor = engine.sizes.factor(0, level)
        moved = click._replace(at=tuple(at // times for at, times in zip(click.at, factor)))
        window = window_around(moved, reach, image.shape[:-1], engine.sizes.spacings[level])
        if level == len(engine.images) - 1 or np.prod([span.stop - span.start for span in window]) <= max_pixels:
            break
    return level, window


class _View:
    """The window of a click of some depth, at the first size at which it is small, and what the click changes.

    Its middle is `centre`, by default the click.
    """

    def __init__(
        self,
        engine: Engine,
        knowledge: Knowledge,
        labels: Labels,
        click: Click,
        depth: float,
        centre: tuple[int, ...] | None = None,
    ):
        settings = engine.settings
        self.engine, self.click, self.depth, self.settings = engine, click, depth, settings
        self.knowledge = knowledge.with_click(click, pin_radius(labels.shape, settings.click_core * depth))
        middle = click._replace(at=centre or click.at)
        level, window = size_for(engine, middle, settings.click_window * depth + 4, settings.most_pixels)
        self.level, self.window, self.spacing = level, window, engine.sizes.spacings[level]
        self.boundary = settings.click_boundary * settings.relative_smoothness
        self.factor = engine.sizes.factor(0, level)
        self.whole = scaled(window, self.factor)
        self.whole_labels = labels
        self.finer = [labels[self.whole]]
        for step in engine.sizes.steps[:level]:
            self.finer.append((halve(self.finer[-1] == 1, step) >= 0.5).astype(labels.dtype))
        self.labels = self.finer[-1]
        self.known = self.knowledge.levels.known[level][window]
        self.ground = engine.ground_in(level, window)
        self.away = np.sqrt(squared_distances(window, np.array(middle.at) // self.factor, self.spacing))
        self.from_click = np.sqrt(squared_distances(window, np.array(click.at) // self.factor, self.spacing))
        pixel = 0.7 * min(self.spacing)
        self.core = (self.away <= max(settings.click_core * depth, pixel)) | (self.from_click <= pixel)
        self.odds = self._odds()
        changed, weights = self._cut()
        parts = parts_of(changed)
        self.taken = (parts == parts[self.from_click == 0]) & changed
        self.openness = self._openness(weights)

    def largest_ball(self) -> tuple[float, tuple[int, ...]]:
        """Radius and centre, in pixels of the whole image, of the largest ball that holds the click and changes."""
        inside = distance_transform_edt(np.pad(self.taken, 1), sampling=self.spacing)[1:-1, 1:-1]
        inside = np.where(self.from_click <= inside, inside, 0)
        at = np.unravel_index(int(inside.argmax()), inside.shape)
        corner = np.array([side.start for side in self.window])
        centre = (corner + at) * self.factor + np.array(self.factor) // 2
        return float(inside[at]), tuple(int(place) for place in centre)

    def _odds(self) -> NDArray[np.float64]:
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
        core = np.argwhere(self.core) + [span.start for span in self.window]
        coarse[tuple((core * self.factor // factor).T)] = code
        if not np.bincount(coarse.ravel(), minlength=2).all():
            return np.zeros(self.labels.shape)
        costs = engine.term.at(coarse.ravel(), 2).costs
        ratio = (costs[:, 1 - code] - costs[:, code]).reshape(*coarse.shape, 1) / engine.term.nat
        step = tuple(large // small for large, small in zip(factor, self.factor))
        return enlarge_part(ratio, step, self.window, self.labels.shape)[..., 0]

    def _local_densities(self, wrong: Mask) -> Floats:
        """Log likelihood ratio of the colours of the core against those some depths around, from a few pixels each."""
        settings, random = self.settings, np.random.default_rng(0)
        step = 1 + (wrong.size > 10_000) + (wrong.size > 60_000)
        some = self.ground[(slice(None, None, step),) * wrong.ndim]
        flat = some.reshape(-1, some.shape[-1]).astype(np.float32)
        surroundings = wrong & (self.away > settings.click_around * self.depth)
        density = []
        for region, max_pixels in ((self.core, 60), (surroundings, 120)):
            sample = self.ground[region].astype(np.float32)
            sample = sample[random.permutation(len(sample))[:max_pixels]]
            squared = (flat**2).sum(axis=1)[:, None] + (sample**2).sum(axis=1) - 2 * flat @ sample.T
            similarity = np.exp(-np.maximum(squared, 0) / np.float32(2 * settings.local_width**2))
            density.append(np.asarray(similarity.mean(axis=1) if len(sample) else np.full(len(flat), 1e-3)))
        ratio = np.log((density[0] + 0.01) / (density[1] + 0.01)).reshape(*some.shape[:-1], 1)
        enlarged: Floats = enlarge_part(ratio, (step,) * wrong.ndim, everywhere(wrong.shape), wrong.shape)
        return enlarged[..., 0]

    def _cut(self) -> tuple[Mask, NDArray[np.float64]]:
        """The pixels whose label the minimum cut changes, and the weights of its edges; the rim is fixed."""
        may = np.zeros(self.labels.shape, dtype=bool)
        sizes = self.engine.images[self.level].shape[:-1]
        inner = tuple(
            slice(int(side.start > 0), side.stop - side.start - int(side.stop < size))
            for side, size in zip(self.window, sizes)
        )
        may[inner] = ((self.labels != self.click.code) & (self.known < 0))[inner]
        force = 1e3 * max(1.0, self.settings.relative_smoothness)
        fixed = np.where(self.known < 0, self.labels, self.known)
        costs = -self.odds if self.click.is_object else self.odds
        pixels = self.engine.images[self.level][self.window]
        weights = self.engine.weigh(pixels, level=self.level, weight=self.boundary)
        unary = np.where(may, costs, np.where(fixed == 1, -force, force))
        return np.asarray(GridCut(weights).minimize(unary) != (self.labels == 1)), weights

    def _openness(self, weights: NDArray[np.float64]) -> float:
        """Weight of the new contour relative to that of its length: 1 without any contrast."""
        own = self.labels == self.click.code
        regions = ((self.taken, 0.5), (~own & ~self.taken, 0.5), (own, -0.5))
        plain = np.broadcast_to(edge_measures(self.spacing), weights.shape)
        weight, length = (sum(sign * boundary_energy(w, region) for region, sign in regions) for w in (weights, plain))
        return weight / length if length > 0 else np.inf

    def drawn(self) -> Labels:
        """The labels of the window at full size: around the contour of what is taken they are decided anew."""
        labels = np.where(self.taken, self.click.code, self.labels).astype(self.labels.dtype)
        contour = maximum_filter(self.taken, 2 * self.settings.band_radius + 1)
        costs = np.zeros((*self.odds.shape, 2))
        costs[..., self.click.code] = -self.odds
        known = []
        for level, finer in enumerate(self.finer[:-1]):
            factor = self.engine.sizes.factor(level, self.level)
            # What has the click's label keeps it.
            may = enlarge(contour, finer.shape, factor) & (finer != self.click.code)
            known.append(np.where(may, self.knowledge.levels.known[level][scaled(self.window, factor)], finer))
        return self.engine.sharpen(labels, costs, [*known, self.known], self.boundary, self.window)[0]
