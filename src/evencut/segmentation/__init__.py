"""Kernel cut: images and volumes cut by kernel criteria and a boundary term, from boxes, clicks and strokes."""

from .cells import CellKNN
from .images import read_image
from .interactive import segment
from .many import ObjectMasks, segment_many
from .partition import partition
from .result import Segmentation
from .rle import decode_mask, encode_mask
from .strokes import draw_strokes
from .volumes import Volume, read_volume, write_labels

__all__ = [
    "CellKNN", "ObjectMasks", "Segmentation", "Volume", "decode_mask", "draw_strokes", "encode_mask",
    "partition", "read_image", "read_volume", "segment", "segment_many", "write_labels",
]  # fmt: skip
