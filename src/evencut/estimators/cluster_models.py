"""Probability models of one cluster for probabilistic k-means: Gaussians of four shapes, and histograms.

A model knows how to fit all clusters at once, what it says of each point, and its own entropy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..tensors import Floats, Ints

#: The shapes of a Gaussian, from the fewest parameters to the most.
COVARIANCES = ("fixed", "spherical", "diagonal", "full")



@dataclass
class GaussianModel:
    """A Gaussian a cluster.

    Parameters
    ----------
    covariance : {"full", "diagonal", "spherical", "fixed"}
        Of any shape, along the axes, of one width a cluster, or of one width for all clusters, which is given.
    width : float
        The standard deviation of `"fixed"`.
    floor : float
        Added to the variances, so that a cluster of few points has a likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> model = GaussianModel("fixed", width=1.0)
    >>> model.fit(np.array([[0.0], [2.0]]), np.array([0, 0]), 1)
    >>> model.log_likelihood(np.array([[1.0]])).round(3)
    array([[-0.919]])
    """

    covariance: str = "full"
    width: float = 1.0
    floor: float = 0.0
    means_: Floats = field(init=False, repr=False)
    covariances_: Floats = field(init=False, repr=False)

    def fit(self, X: Floats, labels: Ints, n_clusters: int) -> None:
        """Means and covariances of the clusters."""
        n_features = X.shape[1]
        self.means_ = np.array([X[labels == k].mean(axis=0) for k in range(n_clusters)])
        self.covariances_ = np.empty((n_clusters, n_features, n_features))
        for k in range(n_clusters):
            offsets = X[labels == k] - self.means_[k]
            self.covariances_[k] = self._shape(offsets.T @ offsets / len(offsets))

    def _shape(self, scatter: Floats) -> Floats:
        unit = np.eye(len(scatter))
        if self.covariance == "fixed":
            return self.width**2 * unit
        if self.covariance == "spherical":
            return (np.trace(scatter) / len(scatter) + self.floor) * unit
        return (scatter if self.covariance == "full" else scatter * unit) + self.floor * unit

    def log_likelihood(self, X: Floats) -> Floats:
        """Of the normal densities."""
        found = np.empty((len(X), len(self.means_)))
        for k, (mean, covariance) in enumerate(zip(self.means_, self.covariances_)):
            root = np.linalg.cholesky(covariance)
            scaled = np.linalg.solve(root, (X - mean).T)
            log_volume = np.log(np.diag(root)).sum() + 0.5 * X.shape[1] * np.log(2 * np.pi)
            found[:, k] = -0.5 * np.einsum("ip,ip->p", scaled, scaled) - log_volume
        return found

    def entropies(self) -> Floats:
        """Half the logarithm of |2 pi e Sigma|."""
        log_det = np.linalg.slogdet(self.covariances_)[1]
        return np.asarray(0.5 * (log_det + self.means_.shape[1] * np.log(2 * np.pi * np.e)))


@dataclass
class HistogramModel:
    """A histogram a feature and cluster; features count as independent inside a cluster.

    Parameters
    ----------
    edges : list of ndarray
        The edges of the bins of each feature, the same for all clusters.
    smoothing : float
        Points that every bin is taken to hold beside its own; 0 is maximum likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> model = HistogramModel([np.array([0.0, 1.0, 2.0])])
    >>> model.fit(np.array([[0.5], [0.6], [1.5], [1.6]]), np.array([0, 0, 0, 0]), 1)
    >>> np.exp(model.log_likelihood(np.array([[0.1]])))
    array([[0.5]])
    """

    edges: list[Floats]
    smoothing: float = 0.0
    densities_: list[Floats] = field(init=False, repr=False)

    def fit(self, X: Floats, labels: Ints, n_clusters: int) -> None:
        """Shares of the bins over their widths."""
        self.densities_ = []
        for i, edges in enumerate(self.edges):
            count = np.full((n_clusters, len(edges) - 1), self.smoothing)
            np.add.at(count, (labels, self._bins(X, i)), 1.0)
            self.densities_.append(count / count.sum(axis=1, keepdims=True) / np.diff(edges))

    def _bins(self, X: Floats, i: int) -> Ints:
        # Points outside, which only new ones can be, count to the outermost bins.
        inner = self.edges[i][1:-1]
        return np.searchsorted(inner, X[:, i], side="right").astype(np.int64)

    def log_likelihood(self, X: Floats) -> Floats:
        """The sum over features; minus infinity where a cluster has nothing in a bin."""
        with np.errstate(divide="ignore"):
            logs = [np.log(density) for density in self.densities_]
        return sum(log[:, self._bins(X, i)].T for i, log in enumerate(logs))  # type: ignore[return-value]

    def entropies(self) -> Floats:
        """The sum of the features' differential entropies."""
        total = np.zeros(len(self.densities_[0]))
        for density, edges in zip(self.densities_, self.edges):
            share = density * np.diff(edges)
            total -= np.sum(share * np.log(np.where(share > 0, density, 1.0)), axis=1)
        return total


#: One distribution a cluster, fitted by maximum likelihood to the points that are in it.
ClusterModel: TypeAlias = GaussianModel | HistogramModel
