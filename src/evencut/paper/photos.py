"""Photographs as points of colour space: one bundled with scikit-image, a sample of its pixels, and clusters of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import parzen_density
from ..estimators import KernelClustering
from .moons import SEED

__all__ = ["Cut", "Photo", "cut_in_two", "load_photo"]


@dataclass(frozen=True)
class Photo:
    """A photograph: its pixels (values 0 to 1), their LAB colours, and the colours of a sample of pixels."""

    pixels: NDArray[np.float64]
    colors: NDArray[np.float64]
    sample: NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    """Two clusters of a photo's colours: of the sample, and the picture with the larger cluster removed.

    `share` of the pixels is in the smaller cluster, whose colours are `contrast` times as dense as the others (in the
    median) and which holds the share `of_mode` of the densest twentieth of the sample.
    """

    labels: NDArray[np.int64]
    picture: NDArray[np.float64]
    share: float
    contrast: float
    of_mode: float


def load_photo(name: str, height: int, n_sample: int) -> Photo:
    """A photograph that comes with scikit-image, shrunk, in LAB colours.

    Noise of half a level undoes the rounding of colours to eight bits. Without it a tenth of the astronaut's pixels
    are the very same black: one point of the colour space, whose density no bandwidth can make even.
    """
    try:
        from skimage import color, data, transform
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            'Photographs need scikit-image, which is not installed: pip install "evencut[vision]"', name="skimage"
        ) from missing
    full = getattr(data, name)()
    pixels = transform.resize(full, (height, round(height * full.shape[1] / full.shape[0])), anti_aliasing=True)
    rng = np.random.default_rng(SEED)
    rows = rng.choice(pixels.shape[0] * pixels.shape[1], n_sample, replace=False)
    noisy = np.abs(pixels + rng.uniform(-0.5, 0.5, pixels.shape) / 255)
    colors = color.rgb2lab(np.minimum(noisy, 1.0)).reshape(-1, 3)
    return Photo(pixels, colors, colors[rows])


def cut_in_two(photo: Photo, kernel: Any) -> Cut:
    """Kernel k-means of the sampled colours in two; all pixels are then labelled as new points."""
    model = KernelClustering(2, kernel=kernel, criterion="average_association", random_state=SEED).fit(photo.sample)
    found = model.predict(photo.colors).reshape(photo.pixels.shape[:2])
    kept = int(np.bincount(model.labels_, minlength=2).argmin())
    picture = np.where((found == kept)[..., None], photo.pixels, 1.0)
    density = parzen_density(photo.sample, 5.0)
    smaller = model.labels_ == kept
    contrast = float(np.median(density[smaller]) / np.median(density[~smaller]))
    of_mode = float(np.mean(smaller[density >= np.quantile(density, 0.95)]))
    return Cut(np.where(smaller, 1, 0), picture, float(np.mean(found == kept)), contrast, of_mode)
