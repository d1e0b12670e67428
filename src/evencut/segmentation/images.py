"""Images checked and scaled, the features of their pixels, strokes drawn, and masks as run lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

from .._lazy import require
from .._runtime import warn_user

#: Quantiles of a volume's values that become 0 and 1: scanners leave a few voxels far from all others.
_VOLUME_RANGE = (0.001, 0.999)
_ENOUGH_VALUES = 1_000_000


def as_image(image: ArrayLike, n_axes: int = 2) -> NDArray[np.float32]:
    """A float image of shape (height, width, n_channels), or a volume with one axis more; values in [0, 1].

    Parameters
    ----------
    image : array of shape (M, N) or (M, N, C), or with an axis of slices before these
        Grey (one channel), grey and alpha (two), RGB (three), RGBA (four; alpha is ignored, with a warning) or any
        other number of channels, of any integer, boolean or float type. Channels of volumes are never alpha.
    n_axes : {2, 3}
        Axes of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> as_image(np.array([[0, 255]], dtype=np.uint8)).tolist()
    [[[0.0], [1.0]]]
    """
    pixels = np.asarray(image)
    if pixels.ndim not in (n_axes, n_axes + 1) or 0 in pixels.shape:
        shapes = "(M, N) or (M, N, C) with at least one pixel" if n_axes == 2 else "(D, M, N) or (D, M, N, C)"
        raise ValueError(f"{'image' if n_axes == 2 else 'volume'} has shape {pixels.shape}; it must be {shapes}.")
    if pixels.dtype.kind not in "buif":
        raise ValueError(f"image has values of type {pixels.dtype}; they must be integers or floats.")
    if pixels.ndim == n_axes:
        pixels = pixels[..., None]
    if n_axes == 2 and pixels.shape[2] in (2, 4):
        warn_user("the alpha channel of the image is ignored; composite it first if it matters.")
        pixels = pixels[..., :-1]
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        bad = int((~np.isfinite(pixels)).any(axis=-1).sum())
        raise ValueError(f"image contains NaN or infinity at {bad} pixels; fill them first.")
    return _to_unit_range(pixels) if n_axes == 2 else _stretched(pixels)


def _stretched(voxels: NDArray[Any]) -> NDArray[np.float32]:
    """Each channel between its outer quantiles: units of scanners have no full scale."""
    unit = np.empty(voxels.shape, dtype=np.float32)
    for c in range(voxels.shape[-1]):
        values = voxels[..., c]
        low, high = np.quantile(values.ravel()[:: max(1, values.size // _ENOUGH_VALUES)], _VOLUME_RANGE)
        if low == high:
            low, high = float(values.min()), float(values.max())
        np.subtract(values, low, out=unit[..., c], casting="unsafe")
        unit[..., c] /= max(high - low, 1e-300)
    return np.clip(unit, 0, 1, out=unit)


def _to_unit_range(pixels: NDArray[Any]) -> NDArray[np.float32]:
    """Divide by the full scale of the type; numbers that fit no type's scale are stretched."""
    if pixels.dtype == bool:
        return pixels.astype(np.float32)
    if pixels.dtype == np.uint8:
        return np.divide(pixels, np.float32(255), dtype=np.float32)
    low, high = float(pixels.min()), float(pixels.max())
    if low < 0:
        return ((pixels.astype(np.float64) - low) / max(high - low, 1e-300)).astype(np.float32)
    if pixels.dtype.kind == "f":
        top = 1.0 if high <= 1 else 255.0 if high <= 255 else high
    else:
        # The next full scale: 8 bits, then the bits that are used (12-bit cameras store in 16).
        top = 255.0 if high <= 255 else 2.0 ** np.ceil(np.log2(high + 1)) - 1
    if pixels.dtype.itemsize <= 2:
        return np.divide(pixels, np.float32(top), dtype=np.float32)
    return (pixels / np.float64(top)).astype(np.float32)


def read_image(path: str | Path | IO[bytes], page: int = 0) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read the pixels of an image file, or of one page of a stack; damaged and unknown files are refused.

    Examples
    --------
    >>> read_image("no-such-photo.jpg")
    Traceback (most recent call last):
    ...
    ValueError: no-such-photo.jpg does not exist.
    """
    require("PIL", "Reading image files needs Pillow", "vision")
    from PIL import Image, ImageOps, UnidentifiedImageError

    name = path if isinstance(path, (str, Path)) else "this"
    if isinstance(path, (str, Path)) and not Path(path).exists():
        raise ValueError(f"{path} does not exist.")
    try:
        with Image.open(path) as file:
            file.seek(page)
            turned = ImageOps.exif_transpose(file)
            if turned.mode not in ("L", "RGB", "RGBA", "I;16", "I", "F", "LA"):
                turned = turned.convert("RGBA" if "transparency" in turned.info else "RGB")
            return np.array(turned)
    except EOFError as error:
        raise ValueError(f"{name} has no page {page}; pages count from 0.") from error
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{name} is damaged or is not an image that can be read ({error}).") from error


#: A name, an array of channels, a function of the image, or several of these side by side.
Features = str | ArrayLike | Callable[[NDArray[np.float32]], ArrayLike] | Sequence[Any]

#: How far around a pixel its texture is looked for, in pixels, and what it weighs beside a channel of colour.
_AROUND, _TEXTURE_WEIGHT = 3.0, 0.3

#: Variance, in units of the full range, of the noise that keeps equal 8-bit colours from forming a degenerate graph.
NOISE_VARIANCE = 1e-4


def lab_channels(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """CIE LAB of an RGB image; images of another number of channels are left unchanged.

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
    widths = _AROUND / np.array(spacing or (1.0,) * lightness.ndim)
    rest = (lightness - gaussian_filter(lightness, widths)) ** 2
    return np.sqrt(gaussian_filter(rest, widths))[..., None]


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
        `"lab"` is the colour in CIE LAB (other channels unchanged), each at unit deviation, after a little noise;
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
    channels = [_channels(image, feature, random_state, spacing) for feature in parts]
    return np.concatenate(channels, axis=-1).reshape(image[..., 0].size, -1)


def _channels(
    image: NDArray[np.float32], feature: Any, rng: np.random.Generator, spacing: tuple[float, ...] | None
) -> NDArray[np.float32]:
    if isinstance(feature, str):
        if feature == "lab":
            noise = rng.standard_normal(image.shape, dtype=np.float32) * np.float32(np.sqrt(NOISE_VARIANCE))
            return even_channels(lab_channels(np.clip(image + noise, 0, 1)))
        if feature == "xy":
            return _places(image.shape[:-1])
        if feature == "texture":
            return np.float32(_TEXTURE_WEIGHT) * even_channels(texture_channel(image, spacing))
        raise ValueError(
            f"features={feature!r} is not known; choose 'lab', 'texture' or 'xy', or give an array or a function."
        )
    own = np.asarray(feature(image) if callable(feature) else feature, dtype=np.float32)
    if own.ndim == image.ndim - 1:
        own = own[..., None]
    if own.ndim != image.ndim or own.shape[:-1] != image.shape[:-1]:
        shape = image.shape[:-1]
        raise ValueError(f"features have shape {own.shape}; they must be {shape} and one axis of channels.")
    if not np.isfinite(own).all():
        raise ValueError("features contain NaN or infinity; fill them first.")
    return own


def _places(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Column and row (and slice) of each pixel at unit deviation; that of 0 to n - 1 is known."""
    coordinates = np.zeros((*shape, len(shape)), dtype=np.float32)
    for axis, size in enumerate(shape):
        if size > 1:
            along = (np.arange(size) - (size - 1) / 2) / np.sqrt((size**2 - 1) / 12)
            coordinates[..., -1 - axis] = along.reshape(-1, *(1,) * (len(shape) - 1 - axis))
    return coordinates


def shrink_features(features: Features, shrink: Callable[[NDArray[Any]], NDArray[Any]]) -> Features:
    """The same features for a smaller image: arrays are shrunk, names and functions stay.

    Examples
    --------
    >>> shrink_features("lab", lambda channels: channels[::2])
    'lab'
    """
    if isinstance(features, (list, tuple)):
        return [shrink_features(feature, shrink) for feature in features]
    if isinstance(features, str) or callable(features):
        return features
    return shrink(np.asarray(features, dtype=np.float32))


_BACKGROUND = 1
Points = Sequence[tuple[float, float]]


def draw_strokes(
    shape: tuple[int, ...], *strokes: tuple[Points, float, int], framed: bool = False
) -> NDArray[np.int64]:
    """Labels of the pixels that strokes cover, 0 elsewhere, for the `scribbles` of :func:`segment`.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the image.
    *strokes : tuples of points, radius and label
        Each a list of (x, y), the radius of the brush, and the label it draws: 1 is background, 2 the object. Later
        ones lie over earlier ones.
    framed : bool, default=False
        Whether the outermost pixels are background where nothing is drawn.

    Examples
    --------
    >>> draw_strokes((3, 5), ([(1, 1), (3, 1)], 1.0, 2), framed=True)
    array([[1, 2, 2, 2, 1],
           [2, 2, 2, 2, 2],
           [1, 2, 2, 2, 1]])
    """
    drawn = np.zeros(shape[:2], dtype=np.int64)
    for points, radius, label in strokes:
        for x, y in _along(points, radius):
            _disc(drawn, x, y, radius, label)
    if framed:
        for edge in (drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]):
            edge[edge == 0] = _BACKGROUND
    return drawn


def _along(points: Points, radius: float) -> list[tuple[float, float]]:
    """The points, and more between those that lie further apart than half a radius."""
    dense = [points[0]]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        n_steps = max(1, int(np.ceil(np.hypot(x1 - x0, y1 - y0) / (radius / 2))))
        dense += [(x0 + (x1 - x0) * i / n_steps, y0 + (y1 - y0) * i / n_steps) for i in range(1, n_steps + 1)]
    return dense


def _disc(strokes: NDArray[np.int64], x: float, y: float, radius: float, label: int) -> None:
    height, width = strokes.shape
    top, bottom = max(0, int(y - radius)), min(height, int(y + radius) + 2)
    left, right = max(0, int(x - radius)), min(width, int(x + radius) + 2)
    if top >= bottom or left >= right:
        return
    rows, columns = np.ogrid[top:bottom, left:right]
    strokes[top:bottom, left:right][(columns - x) ** 2 + (rows - y) ** 2 <= radius**2] = label


def encode_mask(mask: NDArray[np.bool_]) -> dict[str, list[int]]:
    """The run lengths of a mask, background first.

    Examples
    --------
    >>> import numpy as np
    >>> encode_mask(np.array([[False, True], [True, True]]))
    {'size': [2, 2], 'counts': [1, 3]}
    """
    flat = np.asarray(mask, dtype=bool).ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff([0, *ends, flat.size]).tolist()
    return {"size": [int(side) for side in mask.shape], "counts": [0, *runs] if flat.size and flat[0] else runs}


def decode_mask(rle: dict[str, Any]) -> NDArray[np.bool_]:
    """The mask of run lengths.

    Examples
    --------
    >>> decode_mask({"size": [2, 2], "counts": [1, 3]})
    array([[False,  True],
           [ True,  True]])
    """
    counts = np.asarray(rle["counts"], dtype=np.int64)
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    height, width = rle["size"]
    if flat.size != height * width:
        raise ValueError(f"the runs cover {flat.size} pixels; the mask has {height} by {width}.")
    return flat.reshape((height, width), order="F")
