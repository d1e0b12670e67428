"""Affinities, dense, sparse or computed block by block, and what they are made of: neighbours and densities."""

from .blockwise import BlockwiseAffinity, GaussianBlocks, fits_in_memory, free_memory
from .density import (
    knn_density,
    knn_radius,
    parzen_density,
    scott_bandwidth,
    silverman_bandwidth,
    squared_distances,
    whiten,
)
from .equalization import density_law, equalize, equalizing_scale
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
from .scaling import SCALES, feature_scale

__all__ = [
    "MAX_TREE_FEATURES",
    "SCALES",
    "Affinity",
    "AffinityLike",
    "BlockwiseAffinity",
    "DenseAffinity",
    "GaussianBlocks",
    "GraphAffinity",
    "NeighborSearch",
    "as_affinity",
    "check_affinity",
    "degrees",
    "density_law",
    "equalize",
    "equalizing_scale",
    "feature_scale",
    "fits_in_memory",
    "free_memory",
    "kneighbors",
    "knn_density",
    "knn_radius",
    "near_order",
    "neighbor_graph",
    "neighbor_recall",
    "parzen_density",
    "scale_affinity",
    "scott_bandwidth",
    "silverman_bandwidth",
    "squared_distances",
    "whiten",
]
