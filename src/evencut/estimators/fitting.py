"""What surrounds a fit: it is atomic and reports its progress; where tensors are fitted, and methods that take them.

The input decides where a fit runs. Arrays stay arrays; a fit to tensors is the same, with points that are tensors and
kernels that give affinities on their device, and its results are tensors. Torch is never imported here.
"""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _runtime
from .._runtime import on_progress, warn_user
from ..kernels import Kernel
from ..tensors import is_foreign, is_tensor, native, result_like, runs_on_device, to_array, to_tensor
from .inputs import check_partial

_Function = TypeVar("_Function", bound=Callable[..., Any])

# A device is faster for more pairs of points than those of so many, its compiled kernels included.
_MANY_PAIRS = 5000


class _ProgressBar:
    """A bar that moves on a terminal, and one line for each step elsewhere."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, name: str, number: int, total: int) -> None:
        """Report that step `number` of `total` begins."""
        done = 20 * (number - 1) // total
        self._print(f"[{'#' * done}{'-' * (20 - done)}] {number}/{total} {name}")

    def close(self) -> None:
        """Report the end."""
        self._print(f"[{'#' * 20}] done", is_last=True)

    def _print(self, text: str, is_last: bool = False) -> None:
        text = f"{text} ({time.perf_counter() - self._start:.1f} s)"
        end = "\n" if is_last or not self._is_terminal else ""
        print(f"\r\x1b[K{text}" if self._is_terminal else text, end=end, file=sys.stderr, flush=True)


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if what is done to it fails."""
    state = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(state)
        raise


def atomic_fit(fit: _Function) -> _Function:
    """Make `fit` all or nothing; with `verbose` it reports its progress.

    If it fails, the estimator is unchanged: not fitted, or as an earlier fit has left it. Stopped by Ctrl-C it is not
    fitted. Nothing of an earlier fit remains after a new one. Results are of the kind of X: tensors for tensors.
    """

    @functools.wraps(fit)
    def guarded(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        try:
            with unchanged_on_failure(self):
                _forget(self)
                rows, *args = map(native, (X, *args))  # type: ignore[assignment]
                options = {name: native(value) for name, value in options.items()}
                if not getattr(self, "verbose", 0):
                    fit(self, rows, *args, **options)
                else:
                    bar = _ProgressBar()
                    with on_progress(bar):
                        fit(self, rows, *args, **options)
                    bar.close()
                results_like(self, X)
                return self
        except KeyboardInterrupt:
            _forget(self)
            raise

    return guarded  # type: ignore[return-value]


def results_like(estimator: Any, X: Any) -> None:
    """Turn the fitted attributes into the kind of `X`."""
    if not isinstance(X, np.ndarray) and (is_foreign(X) or is_tensor(X)):
        for name, value in list(vars(estimator).items()):
            if name.endswith("_"):
                setattr(estimator, name, result_like(X, value))


def _forget(estimator: Any) -> None:
    """Drop the attributes of an earlier fit: names that end with an underscore."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)


def explain_parameters(initialise: Callable[..., None]) -> Callable[..., None]:
    """An `__init__` that names the class and its parameters if one is unknown."""
    known = [*inspect.signature(initialise).parameters][1:]

    @functools.wraps(initialise)
    def explained(self: Any, *args: Any, **parameters: Any) -> None:
        for unknown in (name for name in parameters if name not in known):
            of_kernel = unknown in ("kernel", "criterion", "equalize", "solver", "n_init", "max_iter")
            cure = "KernelClustering has it, for one criterion on one kernel" if of_kernel else "check its name"
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown!r}: {cure}. It takes {', '.join(known)}."
            )
        initialise(self, *args, **parameters)

    return explained


def warn_of_early_stop(is_converged: bool, limit: str) -> None:
    """Warn, at the line that called `fit`, if points still moved at a limit such as "max_iter=100 sweeps"."""
    if not is_converged:
        warn_user(f"points still moved after {limit}; raise max_iter.", ConvergenceWarning)


def device_is_faster(n_pairs: int) -> bool:
    """Whether a device is faster with this number of pairs of points, the compilation of its kernels included.

    Examples
    --------
    >>> device_is_faster(100), device_is_faster(10**9)
    (False, True)
    """
    return n_pairs > _MANY_PAIRS**2


def tensor_or_array(estimator: Any, X: Any, y: Any, sample_weight: Any, kernel: Kernel | None) -> Any:
    """The tensor, if the fit runs on its device, else its values as an array.

    On a device, tables of many points are condensed or clustered there. Fewer points, and kernels that take no tensors,
    are clustered in the memory of the CPU.
    """
    from ..gpu.arrays import check_memory, check_tensor, same_device

    X = check_tensor(X)
    if not runs_on_device(X) or estimator.metric != "euclidean":
        return to_array(X)
    if kernel is None:
        stays = len(X) > estimator._max_points()
    else:
        many = len(X) > _runtime.MANY_POINTS if kernel.is_graph else device_is_faster(len(X) ** 2)
        stays = many and kernel.takes_tensors and check_partial(estimator, y, len(X)) is None
    if not stays:
        return to_array(X)
    same_device(X=X, sample_weight=sample_weight if is_tensor(sample_weight) else None)
    check_memory(_bytes_needed(estimator, X, kernel), X.device, f"a fit of {len(X)} points of {X.shape[1]} features")
    estimator.n_features_in_ = X.shape[1]
    return X


def _bytes_needed(estimator: Any, X: Any, kernel: Kernel | None) -> int:
    """Approximate memory of a fit on the device besides the points; blocks use what is left."""
    n_rows, n_features = X.shape
    # Scaled and ordered copies of the points, and operands of three fp16 numbers each.
    row_bytes = n_features * (2 * X.element_size() + 6) + 64
    if kernel is not None and kernel.is_graph:
        # Distances, indices, keys of both directions and sorted copies.
        row_bytes += 100 * int(getattr(kernel, "n_neighbors", 0))
    elif kernel is not None:
        n_clusters = 40 if isinstance(estimator.n_clusters, str) else estimator.n_clusters
        # Blocks of eigenvectors, their images and bases, in float64.
        row_bytes += 160 * (n_clusters + 4)
    return int(n_rows * row_bytes)


def number_from_sample(estimator: Any, points: Any, seed: int) -> int:
    """The number of clusters that a fit to at most 5000 points finds, on the CPU."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(points))[:5000])
    copy = type(estimator)(**{**estimator.get_params(deep=False), "random_state": seed, "verbose": 0})
    return int(copy.fit(to_array(points[to_tensor(rows, points)])).n_clusters_)


def accepts_tensors(method: _Function) -> _Function:
    """Let a method of new points take tensors: results are of the kind of `X`, wherever the fit ran."""

    @functools.wraps(method)
    def convert(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if is_foreign(X):
            return result_like(X, convert(self, native(X), *args, **options))
        fitted = self._fitted_points
        if not is_tensor(X) and not is_tensor(fitted):
            return method(self, X, *args, **options)
        from ..gpu.arrays import check_tensor

        points = check_tensor(X if is_tensor(X) else to_tensor(np.asarray(X), fitted))
        if not is_tensor(fitted) and (
            fitted is None or not runs_on_device(points) or not self._predicts_on_device(points)
        ):
            return result_like(X, method(self, to_array(points), *args, **options))
        if points.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {points.shape[1]} features, but {self.n_features_in_} were fitted.")
        if is_tensor(fitted):
            points = points.to(fitted.dtype)
        result = method(self, points, *args, **options)
        return to_array(result) if is_tensor(result) and not is_tensor(X) else result_like(X, result)

    return convert  # type: ignore[return-value]
