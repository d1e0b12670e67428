"""A sheet of small pictures: each photo with its box, then the result of each method with the truth's contour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from evencut.tensors import Mask

from .grabcut import Photo

_SIZE = 132
_TITLE = 14
_BOX_COLOR = (230, 60, 60)
_TRUTH_COLOR = (70, 230, 70)


def painted(photo: Photo, mask: Mask, color: tuple[int, int, int]) -> NDArray[np.uint8]:
    """The photo, pale outside the mask, with the contour of the truth."""
    pale = np.where(mask[..., None], photo.image, (0.8 * 255 + 0.2 * photo.image).astype(np.uint8))
    truth = photo.truth == 255
    pale[binary_dilation(truth, iterations=max(2, photo.image.shape[1] // 150)) & ~truth] = color
    return pale


def save_strip(photo: Photo, panels: list[tuple[str, Mask]], path: Path) -> None:
    """One photo: the box, then each mask over the photo with the contour of the truth."""
    from PIL import Image, ImageDraw

    x0, y0, x1, y1 = photo.box
    first = Image.fromarray(photo.image)
    ImageDraw.Draw(first).rectangle((x0, y0, x1 - 1, y1 - 1), outline=_BOX_COLOR, width=4)
    pictures = [(photo.name, first)]
    pictures += [(title, Image.fromarray(painted(photo, mask, _TRUTH_COLOR))) for title, mask in panels]
    strip = Image.new("RGB", (_SIZE * len(pictures), _SIZE + _TITLE), "white")
    draw = ImageDraw.Draw(strip)
    for i, (title, picture) in enumerate(pictures):
        picture.thumbnail((_SIZE - 4, _SIZE - 4), Image.Resampling.LANCZOS)
        strip.paste(picture, (i * _SIZE + (_SIZE - picture.width) // 2, _TITLE))
        draw.text((i * _SIZE + 4, 1), title, fill="black")
    # Written under another name first: a strip that exists is whole.
    draft = path.with_suffix(".part")
    strip.save(draft, format="PNG")
    draft.replace(path)


def save_sheet(strips: list[Path], path: Path, columns: int = 2) -> None:
    """All strips on one page, in columns; photos whose strip is missing are left out."""
    from PIL import Image

    pictures: list[Any] = []
    for strip in strips:
        if strip.exists():
            with Image.open(strip) as picture:
                pictures.append(picture.copy())
    if not pictures:
        return
    width, height = max(picture.width for picture in pictures) + 16, pictures[0].height
    n_rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (width * columns, height * n_rows), "white")
    for i, picture in enumerate(pictures):
        sheet.paste(picture, (i // n_rows * width, i % n_rows * height))
    sheet.save(path)
