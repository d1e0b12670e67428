"""What a fitted clustering answers: clusters of new points, its affinity, what it was chosen from, its diagnosis."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..affinity import as_affinity
from ..diagnosis import BiasReport, diagnose_fitted
from .devices import answer_like, tensors_too

__all__ = ["FittedClustering"]


class FittedClustering:
    """The methods of an estimator that need a fit first."""

    #: What a fit on a GPU has found; all else is empty then.
    _device: Any = None
    _prediction: Any
    _prepared: Any
    _affinity: Any
    labels_: Any
    selection_: Any
    n_clusters: Any
    metric: str
    scale: str | None
    _ready: Any

    @abstractmethod
    def _scaling(self, X: Any = None) -> str | None:
        """The scaling of the columns that `scale` stands for, as :func:`evencut.affinity.prepare` knows it."""

    @property
    def affinity_(self) -> Any:
        """The affinity of the kernel, before equalisation."""
        check_is_fitted(self)
        if self._device is not None:
            return self._device.entries
        # The points are kept in an order of their own; the affinity is brought back from it when asked for.
        return answer_like(self.labels_, as_affinity(self._affinity).among(self._prepared.given_order).entries)

    @tensors_too
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Clusters of new points.

        Parameters
        ----------
        X : array or tensor of shape (n_queries, n_features)
            New points; or, with a precomputed kernel, their affinities with the fitted points.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        prediction, X = self._ready(X)
        return prediction.labels(X)

    def plot_selection(self, ax: Any = None) -> Any:
        """Draw the candidates of `selection_` and their scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure without it.

        Returns
        -------
        matplotlib Axes
        """
        from ..plotting import plot_selection

        check_is_fitted(self)
        if not hasattr(self, "selection_"):
            raise ValueError(
                f"nothing was selected: n_clusters={self.n_clusters!r} and the kernel were set; fit with "
                "n_clusters='auto', or use EvenCut."
            )
        return plot_selection(self.selection_, ax)

    def diagnose(self, X: ArrayLike | None = None, **options: Any) -> BiasReport:
        """Whether the fitted clustering is biased by density; see :func:`evencut.diagnose`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), optional
            The points, needed only where a precomputed affinity was fitted.
        **options
            Passed on to :func:`evencut.diagnose`.

        Returns
        -------
        BiasReport

        Examples
        --------
        >>> from evencut import EvenCut
        >>> from evencut.datasets import make_clumped_moons
        >>> X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
        >>> EvenCut(n_clusters=2, random_state=0).fit(X).diagnose().verdict
        'ok'
        """
        from .diagnosing import diagnose
        from .even_cut import EvenCut

        check_is_fitted(self)
        if X is None and self._device is not None:
            return diagnose(self._device.prepared.points, self._device.labels, **{"scale": None, **options})
        if X is None and self._prediction.kernel.is_pairwise:
            raise ValueError("the model was fitted on an affinity; pass the points themselves: diagnose(X).")
        if X is not None:
            options.setdefault("metric", self.metric)
            return diagnose(X, self.labels_, **options)
        options.setdefault("affinity", self._affinity)
        tries = options.pop("cures", True)
        cure = EvenCut(scale=self._scaling(), metric=self.metric, random_state=0) if tries else None
        return diagnose_fitted(self._prepared, self._prediction.fitted_labels, cure=cure, **options)
