"""The scikit-learn estimators: prepare the points, choose a kernel, pose a problem, solve it, record the answer."""

from typing import TYPE_CHECKING

from .._lazy import on_demand

if TYPE_CHECKING:
    from .diagnosing import diagnose
    from .dominant_sets import DominantSets, dominant_set, is_maximal_clique
    from .even_cut import EvenCut
    from .kernel_clustering import KernelClustering
    from .landmark_clustering import LandmarkClustering
    from .model_files import load, save
    from .named_criteria import KernelKMeans, NormalizedCut
    from .probabilistic_kmeans import ProbabilisticKMeans

__all__ = [
    "DominantSets", "EvenCut", "KernelClustering", "KernelKMeans", "LandmarkClustering", "NormalizedCut",
    "ProbabilisticKMeans", "diagnose", "dominant_set", "is_maximal_clique", "load", "save",
]  # fmt: skip

__getattr__, __dir__ = on_demand(
    __name__,
    diagnosing="diagnose",
    dominant_sets="DominantSets dominant_set is_maximal_clique",
    even_cut="EvenCut",
    kernel_clustering="KernelClustering",
    landmark_clustering="LandmarkClustering",
    model_files="load save",
    named_criteria="KernelKMeans NormalizedCut",
    probabilistic_kmeans="ProbabilisticKMeans",
)
