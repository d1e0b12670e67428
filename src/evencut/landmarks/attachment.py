r"""How points are linked to landmarks: a sparse matrix B of the weights of each point's nearest landmarks.

B is never held as a whole; a block of rows gives its share of the landmark graph B'B, or its labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..affinity import knn_radius
from ..neighbors import NeighborSearch, points_in
from ..tensors import AnyFloats, AnyInts, Floats, Ints, array_namespace, asarray_like, is_tensor, one_hot, to_array

# Weights are whole multiples of 2^-15, so that their products add up exactly, in any order, for 2^33 rows.
_UNIT = 2**15
_ROWS_ON_DEVICE = 1 << 19


@dataclass(frozen=True, eq=False)
class Attachment:
    r"""The weights of a point's nearest landmarks, locally scaled and summing to one.

    .. math:: B_{pj} \propto \exp\left(-\frac{d_{pj}^2}{R_p \, R_j}\right)

    over the `n_nearest` landmarks j nearest to point p, with :math:`R_p` the distance to the farthest of them
    and :math:`R_j` the distance of the landmark to its 8th neighbour among the landmarks.

    Parameters
    ----------
    landmarks : ndarray or tensor of shape (n_landmarks, n_features), or SparsePoints
        In units of `feature_scale`; rows on a device are attached there.
    radius : ndarray or tensor of shape (n_landmarks,)
    n_nearest : int
    feature_scale : ndarray of shape (n_features,)
        What each column of a row is divided by.
    labels : ndarray of shape (n_landmarks,), optional
        Clusters of the landmarks, once they are known.
    metric : {"euclidean", "cosine"}
        By which rows are compared with landmarks.
    """

    landmarks: Any
    radius: Floats
    n_nearest: int
    feature_scale: Floats
    labels: Ints | None = None
    metric: str = "euclidean"

    @classmethod
    def to(
        cls,
        landmarks: Any,
        n_nearest: int,
        feature_scale: Floats | None = None,
        metric: str = "euclidean",
    ) -> Attachment:
        """Attachment to the landmarks given, which are distinct."""
        n_nearest = min(n_nearest, len(landmarks))
        scale = np.ones(landmarks.shape[1]) if feature_scale is None else feature_scale
        return cls(landmarks, knn_radius(landmarks, 8), n_nearest, scale, metric=metric)

    def labelled(self, labels: Ints) -> Attachment:
        """The same with clusters for the landmarks."""
        return replace(self, labels=labels)

    @property
    def in_memory(self) -> Attachment:
        """The same with the landmarks in the memory of the CPU."""
        if not is_tensor(self.landmarks):
            return self
        return replace(self, landmarks=to_array(self.landmarks), radius=to_array(self.radius))

    def to_kind_of(self, rows: Any) -> Attachment:
        """The same with the landmarks of the kind of the rows, where these are."""
        if is_tensor(self.landmarks) or not is_tensor(rows):
            return self if is_tensor(rows) else self.in_memory
        landmarks = asarray_like(rows, self.landmarks).to(rows.dtype)
        return replace(self, landmarks=landmarks, radius=asarray_like(rows, self.radius))

    def graph(self, rows: Any, first: int = 0, mass: Ints | None = None) -> sparse.csr_array:
        r"""Share of the block in the upper triangle of :math:`B^T B`, in units of 2^-30: whole numbers.

        `mass` holds whole numbers by which rows count, one for all rows of the data; the block begins at `first`.
        """
        counts = np.ones(rows.shape[0], dtype=np.int64) if mass is None else mass[first : first + rows.shape[0]]
        if is_tensor(rows):
            return self._graph_on_device(rows, asarray_like(rows, counts))
        n_landmarks = len(self.landmarks)
        graph = sparse.csr_array((n_landmarks, n_landmarks), dtype=np.int64)
        for place, indices, units in self._weights(rows):
            ends, shape = np.arange(0, units.size + 1, units.shape[1]), (len(units), n_landmarks)
            weights = sparse.csr_array((units.ravel(), indices.ravel(), ends), shape=shape)
            counted = sparse.csr_array(((units * counts[place, None]).ravel(), indices.ravel(), ends), shape=shape)
            graph += weights.T @ counted
        return sparse.triu(graph, format="csr")

    def _graph_on_device(self, rows: Any, counts: Any) -> sparse.csr_array:
        from ..gpu.graph import add_pairs, merge_pairs

        n_landmarks = len(self.landmarks)
        xp = array_namespace(rows)
        weights = self._weights(rows)
        parts = [add_pairs(indices, units, counts[place], n_landmarks) for place, indices, units in weights]
        keys, sums = (to_array(merged) for merged in merge_pairs(*(xp.concatenate(each) for each in zip(*parts))))
        return sparse.csr_array((sums, np.divmod(keys, n_landmarks)), shape=(n_landmarks,) * 2)

    def predict(self, rows: Any, first: int = 0) -> Ints:
        """Clusters of the rows: the one with the most weight among a row's landmarks."""
        assert self.labels is not None
        n_clusters = int(self.labels.max()) + 1
        if is_tensor(rows):
            from ..gpu.graph import vote as vote_there

            known = asarray_like(rows, self.labels)
            weights = self.to_kind_of(rows)._weights(rows)
            votes = [vote_there(indices, units, known, n_clusters) for _, indices, units in weights]
            return array_namespace(rows).concatenate(votes)
        attachment = self.in_memory
        tables = attachment._nearest(rows)
        return np.concatenate([attachment._voted(distances, nearest) for _, distances, nearest in tables])

    def _voted(self, distances: AnyFloats, nearest: AnyInts) -> Ints:
        """The cluster with the most weight among the nearest landmarks of each row; among equals the first."""
        assert self.labels is not None
        labels = self.labels[nearest]
        chosen = labels[:, 0].copy()
        # Mostly all landmarks of a row are in one cluster, whatever they weigh.
        split = np.flatnonzero((labels != chosen[:, None]).any(axis=1))
        some, units = labels[split], _weigh(distances[split], self.radius[nearest[split]])
        total = ((some[:, :, None] == some[:, None, :]) * units[:, None, :]).sum(axis=2)
        is_largest = total == total.max(axis=1, keepdims=True)
        chosen[split] = np.where(is_largest, some, np.iinfo(np.int64).max).min(axis=1)
        return chosen

    def votes(self, rows: Any, first: int, labels: Ints, n_clusters: int) -> Ints:
        """How many rows of the block with each label (column) have each landmark nearest.

        `labels` holds one for all rows of the data, negative where it is not known; the block begins at `first`.
        """
        row_labels = labels[first : first + rows.shape[0]]
        known = np.flatnonzero(row_labels >= 0)
        votes = np.zeros((len(self.landmarks), n_clusters), dtype=np.int64)
        if known.size:
            nearest = self._search.query(self._points(rows[known]), 1)[1][:, 0]
            np.add.at(votes, (nearest, row_labels[known]), 1)
        return votes

    def shares(self, rows: Any, first: int = 0) -> Floats:
        """The share of each cluster (column) in the weights of each row's landmarks."""
        assert self.labels is not None
        known = asarray_like(rows, self.labels) if is_tensor(rows) else self.labels
        return self.averaged(rows, one_hot(known, int(self.labels.max()) + 1))

    def averaged(self, rows: Any, field: Any) -> Any:
        """The mean of a field of the landmarks (n_landmarks, n_columns) over those of each row, by their weights."""
        means = []
        for _, indices, units in self.to_kind_of(rows)._weights(rows):
            sums = sum(units[:, place, None] * field[indices[:, place]] for place in range(indices.shape[1]))
            means.append(sums / units.sum(axis=1)[:, None])
        return array_namespace(field).concatenate(means)

    def mean_distances(self, rows: NDArray[Any], n_nearest: int) -> Floats:
        """Mean distance of each row to the landmarks that are nearest."""
        means = [to_array(distances.mean(axis=1)) for _, distances, _ in self._nearest(rows, n_nearest)]
        return np.concatenate(means)

    def _weights(self, rows: Any) -> Iterator[tuple[slice, AnyInts, Ints]]:
        """Slice by slice, the nearest landmarks of the rows and their weights in units of 2^-15."""
        if is_tensor(rows):
            yield from self._weights_on_device(rows)
            return
        for place, distances, nearest in self._nearest(rows):
            yield place, nearest, _weigh(distances, self.radius[nearest])

    def _nearest(self, rows: Any, n_nearest: int | None = None) -> Iterator[tuple[slice, AnyFloats, AnyInts]]:
        """Slice by slice, the distances and numbers of the landmarks nearest to the rows."""
        n_nearest = min(n_nearest or self.n_nearest, len(self.landmarks))
        step = max(1, 4_000_000 // max(rows.shape[1], 4 * n_nearest))
        for begin in range(0, rows.shape[0], step):
            place = slice(begin, begin + step)
            yield place, *self._search.query(self._points(rows[place]), n_nearest)

    def _weights_on_device(self, rows: Any) -> Iterator[tuple[slice, Any, Any]]:
        from ..gpu.arrays import same_device
        from ..gpu.graph import weigh

        same_device(X=rows, landmarks=self.landmarks)
        for begin in range(0, len(rows), _ROWS_ON_DEVICE):
            place = slice(begin, begin + _ROWS_ON_DEVICE)
            distances, indices = self._search.query(self._points(rows[place]), self.n_nearest)
            yield place, indices, weigh(distances, self.radius, indices, _UNIT)

    def _points(self, rows: Any) -> Any:
        """Rows of the data as points beside the landmarks."""
        if is_tensor(rows):
            scale = asarray_like(rows, self.feature_scale)
            return rows if (scale == 1).all() else (rows.double() / scale).to(rows.dtype)
        is_dense = isinstance(self.landmarks, np.ndarray)
        if sparse.issparse(rows) == is_dense:
            rows = rows.toarray() if is_dense else sparse.csr_array(rows)
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        if np.any(self.feature_scale != 1):
            rows = rows / self.feature_scale
        return points_in(rows, self.metric)

    @cached_property
    def _search(self) -> NeighborSearch:
        # Exact: the landmarks of a row must not depend on the rows searched with it.
        return NeighborSearch(self.landmarks, method="exact")

    def __getstate__(self) -> dict[str, Any]:
        # The search is made again when rows are read.
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _weigh(distances: AnyFloats, radius: Floats) -> Ints:
    """Weights of landmarks at some distances, with their radii, as whole numbers that sum to about `_UNIT`."""
    farthest = distances.max(axis=1, keepdims=True)
    # The two ratios are small where the square of a distance might leave the range of floats.
    exponent = distances / np.where(farthest > 0, farthest, 1.0) * (distances / radius)
    weights = np.exp(exponent.min(axis=1, keepdims=True) - exponent)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.rint(weights * _UNIT).astype(np.int64)


def symmetric_graph(upper: sparse.csr_array, mass_unit: float = 1.0) -> sparse.csr_array:
    r"""The symmetric landmark graph :math:`B^T B` from the sum of the blocks' upper triangles."""
    upper = upper.astype(np.float64) * (mass_unit / _UNIT**2)
    return sparse.csr_array(upper + upper.T - sparse.diags_array(upper.diagonal()))
