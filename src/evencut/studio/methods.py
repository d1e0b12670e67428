"""What a user can choose for a clustering, checked, and the estimator it stands for.

The same choices become code and a command line in `recipes`; a test runs those and compares the labels.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from .refusals import Refused

__all__ = ["DENSE_KERNELS", "Method", "estimator", "fit_labels", "kernel_arguments"]

Name = Annotated[str, Field(max_length=1000)]

#: Kernels whose affinity holds every pair of points.
DENSE_KERNELS = ("gaussian", "adaptive_gaussian", "local_scaling", "geodesic")
_WITH_BANDWIDTH = ("gaussian", "geodesic")
_WITH_NEIGHBORS = ("shared_neighbors", "knn", "adaptive_gaussian", "local_scaling", "geodesic")


class Method(BaseModel):
    """One way to cluster.

    Examples
    --------
    >>> Method(tool="kernel", n_clusters=2, kernel="gaussian", bandwidth=0.3).kernel
    'gaussian'
    """

    model_config = ConfigDict(extra="forbid")

    tool: Literal["evencut", "kernel", "kmeans", "hdbscan"] = "evencut"
    n_clusters: Annotated[int, Field(ge=1, le=2000)] | Literal["auto"] = 2
    kernel: Literal["shared_neighbors", "knn", "gaussian", "adaptive_gaussian", "local_scaling", "geodesic"] = (
        "gaussian"
    )
    bandwidth: Annotated[float, Field(gt=0, lt=1e100)] | Literal["scott", "silverman", "median"] = "scott"
    n_neighbors: Annotated[int, Field(ge=1, le=1000)] | None = None
    criterion: Literal["normalized_cut", "average_association", "average_cut"] = "normalized_cut"
    equalize: Literal["weights", "exact"] | None = None
    scale: Literal["auto", "standard"] | None = "auto"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    sample: Annotated[int, Field(ge=100, le=20_000)] = 3000

    def is_sampled(self, n_points: int) -> bool:
        """Whether it is fitted on a sample, the other points following: a dense kernel on many points."""
        return self.tool == "kernel" and self.kernel in DENSE_KERNELS and n_points > self.sample


def kernel_arguments(method: Method) -> dict[str, Any]:
    """The arguments of the kernel that differ from its own defaults."""
    given: dict[str, Any] = {}
    if method.tool != "kernel":
        return given
    if method.kernel in _WITH_NEIGHBORS and method.n_neighbors is not None:
        given["n_neighbors"] = method.n_neighbors
    if method.kernel in _WITH_BANDWIDTH and method.bandwidth != "scott":
        if isinstance(method.bandwidth, str) and method.kernel == "geodesic":
            raise Refused(f"the geodesic kernel takes a number as bandwidth, not {method.bandwidth!r}.")
        given["bandwidth"] = method.bandwidth
    return given


def estimator(method: Method) -> Any:
    """The unfitted estimator of a method."""
    if method.tool == "kmeans":
        from sklearn.cluster import KMeans

        return KMeans(_number(method), n_init=10, random_state=method.seed)
    if method.tool == "hdbscan":
        from sklearn.cluster import HDBSCAN

        return HDBSCAN(min_cluster_size=method.n_neighbors or 10, copy=True)
    from evencut import EvenCut, KernelClustering
    from evencut.kernels import KERNELS

    if method.tool == "evencut":
        return EvenCut(method.n_clusters, scale=method.scale, random_state=method.seed)
    return KernelClustering(
        method.n_clusters,
        kernel=KERNELS[method.kernel](**kernel_arguments(method)),
        criterion=method.criterion,
        equalize=method.equalize,
        scale=method.scale,
        random_state=method.seed,
    )


def _number(method: Method) -> int:
    if method.n_clusters == "auto":
        raise Refused(f"{method.tool} cannot find the number of clusters; give it, or choose evencut.")
    return int(method.n_clusters)


def fit_labels(method: Method, X: NDArray[np.float64], held: NDArray[np.int64] | None = None) -> tuple[NDArray, Any]:
    """Labels of all points, and the fitted estimator; `held` are labels the user insists on (-1: none).

    The steps are those of the code that `recipes.python_code` writes; change both together.
    """
    model = estimator(method)
    if hasattr(model, "verbose"):
        model.verbose = 1
    if method.is_sampled(len(X)):
        rng = np.random.default_rng(method.seed)
        chosen = np.sort(rng.choice(len(X), method.sample, replace=False))
        if held is not None:
            # What the user has said must be seen by the fit, also where the draw has missed it.
            chosen = np.union1d(chosen, np.flatnonzero(held >= 0))
        model.fit(X[chosen], None if held is None else held[chosen])
        labels = model.predict(X)
        labels[chosen] = model.labels_
    else:
        model.fit(X, held)
        labels = np.array(model.labels_)
    return labels, model
