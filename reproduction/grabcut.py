"""The GrabCut photos: 50 images with an object each, its truth, and a box around it; and how errors are counted."""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut._lazy import required
from evencut.segmentation import read_image
from evencut.tensors import Mask

Box = tuple[int, int, int, int]

_UNSCORED = 128


@dataclass(frozen=True, eq=False)
class Photo:
    """A photo, the truth (0 background, 255 object, 128 not scored) and the box x0, y0, x1, y1."""

    name: str
    image: NDArray[np.uint8]
    truth: NDArray[np.uint8]
    box: Box


def find_photos(data: Path) -> list[str]:
    """Names of the photos in the folder `grabcut` of the data folder."""
    return sorted(row["name"] for row in _boxes(data))


def read_photo(data: Path, name: str) -> Photo:
    """One photo by name."""
    folder = data / "grabcut"
    row = next(row for row in _boxes(data) if row["name"] == name)
    image = read_image(next((folder / "images").glob(f"{name}.*")))
    truth = read_image(folder / "masks" / f"{name}.png")
    x0, y0, x1, y1 = (int(row[corner]) for corner in ("x0", "y0", "x1", "y1"))
    return Photo(name, image[..., :3].astype(np.uint8), truth.astype(np.uint8), (x0, y0, x1, y1))


def error_rate(mask: Mask, truth: NDArray[np.uint8], box: Box) -> float:
    """Wrong pixels in percent of the pixels in the box; mixed pixels of the truth are not scored.

    Examples
    --------
    >>> import numpy as np
    >>> error_rate(np.array([[True, True, False, False]]), np.array([[255, 0, 128, 0]]), (0, 0, 4, 1))
    25.0
    """
    wrong = (mask != (truth == 255)) & (truth != _UNSCORED)
    x0, y0, x1, y1 = box
    return float(100 * wrong.sum() / ((x1 - x0) * (y1 - y0)))


def tight_box(photo: Photo) -> Box:
    """The smallest box around the object."""
    rows, columns = np.nonzero(photo.truth == 255)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def grown_box(photo: Photo, box: Box, seed: int, most: float = 0.15) -> Box:
    """The box grown on each side by a random share of its size, from 0 to `most`, inside the image.

    Where nothing would be left outside, the outermost pixels stay outside.
    """
    rng = np.random.default_rng([seed, zlib.crc32(photo.name.encode())])
    left, top, right, bottom = rng.uniform(0, most, size=4)
    x0, y0, x1, y1 = box
    width, height = x1 - x0, y1 - y0
    rows, columns = photo.truth.shape
    grown = (
        max(0, round(x0 - left * width)),
        max(0, round(y0 - top * height)),
        min(columns, round(x1 + right * width)),
        min(rows, round(y1 + bottom * height)),
    )
    return (1, 1, columns - 1, rows - 1) if grown == (0, 0, columns, rows) else grown


def opencv_mask(image: NDArray[np.uint8], box: Box) -> Mask:
    """The object by OpenCV's grabCut, five iterations on one thread."""
    cv2 = required("cv2", "comparing with OpenCV needs opencv-python-headless", "bench")
    cv2.setNumThreads(1)
    cv2.setRNGSeed(0)
    mask: Any = np.zeros(image.shape[:2], dtype=np.uint8)
    x0, y0, x1, y1 = box
    bgr: Any = np.ascontiguousarray(image[..., ::-1])
    background, foreground = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(bgr, mask, (x0, y0, x1 - x0, y1 - y0), background, foreground, 5, cv2.GC_INIT_WITH_RECT)
    return (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)


def _boxes(data: Path) -> list[dict[str, str]]:
    path = data / "grabcut" / "boxes.csv"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; name the folder that holds grabcut/ with --data or EVENCUT_DATA.")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
