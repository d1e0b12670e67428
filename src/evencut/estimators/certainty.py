"""How sure a fitted clustering is of each label: probabilities and outlier scores, computed when first asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._runtime import warn_user
from ..affinity import as_affinity
from ..tensors import Floats, Ints, Mask, answer_like, is_tensor, to_array
from .devices import tensors_too
from .prediction import Prediction
from .probabilities import N_NEAREST, Certainty, certainty_of, opinions_of

__all__ = ["CertaintyMixin", "RowCertaintyMixin", "check_noise", "unknown_on_device"]



class RowCertaintyMixin:
    """`probabilities_` and `outlier_scores_` of the fitted rows, computed when first asked for."""

    labels_: Any
    _is_given: Mask | None
    _judged_rows: Any

    @property
    def probabilities_(self) -> Any:
        """Probability of the cluster of each row."""
        sure, _ = self._judged_rows()
        return answer_like(self.labels_, sure)

    @property
    def outlier_scores_(self) -> Any:
        """How far each row lies outside of its cluster, from 0 to 1."""
        _, scores = self._judged_rows()
        return answer_like(self.labels_, scores)

    def _with_given(self, sure: Floats) -> Floats:
        """The probabilities, one where a label was given: it is what it is."""
        return sure if self._is_given is None else np.where(self._is_given, 1.0, sure)


class FitState:
    """What a fit in memory has left behind, for the methods that answer by it."""

    #: What is computed when it is first asked for: the tree, and what tells how sure a label is.
    _derived: dict[str, Any]
    _fitted_points: Any
    _prediction: Prediction
    _prepared: Any
    _affinity: Any
    _margin: Any
    _left_out: Any
    _ready: Any
    labels_: Any
    selection_: Any
    n_clusters_: int


class CertaintyMixin(RowCertaintyMixin, FitState):
    """`predict_proba`, `probabilities_` and `outlier_scores_` of an estimator that clusters points in memory."""

    @property
    def margin_(self) -> Any:
        """Deprecated: use `probabilities_`."""
        check_is_fitted(self)
        _warn_of_margins("margin_ will be removed in 0.4; use probabilities_")
        return answer_like(self.labels_, self._margin)

    @tensors_too
    def predict_proba(self, X: Any) -> Floats:
        r"""Probability of each cluster for new points.

        .. math:: P_{pk} \propto \bigl(s_{pk}^{1-g} e_{pk}^{g}\bigr)^{\beta}

        :math:`s_{pk}` is the affinity-weighted mean, over the neighbours of p, of their own shares of cluster k.
        :math:`e_{pk}` is the support for cluster k among the other candidates (:math:`g = 0.3`; 0 if nothing was
        compared). The temperature :math:`1/\beta` maximises the likelihood of labels that had no part in s. Beyond
        three standard deviations from its cluster, the probabilities of a point approach equality.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_queries, n_clusters)
            Rows sum to one. At a border the most probable cluster may differ from that of :meth:`predict`, which
            minimises the cost.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
        >>> model = EvenCut(2, random_state=0).fit(X)
        >>> model.predict_proba([[0.0, 0.0], [100.0, 100.0]]).max(axis=1).round(1)
        array([1. , 0.5])
        """
        prediction, X = self._ready(X)
        labels = prediction.labels(X)
        certainty = self._sure()[0]
        return certainty.probabilities(prediction.averaged(X, certainty.field), self._scores(X, labels))

    @tensors_too
    def predict_margin(self, X: Any) -> Floats:
        """Deprecated: use :meth:`predict_proba`.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_queries,)
            How much more the second-best cluster costs.
        """
        _warn_of_margins("predict_margin will be removed in 0.4; use predict_proba")
        prediction, X = self._ready(X)
        return prediction.margins(X)

    def _scores(self, X: Any, labels: Ints) -> Floats:
        """Outlier scores of new points whose clusters are known."""
        return self._sure()[0].outlier_scores(self._prediction.nearest_distances(X, N_NEAREST), labels)

    def _judged_rows(self) -> tuple[Floats, Floats]:
        return self._sure()[1:]

    def _sure(self) -> tuple[Certainty, Floats, Floats]:
        """What new rows are judged by; probabilities and outlier scores of the fitted ones."""
        check_is_fitted(self)
        if is_tensor(self._fitted_points):
            raise unknown_on_device()
        if "certainty" not in self._derived:
            self._derived["certainty"] = self._measure()
        return self._derived["certainty"]

    def _measure(self) -> tuple[Certainty, Floats, Floats]:
        """Of the points first, whose own label has no say, then of the rows that they stand for."""
        prediction, of_row = self._prediction, self._prepared.of_row
        labels, affinity = prediction.fitted_labels, as_affinity(self._affinity)
        distances = prediction.own_distances(affinity, N_NEAREST)
        selection = getattr(self, "selection_", None)
        opinions = opinions_of(selection, labels, self._prepared.weights)
        certainty, answers = certainty_of(affinity, labels, prediction.point_scale, distances, labels, opinions)
        scores = certainty.outlier_scores(distances, labels)
        rows = to_array(self.labels_) if is_tensor(self.labels_) else self.labels_
        sure = certainty.probabilities(answers, scores)[of_row, rows]
        scores = scores[of_row]
        places = np.flatnonzero(of_row < 0)
        if places.size:
            new, clusters = self._left_out
            scores[places] = certainty.outlier_scores(prediction.nearest_distances(new, N_NEAREST), clusters)
            every = certainty.probabilities(prediction.averaged(new, certainty.field), scores[places])
            sure[places] = every[np.arange(len(clusters)), clusters]
        return certainty, self._with_given(sure), scores


def check_noise(noise: Any) -> None:
    """Raise unless it is None or a threshold of outlier scores."""
    if noise is None:
        return
    if isinstance(noise, bool) or not isinstance(noise, int | float | np.number) or not 0 <= noise <= 1:
        raise ValueError(
            f"noise={noise!r} must be an outlier score from 0 to 1 above which a row is labelled -1, such as 0.5; or "
            "None."
        )


def unknown_on_device() -> NotImplementedError:
    """What is raised after a fit on a device, which does not tell how sure it is."""
    return NotImplementedError(
        "probabilities and outlier scores are not known for a fit on a GPU; fit the points as an array, on the CPU."
    )


def _warn_of_margins(what: str) -> None:
    warn_user(f"{what}, which are calibrated.", FutureWarning)
