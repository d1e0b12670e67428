"""Where a fit runs: the input decides. Arrays stay arrays; tensors are clustered on their device and answered there.

A fit is the same on a device: its points are tensors, and kernels that take them give affinities there. Torch is never
imported here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import _runtime
from ..kernels import Kernel
from ..tensors import Floats, answer_like, is_tensor, runs_on_device, to_array, to_tensor
from .fitting import warn_of_early_stop
from .partial_labels import check_partial

_Method = TypeVar("_Method", bound=Callable[..., Any])


# All pairs of fewer points are done on the CPU before a GPU has compiled its kernels.
_MANY_PAIRS = 5000
# The number of clusters is read off a sample of so many points.
_NUMBER_SAMPLE = 5000


def many_pairs(n_pairs: int) -> bool:
    """Whether a device is done first with so many pairs of points, its kernels compiled.

    Examples
    --------
    >>> many_pairs(100), many_pairs(10**9)
    (False, True)
    """
    return n_pairs > _MANY_PAIRS**2


def fit_tensor(
    estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Kernel | None, links: Any = None
) -> Any:
    """Fit an estimator of a kernel to a tensor.

    On a device, tables of many points are condensed or clustered there. Fewer points, and kernels that take no tensors,
    are clustered in the memory of the CPU; the answers are tensors on the device of X all the same.
    """
    from joblib import parallel_config

    from ..gpu.arrays import check_memory, check_tensor

    X = check_tensor(X)
    partial = check_partial(estimator, to_array(y) if is_tensor(y) else y, len(X))
    if links is not None or not _stays(estimator, X, kernel, partial):
        return _fit_array(estimator, X, y, sample_weight, kernel, links)
    check_memory(_bytes_needed(estimator, X, kernel), X.device, f"a fit of {len(X)} points of {X.shape[1]} features")
    estimator.n_features_in_ = X.shape[1]
    prepared = estimator._prepare(X, _check_weights(sample_weight, X), kernel)
    if kernel is None:
        # The centres that many points were condensed to are few; the CPU compares partitions of them, on all its cores
        # unless `n_jobs` says otherwise: the device would wait for it.
        with parallel_config("threading", n_jobs=-1):
            solution = estimator._fit_prepared(prepared := prepared.in_memory, kernel, partial)
    else:
        solution = estimator._fit_prepared(prepared, kernel, partial)
    warn_of_early_stop(solution, estimator._problem()["max_iter"])
    left_out = X[to_tensor(np.flatnonzero(prepared.of_row < 0), X)]
    estimator._label_rows(left_out if is_tensor(prepared.points) else to_array(left_out), solution, partial)
    _as_tensors(estimator, X)
    return estimator


def fit_landmark_tensor(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit the estimator of landmarks to a tensor: on a device, only the graph of the landmarks leaves it."""
    from ..gpu.arrays import check_tensor

    X = check_tensor(X)
    partial = check_partial(estimator, to_array(y) if is_tensor(y) else y, len(X))
    plain = sample_weight is None and partial is None and estimator.metric == "euclidean"
    if not runs_on_device(X) or not plain:
        return _fit_array(estimator, X, y, sample_weight)
    estimator.n_features_in_ = X.shape[1]
    estimator._fit_array(X, None, None)
    _as_tensors(estimator, X)
    return estimator


def tensors_too(method: _Method) -> _Method:
    """Let a method of new points take tensors: tensors for tensors, arrays for arrays, wherever the fit ran."""

    @functools.wraps(method)
    def answer(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        fitted = self._fitted_points
        if not is_tensor(X) and not is_tensor(fitted):
            return method(self, X, *args, **options)
        from ..gpu.arrays import check_tensor

        points = check_tensor(X if is_tensor(X) else to_tensor(np.asarray(X), fitted))
        there = is_tensor(fitted) or (fitted is not None and runs_on_device(points) and self._runs_there(points))
        if not there:
            return answer_like(X, method(self, to_array(points), *args, **options))
        if points.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {points.shape[1]} features, but {self.n_features_in_} were fitted.")
        if is_tensor(fitted):
            points = points.to(fitted.dtype)
        found = method(self, points, *args, **options)
        return found if is_tensor(X) or not is_tensor(found) else to_array(found)

    return answer  # type: ignore[return-value]


def number_on_device(estimator: Any, points: Any, seed: int) -> int:
    """The number of clusters; `"auto"` reads it off a sample, on the CPU."""
    if not isinstance(estimator.n_clusters, str):
        return int(estimator.n_clusters)
    rows = np.sort(np.random.default_rng(seed).permutation(len(points))[:_NUMBER_SAMPLE])
    some = type(estimator)(**{**estimator.get_params(deep=False), "random_state": seed, "verbose": 0})
    return int(some.fit(to_array(points[to_tensor(rows, points)])).n_clusters_)


def _stays(estimator: Any, X: Any, kernel: Kernel | None, partial: Any) -> bool:
    """Whether a tensor is fitted on its device rather than by the CPU."""
    if not runs_on_device(X) or estimator.metric != "euclidean":
        return False
    if kernel is None:
        return len(X) > estimator._most_points()
    many = len(X) > _runtime.MANY_POINTS if kernel.is_graph else many_pairs(len(X) ** 2)
    return partial is None and many and kernel.takes_tensors


def _check_weights(sample_weight: Any, X: Any) -> Floats:
    """Weights of the rows as an array, checked to be where X is; ones where none are given."""
    from ..gpu.arrays import same_device

    if sample_weight is None:
        return np.ones(len(X))
    if is_tensor(sample_weight):
        same_device(X=X, sample_weight=sample_weight)
    weights = to_array(sample_weight).astype(np.float64)
    if weights.shape != (len(X),):
        raise ValueError(f"sample_weight has shape {weights.shape}; give one weight for each of {len(X)} rows.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    return weights


def _bytes_needed(estimator: Any, X: Any, kernel: Kernel | None) -> int:
    """About what a fit holds at once on the device besides the points; what grows in blocks takes what is left."""
    n_rows, n_features = X.shape
    # The points again, scaled and in order, and as operands of fp16 numbers, each as three.
    a_row = n_features * (2 * X.element_size() + 6) + 64
    if kernel is not None and kernel.is_graph:
        # Distances, indices, keys of both directions and their sorted copies.
        a_row += 100 * int(getattr(kernel, "n_neighbors", 0))
    elif kernel is not None:
        n_clusters = 40 if isinstance(estimator.n_clusters, str) else estimator.n_clusters
        # Blocks of eigenvectors, their images and what they are mixed from, in float64.
        a_row += 160 * (n_clusters + 4)
    return int(n_rows * a_row)


def _fit_array(estimator: Any, X: Any, *given: Any) -> Any:
    """Fit to the values of a tensor in the memory of the CPU, and answer with tensors."""
    estimator._fit_array(to_array(X), *(to_array(value) if is_tensor(value) else value for value in given))
    _as_tensors(estimator, X)
    return estimator


def _as_tensors(estimator: Any, X: Any) -> None:
    for name, value in list(vars(estimator).items()):
        if name.endswith("_"):
            setattr(estimator, name, answer_like(X, value))
