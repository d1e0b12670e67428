"""Where a fit runs: the input decides. Arrays stay arrays; tensors are clustered on their device and answered there.

Torch is never imported here; the modules that need it are loaded once a tensor has come in.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ..affinity import PreparedPoints, limits
from ..affinity.on_device import runs_on_device
from ..gpu.tensors import is_tensor, to_array, to_tensor
from ..kernels import KNN, AdaptiveGaussian, Gaussian, Kernel, LocalScaling, SharedNeighbors
from .fitting import warn_of_early_stop
from .inputs import check_n_clusters, seed_from
from .partial_labels import check_partial

__all__ = ["answer_like", "fit_landmark_tensor", "fit_tensor", "tensors_too", "to_graph"]

_Method = TypeVar("_Method", bound=Callable[..., Any])


# All pairs of fewer points are done on the CPU before a GPU has compiled its kernels.
_MANY_PAIRS = 5000
# The number of clusters is read off a sample of so many points.
_NUMBER_SAMPLE = 5000


def answer_like(X: Any, answer: Any) -> Any:
    """An answer as a tensor on the device of X where X is a tensor, as it is otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> answer_like(np.zeros(1), np.arange(2))
    array([0, 1])
    """
    if not is_tensor(X):
        return answer
    if sparse.issparse(answer):
        from ..gpu.graph import Graph

        parts = (answer.indptr.astype(np.int64), answer.indices.astype(np.int64), answer.data)
        return Graph(*(to_tensor(part, X) for part in parts)).to_torch()
    if isinstance(answer, np.ndarray) and answer.dtype.kind in "biuf":
        return to_tensor(answer, X)
    return answer


def to_graph(answer: Any) -> sparse.csr_array:
    """A sparse affinity as SciPy has it, also where it was answered as a tensor."""
    if not is_tensor(answer):
        return sparse.csr_array(answer)
    parts = (answer.values(), answer.col_indices(), answer.crow_indices())
    return sparse.csr_array(tuple(to_array(part) for part in parts), shape=tuple(answer.shape))


def fit_tensor(estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Kernel | None) -> Any:
    """Fit an estimator of a kernel to a tensor.

    On a GPU, tables of many points are condensed or clustered there. Fewer points, and kernels without a form for the
    GPU, are clustered in the memory of the CPU; the answers are tensors on the device of X all the same.
    """
    from ..gpu.arrays import check_points

    X = check_points(X)
    partial = check_partial(estimator, to_array(y) if is_tensor(y) else y, len(X))
    fit = _way(estimator, X, kernel, partial)
    if fit is None:
        return _fit_array(estimator, X, y, sample_weight, kernel)
    from ..gpu.arrays import check_memory
    from .device_points import check_weights, prepare_on_device

    check_memory(_bytes_needed(estimator, X, kernel), X.device, f"a fit of {len(X)} points of {X.shape[1]} features")
    weights = check_weights(sample_weight, X)
    prepared = prepare_on_device(X, weights, scale=estimator._scaling())
    if prepared is None:
        return _fit_array(estimator, X, y, sample_weight, kernel)
    if not isinstance(estimator.n_clusters, str):
        check_n_clusters(estimator.n_clusters, prepared)
    estimator.n_features_in_ = X.shape[1]
    warn_of_early_stop(fit(estimator, X, prepared, kernel, partial), estimator._problem()["max_iter"])
    return estimator


def _fit_condensed(estimator: Any, X: Any, prepared: Any, kernel: None, partial: Any) -> Any:
    """The default: many points become weighted centres on the device, and the CPU clusters those."""
    from .device_fits import condensed

    few = condensed(prepared, estimator._most_points())
    host = PreparedPoints(
        to_array(few.points), to_array(few.weights), to_array(few.of_row), to_array(few.first_row),
        to_array(few.feature_scale),
    )  # fmt: skip
    solution = estimator._fit_prepared(host, kernel, partial)
    estimator._label_rows(to_array(X[few.of_row < 0]), solution, partial)
    _as_tensors(estimator, X)
    return solution


def _fit_there(estimator: Any, X: Any, prepared: Any, kernel: Kernel, partial: None) -> Any:
    """A kernel of many points, all of them clustered."""
    from .device_fits import fit_by_graph, fit_by_pairs

    seed = seed_from(estimator.random_state)
    fit = fit_by_graph if kernel.is_graph else fit_by_pairs
    found = fit(estimator, prepared, kernel, _number(estimator, prepared.points, seed), seed)
    _record(estimator, found, X)
    return found


def fit_landmark_tensor(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit the estimator of landmarks to a tensor: on a GPU, only the graph of the landmarks leaves it."""
    from ..gpu.arrays import check_points

    X = check_points(X)
    partial = check_partial(estimator, to_array(y) if is_tensor(y) else y, len(X))
    plain = sample_weight is None and partial is None and estimator.metric == "euclidean"
    if not runs_on_device(X) or not plain:
        return _fit_array(estimator, X, y, sample_weight)
    from ..landmarks.solving import LandmarkGraph
    from .device_landmarks import attach_to_landmarks, labelled

    estimator.n_features_in_ = X.shape[1]
    seed = seed_from(estimator.random_state)
    attachment, affinity = attach_to_landmarks(
        X,
        estimator._count_landmarks(*X.shape, False),
        n_nearest=estimator.n_nearest,
        density=estimator.landmark_density,
        scale=estimator.scale,
        seed=seed,
    )
    graph = LandmarkGraph(attachment, affinity)
    estimator._check_found(len(attachment.landmarks))
    labels_of = functools.partial(labelled, attachment, graph.used, graph.weights)
    warn_of_early_stop(estimator._solve(graph, seed, labels_of), estimator.max_iter)
    estimator.labels_ = estimator.attachment_.predict(X)
    _as_tensors(estimator, X)
    return estimator


def tensors_too(method: _Method) -> _Method:
    """Let a method of new points take tensors: tensors for tensors, arrays for arrays, wherever the fit ran.

    Where it ran on a device, what it left there answers, by a method of the same name.
    """

    @functools.wraps(method)
    def answer(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_tensor(X) and self._device is None:
            return method(self, X, *args, **options)
        from ..gpu.arrays import check_points

        there = self._device
        if there is None:
            return answer_like(X, method(self, to_array(check_points(X)), *args, **options))
        points = check_points(X if is_tensor(X) else to_tensor(np.asarray(X), there.like))
        if points.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {points.shape[1]} features, but {self.n_features_in_} were fitted.")
        found = getattr(there, method.__name__)(points.to(there.like.dtype))
        return found if is_tensor(X) or not is_tensor(found) else to_array(found)

    return answer  # type: ignore[return-value]


def _way(estimator: Any, X: Any, kernel: Kernel | None, partial: Any) -> Any:
    """How a tensor is fitted on its device; None where the CPU does it."""
    if not runs_on_device(X) or estimator.metric != "euclidean":
        return None
    if kernel is None:
        return _fit_condensed if len(X) > estimator._most_points() else None
    if partial is not None:
        return None
    # A subclass has an affinity of its own, which only it knows.
    kind = type(kernel)
    exact = getattr(kernel, "neighbors", "auto") in ("auto", "exact")
    if kind in (SharedNeighbors, KNN) and exact and len(X) > limits.MANY_POINTS:
        return _fit_there
    # Neither a matrix for each row nor kernels of one volume are known there.
    plain = getattr(kernel, "covariances", None) is None and not getattr(kernel, "normalize", False)
    if kind in (Gaussian, AdaptiveGaussian, LocalScaling) and plain and len(X) > _MANY_PAIRS:
        return _fit_there
    return None


def _bytes_needed(estimator: Any, X: Any, kernel: Kernel | None) -> int:
    """About what a fit holds at once on the device besides the points; what grows in blocks takes what is left."""
    n_rows, n_features = X.shape
    # The points again, scaled and in order, and as operands of fp16 numbers, each as three.
    a_row = n_features * (2 * X.element_size() + 6) + 64
    if kernel is not None and kernel.is_graph:
        # Distances, indices, keys of both directions and their sorted copies.
        a_row += 100 * int(kernel.n_neighbors)
    elif kernel is not None:
        n_clusters = 40 if isinstance(estimator.n_clusters, str) else estimator.n_clusters
        # Blocks of eigenvectors, their images and what they are mixed from, in float64.
        a_row += 160 * (n_clusters + 4)
    return int(n_rows * a_row)


def _number(estimator: Any, points: Any, seed: int) -> int:
    """The number of clusters; `"auto"` reads it off a sample, on the CPU."""
    if not isinstance(estimator.n_clusters, str):
        return int(estimator.n_clusters)
    rows = np.sort(np.random.default_rng(seed).permutation(len(points))[:_NUMBER_SAMPLE])
    some = type(estimator)(**{**estimator.get_params(deep=False), "random_state": seed, "verbose": 0})
    return int(some.fit(to_array(points[to_tensor(rows, points)])).n_clusters_)


def _fit_array(estimator: Any, X: Any, *given: Any) -> Any:
    """Fit to the values of a tensor in the memory of the CPU, and answer with tensors."""
    estimator._fit_array(to_array(X), *(to_array(value) if is_tensor(value) else value for value in given))
    _as_tensors(estimator, X)
    return estimator


def _as_tensors(estimator: Any, X: Any) -> None:
    for name, value in list(vars(estimator).items()):
        if name.endswith("_"):
            setattr(estimator, name, answer_like(X, value))


def _record(estimator: Any, fit: Any, X: Any) -> None:
    """Keep what a fit on a device has found, under the names that every fit has."""
    prepared = fit.prepared
    estimator._device = fit
    estimator._prediction = estimator._prepared = estimator._affinity = None
    estimator.n_clusters_ = len(fit.prediction.weight)
    estimator.feature_scale_ = prepared.feature_scale
    estimator.point_of_row_ = prepared.of_row
    estimator.weights_, estimator.equalizing_scale_, estimator.degrees_ = fit.weights, fit.scale, fit.degrees
    estimator.energy_, estimator.n_iter_ = fit.energy, fit.n_iter
    estimator.energy_trace_ = to_tensor(np.array(fit.trace), X)
    labels, margin = fit.labels[prepared.of_row], fit.margin[prepared.of_row]
    left_out = (prepared.of_row < 0).nonzero()[:, 0]
    if len(left_out):
        labels[left_out], margin[left_out] = fit.predict(X[left_out]), fit.predict_margin(X[left_out])
    estimator.labels_, estimator.margin_ = labels, margin
