"""What a user takes home of a photo: masks, a map of all objects, cut-outs, COCO annotations, and the code."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray

from ...segmentation import encode_mask
from ..photo_state import Photo
from ..pictures import as_rgb, cutout, encode, encode_map
from ..recipes import photo_code, photo_command
from ..refusals import Refused
from ..state import Tab
from .exports import file_reply

router = APIRouter(prefix="/api/sessions/{session}/photo")


def _need_cut(photo: Photo) -> NDArray[np.uint8]:
    labels = photo.labels()
    if not labels.any():
        raise Refused("nothing is cut out yet; draw a box or click on the object.", 409)
    return labels


def _masks(photo: Photo) -> list[tuple[str, NDArray[np.bool_]]]:
    """A mask for each object with a name that a file can have, or for each region of a single one."""
    labels = _need_cut(photo)
    objects = photo.objects()
    if len(objects) > 1 or labels.max() <= 2:
        named = [(photo.names.get(one, f"object {one}"), labels == place + 2) for place, one in enumerate(objects)]
    else:
        named = [(f"region {label}", labels == label) for label in np.unique(labels[labels > 0]).tolist()]
    seen: dict[str, int] = {}
    found = []
    for name, mask in named:
        plain = re.sub(r"[^\w-]+", "_", name).strip("_")[:60] or "object"
        seen[plain] = seen.get(plain, 0) + 1
        found.append((plain if seen[plain] == 1 else f"{plain}_{seen[plain]}", mask))
    return found


@router.get("/mask.png")
def mask_png(tab: Tab) -> Response:
    """White on the object, black elsewhere; with more than two labels, the labels as grey levels."""
    labels = _need_cut(tab.need_photo())
    pixels = np.where(labels == 2, 255, 0).astype(np.uint8) if labels.max() <= 2 else labels
    return file_reply(encode(pixels), "mask.png", "image/png")


@router.get("/map.png")
def map_png(tab: Tab) -> Response:
    """The labels as a picture with a palette: each value has a colour that can be seen."""
    return file_reply(encode_map(_need_cut(tab.need_photo())), "map.png", "image/png")


@router.get("/cutout.png")
def cutout_png(tab: Tab, label: int = 2) -> Response:
    """The object, or the region of a label, on a transparent ground."""
    photo = tab.need_photo()
    return file_reply(encode(cutout(as_rgb(photo.pixels), _need_cut(photo) == label)), "cutout.png", "image/png")


@router.get("/objects.zip")
def objects_zip(tab: Tab) -> Response:
    """A mask and a cut-out of every object."""
    photo = tab.need_photo()
    rgb = as_rgb(photo.pixels)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, mask in _masks(photo):
            archive.writestr(f"masks/{name}.png", encode((255 * mask).astype(np.uint8)))
            archive.writestr(f"cutouts/{name}.png", encode(cutout(rgb, mask)))
    return file_reply(file.getvalue(), "objects.zip", "application/zip")


@router.get("/coco.json")
def coco_json(tab: Tab) -> Response:
    """COCO annotations with run lengths, as its tools read them."""
    photo = tab.need_photo()
    height, width = photo.pixels.shape[:2]
    masks = _masks(photo)
    content = {
        "images": [{"id": 1, "file_name": photo.name, "height": height, "width": width}],
        "categories": [{"id": i + 1, "name": name} for i, (name, _) in enumerate(masks)],
        "annotations": [_annotation(i + 1, mask) for i, (_, mask) in enumerate(masks)],
    }
    return file_reply(json.dumps(content), "coco.json", "application/json")


def _annotation(number: int, mask: NDArray[np.bool_]) -> dict[str, Any]:
    rows, columns = np.nonzero(mask)
    box = [0, 0, 0, 0]
    if len(rows):
        left, top = int(columns.min()), int(rows.min())
        box = [left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1]
    return {
        "id": number,
        "image_id": 1,
        "category_id": number,
        "iscrowd": 1,
        "area": int(mask.sum()),
        "bbox": box,
        "segmentation": encode_mask(mask),
    }


@router.get("/recipe")
async def photo_recipe(tab: Tab) -> dict[str, str]:
    """Python and the command line that make the mask again."""
    photo = tab.need_photo()
    if not photo.steps:
        raise Refused("nothing is cut out yet; draw a box or click on the object.", 409)
    command, why = photo_command(photo)
    return {"python": photo_code(photo), "command": command, "why_no_command": why}
