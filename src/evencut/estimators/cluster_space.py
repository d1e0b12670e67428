"""Points seen from the clusters: distances as features of a pipeline, and a score that can be compared."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..tensors import Floats, is_tensor
from .devices import tensors_too
from .prediction import Prediction


class ClusterSpaceMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform` and `score`, where clusters are means in the feature space of a kernel."""

    _prediction: Prediction
    n_clusters_: int

    @tensors_too
    def transform(self, X: Any) -> Floats:
        r"""Squared distances to the clusters, in the feature space of the kernel.

        .. math:: -\frac{2 (M S_k)_p}{w_p w(S_k)} + \frac{M(S_k, S_k)}{w(S_k)^2}

        The squared length of the point itself, which is the same for all clusters, is omitted, so values can be
        negative. The smallest value of a row is the cluster of :meth:`predict`. A point without affinities gets the row
        of the nearest fitted point.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            Points; or, with a precomputed kernel, their affinities with the fitted points.

        Returns
        -------
        ndarray of shape (n_queries, n_clusters)

        Examples
        --------
        >>> from evencut import KernelKMeans
        >>> model = KernelKMeans(2, kernel="gaussian", random_state=0).fit([[0.0], [0.1], [3.0], [3.1]])
        >>> model.transform([[0.0], [3.0]]).argmin(axis=1)
        array([0, 1])
        """
        prediction, X = self._ready(X)
        return prediction.distances(X)

    @tensors_too
    def score(self, X: Any, y: Any = None) -> float:
        r"""How connected and well separated the clusters are; comparable across kernels and numbers of clusters.

        .. math:: \frac1n \sum_p \frac{c_k - \ell_k}{c_k + \ell_k + 2\delta}, \qquad k = \text{the cluster of } p

        :math:`\ell_k` is the conductance of cluster k relative to that of a random subset of its size. It is compared
        with :math:`c_k = \sqrt{1 - \lambda_k}`, which bounds the conductance of the best cut through the cluster
        (Cheeger); :math:`\lambda_k` is the second eigenvalue of the random walk inside it, and :math:`\delta = 0.01`.
        The score is near 1 for connected, well-separated clusters, near 0 if a border is no better than a cut through a
        cluster, and above -1. To choose only the number of clusters, prefer `n_clusters="auto"`, which uses more
        evidence.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            Points; or, with a precomputed kernel, their affinities with the fitted points.
        y : ignored

        Returns
        -------
        float

        Examples
        --------
        >>> from evencut import KernelKMeans
        >>> X = [[0.0], [0.1], [3.0], [3.1]]
        >>> round(KernelKMeans(2, kernel="gaussian", random_state=0).fit(X).score(X), 2)
        0.74
        """
        prediction, X = self._ready(X)
        return prediction.separation(X, getattr(self, "_affinity", None))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _ready(self, X: Any) -> tuple[Prediction, Any]:
        """What labels new points, and the points as it takes them."""
        check_is_fitted(self)
        model: Any = self
        checked = X if is_tensor(X) else model._check_points(X, model._prediction.kernel, reset=False)
        # Affinities given in place of points have no units.
        pairwise = model._prediction.kernel.is_pairwise
        return model._prediction.to_kind_of(X), checked if pairwise else model._prepared.scaled(checked)
