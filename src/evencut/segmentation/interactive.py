"""Cutting objects out of photos from a box, strokes or a first guess: the front door `segment`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .boundary import REGULARIZERS
from .constraints import check_box, check_mask, check_scribbles, outside_of
from .engine import Answer, Engine, Settings
from .features import Features, shrink_features
from .grid import Slices, window_of
from .images import as_image, halve
from .result import Segmentation
from .starts import follow_strokes, start_from_strokes, starts_from_box
from .tightness import largest_gap

__all__ = ["segment"]

Labels = NDArray[np.int64]

_FULL, _EMPTY = 0.98, 0.002
_SURROUNDINGS = 2


def segment(
    image: ArrayLike,
    *,
    box: ArrayLike | None = None,
    scribbles: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    kernel: Any = "knn",
    criterion: str = "entropy",
    equalize: str | None = None,
    regularizer: str | None = "contrast",
    smoothness: float | str = "auto",
    hard: bool = True,
    features: Features = "lab",
    start: str = "barrier",
    maxflow: str = "grid",
    max_iter: int | None = None,
    working_pixels: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Segmentation:
    r"""Cut an object out of an image from a box, or divide the image along a few strokes.

    Minimises a kernel criterion on the colours plus a boundary term,

    .. math:: E(S) = E_A(S) + \gamma \sum_{pq} c_{pq} [S_p \ne S_q]

    by bounding the criterion :math:`E_A` with costs of single pixels at the current labels and solving for the labels
    of least bound by max-flow, until nothing changes (kernel cut).

    Parameters
    ----------
    image : array of shape (M, N) or (M, N, C)
        Grey, RGB, RGBA (alpha ignored) or any channels, of any integer or float type.
    box : (x0, y0, x1, y1), optional
        Box around the object in pixels; x1 and y1 are not inside.
    scribbles : array of int of shape (M, N), optional
        Strokes: 0 where nothing is drawn. With a box or mask 1 means background and 2 object; without, any two or more
        positive labels.
    mask : array of shape (M, N), optional
        First guess of the object, in place of the one that is found inside the box.
    kernel : {"knn", "gaussian"} or object
        `"knn"` is :class:`~evencut.segmentation.SampledKNN`; `"gaussian"` has Scott's bandwidth and shows the density
        bias that the paper is about. Objects: `SampledKNN`, or a kernel of `evencut.kernels`.
    criterion : {"entropy", "average_association", "normalized_cut", "average_cut"}
        The entropy criterion (eq. pkm_energy on kernel densities), eq. AA, eq. NC or the average cut.
    equalize : {None, "weights", "exact"}
        Even out the density of the colours first: by weights (eq. wDensity), or exactly.
    regularizer : {"contrast", "length", None}
        Boundary term: cheap along edges of the image, its plain length, or none.
    smoothness : "auto" or float
        :math:`\gamma`. For the entropy criterion in nats; for the others in units of the mean affinity over the square
        root of the number of pixels.
    hard : bool
        Whether nothing outside the box can be object.
    features : {"lab", "xy"}, array of shape (M, N, F), callable, or a list of these
        What the kernel compares. A list puts features side by side, such as ``["lab", 0.5 * depth]``; arrays are used
        as given, so their scale is their weight.
    start : {"barrier", "box"}
        First guess from a box: what no even path joins to the outside, or all of the box as in the paper.
    maxflow : {"grid", "ortools", "scipy", "pymaxflow"}
        The max-flow program: our own, or one of three libraries.
    max_iter : int, optional
        Most rounds; 15 by default.
    working_pixels : int, optional
        The rounds work on the image halved until it has at most this many pixels (100 000 by default); the contour is
        then found anew at each larger size.
    random_state : int or numpy.random.Generator, optional
        For the noise and the choice of neighbours. None means 0, so that the same call gives the same mask.

    Returns
    -------
    Segmentation
        With `mask`, `labels`, energy trace, timings, and `refine` for more strokes.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.segmentation import segment
    >>> rng = np.random.default_rng(0)
    >>> image = rng.normal(0.3, 0.05, size=(40, 40, 3))
    >>> image[12:28, 10:30] += 0.4
    >>> result = segment(np.clip(image, 0, 1), box=(6, 8, 34, 32))
    >>> int(result.mask.sum()), bool(result.mask[12:28, 10:30].all())
    (320, True)
    """
    session = begin(
        image,
        box=box,
        scribbles=scribbles,
        mask=mask,
        hard=hard,
        start=start,
        settings=_settings(max_iter, working_pixels),
        kernel=kernel,
        criterion=criterion,
        equalize=equalize,
        regularizer=regularizer,
        smoothness=smoothness,
        features=features,
        maxflow=maxflow,
        random_state=np.random.default_rng(0 if random_state is None else random_state),
    )
    return session.answer()


def begin(image: ArrayLike, *, box, scribbles, mask, hard: bool, start: str, settings: Settings, **options) -> Session:
    """Check what is given and build the graph; the options not named here are those of :class:`Engine`."""
    pixels = as_image(image)
    shape = pixels.shape[:2]
    if shape[0] * shape[1] < 2:
        raise ValueError("image has one pixel; there is nothing to divide.")
    if options["regularizer"] not in REGULARIZERS:
        raise ValueError(f"regularizer={options['regularizer']!r} is not known; choose one of {REGULARIZERS}.")
    if start not in ("barrier", "box"):
        raise ValueError(f"start={start!r} is not known; choose 'barrier' or 'box'.")
    names, known, outside = _what_is_known(shape, box, scribbles, mask, hard)
    guess = None if mask is None else check_mask(mask, shape)
    frame = _frame(known, outside if hard else None, guess)
    pixels, known = pixels[frame], known[frame]
    if np.ptp(pixels.reshape(-1, pixels.shape[2]), axis=0).max() == 0:
        raise ValueError("image has the same color everywhere; there is nothing to tell an object by.")
    outside, guess = (None if part is None else part[frame] for part in (outside, guess))
    options["features"] = shrink_features(options["features"], partial(_crop, frame=frame, shape=shape))
    surcharge = (0.0,) * len(names) if box is None else (0.0, settings.surcharge)
    engine = Engine(pixels, len(names), surcharge=surcharge, settings=settings, **options)
    return Session(engine, names, known, outside, guess, hard=hard, start=start, frame=frame, shape=shape)


class Session:
    """One image with one user: what is known inside its frame, and the machine that answers."""

    def __init__(self, engine: Engine, names: Labels, known: Labels, outside, guess, *, hard, start, frame, shape):
        self.engine = engine
        self.frame = frame
        self.shape = shape
        self.names = names
        self.known = known
        self.outside = outside if hard else None
        self._around = outside
        self._guess = guess
        self._start = start

    def answer(self) -> Segmentation:
        """Find a start, then solve; a start too strict for the object to fill its box gives way to the next."""
        levels = self.engine.coarsen(self.known, self.outside)
        around = None if self._around is None else _shrink(self._around, len(self.engine.images)) >= 0.5
        if around is not None and around.all():
            raise ValueError(
                "the box is too small to be seen at the working size; use hard=True or more working_pixels."
            )
        starts = self._starts(levels[-1], around)
        flaw = None if around is None or self._guess is not None else self._emptiness(window_of(~around))
        return self._solve(self.known, levels, starts, flaw)

    def _starts(self, known: Labels, around: NDArray[np.bool_] | None) -> Iterator[Labels]:
        engine = self.engine
        with engine.timed("start"):
            if self._guess is not None:
                rough = [(_shrink(self._guess, len(engine.images)) >= 0.5).astype(np.int64)]
            elif around is None:
                rough = [start_from_strokes(engine.channels, known, engine.n_labels)]
            elif self._start == "box":
                rough = [(~around).astype(np.int64)]
            else:
                # A soft box is no constraint, but its outside is still where the start takes the background from.
                rough = starts_from_box(engine.channels, around, engine.settings.strictness)
        for labels in rough:
            yield follow_strokes(engine.channels, labels, known, engine.n_labels)

    def _emptiness(self, box: Slices) -> Callable[[Labels], float]:
        slack = self.engine.settings.slack
        return lambda labels: max(0.0, largest_gap(labels == 1, box) - slack)

    def _solve(
        self,
        known: Labels,
        levels: list[Labels],
        starts: Iterable[Labels],
        flaw: Callable[[Labels], float] | None = None,
    ) -> Segmentation:
        engine = self.engine
        free = levels[-1] < 0

        def checked(labels: Labels) -> Labels:
            missing = np.flatnonzero(np.bincount(labels.ravel(), minlength=engine.n_labels) == 0)
            if missing.size:
                raise ValueError(
                    f"no pixel is left for label {self.names[missing[0]]}: the box, mask and scribbles rule it out; "
                    "draw less over it."
                )
            return labels

        def trivial(found: Labels) -> bool:
            # The raw box, or a speck of it, given back as if it were an answer.
            if self.outside is None or not free.any():
                return False
            share = float((found[free] == 1).mean())
            return share > _FULL or share < _EMPTY

        answer = engine.solve(levels, map(checked, starts), trivial=trivial, flaw=flaw or (lambda labels: 0.0))
        if answer.outcome.lost_label or trivial(answer.coarse):
            _warn_of_trivial(float((answer.coarse[free] == 1).mean()))
        return self._result(answer, known)

    def _result(self, answer: Answer, known: Labels) -> Segmentation:
        outcome = answer.outcome

        def refine(scribbles: ArrayLike) -> Segmentation:
            return self._add(answer, known, scribbles)

        labels = np.zeros(self.shape, dtype=np.int64)
        labels[self.frame] = answer.labels
        return Segmentation(
            labels=self.names[labels],
            energy=min(outcome.trace),
            trace=outcome.trace,
            n_iter=len(outcome.trace) - 1,
            converged=outcome.converged,
            smoothness=answer.smoothness,
            timings=dict(self.engine.timings),
            label_names=self.names,
            _refine=refine,
        )

    def _add(self, answer: Answer, known: Labels, scribbles: ArrayLike) -> Segmentation:
        """Solve again from the last labels with more strokes."""
        engine = self.engine
        engine.timings = {}
        codes = _codes(check_scribbles(scribbles, self.shape), self.names)
        if (codes < 0).all():
            raise ValueError("scribbles are empty: every pixel is 0.")
        if (codes > 0).sum() > (codes[self.frame] > 0).sum():
            raise ValueError("scribbles mark object far outside the box; draw a larger box and begin anew.")
        codes = codes[self.frame]
        known = np.where(codes < 0, known, codes)
        levels = engine.coarsen(known, self.outside)
        with engine.timed("start"):
            labels = follow_strokes(engine.channels, answer.coarse, levels[-1], engine.n_labels)
            if not np.bincount(labels.ravel(), minlength=engine.n_labels).all():
                # The stroke is like all of a label: it speaks for itself only.
                labels = np.where(levels[-1] < 0, answer.coarse, levels[-1])
        return self._solve(known, levels, [labels])


def _what_is_known(
    shape: tuple[int, int], box, scribbles, mask, hard: bool
) -> tuple[Labels, Labels, NDArray[np.bool_] | None]:
    """Names of the labels, known labels as codes (-1: unknown), and the outside of the box."""
    known = np.full(shape, -1, dtype=np.int64)
    outside = None if box is None else outside_of(check_box(box, shape), shape)
    strokes = None if scribbles is None else check_scribbles(scribbles, shape)
    if box is not None or mask is not None:
        names = np.array([1, 2])
    elif strokes is not None:
        names = np.unique(strokes[strokes > 0])
        if len(names) < 2:
            raise ValueError(
                f"scribbles show {len(names)} label{'s' if len(names) != 1 else ''}; draw at least two, or add a box."
            )
    else:
        raise ValueError("give a box, scribbles or a mask; for regions without any, use partition().")
    if outside is not None and hard:
        known[outside] = 0
    if strokes is not None:
        codes = _codes(strokes, names)
        known = np.where(codes < 0, known, codes)
    return names, known, outside


def _frame(known: Labels, outside: NDArray[np.bool_] | None, guess: NDArray[np.bool_] | None) -> Slices:
    """The part of the image worth looking at: around a small hard box its surroundings, else everything."""
    everything = (slice(0, known.shape[0]), slice(0, known.shape[1]))
    if outside is None:
        return everything
    wanted = ~outside | (known > 0) | (False if guess is None else guess)
    rows, columns = window_of(wanted)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    frame = (
        slice(max(0, rows.start - _SURROUNDINGS * height), min(rows.stop + _SURROUNDINGS * height, known.shape[0])),
        slice(max(0, columns.start - _SURROUNDINGS * width), min(columns.stop + _SURROUNDINGS * width, known.shape[1])),
    )
    return frame if known[frame].size < known.size / 4 else everything


def _crop(channels: NDArray[np.float32], frame: Slices, shape: tuple[int, int]) -> NDArray[np.float32]:
    # Features of a wrong shape stay as they are: the complaint comes where they are used.
    return channels[frame] if channels.shape[:2] == shape else channels


def _codes(strokes: Labels, names: Labels) -> Labels:
    """Strokes as positions in `names`, -1 where nothing is drawn."""
    drawn = np.unique(strokes[strokes > 0])
    strange = np.setdiff1d(drawn, names)
    if strange.size:
        raise ValueError(
            f"scribbles contain the label {strange[0]}; the labels in use are {', '.join(map(str, names))}"
            f"{' (1 background, 2 object)' if list(names) == [1, 2] else ''}."
        )
    return np.where(strokes > 0, np.searchsorted(names, strokes), -1)


def _shrink(values: NDArray[np.bool_], n_levels: int) -> NDArray[np.float32]:
    small = values.astype(np.float32)
    for _ in range(n_levels - 1):
        small = halve(small)
    return small


def _settings(max_iter: int | None, working_pixels: int | None) -> Settings:
    settings = Settings()
    for name, value in (("max_iter", max_iter), ("working_pixels", working_pixels)):
        if value is None:
            continue
        if value < 1:
            raise ValueError(f"{name}={value} must be at least 1.")
        settings = replace(settings, **{name: int(value)})  # type: ignore[arg-type]
    return settings


def _warn_of_trivial(share: float) -> None:
    warnings.warn(
        f"{share:.1%} of what was undecided came out as object even with a weak boundary term: the colors do not tell "
        "object and background apart; add scribbles.",
        stacklevel=5,
    )
