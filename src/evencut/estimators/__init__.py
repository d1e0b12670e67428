"""The scikit-learn estimators: prepare the points, choose a kernel, pose a problem, solve it, record the answer."""

from .dominant_sets import DominantSets, dominant_set, is_maximal_clique
from .even_cut import EvenCut
from .kernel_clustering import KernelClustering
from .landmark_clustering import LandmarkClustering
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
    "dominant_set",
    "is_maximal_clique",
]
