"""Clusters for new points: the bound of the Lloyd step, evaluated against a fitted labelling, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .affinity import Affinity
from .criteria import RatioProblem, link_table
from .kernels import Extension
from .solvers.lloyd import bound_costs

__all__ = ["Assignment"]

_ROWS_PER_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Assignment:
    r"""What it takes to label a new point p: the cost of each cluster under the bound.

    .. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Of the fitted points.
    point_scale : ndarray of shape (n,)
        Weight times equalising scale of the fitted points.
    inside, weight : ndarrays of shape (n_clusters,)
        Association and weight of each cluster.
    own_weight : {"one", "degree", "even"}
        The weight of a new point: one, its degree, or one after its degree was scaled to one.
    """

    labels: NDArray[np.int64]
    point_scale: NDArray[np.float64]
    inside: NDArray[np.float64]
    weight: NDArray[np.float64]
    own_weight: str

    @classmethod
    def from_problem(
        cls, problem: RatioProblem, labels: NDArray[np.int64], point_scale: NDArray[np.float64], own_weight: str
    ) -> Assignment:
        """The assignment that belongs to a solved problem."""
        inside, weight = problem.associations(labels, int(labels.max()) + 1)
        return cls(labels, point_scale, inside, weight, own_weight)

    def predict(
        self, X: Any, extension: Extension, nearest: Callable[[Any], NDArray[np.integer]] | None = None
    ) -> NDArray[np.int64]:
        """Labels of new points.

        Parameters
        ----------
        X : array or sparse rows of shape (n_queries, ...)
        extension : function
            From new points to their affinities with the fitted points.
        nearest : function, optional
            From new points to the index of the nearest fitted one, whose label is taken by points too far
            away to have any affinity. Without it they go to the first cluster, with a warning.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        n_queries = X.shape[0]
        found = np.empty(n_queries, dtype=np.int64)
        linked = np.empty(n_queries, dtype=bool)
        for first in range(0, n_queries, _ROWS_PER_BLOCK):
            block = slice(first, first + _ROWS_PER_BLOCK)
            links = self._links(extension(X[block]))
            found[block] = self._costs(links).argmin(axis=1)
            linked[block] = links.any(axis=1)
        far = np.flatnonzero(~linked)
        if far.size:
            found[far] = 0 if nearest is None else self.labels[nearest(X[far])]
        if far.size and nearest is None:
            warnings.warn(
                f"{far.size} new points have no affinity with any fitted point and go to cluster 0.", stacklevel=3
            )
        return found

    def _links(self, rows: Affinity) -> NDArray[np.float64]:
        if sparse.issparse(rows):
            rows = sparse.csr_array(rows)
            scaled: Any = sparse.csr_array(
                (rows.data * self.point_scale[rows.indices], rows.indices, rows.indptr), shape=rows.shape
            )
        else:
            scaled = np.asarray(rows) * self.point_scale
        return link_table(scaled, self.labels, len(self.weight))

    def _costs(self, links: NDArray[np.float64]) -> NDArray[np.float64]:
        degree = links.sum(axis=1)
        own = degree if self.own_weight == "degree" else np.ones(len(links))
        if self.own_weight == "even":
            links = links / np.where(degree > 0, degree, 1.0)[:, None]
        return bound_costs(links, own, self.inside, self.weight)
