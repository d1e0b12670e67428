"""The points and labels that are judged: noise left out, columns scaled and copies merged as the estimators do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from ..neighbors import METRICS, check_distances, check_finite, coordinates, is_dense
from ..points import SCALES, PreparedPoints, feature_scale, prepare
from ..tensors import AnyFloats, Floats, Ints, Mask, Places

_FEWEST = 3


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Distinct points with one cluster each, and how the rows given became them.

    Parameters
    ----------
    prepared : PreparedPoints
        Of the rows that are neither noise nor of weight zero, in their own metric.
    points : ndarray of shape (n_points, n_coordinates)
        The same points by the coordinates that they are judged by.
    names : list
        Of the clusters, as given.
    codes : ndarray of shape (n_points,)
        Cluster of each point: the one of most of its weight.
    sizes : ndarray
        Weight of the rows of each cluster.
    rows : ndarray of shape (n_points,)
        The row of each point in an affinity that comes with the labels.
    n_noise, n_split : int
        Rows left out as noise; rows whose point is mostly another cluster's.
    weighted : bool
        Whether the rows had weights.
    """

    prepared: PreparedPoints
    points: AnyFloats
    names: list[Any]
    codes: Ints
    sizes: Floats
    rows: Places
    n_noise: int
    n_split: int
    weighted: bool

    @property
    def n_given(self) -> int:
        """Rows given."""
        return len(self.prepared.of_row)

    @property
    def is_scaled(self) -> bool:
        """Whether the columns were brought to one unit; a division of all by the same number is none."""
        divisor = self.prepared.divisor
        return bool(np.ptp(divisor) > 1e-9 * divisor.max())

    @property
    def column_spread(self) -> float:
        """How many times the largest deviation of a column is the smallest; 1 under another metric."""
        if self.prepared.metric != "euclidean" or not isinstance(self.prepared.points, np.ndarray):
            return 1.0
        deviation = feature_scale(self.prepared.points, "standard", self.prepared.weights)
        return float(deviation.max() / deviation.min())

    def preparation(self) -> list[str]:
        """What was done to the rows, one sentence each; nothing where nothing was."""
        lines = []
        if self.is_scaled:
            lines.append("Columns were divided by their standard deviations.")
        n_merged = int(np.sum(self.prepared.of_row >= 0)) - len(self.points)
        if n_merged:
            lines.append(f"{n_merged} repeated rows were merged: {len(self.points)} distinct points with weights.")
        if self.n_split:
            lines.append(
                f"{self.n_split} rows have a copy with another label; each point counts as the cluster of most of its "
                "copies."
            )
        return lines


def labelled_points(
    X: Any, labels: ArrayLike, sample_weight: ArrayLike | None, scale: str | None, metric: str = "euclidean"
) -> LabelledPoints:
    """Check and prepare what was given; raises where it is not a clustering of at least two clusters."""
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is not known; choose one of {list(SCALES)}.")
    given = _checked_points(X, metric)
    named = _checked_labels(labels, given.shape[0])
    weights = _checked_weights(sample_weight, given.shape[0])
    real = _is_no_noise(named)
    weights = np.where(real, weights, 0.0)
    kept = np.flatnonzero(weights > 0)
    names, row_codes = np.unique(named[kept], return_inverse=True)
    _check_number(names)
    prepared = prepare(given, weights, scale=scale, metric=metric)
    of_row, n_points = prepared.of_row[kept], len(prepared.weights)
    if n_points < _FEWEST:
        raise ValueError(f"X holds only {n_points} distinct points that are not noise; give at least {_FEWEST}.")
    codes = _heaviest(of_row, row_codes, weights[kept], n_points, len(names))
    return LabelledPoints(
        prepared=prepared,
        points=coordinates(prepared.points),
        names=names.tolist(),
        codes=codes,
        sizes=np.bincount(row_codes, weights[kept]).astype(np.float64),
        rows=prepared.first_row,
        n_noise=int(np.sum(~real)),
        n_split=int(np.sum(codes[of_row] != row_codes)),
        weighted=sample_weight is not None,
    )


def fitted_points(prepared: PreparedPoints, labels: Ints) -> LabelledPoints:
    """The points of a fitted model, as it prepared them, with their clusters."""
    names, codes = np.unique(labels, return_inverse=True)
    _check_number(names)
    n_points = len(prepared.weights)
    counts = np.bincount(prepared.of_row[prepared.of_row >= 0], minlength=n_points)
    return LabelledPoints(
        prepared=prepared,
        points=coordinates(prepared.points),
        names=names.tolist(),
        codes=codes,
        sizes=np.bincount(codes, prepared.weights).astype(np.float64),
        rows=np.arange(n_points),
        n_noise=0,
        n_split=0,
        weighted=not np.array_equal(counts, prepared.weights),
    )


def _checked_points(X: Any, metric: str) -> Any:
    """Rows, or distances, as the estimators take them, so that a cure is tried on the very same values."""
    if not callable(metric) and metric not in METRICS:
        raise ValueError(f"metric={metric!r} is not known; choose one of {METRICS}.")
    if not is_dense(X):
        return coordinates(X)
    sparse = "csr" if metric in ("euclidean", "cosine") else False
    kinds = [np.float64, np.float32]
    rows = check_array(check_finite(X), accept_sparse=sparse, dtype=kinds, ensure_min_samples=_FEWEST, input_name="X")
    return check_distances(rows) if metric == "precomputed" else rows


def _check_number(names: NDArray[Any]) -> None:
    if len(names) < 2:
        raise ValueError(
            f"labels hold {len(names)} cluster{'' if len(names) == 1 else 's'}, noise left out; a bias shows in how "
            "clusters part, so give at least 2."
        )


def _checked_labels(labels: ArrayLike, n_rows: int) -> NDArray[Any]:
    names: NDArray[Any] = np.asarray(labels)
    if names.shape != (n_rows,):
        raise ValueError(
            f"labels have shape {names.shape}, but X has {n_rows} points; give one label for each point, in order."
        )
    if names.dtype.kind == "O":
        names = np.array([str(name) if isinstance(name, str) else name for name in names])
    if names.dtype.kind == "f" and not np.isfinite(names).all():
        raise ValueError("labels contain NaN or infinity; mark noise with -1.")
    if names.dtype.kind == "f" and (fractions := names[names != np.round(names)]).size:
        raise ValueError(
            f"labels hold {fractions[0]:.6g}, which is no whole number: they look like measurements, not clusters. "
            "Give whole numbers or words; labels.astype(str) makes words of them."
        )
    return names


def _checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} points; give one weight for each point."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight has negative, NaN or infinite values; weights count how often a row occurs.")
    return weights


def _is_no_noise(labels: NDArray[Any]) -> Mask:
    """All but the number -1, also where tables turned it into text."""
    if labels.dtype.kind in "US":
        return ~np.isin(labels, np.array(["-1"], dtype=labels.dtype))
    return labels != -1 if labels.dtype.kind in "if" else np.ones(len(labels), bool)


def _heaviest(of_row: Places, codes: Ints, weights: Floats, n_points: int, n_clusters: int) -> Ints:
    """The cluster that has most of the weight of each point; of equals the first."""
    pairs, place = np.unique(of_row * n_clusters + codes, return_inverse=True)
    total = np.bincount(place, weights)
    point, code = np.divmod(pairs, n_clusters)
    order = np.lexsort((-code, total, point))  # the last of each point is the heaviest, of equals the first cluster
    found = np.empty(n_points, dtype=np.int64)
    found[point[order]] = code[order]
    return found
