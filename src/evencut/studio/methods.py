"""What a user can choose for a clustering, checked, and the estimator it stands for.

The same choices become code and a command line in `recipes`; a test runs those and compares the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from .refusals import Refused
from .sent import Sent

if TYPE_CHECKING:
    from evencut.kernels import Kernel

__all__ = ["Method", "estimator", "fit_labels", "known_kernels", "scaled"]

Name = Annotated[str, Field(max_length=1000)]


def known_kernels() -> dict[str, type[Kernel]]:
    """The kernels that the page offers: all that take points."""
    # They bring scikit-learn, for which the page need not wait.
    from evencut.kernels import KERNELS

    return {name: kernel for name, kernel in KERNELS.items() if not kernel.is_pairwise}


class Method(Sent):
    """One way to cluster.

    Examples
    --------
    >>> Method(tool="kernel", n_clusters=2, kernel="gaussian", parameters={"bandwidth": 0.3}).kernel_object()
    Gaussian(bandwidth=0.3)
    """

    tool: Literal["evencut", "kernel", "kmeans", "hdbscan"] = "evencut"
    n_clusters: Annotated[int, Field(ge=1, le=2000)] | Literal["auto"] = 2
    kernel: Name = "gaussian"
    parameters: dict[Name, int | Annotated[float, Field(allow_inf_nan=False)] | Name] = Field(default={})
    criterion: Literal["normalized_cut", "average_association", "average_cut"] = "normalized_cut"
    equalize: Literal["weights", "exact"] | None = None
    scale: Literal["auto", "standard"] | None = "auto"
    min_cluster_size: Annotated[int, Field(ge=2, le=100_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    sample: Annotated[int, Field(ge=100, le=20_000)] = 3000

    @model_validator(mode="after")
    def _known(self) -> Method:
        """The kernel and its parameters are checked against what the kernel says of itself."""
        kernels = known_kernels()
        if self.kernel not in kernels:
            raise ValueError(f"kernel {self.kernel[:80]!r} is not known; choose one of {[*kernels]}")
        known = {setting.name: setting for setting in kernels[self.kernel].settings}
        for name, value in self.parameters.items():
            if name not in known:
                raise ValueError(f"the kernel {self.kernel} has no parameter {name[:80]!r}; it has {[*known]}")
            number = isinstance(value, float) and value.is_integer() and known[name].whole
            self.parameters[name] = known[name].read(str(int(value) if number else value))
        return self

    def kernel_object(self) -> Kernel:
        """The kernel with its parameters."""
        return known_kernels()[self.kernel](**self.parameters)

    def is_sampled(self, n_points: int) -> bool:
        """Whether it is fitted on a sample, the other points following: a dense kernel on many points."""
        return self.tool == "kernel" and not known_kernels()[self.kernel].is_graph and n_points > self.sample


def estimator(method: Method) -> Any:
    """The unfitted estimator of a method."""
    if method.tool == "kmeans":
        from sklearn.cluster import KMeans

        return KMeans(_number(method), n_init=10, random_state=method.seed)
    if method.tool == "hdbscan":
        from sklearn.cluster import HDBSCAN

        return HDBSCAN(min_cluster_size=method.min_cluster_size, copy=True)
    from evencut import EvenCut, KernelClustering

    if method.tool == "evencut":
        return EvenCut(method.n_clusters, scale=method.scale, random_state=method.seed)
    return KernelClustering(
        method.n_clusters,
        kernel=method.kernel_object(),
        criterion=method.criterion,
        equalize=method.equalize,
        scale=method.scale,
        random_state=method.seed,
    )


def scaled(method: Method, X: NDArray[Any]) -> NDArray[Any]:
    """The points as the estimator of a method takes them: ours scale by themselves, others get them scaled alike."""
    if method.tool in ("evencut", "kernel"):
        return X
    from evencut.points import feature_scale

    return X / feature_scale(X, method.scale)


def _number(method: Method) -> int:
    if method.n_clusters == "auto":
        raise Refused(f"{method.tool} cannot find the number of clusters; give it, or choose evencut.")
    return int(method.n_clusters)


def fit_labels(method: Method, X: NDArray[np.float64], held: NDArray[np.int64] | None = None) -> tuple[NDArray, Any]:
    """Labels of all points, and the fitted estimator; `held` are labels the user insists on (-1: none).

    The steps are those of the code that `recipes.python_code` writes; change both together.
    """
    model = estimator(method)
    if method.tool in ("evencut", "kernel"):
        model.verbose = 1  # its steps are told to the page
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
        model.fit(scaled(method, X), held)
        labels = np.array(model.labels_)
    return labels, model
