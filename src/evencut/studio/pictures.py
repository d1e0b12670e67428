"""Photos as the studio keeps them: decoded within bounds from bytes of strangers, shown as PNG or JPEG."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .options import Limits
from .refusals import Refused, TooLarge

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
        raise Refused(f"this is {_called(data)}; the studio takes PNG, JPEG, WebP and TIFF.", 415) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLarge("this photo unpacks to far more pixels than the studio takes. Make it smaller.") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise Refused(f"this photo is damaged ({' '.join(str(error).split())[:120]}).") from error
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uif":
        raise Refused("this photo has no pixels that can be shown.")
    return pixels


def _called(data: bytes) -> str:
    """What a file is that is no photo known here, by its first bytes."""
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "a GIF"
    if data[:2] == b"BM":
        return "a BMP"
    if data[4:8] == b"ftyp":
        return "an AVIF photo" if data[8:12] in (b"avif", b"avis") else "a HEIC photo, as phones make them"
    return "no photo known here"


def as_rgb(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Three channels of 8 bits, for showing.

    Examples
    --------
    >>> as_rgb(np.array([[0, 32768]], dtype=np.uint16)).tolist()
    [[[0, 0, 0], [128, 128, 128]]]
    """
    channels = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
    if channels.dtype == np.uint8:
        return np.ascontiguousarray(channels)
    # A code of 16 bits is as bright as it says: the same grey is the same in every photo.
    top = float(np.iinfo(channels.dtype).max) if channels.dtype.kind in "ui" else max(float(channels.max()), 1.0)
    return (channels / top * 255 + 0.5).astype(np.uint8)


def encode(pixels: NDArray[np.uint8], kind: str = "PNG") -> bytes:
    """The bytes of an image file."""
    from PIL import Image

    file = io.BytesIO()
    options: dict[str, Any] = {"compress_level": 3} if kind == "PNG" else {"quality": 93}
    Image.fromarray(pixels).save(file, format=kind, **options)
    return file.getvalue()


#: Colours of labels in a map: none, background, then objects, the page's own colours.
_PALETTE = ("000000", "3a3f44", "0072b2", "d55e00", "009e73", "cc79a7", "8c6d00", "56b4e9", "7f3b8c", "e69f00")


def encode_map(labels: NDArray[np.uint8]) -> bytes:
    """The bytes of a PNG with a palette, whose values are the labels."""
    from PIL import Image

    colours = [*_PALETTE[:2], *(_PALETTE[2 + i % (len(_PALETTE) - 2)] for i in range(254))]
    image = Image.fromarray(labels).convert("L")
    image.putpalette(bytes.fromhex("".join(colours)))
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def shown(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """A photo for the page: PNG where it is small, JPEG where that would be slow."""
    if pixels.shape[0] * pixels.shape[1] > _LARGE:
        return encode(pixels, "JPEG"), "image/jpeg"
    return encode(pixels), "image/png"


def cutout(pixels: NDArray[np.uint8], mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The object on a transparent ground."""
    return np.dstack([pixels, (255 * mask).astype(np.uint8)])
