"""Images as the segmentation wants them: checked, scaled to [0, 1], halved and doubled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._runtime import warn_user
from .grid import Shape, Steps

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


def read_image(path: str | Path) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read the pixels of an image file; damaged and unknown files are refused.

    Examples
    --------
    >>> read_image("no-such-photo.jpg")
    Traceback (most recent call last):
    ...
    ValueError: no-such-photo.jpg does not exist.
    """
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise ImportError('reading image files needs Pillow: pip install "evencut[vision]"') from error
    if not Path(path).exists():
        raise ValueError(f"{path} does not exist.")
    try:
        with Image.open(path) as file:
            turned = ImageOps.exif_transpose(file)
            if turned.mode not in ("L", "RGB", "RGBA", "I;16", "I", "F", "LA"):
                turned = turned.convert("RGBA" if "transparency" in turned.info else "RGB")
            return np.array(turned)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{path} is damaged or is not an image that can be read ({error}).") from error


def halve(values: NDArray[Any], steps: Steps = (2, 2)) -> NDArray[np.float32]:
    """Means of 2 by 2 pixels, or along the axes that have a step of 2; an odd last row or column counts twice.

    Examples
    --------
    >>> import numpy as np
    >>> halve(np.array([[0.0, 4.0, 5.0]]))
    array([[2., 5.]], dtype=float32)
    """
    # Whole rows first: they lie together in memory.
    total = values
    for axis, step in enumerate(steps):
        if step == 2:
            if total.shape[axis] % 2:
                odd = [(0, int(other == axis)) for other in range(total.ndim)]
                total = np.pad(total, odd, mode="edge")
            before = (slice(None),) * axis
            total = np.add(total[(*before, slice(0, None, 2))], total[(*before, slice(1, None, 2))], dtype=np.float32)
    if total is values:
        return values.astype(np.float32)
    total *= np.float32(0.5 ** steps.count(2))
    return total


def enlarge(values: NDArray[Any], shape: Shape, steps: Steps = (2, 2)) -> NDArray[Any]:
    """Every pixel as often as `steps` says along each axis, cut to `shape`: what undoes the size of :func:`halve`.

    Examples
    --------
    >>> import numpy as np
    >>> enlarge(np.array([[1, 2]]), (1, 3))
    array([[1, 1, 2]])
    """
    for axis, step in enumerate(steps):
        if step > 1:
            values = np.repeat(values, step, axis=axis)
    return values[tuple(slice(0, size) for size in shape)]
