"""Kernel clustering without density bias."""

from .clustering import KernelClustering
from .diagnosis import bandwidth_sweep, diagnose
from .dominant_sets import DominantSets
from .landmarks import LandmarkClustering
from .named import KernelKMeans, NormalizedCut

__version__ = "0.1.0"
__all__ = [
    "DominantSets",
    "KernelClustering",
    "KernelKMeans",
    "LandmarkClustering",
    "NormalizedCut",
    "__version__",
    "bandwidth_sweep",
    "diagnose",
]
