"""Checks of parameters, tables and partial labels; errors name the value, what is allowed, and the cure."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from .._runtime import some, warn_user
from ..criteria import CRITERIA, EQUALIZATIONS
from ..io import donor_rows, filled_rows, prepared_rows
from ..kernels import KERNELS, Kernel
from ..neighbors import METRICS, SparsePoints, check_distances, check_finite, fill_distances, is_dense
from ..neighbors.metrics import Metric
from ..points import SCALES
from ..solvers import SOLVERS
from ..solvers.bounds import Bounds
from ..tensors import Floats, Ints, Mask

#: The label of rows whose cluster is not known.
UNKNOWN = -1


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
    known = {"criterion": CRITERIA, "equalize": EQUALIZATIONS, "solver": SOLVERS, "scale": SCALES}
    for name, choices in known.items():
        check_choice(name, getattr(estimator, name), choices)
    for name in ("n_clusters", "n_init", "max_iter"):
        check_count(name, getattr(estimator, name), auto=name == "n_clusters")
    check_n_jobs(estimator.n_jobs)


def problem_of(estimator: Any) -> dict[str, Any]:
    """The parameters that say which problem is solved, and with how much effort."""
    return {name: getattr(estimator, name) for name in ("criterion", "equalize", "solver", "n_init", "max_iter")}


def kernel_from(kernel: Any) -> Kernel:
    """A kernel given by name or as an object, as a new object."""
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    known = [*KERNELS]
    if isinstance(kernel, str) and kernel == "auto":
        raise ValueError(f"kernel='auto' is EvenCut now: use EvenCut(n_clusters), or name a kernel: one of {known}.")
    what = f"is not known; choose one of {known}." if isinstance(kernel, str) else None
    raise ValueError(f"kernel={kernel!r} {what or f'must be one of {known} or an object of evencut.kernels.'}")


def check_points(
    estimator: Any, X: Any, kernel: Kernel | None, *, reset: bool, dtype: Any = (np.float64, np.float32)
) -> Any:
    """What a user gives as X as an array, or a sparse matrix if that is allowed; square distances are checked."""
    if callable(getattr(X, "__dask_graph__", None)):
        raise TypeError(
            f"{type(estimator).__name__} holds all points in memory, but X is a Dask collection; use "
            "LandmarkClustering, which reads it in blocks, or pass X.compute()."
        )
    metric, pairwise = estimator.metric, kernel is not None and kernel.is_pairwise
    is_table, accepted = not (pairwise or metric == "precomputed"), _accepted_sparse(pairwise, metric)
    X = check_rows(estimator, X, reset=reset, fill=is_table, accept_sparse=accepted, dtype=dtype)
    if metric == "precomputed":
        X = fill_distances(X) if sparse.issparse(X) else X
        return check_distances(X) if reset else X
    # In few columns points on a circle or a sphere are places, not directions.
    may_be_directions = kernel is None and metric == "euclidean" and isinstance(X, np.ndarray) and X.shape[1] >= 8
    if reset and may_be_directions and abs(np.einsum("ij,ij->i", X, X) - 1).max() < 1e-3:
        warn_user('all rows have length 1: metric="cosine" compares them as directions.')
    return X


def check_rows(estimator: Any, X: Any, *, reset: bool, fill: bool = True, **checks: Any) -> Any:
    """A table of any kind as an array, its columns those that were fitted: every X of every estimator comes in here.

    Words and dates become numbers as they did at the fit; `table_` of the estimator says how. Missing values are filled
    from the nearest rows, with a warning, where `fill` is set. `checks` go on to :func:`sklearn.utils.check_array`.
    """
    donors = None if reset else getattr(estimator, "_complete_rows", None)
    table = None if reset else getattr(estimator, "table_", None)
    is_plain = table is None and type(X) is np.ndarray and X.dtype.kind in "biuf"
    rows, header, done = (X, None, None) if is_plain else prepared_rows(X, table, donors)
    if reset and done is not None:
        estimator.table_ = done
    if fill and done is None:
        rows = _without_missing(rows, donors)
    checks["ensure_min_samples"] = 2 if reset else 1
    try:
        if header is None:
            values = validate_data(estimator, rows, reset=reset, **checks)
        else:
            validate_data(estimator, header, reset=reset, skip_check_array=True)
            values = check_array(rows, estimator=estimator, input_name="X", **checks)
    except ValueError:
        # scikit-learn does not say where infinity is.
        check_finite(rows, getattr(rows if header is None else header, "columns", None))
        raise
    # A memory map may be larger than memory.
    if fill and reset and done is None and type(values) is np.ndarray and not isinstance(X, np.memmap):
        estimator._complete_rows = donor_rows(values, "neighbors")
    return values


def _without_missing(rows: Any, donors: Any) -> Any:
    """Rows of numbers whose missing values were filled in; what cannot be filled is left to the check of arrays."""
    values = rows
    if isinstance(rows, list | tuple):
        try:
            values = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError):
            return rows
    if type(values) is not np.ndarray or values.ndim != 2 or values.dtype.kind != "f" or not values.size:
        return rows
    if np.isnan(values).any() and not np.isinf(values).any():
        # A wrong number of columns is left to the check of arrays.
        fits = donors is not None and donors.shape[1] == values.shape[1]
        values, messages = filled_rows(values, donors if fits else None)
        for message in messages:
            warn_user(f"{message}.")
        rows = values
    return rows


def scaling_of(estimator: Any) -> str | None:
    """The scaling of the columns asked for; none by itself where words or dates stand beside numbers.

    These are on one scale already: each column of the table counts alike.
    """
    is_even = getattr(getattr(estimator, "table_", None), "divisors", None) is not None
    return None if is_even and estimator.scale == "auto" else estimator.scale


def tags_of_inputs(tags: Tags, kernel: Any, metric: Metric) -> Tags:
    """What scikit-learn wants to know of the data an estimator takes."""
    chosen = KERNELS[kernel]() if isinstance(kernel, str) and kernel in KERNELS else kernel
    takes_affinity = isinstance(chosen, Kernel) and chosen.is_pairwise
    needs_coordinates = isinstance(chosen, Kernel) and chosen.needs_coordinates
    tags.input_tags.pairwise = takes_affinity or metric == "precomputed"
    tags.input_tags.allow_nan = not tags.input_tags.pairwise
    tags.input_tags.sparse = bool(_accepted_sparse(takes_affinity, metric)) and not needs_coordinates
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
    """Raise for a kernel that needs coordinates if the points have none."""
    if kernel is not None and kernel.needs_coordinates and not is_dense(points):
        what = "sparse rows" if isinstance(points, SparsePoints) else f"metric={metric!r}"
        raise ValueError(
            f"{kernel!r} needs the coordinates of the points, which {what} do not give; use a kernel of neighbours "
            "such as 'shared_neighbors' or 'knn', or Gaussian(bandwidth=...) with one length or 'median'."
        )


def check_n_clusters(n_clusters: int | str | None, n_points: int, n_rows: int) -> None:
    """Raise for fewer distinct points than clusters; `n_rows` counts repeated points too."""
    if isinstance(n_clusters, Integral) and n_points < n_clusters:
        what = "points" if n_points == n_rows else f"distinct points among {n_rows} rows"
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_points} {what} given; ask for at most {n_points}."
        )


def check_sizes(estimator: Any, weights: Floats, is_supervised: bool) -> Bounds | None:
    """The limits on the weight of a cluster, checked; None without any."""
    given = {name: size for name in ("min_size", "max_size") if (size := getattr(estimator, name)) is not None}
    for name, size in given.items():
        if not (_is_number(size) and np.isfinite(size) and size > 0):
            raise ValueError(f"{name}={size!r} must be a positive number of rows (their weight), or None.")
    if not given:
        return None
    bounds = Bounds(weights, float(given.get("min_size", 0.0)), float(given.get("max_size", np.inf)))
    if bounds.smallest > bounds.largest:
        raise ValueError(f"min_size={given['min_size']!r} is more than max_size={given['max_size']!r}; exchange them.")
    if is_supervised:
        raise ValueError(
            "min_size and max_size cannot be combined with partial labels, must_link or cannot_link; leave one out."
        )
    if not isinstance(estimator.n_clusters, str):
        bounds.check(estimator.n_clusters)
    elif bounds.min_clusters > bounds.max_clusters:
        limits = " and ".join(f"{name}={size!r}" for name, size in given.items())
        cure = "widen the limits" if len(given) > 1 else "lower min_size"
        raise ValueError(f"no number of clusters fits {limits} for {weights.sum():g} rows; {cure}.")
    return bounds


def check_noise(noise: Any) -> None:
    """Raise unless it is None or a threshold of outlier scores."""
    if noise is not None and not (_is_number(noise) and 0 <= noise <= 1):
        raise ValueError(
            f"noise={noise!r} must be an outlier score from 0 to 1, above which rows are labelled -1, such as 0.5; or "
            "None."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def check_significance(significance: Any) -> None:
    """Raise unless it is None or a level between 0 and 1."""
    if significance is not None and not (_is_number(significance) and 0 < significance < 1):
        raise ValueError(
            f"significance={significance!r} must be a level between 0 and 1, such as 0.05, at which splits are tested; "
            "or None."
        )


def check_partial(estimator: Any, y: Any, n_rows: int) -> Ints | None:
    """Partial labels as numbers of clusters, -1 where unknown; None if there are none, or none is missing.

    Unknown are -1, NaN, None and the missing values of pandas. Names are numbered in their order (categories in
    theirs), and kept as `classes_` of the estimator. Complete labels say nothing about what to find: scikit-learn
    hands them to every estimator, for scoring.
    """
    if y is None:
        return None
    values, order = _with_order(y)
    if values.shape != (n_rows,):
        raise ValueError(f"y has shape {values.shape}; give one label for each of {n_rows} rows, -1 where unknown.")
    unknown = _is_unknown(values)
    if not unknown.any() or unknown.all():
        return None
    labels = np.full(n_rows, UNKNOWN, dtype=np.int64)
    known = values[~unknown]
    if any(isinstance(value, str) for value in known.tolist()) or order is not None:
        estimator.classes_ = _names(known, order, estimator.n_clusters)
        number = {name: place for place, name in enumerate(estimator.classes_.tolist())}
        labels[~unknown] = [number[name] for name in known.tolist()]
    else:
        labels[~unknown] = _numbers(known)
    return labels


def refuse_partial(estimator: Any, y: Any) -> None:
    """Raise for partial labels where nothing can be done with them; complete labels are ignored."""
    if y is None:
        return
    unknown = _is_unknown(_with_order(y)[0])
    if unknown.any() and not unknown.all():
        raise ValueError(
            f"y has no label for {unknown.sum()} of {len(unknown)} rows, but {type(estimator).__name__} cannot use "
            "partial labels; use KernelClustering or LandmarkClustering, or leave y out."
        )


def _with_order(y: Any) -> tuple[NDArray[Any], list[Any] | None]:
    """Labels as an array, and their order where they are categories of pandas."""
    categorical = y if hasattr(y, "categories") else getattr(y, "cat", None)
    order = getattr(categorical, "categories", None)
    return np.asarray(y), None if order is None else list(order)


def is_missing(labels: NDArray[Any]) -> Mask:
    """Where a label is NaN, None or a missing value of pandas, which answers no comparison."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=bool)
    missing = [
        value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)
        for value in labels.ravel().tolist()
    ]
    return np.array(missing, dtype=bool).reshape(labels.shape)


def _is_unknown(labels: NDArray[Any]) -> Mask:
    """Where a label is not known: -1, or missing."""
    unknown = is_missing(labels)
    if labels.dtype.kind in "iufO":
        unknown[~unknown] = np.array(labels[~unknown] == UNKNOWN, dtype=bool)
    return unknown


def _names(known: NDArray[Any], order: list[Any] | None, n_clusters: Any) -> NDArray[Any]:
    """The names among the labels, in their order."""
    numbers = [value for value in known.tolist() if not isinstance(value, str)]
    if order is None and numbers:
        raise ValueError(
            f"y holds words and {numbers[0]!r}; give words only, or whole numbers from 0, and -1 where unknown."
        )
    present = set(known.tolist())
    names = sorted(present) if order is None else [name for name in order if name in present]
    if not isinstance(n_clusters, str) and len(names) > n_clusters:
        raise ValueError(
            f"y names {len(names)} clusters ({some([str(name) for name in names])}), but n_clusters={n_clusters}; "
            f"ask for at least {len(names)}."
        )
    return np.array(names)


def _numbers(known: NDArray[Any]) -> Ints:
    """Labels that are whole numbers from 0."""
    for value in np.unique(known).tolist() if known.dtype.kind != "O" else known.tolist():
        if not isinstance(value, Real) or not float(value).is_integer() or value < 0:
            raise ValueError(
                f"y holds {value!r}; labels are whole numbers from 0 or words, and -1 (or NaN, or None) where unknown."
            )
    return known.astype(np.int64)
