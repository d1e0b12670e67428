"""The scikit-learn estimators: prepare the points, choose a kernel, pose a problem, solve it, record the answer."""

from typing import TYPE_CHECKING

from ..on_demand import on_demand

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
    "DominantSets",
    "EvenCut",
    "KernelClustering",
    "KernelKMeans",
    "LandmarkClustering",
    "NormalizedCut",
    "ProbabilisticKMeans",
    "diagnose",
    "dominant_set",
    "is_maximal_clique",
    "load",
    "save",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "DominantSets": "dominant_sets",
        "EvenCut": "even_cut",
        "KernelClustering": "kernel_clustering",
        "KernelKMeans": "named_criteria",
        "LandmarkClustering": "landmark_clustering",
        "NormalizedCut": "named_criteria",
        "ProbabilisticKMeans": "probabilistic_kmeans",
        "diagnose": "diagnosing",
        "dominant_set": "dominant_sets",
        "is_maximal_clique": "dominant_sets",
        "load": "model_files",
        "save": "model_files",
    },
)
