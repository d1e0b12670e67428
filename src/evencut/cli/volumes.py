"""Volumes on the command line: strokes read from them and masks written as them, whole or not at all."""

from __future__ import annotations

import numpy as np

from evencut.cli.errors import UserError
from evencut.cli.outputs import check_writable, whole_file
from evencut.segmentation import Segmentation, Volume, read_volume
from evencut.segmentation.volumes import is_writable, write_labels
from evencut.tensors import Ints


def check_volume_outputs(out: str, cutout: str | None, overlay: str | None, regions: int | None) -> None:
    """Raise a `UserError` unless the mask of a volume can be written to `out`, and nothing else is asked for."""
    for option, value in (("--cutout", cutout), ("--overlay", overlay), ("--regions", regions)):
        if value is not None:
            raise UserError(f"{option} is for photos; leave it out for a volume.")
    if not is_writable(out):
        raise UserError(f"cannot write {out}: the name of a volume must end in .nii, .nii.gz, .nrrd, .tif or .tiff.")
    check_writable(out)


def read_volume_strokes(path: str) -> Ints:
    """Labels of the strokes in a volume of whole numbers, 0 where there is none."""
    strokes = read_volume(path).voxels
    if strokes.dtype.kind == "f" and (strokes == np.rint(strokes)).all():
        strokes = strokes.astype(np.int64)
    if strokes.dtype.kind not in "biu":
        raise UserError(f"{path} holds values of type {strokes.dtype}; strokes are whole numbers, 0 for none.")
    return strokes.astype(np.int64)


def write_volume_mask(path: str, result: Segmentation, volume: Volume) -> None:
    """1 on the object of two labels; the labels as they are where there are more."""
    names = result.label_names
    labels = (result.labels == names[1]).astype(np.uint8) if len(names) == 2 else result.labels
    with whole_file(path) as file:
        write_labels(path, file, labels, volume)
