r"""Rows of an estimator of landmarks: their checks, their number of landmarks, and the certainty of their labels.

The share of cluster k in row p is the mean :math:`\sum_j B_{pj} s_{jk}` of the shares of links of its landmarks j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ..affinity import as_affinity
from ..landmarks import Attachment, LandmarkGraph, RowBlocks, default_landmarks, row_blocks
from ..landmarks.blocks import is_lazy
from ..points.prepare import check_weights
from ..tensors import Floats, Ints, asarray_like, is_tensor, to_array
from .certainty import N_NEAREST, Certainty, fit_certainty
from .inputs import check_rows


def rows_of(estimator: Any, X: Any, *, reset: bool, count: bool = True) -> RowBlocks:
    """The data as blocks, once their columns are those expected; the values are checked in blocks."""
    if is_tensor(X):
        estimator.n_features_in_ = X.shape[1] if reset else estimator.n_features_in_
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
    X = check_rows(estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    return row_blocks(X, estimator.n_jobs)


def count_landmarks(
    n_landmarks: int | str, n_clusters: int | str, n_rows: int, n_features: int, is_sparse: bool
) -> int:
    """How many landmarks to choose, once it is seen that there can be so many.

    Examples
    --------
    >>> count_landmarks("auto", 3, 4000, 2, False)
    1890
    """
    n_clusters, is_auto = 1 if isinstance(n_clusters, str) else n_clusters, isinstance(n_landmarks, str)
    if isinstance(n_landmarks, str):
        n_landmarks = default_landmarks(n_rows, n_features, n_clusters)
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
    if n_landmarks * n_features > 50_000_000 and not is_sparse:
        raise ValueError(
            f"{n_landmarks} landmarks of {n_features} features are too many numbers; reduce the features first "
            "(sklearn.decomposition.TruncatedSVD takes sparse rows) or ask for fewer landmarks."
        )
    return n_landmarks


def whole_masses(sample_weight: Any, X: Any, rows: RowBlocks) -> tuple[Ints | None, float]:
    """Weights as whole numbers of a unit, so that sums do not depend on their order, and that unit."""
    if sample_weight is None:
        return None, 1.0
    if is_lazy(X):
        raise TypeError("sample_weight does not go with a Dask collection; pass an array, or repeat the rows.")
    weights = check_weights(sample_weight, rows.n_rows)
    total = float(weights.sum())
    unit = 1.0
    # The sum of the whole numbers must leave room for products in 64 bits.
    if (weights % 1).any() or total >= 2.0**32:
        unit = 2.0 ** (np.ceil(np.log2(total)) - 32)
    return np.round(weights / unit).astype(np.int64), unit


def measure_certainty(graph: LandmarkGraph, attachment: Attachment) -> Certainty:
    """The model of certainty of the landmarks.

    Parameters
    ----------
    graph : LandmarkGraph
        The graph that was clustered.
    attachment : Attachment
        With the clusters of the landmarks.
    """
    # At most 20 000 rows of the sample give the distances that are typical of a cluster.
    rows = graph.pilot[:: -(-graph.pilot.shape[0] // 20_000)]
    assert attachment.labels is not None
    distances, row_labels = attachment.mean_distances(rows, N_NEAREST), to_array(attachment.predict(rows))
    weights = np.ones(len(attachment.labels))
    return fit_certainty(as_affinity(graph.affinity), attachment.labels, weights, distances, row_labels)[0]


def score_rows(attachment: Attachment, certainty: Certainty, rows: Any, first: int) -> Floats:
    """Outlier scores of a block of rows."""
    distances = attachment.to_kind_of(rows).mean_distances(rows, N_NEAREST)
    return certainty.outlier_scores(distances, to_array(attachment.predict(rows)))


def row_probabilities(attachment: Attachment, certainty: Certainty, rows: Any, first: int) -> Floats:
    """Probabilities of the clusters for a block of rows."""
    scores = score_rows(attachment, certainty, rows, first)
    support = to_array(attachment.averaged(rows, asarray_like(rows, certainty.support)))
    return certainty.probabilities(support, scores)


def measure_rows(attachment: Attachment, certainty: Certainty, rows: Any, first: int) -> Floats:
    """Probability of its cluster and outlier score of each row of a block."""
    labels, columns = to_array(attachment.predict(rows)), np.empty((rows.shape[0], 2))
    # Four million probabilities at a time.
    step = max(1, 4_000_000 // certainty.n_clusters)
    for begin in range(0, rows.shape[0], step):
        block = slice(begin, begin + step)
        columns[block, 1] = score_rows(attachment, certainty, rows[block], first)
        probabilities = row_probabilities(attachment, certainty, rows[block], first)
        columns[block, 0] = probabilities[np.arange(len(probabilities)), labels[block]]
    return columns
