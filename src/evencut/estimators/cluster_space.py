"""A fitted clustering as a step of a pipeline: distances of points to clusters, and a score that can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..affinity import as_affinity, shrink_far
from .prediction import Prediction

__all__ = ["ClusterSpaceMixin", "links_to_clusters"]

_ROWS_PER_BLOCK = 4096


class ClusterSpaceMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """`transform` and `score` for estimators whose clusters are means in the feature space of a kernel."""

    _prediction: Prediction
    n_clusters_: int

    def transform(self, X: Any) -> NDArray[np.float64]:
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
        distances = np.empty((X.shape[0], len(prediction.weight)))
        far: list[NDArray[np.intp]] = []
        for block, links in links_to_clusters(prediction, X):
            distances[block] = _distances(prediction, links)
            far.append(block.start + np.flatnonzero(~links.any(axis=1)))
        lost = np.concatenate(far)
        if lost.size and not prediction.kernel.is_pairwise:
            nearest = prediction.points[prediction._search.query(X[lost], 1)[1][:, 0]]
            for block, links in links_to_clusters(prediction, nearest):
                distances[lost[block]] = _distances(prediction, links)
        return distances

    def score(self, X: Any, y: Any = None) -> float:
        r"""How much more of the affinity of points stays inside their clusters than chance would keep there.

        .. math:: \frac1n \sum_p \left(\frac{(M S_k)_p}{\sum_j (M S_j)_p} - \frac{w(S_k)}{\sum_j w(S_j)}\right),
                  \qquad k = \text{the cluster of } p

        It is zero for one cluster, below one, and higher is better, also between kernels and numbers of clusters.

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
        0.43
        """
        prediction, X = self._ready(X)
        chance = prediction.weight / prediction.weight.sum()
        total = 0.0
        for _, links in links_to_clusters(prediction, X):
            linked = links[links.any(axis=1)]
            own = _distances(prediction, linked).argmin(axis=1)
            total += float(np.sum(linked[np.arange(len(own)), own] / linked.sum(axis=1) - chance[own]))
        return total / X.shape[0]

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _ready(self, X: Any) -> tuple[Prediction, Any]:
        """What labels new points, and the points as it takes them."""
        check_is_fitted(self)
        model: Any = self
        checked = model._check_points(X, model._prediction.kernel, reset=False)
        prediction, points = model._prediction, model._prepared.scaled(checked)
        if not prediction.kernel.is_pairwise:
            centre = prediction.points.mean(axis=0)
            points = shrink_far(points, centre, float(np.abs(prediction.points - centre).max()))
        return prediction, points


def links_to_clusters(prediction: Prediction, X: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Block by block, the affinity of new points (rows) with each cluster (columns), scaled as the problem has it."""
    if prediction.extension is None:
        prediction.extension = prediction.kernel.extend(prediction.points, n_jobs=prediction.n_jobs)
    if prediction.kernel.is_pairwise:
        X = X[:, prediction.kept]
    for first in range(0, X.shape[0], _ROWS_PER_BLOCK):
        block = slice(first, min(first + _ROWS_PER_BLOCK, X.shape[0]))
        rows = as_affinity(prediction.extension(X[block]))
        yield block, rows.links(prediction.fitted_labels, len(prediction.weight), prediction.point_scale)


def _distances(prediction: Prediction, links: NDArray[np.float64]) -> NDArray[np.float64]:
    """The costs of `predict`, for a weight of one."""
    degree = links.sum(axis=1)
    if prediction.is_even:
        degree = np.where(degree > 0, 1.0, 0.0)
    weight = prediction.criterion.point_weight(degree)
    return prediction._costs(links) / np.where(weight > 0, weight, 1.0)[:, None]
