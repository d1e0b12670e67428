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
from dataclasses import dataclass, replace
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
from .grid import Labels, Mask, Shape, Sizes, Slices, Steps, enlarge, grown, halve, scaled, window_of
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


def sharpen_band(
    image: NDArray[np.floating],
    labels: Labels,
    costs: NDArray[np.floating],
    known: Labels,
    *,
    step: Steps,
    factor: Steps,
    radius: int,
    weigh: Callable[[NDArray[np.floating]], NDArray[np.floating]],
) -> Labels:
    """Labels at the size of `image`, from those at half the size.

    Parameters
    ----------
    image : ndarray of shape (..., n_channels)
    labels : ndarray of half the size
    costs : ndarray of shape (..., n_labels)
        Costs of the labels at a smaller size still, or the same.
    known : ndarray of the size of the image
        Labels that must be kept, -1 elsewhere.
    step : tuple of int
        How many times smaller the labels are than the image, along each axis.
    factor : tuple of int
        How many times smaller the costs are.
    radius : int
        Half the width of the band, in pixels of half the size.
    weigh : callable
        Boundary weights of a part of the image.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((4, 8, 1))
    >>> half = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> costs = np.stack([half, 1 - half], axis=2) - 0.5
    >>> free, even = np.full((4, 8), -1), {"step": (2, 2), "factor": (2, 2)}
    >>> sharpen_band(image, half, costs, free, **even, radius=1, weigh=lambda part: np.zeros((*part.shape[:2], 8)))[0]
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    fine = enlarge(labels, known.shape, step).astype(known.dtype)
    np.copyto(fine, known, where=known >= 0)
    for half in _tiles(labels, radius):
        tile = scaled(half, step)
        undecided = _band(labels, half, radius, known[tile].shape, step) & (known[tile] < 0)
        if not undecided.any():
            continue
        window = window_of(undecided)
        inner = _moved(window, tile)
        # One pixel more on every side: the labels around the tile hold its contour in place.
        view = grown(inner, 1)
        pinned = fine[view].copy()
        part = undecided[window]
        within = tuple(
            slice(i.start - v.start, i.start - v.start + size) for i, v, size in zip(inner, view, part.shape)
        )
        pinned[within][part] = -1
        labeler = GridLabeler(weigh(image[view]), pinned, costs.shape[-1])
        fine[view] = labeler.improve(enlarge_part(costs, factor, view, pinned.shape), fine[view])
    return fine


def enlarge_part(
    values: NDArray[np.floating], factor: Steps, window: Slices, shape: Shape
) -> NDArray[np.floating]:
    """A window of the values enlarged by linear interpolation, as rows of shape (n_pixels, n_values).

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
    >>> enlarge_part(np.array([[[0.0], [4.0]]]), (2, 2), (slice(0, 1), slice(0, 4)), (1, 4)).ravel()
    array([0., 1., 3., 4.])
    """
    for axis, (part, size, times) in enumerate(zip(window, shape, factor)):
        place = (np.arange(part.start, part.start + size) + 0.5) / times - 0.5
        before = np.floor(place).astype(np.intp)
        near = (place - before).astype(values.dtype).reshape(-1, *(1,) * (len(shape) - axis))
        first, second = (np.clip(index, 0, values.shape[axis] - 1) for index in (before, before + 1))
        values = (1 - near) * values.take(first, axis=axis) + near * values.take(second, axis=axis)
    return values.reshape(-1, values.shape[-1])


def _moved(window: Slices, by: Slices) -> Slices:
    """A window of a part, in the whole."""
    return tuple(slice(part.start + other.start, part.stop + other.start) for part, other in zip(window, by))


def _band(labels: Labels, half: Slices, radius: int, shape: Shape, step: Steps) -> Mask:
    """Where the contour is near in a tile of half the size, at the full size of that tile."""
    around = grown(half, radius)
    size = 2 * radius + 1
    near = maximum_filter(labels[around], size) != minimum_filter(labels[around], size)
    inner = tuple(slice(h.start - a.start, h.stop - a.start) for h, a in zip(half, around))
    return enlarge(near[inner], shape, step)


def _tiles(labels: Labels, radius: int) -> Iterator[Slices]:
    """Tiles of half the size in which the contour is near."""
    side = _TILE[labels.ndim]
    edge = np.zeros(labels.shape, dtype=bool)
    for axis in range(labels.ndim):
        along, edges = np.moveaxis(labels, axis, 0), np.moveaxis(edge, axis, 0)
        edges[1:] |= along[1:] != along[:-1]
    places = np.stack(np.nonzero(edge))
    n_tiles = tuple(size // side + 1 for size in labels.shape)
    numbers = []
    for moves in itertools.product((-radius - 1, radius), repeat=labels.ndim):
        beside = (np.clip(at + move, 0, size - 1) // side for at, move, size in zip(places, moves, labels.shape))
        numbers.append(np.unique(np.ravel_multi_index(tuple(beside), n_tiles)))
    for place in zip(*np.unravel_index(np.unique(np.concatenate(numbers)), n_tiles)):
        yield tuple(slice(side * int(at), min(side * int(at) + side, size)) for at, size in zip(place, labels.shape))


_ATTEMPTS = 4

#: Voxels that noise is estimated from, and the median of the absolute value of a normal variable.
_ENOUGH, _MEDIAN_OF_NOISE = 1_000_000, 0.6745

#: Pixels that smoothing sees on every side.
_SMOOTHED = 4


@dataclass(frozen=True, eq=False)
class Answer:
    """Labels at every size from full size on, the rounds that led to them, the weight of the boundary term used."""

    levels: tuple[Labels, ...]
    rounds: Descent[Round]
    smoothness: float

    @property
    def labels(self) -> Labels:
        """The labels at full size."""
        return self.levels[0]


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
        return self.sizes.factor()

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
        inner = tuple(
            slice(part.start - large.start, part.stop - large.start) for part, large in zip(window, larger)
        )
        return np.ascontiguousarray(terrain(lab_channels(self.images[level][larger]))[inner])

    def noise_at(self, level: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Deviation of the noise of each channel at a size, seen in second differences, and of the channel."""
        if level not in self._noises:
            image = self.images[level]
            step = max(1, round((image[..., 0].size / _ENOUGH) ** (1 / max(1, image.ndim - 2))))
            found = []
            for axis in range(image.ndim - 1):
                # All of one axis, some of the others.
                some = image[tuple(slice(None, None, 1 if other == axis else step) for other in range(image.ndim - 1))]
                if some.shape[axis] > 2:
                    second = np.abs(np.diff(some, n=2, axis=axis)).reshape(-1, image.shape[-1])
                    found.append(np.median(second, axis=0) / (_MEDIAN_OF_NOISE * np.sqrt(6)))
            noise = np.min(found, axis=0) if found else np.zeros(image.shape[-1])
            deviation = image.reshape(-1, image.shape[-1]).std(axis=0, dtype=np.float64)
            self._noises[level] = noise.astype(np.float64), np.maximum(deviation, 1e-9)
        return self._noises[level]

    def localized(self, clock: Clock) -> Engine:
        """The same with a second graph beside the first, of pixels alike in colour and near each other.

        Colours then mean different things in different places, which is what clicks are about. Kernels other than
        :class:`CellKNN` stay as they are.
        """
        if self.is_local:
            return self
        other = copy.copy(self)
        other.is_local = True
        with clock("affinity"):
            if hasattr(self.affinity, "joined"):
                place = pixel_features(self.images[-1], "xy", self._random_state)
                near = np.concatenate([self.points, self.settings.place_weight * place], axis=1)
                graph: Any = pixel_affinity(near, self.settings.kernel, copy.deepcopy(self._random_state))
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
    ) -> Answer:
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
        """
        best: tuple[float, Descent[Round], float] | None = None
        for start in starts:
            with clock("rounds"):
                rounds, smoothness = self.rounds(known[-1], start, evidence, hold, trivial)
                wrong = flaw(rounds.step.labels)
            if best is None or wrong < best[0]:
                best = (wrong, rounds, smoothness)
            if wrong == 0:
                break
        if best is None:
            raise ValueError("there is no start to begin from.")
        _, rounds, smoothness = best
        if not rounds.converged:
            from sklearn.exceptions import ConvergenceWarning

            warn_user(
                f"the rounds stopped after max_iter={self.settings.max_iter} before they came to rest.",
                ConvergenceWarning,
            )
        with clock("contour"):
            end = replace(rounds.step, labels=np.asarray(finish(rounds.step.labels), dtype=np.int64))
            levels = self.sharpen(known, end, smoothness)
        return Answer(levels, rounds, smoothness / self.term.unit)

    def rounds(
        self,
        known: Labels,
        start: Labels,
        evidence: NDArray[np.float64] | None = None,
        hold: float = 1.0,
        trivial: Callable[[Labels], bool] = lambda labels: False,
    ) -> tuple[Descent[Round], float]:
        """Rounds at the working size, and the weight of the boundary term that left every label something."""
        term: Term = self.term if evidence is None else EvidenceTerm(self.term, evidence)
        smoothness = self.smoothness * hold
        for attempt in range(_ATTEMPTS):
            labeler = GridLabeler(self.weights * smoothness, known, self.n_labels)
            rounds = minimize_energy(
                term, labeler, start, max_iter=self.settings.max_iter, rest=self.settings.rest
            )
            if not (rounds.lost_label or trivial(rounds.step.labels)) or smoothness == 0:
                break
            if attempt < _ATTEMPTS - 1:
                smoothness /= 2
        return rounds, smoothness

    def sharpen(
        self,
        known: Sequence[Labels],
        end: Round,
        smoothness: float,
    ) -> tuple[Labels, ...]:
        """The labels at every size, from full size on.

        Parameters
        ----------
        known : sequence of ndarray
            Known labels at every size.
        end : Round
            Labels and costs at the working size.
        smoothness : float
        """
        costs = end.state.costs.reshape(*end.labels.shape, self.n_labels).astype(np.float32)
        levels: list[Labels] = [end.labels.astype(known[-1].dtype)]
        weight = smoothness
        for level in range(len(self.images) - 2, -1, -1):
            weight *= self.settings.band_weight
            step = self.sizes.steps[level]
            if not self.sizes.is_drawn(level):
                larger = enlarge(levels[0], known[level].shape, step)
                levels.insert(0, np.where(known[level] < 0, larger, known[level]))
                continue
            larger = sharpen_band(
                self.images[level],
                levels[0],
                costs,
                known[level],
                step=step,
                factor=self.sizes.factor(level),
                radius=self.settings.band_radius,
                weigh=partial(self._weigh, level=level, weight=weight),
            )
            levels.insert(0, larger)
        return tuple(levels)

    def _weigh(self, part: NDArray[np.floating], *, level: int, weight: float) -> NDArray[np.float64]:
        regularizer, spacing = self.settings.regularizer, self.sizes.spacings[level]
        weights = boundary_weights(part, regularizer, scale=self.scales[level], spacing=spacing)
        weights *= weight
        return weights
