"""Kernel cut: segmentation of images with kernel criteria and a boundary term, from boxes, strokes or nothing."""

from .graph import SampledKNN
from .images import read_image
from .interactive import segment
from .partition import partition
from .result import Segmentation

__all__ = ["SampledKNN", "Segmentation", "partition", "read_image", "segment"]
