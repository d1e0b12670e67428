"""The scikit-learn estimators: kernel + criterion + solver, with density equalisation where asked for."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .affinity import Affinity, degrees, scale_affinity
from .assignment import Assignment
from .criteria import CRITERIA, RatioProblem
from .equalization import density_law, equalizing_scale
from .kernels import KERNELS, Kernel, Precomputed
from .neighbors import kneighbors
from .solvers import SOLVERS, solve

__all__ = ["KernelClustering", "KernelKMeans", "NormalizedCut"]


class KernelClustering(ClusterMixin, BaseEstimator):
    r"""Kernel clustering without density bias.

    Splits the points into k clusters that minimise a criterion on a kernel's affinity A, such as

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p} \quad \text{(eq. NC)}

    The default, a nearest-neighbour kernel under the normalised cut, has an almost even density built in.

    Parameters
    ----------
    n_clusters : int, default=8
    kernel : str or kernel object, default="knn"
        `"knn"`, `"gaussian"`, `"adaptive_gaussian"`, `"local_scaling"`, `"geodesic"`, `"precomputed"`, or
        an object of :mod:`evencut.kernels` with parameters of its own.
    criterion : {"normalized_cut", "average_association", "average_cut"}, default="normalized_cut"
        Average association is kernel k-means.
    equalize : {None, "weights", "exact"}, default=None
        `"weights"`: adaptive point weights :math:`w_p = 1/\rho_p` (eq. wDensity), the density read off
        the degrees of the affinity (eq. degree=density). `"exact"`: the affinity is scaled to equal
        degrees, after which all criteria are one.
    solver : {"auto", "spectral", "multilevel", "lloyd"}, default="auto"
        As in :func:`evencut.solvers.solve`.
    n_init : int, default=4
        Number of starts; the one of lowest energy is kept.
    max_iter : int, default=100
        Most sweeps of refinement a start.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, whatever `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the neighbour search; -1 takes all cores.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by falling weight.
    affinity_ : ndarray or CSR array of shape (n_samples, n_samples)
        The affinity of the kernel, before equalisation.
    weights_ : ndarray of shape (n_samples,)
        Point weights: sample weights times adaptive weights.
    scale_ : ndarray of shape (n_samples,)
        The scale :math:`s_p` of exact equalisation, ones without it.
    degrees_ : ndarray of shape (n_samples,)
        Node degrees of `affinity_`.
    energy_ : float
        Value of the criterion in the paper's sign and scale; lower is better.
    energy_trace_ : ndarray
        Energies of the start that won, before and after each sweep; they never rise.
    n_iter_ : int
        Sweeps of the start that won.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where the columns have names.

    Notes
    -----
    A sample weight stands for so many copies of its point, exactly for kernels whose affinity between two
    points depends on these alone (Gaussian of a given bandwidth, precomputed). For kernels that look at
    neighbours or spreads it cannot be exact: copies of a point are its own nearest neighbours. A weight of
    zero leaves a point out of the fit; it is labelled afterwards as a new point would be.

    New points go to the cluster of lowest cost under the bound of the Lloyd step,
    :math:`-2 (M S_k)_p / w(S_k) + w_p M(S_k, S_k)/w(S_k)^2`.

    Examples
    --------
    >>> from evencut import KernelClustering
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(600, clump=0.5, random_state=0)
    >>> model = KernelClustering(n_clusters=2, random_state=0).fit(X)
    >>> sorted(int(size) for size in (sum(model.labels_ == 0), sum(model.labels_ == 1)))
    [300, 300]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel = "knn",
        criterion: str = "normalized_cut",
        equalize: str | None = None,
        solver: str = "auto",
        n_init: int = 4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.criterion = criterion
        self.equalize = equalize
        self.solver = solver
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> KernelClustering:
        """Cluster the points.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), frame, or affinity of shape (n_samples, n_samples)
            Points; or, with `kernel="precomputed"`, a dense or sparse affinity.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How many points each point stands for.

        Returns
        -------
        self
        """
        kernel = self._check_parameters()
        X = self._check_points(X, kernel, reset=True)
        all_weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        kept = np.flatnonzero(all_weights > 0)
        points = _subset(X, kept, isinstance(kernel, Precomputed))
        self._check_n_clusters(points, kernel)

        try:
            affinity = kernel.affinity(points, n_jobs=self.n_jobs)
        except MemoryError as error:
            raise MemoryError(
                f"the affinity of {points.shape[0]} points does not fit in memory ({error}); use kernel='knn', or "
                "LandmarkClustering, which never holds it."
            ) from error
        problem, weights, scale = self._pose(affinity, all_weights[kept])
        solution = solve(
            problem,
            self.n_clusters,
            solver=self.solver,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=check_random_state(self.random_state).randint(2**31 - 1),
        )
        if not solution.converged:
            warnings.warn(
                f"points still moved after max_iter={self.max_iter} sweeps of refinement; raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        own_weight = "even" if self.equalize == "exact" else "one"
        if self.criterion == "normalized_cut" and own_weight == "one":
            own_weight = "degree"
        self._assignment = Assignment.from_problem(problem, solution.labels, weights * scale, own_weight)
        self._extension_parts = kernel, points, kept
        self.affinity_ = affinity
        self.weights_ = weights
        self.scale_ = scale
        self.degrees_ = degrees(affinity)
        self.energy_ = solution.energy
        self.energy_trace_ = np.array(solution.trace)
        self.n_iter_ = solution.n_iter
        self.labels_ = solution.labels
        if len(kept) < X.shape[0]:
            self.labels_ = self._label(X)
            self.labels_[kept] = solution.labels
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
        """Cluster the points and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Clusters of new points.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            New points; or, with a precomputed kernel, their affinities with the fitted points.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        check_is_fitted(self)
        return self._label(self._check_points(X, self._extension_parts[0], reset=False))

    def _label(self, X: Any) -> NDArray[np.int64]:
        kernel, points, kept = self._extension_parts
        extension = kernel.extend(points, n_jobs=self.n_jobs)
        if isinstance(kernel, Precomputed):
            return self._assignment.predict(X[:, kept], extension)

        def nearest(Y: NDArray) -> NDArray[np.integer]:
            return kneighbors(points, 1, at=Y, n_jobs=self.n_jobs)[1][:, 0]

        return self._assignment.predict(X, extension, nearest)

    def _pose(
        self, affinity: Affinity, weights: NDArray[np.float64]
    ) -> tuple[RatioProblem, NDArray[np.float64], NDArray[np.float64]]:
        """The problem to solve, the weights of the points, and their equalising scale."""
        ones = np.ones(len(weights))
        if self.equalize == "exact":
            # Copies of a point share its scale: s_p sum_q w_q A_pq s_q = 1. The weights are then degrees
            # too, so the normalised cut and average association are one problem.
            both = equalizing_scale(affinity, weights=weights)
            even = scale_affinity(affinity, both)
            diagonal = -weights if self.criterion == "average_cut" else None
            return RatioProblem(even, weights, diagonal), weights, both / weights
        if self.equalize == "weights":
            density = np.asarray(affinity @ weights, dtype=np.float64)
            if not (density > 0).all():
                raise ValueError(
                    f"equalize='weights' reads densities off the degrees, and the smallest is {density.min():g}; "
                    "they must be positive, so use equalize=None for this affinity."
                )
            law = density_law(density, "constant", dimension=1)
            weights = weights * law / np.mean(law)
        return CRITERIA[self.criterion](affinity, weights), weights, ones

    def _check_parameters(self) -> Kernel:
        """Raise for parameters out of range; the kernel as an object."""
        _check_choice("criterion", self.criterion, CRITERIA)
        _check_choice("equalize", self.equalize, (None, "weights", "exact"))
        _check_choice("solver", self.solver, SOLVERS)
        for name in ("n_clusters", "n_init", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
        if isinstance(self.kernel, str):
            _check_choice("kernel", self.kernel, KERNELS)
            return KERNELS[self.kernel]()
        if not isinstance(self.kernel, Kernel):
            raise ValueError(
                f"kernel={self.kernel!r} must be one of {sorted(KERNELS)} or an object of evencut.kernels."
            )
        return clone(self.kernel)

    def _check_points(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        given = isinstance(kernel, Precomputed)
        if callable(getattr(X, "__dask_graph__", None)):
            raise TypeError(
                f"{type(self).__name__} holds all points in memory, but X is a Dask collection; use "
                "LandmarkClustering, which reads it block by block, or pass X.compute()."
            )
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=("csr", "csc", "coo") if given else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )

    def _check_n_clusters(self, points: Any, kernel: Kernel) -> None:
        n_distinct, what = points.shape[0], "points"
        if not isinstance(kernel, Precomputed):
            # A look at the first rows usually settles it; only then are all compared.
            for rows in (points[: 4 * self.n_clusters + 1000], points):
                n_distinct, what = len(np.unique(rows, axis=0)), "distinct points"
                if n_distinct >= self.n_clusters:
                    return
        if n_distinct < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {n_distinct} {what} given; "
                f"ask for at most {n_distinct} clusters."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = given
        return tags


class KernelKMeans(KernelClustering):
    r"""Kernel k-means: :class:`KernelClustering` with the average association criterion (eq. AA).

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{|S_k|}

    Prone to isolating dense clumps (Breiman's bias) unless `equalize` or an adaptive kernel evens the density.
    Parameters and attributes are those of :class:`KernelClustering`, without `criterion`.

    Examples
    --------
    >>> from evencut import KernelKMeans
    >>> KernelKMeans(2, kernel="gaussian", random_state=0).fit_predict([[0.0], [0.1], [3.0], [3.1]])
    array([0, 0, 1, 1])
    """

    criterion = "average_association"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel = "knn",
        equalize: str | None = None,
        solver: str = "auto",
        n_init: int = 4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.equalize = equalize
        self.solver = solver
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs


class NormalizedCut(KernelClustering):
    r"""Normalised cut: :class:`KernelClustering` with its default criterion, under its own name (eq. NC).

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p}

    Parameters and attributes are those of :class:`KernelClustering`, without `criterion`.

    Examples
    --------
    >>> from evencut import NormalizedCut
    >>> NormalizedCut(2, kernel="gaussian", random_state=0).fit_predict([[0.0], [0.1], [3.0], [3.1]])
    array([0, 0, 1, 1])
    """

    criterion = "normalized_cut"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel = "knn",
        equalize: str | None = None,
        solver: str = "auto",
        n_init: int = 4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.equalize = equalize
        self.solver = solver
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs


def _check_choice(name: str, value: Any, choices: Any) -> None:
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {[*choices]}.")


def _subset(X: Any, kept: NDArray[np.intp], pairwise: bool) -> Any:
    """The rows kept (of an affinity, rows and columns); all of X, uncopied, where nothing is left out."""
    if len(kept) == X.shape[0]:
        return X
    if sparse.issparse(X):
        return sparse.csr_array(X)[kept][:, kept]
    return X[np.ix_(kept, kept)] if pairwise else X[kept]
