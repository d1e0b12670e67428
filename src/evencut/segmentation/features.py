"""What a pixel is to the kernel: its colour in LAB, the texture around it, its place, or channels of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

#: A name, an array of channels, a function of the image, or several of these side by side.
Features = str | ArrayLike | Callable[[NDArray[np.float32]], ArrayLike] | Sequence[Any]

#: How far around a pixel its texture is looked for, in pixels, and what it weighs beside a channel of colour.
_AROUND, _TEXTURE_WEIGHT = 3.0, 0.3

#: Texture below this share of the deviation of the lightness is noise.
_UNSEEN = 0.05

#: Variance, in units of the full range, of the noise that keeps equal 8-bit colours from forming a degenerate graph.
NOISE_VARIANCE = 1e-4


def lab_channels(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """CIE LAB of an RGB image; images of another number of channels are left as they are.

    Examples
    --------
    >>> import numpy as np
    >>> lab_channels(np.ones((1, 1, 3), dtype=np.float32)).round(1)[0, 0, 0]
    np.float32(100.0)
    """
    if image.shape[-1] != 3:
        return image
    linear = np.where(image > 0.04045, ((image + 0.055) / 1.055) ** 2.4, image / 12.92)
    xyz = linear @ _RGB_TO_XYZ.T
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1).astype(np.float32)


#: sRGB to XYZ, each row divided by the white point D65.
_RGB_TO_XYZ = (
    np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
    / np.array([[0.95047], [1.0], [1.08883]])
).astype(np.float32)


def even_channels(channels: NDArray[np.floating]) -> NDArray[np.float32]:
    """Channels at unit deviation; constant ones become zero.

    Examples
    --------
    >>> import numpy as np
    >>> even_channels(np.array([[[0.0, 7.0], [2.0, 7.0]]])).tolist()
    [[[-1.0, 0.0], [1.0, 0.0]]]
    """
    even = np.empty(channels.shape, dtype=np.float32)
    for c in range(channels.shape[-1]):
        # Channel by channel: sums over memory that lies together are several times as fast.
        values = channels[..., c].astype(np.float64)
        largest = max(float(values.max(initial=0)), -float(values.min(initial=0)), 1e-300)
        values -= values.mean()
        deviation = float(np.sqrt(np.mean(values * values)))
        if deviation > 1e-9 * largest:
            np.divide(values, deviation, out=even[..., c], casting="same_kind")
        else:
            even[..., c] = 0
    return even


def texture_channel(
    image: NDArray[np.float32], spacing: tuple[float, ...] | None = None
) -> NDArray[np.float32]:
    """How much the lightness (or the first channel) varies around each pixel, of shape (height, width, 1).

    With `spacing`, the length of a voxel along each axis, it is looked for as far along one as along another.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((1, 40, 3), dtype=np.float32)
    >>> image[0, 20::2] = 1
    >>> bool(texture_channel(image)[0, 30] > 20 * texture_channel(image)[0, 0])
    True
    """
    lightness = even_channels(lab_channels(image)[..., :1])[..., 0]
    around = _AROUND / np.array(spacing or (1.0,) * lightness.ndim)
    rest = (lightness - gaussian_filter(lightness, around)) ** 2
    return np.sqrt(gaussian_filter(rest, around) + _UNSEEN**2)[..., None]


def pixel_features(
    image: NDArray[np.float32],
    features: Features,
    random_state: np.random.Generator,
    spacing: tuple[float, ...] | None = None,
) -> NDArray[np.float32]:
    """Features of the pixels, of shape (height * width, n_features).

    Parameters
    ----------
    image : ndarray of shape (..., n_channels)
        Values in [0, 1].
    features : {"lab", "texture", "xy"}, array of shape (height, width[, n]), callable or a list of these
        `"lab"` is the colour in CIE LAB (other channels as they are), each at unit deviation, after a little noise;
        `"texture"` how much lightness varies around a pixel, at a third of that; `"xy"` the place at unit deviation.
        A function is called with the image. Arrays are used as given: their scale is their weight.
    random_state : numpy.random.Generator
        For the noise.
    spacing : tuple of float, optional
        Length of a voxel along each axis, in units of the finest.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).random((4, 5, 3), dtype=np.float32)
    >>> pixel_features(image, ["lab", "xy"], np.random.default_rng(0)).shape
    (20, 5)
    """
    parts = features if isinstance(features, (list, tuple)) else [features]
    channels = [_channels(image, part, random_state, spacing) for part in parts]
    return np.concatenate(channels, axis=-1).reshape(image[..., 0].size, -1)


def _channels(
    image: NDArray[np.float32], part: Any, rng: np.random.Generator, spacing: tuple[float, ...] | None
) -> NDArray[np.float32]:
    if isinstance(part, str):
        if part == "lab":
            noise = rng.standard_normal(image.shape, dtype=np.float32) * np.float32(np.sqrt(NOISE_VARIANCE))
            return even_channels(lab_channels(np.clip(image + noise, 0, 1)))
        if part == "xy":
            return _places(image.shape[:-1])
        if part == "texture":
            return np.float32(_TEXTURE_WEIGHT) * even_channels(texture_channel(image, spacing))
        raise ValueError(
            f"features={part!r} is not known; choose 'lab', 'texture' or 'xy', or give an array or a function."
        )
    given = np.asarray(part(image) if callable(part) else part, dtype=np.float32)
    if given.ndim == image.ndim - 1:
        given = given[..., None]
    if given.ndim != image.ndim or given.shape[:-1] != image.shape[:-1]:
        shape = image.shape[:-1]
        raise ValueError(f"features have shape {given.shape}; they must be {shape} and one axis of channels.")
    if not np.isfinite(given).all():
        raise ValueError("features contain NaN or infinity; fill them first.")
    return given


def _places(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Column and row (and slice) of each pixel at unit deviation; that of 0 to n - 1 is known."""
    places = np.zeros((*shape, len(shape)), dtype=np.float32)
    for axis, size in enumerate(shape):
        if size > 1:
            along = (np.arange(size) - (size - 1) / 2) / np.sqrt((size**2 - 1) / 12)
            places[..., -1 - axis] = along.reshape(-1, *(1,) * (len(shape) - 1 - axis))
    return places


def shrink_features(features: Features, shrink: Callable[[NDArray[Any]], NDArray[Any]]) -> Features:
    """The same features for a smaller image: arrays are shrunk, names and functions stay.

    Examples
    --------
    >>> shrink_features("lab", lambda channels: channels[::2])
    'lab'
    """
    if isinstance(features, (list, tuple)):
        return [shrink_features(part, shrink) for part in features]
    if isinstance(features, str) or callable(features):
        return features
    return shrink(np.asarray(features, dtype=np.float32))
