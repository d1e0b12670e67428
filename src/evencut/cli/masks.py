"""Strokes read from pictures, and masks, cut-outs and overlays written as pictures, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.errors import UserError
from evencut.cli.outputs import check_writable, whole_file
from evencut.tensors import AnyInts, Ints, Mask

_FORMATS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".webp": "WEBP", ".bmp": "BMP"}
_MOST_COLORS = 32
_MOST_LABELS = 255


def check_picture_file(path: str, n_labels: int = 2) -> None:
    """Raise a `UserError` unless a mask of so many labels can be written to `path`."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise UserError(f"cannot write {path}: its name must end in one of {', '.join(_FORMATS)}.")
    if n_labels > 2 and suffix == ".webp":
        raise UserError(f"cannot write {path}: WebP holds no mask of {n_labels} labels; use a name that ends in .png.")
    if n_labels > _MOST_LABELS:
        raise UserError(f"cannot write {path}: a mask holds at most {_MOST_LABELS} labels, not {n_labels}.")
    check_writable(path)


def read_strokes(path: str, *, object_and_background: bool) -> Ints:
    """Labels of the strokes in an image file: grey levels as they are, colours numbered.

    Parameters
    ----------
    path : str
    object_and_background : bool
        Whether red (or 2) means object and blue (or 1) background; any other colours are labels otherwise.
    """
    from evencut.segmentation import read_image

    drawn: NDArray[Any] = np.asarray(read_image(path))
    if drawn.ndim == 2:
        return drawn.astype(np.int64)
    if drawn.shape[2] == 2:
        return np.where(drawn[..., 1] >= 128, drawn[..., 0], 0).astype(np.int64)
    colors = drawn[..., :3].astype(np.int64)
    visible = colors.any(axis=2)
    if drawn.shape[2] == 4:
        visible &= drawn[..., 3] >= 128
    labels = np.zeros(visible.shape, dtype=np.int64)
    if object_and_background:
        red, blue = colors[..., 0] > colors[..., 2], colors[..., 2] > colors[..., 0]
        labels[visible & blue] = 1
        labels[visible & red] = 2
        return labels
    codes = (colors[..., 0] << 16) + (colors[..., 1] << 8) + colors[..., 2]
    shades, labels[visible] = np.unique(codes[visible], return_inverse=True)
    if len(shades) > _MOST_COLORS:
        raise UserError(
            f"{path} has {len(shades)} colours, more than {_MOST_COLORS}; draw the strokes with a hard pencil (no "
            "anti-aliasing) and save as PNG."
        )
    labels[visible] += 1
    return labels


def write_mask(path: str | Path, labels: AnyInts, names: AnyInts) -> None:
    """White on the larger of two labels; a palette picture, whose values are the labels, where there are more."""
    from PIL import Image

    if len(names) == 2:
        picture = Image.fromarray((255 * (labels == names[1])).astype(np.uint8))
    else:
        from evencut.plotting import label_colors

        palette = np.zeros((256, 3), dtype=np.uint8)
        palette[names] = label_colors(len(names))
        picture = Image.fromarray(labels.astype(np.uint8), mode="L")
        picture.putpalette(palette.ravel().tolist())
    _write(path, picture)


def write_cutout(path: str, image: Any, mask: Mask) -> None:
    """The object on a transparent ground."""
    from PIL import Image

    _write(path, Image.fromarray(np.dstack([_rgb(image), (255 * mask).astype(np.uint8)])))


def write_overlay(path: str, image: Any, labels: AnyInts, names: AnyInts) -> None:
    """The photo with the labels painted over it."""
    from PIL import Image

    from evencut.plotting import paint_labels

    _write(path, Image.fromarray(paint_labels(_rgb(image), np.searchsorted(names, labels), len(names))))


def _write(path: str | Path, picture: Any) -> None:
    with whole_file(path) as file:
        picture.save(file, format=_FORMATS[Path(path).suffix.lower()])


def _rgb(image: Any) -> NDArray[np.uint8]:
    from evencut.segmentation.images import as_image

    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4):
        pixels = pixels[..., :-1]
    channels = as_image(pixels)
    return np.broadcast_to((255 * channels + 0.5).astype(np.uint8), (*channels.shape[:2], 3))
