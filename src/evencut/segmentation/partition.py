"""A whole photo divided into regions without any box or stroke: clusters of colours with short boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..criteria import normalized_cut
from ..neighbors import kneighbors
from ..solvers import solve
from .clock import Clock
from .engine import Engine
from .features import Features
from .images import as_image
from .result import Segmentation
from .settings import Settings

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
    answer = engine.solve(free, [start], clock)
    order = np.argsort(-np.bincount(answer.labels.ravel(), minlength=n_regions), kind="stable")
    place = np.empty(n_regions, dtype=np.int64)
    place[order] = np.arange(n_regions)
    return Segmentation(
        codes=place[answer.labels],
        energy=answer.rounds.step.energy,
        trace=answer.rounds.trace,
        n_iter=len(answer.rounds.trace) - 1,
        converged=answer.rounds.converged,
        smoothness=answer.smoothness,
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
