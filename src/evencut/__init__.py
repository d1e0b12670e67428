"""Kernel clustering without density bias."""

from .diagnosis import bandwidth_sweep, diagnose
from .estimators import (
    DominantSets,
    KernelClustering,
    KernelKMeans,
    LandmarkClustering,
    NormalizedCut,
    ProbabilisticKMeans,
)

__version__ = "0.2.0"
__all__ = [
    "DominantSets",
    "KernelClustering",
    "KernelKMeans",
    "LandmarkClustering",
    "NormalizedCut",
    "ProbabilisticKMeans",
    "__version__",
    "bandwidth_sweep",
    "diagnose",
]
