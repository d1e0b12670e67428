"""From points to an affinity: fixed, adaptive, neighbour and geodesic kernels.

A kernel is a small object with scikit-learn parameters. `affinity(X)` gives the symmetric affinity of the
points; `extend(X)` gives a function from new points to their affinities with `X`.
"""

from .base import (
    BANDWIDTH,
    NEIGHBORS,
    Extension,
    Kernel,
    KernelParameter,
    Points,
    Precomputed,
    affinity_of,
    for_tensors,
    prepare_affinity,
)
from .gaussian import AdaptiveGaussian, Gaussian, LocalScaling
from .geodesic import Geodesic
from .graphs import KNN, Disc, SharedNeighbors, shared_neighbor_affinities, shared_neighbor_affinity

__all__ = [
    "BANDWIDTH", "KERNELS", "KNN", "NEIGHBORS", "AdaptiveGaussian", "Disc", "Extension", "Gaussian", "Geodesic",
    "Kernel", "KernelParameter", "LocalScaling", "Points", "Precomputed", "SharedNeighbors", "affinity_of",
    "for_tensors", "prepare_affinity", "shared_neighbor_affinities", "shared_neighbor_affinity",
]  # fmt: skip

#: The kernels by the names the estimators take.
KERNELS: dict[str, type[Kernel]] = {
    "shared_neighbors": SharedNeighbors,
    "knn": KNN,
    "gaussian": Gaussian,
    "disc": Disc,
    "adaptive_gaussian": AdaptiveGaussian,
    "local_scaling": LocalScaling,
    "geodesic": Geodesic,
    "precomputed": Precomputed,
}
