"""Affinities, dense, sparse or computed when needed, and their ingredients: densities, bandwidths, equalisation."""

from importlib import import_module
from typing import Any

from .._runtime import warn_user
from .density import knn_density, knn_radius, parzen_density, scott_bandwidth, silverman_bandwidth, whiten
from .equalization import density_law, equalize, equalizing_scale
from .lazy import BlockwiseAffinity, GaussianBlocks
from .matrix import (
    Affinity,
    AffinityLike,
    DenseAffinity,
    GraphAffinity,
    as_affinity,
    check_affinity,
    check_entries,
    degrees,
    scale_affinity,
)

__all__ = [
    "Affinity", "AffinityLike", "BlockwiseAffinity", "DenseAffinity", "GaussianBlocks", "GraphAffinity", "as_affinity",
    "check_affinity", "check_entries", "degrees", "density_law", "equalize", "equalizing_scale", "knn_density",
    "knn_radius", "parzen_density", "scale_affinity", "scott_bandwidth", "silverman_bandwidth", "whiten",
]  # fmt: skip

# What was here before 0.4, where it is now, and the new names of what was renamed.
_MOVED = {
    "evencut.neighbors": "MAX_TREE_FEATURES METRICS GivenDistances MetricPoints NeighborSearch SparsePoints "
    "check_distances check_finite check_magnitude coordinates exact_scale filled_distances is_dense "
    "kneighbors neighbor_graph neighbor_recall points_in shrink_far squared_distances unit_rows",
    "evencut.points": "GIVEN ONE_DEVIATION RANKS SCALES CoordinateSystem DistinctPoints PreparedPoints condense "
    "coordinate_systems distinct_points far_rows feature_scale prepare",
    "evencut.points.prepare": "near_order",
    "evencut.criteria": "out_of_range",
    "evencut.kernels": "prepare_affinity",
    "evencut._runtime": "fits_in_memory free_memory keeps_in_memory",
}
_RENAMED = {
    "far_rows": "extreme_rows",
    "filled_distances": "fill_distances",
    "prepare": "prepare_points",
    "shrink_far": "clip_radially",
}


def __getattr__(name: str) -> Any:
    for module, names in _MOVED.items():
        if name in names.split():
            new = _RENAMED.get(name, name)
            message = f"evencut.affinity.{name} is {module}.{new} since 0.4; 0.5 will not find it here."
            warn_user(message, DeprecationWarning)
            return getattr(import_module(module), new)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
