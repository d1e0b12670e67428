"""Sizes of the image, affinity and boundary weights, made once an image; rounds at the working size, contours above.

From one size to the next the contour is decided anew in a narrow band, tile by tile, so that the work grows with its
length and not with the area.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from .._runtime import warn_user
from ..solvers.descent import Descent
from .affinity import pixel_affinity, pose_term
from .cuts import GridLabeler, boundary_weights, contrast_scale
from .distances import terrain
from .energy import EvidenceTerm, Round, Term, minimize_energy
from .grid import (
    Labels,
    Mask,
    Shape,
    Sizes,
    Slices,
    Steps,
    absolute,
    enlarge,
    everywhere,
    grown,
    halve,
    relative,
    scaled,
    window_of,
)
from .images import Features, lab_channels, pixel_features, shrink_features
from .settings import Settings


class Clock:
    """Adds up the CPU seconds of named steps.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock("rounds"):
    ...     pass
    >>> list(clock.seconds)
    ['rounds']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Count the block as part of `step`."""
        begin = time.process_time()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.process_time() - begin


#: Side of a tile, in a plane and in space.
_TILE = {2: 96, 3: 24}


def enlarge_part(
    values: NDArray[np.floating], factor: Steps, window: Slices, shape: Shape
) -> NDArray[np.floating]:
    """A window of the values enlarged by linear interpolation.

    Parameters
    ----------
    values : ndarray of shape (..., n_values)
    factor : tuple of int
    window : tuple of slice
        In pixels of the enlarged size; of `shape` where it is cut off by the end of the image.
    shape : tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> enlarge_part(np.array([[[0.0], [4.0]]]), (2, 2), (slice(0, 1), slice(0, 4)), (1, 4))[..., 0]
    array([[0., 1., 3., 4.]])
    """
    for axis, (span, size, times) in enumerate(zip(window, shape, factor)):
        place = (np.arange(span.start, span.start + size) + 0.5) / times - 0.5
        lower = np.floor(place).astype(np.intp)
        weight = (place - lower).astype(values.dtype).reshape(-1, *(1,) * (len(shape) - axis))
        first, second = (np.clip(index, 0, values.shape[axis] - 1) for index in (lower, lower + 1))
        values = (1 - weight) * values.take(first, axis=axis) + weight * values.take(second, axis=axis)
    return values


def _band(labels: Labels, half: Slices, radius: int, shape: Shape, step: Steps) -> Mask:
    """Where the contour is near in a tile of half the size, at the full size of that tile."""
    surroundings = grown(half, radius)
    size = 2 * radius + 1
    has_contour = maximum_filter(labels[surroundings], size) != minimum_filter(labels[surroundings], size)
    return enlarge(has_contour[relative(half, surroundings)], shape, step)


def _tiles(labels: Labels, radius: int) -> Iterator[Slices]:
    """Tiles of half the size in which the contour is near."""
    side = _TILE[labels.ndim]
    edge = np.zeros(labels.shape, dtype=bool)
    for axis in range(labels.ndim):
        along, edges = np.moveaxis(labels, axis, 0), np.moveaxis(edge, axis, 0)
        edges[1:] |= along[1:] != along[:-1]
    edges_at = np.stack(np.nonzero(edge))
    n_tiles = tuple(size // side + 1 for size in labels.shape)
    numbers = []
    for moves in itertools.product((-radius - 1, radius), repeat=labels.ndim):
        tiles = (np.clip(at + move, 0, size - 1) // side for at, move, size in zip(edges_at, moves, labels.shape))
        numbers.append(np.unique(np.ravel_multi_index(tuple(tiles), n_tiles)))
    for place in zip(*np.unravel_index(np.unique(np.concatenate(numbers)), n_tiles)):
        yield tuple(slice(side * int(at), min(side * int(at) + side, size)) for at, size in zip(place, labels.shape))


_ATTEMPTS = 4

#: Voxels that noise is estimated from, and the median of the absolute value of a normal variable.
_ENOUGH, _MEDIAN_OF_NOISE = 1_000_000, 0.6745

#: Pixels that smoothing sees on every side.
_SMOOTHED = 4


class Engine:
    """Everything about an image that does not depend on boxes and strokes.

    Parameters
    ----------
    image : ndarray of shape (height, width, n_channels), or with an axis of slices before these
        Values in [0, 1].
    features : str, array, callable or list
        As in :func:`evencut.segmentation.segment`.
    n_labels : int
    settings : Settings
    random_state : numpy.random.Generator
    clock : Clock
    in_box : bool
        Whether the second label is an object in a box, which pays the surcharge.
    spacing : tuple of float, optional
        Length of a voxel along each axis; by default all are alike.
    """

    def __init__(
        self,
        image: NDArray[np.float32],
        features: Features,
        n_labels: int,
        settings: Settings,
        random_state: np.random.Generator,
        clock: Clock,
        *,
        in_box: bool = False,
        spacing: tuple[float, ...] | None = None,
    ) -> None:
        self.n_labels = n_labels
        self.in_box = in_box
        self.is_local = False
        with clock("features"):
            shape = image.shape[:-1]
            self.sizes = Sizes.of(shape, spacing or (1.0,) * len(shape), settings.working_size(len(shape)))
            self.images = [image]
            for step in self.sizes.steps:
                self.images.append(halve(self.images[-1], step))
                features = shrink_features(features, partial(halve, steps=step))
            self.channels = lab_channels(self.images[-1])
            self.points = pixel_features(self.images[-1], features, random_state, self.spacing)
        with clock("affinity"):
            self.affinity = pixel_affinity(self.points, settings.kernel, random_state)
        with clock("boundary"):
            self.scales = [contrast_scale(level) for level in self.images]
            self._weights: dict[bool, NDArray[np.float64]] = {}
        self._grounds: dict[int, NDArray[np.float64]] = {}
        self._noises: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        with clock("affinity"):
            self._pose(settings)
        self._random_state = copy.deepcopy(random_state)

    def _pose(self, settings: Settings) -> None:
        self.settings = settings
        surcharge = (0.0, settings.surcharge) if self.in_box else (0.0,) * self.n_labels
        self.term = pose_term(self.affinity, settings.criterion, settings.equalize, surcharge)
        self.smoothness = settings.boundary_weight(self.channels[..., 0].size, self.channels.ndim - 1) * self.term.unit

    def varied(self, settings: Settings | None = None, *, in_box: bool | None = None) -> Engine:
        """The same image, graph and boundary under other constants, or for an object in a box or not."""
        other = copy.copy(self)
        other.in_box = self.in_box if in_box is None else in_box
        other._pose(settings or self.settings)
        return other

    @property
    def factor(self) -> Steps:
        """How many times smaller the working size is than the image, along each axis."""
        return self.sizes.factor(0, len(self.sizes.steps))

    @property
    def spacing(self) -> tuple[float, ...]:
        """Length of a voxel of the working size along each axis, in units of the finest."""
        finest = min(self.sizes.spacings[-1])
        return tuple(side / finest for side in self.sizes.spacings[-1])

    @property
    def weights(self) -> NDArray[np.float64]:
        """Boundary weights of the working size: contrast is a difference to the eye in a box, else one of light.

        A box tells enough of the object for faint edges to be trusted, which LAB shows; what clicks begin or correct is
        held better by the strong edges of RGB. The ratio criteria are there for the paper's sake, which uses RGB.
        """
        to_the_eye = self.in_box and not self.is_local and self.settings.criterion == "entropy"
        if to_the_eye not in self._weights:
            shown, scale = self.images[-1], self.scales[-1]
            if to_the_eye:
                shown, scale = self.channels, contrast_scale(self.channels)
            regularizer, spacing = self.settings.regularizer, self.sizes.spacings[-1]
            self._weights[to_the_eye] = boundary_weights(shown, regularizer, scale=scale, spacing=spacing)
        return self._weights[to_the_eye]

    @property
    def ground(self) -> NDArray[np.float64]:
        """What geodesic distances of the working size are measured on."""
        return self.ground_at(len(self.images) - 1)

    def ground_at(self, level: int) -> NDArray[np.float64]:
        """The same at any size."""
        if level not in self._grounds:
            last = level == len(self.images) - 1
            self._grounds[level] = terrain(self.channels if last else lab_channels(self.images[level]))
        return self._grounds[level]

    def ground_in(self, level: int, window: Slices) -> NDArray[np.float64]:
        """A window of it; of a large image it is made alone, by its own roughness."""
        if level == len(self.images) - 1 or self.images[level][..., 0].size <= _ENOUGH:
            return np.ascontiguousarray(self.ground_at(level)[window])
        larger = grown(window, _SMOOTHED)
        ground = terrain(lab_channels(self.images[level][larger]))
        return np.ascontiguousarray(ground[relative(window, larger)])

    def noise_at(self, level: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Deviation of the noise of each channel at a size, seen in second differences, and of the channel."""
        if level not in self._noises:
            image = self.images[level]
            step = max(1, round((image[..., 0].size / _ENOUGH) ** (1 / max(1, image.ndim - 2))))
            deviations = []
            for axis in range(image.ndim - 1):
                # All of one axis, some of the others.
                some = image[tuple(slice(None, None, 1 if other == axis else step) for other in range(image.ndim - 1))]
                if some.shape[axis] > 2:
                    second = np.abs(np.diff(some, n=2, axis=axis)).reshape(-1, image.shape[-1])
                    deviations.append(np.median(second, axis=0) / (_MEDIAN_OF_NOISE * np.sqrt(6)))
            noise = np.min(deviations, axis=0) if deviations else np.zeros(image.shape[-1])
            deviation = image.reshape(-1, image.shape[-1]).std(axis=0, dtype=np.float64)
            self._noises[level] = noise.astype(np.float64), np.maximum(deviation, 1e-9)
        return self._noises[level]

    def localized(self, clock: Clock) -> Engine:
        """The same with a second graph beside the first, of pixels alike in colour and near each other.

        Colours then mean different things in different places, which is what clicks are about. Kernels other than
        :class:`CellKNN` are not changed.
        """
        if self.is_local:
            return self
        other = copy.copy(self)
        other.is_local = True
        with clock("affinity"):
            if hasattr(self.affinity, "joined"):
                place = pixel_features(self.images[-1], "xy", self._random_state)
                features = np.concatenate([self.points, self.settings.place_weight * place], axis=1)
                graph: Any = pixel_affinity(features, self.settings.kernel, copy.deepcopy(self._random_state))
                other.affinity = self.affinity.joined(graph)
                other._pose(self.settings)
        return other

    def solve(
        self,
        known: Sequence[Labels],
        starts: Iterable[Labels],
        clock: Clock,
        *,
        evidence: NDArray[np.float64] | None = None,
        hold: float = 1.0,
        trivial: Callable[[Labels], bool] = lambda labels: False,
        flaw: Callable[[Labels], float] = lambda labels: 0.0,
        finish: Callable[[Labels], Labels] = lambda labels: labels,
    ) -> tuple[tuple[Labels, ...], Descent[Round], float]:
        """Rounds at the working size, then the contour at every larger size.

        Parameters
        ----------
        known : sequence of ndarray
            Known labels at every size.
        starts : iterable of ndarray
            First labels at the working size; the next is tried while the result has a flaw.
        clock : Clock
        evidence : ndarray of shape (n_pixels, n_labels), optional
            What pixels pay for labels that the clicks contradict.
        hold : float
            What the boundary weighs, as a multiple of what it usually does.
        trivial : callable
            Whether labels at the working size say nothing; the boundary term is then weakened and the rounds
            repeated.
        flaw : callable
            What is wrong with labels at the working size: the least decides, zero at once.
        finish : callable
            What is left to do to the labels at the working size before the contour is drawn.

        Returns
        -------
        levels : tuple of ndarray
            Labels at every size, from full size on.
        rounds : Descent
        smoothness : float
            Weight of the boundary term, in its own unit.
        """
        term: Term = self.term if evidence is None else EvidenceTerm(self.term, evidence)
        least_flaw = np.inf
        for start in starts:
            with clock("rounds"):
                tried = self._rounds(term, known[-1], start, self.smoothness * hold, trivial)
                current_flaw = flaw(tried[0].step.labels)
            if current_flaw < least_flaw:
                least_flaw, (rounds, smoothness) = current_flaw, tried
            if current_flaw == 0:
                break
        if least_flaw == np.inf:
            raise ValueError("starts are empty; give at least one.")
        if not rounds.converged:
            from sklearn.exceptions import ConvergenceWarning

            warn_user(
                f"the rounds stopped after max_iter={self.settings.max_iter} before they came to rest.",
                ConvergenceWarning,
            )
        with clock("contour"):
            labels = np.asarray(finish(rounds.step.labels)).astype(known[-1].dtype)
            costs = rounds.step.state.costs.reshape(*labels.shape, self.n_labels).astype(np.float32)
            levels = self.sharpen(labels, costs, known, smoothness, everywhere(labels.shape))
        return levels, rounds, smoothness / self.term.unit

    def _rounds(
        self, term: Term, known: Labels, start: Labels, smoothness: float, trivial: Callable[[Labels], bool]
    ) -> tuple[Descent[Round], float]:
        """Rounds at the working size, and the weight of the boundary term that left every label something."""
        for attempt in range(_ATTEMPTS):
            labeler = GridLabeler(self.weights * smoothness, known, self.n_labels)
            rounds = minimize_energy(term, labeler, start, max_iter=self.settings.max_iter)
            if not (rounds.lost_label or trivial(rounds.step.labels)) or smoothness == 0:
                break
            if attempt < _ATTEMPTS - 1:
                smoothness /= 2
        return rounds, smoothness

    def sharpen(
        self, labels: Labels, costs: NDArray[np.floating], known: Sequence[Labels], weight: float, window: Slices
    ) -> tuple[Labels, ...]:
        """The labels of a window at every size, from full size on.

        Parameters
        ----------
        labels : ndarray
            At the smallest size.
        costs : ndarray of shape (..., n_labels)
            At the same size.
        known : sequence of ndarray
            Known labels of the window at every size.
        weight : float
            Of the boundary at the smallest size.
        window : tuple of slice
            In pixels of the smallest size.
        """
        levels, smallest = [labels], len(known) - 1
        for level in range(smallest - 1, -1, -1):
            weight *= self.settings.band_weight
            larger = enlarge(levels[0], known[level].shape, self.sizes.steps[level]).astype(known[level].dtype)
            np.copyto(larger, known[level], where=known[level] >= 0)
            if self.sizes.is_drawn(level):
                factor = self.sizes.factor(level, smallest)
                image = self.images[level][scaled(window, factor)]
                for view, pinned in self._bands(levels[0], larger, known[level], level):
                    weights = self.weigh(image[view], level=level, weight=weight)
                    band_costs = enlarge_part(costs, factor, view, pinned.shape)
                    labeler = GridLabeler(weights, pinned, self.n_labels)
                    larger[view] = labeler.improve(band_costs, larger[view])
            levels.insert(0, larger)
        return tuple(levels)

    def _bands(self, half: Labels, larger: Labels, known: Labels, level: int) -> Iterator[tuple[Slices, Labels]]:
        """Windows of a size near the contour of half that size, one after the other; labels to keep, -1 in the band."""
        step, radius = self.sizes.steps[level], self.settings.band_radius
        for small in _tiles(half, radius):
            tile = scaled(small, step)
            undecided = _band(half, small, radius, known[tile].shape, step) & (known[tile] < 0)
            if not undecided.any():
                continue
            window = window_of(undecided)
            inner = absolute(window, tile)
            # One pixel more on every side: the labels around the tile hold its contour in place.
            view = grown(inner, 1)
            pinned = larger[view].copy()
            pinned[relative(inner, view)][undecided[window]] = -1
            yield view, pinned

    def weigh(self, pixels: NDArray[np.floating], *, level: int, weight: float) -> NDArray[np.float64]:
        """Boundary weights of some pixels of a size."""
        regularizer, spacing = self.settings.regularizer, self.sizes.spacings[level]
        weights = boundary_weights(
            np.ascontiguousarray(pixels), regularizer, scale=self.scales[level], spacing=spacing
        )
        weights *= weight
        return weights
