"""Photos as the studio keeps them: decoded within bounds from bytes of strangers, shown as PNG or JPEG."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .options import Limits
from .refusals import Refused, TooLarge

__all__ = ["as_rgb", "cutout", "encode", "read_photo", "shown"]

_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF")
_LARGE = 1_500_000


def read_photo(data: bytes, limits: Limits) -> NDArray[Any]:
    """The pixels of a PNG, JPEG, WebP or TIFF file, turned upright; its size is checked before it is decoded."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as file:
                width, height = file.size
                if width * height > limits.pixels:
                    raise TooLarge(
                        f"this photo has {width} x {height} pixels; {limits.pixels} are taken. Make it smaller."
                    )
                if min(width, height) < 8:
                    raise Refused(f"this photo has {width} x {height} pixels; at least 8 x 8 are needed.")
                file.draft("RGB", (width, height))
                turned = ImageOps.exif_transpose(file)
                if turned.mode not in ("L", "RGB", "I;16"):
                    turned = turned.convert("RGB")
                pixels = np.array(turned)
    except UnidentifiedImageError as error:
        raise Refused("this is not a PNG, JPEG, WebP or TIFF photo.", 415) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLarge("this photo unpacks to far more pixels than the studio takes. Make it smaller.") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise Refused(f"this photo is damaged ({' '.join(str(error).split())[:120]}).") from error
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uif":
        raise Refused("this photo has no pixels that can be shown.")
    return pixels


def as_rgb(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Three channels of 8 bits, for showing.

    Examples
    --------
    >>> as_rgb(np.array([[0, 65535]], dtype=np.uint16)).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    """
    channels = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
    if channels.dtype == np.uint8:
        return np.ascontiguousarray(channels)
    top = max(float(channels.max()), 1.0)
    return (channels / top * 255 + 0.5).astype(np.uint8)


def encode(pixels: NDArray[np.uint8], kind: str = "PNG") -> bytes:
    """The bytes of an image file."""
    from PIL import Image

    file = io.BytesIO()
    options: dict[str, Any] = {"compress_level": 3} if kind == "PNG" else {"quality": 93}
    Image.fromarray(pixels).save(file, format=kind, **options)
    return file.getvalue()


def shown(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """A photo for the page: PNG where it is small, JPEG where that would be slow."""
    if pixels.shape[0] * pixels.shape[1] > _LARGE:
        return encode(pixels, "JPEG"), "image/jpeg"
    return encode(pixels), "image/png"


def cutout(pixels: NDArray[np.uint8], mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The object on a transparent ground."""
    return np.dstack([pixels, (255 * mask).astype(np.uint8)])
