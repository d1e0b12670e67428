"""What an estimator of landmarks is given: rows as blocks, how many landmarks, and weights as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..landmarks import RowBlocks, default_landmarks, row_blocks
from ..landmarks.blocks import is_lazy
from ..tensors import Ints, is_tensor
from .inputs import check_rows

__all__ = ["check_enough", "count_landmarks", "rows_of", "whole_masses"]

_MOST_LANDMARK_ENTRIES = 50_000_000
# Weights of all rows, as whole numbers, must leave room for the products they are multiplied with in 64 bits.
_MOST_MASS = 2.0**32


def rows_of(estimator: Any, X: Any, *, reset: bool, count: bool = True) -> RowBlocks:
    """The data as blocks, once their columns are those expected; the values are checked block by block."""
    if is_tensor(X):
        return row_blocks(X)
    if isinstance(X, RowBlocks):
        if reset:
            estimator.n_features_in_ = X.n_features
        elif X.n_features != estimator.n_features_in_:
            raise ValueError(f"X has {X.n_features} features, but {estimator.n_features_in_} were fitted.")
        return X
    if is_lazy(X):
        from ..landmarks.dask import dask_blocks

        rows: RowBlocks = dask_blocks(X, count=count)
        validate_data(estimator, X._meta if hasattr(X, "columns") else X, reset=reset, skip_check_array=True)
        return rows
    X = check_rows(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
    )
    return row_blocks(X, estimator.n_jobs)


def count_landmarks(asked: int | str, n_clusters: int | str, n_rows: int, n_features: int, is_sparse: bool) -> int:
    """How many landmarks to choose, once it is seen that there can be so many.

    Examples
    --------
    >>> count_landmarks("auto", 3, 4000, 2, False)
    1890
    """
    is_auto = isinstance(asked, str)
    n_clusters = 1 if isinstance(n_clusters, str) else n_clusters
    n_landmarks = default_landmarks(n_rows, n_features, n_clusters) if isinstance(asked, str) else int(asked)
    if n_landmarks > n_rows:
        raise ValueError(
            f"n_landmarks={n_landmarks} is more than the {n_rows} rows given; ask for at most {n_rows}, "
            "or leave it to 'auto'."
        )
    if n_landmarks < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_landmarks} landmarks; ask for fewer clusters"
            f"{'' if is_auto else ' or more landmarks'}."
        )
    if n_landmarks * n_features > _MOST_LANDMARK_ENTRIES and not is_sparse:
        raise ValueError(
            f"{n_landmarks} landmarks of {n_features} features are too many numbers; reduce the features first "
            "(sklearn.decomposition.TruncatedSVD takes sparse rows) or ask for fewer landmarks."
        )
    return n_landmarks


def check_enough(n_clusters: int | str, n_landmarks: int) -> None:
    """Refuse more clusters than there are distinct points for landmarks."""
    if not isinstance(n_clusters, str) and n_landmarks < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_landmarks} distinct points found for "
            f"landmarks; ask for at most {n_landmarks} clusters."
        )


def whole_masses(sample_weight: Any, X: Any, rows: RowBlocks) -> tuple[Ints | None, float]:
    """Weights as whole numbers of a unit, so that sums do not depend on their order, and that unit."""
    if sample_weight is None:
        return None, 1.0
    if is_lazy(X):
        raise TypeError("sample_weight does not go with a Dask collection; pass an array, or repeat the rows.")
    one_column = np.empty((rows.n_rows, 1))
    weights = _check_sample_weight(sample_weight, one_column, dtype=np.float64, ensure_non_negative=True)
    total = float(weights.sum())
    unit = 1.0
    if (weights % 1).any() or total >= _MOST_MASS:
        unit = 2.0 ** (np.ceil(np.log2(total)) - np.log2(_MOST_MASS))
    return np.round(weights / unit).astype(np.int64), unit
