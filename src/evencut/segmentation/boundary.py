r"""Weights of the boundary term: what it costs to separate two neighbouring pixels.

.. math:: c_{pq} = \frac{\phi + (1 - \phi)\, e^{-\beta |I_p - I_q|^2 / 2 \sigma^2}}{|p - q|}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grid import LENGTHS, neighbor_pairs

__all__ = ["REGULARIZERS", "boundary_weights"]

#: The boundary terms by name; None stands for no term.
REGULARIZERS = ("contrast", "length", None)


def boundary_weights(
    image: NDArray[np.floating], regularizer: str | None = "contrast", *, sharpness: float = 3.0, floor: float = 0.05
) -> NDArray[np.float64]:
    r"""Weights of the edges of the 8-connected grid, of shape (height, width, 8).

    Parameters
    ----------
    image : ndarray of shape (height, width, n_channels)
    regularizer : {"contrast", "length", None}
        `"contrast"` makes edges of the image cheap to cut; `"length"` counts the Euclidean length of the
        boundary; None is no term.
    sharpness : float
        :math:`\beta`; :math:`\sigma^2` is the mean of :math:`|I_p - I_q|^2` over neighbouring pairs.
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
    squared = _squared_differences(image) if regularizer == "contrast" else weights
    pairs = sum(squared[here][..., d].size for d, here, _ in neighbor_pairs(shape))
    scale = float(squared.sum()) / max(pairs, 1)
    for d, here, _ in neighbor_pairs(shape):
        if regularizer == "length" or scale == 0:
            weights[(*here, d)] = 1 / LENGTHS[d]
        else:
            fall = np.exp(-sharpness / (2 * scale) * squared[(*here, d)])
            weights[(*here, d)] = (floor + (1 - floor) * fall) / LENGTHS[d]
    return weights


def _squared_differences(image: NDArray[np.floating]) -> NDArray[np.floating]:
    squared = np.zeros((*image.shape[:2], 8), dtype=image.dtype)
    for d, here, there in neighbor_pairs(image.shape[:2], forward=True):
        difference = ((image[here] - image[there]) ** 2).sum(axis=-1)
        squared[(*here, d)] = difference
        squared[(*there, 7 - d)] = difference
    return squared
