"""Kernel cut: interactive segmentation of images with kernel criteria and a boundary term."""

from .graph import SampledKNN
from .interactive import segment
from .result import Segmentation

__all__ = ["SampledKNN", "Segmentation", "segment"]
