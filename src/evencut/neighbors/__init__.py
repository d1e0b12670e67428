"""Distances and nearest neighbours: metrics, exact and approximate searches, the graph, the range of floats."""

from .float_range import check_magnitude, clip_radially, exact_scale
from .metrics import (
    METRICS,
    GivenDistances,
    MetricPoints,
    SparsePoints,
    check_distances,
    check_finite,
    coordinates,
    fill_distances,
    is_dense,
    points_in,
    squared_distances,
    unit_rows,
)
from .search import MAX_TREE_FEATURES, NeighborSearch, kneighbors, neighbor_graph, neighbor_recall

__all__ = [
    "MAX_TREE_FEATURES", "METRICS", "GivenDistances", "MetricPoints", "NeighborSearch", "SparsePoints",
    "check_distances", "check_finite", "check_magnitude", "clip_radially", "coordinates", "exact_scale",
    "fill_distances", "is_dense", "kneighbors", "neighbor_graph", "neighbor_recall", "points_in", "squared_distances",
    "unit_rows",
]  # fmt: skip
