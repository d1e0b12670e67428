"""The scikit-learn estimator: kernel + criterion + solver, with density equalisation where asked for."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .affinity import Affinity, degrees, scale_affinity
from .assignment import Assignment
from .criteria import CRITERIA, RatioProblem
from .equalization import density_law, equalizing_scale
from .kernels import KERNELS, Auto, Kernel, Precomputed
from .neighbors import NeighborSearch, near_order
from .progress import step, whole_or_nothing
from .scaling import SCALES, feature_scale
from .selection import select, select_number
from .solvers import SOLVERS, refine, solve
from .validation import check_choice, check_count, check_n_clusters, memory_advice, subset

if TYPE_CHECKING:
    from .diagnosis import BiasReport

__all__ = ["KernelClustering"]

# More points are put in an order that keeps neighbours near each other in memory.
_MANY_POINTS = 20_000


class KernelClustering(ClusterMixin, BaseEstimator):
    r"""Kernel clustering without density bias.

    Splits the points into k clusters that minimise a criterion on a kernel's affinity A, such as

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p} \quad \text{(eq. NC)}

    The default chooses a shared-neighbour kernel by itself: its scale, with the start of the search, is the one
    whose clusters leak least for how fast they mix inside (:mod:`evencut.selection` has the formula).

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        `"auto"` takes the number from 2 to 40 whose worst cluster leaks least against the next rate of the
        graph (:mod:`evencut.cluster_number`).
    kernel : str or kernel object, default="auto"
        `"auto"`: :class:`evencut.kernels.SharedNeighbors` at a scale of 0.6, 1 or 1.6 times a sixth of an average
        cluster (kept within 10 and 25 neighbours), whichever :func:`evencut.selection.select` judges best by its
        normalised cut. More than 20000 points are not judged but start from the cut of landmarks
        (:class:`LandmarkClustering`) and are refined with 15 neighbours. With `solver="lloyd"` or
        `"multilevel"`, 25 neighbours unjudged. Or
        `"shared_neighbors"`, `"knn"`, `"gaussian"`, `"adaptive_gaussian"`, `"local_scaling"`, `"geodesic"`,
        `"precomputed"`, or an object of :mod:`evencut.kernels` with parameters of its own.
    criterion : {"normalized_cut", "average_association", "average_cut"}, default="normalized_cut"
        Average association is kernel k-means.
    equalize : {None, "weights", "exact"}, default=None
        `"weights"`: adaptive point weights :math:`w_p = 1/\rho_p` (eq. wDensity), the density read off
        the degrees of the affinity (eq. degree=density). `"exact"`: the affinity is scaled to equal
        degrees, after which all criteria are one.
    solver : {"auto", "spectral", "multilevel", "lloyd"}, default="auto"
        As in :func:`evencut.solvers.solve`.
    scale : {"auto", "standard", None}, default="auto"
        Division of the columns before distances are taken. `"standard"`: by their standard deviations.
        `"auto"`: the same with `kernel="auto"` where there are more than 3 columns and their deviations differ
        by more than 10 times (a table of different units rather than coordinates), else none. `None`: none. A
        precomputed affinity is never scaled.
    n_init : int, default=4
        Number of starts; the one of lowest energy is kept.
    max_iter : int, default=100
        Most sweeps of refinement a start.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, whatever `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the neighbour search and of affinities computed by blocks; -1 takes all cores.
    verbose : int, default=0
        1 tells the progress of the fit on stderr, as a bar on a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by falling weight.
    n_clusters_ : int
        Number of clusters, given or chosen.
    selection_ : Selection
        With `kernel="auto"` or `n_clusters="auto"`: the candidates that were compared, best first, with their
        scores; :meth:`plot_selection` draws them.
    feature_scale_ : ndarray of shape (n_features_in_,)
        What the columns were divided by.
    affinity_ : ndarray or CSR array of shape (n_samples, n_samples)
        The affinity of the kernel, before equalisation; of a sparse graph of more than 20000 points, a copy.
    weights_ : ndarray of shape (n_samples,)
        Point weights: sample weights times adaptive weights.
    equalizing_scale_ : ndarray of shape (n_samples,)
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
        n_clusters: int | str = 8,
        *,
        kernel: str | Kernel = "auto",
        criterion: str = "normalized_cut",
        equalize: str | None = None,
        solver: str = "auto",
        scale: str | None = "auto",
        n_init: int = 4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.criterion = criterion
        self.equalize = equalize
        self.solver = solver
        self.scale = scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_nothing
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
        if kernel.is_graph and len(kept) > _MANY_POINTS:
            kept = kept[near_order(X[kept])]
        points = subset(X, kept, isinstance(kernel, Precomputed))
        if not isinstance(self.n_clusters, str):
            check_n_clusters(self.n_clusters, points, pairwise=isinstance(kernel, Precomputed))
        self.feature_scale_ = self._feature_scale(points, kernel)
        points = self._scaled(points)

        step("neighbours and affinity", 1, 3)
        how: dict[str, Any] = {name: getattr(self, name) for name in ("solver", "n_init", "max_iter")}
        how["random_state"] = check_random_state(self.random_state).randint(2**31 - 1)
        selection = None
        with memory_advice(points.shape[0]):
            if isinstance(kernel, Auto):
                selected = select(points, self.n_clusters, weights=all_weights[kept], n_jobs=self.n_jobs, **how)
                kernel, affinity, solution, selection = selected
                self.n_clusters_ = selection.best.n_clusters
            else:
                affinity = kernel.affinity(points, n_jobs=self.n_jobs)
        if selection is None and not isinstance(self.n_clusters, str):
            self.n_clusters_ = self.n_clusters
        elif selection is None:
            selection = select_number(affinity, all_weights[kept], how["random_state"])
            self.n_clusters_ = selection.numbers[0].n_clusters if selection.numbers else 1
        step("clusters", 2, 3)
        problem, weights, scale = self._pose(affinity, all_weights[kept])
        if selection is None or not selection.candidates:
            solution = solve(problem, self.n_clusters_, **how)
        elif self.criterion != "normalized_cut" or self.equalize is not None:
            by_moves = self.solver != "lloyd"
            solution = refine(problem, solution.labels, self.n_clusters_, by_moves=by_moves, max_iter=self.max_iter)
        if not solution.converged:
            warnings.warn(
                f"points still moved after max_iter={self.max_iter} sweeps of refinement; raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )
        step("summary", 3, 3)
        own_weight = "even" if self.equalize == "exact" else "one"
        if self.criterion == "normalized_cut" and own_weight == "one":
            own_weight = "degree"
        self._assignment = Assignment.from_problem(problem, solution.labels, weights * scale, own_weight)
        self._extension_parts = kernel, points, kept
        self._affinity = affinity
        if selection is not None:
            self.selection_ = selection
        given = np.argsort(kept)
        self.weights_ = weights[given]
        self.equalizing_scale_ = scale[given]
        self.degrees_ = degrees(affinity)[given]
        self.energy_ = solution.energy
        self.energy_trace_ = np.array(solution.trace)
        self.n_iter_ = solution.n_iter
        self.labels_ = solution.labels[given]
        if len(kept) < X.shape[0]:
            self.labels_ = self._label(self._scaled(X))
            self.labels_[kept] = solution.labels
        return self

    @property
    def affinity_(self) -> Affinity:
        """The affinity of the kernel, before equalisation."""
        check_is_fitted(self)
        kept = self._extension_parts[2]
        # Many points are kept in an order of their own; the affinity is brought back from it when asked for.
        return subset(self._affinity, np.argsort(kept), pairwise=True)

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
        return self._label(self._scaled(self._check_points(X, self._extension_parts[0], reset=False)))

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
        from .plotting import plot_selection

        check_is_fitted(self)
        if not hasattr(self, "selection_"):
            raise ValueError(
                f"nothing was selected with kernel={self.kernel!r} and n_clusters={self.n_clusters!r}; "
                "fit with kernel='auto' or n_clusters='auto' first."
            )
        return plot_selection(self.selection_, ax)

    def _feature_scale(self, points: Any, kernel: Kernel) -> NDArray[np.float64]:
        unasked = self.scale == "auto" and not isinstance(kernel, Auto)
        if unasked or isinstance(kernel, Precomputed):
            return np.ones(points.shape[1])
        return feature_scale(points, self.scale)

    def _scaled(self, X: Any) -> Any:
        if np.all(self.feature_scale_ == 1):
            return X
        return (X / self.feature_scale_).astype(X.dtype, copy=False)

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
        >>> from evencut import KernelClustering
        >>> from evencut.datasets import make_clumped_moons
        >>> X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
        >>> KernelClustering(n_clusters=2, random_state=0).fit(X).diagnose().verdict
        'ok'
        """
        # The one import down the table of rooms: a method for the user's sake, loaded only when called.
        from .diagnosis import diagnose

        check_is_fitted(self)
        kernel, points, kept = self._extension_parts
        if X is None and isinstance(kernel, Precomputed):
            raise ValueError("the model was fitted on an affinity; pass the points themselves: diagnose(X).")
        points = points if X is None else np.asarray(X)
        labels = self.labels_[kept] if X is None else self.labels_
        if len(labels) == len(kept):
            options.setdefault("affinity", self._affinity if X is None else self.affinity_)
        return diagnose(points, labels, **options)

    def _label(self, X: Any) -> NDArray[np.int64]:
        kernel, points, kept = self._extension_parts
        extension = kernel.extend(points, n_jobs=self.n_jobs)
        if isinstance(kernel, Precomputed):
            return self._assignment.predict(X[:, kept], extension)

        search = NeighborSearch(points, n_jobs=self.n_jobs)
        return self._assignment.predict(X, extension, lambda Y: search.query(Y, 1)[1][:, 0])

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
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("equalize", self.equalize, (None, "weights", "exact"))
        check_choice("solver", self.solver, SOLVERS)
        check_choice("scale", self.scale, SCALES)
        for name in ("n_clusters", "n_init", "max_iter"):
            check_count(name, getattr(self, name), auto=name == "n_clusters")
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 must be None, a number of threads, or -1 for all cores.")
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, KERNELS)
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = given
        return tags
