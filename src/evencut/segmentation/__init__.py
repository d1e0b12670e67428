"""Kernel cut: images and volumes cut by kernel criteria and a boundary term, from boxes, clicks and strokes."""

from .affinity import CellKNN
from .images import decode_mask, draw_strokes, encode_mask, read_image
from .result import Segmentation
from .segment import ObjectMasks, partition, segment, segment_many
from .volumes import Volume, read_volume, write_labels

__all__ = [
    "CellKNN", "ObjectMasks", "Segmentation", "Volume", "decode_mask", "draw_strokes", "encode_mask",
    "partition", "read_image", "read_volume", "segment", "segment_many", "write_labels",
]  # fmt: skip
