"""Cutting objects out of photos from a box, clicks, strokes or a first guess: the front door `segment`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._runtime import warn_user
from . import sizes
from .cells import CellKNN
from .clock import Clock
from .engine import Engine
from .features import Features, shrink_features
from .grid import Shape, Slices
from .images import as_image
from .knowledge import Knowledge, gather
from .result import Segmentation
from .session import State, first_answer
from .settings import Settings
from .sizes import Sizes


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
        it. More clicks correct the first answer one after the other.
    scribbles : array of int of shape (M, N), or (D, M, N), optional
        Strokes, on any slices of a volume: 0 where nothing is drawn. With a box, clicks or mask 1 means background and
        2 object; without, any two or more positive labels.
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
    clock = Clock()
    engine = build_engine(pixels, features, knowledge, settings, random_state, clock)
    return first_answer(engine, knowledge, clock)


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
    return State(engine.localized(clock), knowledge, ())


def build_engine(
    pixels: NDArray[np.float32],
    features: Features,
    knowledge: Knowledge,
    settings: Settings,
    random_state: int | np.random.Generator | None,
    clock: Clock,
) -> Engine:
    """The machine for the part of an image that the hints ask for."""
    part = pixels[knowledge.frame]
    # A few pixels nearly always suffice to see it.
    one = part[(0,) * (part.ndim - 1)]
    if not (part[(slice(None, None, 16),) * (part.ndim - 1)] != one).any() and not (part != one).any():
        raise ValueError("image has the same colour everywhere; nothing distinguishes an object.")
    if isinstance(features, str) and features == "auto":
        # The ratio criteria and the Gaussian are there for the paper's sake, which compares colours.
        by_neighbors = settings.kernel == "knn" or isinstance(settings.kernel, CellKNN)
        features = ["lab", "texture"] if by_neighbors and settings.criterion == "entropy" else "lab"
    features = shrink_features(features, partial(_crop, frame=knowledge.frame, shape=knowledge.shape))
    rng = np.random.default_rng(0 if random_state is None else random_state)
    in_box = knowledge.around is not None
    spacing = knowledge.levels.spacing
    return Engine(part, features, len(knowledge.names), settings, rng, clock, in_box=in_box, spacing=spacing)


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


def shape_of(pixels: NDArray[np.float32]) -> Shape:
    """The shape of an image of more than one pixel; a notice where a volume will be cut at a smaller size."""
    shape = pixels.shape[:-1]
    if np.prod(shape) < 2:
        raise ValueError("image has one pixel; there is nothing to divide.")
    if not Sizes((shape,), (), ()).is_drawn(0):
        warn_user(
            f"the volume has {' x '.join(map(str, shape))} voxels, more than {sizes.MOST_DRAWN}: the contour is found "
            "at half its size or less, and enlarged; cut out the part that matters for a finer one."
        )
    return shape


def _crop(channels: NDArray[np.float32], frame: Slices, shape: Shape) -> NDArray[np.float32]:
    # Features of a wrong shape stay as they are: the complaint comes where they are used.
    return channels[frame] if channels.shape[: len(shape)] == shape else channels
