"""Fits to a sample: that of a whole table, or what the batches of a stream have left; both are the same."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..landmarks import RowBlocks, RowReservoir, default_landmarks, draw_rows, landmark_graph, sample_rows
from ..neighbors import SparsePoints
from ..tensors import Ints, is_tensor, to_array
from .fitting import warn_of_early_stop
from .inputs import scaling_of, seed_from
from .landmark_inputs import check_enough, count_landmarks, rows_of
from .matching import match_codes

__all__ = ["StreamMixin"]

# The sample is as large as that of a table of so many rows, which have the most landmarks.
_MANY_ROWS = 10**6


class StreamMixin:
    """How an estimator of landmarks is fitted to a sample of rows, and `partial_fit`."""

    n_clusters: Any
    n_landmarks: Any
    n_nearest: int
    landmark_density: Any
    metric: str
    scale: str | None
    max_iter: int
    random_state: Any
    n_jobs: int | None
    attachment_: Any
    labels_: Any
    _fitted_rows: Any
    _check_parameters: Any
    _earlier: Any = None
    _solve: Any

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one more batch of a stream; memory stays, however many there are.

        What is kept is a sample of all rows so far, the distinct ones whose values have the smallest hashes, and the
        clusters are those of the sample. :meth:`fit` keeps the same sample: the batches may come in any order and of
        any size, and the model is that of one fit to all rows. `stream_.n_seen` counts the rows; `labels_` are those of
        the batch. Clusters keep the numbers that they had after the batches before.

        Parameters
        ----------
        X : array, frame, sparse matrix or RowBlocks of shape (n_rows, n_features)
            The first batch must hold as many distinct rows as there are clusters.
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from evencut import LandmarkClustering
        >>> from sklearn.datasets import make_blobs
        >>> from sklearn.metrics import adjusted_rand_score
        >>> X, _ = make_blobs(3000, centers=5, random_state=0)
        >>> model = LandmarkClustering(5, random_state=0)
        >>> for batch in (X[2000:], X[:1000], X[1000:2000]):
        ...     _ = model.partial_fit(batch)
        >>> adjusted_rand_score(model.predict(X), LandmarkClustering(5, random_state=0).fit_predict(X))
        1.0
        """
        self._check_parameters()
        before = dict(vars(self))
        try:
            return self._take_batch(to_array(X) if is_tensor(X) else X)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _take_batch(self, X: Any) -> Self:
        before: RowReservoir | None = getattr(self, "stream_", None)
        self._earlier = getattr(self, "attachment_", None) if before is not None else None
        rows = rows_of(self, X, reset=before is None)
        stream = self._draw(rows, seed_from(self.random_state) if before is None else before.seed)
        stream = stream if before is None else before + stream
        asked, size = self.n_landmarks, (stream.n_seen, rows.n_features)
        n_landmarks = count_landmarks(asked, self.n_clusters, *size, False) if isinstance(asked, str) else asked
        self._cluster_sample(stream, min(n_landmarks, stream.n_seen))
        self.stream_ = stream
        self._earlier = None
        self.labels_, self._fitted_rows = rows.filled(self.attachment_.predict), rows
        return self

    @property
    def _has_unit_rows(self) -> bool:
        """Whether rows are sampled at unit length: not where columns are scaled before."""
        return self.metric == "cosine" and self.scale != "standard"

    def _renumbered(self, attachment: Any) -> Ints:
        """The number of each cluster of landmarks: that of the batches before, where it is still there.

        Numbers run from 0 to the number of clusters, so that one is used again if its cluster is gone.
        """
        places, labels = attachment.landmarks, attachment.labels
        landmarks = places.rows if isinstance(places, SparsePoints) else places * attachment.feature_scale
        before = self._earlier.predict(landmarks)
        n_before, n_clusters = int(self._earlier.labels.max()) + 1, int(labels.max()) + 1
        counts = np.bincount(before, minlength=n_before), np.bincount(labels, minlength=n_clusters)
        same = match_codes(before, labels, list(range(n_before)), list(range(n_clusters)), *counts).same
        kept = {new: old for new, old in same.items() if old < n_clusters}
        unused = iter(sorted(set(range(n_clusters)) - set(kept.values())))
        return np.array([kept[k] if k in kept else next(unused) for k in range(n_clusters)])

    def _draw(self, rows: RowBlocks, seed: int, mass: Ints | None = None) -> RowReservoir:
        """The sample of the rows, of a size that does not depend on how many there are."""
        n_clusters = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        usual = default_landmarks(_MANY_ROWS, rows.n_features, n_clusters)
        n_landmarks = usual if isinstance(self.n_landmarks, str) else self.n_landmarks
        return draw_rows(rows, sample_rows(n_landmarks, rows.n_features), seed, mass, self._has_unit_rows)

    def _cluster_sample(
        self,
        drawn: RowReservoir,
        n_landmarks: int,
        rows: RowBlocks | None = None,
        partial: Ints | None = None,
        mass_unit: float = 1.0,
    ) -> None:
        """Cluster a sample, steered by partial labels of the rows, and keep what labels a row."""
        graph = landmark_graph(
            drawn,
            n_landmarks,
            n_nearest=self.n_nearest,
            density=self.landmark_density,
            scale=scaling_of(self),
            n_jobs=self.n_jobs,
            metric=self.metric,
            unit=self._has_unit_rows,
            mass_unit=mass_unit,
        )
        check_enough(self.n_clusters, len(graph.attachment.landmarks))
        warn_of_early_stop(self._solve(graph, drawn.seed, rows, partial), self.max_iter)
