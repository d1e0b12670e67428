"""First labellings: from a box by barrier distance, from strokes by the nearest stroke, and strokes added later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label as connected_parts

from .barrier import barrier_distance, barrier_start

__all__ = ["follow_strokes", "start_from_box", "start_from_strokes"]

Labels = NDArray[np.int64]


def start_from_box(
    channels: NDArray[np.floating], known: Labels, strictness: float
) -> Labels:
    """Object (1) where the barrier to the known background is high, or the whole box where that says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((5, 5, 1))
    >>> image[2, 2] = 1
    >>> known = np.where(np.pad(np.zeros((3, 3), dtype=bool), 1, constant_values=True), 0, -1)
    >>> int(start_from_box(image, known, 0.5)[2, 2])
    1
    """
    start = barrier_start(channels, known == 0, strictness=strictness).astype(np.int64)
    free = known < 0
    if not start[free].any() or start[free].all():
        start = free.astype(np.int64)
    return np.where(free, start, known)


def start_from_strokes(channels: NDArray[np.floating], known: Labels, n_labels: int) -> Labels:
    """The label whose strokes are nearest in barrier distance.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.1, 0.9, 1.0]])[..., None]
    >>> start_from_strokes(row, np.array([[0, -1, -1, 1]]), 2)
    array([[0, 0, 1, 1]])
    """
    distances = [barrier_distance(channels, known == label) for label in range(n_labels)]
    return np.where(known < 0, np.argmin(distances, axis=0), known).astype(np.int64)


def follow_strokes(channels: NDArray[np.floating], labels: Labels, known: Labels, n_labels: int) -> Labels:
    """The labels corrected by strokes that contradict them.

    In each region that a stroke says is wrong, the pixels nearer to that stroke than to anything known of the
    region's own label, in barrier distance, change over.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.1, 0.9, 1.0]])[..., None]
    >>> follow_strokes(row, np.array([[0, 0, 0, 0]]), np.array([[0, -1, -1, 1]]), 2)
    array([[0, 0, 1, 1]])
    """
    corrected = labels.copy()
    for wrong in range(n_labels):
        parts, _ = connected_parts(labels == wrong)
        for right in range(n_labels):
            stroke = (known == right) & (labels == wrong)
            if right == wrong or not stroke.any():
                continue
            region = np.isin(parts, np.unique(parts[stroke]))
            nearer = barrier_distance(channels, known == right)
            if (known == wrong).any():
                changes = nearer < barrier_distance(channels, known == wrong)
            else:
                changes = np.ones(labels.shape, dtype=bool)
            corrected[region & changes] = right
    return np.where(known < 0, corrected, known)
