"""Objects cut out of photos and volumes from a box, clicks or strokes; several at once; whole photos in regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._runtime import warn_user
from ..criteria import normalized_cut
from ..neighbors import kneighbors
from ..solvers import solve
from .affinity import CellKNN
from .engine import Clock, Engine
from .grid import MOST_DRAWN, Mask, Shape, Sizes, Slices
from .images import Features, as_image, shrink_features
from .knowledge import Knowledge, gather
from .result import Segmentation
from .session import Rounds, State, first_answer
from .settings import Settings


def segment(
    image: ArrayLike,
    *,
    box: ArrayLike | None = None,
    clicks: Iterable[Any] | None = None,
    scribbles: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    kernel: Any = "knn",
    criterion: str = "entropy",
    equalize: str | None = None,
    regularizer: str | None = "contrast",
    smoothness: float | str = "auto",
    hard: bool = True,
    features: Features = "auto",
    start: str = "barrier",
    max_iter: int = 15,
    working_pixels: int | None = None,
    spacing: ArrayLike | None = None,
    size: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Segmentation:
    r"""Cut an object out of an image or a volume from a box or clicks, or divide it along a few strokes.

    Minimises a kernel criterion on the colours plus a boundary term,

    .. math:: E(S) = E_A(S) + \gamma \sum_{pq} c_{pq} [S_p \ne S_q]

    by bounding the criterion :math:`E_A` with costs of single pixels at the current labels and solving for the labels
    of least bound by max-flow, until nothing changes (kernel cut).

    Parameters
    ----------
    image : array of shape (M, N) or (M, N, C), or volume of shape (D, M, N) or (D, M, N, C)
        Grey, RGB, RGBA (alpha ignored) or any channels, of any integer or float type. An array of three axes is a
        volume where `spacing`, the box or the clicks have three coordinates.
    box : (x0, y0, x1, y1), or (x0, y0, z0, x1, y1, z1) in a volume, optional
        Box around the object in pixels; x1, y1 and z1 are not inside.
    clicks : list of (x, y, "object" or "background"), optional
        Points that the user clicked on; one on the object is enough to begin with. In a volume (x, y, z, ...), z
        counting slices along the first axis. While nothing is known of the background, the outermost pixels stand for
        it. More clicks correct the first answer one after the other; each best lies in the middle of what is wrong.
    scribbles : array of int of shape (M, N), or (D, M, N), optional
        Strokes, or whole slices of a volume painted: 0 where nothing is drawn. With a box, clicks or mask 1 means
        background and 2 object; without, any two or more positive labels.
    mask : array of shape (M, N), or (D, M, N), optional
        First guess of the object, in place of the one that is found inside the box.
    kernel : {"knn", "gaussian"} or object
        `"knn"` is :class:`~evencut.segmentation.CellKNN`; `"gaussian"` has Scott's bandwidth and shows the density
        bias that the paper is about. Objects: `CellKNN`, or a kernel of `evencut.kernels`.
    criterion : {"entropy", "average_association", "normalized_cut", "average_cut"}
        The entropy criterion (eq. 16 on kernel densities), eq. 9, eq. 10 or the average cut.
    equalize : {None, "weights", "exact"}
        Even out the density of the colours first: by weights (eq. 43), or exactly.
    regularizer : {"contrast", "length", None}
        Boundary term: cheap along edges of the image, its plain length, or none.
    smoothness : "auto" or float
        :math:`\gamma`. For the entropy criterion in nats; for the others in units of the mean affinity over the square
        root of the number of pixels.
    hard : bool
        Whether nothing outside the box can be object.
    features : {"auto", "lab", "texture", "xy"}, array of shape (M, N, F), callable, or a list of these
        What the kernel compares. `"lab"` is the colour, `"texture"` how much the lightness varies around a pixel, with
        less weight; `"auto"` is both for the entropy criterion on a kernel of neighbours, else the colour. A list puts
        features side by side, such as ``["lab", 0.5 * depth]``; arrays are used as given, so their scale is their
        weight.
    start : {"barrier", "box"}
        First guess from a box: what no even path joins to the outside, or all of the box as in the paper.
    max_iter : int
        Most rounds.
    working_pixels : int, optional
        The rounds work on the image halved until it has at most this many pixels, by default 100 000 (300 000 voxels);
        the contour is then found anew at each larger size, in volumes up to 20 million voxels.
    spacing : sequence of float, optional
        Size of a voxel along each axis, in the order of the axes (of a volume: between slices, rows, columns): the
        boundary weighs what it measures in space. By default all are alike.
    size : float, optional
        Rough radius of the object in a volume, in the unit of `spacing`: what one click finds holds about as much as a
        ball of it where contrast alone does not say where the object ends.
    random_state : int or numpy.random.Generator, optional
        For the noise and the choice of neighbours. None means 0, so that the same call gives the same mask.

    Returns
    -------
    Segmentation
        With `mask`, `labels`, energy trace, timings, and `refine` for more clicks or strokes.

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
    settings = Settings(
        kernel=kernel,
        criterion=criterion,
        equalize=equalize,
        regularizer=regularizer,
        smoothness=smoothness,
        hard=hard,
        start=start,
        max_iter=max_iter,
        working_pixels=working_pixels,
    )
    clicks = None if clicks is None else list(clicks)
    n_axes = axes_of(image, spacing, box, clicks)
    pixels, sides = as_image(image, n_axes), check_spacing(spacing, n_axes)
    shape = shape_of(pixels)
    knowledge = gather(shape, box=box, clicks=clicks, scribbles=scribbles, mask=mask, hard=hard, spacing=sides)
    radius = check_size(size, clicks, spacing, n_axes)
    clock = Clock()
    engine = build_engine(pixels, features, knowledge, settings, random_state, clock)
    return first_answer(engine, knowledge, clock, radius).result(clock)


def prepare(image: ArrayLike) -> State:
    """What every first click on an image needs, whatever it says: `begun_anew` answers one as :func:`segment` does.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> image = np.clip(rng.normal(0.2, 0.03, size=(40, 60)), 0, 1)
    >>> image[10:30, 10:25] += 0.6
    >>> first = prepare(image).begun_anew([(17, 20, "object")])
    >>> bool((first.mask == segment(image, clicks=[(17, 20, "object")]).mask).all())
    True
    """
    pixels, clock = as_image(image), Clock()
    # Of the place that stands for a click nothing is kept.
    knowledge = gather(shape_of(pixels), clicks=[(0, 0, "object")], hard=True, spacing=check_spacing(None, 2))
    engine = build_engine(pixels, "auto", knowledge, Settings(), None, clock)
    return State(engine.localized(clock), knowledge, knowledge.known, Rounds((), True, 0.0))


def build_engine(
    pixels: NDArray[np.float32],
    features: Features,
    knowledge: Knowledge,
    settings: Settings,
    random_state: int | np.random.Generator | None,
    clock: Clock,
) -> Engine:
    """The machine for the part of an image that the hints ask for."""
    crop = pixels[knowledge.frame]
    # A few pixels nearly always suffice to see it.
    color = crop[(0,) * (crop.ndim - 1)]
    if not (crop[(slice(None, None, 16),) * (crop.ndim - 1)] != color).any() and not (crop != color).any():
        raise ValueError("image has the same colour everywhere; nothing distinguishes an object.")
    if isinstance(features, str) and features == "auto":
        # The ratio criteria and the Gaussian are there for the paper's sake, which compares colours.
        by_neighbors = settings.kernel == "knn" or isinstance(settings.kernel, CellKNN)
        features = ["lab", "texture"] if by_neighbors and settings.criterion == "entropy" else "lab"
    features = shrink_features(features, partial(_crop, frame=knowledge.frame, shape=knowledge.shape))
    rng = np.random.default_rng(0 if random_state is None else random_state)
    in_box = knowledge.around is not None
    spacing = knowledge.levels.spacing
    return Engine(crop, features, len(knowledge.names), settings, rng, clock, in_box=in_box, spacing=spacing)


def axes_of(image: ArrayLike, spacing: ArrayLike | None, box: ArrayLike | None, clicks: Sequence[Any] | None) -> int:
    """2 for an image and 3 for a volume, which an array of three axes is only if a hint has three coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.zeros((4, 5, 6))
    >>> axes_of(array, None, None, [(1, 2, "object")]), axes_of(array, (1, 1, 1), None, None)
    (2, 3)
    """
    n_axes = np.ndim(image)
    if n_axes != 3:
        return 3 if n_axes == 4 else 2
    in_space = [
        np.asarray(spacing, dtype=object).size == 3,
        np.asarray(box, dtype=object).size == 6,
        any(isinstance(click, Sequence) and len(click) == 4 for click in clicks or ()),
    ]
    return 3 if any(in_space) else 2


def check_spacing(spacing: ArrayLike | None, n_axes: int) -> tuple[float, ...]:
    """The size of a voxel along each axis, in units of the finest.

    Examples
    --------
    >>> check_spacing((3, 0.5, 0.5), 3)
    (6.0, 1.0, 1.0)
    """
    if spacing is None:
        return (1.0,) * n_axes
    try:
        sides = np.asarray(spacing, dtype=np.float64)
    except (TypeError, ValueError):
        sides = np.empty(0)
    if sides.shape != (n_axes,):
        raise ValueError(f"spacing={spacing!r} must have {n_axes} numbers, one an axis of the image.")
    if not (np.isfinite(sides).all() and (sides > 0).all()):
        raise ValueError(f"spacing={spacing!r} must be positive numbers.")
    return tuple(float(side) for side in sides / sides.min())


def check_size(
    size: float | None, clicks: Sequence[Any] | None, spacing: ArrayLike | None, n_axes: int
) -> float | None:
    """The rough radius of an object in units of the finest side of a voxel.

    Examples
    --------
    >>> check_size(10.0, [(1, 1, 1, "object")], (3.0, 0.5, 0.5), 3)
    20.0
    """
    if size is None:
        return None
    if n_axes != 3 or not clicks:
        raise ValueError(f"size={size!r} is for a first click in a volume; leave it out.")
    if isinstance(size, (str, bool)) or not (np.isfinite(size) and size > 0):
        raise ValueError(f"size={size!r} must be a positive number: the rough radius of the object.")
    return float(size) / (1.0 if spacing is None else float(np.min(np.asarray(spacing, dtype=float))))


def shape_of(pixels: NDArray[np.float32]) -> Shape:
    """The shape of an image of more than one pixel; a notice where a volume will be cut at a smaller size."""
    shape = pixels.shape[:-1]
    if np.prod(shape) < 2:
        raise ValueError("image has one pixel; there is nothing to divide.")
    if not Sizes((shape,), (), ()).is_drawn(0):
        warn_user(
            f"the volume has {' x '.join(map(str, shape))} voxels, more than {MOST_DRAWN}: the contour is found "
            "at half its size or less, and enlarged; cut out the part that matters for a finer one."
        )
    return shape


def _crop(channels: NDArray[np.float32], frame: Slices, shape: Shape) -> NDArray[np.float32]:
    # Features of a wrong shape are left unchanged: the complaint comes where they are used.
    return channels[frame] if channels.shape[: len(shape)] == shape else channels


_PROMPTS = ("box", "clicks", "scribbles", "mask")


@dataclass(frozen=True, eq=False)
class ObjectMasks:
    """Several objects of one image.

    Parameters
    ----------
    labels : ndarray of int of shape (M, N), or (D, M, N)
        0 background, else the number of the object, from 1 in the order of the prompts.
    objects : tuple of Segmentation
        The answer for each prompt alone; where two overlap, `labels` has decided.
    """

    labels: NDArray[np.int64]
    objects: tuple[Segmentation, ...]

    @property
    def label_names(self) -> NDArray[np.int64]:
        """The labels that pixels can have: 0 and the numbers of the objects."""
        return np.arange(len(self.objects) + 1)

    @property
    def timings(self) -> dict[str, float]:
        """Seconds of CPU time of each step, over all objects."""
        spent: dict[str, float] = {}
        for result in self.objects:
            spent |= {step: spent.get(step, 0.0) + seconds for step, seconds in result.timings.items()}
        return spent

    @property
    def masks(self) -> list[NDArray[np.bool_]]:
        """One mask an object; no pixel is in two."""
        return [self.labels == number for number in range(1, len(self.objects) + 1)]


def segment_many(
    image: ArrayLike,
    prompts: Sequence[Mapping[str, Any]],
    *,
    features: Features = "auto",
    spacing: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> ObjectMasks:
    """Cut several objects out of one image or volume; their masks do not overlap.

    Each object is cut out as by :func:`segment`, the clicks on the other objects counting as background. A pixel that
    two objects want goes to the one that holds it deeper inside.

    Parameters
    ----------
    image : array of shape (M, N) or (M, N, C), or volume of shape (D, M, N) or (D, M, N, C)
    prompts : list of dict
        One an object, each with some of `box`, `clicks`, `scribbles` and `mask`, as in :func:`segment`.
    features, spacing, random_state, **options
        As in :func:`segment`.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.segmentation import segment_many
    >>> rng = np.random.default_rng(0)
    >>> image = np.clip(rng.normal(0.2, 0.03, size=(40, 60)), 0, 1)
    >>> image[10:30, 10:25] += 0.6
    >>> image[10:30, 35:50] += 0.4
    >>> found = segment_many(image, [{"clicks": [(17, 20, "object")]}, {"box": (32, 6, 54, 34)}])
    >>> [int(mask.sum()) for mask in found.masks]
    [300, 300]
    """
    if not prompts:
        raise ValueError("prompts are empty; give one dict an object, with box, clicks, scribbles or mask.")
    settings = Settings(**options)
    hint = next((prompt for prompt in prompts if prompt.get("box") is not None or prompt.get("clicks")), {})
    n_axes = axes_of(image, spacing, hint.get("box"), hint.get("clicks"))
    pixels, sides = as_image(image, n_axes), check_spacing(spacing, n_axes)
    shape = shape_of(pixels)
    clicks = [[click for click in prompt.get("clicks") or () if click[-1] == "object"] for prompt in prompts]
    objects, claims = [], []
    engines: dict[tuple[tuple[tuple[int, int], ...], bool], Engine] = {}
    for number, prompt in enumerate(prompts):
        strange = set(prompt) - set(_PROMPTS)
        if strange:
            raise ValueError(f"prompt {number} has {sorted(strange)[0]!r}; it may have {', '.join(_PROMPTS)}.")
        elsewhere = [(*at, "background") for i, some in enumerate(clicks) if i != number for *at, _ in some]
        hints = {**prompt, "clicks": [*(prompt.get("clicks") or ()), *elsewhere] or None}
        if not any(prompt.get(key) is not None for key in _PROMPTS):
            raise ValueError(f"prompt {number} is empty; give it a box, clicks, scribbles or a mask.")
        knowledge = gather(shape, **hints, hard=settings.hard, spacing=sides)
        clock, place = Clock(), tuple((crop.start, crop.stop) for crop in knowledge.frame)
        if (place, False) not in engines:
            engines[place, False] = build_engine(pixels, features, knowledge, settings, random_state, clock)
        has_clicks = bool(knowledge.clicks or knowledge.waiting)
        if (place, has_clicks) not in engines:
            engines[place, True] = engines[place, False].localized(clock)
        engine = engines[place, has_clicks].varied(in_box=knowledge.around is not None)
        state = first_answer(engine, knowledge, clock)
        objects.append(state.result(clock))
        claims.append(_claim(objects[-1].mask, state.knowledge))
    strength = np.stack(claims)
    winner = strength.argmax(axis=0)
    labels = np.where(strength.max(axis=0) > 0, winner + 1, 0)
    return ObjectMasks(labels, tuple(objects))


def _claim(mask: Mask, knowledge: Knowledge) -> NDArray[np.float32]:
    """How much each pixel of the object is its own: the depth inside the mask, beyond doubt where it is known."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(mask, 1), sampling=knowledge.levels.spacing)
    claim = depth[(slice(1, -1),) * depth.ndim].astype(np.float32)
    claim[knowledge.frame][knowledge.known == 1] = np.inf
    return claim


_SAMPLE = 2000
_SAMPLE_NEIGHBORS = 20
_VOTERS = 5


def partition(
    image: ArrayLike,
    n_regions: int = 4,
    *,
    kernel: Any = "knn",
    criterion: str = "normalized_cut",
    equalize: str | None = None,
    regularizer: str | None = "contrast",
    smoothness: float | str = "auto",
    features: Features = "lab",
    max_iter: int = 15,
    random_state: int | np.random.Generator | None = None,
) -> Segmentation:
    """Divide an image into regions of similar colours with short boundaries.

    A random sample of the pixels is clustered by normalised cut from its spectral embedding, the other pixels follow
    their nearest neighbours in the sample, and rounds of kernel cut with expansion moves improve the whole. The
    clusters are of colours: a region may have several parts.

    Parameters
    ----------
    image : array of shape (M, N) or (M, N, C)
    n_regions : int, default=4
    kernel, criterion, equalize, regularizer, smoothness, features, max_iter, random_state
        As in :func:`evencut.segmentation.segment`.

    Returns
    -------
    Segmentation
        Its `labels` are 1 to `n_regions`, the largest region first.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.segmentation import partition
    >>> rng = np.random.default_rng(0)
    >>> image = np.repeat(np.array([0.1, 0.5, 0.9]), [8, 14, 18])[:, None] + rng.normal(0, 0.02, size=(40, 30))
    >>> np.unique(partition(image, 3).labels, return_counts=True)[1]
    array([540, 420, 240])
    """
    pixels = as_image(image)
    _check_regions(n_regions, pixels.reshape(-1, pixels.shape[2]))
    rng = np.random.default_rng(0 if random_state is None else random_state)
    settings = Settings(
        kernel=kernel,
        criterion=criterion,
        equalize=equalize,
        regularizer=regularizer,
        smoothness=smoothness,
        max_iter=max_iter,
    )
    clock = Clock()
    engine = Engine(pixels, features, n_regions, settings, rng, clock)
    with clock("start"):
        start = _start(engine.points, n_regions, rng).reshape(engine.channels.shape[:-1])
    free = [np.full(level.shape[:-1], -1, dtype=np.int64) for level in engine.images]
    levels, rounds, weight = engine.solve(free, [start], clock)
    order = np.argsort(-np.bincount(levels[0].ravel(), minlength=n_regions), kind="stable")
    place = np.empty(n_regions, dtype=np.int64)
    place[order] = np.arange(n_regions)
    return Segmentation(
        codes=place[levels[0]],
        energy=rounds.step.energy,
        trace=rounds.trace,
        n_iter=len(rounds.trace) - 1,
        converged=rounds.converged,
        smoothness=weight,
        timings=clock.seconds,
        label_names=np.arange(1, n_regions + 1),
    )


def _check_regions(n_regions: int, colors: NDArray[np.float32]) -> None:
    # Sorting the colours of a large photo takes seconds; a few of them nearly always suffice.
    for some in (colors[:: max(1, len(colors) // 10_000)], colors):
        n_colors = len(np.unique(some, axis=0))
        if 2 <= n_regions <= n_colors:
            return
    raise ValueError(
        f"n_regions={n_regions} must be at least 2 and at most {n_colors}, the number of different colours."
    )


def _start(points: NDArray[np.floating], n_regions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Clusters of a sample, spread to all points by the vote of the nearest."""
    from ..kernels import KNN

    n_sample = min(_SAMPLE, len(points))
    sample = np.sort(rng.choice(len(points), n_sample, replace=False))
    some = np.asarray(points[sample], dtype=np.float64)
    n_neighbors = min(_SAMPLE_NEIGHBORS, max(2, n_sample // n_regions))
    problem = normalized_cut(KNN(n_neighbors=n_neighbors).affinity(some))
    clusters = solve(problem, n_regions, random_state=rng).labels
    _, nearest = kneighbors(some, min(_VOTERS, n_sample), at=np.asarray(points, dtype=np.float64))
    votes = np.stack([(clusters[nearest] == k).sum(axis=1) for k in range(n_regions)], axis=1)
    return votes.argmax(axis=1)
