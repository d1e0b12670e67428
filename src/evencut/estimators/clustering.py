"""The six stations of a fit in memory: check the input, prepare points, choose, pose, solve, record the model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state

from .._runtime import step
from ..affinity import AffinityLike, as_affinity
from ..criteria import PosedProblem
from ..kernels import Extension, Kernel, prepare_affinity
from ..neighbors.metrics import Metric
from ..points import CoordinateSystem, PreparedPoints, prepare_points
from ..selection import Selection
from ..solvers import Solution, heaviest_first
from ..solvers.bounds import bounded
from ..tensors import Floats, Ints, asarray_like, is_tensor, to_array
from .fitted import FittedClustering
from .fitting import atomic_fit, explain_parameters, tensor_or_array, warn_of_early_stop
from .hierarchy import Hierarchy, hierarchy_of, real_clusters, steady_clusters
from .inputs import check_n_clusters, check_partial, check_points, check_sizes, check_space, tags_of_inputs
from .model import FittedModel
from .supervision import Links, check_links, labels_of_points, log_shares, satisfy_links, solve_with_labels


class FitInput(NamedTuple):
    """The input of a fit, checked; `rows` are a tensor if the fit runs `on_device`. `labels` are partial."""

    rows: Any
    weights: Any
    kernel: Kernel | None = None
    labels: Ints | None = None
    links: Links | None = None
    on_device: bool = False


@dataclass(frozen=True, eq=False)
class Choice:
    """The affinity, the number of clusters and the problem that an estimator chose, and what it compared.

    Parameters
    ----------
    kernel : Kernel
    affinity : array or affinity of shape (n, n)
    extension : callable or None
        From new points to their affinities.
    n_clusters : int
    problem : dict
        Criterion and equalisation of the problem whose clusters label new points, and the effort of its solver.
    selection : Selection, optional
        If something was compared.
    labels : ndarray of shape (n,), optional
        The partition, if the comparison includes it.
    posed : PosedProblem, optional
        The problem, posed by the comparison that includes the partition.
    system, points : CoordinateSystem and points, optional
        From the prepared points to those of the affinity, if they differ, and these.
    """

    kernel: Kernel
    affinity: AffinityLike
    extension: Extension | None
    n_clusters: int
    problem: dict[str, Any]
    selection: Selection | None = None
    labels: Ints | None = None
    posed: PosedProblem | None = None
    system: CoordinateSystem | None = None
    points: Any = None

    def tree(self, prepared: PreparedPoints, labels: Ints) -> Hierarchy:
        """The tree over these clusters."""
        return hierarchy_of(self.affinity, prepared.weights, labels, points=prepared.points)


class FitResult(NamedTuple):
    """The points in the chosen coordinate system, the choice, the problem and its solution."""

    points: PreparedPoints
    choice: Choice
    posed: PosedProblem
    solution: Solution


@dataclass(eq=False, repr=False)
class Clustering(FittedClustering, ClusterMixin, BaseEstimator):
    """What the estimators of one table in memory share; each says what it chooses and which problem it poses."""

    n_clusters: int | str = "auto"
    _: KW_ONLY
    scale: str | None = "auto"
    metric: Metric = "euclidean"
    min_size: float | None = None
    max_size: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int = 0

    @atomic_fit
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Cluster the points.

        Parameters
        ----------
        X : array, tensor or sparse matrix of shape (n_samples, n_features), frame, or square matrix
            Points; or, with `kernel="precomputed"`, a dense or sparse affinity; or, with `metric="precomputed"`,
            distances. Sparse rows stay sparse. With a torch tensor, labels and other attributes are tensors on its
            device; with an array of another library that shares its memory by DLPack, arrays of that library.
        y : array or column of shape (n_samples,), optional
            Partial labels: whole numbers from 0, or names, for known rows; -1, NaN, None or pandas' missing value for
            the others. Labelled rows keep their label and influence the others. Names are numbered in sorted order, see
            `classes_`. A `y` without missing labels is ignored, as in scikit-learn.
        sample_weight : array of shape (n_samples,), optional
            Counts a row as that many copies.
        must_link, cannot_link : array of shape (n_pairs, 2), optional
            Pairs of row numbers that must, or must not, share a cluster; `labels_` satisfies all of them.
            :class:`EvenCut` switches to another candidate if that satisfies significantly more pairs. Contradictory
            pairs raise an error that names them.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
        >>> labels = EvenCut(2, random_state=0).fit(X, cannot_link=[(0, 1)]).labels_
        >>> bool(labels[0] != labels[1])
        True
        """
        inputs = self._check_fit(X, y, sample_weight, must_link, cannot_link)
        prepared = self._prepare(inputs)
        return self._record(inputs, self._cluster(prepared, inputs))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **links: Any) -> Ints:
        """Cluster the points and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y, sample_weight=sample_weight, **links).labels_

    def label_points(self, prepared: PreparedPoints) -> Ints:
        """Fit to points that are prepared already; their clusters."""
        few = prepared.condensed(self._max_points(), self.n_jobs)
        inputs = FitInput(None, few.weights, self._check_parameters())
        return self._cluster(few, inputs).solution.labels[few.point_of_row]

    @abstractmethod
    def _check_parameters(self) -> Kernel | None:
        """Raise for parameters out of range; return the kernel as an object, None without one."""

    @abstractmethod
    def _scaling(self, X: Any = None) -> str | None:
        """The scaling of the columns that `scale` stands for, as :func:`evencut.points.prepare_points` knows it."""

    @abstractmethod
    def _choose(self, prepared: PreparedPoints, inputs: FitInput, seed: int, min_clusters: int) -> Choice:
        """The affinity, the number of clusters and the problem; links rank the partitions compared."""

    def _max_points(self) -> int | None:
        """More distinct points than this are condensed to this number of weighted centres."""
        return None

    def _check_fit(self, X: Any, y: Any, sample_weight: Any, must_link: Any, cannot_link: Any) -> FitInput:
        """Station 1: parameters, rows, weights, partial labels and links, each checked."""
        kernel = self._check_parameters()
        has_links = must_link is not None or cannot_link is not None
        on_device = False
        if is_tensor(X):
            if self.min_size is not None or self.max_size is not None:
                raise TypeError("min_size and max_size need points in memory; pass the tensor as an array.")
            y = to_array(y) if is_tensor(y) else y
            X = to_array(X) if has_links else tensor_or_array(self, X, y, sample_weight, kernel)
            on_device = is_tensor(X)
        rows = X if on_device else check_points(self, X, kernel, reset=True)
        n_rows = rows.shape[0]
        links = check_links(must_link, cannot_link, n_rows) if has_links else None
        labels = check_partial(self, y, n_rows)
        significance = getattr(self, "significance", None)
        if labels is not None and significance is not None:
            raise ValueError(
                f"significance={significance!r} may join clusters that partial labels keep apart; leave one out."
            )
        return FitInput(rows, sample_weight, kernel, labels, links, on_device)

    def _prepare(self, inputs: FitInput) -> PreparedPoints:
        """Station 2: distinct points of positive weight, their columns scaled; of an affinity, its rows unchanged."""
        kernel = inputs.kernel
        if kernel is not None and kernel.is_pairwise:
            prepared = prepare_affinity(inputs.rows, inputs.weights)
        else:
            prepared = prepare_points(
                inputs.rows,
                inputs.weights,
                scale=self._scaling(inputs.rows),
                has_units=kernel is not None and kernel.has_units,
                merge=kernel is None or not kernel.is_tied_to_rows,
                max_points=self._max_points(),
                n_jobs=self.n_jobs,
                names=getattr(self, "feature_names_in_", None),
                metric=self.metric,
            )
            check_space(kernel, prepared.points, self.metric)
        # The CPU compares the partitions of condensed points.
        return prepared.in_memory if inputs.on_device and kernel is None else prepared

    def _cluster(self, prepared: PreparedPoints, inputs: FitInput) -> FitResult:
        """Stations 3 to 5: choose an affinity and a number of clusters, pose the problem, solve it."""
        check_n_clusters(self.n_clusters, len(prepared.weights), int((prepared.point_of_row >= 0).sum()))
        seed, weights = int(check_random_state(self.random_state).randint(2**31 - 1)), prepared.weights
        bounds = check_sizes(self, weights, inputs.labels is not None or inputs.links is not None)
        min_clusters = 1 if inputs.labels is None else int(inputs.labels.max()) + 1
        try:
            choice = self._choose(prepared, inputs, seed, max(min_clusters, bounds.min_clusters if bounds else 1))
        except MemoryError as error:
            raise MemoryError(
                f"the affinity of {len(weights)} points does not fit in memory ({error}); use kernel='knn', or "
                "LandmarkClustering, which never holds it."
            ) from error
        if bounds is not None and choice.n_clusters > bounds.max_clusters:
            choice = _with_fewer_clusters(choice, prepared, int(bounds.max_clusters))
        # Where partitions were compared, that took nearly all of the time.
        n_steps = 20 if choice.labels is not None else 3
        if choice.labels is None:
            step("clusters", 2, n_steps)
        if inputs.labels is None and choice.posed is not None and choice.labels is not None:
            posed, solution = choice.posed, Solution(choice.labels, 0.0, 1, (0.0,), True)
        else:
            held = None
            if inputs.labels is not None:
                held = labels_of_points(inputs.labels, prepared, choice.n_clusters)
            effort = {**choice.problem, "seed": seed, "start": choice.labels}
            posed, solution = solve_with_labels(choice.affinity, weights, held, choice.n_clusters, **effort)
        if bounds is not None:
            solution = bounded(posed.problem, solution, choice.n_clusters, bounds)
        if inputs.labels is None:
            solution = replace(solution, labels=heaviest_first(solution.labels, weights))
        step("summary", n_steps, n_steps)
        points = prepared
        if choice.system is not None:
            points = replace(prepared, points=choice.points, system=choice.system)
        labels = self._keep_real(points, choice, solution.labels, inputs.labels is not None or bounds is not None)
        if labels is not solution.labels:
            solution = replace(solution, labels=labels)
            choice = replace(choice, n_clusters=int(labels.max()) + 1)
        return FitResult(points, choice, posed, solution)

    def _keep_real(self, prepared: PreparedPoints, choice: Choice, labels: Ints, is_fixed: bool) -> Ints:
        """The clusters that a test of their splits separates; all of them if their number is given."""
        if self._usual_number is not None and isinstance(self.n_clusters, str) and not is_fixed:
            steady = steady_clusters(prepared, choice.tree(prepared, labels), labels, self._usual_number)
            labels = heaviest_first(steady, prepared.weights)
        significance = getattr(self, "significance", None)
        if significance is not None and labels.max() > 0:
            real = real_clusters(prepared, choice.tree(prepared, labels), labels, significance)
            labels = heaviest_first(real, prepared.weights)
        return labels

    def _record(self, inputs: FitInput, result: FitResult) -> Self:
        """Station 6: set the attributes; those of points are in the order of their first rows."""
        prepared, choice, posed, solution = result
        warn_of_early_stop(solution.converged, f"max_iter={choice.problem['max_iter']} sweeps of refinement")
        self._left_out = self._is_given = self._numbers = None
        self._derived = {}
        self._model = FittedModel.of(choice.kernel, choice.extension, prepared, posed, solution.labels, self.n_jobs)
        self._prepared, self._affinity = prepared, choice.affinity
        if choice.selection is not None:
            self.selection_ = choice.selection
        self.n_clusters_, self.feature_scale_ = choice.n_clusters, prepared.divisor
        order = prepared.given_order
        place = np.full(len(order) + 1, -1)
        place[order] = np.arange(len(order))
        self.point_of_row_, self.weights_ = place[prepared.point_of_row], posed.weights[order]
        self.labels_ = solution.labels[prepared.point_of_row]
        without_weight = np.flatnonzero(prepared.point_of_row < 0)
        if without_weight.size:
            rows = inputs.rows[asarray_like(inputs.rows, without_weight)]
            rows = prepared.scaled(to_array(rows) if inputs.on_device and inputs.kernel is None else rows)
            self.labels_[without_weight] = to_array(self._model.labels(rows))
            self._left_out = rows, self.labels_[without_weight]
        if inputs.labels is not None:
            self._is_given = inputs.labels >= 0
            self.labels_[self._is_given] = inputs.labels[self._is_given]
        if inputs.links is not None:
            self.labels_ = satisfy_links(inputs.links, self.labels_, self._log_shares(), inputs.labels)
        return self

    def _log_shares(self) -> Floats:
        """Logarithm of the probability of each cluster for each row; rows of weight zero know only their own."""
        point_of_row = self._prepared.point_of_row
        of_points = log_shares(as_affinity(self._affinity), self._model.fitted_labels, self._model.point_scale)
        of_rows = of_points[point_of_row]
        without_weight = point_of_row < 0
        of_rows[without_weight] = np.log(np.eye(of_rows.shape[1])[self.labels_[without_weight]] + 1e-3)
        return of_rows

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), getattr(self, "kernel", None), self.metric)


def _with_fewer_clusters(choice: Choice, prepared: PreparedPoints, n_clusters: int) -> Choice:
    """The same with this number of clusters: those of the tree above them."""
    labels = choice.labels
    if labels is not None:
        tree = choice.tree(prepared, labels)
        labels = tree.cut(n_clusters)[tree.leaf_of_point]
    return replace(choice, n_clusters=n_clusters, labels=labels)


# Subclasses without new parameters inherit it.
Clustering.__init__ = explain_parameters(Clustering.__init__)  # type: ignore[method-assign]
