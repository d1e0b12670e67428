"""Kernel clustering without density bias."""

from .clustering import KernelClustering, KernelKMeans, NormalizedCut
from .landmarks import LandmarkClustering

__version__ = "0.1.0"
__all__ = ["KernelClustering", "KernelKMeans", "LandmarkClustering", "NormalizedCut", "__version__"]
