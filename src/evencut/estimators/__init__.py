"""The scikit-learn estimators: prepare the points, choose a kernel, pose a problem, solve it, record the answer."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from .dominant_sets import DominantSets, dominant_set, is_maximal_clique
    from .even_cut import EvenCut, diagnose
    from .kernel_clustering import KernelClustering, KernelKMeans, NormalizedCut
    from .landmark_clustering import LandmarkClustering
    from .matching import match
    from .model_files import load, save
    from .probabilistic_kmeans import ProbabilisticKMeans

__all__ = [
    "DominantSets", "EvenCut", "KernelClustering", "KernelKMeans", "LandmarkClustering", "NormalizedCut",
    "ProbabilisticKMeans", "diagnose", "dominant_set", "is_maximal_clique", "load", "match", "save",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    dominant_sets="DominantSets dominant_set is_maximal_clique",
    even_cut="EvenCut diagnose",
    kernel_clustering="KernelClustering KernelKMeans NormalizedCut",
    landmark_clustering="LandmarkClustering",
    matching="match",
    model_files="load save",
    probabilistic_kmeans="ProbabilisticKMeans",
)
