"""Checks of parameters that say what was given, what is allowed, and the cure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array, validate_data

from .._runtime import warn_user
from ..criteria import CRITERIA, EQUALIZATIONS
from ..io import donor_rows, filled_rows, prepared_rows
from ..kernels import KERNELS, Kernel
from ..neighbors import METRICS, SparsePoints, check_distances, check_finite, fill_distances, is_dense
from ..neighbors.metrics import Metric
from ..points import SCALES
from ..solvers import SOLVERS


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise unless the value is one of the names allowed."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {[*choices]}.")


def check_count(name: str, value: Any, *, auto: bool = False) -> None:
    """Raise unless the value is a whole number of at least one, or `"auto"` where that is allowed."""
    if auto and isinstance(value, str) and value == "auto":
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        other = " or 'auto'" if auto else ""
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1{other}.")


def check_n_jobs(n_jobs: Any) -> None:
    """Raise unless it is None or a whole number other than zero."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be None, a number of threads, or -1 for all cores.")


def check_problem(estimator: Any) -> None:
    """Raise for parameters out of range that say which problem is solved, on what, and with how much effort."""
    choices = {"criterion": CRITERIA, "equalize": EQUALIZATIONS, "solver": SOLVERS, "scale": SCALES}
    for name, known in choices.items():
        check_choice(name, getattr(estimator, name), known)
    for name in ("n_clusters", "n_init", "max_iter"):
        check_count(name, getattr(estimator, name), auto=name == "n_clusters")
    check_n_jobs(estimator.n_jobs)


def kernel_from(kernel: Any) -> Kernel:
    """A kernel given by name or as an object, as an object of its own."""
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if isinstance(kernel, Kernel):
        return clone(kernel)
    known = [*KERNELS]
    if isinstance(kernel, str) and kernel == "auto":
        raise ValueError(f"kernel='auto' is EvenCut now: use EvenCut(n_clusters), or name a kernel: one of {known}.")
    if isinstance(kernel, str):
        raise ValueError(f"kernel={kernel!r} is not known; choose one of {known}.")
    raise ValueError(f"kernel={kernel!r} must be one of {known} or an object of evencut.kernels.")


def is_pairwise(kernel: Any) -> bool:
    """Whether an affinity is given in place of points."""
    return (isinstance(kernel, Kernel) and kernel.is_pairwise) or (isinstance(kernel, str) and kernel == "precomputed")


def check_points(
    estimator: Any, X: Any, pairwise: bool, metric: Metric, *, reset: bool, dtype: Any = (np.float64, np.float32)
) -> Any:
    """What a user gives as X as an array, or a sparse matrix where it may be one; square distances are checked."""
    refuse_dask(X, type(estimator).__name__)
    X = check_rows(
        estimator,
        check_finite(X),
        reset=reset,
        fill=not (pairwise or metric == "precomputed"),
        accept_sparse=_accepted_sparse(pairwise, metric),
        dtype=list(dtype) if isinstance(dtype, tuple) else dtype,
        ensure_min_samples=2 if reset else 1,
    )
    if metric == "precomputed" and sparse.issparse(X):
        X = fill_distances(X)
    return check_distances(X) if reset and metric == "precomputed" else X


def check_rows(estimator: Any, X: Any, *, reset: bool, fill: bool = True, **checks: Any) -> Any:
    """A table of any kind as an array, its columns those that were fitted: every X of every estimator comes in here.

    Words and dates become numbers as they did at the fit; `table_` of the estimator says how. Missing values are filled
    from the nearest rows, with a warning, where `fill` is set. `checks` go on to :func:`sklearn.utils.check_array`.
    """
    donors = None if reset else getattr(estimator, "_complete_rows", None)
    rows, header, done = prepared_rows(X, None if reset else getattr(estimator, "table_", None), donors)
    if reset and done is not None:
        estimator.table_ = done
    if fill and done is None:
        rows = _without_missing(estimator, rows, donors, reset)
    if header is None:
        return validate_data(estimator, rows, reset=reset, **checks)
    validate_data(estimator, header, reset=reset, skip_check_array=True)
    return check_array(rows, estimator=estimator, input_name="X", **checks)


def _without_missing(estimator: Any, rows: Any, donors: Any, reset: bool) -> Any:
    """Rows of numbers whose missing values were filled in; what cannot be filled is left to the check of arrays."""
    values = rows
    if isinstance(rows, list | tuple):
        try:
            values = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError):
            return rows
    # A memory map may be larger than memory.
    if type(values) is not np.ndarray or values.ndim != 2 or values.dtype.kind != "f" or not values.size:
        return rows
    if np.isnan(values).any() and not np.isinf(values).any():
        # A wrong number of columns is left to the check of arrays.
        fits = donors is not None and donors.shape[1] == values.shape[1]
        values, messages = filled_rows(values, donors if fits else None)
        for message in messages:
            warn_user(f"{message}.")
        rows = values
    if reset:
        estimator._complete_rows = donor_rows(values, "neighbors")
    return rows


def scaling_of(estimator: Any) -> str | None:
    """The scaling of the columns asked for; none by itself where words or dates stand beside numbers.

    These are on one scale already: each column of the table counts alike.
    """
    is_even = getattr(getattr(estimator, "table_", None), "divisors", None) is not None
    return None if is_even and estimator.scale == "auto" else estimator.scale


def tags_of_inputs(tags: Tags, kernel: Any, metric: Metric) -> Tags:
    """What scikit-learn wants to know of the data an estimator takes."""
    tags.input_tags.pairwise = is_pairwise(kernel) or metric == "precomputed"
    tags.input_tags.allow_nan = not tags.input_tags.pairwise
    chosen = KERNELS[kernel]() if isinstance(kernel, str) and kernel in KERNELS else kernel
    has_no_use = isinstance(chosen, Kernel) and chosen.needs_coordinates
    tags.input_tags.sparse = bool(_accepted_sparse(is_pairwise(kernel), metric)) and not has_no_use
    return tags


def _accepted_sparse(pairwise: bool, metric: Metric) -> Any:
    """The kinds of sparse matrices that are taken: any for an affinity, rows where products give the distances."""
    if pairwise:
        return ("csr", "csc", "coo")
    return "csr" if metric in ("euclidean", "l2", "cosine", "precomputed") else False


def check_metric(metric: Any, kernel: Kernel | None = None) -> None:
    """Raise for a metric that is not known, and for one beside an affinity."""
    if not callable(metric):
        check_choice("metric", metric, METRICS)
    if kernel is not None and kernel.is_pairwise and metric != "euclidean":
        raise ValueError(
            f"kernel='precomputed' takes an affinity, for which metric={metric!r} means nothing; leave one of them out."
        )


def check_space(kernel: Kernel | None, points: Any, metric: Metric) -> None:
    """Raise for a kernel that needs coordinates where there are none."""
    if kernel is not None and kernel.needs_coordinates and not is_dense(points):
        what = "sparse rows" if isinstance(points, SparsePoints) else f"metric={metric!r}"
        raise ValueError(
            f"{kernel!r} needs the coordinates of the points, which {what} do not give; use a kernel of neighbours "
            "such as 'shared_neighbors' or 'knn', or Gaussian(bandwidth=...) with one length or 'median'."
        )


def refuse_dask(X: Any, name: str) -> None:
    """Raise for data that an estimator in memory cannot take."""
    if callable(getattr(X, "__dask_graph__", None)):
        raise TypeError(
            f"{name} holds all points in memory, but X is a Dask collection; use "
            "LandmarkClustering, which reads it block by block, or pass X.compute()."
        )


def seed_from(random_state: Any) -> int:
    """A whole number drawn from what a user gives as `random_state`."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_n_clusters(n_clusters: int, prepared: Any) -> None:
    """Raise where there are fewer distinct points than clusters."""
    n_points = len(prepared.weights)
    if n_points < n_clusters:
        n_rows = int((prepared.point_of_row >= 0).sum())
        what = "points" if n_points == n_rows else f"distinct points among {n_rows} rows"
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_points} {what} given; ask for at most {n_points} clusters."
        )


@contextmanager
def memory_advice(n_points: int) -> Iterator[None]:
    """Name the right tool where an affinity does not fit in memory."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(
            f"the affinity of {n_points} points does not fit in memory ({error}); use kernel='knn', or "
            "LandmarkClustering, which never holds it."
        ) from error
