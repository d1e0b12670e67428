"""Kernel clustering without density bias."""

from .clustering import KernelClustering, KernelKMeans, NormalizedCut

__version__ = "0.1.0"
__all__ = ["KernelClustering", "KernelKMeans", "NormalizedCut", "__version__"]
