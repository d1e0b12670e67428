"""Fits to streams: batches come one by one, a sample of all of them stays, and the clusters are those of the sample."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..landmarks import RowReservoir, row_blocks
from ..landmarks.solving import pilot_rows
from .inputs import check_rows, scaling_of, seed_from

__all__ = ["StreamMixin"]

# A stream has as many landmarks as a table of so many rows.
_MANY_ROWS = 10**6
_OF_THE_TABLE = ("n_features_in_", "feature_names_in_", "table_")


class StreamMixin:
    """`partial_fit` of an estimator of landmarks."""

    random_state: Any
    n_jobs: int | None
    attachment_: Any
    labels_: Any
    _fitted_rows: Any
    get_params: Any
    _check_parameters: Any
    _count_landmarks: Any

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one more batch of a stream; memory stays, however many there are.

        What is kept is a sample of all rows so far, those whose values have the smallest hashes, and the clusters are
        those of the sample: the batches may come in any order and of any size. `stream_.n_seen` counts the rows;
        `labels_` are those of the batch.

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
        stream: RowReservoir | None = getattr(self, "stream_", None)
        rows = check_rows(self, X, reset=stream is None, dtype=np.float64, ensure_min_samples=1)
        if stream is None:
            n_landmarks = self._count_landmarks(_MANY_ROWS, rows.shape[1], False)
            most = pilot_rows(n_landmarks, rows.shape[1])
            stream = RowReservoir.empty(rows.shape[1], most, seed_from(self.random_state))
        stream = stream.with_rows(rows)
        options = {**self.get_params(deep=False), "random_state": stream.seed, "scale": scaling_of(self)}
        if not isinstance(options["n_landmarks"], str):
            options["n_landmarks"] = min(options["n_landmarks"], len(stream.rows))
        kind: Any = type(self)
        fitted = kind(**options).fit(stream.rows)
        own = {name: value for name, value in vars(self).items() if name in _OF_THE_TABLE}
        kept = {name: value for name, value in vars(fitted).items() if name not in options}
        vars(self).update({**kept, **own, "stream_": stream})
        batch = row_blocks(rows, self.n_jobs)
        self.labels_, self._fitted_rows = batch.filled(self.attachment_.predict), batch
        return self
