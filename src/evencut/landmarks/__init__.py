"""Clustering beyond memory: every pass over the data is a sum over blocks of rows, and only landmarks are solved."""

from .attaching import Attachment
from .blocks import Block, RowBlocks, row_blocks, sample
from .files import open_files
from .solving import LandmarkGraph, landmark_graph, sample_graph, solve_landmarks, usual_landmarks
from .streams import RowReservoir

__all__ = [
    "Attachment",
    "Block",
    "LandmarkGraph",
    "RowBlocks",
    "RowReservoir",
    "landmark_graph",
    "open_files",
    "row_blocks",
    "sample",
    "sample_graph",
    "solve_landmarks",
    "usual_landmarks",
]
