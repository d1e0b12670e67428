"""A fitted model without what only its fit needed, made of plain types: what is left labels new points.

Nothing in it is a function, so that a file of it can be checked type by type before it is loaded.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from ..affinity import CoordinateSystem, GivenDistances, MetricPoints, PreparedPoints, SparsePoints
from ..criteria import CRITERIA
from ..gpu.tensors import is_tensor, to_array
from ..kernels import KERNELS
from ..landmarks import Attachment
from .cluster_models import GaussianModel, HistogramModel
from .clustering import Clustering
from .dominant_sets import DominantSets
from .even_cut import EvenCut
from .kernel_clustering import KernelClustering
from .landmark_clustering import LandmarkClustering
from .named_criteria import KernelKMeans, NormalizedCut
from .prediction import Prediction
from .probabilistic_kmeans import ProbabilisticKMeans

__all__ = ["portable", "portable_types"]


def portable(model: Any) -> Any:
    """A copy of a fitted model that predicts the same and holds neither the affinity nor functions.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut import KernelClustering
    >>> X = np.array([[0.0], [0.1], [3.0], [3.1]])
    >>> model = KernelClustering(2, kernel="gaussian", random_state=0).fit(X)
    >>> portable(model).predict(X)
    array([0, 0, 1, 1])
    """
    kept = copy.copy(model)
    if getattr(model, "_device", None) is not None:
        raise TypeError(
            "the model was fitted on a GPU and labels new points there; save it with torch.save, or fit arrays."
        )
    for name, value in vars(model).items():
        if is_tensor(value):
            setattr(kept, name, to_array(value))
    if isinstance(model, Clustering):
        # Made again from the kernel and the points when first needed.
        kept._prediction = replace(model._prediction, extension=None)
        for name in ("_affinity", "selection_"):
            vars(kept).pop(name, None)
    return kept


def portable_types() -> list[type]:
    """Every type a portable model is made of, besides those of NumPy, SciPy and Python."""
    kernels = [KernelClustering, KernelKMeans, NormalizedCut]
    models = [EvenCut, *kernels, LandmarkClustering, DominantSets, ProbabilisticKMeans]
    criteria = [type(criterion) for criterion in CRITERIA.values()]
    points = [SparsePoints, MetricPoints, GivenDistances]
    distributions = [GaussianModel, HistogramModel]
    spaces = [PreparedPoints, CoordinateSystem, *points]
    return [*models, *distributions, Prediction, *spaces, Attachment, *KERNELS.values(), *criteria]
