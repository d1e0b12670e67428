r"""Weights of the boundary term: what it costs to separate two neighbouring pixels.

.. math:: c_{pq} = \frac{\phi + (1 - \phi)\, e^{-\beta |I_p - I_q|^2 / 2 \sigma^2}}{|p - q|}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grid import DIRECTIONS, LENGTHS, neighbor_pairs

__all__ = ["REGULARIZERS", "boundary_weights", "contrast_scale"]

#: The boundary terms by name; None stands for no term.
REGULARIZERS = ("contrast", "length", None)

_ENOUGH = 1_000_000
_STRIPE = 16


def boundary_weights(
    image: NDArray[np.floating],
    regularizer: str | None = "contrast",
    *,
    scale: float | None = None,
    sharpness: float = 3.0,
    floor: float = 0.05,
) -> NDArray[np.float64]:
    r"""Weights of the edges of the 8-connected grid, of shape (height, width, 8).

    Parameters
    ----------
    image : ndarray of shape (height, width, n_channels)
    regularizer : {"contrast", "length", None}
        `"contrast"` makes edges of the image cheap to cut; `"length"` counts the Euclidean length of the
        boundary; None is no term.
    scale : float, optional
        :math:`\sigma^2`; by default the :func:`contrast_scale` of the image.
    sharpness : float
        :math:`\beta`.
    floor : float
        :math:`\phi`, what is left of the weight at the strongest edge.

    Examples
    --------
    >>> import numpy as np
    >>> boundary_weights(np.zeros((1, 2, 3)), "length")[0, 0].round(2)
    array([0., 0., 0., 0., 1., 0., 0., 0.])
    """
    if regularizer not in REGULARIZERS:
        raise ValueError(f"regularizer={regularizer!r} is not known; choose one of {REGULARIZERS}.")
    shape = image.shape[:2]
    weights = np.zeros((*shape, 8))
    if regularizer is None:
        return weights
    from ._grid_loops import squared_differences

    if regularizer == "contrast" and scale is None:
        scale = contrast_scale(image)
    for d, here, there in neighbor_pairs(shape, forward=True):
        if regularizer == "length" or not scale:
            weight = 1 / LENGTHS[d]
        else:
            fall = np.exp(-sharpness / (2 * scale) * squared_differences(image, *DIRECTIONS[d]))
            weight = (floor + (1 - floor) * fall) / LENGTHS[d]
        weights[(*here, d)] = weight
        weights[(*there, 7 - d)] = weight
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
    height, width = image.shape[:2]
    # A million pixels in stripes over the whole height say as much as all of them.
    step = max(1, height * width // _ENOUGH)
    for top in range(0, height, _STRIPE * step):
        stripe = image[top : top + _STRIPE] if step > 1 else image
        for d, here, _ in neighbor_pairs(stripe.shape[:2], forward=True):
            total += sum_of_squared_differences(stripe, *DIRECTIONS[d])
            n_pairs += stripe[here][..., 0].size
        if step == 1:
            break
    return total / max(n_pairs, 1)
