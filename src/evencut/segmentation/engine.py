"""The machine behind `segment`: sizes of the image, affinity and boundary weights, made once for every answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .affinities import pixel_affinity, pose_term
from .band import refine_band
from .boundary import boundary_weights, contrast_scale
from .constraints import halve_known
from .features import Features, lab_channels, pixel_features, shrink_features
from .images import halve
from .moves import GridLabeler
from .rounds import Outcome, minimize_energy

__all__ = ["Answer", "Engine", "Settings"]

Labels = NDArray[np.int64]

_ATTEMPTS = 4
_SMALL = 25_000


@dataclass(frozen=True)
class Settings:
    """Constants of the method, the same for every image; tuned over boxes of all kinds.

    Parameters
    ----------
    working_pixels : int
        Images are halved until they have at most this many pixels.
    strictness : tuple of float
        Share of Otsu's threshold above which a barrier distance means object; the later ones are tried where the
        object found leaves too much of the box empty.
    slack : float
        How much of the box may be empty along a side, as a share of its size.
    surcharge : float
        What an object pixel pays in the entropy criterion: doubt goes to the background.
    smoothness : dict
        Weight of the boundary term by criterion ("entropy" or "ratio") and regularizer; in ratio criteria it is
        multiplied by the mean affinity over the square root of the pixels.
    max_iter : int
        Rounds.
    band_radius : int
        Pixels on either side of the enlarged contour that are decided anew at the next size.
    band_weight : float
        Weight of the boundary term there, relative to the rounds.
    """

    working_pixels: int = 100_000
    strictness: tuple[float, ...] = (0.5, 0.4, 0.25)
    slack: float = 0.2
    surcharge: float = 0.3
    smoothness: dict[tuple[str, str | None], float] = field(
        default_factory=lambda: {
            ("entropy", "contrast"): 16.0,
            ("entropy", "length"): 4.0,
            ("ratio", "contrast"): 0.08,
            ("ratio", "length"): 0.04,
        }
    )
    max_iter: int = 15
    band_radius: int = 3
    band_weight: float = 0.5


@dataclass(frozen=True, eq=False)
class Answer:
    """Labels at full size, and the rounds that led to them."""

    labels: Labels
    outcome: Outcome
    smoothness: float

    @property
    def coarse(self) -> Labels:
        """The labels at the working size."""
        return self.outcome.labels


class Engine:
    """Everything about an image that does not depend on boxes and strokes.

    Parameters
    ----------
    image : ndarray of shape (height, width, n_channels)
        Values in [0, 1].
    n_labels : int
    kernel, criterion, equalize, regularizer, smoothness, features, maxflow
        As in :func:`evencut.segmentation.segment`.
    surcharge : tuple of float
        Of each label, for the entropy criterion.
    random_state : numpy.random.Generator
    settings : Settings
    """

    def __init__(
        self,
        image: NDArray[np.float32],
        n_labels: int,
        *,
        kernel: Any,
        criterion: str,
        equalize: str | None,
        regularizer: str | None,
        smoothness: float | str,
        features: Features,
        surcharge: tuple[float, ...],
        maxflow: str,
        random_state: np.random.Generator,
        settings: Settings,
    ):
        self.n_labels = n_labels
        self.settings = settings
        self.regularizer = regularizer
        self.maxflow = maxflow
        self.timings: dict[str, float] = {}
        with self.timed("features"):
            self.images = [image]
            while self.images[-1][..., 0].size > settings.working_pixels:
                self.images.append(halve(self.images[-1]))
                features = shrink_features(features, halve)
            self.channels = lab_channels(self.images[-1])
            self.points = pixel_features(self.images[-1], features, random_state)
        with self.timed("affinity"):
            affinity = pixel_affinity(self.points, kernel, random_state)
            self.term = pose_term(affinity, criterion, equalize, surcharge)
        with self.timed("boundary"):
            self.scales = [contrast_scale(level) if regularizer == "contrast" else 0.0 for level in self.images]
            self.weights = boundary_weights(self.images[-1], regularizer, scale=self.scales[-1])
        self.smoothness = self._smoothness(smoothness, criterion) * self.term.unit

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the seconds of CPU time of the block to `timings`."""
        begin = time.process_time()
        yield
        self.timings[step] = self.timings.get(step, 0.0) + time.process_time() - begin

    def coarsen(self, known: Labels, outside: NDArray[np.bool_] | None) -> list[Labels]:
        """Known labels at every size, from full to working size."""
        levels = [known]
        for _ in self.images[1:]:
            levels.append(halve_known(levels[-1], self.n_labels, outside))
            outside = None if outside is None else halve(outside.astype(np.float32)) >= 0.5
        return levels

    def solve(
        self,
        known: list[Labels],
        starts: Iterable[Labels],
        *,
        trivial: Callable[[Labels], bool] = lambda labels: False,
        flaw: Callable[[Labels], float] = lambda labels: 0.0,
    ) -> Answer:
        """Rounds at the working size, then the contour at every larger size.

        Parameters
        ----------
        known : list of ndarray
            Known labels at every size.
        starts : iterable of ndarray
            First labels at the working size; the next is tried while the result has a flaw.
        trivial : callable
            Whether labels at the working size say nothing; the boundary term is then weakened and the rounds
            repeated.
        flaw : callable
            What is wrong with labels at the working size: the least decides, zero at once.
        """
        best: tuple[float, Outcome, float] | None = None
        for start in starts:
            with self.timed("rounds"):
                outcome, smoothness = self._rounds(known[-1], start, trivial)
                wrong = flaw(outcome.labels)
            if best is None or wrong < best[0]:
                best = (wrong, outcome, smoothness)
            if wrong == 0:
                break
        if best is None:
            raise ValueError("there is no start to begin from.")
        _, outcome, smoothness = best
        if not outcome.converged:
            warnings.warn(
                f"the rounds stopped after max_iter={self.settings.max_iter} before they came to rest.",
                ConvergenceWarning,
                stacklevel=4,
            )
        with self.timed("contour"):
            labels = self._sharpen(known, outcome, smoothness)
        return Answer(labels, outcome, smoothness / self.term.unit)

    def _rounds(self, known: Labels, start: Labels, trivial: Callable[[Labels], bool]) -> tuple[Outcome, float]:
        smoothness = self.smoothness
        for attempt in range(_ATTEMPTS):
            labeler = GridLabeler(self.weights * smoothness, known, self.n_labels, self.maxflow)
            outcome = minimize_energy(self.term, labeler, start, max_iter=self.settings.max_iter)
            if not (outcome.lost_label or trivial(outcome.labels)) or smoothness == 0:
                break
            if attempt < _ATTEMPTS - 1:
                smoothness /= 2
        return outcome, smoothness

    def _sharpen(self, known: list[Labels], outcome: Outcome, smoothness: float) -> Labels:
        labels = outcome.labels
        costs: NDArray[np.floating] = outcome.state.costs.astype(np.float32).reshape(*labels.shape, self.n_labels)
        weight = smoothness
        for level in range(len(self.images) - 2, -1, -1):
            weight *= self.settings.band_weight
            labels, costs = refine_band(
                self.images[level],
                labels,
                costs,
                known[level],
                radius=self.settings.band_radius,
                weigh=partial(self._weigh, level=level, weight=weight),
                maxflow=self.maxflow,
            )
        return labels

    def _weigh(self, part: NDArray[np.floating], *, level: int, weight: float) -> NDArray[np.float64]:
        weights = boundary_weights(part, self.regularizer, scale=self.scales[level])
        weights *= weight
        return weights

    def _smoothness(self, smoothness: float | str, criterion: str) -> float:
        if self.regularizer is None:
            return 0.0
        if smoothness == "auto":
            family = "entropy" if criterion == "entropy" else "ratio"
            weight = self.settings.smoothness[family, self.regularizer]
            # The entropy grows with the area and the boundary with its root: small images need less of it.
            small = np.sqrt(min(1.0, self.channels[..., 0].size / _SMALL)) if family == "entropy" else 1.0
            return weight * float(small)
        if isinstance(smoothness, str) or not (np.isfinite(smoothness) and smoothness >= 0):
            raise ValueError(f"smoothness={smoothness!r} must be 'auto' or a number of at least 0.")
        return float(smoothness)
