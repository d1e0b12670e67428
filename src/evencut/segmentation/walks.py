r"""Random walks on the voxels of a volume: the first field where contrast does not carry a mask, and its corrections.

The mask is the sign of a smooth field, which a click changes by the share

.. math:: s(p) = e^{-(\phi \log u_p)^2}, \qquad (L + D)\, u = 0, \quad u = 1 \text{ around the click}

where u is the chance that a random walker from p gets to the click before it dies. It crosses contours rarely (L is the
Laplacian of the grid under local contrast) and lives for a few depths of the click where the brightness is the click's
(D).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, gaussian_filter1d

from .corrections import depth_of, size_for
from .engine import Engine, enlarge_part
from .grid import Labels, Shape, Slices, absolute, everywhere, halve, relative, scaled, window_of
from .knowledge import Knowledge, KnownLevels
from .prompts import Click, pin_radius, squared_distances

#: Pixels of a mask that its thickness is measured on.
_ENOUGH = 300_000

#: A rate at which everything else is negligible.
_CERTAIN = 1e3
_TOLERANCE, _MOST_STEPS = 1e-3, 300


def thickness_of(click: Click, labels: Labels, spacing: tuple[float, ...]) -> float:
    """The most that a click can be deep: on the object the largest radius inside the mask, else that of the image.

    What is missing is at most as thick as what is there. In a large mask every second or third pixel is looked at.

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
        cost = np.full(self.shape, np.inf, dtype=np.float32)
        cost[window] = -np.log(chance)
        level = constants.level
        if size is not None:
            n_voxels = int(np.clip(4 / 3 * np.pi * size**3 / np.prod(self.spacing), 1, cost.size - 1))
            level = float(np.partition(cost.ravel(), n_voxels)[n_voxels])
        return _as_field(np.tanh(level - cost))

    def painted_field(self, field: NDArray[np.int8] | None, labels: Labels, levels: KnownLevels) -> NDArray[np.int8]:
        """The field of strokes: each voxel to the stroke that a walker gets to, or as it was where that is too far.

        The reach is that of a click as deep as the deepest stroke that contradicts the labels; without a field there is
        no such end.
        """
        known = levels.known[0]
        rate = 1e-4 / min(self.spacing) ** 2
        previous: NDArray[np.floating] = np.zeros(self.shape, dtype=np.float32)
        if field is not None:
            wrong = (known >= 0) & (known != labels)
            right = np.where(known == 0, labels == 0, labels == 1)
            depths = np.asarray(distance_transform_edt(~right, sampling=self.spacing))[wrong]
            depth = float(depths.max(initial=1.5 * min(self.spacing)))
            rate, previous = 1 / (self.constants.wide * depth) ** 2, field / np.float32(127)
        level = len(self.engine.images) - 1
        coarse = levels.known[level]
        for step in self.sizes.steps:
            previous = halve(previous, step)
        values, noise = self._values(level, everywhere(previous.shape))
        sure = _CERTAIN * ((coarse == 1).astype(np.float32) - (coarse == 0))
        conductances = self._conductances(values, noise, self.sizes.spacings[level])
        solved = walk(conductances, rate + np.abs(sure), rate * previous + sure)
        if level:
            solved = self._enlarged(solved, level, self.shape)
        return _as_field(np.clip(np.where(known < 0, solved, 2.0 * known - 1), -1, 1))

    def correct(
        self, field: NDArray[np.int8], labels: Labels, knowledge: Knowledge, click: Click
    ) -> tuple[NDArray[np.int8], Labels, Knowledge]:
        """Field and labels after another click, and what is known with it."""
        constants, code = self.constants, click.code
        depth = min(depth_of(click, labels, self.spacing), thickness_of(click, labels, self.spacing))
        depth = max(depth, 1.5 * min(self.spacing))
        knowledge = knowledge.with_click(click, pin_radius(self.shape, constants.core * constants.wide * depth))
        opposite = tuple(other for other in knowledge.clicks if other.code != code)
        window, chance = self.potential(click, constants.wide * depth, opposite)
        share = np.exp(-((constants.fall * np.log(chance)) ** 2))
        in_reach = share > np.exp(-((constants.fall * constants.limit) ** 2))
        span = window_of(in_reach)
        window = absolute(span, window)
        share, in_reach = share[span], in_reach[span]
        field, labels = field.copy(), labels.copy()
        previous = field[window].astype(np.float32)
        field[window] = np.rint(previous + share * ((127 if click.is_object else -127) - previous))
        smooth = self._smoothed(field, window)
        labels[window] = np.where(in_reach, smooth > 0, labels[window])
        known = knowledge.known[window]
        labels[window] = np.where(known >= 0, known, labels[window])
        return field, labels, knowledge

    def _smoothed(self, field: NDArray[np.int8], window: Slices) -> NDArray[np.float32]:
        """A window of the field without the roughness of single voxels."""
        widths = [self.constants.roundness / side for side in self.spacing]
        margins = [int(4 * width + 1) for width in widths]
        larger = tuple(slice(max(0, span.start - more), span.stop + more) for span, more in zip(window, margins))
        return gaussian_filter(field[larger].astype(np.float32), widths)[relative(window, larger)]

    def labels_of(self, field: NDArray[np.int8], known: Labels) -> Labels:
        """The labels of a whole field."""
        smooth = self._smoothed(field, everywhere(self.shape))
        return np.where(known < 0, smooth > 0, known).astype(known.dtype)

    def potential(
        self, click: Click, reach: float, opposite: tuple[Click, ...]
    ) -> tuple[Slices, NDArray[np.float32]]:
        """The window of a click, and the chance that a walker gets from each voxel to the click before it dies.

        Large windows are solved at a smaller size. The walker dies at clicks of the other kind.
        """
        constants = self.constants
        level, window = size_for(self.engine, click, constants.limit * reach, constants.most_voxels)
        factor, spacing = self.sizes.factor(0, level), self.sizes.spacings[level]
        values, noise = self._values(level, window)
        place = np.array([at // times for at, times in zip(click.at, factor)])
        distance = np.sqrt(squared_distances(window, place, spacing))
        like = values[distance <= min(spacing)].mean(axis=0)
        unlike = ((values - like) ** 2).mean(axis=-1) / constants.like**2
        death = (1 + unlike) / reach**2
        for other in opposite:
            inside = tuple(at // times - span.start for at, times, span in zip(other.at, factor, window))
            if all(0 <= at < size for at, size in zip(inside, death.shape)):
                death[inside] = _CERTAIN
        seed = (distance <= constants.core * reach) | (distance == 0)
        conductances = self._conductances(values, noise, spacing)
        chance = np.clip(walk(conductances, death + _CERTAIN * seed, _CERTAIN * seed), 1e-9, 1)
        full_window = tuple(
            slice(span.start, min(span.stop, size)) for span, size in zip(scaled(window, factor), self.shape)
        )
        sizes = tuple(span.stop - span.start for span in full_window)
        if level:
            chance = self._enlarged(chance, level, sizes)
        return full_window, chance

    def _enlarged(self, values: NDArray[np.float32], level: int, shape: Shape) -> NDArray[np.float32]:
        """Values of a smaller size at full size."""
        factor = self.sizes.factor(0, level)
        return enlarge_part(values[..., None], factor, everywhere(shape), shape)[..., 0].astype(np.float32)

    def _values(self, level: int, window: Slices) -> tuple[NDArray[np.float32], float]:
        """Brightness in a window in deviations of the volume, smoothed at full size; variance of a step of noise."""
        noise, deviation = self.engine.noise_at(level)
        if level:
            values = np.asarray(self.engine.images[level][window] / deviation, dtype=np.float32)
            return values, float(np.mean(2 * (noise / deviation) ** 2))
        widths = [self.constants.smoothing / side for side in self.spacing]
        kernels = [gaussian_filter1d(np.eye(1, 15, 7)[0], max(width, 1e-3)) for width in widths]
        # Variance of the mean that the filter takes, and of the step between two of them along each axis.
        shares = np.array([(kernel**2).sum() for kernel in kernels])
        shared = np.array([(kernel[1:] * kernel[:-1]).sum() for kernel in kernels])
        steps = float(np.mean(2 * (shares - shared) / shares * np.prod(shares)))
        smooth = np.sqrt(np.maximum(deviation**2 - (1 - np.prod(shares)) * noise**2, deviation**2 / 100))
        values = np.asarray(gaussian_filter(self.engine.images[0][window], [*widths, 0]) / smooth, dtype=np.float32)
        return values, float(np.mean(steps * (noise / smooth) ** 2))

    def _conductances(
        self, values: NDArray[np.float32], noise: float, spacing: tuple[float, ...]
    ) -> list[NDArray[np.float32]]:
        """How easily walkers step between neighbours along each axis: not over steps that noise does not make."""
        scale, leak = 1 / max(self.constants.edge * noise, 1e-6), self.constants.leak
        weights = []
        for axis, side in enumerate(spacing):
            step = np.diff(values, axis=axis)
            squared = np.einsum("...c,...c->...", step, step) / values.shape[-1]
            weights.append(((np.exp(-scale * squared) + leak) / side**2).astype(np.float32))
        return weights


def _as_field(values: NDArray[np.floating]) -> NDArray[np.int8]:
    return np.rint(127 * values).astype(np.int8)


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
    total_diagonal, pairs = diagonal.copy(), []
    for axis, weight in enumerate(conductances):
        lower, upper = (
            tuple(cut if other == axis else slice(None) for other in range(diagonal.ndim))
            for cut in (slice(-1), slice(1, None))
        )
        total_diagonal[lower] += weight
        total_diagonal[upper] += weight
        pairs.append((lower, upper, weight))

    def apply(x: NDArray[np.float32]) -> NDArray[np.float32]:
        product = total_diagonal * x
        for lower, upper, weight in pairs:
            product[lower] -= weight * x[upper]
            product[upper] -= weight * x[lower]
        return product

    x = right / total_diagonal
    rest = right - apply(x)
    step = rest / total_diagonal
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
        better = rest / total_diagonal
        previous_size, size = size, float(np.vdot(rest, better))
        step = better + (size / previous_size) * step
    return x
