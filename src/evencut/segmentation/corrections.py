r"""A click corrects the mask around itself: its depth is the bandwidth, and nothing changes out of its reach.

The depth is the distance of a click to the contour. A click in the middle of an error is about as deep as the error is
thick. In photos every pixel of a window without the click's label gets log odds of being wrong, too, and one graph cut
decides. In volumes the mask is the sign of a smooth field, which the click changes by the share

.. math:: s(p) = e^{-(\phi \log u_p)^2}, \qquad (L + D)\, u = 0, \quad u = 1 \text{ around the click}

where u is the chance that a random walker from p gets to the click before it dies. It crosses contours rarely (L is the
Laplacian of the grid under local contrast) and lives for a few depths where the brightness is the click's (D).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, gaussian_filter1d, maximum_filter

from .cuts import GridCut, boundary_weights
from .distances import geodesic_distance, parts_of, parts_with
from .engine import Engine, enlarge_part, sharpen_band
from .grid import Labels, Mask, Shape, Slices, enlarge, halve, scaled, window_of
from .knowledge import Knowledge, KnownLevels
from .prompts import Click, pin_radius

Floats = NDArray[np.floating]

#: Pixels of a mask that its thickness is measured on.
_ENOUGH = 300_000


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


def thickness_of(click: Click, labels: Labels, spacing: tuple[float, ...]) -> float:
    """The most that a click can be deep: on the object the largest radius inside the mask, else that of the image.

    What is missing is no thicker than what is there. In a large mask every second or third pixel is looked at.

    Examples
    --------
    >>> thickness_of(Click((0, 1), True), np.array([[0, 0, 0, 1, 1, 1]]), (1.0, 1.0))
    1.0
    """
    if not click.is_object or not (labels == 1).any():
        return float(max(size * side for size, side in zip(labels.shape, spacing)))
    mask = labels[window_of(labels == 1)] == 1
    step = int(np.ceil((mask.size / _ENOUGH) ** (1 / mask.ndim)))
    some = np.pad(mask[(slice(None, None, step),) * mask.ndim], 1)
    return float(distance_transform_edt(some, sampling=[step * side for side in spacing]).max())


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


def _distances(window: Slices, centre: NDArray[np.floating], spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """From a point to every pixel of a window."""
    along = [((np.arange(part.start, part.stop) - at) * side) ** 2 for part, at, side in zip(window, centre, spacing)]
    squared = np.zeros((1,) * len(along))
    for axis in np.ix_(*along):
        squared = squared + axis
    return np.sqrt(squared)


# Photos


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
    level, window = _size_for(engine, click, reach, settings.most_pixels)
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
    level, window = _size_for(engine, click, depth, engine.settings.most_pixels)
    place = np.array(click.at) // engine.sizes.factor_to(level)
    away = _distances(window, place, engine.sizes.spacings[level])
    ground = np.ascontiguousarray(engine.ground_at(level)[window])
    way = geodesic_distance(ground, away <= 1.5 * min(engine.sizes.spacings[level]), step=0.0)
    circle = (away / max(engine.sizes.spacings[level])).astype(int)
    on_even_ground = np.bincount(circle.ravel(), (way <= engine.settings.click_reach).ravel())
    ends = np.flatnonzero(on_even_ground == 0) * max(engine.sizes.spacings[level])
    return min(depth, float(ends[0])) if len(ends) else depth


def _size_for(engine: Engine, click: Click, reach: float, most: int) -> tuple[int, Slices]:
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
        self.ground = np.ascontiguousarray(engine.ground_at(level)[window])
        self.place = tuple(at // times for at, times in zip(click.at, self.factor))
        self.here = tuple(at - part.start for at, part in zip(self.place, window))
        self.away = _distances(window, np.array(self.place), self.spacing)
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


# Volumes


class Walker:
    """Random walks on a volume: what the first field and every correction of it are made of.

    Fields go from -127, background, to 127.
    """

    def __init__(self, engine: Engine):
        self.engine, self.constants = engine, engine.settings.volumes
        self.sizes, self.shape = engine.sizes, engine.images[0].shape[:-1]
        self.spacing = engine.sizes.spacings[0]

    def first_field(self, click: Click, size: float | None) -> NDArray[np.int8]:
        """The field of a first click: above 0 near the click, on even ground like it.

        Parameters
        ----------
        click : Click
        size : float or None
            Rough radius, in units of the finest side of a voxel: as much is object as a ball of it holds.
        """
        constants = self.constants
        extent = float(np.prod(np.array(self.shape, dtype=float) * self.spacing) ** (1 / 3))
        reach = constants.reach * extent if size is None else size
        window, chance = self.potential(click, reach, ())
        away = np.full(self.shape, np.inf, dtype=np.float32)
        away[window] = -np.log(chance)
        level = constants.level
        if size is not None:
            n_voxels = int(np.clip(4 / 3 * np.pi * size**3 / np.prod(self.spacing), 1, away.size - 1))
            level = float(np.partition(away.ravel(), n_voxels)[n_voxels])
        return _as_field(np.tanh(level - away))

    def painted_field(self, field: NDArray[np.int8] | None, labels: Labels, levels: KnownLevels) -> NDArray[np.int8]:
        """The field of strokes: each voxel to the stroke that a walker gets to, or as it was where that is too far.

        The reach is that of a click as deep as the deepest stroke that contradicts the labels; without a field there is
        no such end.
        """
        known = levels.known[0]
        rate = 1e-4 / min(self.spacing) ** 2
        before: NDArray[np.floating] = np.zeros(self.shape, dtype=np.float32)
        if field is not None:
            wrong = (known >= 0) & (known != labels)
            right = np.where(known == 0, labels == 0, labels == 1)
            away = np.asarray(distance_transform_edt(~right, sampling=self.spacing))[wrong]
            depth = float(away.max(initial=1.5 * min(self.spacing)))
            rate, before = 1 / (self.constants.wide * depth) ** 2, field / np.float32(127)
        level = len(self.engine.images) - 1
        coarse = levels.known[level]
        for step in self.sizes.steps:
            before = halve(before, step)
        everything = tuple(slice(0, size) for size in before.shape)
        values, noise = self._values(level, everything)
        sure = _CERTAIN * ((coarse == 1).astype(np.float32) - (coarse == 0))
        conductances = self._conductances(values, noise, self.sizes.spacings[level])
        solved = walk(conductances, rate + np.abs(sure), rate * before + sure)
        if level:
            inner = tuple(slice(0, size) for size in self.shape)
            solved = enlarge_part(solved[..., None], self.sizes.factor_to(level), inner, self.shape).reshape(self.shape)
        return _as_field(np.clip(np.where(known < 0, solved, 2.0 * known - 1), -1, 1))

    def correct(
        self, field: NDArray[np.int8], labels: Labels, knowledge: Knowledge, click: Click
    ) -> tuple[NDArray[np.int8], Labels, Knowledge]:
        """Field and labels after one more click, and what is known with it."""
        constants, code = self.constants, click.code
        depth = min(depth_of(click, labels, self.spacing), thickness_of(click, labels, self.spacing))
        depth = max(depth, 1.5 * min(self.spacing))
        knowledge = knowledge.with_click(click, pin_radius(self.shape, constants.core * constants.wide * depth))
        others = tuple(other for other in knowledge.clicks if other.code != code)
        window, chance = self.potential(click, constants.wide * depth, others)
        share = np.exp(-((constants.fall * np.log(chance)) ** 2))
        in_reach = share > np.exp(-((constants.fall * constants.limit) ** 2))
        part = window_of(in_reach)
        window = tuple(slice(w.start + p.start, w.start + p.stop) for w, p in zip(window, part))
        share, in_reach = share[part], in_reach[part]
        field, labels = field.copy(), labels.copy()
        before = field[window].astype(np.float32)
        field[window] = np.rint(before + share * ((127 if click.is_object else -127) - before))
        smooth = self._smoothed(field, window)
        labels[window] = np.where(in_reach, smooth > 0, labels[window])
        known = knowledge.known[window]
        labels[window] = np.where(known >= 0, known, labels[window])
        return field, labels, knowledge

    def _smoothed(self, field: NDArray[np.int8], window: Slices) -> NDArray[np.float32]:
        """A window of the field without the roughness of single voxels."""
        widths = [self.constants.roundness / side for side in self.spacing]
        margins = [int(4 * width + 1) for width in widths]
        larger = tuple(slice(max(0, part.start - more), part.stop + more) for part, more in zip(window, margins))
        inner = tuple(
            slice(part.start - large.start, part.stop - large.start) for part, large in zip(window, larger)
        )
        return gaussian_filter(field[larger].astype(np.float32), widths)[inner]

    def labels_of(self, field: NDArray[np.int8], known: Labels) -> Labels:
        """The labels of a whole field."""
        smooth = self._smoothed(field, tuple(slice(0, size) for size in self.shape))
        return np.where(known < 0, smooth > 0, known).astype(known.dtype)

    def potential(
        self, click: Click, reach: float, others: tuple[Click, ...]
    ) -> tuple[Slices, NDArray[np.float32]]:
        """The window of a click, and the chance that a walker gets from each voxel to the click before it dies.

        Large windows are solved at a smaller size. The walker dies at clicks of the other kind.
        """
        constants = self.constants
        level, window = _size_for(self.engine, click, constants.limit * reach, constants.most_voxels)
        factor, spacing = self.sizes.factor_to(level), self.sizes.spacings[level]
        values, noise = self._values(level, window)
        place = np.array([at // times for at, times in zip(click.at, factor)])
        away = _distances(window, place, spacing)
        like = values[away <= min(spacing)].mean(axis=0)
        unlike = ((values - like) ** 2).mean(axis=-1) / constants.like**2
        death = (1 + unlike) / reach**2
        for other in others:
            inside = tuple(at // times - part.start for at, times, part in zip(other.at, factor, window))
            if all(0 <= at < size for at, size in zip(inside, death.shape)):
                death[inside] = _CERTAIN
        seed = (away <= constants.core * reach) | (away == 0)
        conductances = self._conductances(values, noise, spacing)
        chance = np.clip(walk(conductances, death + _CERTAIN * seed, _CERTAIN * seed), 1e-9, 1)
        whole = tuple(
            slice(part.start, min(part.stop, size)) for part, size in zip(scaled(window, factor), self.shape)
        )
        sizes = tuple(part.stop - part.start for part in whole)
        if level:
            inner = tuple(slice(0, size) for size in sizes)
            chance = enlarge_part(chance[..., None], factor, inner, sizes).reshape(sizes)
        return whole, chance

    def _values(self, level: int, window: Slices) -> tuple[NDArray[np.float32], float]:
        """Brightness in a window in deviations of the volume, smoothed at full size; variance of a step of noise."""
        noise, deviation = self.engine.noise_at(level)
        if level:
            values = np.asarray(self.engine.images[level][window] / deviation, dtype=np.float32)
            return values, float(np.mean(2 * (noise / deviation) ** 2))
        widths = [self.constants.smoothing / side for side in self.spacing]
        kernels = [gaussian_filter1d(np.eye(1, 15, 7)[0], max(width, 1e-3)) for width in widths]
        # Variance of the mean that the filter takes, and of the step between two of them along each axis.
        kept = np.array([(kernel**2).sum() for kernel in kernels])
        shared = np.array([(kernel[1:] * kernel[:-1]).sum() for kernel in kernels])
        steps = float(np.mean(2 * (kept - shared) / kept * np.prod(kept)))
        smooth = np.sqrt(np.maximum(deviation**2 - (1 - np.prod(kept)) * noise**2, deviation**2 / 100))
        values = np.asarray(gaussian_filter(self.engine.images[0][window], [*widths, 0]) / smooth, dtype=np.float32)
        return values, float(np.mean(steps * (noise / smooth) ** 2))

    def _conductances(
        self, values: NDArray[np.float32], noise: float, spacing: tuple[float, ...]
    ) -> list[NDArray[np.float32]]:
        """How easily walkers step between neighbours along each axis: not over steps that noise does not make."""
        scale, least = 1 / max(self.constants.edge * noise, 1e-6), self.constants.leak
        found = []
        for axis, side in enumerate(spacing):
            step = np.diff(values, axis=axis)
            squared = np.einsum("...c,...c->...", step, step) / values.shape[-1]
            found.append(((np.exp(-scale * squared) + least) / side**2).astype(np.float32))
        return found


def _as_field(values: NDArray[np.floating]) -> NDArray[np.int8]:
    return np.rint(127 * values).astype(np.int8)


#: A rate at which everything else is negligible.
_CERTAIN = 1e3
_TOLERANCE, _MOST_STEPS = 1e-3, 300


def walk(
    conductances: list[NDArray[np.float32]], diagonal: NDArray[np.floating], right: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Solve (Laplacian of the grid + diagonal) x = right by conjugate gradients.

    Examples
    --------
    >>> even = [np.ones((2, 3), dtype=np.float32), np.ones((3, 2), dtype=np.float32)]
    >>> walk(even, np.ones((3, 3)), np.full((3, 3), 2.0)).round(2).ravel()[:3]
    array([2., 2., 2.], dtype=float32)
    """
    diagonal, right = diagonal.astype(np.float32), right.astype(np.float32)
    whole, pairs = diagonal.copy(), []
    for axis, weight in enumerate(conductances):
        here, there = (
            tuple(cut if other == axis else slice(None) for other in range(diagonal.ndim))
            for cut in (slice(-1), slice(1, None))
        )
        whole[here] += weight
        whole[there] += weight
        pairs.append((here, there, weight))

    def apply(x: NDArray[np.float32]) -> NDArray[np.float32]:
        product = whole * x
        for here, there, weight in pairs:
            product[here] -= weight * x[there]
            product[there] -= weight * x[here]
        return product

    x = right / whole
    rest = right - apply(x)
    step = rest / whole
    size = float(np.vdot(rest, step))
    for _ in range(_MOST_STEPS):
        if size == 0:
            break
        product = apply(step)
        length = size / float(np.vdot(step, product))
        x += length * step
        if length * np.abs(step).max() < _TOLERANCE:
            break
        rest -= length * product
        better = rest / whole
        before, size = size, float(np.vdot(rest, better))
        step = better + (size / before) * step
    return x
