"""Clustering beyond memory: every pass over the data is a sum over blocks of rows, and only landmarks are solved."""

from .attachment import Attachment
from .blocks import Block, RowBlocks, open_files, row_blocks, sample
from .graph import LandmarkGraph, default_landmarks, landmark_graph, sample_rows
from .sampling import RowReservoir, draw_rows

__all__ = [
    "Attachment", "Block", "LandmarkGraph", "RowBlocks", "RowReservoir", "default_landmarks", "draw_rows",
    "landmark_graph", "open_files", "row_blocks", "sample", "sample_rows",
]  # fmt: skip
