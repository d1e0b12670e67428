"""First labellings: from a box by barrier distance, from strokes by the nearest stroke, and strokes added later."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label as connected_parts

from .barrier import barrier_distance, barrier_distances, otsu_threshold
from .grid import Labels, Mask

_NEAR = 0.5


def starts_from_box(
    channels: NDArray[np.floating], outside: NDArray[np.bool_], strictness: Sequence[float]
) -> list[Labels]:
    """Object (1) where the barrier to the outside exceeds each share of Otsu's threshold inside the box.

    Where that says nothing, the whole box.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((5, 5, 1))
    >>> image[2, 2] = 1
    >>> outside = np.pad(np.zeros((3, 3), dtype=bool), 1, constant_values=True)
    >>> [int(start[2, 2]) for start in starts_from_box(image, outside, (0.5, 0.4))]
    [1, 1]
    """
    distance = barrier_distance(channels, outside)
    threshold = otsu_threshold(distance[~outside])
    starts: list[Labels] = []
    for share in strictness:
        inside = (distance > share * threshold) & ~outside
        if not inside.any() or inside[~outside].all():
            inside = ~outside
        starts.append(inside.astype(np.int64))
    return starts


def start_from_strokes(channels: NDArray[np.floating], known: Labels, n_labels: int) -> Labels:
    """The label whose strokes are nearest in barrier distance.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.1, 0.9, 1.0]])[..., None]
    >>> start_from_strokes(row, np.array([[0, -1, -1, 1]]), 2)
    array([[0, 0, 1, 1]])
    """
    distances = barrier_distances(channels, [known == label for label in range(n_labels)])
    return np.where(known < 0, np.argmin(distances, axis=0), known).astype(np.int64)


def parts_of(region: Mask) -> NDArray[np.int32]:
    """The number of the part that each pixel of a region is in, 0 outside; diagonal neighbours are of one part.

    Examples
    --------
    >>> import numpy as np
    >>> parts_of(np.array([[True, False, False, True], [False, True, False, True]])).max()
    np.int32(2)
    """
    parts: NDArray[np.int32] = connected_parts(region, np.ones((3,) * region.ndim))[0]
    return parts


def parts_with(region: Mask, marks: Mask) -> Mask:
    """The parts of a region that hold a mark.

    Examples
    --------
    >>> import numpy as np
    >>> parts_with(np.array([True, False, True]), np.array([True, True, False]))
    array([ True, False, False])
    """
    parts = parts_of(region)
    return np.isin(parts, np.unique(parts[marks & region])) & region


def follow_strokes(channels: NDArray[np.floating], labels: Labels, known: Labels, n_labels: int) -> Labels:
    """The labels corrected by strokes that contradict them.

    In each region that a stroke says is wrong, the pixels with a low barrier to the stroke change over, unless they
    are nearer to something known of the region's own label.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.repeat([0.0, 1.0], 10)[None, :, None]
    >>> known = np.full((1, 20), -1)
    >>> known[0, [0, 19]] = 0, 1
    >>> follow_strokes(row, np.zeros((1, 20), dtype=int), known, 2).sum()
    np.int64(9)
    """
    corrected = labels.copy()
    for wrong in range(n_labels):
        for right in range(n_labels):
            stroke = (known == right) & (labels == wrong)
            if right == wrong or not stroke.any():
                continue
            parts, _ = connected_parts(labels == wrong)
            seeds = [stroke, known == wrong] if (known == wrong).any() else [stroke]
            distance, *own = barrier_distances(channels, seeds)
            near = distance < _NEAR * otsu_threshold(distance)
            if own:
                near &= distance < own[0]
            corrected[near & np.isin(parts, np.unique(parts[stroke]))] = right
    return np.where(known < 0, corrected, known)
