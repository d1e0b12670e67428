"""Checks of parameters that say what was given, what is allowed, and the cure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["check_choice", "check_count", "check_n_clusters", "memory_advice", "subset"]


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


def check_n_clusters(n_clusters: int, points: Any, *, pairwise: bool) -> None:
    """Raise where there are fewer points, or fewer distinct points, than clusters."""
    n_distinct, what = points.shape[0], "points"
    if not pairwise:
        # A look at the first rows usually settles it; only then are all compared.
        for rows in (points[: 4 * n_clusters + 1000], points):
            n_distinct, what = len(np.unique(rows, axis=0)), "distinct points"
            if n_distinct >= n_clusters:
                return
    if n_distinct < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_distinct} {what} given; "
            f"ask for at most {n_distinct} clusters."
        )


def subset(X: Any, kept: NDArray[np.intp], pairwise: bool) -> Any:
    """The rows kept, in that order (of an affinity, rows and columns); X itself where these are all as they are."""
    if len(kept) == X.shape[0] and (kept[1:] > kept[:-1]).all():
        return X
    if sparse.issparse(X):
        return sparse.csr_array(X)[kept][:, kept]
    return X[np.ix_(kept, kept)] if pairwise else X[kept]


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
