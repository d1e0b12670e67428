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

        The squared length of the point itself, the same for all clusters and unknown to kernels of neighbours, is left
        out: values are compared along a row, and can be negative. The smallest is the cluster of :meth:`predict`. A
        point without any affinity has the row of the fitted point nearest to it.

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
        r"""How well the clusters are each one, and apart: comparable between kernels and between numbers of clusters.

        .. math:: \frac1n \sum_p \frac{c_k - \ell_k}{c_k + \ell_k + 2\delta}, \qquad k = \text{the cluster of } p

        with the leak :math:`\ell_k`, the share of the affinity of the points of cluster k that goes elsewhere, over the
        share that chance would send there. It is held against :math:`c_k = \sqrt{1 - \lambda_k}`, of the order of the
        leak that the best cut through the fitted cluster would have (Cheeger), with :math:`\lambda_k` the second
        eigenvalue of the random walk inside; :math:`\delta = 0.01`. Too many clusters leak as any cut would, too few
        could be cut at little cost. It is near 1 for clusters that are one and apart, near 0 where there is no
        difference, and above -1. Where the number of clusters is all that is asked for, `n_clusters="auto"` asks more
        witnesses.

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
        return model._prediction.beside(X), checked if pairwise else model._prepared.scaled(checked)
