"""Distances over the image and the first labellings made of them.

The minimum barrier distance of a pixel is the largest minus the smallest value along the best path to a seed
(Strand et al., 2013), the geodesic distance the length of the shortest way over the colours; both are computed by
raster scans (Zhang et al., 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.ndimage import label as connected_parts

from .grid import Labels, Mask, Shape, Slices, lengths, rows_beside, window_of
from .images import even_channels

_PASSES = 6


def barrier_distances(
    channels: NDArray[np.floating], seeds: Sequence[NDArray[np.bool_]], *, smoothing: float = 1.0
) -> list[NDArray[np.float64]]:
    r"""Sum over the channels of the minimum barrier distance to the seeds, for several sets of seeds.

    .. math:: d(p) = \sum_c \min_{\pi: p \to \text{seeds}} \; \max_{\pi} I_c - \min_{\pi} I_c

    Parameters
    ----------
    channels : ndarray of shape (..., n_channels)
    seeds : list of ndarray of bool, without the axis of channels
    smoothing : float
        Deviation in pixels of a Gaussian filter that comes first.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.0, 3.0, 0.0]])[..., None]
    >>> ends = [np.array([[True, False, False, False]]), np.array([[False, False, False, True]])]
    >>> [distance.tolist() for distance in barrier_distances(row, ends, smoothing=0)]
    [[[0.0, 0.0, 3.0, 3.0]], [[3.0, 3.0, 3.0, 0.0]]]
    """
    from ._raster_loops import barrier_scan

    totals = [np.zeros(channels.shape[:-1]) for _ in seeds]
    adjacent_rows = rows_beside(channels.shape[:-1])
    for c in range(channels.shape[-1]):
        channel = gaussian_filter(channels[..., c].astype(np.float64), smoothing)
        for total, some in zip(totals, seeds):
            rows = channel.reshape(-1, channel.shape[-1])
            total += barrier_scan(rows, some.reshape(rows.shape), *adjacent_rows, _PASSES).reshape(total.shape)
    return totals


def otsu_threshold(values: NDArray[np.floating], n_bins: int = 256) -> float:
    """The threshold that splits values into two groups of least variance within (Otsu, 1979).

    Examples
    --------
    >>> import numpy as np
    >>> 1 < otsu_threshold(np.array([0.0, 1.0, 9.0, 10.0])) < 9
    True
    """
    if values.min() == values.max():
        return float(values.min())
    counts, edges = np.histogram(values, n_bins)
    centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    sums = np.cumsum(counts * centres)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    best = np.flatnonzero(between == np.nanmax(between))
    # Equal splits come in runs of empty bins: the middle of the gap is the fair choice.
    return float((edges[best[0] + 1] + edges[best[-1] + 1]) / 2)


_SMOOTHING = 0.7
_UNIT = 10.0
_DEVIATION = 1.5
_ROUGH = 0.2


def terrain(channels: NDArray[np.floating]) -> NDArray[np.float64]:
    """The ground that ways are measured on: smoothed LAB in units of ten; other channels at a like deviation.

    In photos that are rough all over, by texture or noise, every step would count as a contour: there the unit is
    five times the median difference of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> terrain(np.full((2, 2, 3), 50.0))[0, 0].tolist()
    [5.0, 5.0, 5.0]
    >>> rough = np.random.default_rng(0).normal(50, 20, size=(9, 9, 3))
    >>> bool(np.allclose(terrain(rough), terrain(2 * rough)))
    True
    """
    ground = channels / _UNIT if channels.shape[-1] == 3 else _DEVIATION * even_channels(channels)
    smooth = [gaussian_filter(ground[..., c].astype(np.float64), _SMOOTHING) for c in range(ground.shape[-1])]
    even = np.stack(smooth, axis=-1)
    if even.shape[-2] < 2:
        return even
    roughness = float(np.median(np.linalg.norm(np.diff(even, axis=-2), axis=-1)))
    return even / max(1.0, roughness / _ROUGH)


def geodesic_distance(
    ground: NDArray[np.float64],
    seeds: NDArray[np.bool_],
    *,
    step: float,
    spacing: tuple[float, ...] | None = None,
) -> NDArray[np.float64]:
    r"""Length of the shortest way to a seed: colour differences along it, and `step` for each pixel.

    .. math:: g(p) = \min_{\pi: p \to \text{seeds}} \sum_{qr \in \pi} |I_q - I_r| + s\, |q - r|

    Parameters
    ----------
    ground : ndarray of shape (..., n_channels)
        As :func:`terrain` makes it.
    seeds : ndarray of bool, without the axis of channels
    step : float
    spacing : tuple of float, optional
        Length of a voxel along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.0, 3.0, 3.0]])[..., None]
    >>> geodesic_distance(row, np.array([[True, False, False, False]]), step=0.5)
    array([[0. , 0.5, 4. , 4.5]])
    """
    from ._raster_loops import geodesic_scan

    shape = seeds.shape
    before, after = rows_beside(shape)
    # One length for each way to come: from the rows before, to the left, straight or to the right; along a row.
    distances = lengths(spacing or (1.0,) * len(shape))[: 3 * before.shape[1] + 1]
    rows = ground.reshape(-1, *ground.shape[-2:])
    return geodesic_scan(rows, seeds.reshape(rows.shape[:2]), before, after, step * distances, _PASSES).reshape(shape)


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
    (distance,) = barrier_distances(channels, [outside])
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
            is_near = distance < _NEAR * otsu_threshold(distance)
            if own:
                is_near &= distance < own[0]
            corrected[is_near & np.isin(parts, np.unique(parts[stroke]))] = right
    return np.where(known < 0, corrected, known)


_SPECK = 0.05
_MIDDLE = 0.6


def largest_gap(mask: NDArray[np.bool_], box: Slices) -> float:
    """Largest distance of the object from a side of the box, as a share of the box's width or height.

    Parts smaller than a twentieth of the largest part do not count.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((10, 10), dtype=bool)
    >>> mask[2:8, 1:9] = True
    >>> largest_gap(mask, (slice(0, 8), slice(1, 9)))
    0.25
    """
    parts, _ = connected_parts(mask[box])
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    if not sizes.any():
        return 1.0
    object_ = (sizes >= _SPECK * sizes.max())[parts] & (parts > 0)
    sides = zip(window_of(object_), object_.shape)
    return max(gap / size for span, size in sides for gap in (span.start, size - span.stop))


def off_centre(first: Sequence[float], last: Sequence[float], shape: Shape) -> NDArray[np.float64]:
    r"""How far pixels are from the centre of the box, :math:`u^2 + v^2 - 0.6` with u and v from -1 to 1 in the box.

    Zero is about where an ellipse in the box would end; at most 1.4, which is reached in the corners.

    Parameters
    ----------
    first, last : sequence of float
        Where the box begins and ends along each axis.
    shape : tuple of int

    Examples
    --------
    >>> off_centre((0, 0), (1, 3), (1, 3)).round(2)
    array([[-0.16, -0.6 , -0.16]])
    """
    along = [
        ((np.arange(size) + 0.5 - (begin + end) / 2) / ((end - begin) / 2)) ** 2
        for begin, end, size in zip(first, last, shape)
    ]
    return np.minimum(reduce(np.add.outer, along), 2.0) - _MIDDLE
