r"""Weights of the boundary term: what it costs to separate two neighbouring pixels.

.. math:: c_{pq} = w_{pq}\, (\phi + (1 - \phi)\, e^{-\beta |I_p - I_q|^2 / 2 \sigma^2})

with :math:`w_{pq} = 1 / |p - q|` in a plane of square pixels (see :func:`edge_measures`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grid import edge_measures, neighbor_pairs

#: The boundary terms by name; None stands for no term.
REGULARIZERS = ("contrast", "length", None)

_ENOUGH = 1_000_000
_STRIPE, _STRIPES = 16, 8


def boundary_weights(
    image: NDArray[np.floating],
    regularizer: str | None = "contrast",
    *,
    scale: float | None = None,
    sharpness: float = 3.0,
    floor: float = 0.05,
    spacing: tuple[float, ...] | None = None,
) -> NDArray[np.float64]:
    r"""Weights of the edges of the grid, of shape (height, width, 8) for an image and (..., 26) for a volume.

    Parameters
    ----------
    image : ndarray of shape (..., n_channels)
    regularizer : {"contrast", "length", None}
        `"contrast"` makes edges of the image cheap to cut; `"length"` counts the Euclidean length of the
        boundary; None is no term.
    scale : float, optional
        :math:`\sigma^2`; by default the :func:`contrast_scale` of the image.
    sharpness : float
        :math:`\beta`.
    floor : float
        :math:`\phi`, what is left of the weight at the strongest edge.
    spacing : tuple of float, optional
        Length of a voxel along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> boundary_weights(np.zeros((1, 2, 3)), "length")[0, 0].round(2)
    array([0., 0., 0., 0., 1., 0., 0., 0.])
    """
    if regularizer not in REGULARIZERS:
        raise ValueError(f"regularizer={regularizer!r} is not known; choose one of {REGULARIZERS}.")
    shape = image.shape[:-1]
    measures = edge_measures(spacing or (1.0,) * len(shape))
    weights = np.zeros((*shape, len(measures)))
    if regularizer is None:
        return weights
    from ._grid_loops import squared_differences

    if regularizer == "contrast" and scale is None:
        scale = contrast_scale(image)
    for d, here, there in neighbor_pairs(shape, forward=True):
        weight = measures[d]
        if regularizer == "contrast" and scale:
            fall = np.exp(-sharpness / (2 * scale) * squared_differences(image[here], image[there]))
            weight = weight * (floor + (1 - floor) * fall)
        weights[..., d][here] = weight
        weights[..., len(measures) - 1 - d][there] = weight
    return weights


def contrast_scale(image: NDArray[np.floating]) -> float:
    r"""Mean of :math:`|I_p - I_q|^2` over the neighbouring pairs; zero for a single pixel.

    Examples
    --------
    >>> import numpy as np
    >>> contrast_scale(np.array([[[0.0], [2.0]]]))
    4.0
    """
    from ._grid_loops import sum_of_squared_differences

    total, n_pairs = 0.0, 0
    height = image.shape[0]
    # A million pixels in stripes over the whole height say as much as all of them.
    step = max(1, image[..., 0].size // _ENOUGH)
    thickness = max(2, min(_STRIPE, height // _STRIPES))
    for top in range(0, height, thickness * step):
        stripe = image[top : top + thickness] if step > 1 else image
        for _, here, there in neighbor_pairs(stripe.shape[:-1], forward=True):
            total += sum_of_squared_differences(stripe[here], stripe[there])
            n_pairs += stripe[here][..., 0].size
        if step == 1:
            break
    return total / max(n_pairs, 1)
