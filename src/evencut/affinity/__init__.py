"""Affinities, dense, sparse or computed block by block, and what they are made of: neighbours and densities."""

from .blockwise import BlockwiseAffinity, GaussianBlocks, fits_in_memory, free_memory, keeps_in_memory
from .condensing import condense
from .density import (
    knn_density,
    knn_radius,
    parzen_density,
    scott_bandwidth,
    silverman_bandwidth,
    squared_distances,
    variable_density,
    whiten,
)
from .distinct import DistinctPoints, distinct_points
from .equalization import density_law, equalize, equalizing_scale
from .gate import check_entries, out_of_range
from .magnitude import check_magnitude, exact_scale, shrink_far
from .matrix import (
    Affinity,
    AffinityLike,
    DenseAffinity,
    GraphAffinity,
    as_affinity,
    check_affinity,
    degrees,
    scale_affinity,
)
from .neighbors import (
    MAX_TREE_FEATURES,
    NeighborSearch,
    kneighbors,
    near_order,
    neighbor_graph,
    neighbor_recall,
)
from .preparation import PreparedPoints, prepare, prepare_affinity
from .scaling import SCALES, far_rows, feature_scale
from .spaces import (
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
    unit_rows,
)
from .systems import GIVEN, ONE_DEVIATION, RANKS, CoordinateSystem, coordinate_systems

__all__ = [
    "GIVEN", "MAX_TREE_FEATURES", "METRICS", "ONE_DEVIATION", "RANKS", "SCALES", "Affinity", "AffinityLike",
    "BlockwiseAffinity", "CoordinateSystem", "DenseAffinity", "DistinctPoints", "GaussianBlocks", "GivenDistances",
    "GraphAffinity", "MetricPoints", "NeighborSearch", "PreparedPoints", "SparsePoints", "as_affinity",
    "check_affinity", "check_distances", "check_entries", "check_finite", "check_magnitude", "condense",
    "coordinate_systems", "coordinates", "degrees", "density_law", "distinct_points", "equalize", "equalizing_scale",
    "exact_scale", "far_rows", "feature_scale", "filled_distances", "fits_in_memory", "free_memory", "is_dense",
    "keeps_in_memory", "kneighbors", "knn_density", "knn_radius", "near_order", "neighbor_graph", "neighbor_recall",
    "out_of_range", "parzen_density", "points_in", "prepare", "prepare_affinity", "scale_affinity", "scott_bandwidth",
    "shrink_far", "silverman_bandwidth", "squared_distances", "unit_rows", "variable_density", "whiten",
]  # fmt: skip
