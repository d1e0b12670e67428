"""What is diagnosed: points and labels, prepared as the estimators do it, and the neighbours of the points.

Noise is left out, columns are scaled, copies merged. Every clustering of the points is measured on the same neighbours.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array

from ..neighbors import METRICS, check_distances, check_finite, coordinates, is_dense, squared_distances
from ..neighbors.search import kneighbors, neighbor_graph
from ..points import SCALES, PreparedPoints, feature_scale, prepare_points
from ..points.prepare import check_weights
from ..selection import intrinsic_dimension
from ..tensors import AnyFloats, AnyInts, Floats, Ints, Mask, Places

_MIN_ROWS = 3


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
    def column_spread(self) -> float:
        """How many times the largest deviation of a column is the smallest; 1 under another metric."""
        if self.prepared.metric != "euclidean" or not isinstance(self.prepared.points, np.ndarray):
            return 1.0
        deviation = feature_scale(self.prepared.points, "standard", self.prepared.weights)
        return float(deviation.max() / deviation.min())

    def preparation(self) -> list[str]:
        """What was done to the rows, one sentence each; nothing where nothing was."""
        lines, divisor = [], self.prepared.divisor
        # A division of all columns by the same number changes nothing.
        if np.ptp(divisor) > 1e-9 * divisor.max():
            lines.append("Columns were divided by their standard deviations.")
        n_merged = int(np.sum(self.prepared.point_of_row >= 0)) - len(self.points)
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
    points = _checked_points(X, metric)
    named = _checked_labels(labels, points.shape[0])
    weights = check_weights(sample_weight, points.shape[0])
    real = _is_no_noise(named)
    weights = np.where(real, weights, 0.0)
    counted = np.flatnonzero(weights > 0)
    names, row_codes = np.unique(named[counted], return_inverse=True)
    _check_number(names, len(counted))
    prepared = prepare_points(points, weights, scale=scale, metric=metric)
    point_of_row, n_points = prepared.point_of_row[counted], len(prepared.weights)
    if n_points < _MIN_ROWS:
        raise ValueError(f"X holds only {n_points} distinct points that are not noise; give at least {_MIN_ROWS}.")
    codes = _heaviest(point_of_row, row_codes, weights[counted], n_points, len(names))
    return LabelledPoints(
        prepared=prepared,
        points=coordinates(prepared.points),
        names=names.tolist(),
        codes=codes,
        sizes=np.bincount(row_codes, weights[counted]).astype(np.float64),
        rows=prepared.first_row,
        n_noise=int(np.sum(~real)),
        n_split=int(np.sum(codes[point_of_row] != row_codes)),
        weighted=sample_weight is not None,
    )


def fitted_points(prepared: PreparedPoints, labels: Ints) -> LabelledPoints:
    """The points of a fitted model, as it prepared them, with their clusters."""
    names, codes = np.unique(labels, return_inverse=True)
    _check_number(names)
    n_points = len(prepared.weights)
    counts = np.bincount(prepared.point_of_row[prepared.point_of_row >= 0], minlength=n_points)
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
    accepted: Any = {"accept_sparse": "csr" if metric in ("euclidean", "cosine") else False, "input_name": "X"}
    rows = check_array(check_finite(X), dtype=[np.float64, np.float32], ensure_min_samples=_MIN_ROWS, **accepted)
    return check_distances(rows) if metric == "precomputed" else rows


def _check_number(names: NDArray[Any], n_rows: int | None = None) -> None:
    if n_rows is not None and len(names) == n_rows > 2:
        raise ValueError(
            f"labels hold {n_rows} different values for {n_rows} points: they look like names of rows, not clusters."
        )
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
            f"labels hold {fractions[0]:.6g}, which is not a whole number: they look like measurements, not clusters. "
            "Give whole numbers or words; labels.astype(str) makes words of them."
        )
    return names


def _is_no_noise(labels: NDArray[Any]) -> Mask:
    """All but the number -1, also where tables turned it into text."""
    if labels.dtype.kind in "US":
        return np.asarray(labels != np.array("-1").astype(labels.dtype.kind))
    return labels != -1 if labels.dtype.kind in "if" else np.ones(len(labels), bool)


def _heaviest(point_of_row: Places, codes: Ints, weights: Floats, n_points: int, n_clusters: int) -> Ints:
    """The cluster that has most of the weight of each point; of equals the first."""
    pairs, place = np.unique(point_of_row * n_clusters + codes, return_inverse=True)
    total = np.bincount(place, weights)
    point, code = np.divmod(pairs, n_clusters)
    order = np.lexsort((-code, total, point))  # the last of each point is the heaviest, of equals the first cluster
    heaviest = np.empty(n_points, dtype=np.int64)
    heaviest[point[order]] = code[order]
    return heaviest


#: Neighbours of the graph on which borders and conductance are measured.
GRAPH_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class NeighborTable:
    """The points without their labels: what every clustering of them is judged on.

    Attributes
    ----------
    X, weights : ndarray
        All points and what each stands for, one in the mean.
    has_copies : ndarray
        Whether each stands for two rows or more.
    drawn : ndarray
        The points looked at.
    distances, indices : ndarray
        Neighbours of those, the point itself first.
    graph : CSR array
        Their neighbour graph; an edge weighs the mean of its two ends.
    dimension : float
        Intrinsic dimension of the data.
    mean_weight : float
        By which the weights were divided.
    """

    X: AnyFloats
    weights: Floats
    has_copies: Mask
    drawn: Places
    distances: Floats
    indices: AnyInts
    graph: sparse.csr_array
    dimension: float
    mean_weight: float
    n_jobs: int | None

    @property
    def n_neighbors(self) -> int:
        """Neighbours of each point in the graph."""
        return min(GRAPH_NEIGHBORS, self.indices.shape[1] - 1)


def measure_points(X: AnyFloats, weights: Floats, drawn: Places, n_jobs: int | None = None) -> NeighborTable:
    """Neighbours and graph of the points `drawn`."""
    points, has_copies, mean_weight = X[drawn], weights >= 2, float(weights.mean())
    weights = weights / mean_weight
    # For the estimate of density: the more points, the more neighbours.
    n_known = min(len(points) - 1, max(GRAPH_NEIGHBORS, round(len(points) ** 0.4)))
    distances, indices = kneighbors(points, n_known + 1, n_jobs=n_jobs)
    dimension = min(max(1.0, intrinsic_dimension(distances)), float(X.shape[1]))
    graph = _graph(indices[:, 1 : GRAPH_NEIGHBORS + 1], weights[drawn])
    return NeighborTable(X, weights, has_copies, drawn, distances, indices, graph, dimension, mean_weight, n_jobs)


def _graph(indices: AnyInts, weights: Floats) -> sparse.csr_array:
    """The symmetric graph of neighbours, without loops; an edge weighs the mean of its two ends."""
    n_points, n_neighbors = indices.shape
    entries = (np.ones(indices.size), indices.ravel(), np.arange(0, indices.size + 1, n_neighbors))
    one_way = sparse.csr_array(entries, shape=(n_points, n_points))
    both = sparse.csr_array(one_way + one_way.T)
    both.setdiag(0)
    both.eliminate_zeros()
    p, q = edges(both)
    both.data = (weights[p] + weights[q]) / 2
    return both


def edges(graph: sparse.csr_array) -> tuple[AnyInts, AnyInts]:
    """Both ends of every edge, each edge in both directions."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


#: Distances computed to rank the points nearest to another piece; above it only the nearest are ranked.
_MAX_DISTANCES = 2_000_000


def joining_neighbors(X: AnyFloats, graph: sparse.csr_array, neighbors: AnyInts, used: int) -> tuple[int, int | None]:
    """Number of connected pieces of `graph`, and the smallest neighbour count that joins them all.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    graph : CSR array
        Its graph with `used` neighbours of each point, in either direction.
    neighbors : ndarray of shape (n_samples, n_known)
        At least `used` neighbours of each point, nearest first, the point itself not among them.
    used : int

    Returns
    -------
    n_pieces : int
    n_neighbors : int or None
        `used` if there is one piece; None if many pieces lie beyond all the neighbours known. For very
        large data it is an upper bound, for it ranks only the points nearest to other pieces.
    """
    n_pieces = connected_components(graph, directed=False)[0]
    if n_pieces == 1:
        return n_pieces, used

    def pieces(count: int) -> tuple[int, AnyInts]:
        return connected_components(neighbor_graph(neighbors[:, :count], "union"), directed=False)

    counts = range(used, neighbors.shape[1] + 1)
    n_left, piece = pieces(counts[-1])
    if n_left == 1:
        return n_pieces, counts[bisect_left(counts, True, key=lambda count: pieces(count)[0] == 1)]
    # So many pieces are not ranked one by one.
    if n_left > 32:
        return n_pieces, None
    count = counts[-1]
    while n_left > 1:
        # Every piece but the largest is joined to the one that takes the fewest neighbours.
        smaller = np.delete(np.arange(n_left), np.bincount(piece).argmax())
        ranks, targets = zip(*(_cheapest_link(X, piece == k, piece) for k in smaller))
        count = max(count, *ranks)
        joined = sparse.csr_array((np.ones(len(smaller)), (smaller, np.array(targets))), shape=(n_left, n_left))
        n_left, group = connected_components(joined, directed=False)
        piece = group[piece]
    return n_pieces, count


def _cheapest_link(X: AnyFloats, inside: Mask, piece: AnyInts) -> tuple[int, int]:
    """Fewest neighbours by which the piece `inside` and another one are linked, and that other piece."""
    members, outsiders = np.flatnonzero(inside), np.flatnonzero(~inside)
    gap, nearest = kneighbors(X[outsiders], 1, at=X[members], method="exact")
    order = np.argsort(gap[:, 0], kind="stable")[: max(16, _MAX_DISTANCES // len(X))]
    gap, ends = gap[order, 0], (members[order], outsiders[nearest[order, 0]])
    ranks = np.minimum(*(_rank(X, centres, gap) for centres in ends))
    best = int(np.argmin(ranks))
    return int(ranks[best]), int(piece[ends[1][best]])


def _rank(X: AnyFloats, centres: AnyInts, radius: Floats) -> AnyInts:
    """How many other points lie within this radius of each centre."""
    step = max(1, _MAX_DISTANCES // len(X))
    counts = [
        np.sum(squared_distances(X, X[centres[i : i + step]]) <= radius[i : i + step] ** 2 * (1 + 1e-9), axis=0)
        for i in range(0, len(centres), step)
    ]
    return np.concatenate(counts) - 1
