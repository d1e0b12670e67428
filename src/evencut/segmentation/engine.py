"""The machine behind every segmentation: sizes of the image, affinity and boundary weights, made once an image."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import warn_user
from ..solvers.lloyd import Descent
from .affinities import pixel_affinity, pose_term
from .band import sharpen_band
from .boundary import boundary_weights, contrast_scale
from .clock import Clock
from .features import Features, lab_channels, pixel_features, shrink_features
from .geodesic import terrain
from .grid import Labels, Mask, Steps
from .images import enlarge, halve
from .moves import GridLabeler
from .rounds import Round, minimize_energy
from .settings import Settings
from .sizes import Sizes
from .terms import EvidenceTerm, Term

_ATTEMPTS = 4


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

    @cached_property
    def ground(self) -> NDArray[np.float64]:
        """What geodesic distances are measured on."""
        return terrain(self.channels)

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
        drawn: Sequence[Labels] | None = None,
        redraw: Mask | None = None,
    ) -> tuple[Labels, ...]:
        """The labels at every size, from full size on.

        Parameters
        ----------
        known : sequence of ndarray
            Known labels at every size.
        end : Round
            Labels and costs at the working size.
        smoothness : float
        drawn : sequence of ndarray, optional
            An earlier answer at every size, kept outside `redraw`.
        redraw : ndarray of bool, optional
            In pixels of the working size.
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
                drawn=None if drawn is None else drawn[level],
                redraw=redraw,
            )
            levels.insert(0, larger)
        return tuple(levels)

    def _weigh(self, part: NDArray[np.floating], *, level: int, weight: float) -> NDArray[np.float64]:
        regularizer, spacing = self.settings.regularizer, self.sizes.spacings[level]
        weights = boundary_weights(part, regularizer, scale=self.scales[level], spacing=spacing)
        weights *= weight
        return weights
