"""Clustering beyond memory: every pass over the data is a sum over blocks of rows, and only landmarks are solved."""

from .blocks import Block, RowBlocks, row_blocks, sample
from .estimator import LandmarkClustering
from .files import open_files

__all__ = ["Block", "LandmarkClustering", "RowBlocks", "open_files", "row_blocks", "sample"]
