"""Kernel cut: segmentation of images with kernel criteria and a boundary term, from boxes, clicks and strokes."""

from .cells import CellKNN
from .graph import SampledKNN
from .images import read_image
from .interactive import segment
from .many import ObjectMasks, segment_many
from .partition import partition
from .result import Segmentation
from .rle import decode_mask, encode_mask

__all__ = [
    "CellKNN",
    "ObjectMasks",
    "SampledKNN",
    "Segmentation",
    "decode_mask",
    "encode_mask",
    "partition",
    "read_image",
    "segment",
    "segment_many",
]
