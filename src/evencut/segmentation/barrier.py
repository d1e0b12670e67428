"""How well a pixel is fenced off from the known background: no path of even colour leads there.

The minimum barrier distance of a pixel is the largest minus the smallest value along the best path to a seed
(Strand et al., 2013), computed by raster scans (Zhang et al., 2015).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from .rows import rows_beside

_PASSES = 6


def barrier_distance(
    channels: NDArray[np.floating], seeds: NDArray[np.bool_], *, smoothing: float = 1.0
) -> NDArray[np.float64]:
    r"""Sum over the channels of the minimum barrier distance to the seeds.

    .. math:: d(p) = \sum_c \min_{\pi: p \to \text{seeds}} \; \max_{\pi} I_c - \min_{\pi} I_c

    Parameters
    ----------
    channels : ndarray of shape (..., n_channels)
    seeds : ndarray of bool, without the axis of channels
    smoothing : float
        Deviation in pixels of a Gaussian filter that comes first.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 0.0, 3.0, 0.0]])[..., None]
    >>> barrier_distance(row, np.array([[True, False, False, False]]), smoothing=0)
    array([[0., 0., 3., 3.]])
    """
    return barrier_distances(channels, [seeds], smoothing=smoothing)[0]


def barrier_distances(
    channels: NDArray[np.floating], seeds: Sequence[NDArray[np.bool_]], *, smoothing: float = 1.0
) -> list[NDArray[np.float64]]:
    """The :func:`barrier_distance` to each of several sets of seeds; the channels are smoothed once.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[0.0, 2.0]])[..., None]
    >>> ends = [np.array([[True, False]]), np.array([[False, True]])]
    >>> [distance.tolist() for distance in barrier_distances(row, ends, smoothing=0)]
    [[[0.0, 2.0]], [[2.0, 0.0]]]
    """
    from ._raster_loops import barrier_scan

    totals = [np.zeros(channels.shape[:-1]) for _ in seeds]
    beside = rows_beside(channels.shape[:-1])
    for c in range(channels.shape[-1]):
        channel = gaussian_filter(channels[..., c].astype(np.float64), smoothing)
        for total, some in zip(totals, seeds):
            rows = channel.reshape(-1, channel.shape[-1])
            total += barrier_scan(rows, some.reshape(rows.shape), *beside, _PASSES).reshape(total.shape)
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
