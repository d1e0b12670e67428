"""Distances and nearest neighbours: metrics, exact and approximate searches, the graph, the range of floats."""

from .float_range import check_entries, check_magnitude, exact_scale, out_of_range, shrink_far
from .graph import neighbor_graph
from .metrics import (
    METRICS,
    GivenDistances,
    MetricPoints,
    SparsePoints,
    check_distances,
    check_finite,
    coordinates,
    filled_distances,
    is_dense,
    points_in,
    squared_distances,
    unit_rows,
)
from .search import MAX_TREE_FEATURES, NeighborSearch, kneighbors, neighbor_recall

__all__ = [
    "MAX_TREE_FEATURES", "METRICS", "GivenDistances", "MetricPoints", "NeighborSearch", "SparsePoints",
    "check_distances", "check_entries", "check_finite", "check_magnitude", "coordinates", "exact_scale",
    "filled_distances", "is_dense", "kneighbors", "neighbor_graph", "neighbor_recall", "out_of_range", "points_in",
    "shrink_far", "squared_distances", "unit_rows",
]  # fmt: skip
