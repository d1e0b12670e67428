"""Probabilistic k-means: each cluster a probability model, Gaussian or histogram, and the entropy that it bounds."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..neighbors import check_magnitude
from ..solvers import Solution, heaviest_first
from ..tensors import Floats, Ints
from .fitting import atomic_fit, warn_of_early_stop
from .inputs import check_choice, check_count, check_n_clusters, check_rows, refuse_partial

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
        log_densities = np.empty((len(X), len(self.means_)))
        for k, (mean, covariance) in enumerate(zip(self.means_, self.covariances_)):
            root = np.linalg.cholesky(covariance)
            scaled = np.linalg.solve(root, (X - mean).T)
            log_volume = np.log(np.diag(root)).sum() + 0.5 * X.shape[1] * np.log(2 * np.pi)
            log_densities[:, k] = -0.5 * np.einsum("ip,ip->p", scaled, scaled) - log_volume
        return log_densities

    def entropies(self) -> Floats:
        """Half the logarithm of |2 pi e Sigma|."""
        log_det = np.linalg.slogdet(self.covariances_)[1]
        return np.asarray(0.5 * (log_det + self.means_.shape[1] * np.log(2 * np.pi * math.e)))


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


@dataclass(eq=False, repr=False)
class ProbabilisticKMeans(ClusterMixin, BaseEstimator):
    r"""Probabilistic k-means, also called model-based clustering with hard assignments (eq. 16).

    .. math:: -\sum_k \sum_{p \in S^k} \log P(f_p | \theta_k)

    is lowered by turns: the parameters of each cluster are fitted to its points by maximum likelihood, and each point
    goes to the cluster under which it is likeliest. For a Gaussian of one given width that is k-means (eq. 2). At the
    best parameters the energy is at least the entropy criterion (eq. 17) of the clusters' true distributions,

    .. math:: \sum_k |S^k| \cdot H(S^k),

    and near it for models that can describe them, such as histograms. So it leans to clusters of equal size where
    kernel k-means, which lacks the logarithm (eq. 15), isolates modes of the density.

    Parameters
    ----------
    n_clusters : int, default=8
    model : {"gaussian", "histogram"}, default="gaussian"
        The distribution of a cluster: a Gaussian, or a histogram of each feature, taken as independent in a cluster.
    covariance : {"full", "diagonal", "spherical", "fixed"}, default="full"
        Of Gaussians: of any shape, along the axes, of one width a cluster, or of the given `width` for all.
    width : float, default=1.0
        Standard deviation of `covariance="fixed"`; the clusters do not depend on it.
    n_bins : int, default=16
        Of each feature's histogram, over the range of the data.
    smoothing : float, default=1.0
        Points that every bin is taken to hold beside its own. At 0 the fit is maximum likelihood, but a cluster never
        takes a point from a bin that it has nothing in, so that the start decides nearly all.
    n_init : int, default=10
        Number of starts (k-means++); the one of lowest energy is kept.
    max_iter : int, default=300
        Most turns a start.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by falling size.
    energy_ : float
        The value of eq. 16 at the fitted parameters, in nats; lower is better.
    entropy_ : float
        The entropy criterion (eq. 17) of the fitted distributions. It equals `energy_` where these are of maximum
        likelihood, save for `covariance="fixed"`.
    energy_trace_ : ndarray
        Energies of the start that won, before and after each turn; they never rise (with `smoothing`, the points that
        the bins are taken to hold count too).
    model_ : ClusterModel
        The fitted distributions: `log_likelihood(X)` and `entropies()`.
    n_iter_ : int
        Turns of the start that won.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where the columns have names.

    Examples
    --------
    >>> from evencut import ProbabilisticKMeans
    >>> X = [[0.0], [0.1], [0.2], [3.0], [4.0]]
    >>> ProbabilisticKMeans(2, random_state=0).fit_predict(X)
    array([0, 0, 0, 1, 1])
    """

    n_clusters: int = 8
    _: KW_ONLY
    model: str = "gaussian"
    covariance: str = "full"
    width: float = 1.0
    n_bins: int = 16
    smoothing: float = 1.0
    n_init: int = 10
    max_iter: int = 300
    random_state: int | np.random.RandomState | None = None

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> ProbabilisticKMeans:
        """Cluster the points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : complete labels are ignored, partial ones refused

        Returns
        -------
        self
        """
        self._check_parameters()
        refuse_partial(self, y)
        points = check_rows(self, X, reset=True, dtype=np.float64)
        check_magnitude(points, getattr(self, "feature_names_in_", None), cure="")
        check_n_clusters(self.n_clusters, len(np.unique(points, axis=0)), len(points))
        rng = check_random_state(self.random_state)
        model = self._new_model(points)
        best = min((self._descend(points, model, rng) for _ in range(self.n_init)), key=lambda run: run.energy)
        warn_of_early_stop(best.converged, f"max_iter={self.max_iter} turns")
        self._record(points, model, best)
        return self

    def fit_predict(self, X: ArrayLike, y: Any = None) -> Ints:
        """Cluster the points and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y).labels_

    def predict(self, X: ArrayLike) -> Ints:
        """Clusters of new points: those under which they are likeliest.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        check_is_fitted(self)
        points = check_rows(self, X, reset=False, dtype=np.float64)
        return self.model_.log_likelihood(points).argmax(axis=1)

    def _new_model(self, points: Floats) -> ClusterModel:
        if self.model == "gaussian":
            # The least variance, relative to that of the data.
            floor = 1e-6 * (float(points.var(axis=0).mean()) or 1.0)
            return GaussianModel(self.covariance, float(self.width), floor)
        lowest, highest = points.min(axis=0), points.max(axis=0)
        # A feature that is constant, or within the precision of floats, needs no bins: any will do.
        rounding = np.spacing(np.maximum(np.abs(lowest), np.abs(highest)))
        highest = np.where(highest - lowest > self.n_bins * rounding, highest, lowest + 1.0 + 1e3 * rounding)
        edges = [np.linspace(a, b, self.n_bins + 1) for a, b in zip(lowest, highest)]
        return HistogramModel(edges, float(self.smoothing))

    def _descend(self, points: Floats, model: ClusterModel, rng: np.random.RandomState) -> Solution:
        """Turns from one start until no point moves."""
        labels = self._start(points, rng)
        trace: list[float] = []
        for _ in range(self.max_iter):
            model.fit(points, labels, self.n_clusters)
            likelihood = model.log_likelihood(points)
            trace.append(self._value(model, likelihood, labels))
            moved = _with_all_clusters(likelihood, labels)
            if (moved == labels).all():
                return Solution(labels, trace[-1], len(trace), tuple(trace), True)
            labels = moved
        model.fit(points, labels, self.n_clusters)
        trace.append(self._value(model, model.log_likelihood(points), labels))
        return Solution(labels, trace[-1], len(trace), tuple(trace), False)

    def _start(self, points: Floats, rng: np.random.RandomState) -> Ints:
        """Every point with the nearest of k-means++ centres, features in units of their deviations."""
        from sklearn.cluster import kmeans_plusplus

        fixed = self.model == "gaussian" and self.covariance in ("fixed", "spherical")
        deviation = points.std(axis=0)
        scaled = points if fixed else points / np.where(deviation > 0, deviation, 1.0)
        centres, chosen = kmeans_plusplus(scaled, self.n_clusters, random_state=rng)
        squared = ((scaled[:, None, :] - centres) ** 2).sum(axis=2)
        labels = squared.argmin(axis=1)
        labels[chosen] = np.arange(self.n_clusters)
        return labels

    def _value(self, model: ClusterModel, likelihood: Floats, labels: Ints) -> float:
        """What the turns lower: eq. 16, and the likelihood of the points that the bins are taken to hold."""
        value = _energy(likelihood, labels)
        if isinstance(model, HistogramModel) and model.smoothing > 0:
            value -= model.smoothing * float(sum(np.log(density).sum() for density in model.densities_))
        return value

    def _record(self, points: Floats, model: ClusterModel, best: Solution) -> None:
        self.labels_ = heaviest_first(best.labels, np.ones(len(points)))
        model.fit(points, self.labels_, self.n_clusters)
        likelihood = model.log_likelihood(points)
        self.model_ = model
        self.energy_ = _energy(likelihood, self.labels_)
        self.entropy_ = float(np.bincount(self.labels_, minlength=self.n_clusters) @ model.entropies())
        self.energy_trace_ = np.array(best.trace)
        self.n_iter_ = best.n_iter

    def _check_parameters(self) -> None:
        check_choice("model", self.model, ("gaussian", "histogram"))
        check_choice("covariance", self.covariance, COVARIANCES)
        for name in ("n_clusters", "n_bins", "n_init", "max_iter"):
            check_count(name, getattr(self, name))
        for name, limit in (("width", "positive"), ("smoothing", "zero or more")):
            value: Any = getattr(self, name)
            wrong = not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf
            if wrong or (limit == "positive" and value == 0):
                raise ValueError(f"{name}={value!r} must be a number, {limit}.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _energy(likelihood: Floats, labels: Ints) -> float:
    """The value of eq. 16."""
    return -float(likelihood[np.arange(len(labels)), labels].sum())


def _with_all_clusters(likelihood: Floats, labels: Ints) -> Ints:
    """Each point's likeliest cluster; ties and clusters that would lose their last point stay unchanged."""
    rows = np.arange(len(labels))
    best = likelihood.argmax(axis=1)
    moved = np.where(likelihood[rows, best] > likelihood[rows, labels], best, labels)
    for k in np.flatnonzero(np.bincount(moved, minlength=likelihood.shape[1]) == 0):
        own = np.flatnonzero(labels == k)
        moved[own[likelihood[own, k].argmax()]] = k
    return moved
