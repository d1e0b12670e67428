"""Fits to streams: batches come one by one, a sample of all of them stays, and the clusters are those of the sample."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..landmarks import RowReservoir, row_blocks, sample_graph
from ..landmarks.solving import pilot_rows
from .fitting import warn_of_early_stop
from .inputs import check_rows, seed_from
from .landmark_inputs import check_enough

__all__ = ["StreamMixin"]

# A stream has as many landmarks as a table of so many rows.
_MANY_ROWS = 10**6


class StreamMixin:
    """`partial_fit` of an estimator of landmarks."""

    n_clusters: Any
    n_landmarks: Any
    max_iter: int
    random_state: Any
    n_jobs: int | None
    attachment_: Any
    labels_: Any
    _fitted_rows: Any
    _check_parameters: Any
    _count_landmarks: Any
    _landmark_options: Any
    _solve: Any

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one more batch of a stream; memory stays, however many there are.

        What is kept is a sample of all rows so far, those whose values have the smallest hashes, and the clusters are
        those of the sample: the batches may come in any order and of any size, and one batch of all rows gives the
        same model. :meth:`fit` looks at all rows for the links between its landmarks, which no stream can. Equal rows
        take one place of the sample. `stream_.n_seen` counts the rows; `labels_` are those of the batch.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            The first batch must hold as many distinct rows as there are clusters.
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from evencut import LandmarkClustering
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(3000, centers=5, random_state=0)
        >>> model = LandmarkClustering(5, random_state=0)
        >>> for batch in (X[2000:], X[:1000], X[1000:2000]):
        ...     _ = model.partial_fit(batch)
        >>> model.stream_.n_seen, len(model.predict(X))
        (3000, 3000)
        """
        self._check_parameters()
        before = dict(vars(self))
        try:
            return self._take_batch(X)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _take_batch(self, X: Any) -> Self:
        before: RowReservoir | None = getattr(self, "stream_", None)
        rows = check_rows(self, X, reset=before is None, dtype=np.float64, ensure_min_samples=1)
        if before is None:
            n_landmarks = self._count_landmarks(_MANY_ROWS, rows.shape[1], False)
            stream = RowReservoir.of(rows, pilot_rows(n_landmarks, rows.shape[1]), seed_from(self.random_state))
        else:
            stream = before + RowReservoir.of(rows, before.most, before.seed)
        is_set = not isinstance(self.n_landmarks, str)
        n_landmarks = self.n_landmarks if is_set else self._count_landmarks(stream.n_seen, rows.shape[1], False)
        self._cluster_sample(stream, min(n_landmarks, stream.n_seen))
        self.stream_ = stream
        batch = row_blocks(rows, self.n_jobs)
        self.labels_, self._fitted_rows = batch.filled(self.attachment_.predict), batch
        return self

    def _cluster_sample(self, stream: RowReservoir, n_landmarks: int) -> None:
        """Cluster the sample of a stream and keep what labels a row."""
        graph = sample_graph(stream, n_landmarks, **self._landmark_options())
        check_enough(self.n_clusters, len(graph.attachment.landmarks))
        warn_of_early_stop(self._solve(graph, stream.seed, None, None), self.max_iter)
