r"""How sure landmarks are of a row: probabilities and outlier scores, block by block.

The landmarks answer as neighbours do elsewhere (:mod:`evencut.estimators.probabilities`): each by the share of its
links that goes to a cluster, and a row by the mean answer :math:`\sum_j B_{pj} s_{jk}` of those that it hangs on.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..affinity import as_affinity
from ..landmarks import Attachment, LandmarkGraph, RowBlocks
from ..tensors import Floats, Ints, is_tensor
from .certainty import RowCertaintyMixin, unknown_on_device
from .devices import tensors_too
from .landmark_inputs import rows_of
from .probabilities import N_NEAREST, Certainty, certainty_of

__all__ = ["LandmarkCertaintyMixin", "measure_certainty"]


# Rows of the sample that landmarks were chosen from whose distances tell what is typical of a cluster.
_MOST_ROWS = 20_000
# Probabilities of all clusters that are in memory at a time, where one a row is wanted.
_ENTRIES_AT_ONCE = 4_000_000


class LandmarkCertaintyMixin(RowCertaintyMixin):
    """`predict_proba`, `probabilities_` and `outlier_scores_` of an estimator of landmarks."""

    _certainty: Certainty | None
    #: The rows of the fit, until they have been judged, and what came of it.
    _fitted_rows: RowBlocks | None
    _judged: tuple[Floats, Floats] | None
    attachment_: Attachment

    @tensors_too
    def predict_proba(self, X: Any) -> Floats:
        r"""Probability of each cluster for rows, from the landmarks that they hang on.

        .. math:: P_{pk} \propto \Bigl(\sum_j B_{pj} s_{jk}\Bigr)^{\beta}

        with :math:`s_{jk}` the share of the links of landmark j that goes to cluster k, and :math:`\beta` as in
        :meth:`EvenCut.predict_proba`. A row more than three deviations farther from its landmarks than is typical of
        its cluster belongs to each cluster alike the more, the farther out it is.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            Rows sum to one.

        Examples
        --------
        >>> from evencut import LandmarkClustering
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(3000, centers=[[0, 0], [9, 0]], random_state=0)
        >>> model = LandmarkClustering(2, n_landmarks=100, random_state=0).fit(X)
        >>> model.predict_proba([[0.0, 0.0], [500.0, 500.0]]).max(axis=1).round(1)
        array([1. , 0.5])
        """
        certainty = self._known_certainty()
        return rows_of(self, X, reset=False).gathered(partial(_probabilities, self.attachment_, certainty))

    def _without_noise(self, rows: RowBlocks, labels: Ints, noise: float) -> Ints:
        """Labels with -1 where the outlier score is above `noise`."""
        scores = rows.gathered(partial(_scores, self.attachment_, self._known_certainty()))
        return np.where(scores > noise, -1, labels)

    def _known_certainty(self) -> Certainty:
        check_is_fitted(self)
        if self._certainty is None:
            raise unknown_on_device()
        return self._certainty

    def _judged_rows(self) -> tuple[Floats, Floats]:
        certainty = self._known_certainty()
        if self._judged is None:
            if self._fitted_rows is None:
                raise AttributeError(
                    "rows of files, Dask collections and streams are not kept; predict_proba(X) judges any rows."
                )
            judged = self._fitted_rows.gathered(partial(_judge, self.attachment_, certainty))
            sure, scores = judged.T.copy()
            self._judged, self._fitted_rows = (self._with_given(sure), scores), None
        return self._judged


def measure_certainty(graph: LandmarkGraph, attachment: Attachment) -> Certainty | None:
    """What tells how sure the landmarks are; None for those on a device.

    Parameters
    ----------
    graph : LandmarkGraph
        That was cut into clusters.
    attachment : Attachment
        With the clusters of the landmarks.
    """
    if is_tensor(attachment.landmarks):
        return None
    rows = graph.pilot[:: -(-graph.pilot.shape[0] // _MOST_ROWS)]
    assert attachment.labels is not None
    distances, of_rows = attachment.mean_distances(rows, N_NEAREST), attachment.predict(rows)
    weights = np.ones(len(attachment.labels))
    return certainty_of(as_affinity(graph.affinity), attachment.labels, weights, distances, of_rows)[0]


def _scores(attachment: Attachment, certainty: Certainty, rows: Any, first: int) -> Floats:
    return certainty.outlier_scores(attachment.mean_distances(rows, N_NEAREST), attachment.predict(rows))


def _probabilities(attachment: Attachment, certainty: Certainty, rows: Any, first: int) -> Floats:
    scores = _scores(attachment, certainty, rows, first)
    return certainty.probabilities(attachment.averaged(rows, certainty.field), scores)


def _judge(attachment: Attachment, certainty: Certainty, rows: Any, first: int) -> Floats:
    """Probability of its cluster and outlier score of each row."""
    labels, judged = attachment.predict(rows), np.empty((rows.shape[0], 2))
    step = max(1, _ENTRIES_AT_ONCE // certainty.n_clusters)
    for begin in range(0, rows.shape[0], step):
        part = slice(begin, begin + step)
        judged[part, 1] = _scores(attachment, certainty, rows[part], first)
        answers = attachment.averaged(rows[part], certainty.field)
        every = certainty.probabilities(answers, judged[part, 1])
        judged[part, 0] = every[np.arange(len(every)), labels[part]]
    return judged
