"""A fitted model without what only its fit needed, made of plain types: what is left labels new points.

Nothing in it is a function, so that a file of it can be checked type by type before it is loaded.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from ..criteria import CRITERIA
from ..io import Preparation
from ..kernels import KERNELS
from ..landmarks import Attachment, RowReservoir
from ..neighbors import GivenDistances, MetricPoints, SparsePoints
from ..points import CoordinateSystem, PreparedPoints
from ..tensors import in_memory, is_tensor
from .cluster_models import GaussianModel, HistogramModel
from .clustering import Clustering
from .dominant_sets import DominantSets
from .even_cut import EvenCut
from .hierarchy import Hierarchy
from .kernel_clustering import KernelClustering
from .landmark_clustering import LandmarkClustering
from .named_criteria import KernelKMeans, NormalizedCut
from .prediction import Prediction
from .probabilistic_kmeans import ProbabilisticKMeans
from .probabilities import Certainty


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
    for name, value in vars(model).items():
        setattr(kept, name, in_memory(value))
    if isinstance(model, Clustering):
        if not is_tensor(model._fitted_points):
            kept._derived = {"certainty": model._sure(), "tree": model._tree()}
        # Made again from the kernel and the points when first needed.
        kept._prepared = model._prepared.in_memory
        kept._prediction = replace(model._prediction, points=kept._prepared.points, extension=None)
        for name in ("_affinity", "_left_out", "selection_"):
            vars(kept).pop(name, None)
    elif isinstance(model, LandmarkClustering):
        kept.attachment_ = model.attachment_.in_memory
        if model._certainty is not None and model._fitted_rows is not None:
            kept._judged = model._judged_rows()
        kept._fitted_rows = None
    return kept


def portable_types() -> list[type]:
    """Every type a portable model is made of, besides those of NumPy, SciPy and Python."""
    kernels = [KernelClustering, KernelKMeans, NormalizedCut]
    models = [EvenCut, *kernels, LandmarkClustering, DominantSets, ProbabilisticKMeans]
    criteria = [type(criterion) for criterion in CRITERIA.values()]
    points = [SparsePoints, MetricPoints, GivenDistances]
    distributions = [GaussianModel, HistogramModel]
    parts = [Prediction, Certainty, Hierarchy, PreparedPoints, Preparation, Attachment, RowReservoir]
    return [*models, *distributions, *parts, CoordinateSystem, *points, *KERNELS.values(), *criteria]
