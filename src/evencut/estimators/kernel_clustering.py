"""The scikit-learn estimator: kernel + criterion + solver, with density equalisation where asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight

from ..affinity import SCALES, AffinityLike, PreparedPoints, as_affinity, limits, prepare, prepare_affinity
from ..criteria import CRITERIA, EQUALIZATIONS, PosedProblem, pose
from ..kernels import Extension, Kernel
from ..selection import Selection, choose_number, select, select_number
from ..solvers import SOLVERS, Solution, heaviest_first, refine, solve
from ..tensors import is_tensor, to_array
from .cluster_space import ClusterSpaceMixin
from .devices import fit_tensor, number_on_device
from .fitted import FittedClustering
from .fitting import step, warn_of_early_stop, whole_or_nothing
from .inputs import (
    check_choice,
    check_count,
    check_metric,
    check_n_clusters,
    check_n_jobs,
    check_points,
    check_space,
    kernel_from,
    memory_advice,
    seed_from,
    tags_of_inputs,
)
from .partial_labels import check_partial, emphasis, labels_of_points, steer
from .prediction import Prediction

__all__ = ["KernelClustering"]


@dataclass(frozen=True, eq=False)
class _Chosen:
    """A kernel with its affinity, and what was found while choosing it."""

    kernel: Kernel
    affinity: AffinityLike
    extension: Extension | None
    n_clusters: int
    selection: Selection | None = None
    start: Solution | None = None


class KernelClustering(FittedClustering, ClusterSpaceMixin, ClusterMixin, BaseEstimator):
    r"""Kernel clustering without density bias.

    Splits the points into k clusters that minimise a criterion on a kernel's affinity A, such as

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p} \quad \text{(eq. 10)}

    The default takes the partition that candidates of different principles agree on most: normalised cuts of
    shared-neighbour graphs at several scales, cuts of spanning trees, and a mixture of Gaussians. A tenth of the votes
    goes to clusters that leak little for how fast they mix; no size or shape is preferred (:mod:`evencut.selection` has
    the formula).

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        `"auto"` takes the number from 2 to 40 whose worst cluster leaks least against one cluster more, and that
        trees agree with; 1 where there is no structure (:mod:`evencut.selection`).
    kernel : str or kernel object, default="auto"
        `"auto"`: the consensus of :func:`evencut.selection.select`, on :class:`evencut.kernels.SharedNeighbors` at
        scales around a sixth of an average cluster. More than 5000 distinct points (or 20 a cluster) are condensed to
        so many weighted centres first. With `solver="lloyd"` or `"multilevel"`, 25 neighbours and nothing compared. Or
        `"shared_neighbors"`, `"knn"`, `"gaussian"`, `"disc"`, `"adaptive_gaussian"`, `"local_scaling"`, `"geodesic"`,
        `"precomputed"`, or an object of :mod:`evencut.kernels` with parameters of its own.
    criterion : {"normalized_cut", "average_association", "average_cut"}, default="normalized_cut"
        Average association is kernel k-means.
    equalize : {None, "weights", "exact"}, default=None
        `"weights"`: adaptive point weights :math:`w_p = 1/\rho_p` (eq. 43), the density read off
        the degrees of the affinity (eq. 67). `"exact"`: the affinity is scaled to equal
        degrees, after which all criteria are one.
    solver : {"auto", "spectral", "multilevel", "lloyd"}, default="auto"
        As in :func:`evencut.solvers.solve`.
    scale : {"auto", "standard", None}, default="auto"
        Division of the columns before distances are taken. `"standard"`: by their standard deviations.
        `"auto"`: the same with `kernel="auto"` where there are more than 3 columns and their deviations differ
        by more than 10 times (a table of different units rather than coordinates), else none. `None`: none. A
        precomputed affinity is never scaled.
    metric : str, default="euclidean"
        `"cosine"` is Euclidean distance between rows of unit length, exactly: what embeddings and TF-IDF rows are
        compared by. `"precomputed"`: X holds the distances between all points, at `predict` those of new points
        (rows) to the fitted ones. Or `"manhattan"`, `"chebyshev"`, `"canberra"`, `"braycurtis"`, `"correlation"`.
        `scale="auto"` scales nothing unless it is Euclidean.
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
    margin_ : ndarray of shape (n_samples,)
        How much dearer the second-best cluster would be, from 0 at a border to 1 deep inside a cluster.
    n_clusters_ : int
        Number of clusters, given or chosen.
    selection_ : Selection
        With `kernel="auto"` or `n_clusters="auto"`: the candidates that were compared, best first, with their
        scores; :meth:`plot_selection` draws them.
    feature_scale_ : ndarray of shape (n_features_in_,)
        What the columns were divided by.
    point_of_row_ : ndarray of shape (n_samples,)
        The point that each row became: rows that are equal are one point; -1 for rows of weight zero. Where all rows
        are distinct and have a weight, the points are the rows.
    affinity_ : ndarray or CSR array of shape (n_points, n_points)
        The affinity of the kernel between the points, before equalisation; a copy.
    weights_ : ndarray of shape (n_points,)
        Point weights: sample weights, summed over equal rows, times adaptive weights.
    equalizing_scale_ : ndarray of shape (n_points,)
        The scale :math:`s_p` of exact equalisation, ones without it.
    degrees_ : ndarray of shape (n_points,)
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
    A row that occurs c times is one point of weight c, for every kernel: neighbours are counted among distinct
    points, so that copies do not fill a neighbourhood, and a sample weight means the same as repetition. Near-copies,
    nearer to each other than a thousandth of the distance to anyone else, are copies too. A weight of zero leaves a
    row out of the fit; it is labelled afterwards as a new point would be.

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
        metric: str = "euclidean",
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
        self.metric = metric
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
        X : array, tensor or sparse matrix of shape (n_samples, n_features), frame, or square matrix
            Points; or, with `kernel="precomputed"`, a dense or sparse affinity; or, with `metric="precomputed"`,
            distances. Sparse rows stay sparse. With a torch tensor, labels and other attributes are tensors on its
            device.
        y : array of int of shape (n_samples,), optional
            Partial labels: the clusters, from 0, of rows where they are known, and -1 elsewhere. Labelled rows keep
            their label, and steer the rest. A `y` without any -1 is ignored, as scikit-learn's clusterers do.
        sample_weight : array of shape (n_samples,), optional
            How many points each point stands for.

        Returns
        -------
        self
        """
        kernel = self._check_parameters()
        if is_tensor(X):
            return fit_tensor(self, X, y, sample_weight, kernel)
        return self._fit_array(X, y, sample_weight, kernel)

    def _fit_array(self, X: Any, y: Any, sample_weight: ArrayLike | None, kernel: Kernel | None) -> KernelClustering:
        X = self._check_points(X, kernel, reset=True)
        partial = check_partial(y, X.shape[0])
        prepared = self._prepare(X, sample_weight, kernel)
        solution = self._fit_prepared(prepared, kernel, partial)
        warn_of_early_stop(solution, self.max_iter)
        self._label_rows(X[prepared.of_row < 0], prepared, solution, partial)
        return self

    def _fit_prepared(
        self, prepared: PreparedPoints, kernel: Kernel | None, partial: NDArray[np.int64] | None
    ) -> Solution:
        """Choose, pose, solve and record, once the points are what is to be clustered."""
        seed = seed_from(self.random_state)
        step("neighbours and affinity", 1, 3)
        with memory_advice(len(prepared.weights)):
            chosen = self._choose(prepared, kernel, seed, 1 if partial is None else int(partial.max()) + 1)
        step("clusters", 2, 3)
        if partial is None:
            posed = pose(chosen.affinity, prepared.weights, self.criterion, self.equalize)
            solution = self._solve(posed, chosen, seed)
            labels = heaviest_first(solution.labels, posed.problem.weights, prepared.first_row)
            solution = replace(solution, labels=labels)
        else:
            posed, solution = self._steer(prepared, chosen, partial, seed)
        step("summary", 3, 3)
        self._record(prepared, chosen, posed, solution)
        return solution

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
        """Cluster the points and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def _prepare(self, X: Any, sample_weight: ArrayLike | None, kernel: Kernel | None) -> PreparedPoints:
        """The distinct points of positive weight, their columns scaled; of a given affinity, its rows as they are."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not (weights > 0).any():
            raise ValueError("sample_weight is zero for every point; give at least some a positive weight.")
        if kernel is not None and kernel.is_pairwise:
            prepared = prepare_affinity(X, weights)
        else:
            prepared = prepare(
                X,
                weights,
                scale=self._scale_with(kernel),
                has_units=kernel is not None and kernel.has_units,
                merge=kernel is None or not kernel.is_tied_to_rows,
                most=self._most_points() if kernel is None else None,
                n_jobs=self.n_jobs,
                names=getattr(self, "feature_names_in_", None),
                metric=self.metric,
            )
            check_space(kernel, prepared.points, self.metric)
        if not isinstance(self.n_clusters, str):
            check_n_clusters(self.n_clusters, prepared)
        return prepared

    def _most_points(self) -> int:
        n_clusters = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        return max(limits.MOST_COMPARED, limits.POINTS_PER_CLUSTER * n_clusters)

    def _choose(self, prepared: PreparedPoints, kernel: Kernel | None, seed: int, least: int) -> _Chosen:
        """The kernel, its affinity and the number of clusters; with `kernel="auto"` also a first solution."""
        points, weights = prepared.points, prepared.weights
        if kernel is None:
            how = {name: getattr(self, name) for name in ("solver", "n_init", "max_iter", "n_jobs")}
            found = select(points, self.n_clusters, least=least, weights=weights, random_state=seed, **how)
            return _Chosen(
                found.kernel, found.affinity, found.extension, found.n_clusters, found.selection, found.solution
            )
        affinity, extension = kernel.affinity_and_extension(points, weights=weights, n_jobs=self.n_jobs)
        if is_tensor(points) or not isinstance(self.n_clusters, str):
            return _Chosen(kernel, affinity, extension, number_on_device(self, points, seed))
        selection = select_number(affinity, weights, seed)
        n_clusters = max(choose_number(selection.numbers), least)
        return _Chosen(kernel, affinity, extension, n_clusters, selection)

    def _solve(self, posed: PosedProblem, chosen: _Chosen, seed: int) -> Solution:
        """The solution found while choosing, refined where the criterion is another; else a new one."""
        if chosen.start is None:
            how = {name: getattr(self, name) for name in ("solver", "n_init", "max_iter")}
            return solve(posed.problem, chosen.n_clusters, random_state=seed, **how)
        if self.criterion == "normalized_cut" and self.equalize is None:
            return chosen.start
        by_moves = SOLVERS[self.solver].by_moves
        return refine(posed.problem, chosen.start.labels, chosen.n_clusters, by_moves, max_iter=self.max_iter)

    def _steer(
        self, prepared: PreparedPoints, chosen: _Chosen, partial: NDArray[np.int64], seed: int
    ) -> tuple[PosedProblem, Solution]:
        """The problem in which labelled points count more, and its solution with these held."""
        held = labels_of_points(partial, prepared, chosen.n_clusters)
        weights = prepared.weights * emphasis(held, prepared.weights, chosen.n_clusters)
        posed = pose(chosen.affinity, weights, self.criterion, self.equalize)
        start = chosen.start or self._solve(posed, chosen, seed)
        return posed, steer(posed.problem, start.labels, held, chosen.n_clusters, self.max_iter, seed)

    def _label_rows(
        self, left_out: Any, prepared: PreparedPoints, solution: Solution, partial: NDArray[np.int64] | None
    ) -> None:
        """Give every row the label and the margin of its point; rows of weight zero, `left_out`, are predicted."""
        self.labels_ = solution.labels[prepared.of_row]
        self.margin_ = self._prediction.fitted_margins[prepared.of_row]
        places = np.flatnonzero(prepared.of_row < 0)
        if places.size:
            rows = prepared.scaled(left_out)
            self.labels_[places] = to_array(self._prediction.labels(rows))
            self.margin_[places] = to_array(self._prediction.margins(rows))
        if partial is not None:
            self.labels_[partial >= 0] = partial[partial >= 0]

    def _record(self, prepared: PreparedPoints, chosen: _Chosen, posed: PosedProblem, solution: Solution) -> None:
        """Keep what the fit has found, the points in the order of their first rows."""
        self._prediction = Prediction.of(chosen, prepared, posed, solution.labels, self.n_jobs)
        self._prepared = prepared
        self._affinity = chosen.affinity
        if chosen.selection is not None:
            self.selection_ = chosen.selection
        self.n_clusters_ = chosen.n_clusters
        self.feature_scale_ = prepared.feature_scale
        order = prepared.given_order
        place = np.full(len(order) + 1, -1)
        place[order] = np.arange(len(order))
        self.point_of_row_ = place[prepared.of_row]
        self.weights_ = posed.weights[order]
        self.equalizing_scale_ = posed.scale[order]
        self.degrees_ = to_array(as_affinity(chosen.affinity).degrees())[order]
        self.energy_ = solution.energy
        self.energy_trace_ = np.array(solution.trace)
        self.n_iter_ = solution.n_iter

    def _check_parameters(self) -> Kernel | None:
        """Raise for parameters out of range; the kernel as an object, None where it is to be chosen."""
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("equalize", self.equalize, EQUALIZATIONS)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("scale", self.scale, SCALES)
        for name in ("n_clusters", "n_init", "max_iter"):
            check_count(name, getattr(self, name), auto=name == "n_clusters")
        check_n_jobs(self.n_jobs)
        kernel = kernel_from(self.kernel, auto=True)
        check_metric(self.metric, kernel)
        return kernel

    def _check_points(self, X: Any, kernel: Kernel | None, *, reset: bool) -> Any:
        return check_points(self, X, kernel is not None and kernel.is_pairwise, self.metric, reset=reset)

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), self.kernel, self.metric)
