"""The steps of every fit in memory: prepare the points, choose an affinity, pose a problem, solve it, record it."""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import _check_sample_weight

from .._runtime import step
from ..affinity import AffinityLike, as_affinity
from ..criteria import PosedProblem, pose
from ..kernels import Extension, Kernel, prepare_affinity
from ..neighbors.metrics import Metric
from ..points import CoordinateSystem, PreparedPoints, prepare_points
from ..selection import Selection
from ..solvers import Solution, heaviest_first
from ..solvers.bounds import bounded
from ..tensors import Floats, Ints, is_tensor, to_array
from .cluster_space import ClusterSpaceMixin
from .constraints import Links, check_links, keep_links, log_shares
from .devices import fit_tensor
from .evidence import steady_clusters
from .fitted import FittedClustering
from .fitting import warn_of_early_stop, whole_or_nothing
from .hierarchy import hierarchy_of
from .inputs import check_n_clusters, check_points, check_space, memory_advice, seed_from
from .partial_labels import check_partial, labels_of_points, solve_steered
from .prediction import Prediction
from .refit import RefitMixin
from .sizes import fewest_clusters, has_bounds, size_bounds, with_most_clusters


@dataclass(frozen=True, eq=False)
class Chosen:
    """An affinity, the number of clusters, and what was compared to choose them.

    Parameters
    ----------
    kernel : Kernel
    affinity : array or affinity of shape (n, n)
    extension : callable or None
        From new points to their affinities.
    n_clusters : int
    selection : Selection, optional
        Where something was compared.
    solution : Solution, optional
        Where the comparison has found the partition too.
    system : CoordinateSystem, optional
        From the prepared points to those that the affinity is between, where they differ.
    """

    kernel: Kernel
    affinity: AffinityLike
    extension: Extension | None
    n_clusters: int
    selection: Selection | None = None
    solution: Solution | None = None
    system: CoordinateSystem | None = None


def explaining(initialise: Callable[..., None]) -> Callable[..., None]:
    """An `__init__` that names the class and what it takes when a parameter is unknown."""

    @functools.wraps(initialise)
    def explained(self: Any, *args: Any, **parameters: Any) -> None:
        known = [*inspect.signature(initialise).parameters][1:]
        unknown = next((name for name in parameters if name not in known), None)
        if unknown is not None:
            of_kernel = unknown in ("kernel", "criterion", "equalize", "solver", "n_init", "max_iter")
            cure = "KernelClustering has it, for one criterion on one kernel" if of_kernel else "check its name"
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown!r}: {cure}. It takes {', '.join(known)}."
            )
        initialise(self, *args, **parameters)

    return explained


@dataclass(eq=False, repr=False)
class Clustering(RefitMixin, FittedClustering, ClusterSpaceMixin, ClusterMixin, BaseEstimator):
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

    @whole_or_nothing
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
            device.
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
        kernel = self._check_parameters()
        links = None if must_link is None and cannot_link is None else (must_link, cannot_link)
        if is_tensor(X):
            if has_bounds(self):
                raise TypeError("min_size and max_size need points in memory; pass the tensor as an array.")
            return fit_tensor(self, X, y, sample_weight, kernel, links)
        return self._fit_array(X, y, sample_weight, kernel, links)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **links: Any) -> Ints:
        """Cluster the points and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y, sample_weight=sample_weight, **links).labels_

    def label_points(self, prepared: PreparedPoints) -> Ints:
        """Fit to points that are prepared already; their clusters."""
        kernel = self._check_parameters()
        few = prepared.condensed(self._most_points(), self.n_jobs)
        if not isinstance(self.n_clusters, str):
            check_n_clusters(self.n_clusters, few)
        return self._fit_prepared(few, kernel, None).labels[few.point_of_row]

    @abstractmethod
    def _check_parameters(self) -> Kernel | None:
        """Raise for parameters out of range; the kernel as an object, None where there is none to name."""

    @abstractmethod
    def _choose(
        self, prepared: PreparedPoints, kernel: Kernel | None, seed: int, least: int, links: Links | None
    ) -> Chosen:
        """The affinity and the number of clusters, at least `least` of them; pairs judge the partitions compared."""

    @abstractmethod
    def _problem(self) -> dict[str, Any]:
        """Criterion and equalisation of the problem whose clusters label new points, and the effort of its solver."""

    @abstractmethod
    def _solve(self, posed: PosedProblem, chosen: Chosen, seed: int) -> Solution:
        """The partition, where labels do not steer it."""

    def _most_points(self) -> int | None:
        """More distinct points than this are condensed to so many weighted centres."""
        return None

    def _fit_array(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, kernel: Kernel | None, pairs: Any = None
    ) -> Self:
        X = self._check_points(X, kernel, reset=True)
        links = None if pairs is None else check_links(pairs[0], pairs[1], X.shape[0])
        partial = check_partial(self, y, X.shape[0])
        prepared = self._prepare(X, sample_weight, kernel)
        solution = self._fit_prepared(prepared, kernel, partial, links)
        warn_of_early_stop(solution, self._problem()["max_iter"])
        self._label_rows(X[prepared.point_of_row < 0], solution, partial)
        if links is not None:
            self.labels_ = keep_links(links, self.labels_, self._log_shares(prepared), partial)
        return self

    def _log_shares(self, prepared: PreparedPoints) -> Floats:
        """How probable each cluster is for each row, as a logarithm; rows of weight zero know only their own."""
        own = self._prediction.fitted_labels
        likely = log_shares(as_affinity(self._affinity), own, self._prediction.point_scale)[prepared.point_of_row]
        left_out = prepared.point_of_row < 0
        likely[left_out] = np.log(np.eye(likely.shape[1])[self.labels_[left_out]] + 1e-3)
        return likely

    def _fit_prepared(
        self,
        prepared: PreparedPoints,
        kernel: Kernel | None,
        partial: Ints | None,
        links: Links | None = None,
    ) -> Solution:
        """Choose, pose, solve and record, once the points are what is to be clustered."""
        seed = seed_from(self.random_state)
        step("neighbours and affinity", 1, 3)
        with memory_advice(len(prepared.weights)):
            least = 1 if partial is None else int(partial.max()) + 1
            limits = size_bounds(self, prepared.weights, partial is not None or links is not None)
            chosen = self._choose(prepared, kernel, seed, max(least, fewest_clusters(limits)), links)
            chosen = with_most_clusters(chosen, prepared, limits)
        step("clusters", 2, 3)
        if partial is None:
            asked = self._problem()
            posed = pose(chosen.affinity, prepared.weights, asked["criterion"], asked["equalize"])
            solution = self._solve(posed, chosen, seed)
            if limits is not None:
                solution = bounded(posed.problem, solution, chosen.n_clusters, limits)
            labels = heaviest_first(solution.labels, prepared.weights)
            solution = replace(solution, labels=labels)
        else:
            posed, solution = self._steer(prepared, chosen, partial, seed)
        step("summary", 3, 3)
        if chosen.system is not None:
            prepared = prepared.in_system(chosen.system)
        chosen, solution = self._keep_real(prepared, chosen, solution, partial)
        self._record(prepared, chosen, posed, solution)
        return solution

    def _keep_real(
        self, prepared: PreparedPoints, chosen: Chosen, solution: Solution, partial: Ints | None
    ) -> tuple[Chosen, Solution]:
        """The clusters that a test of their splits leaves apart; all of them unless one is wanted."""
        automatic = isinstance(self.n_clusters, str) and partial is None and not has_bounds(self)
        if self._usual_number is None or not automatic:
            return chosen, solution
        weights = prepared.weights
        tree = hierarchy_of(chosen.affinity, weights, solution.labels, 0, points=prepared.points)
        labels = heaviest_first(steady_clusters(prepared, tree, solution.labels, self._usual_number), weights)
        return replace(chosen, n_clusters=int(labels.max()) + 1), replace(solution, labels=labels)

    def _prepare(self, X: Any, sample_weight: ArrayLike | None, kernel: Kernel | None) -> PreparedPoints:
        """The distinct points of positive weight, their columns scaled; of an affinity, its rows as they are."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not (weights > 0).any():
            raise ValueError("sample_weight is zero for every point; give at least some a positive weight.")
        if kernel is not None and kernel.is_pairwise:
            prepared = prepare_affinity(X, weights)
        else:
            prepared = prepare_points(
                X,
                weights,
                scale=self._scaling(X),
                has_units=kernel is not None and kernel.has_units,
                merge=kernel is None or not kernel.is_tied_to_rows,
                most=self._most_points(),
                n_jobs=self.n_jobs,
                names=getattr(self, "feature_names_in_", None),
                metric=self.metric,
            )
            check_space(kernel, prepared.points, self.metric)
        if not isinstance(self.n_clusters, str):
            check_n_clusters(self.n_clusters, prepared)
        return prepared

    def _steer(
        self, prepared: PreparedPoints, chosen: Chosen, partial: Ints, seed: int
    ) -> tuple[PosedProblem, Solution]:
        """The problem in which labelled points count more, and its solution with these held."""
        held = labels_of_points(partial, prepared, chosen.n_clusters)
        start = None if chosen.solution is None else chosen.solution.labels
        asked = {"seed": seed, "start": start, **self._problem()}
        return solve_steered(chosen.affinity, prepared.weights, held, chosen.n_clusters, **asked)

    def _label_rows(self, left_out: Any, solution: Solution, partial: Ints | None) -> None:
        """Give every row the label of its point; rows of weight zero, `left_out`, are predicted."""
        prepared = self._prepared
        self.labels_ = solution.labels[prepared.point_of_row]
        self._margin = self._prediction.fitted_margins[prepared.point_of_row]
        places = np.flatnonzero(prepared.point_of_row < 0)
        if places.size:
            rows = prepared.scaled(left_out)
            self.labels_[places] = to_array(self._prediction.labels(rows))
            self._margin[places] = to_array(self._prediction.margins(rows))
            self._left_out = rows, self.labels_[places]
        if partial is not None:
            self._is_given = partial >= 0
            self.labels_[self._is_given] = partial[self._is_given]

    def _record(self, prepared: PreparedPoints, chosen: Chosen, posed: PosedProblem, solution: Solution) -> None:
        """Keep what predictions need, and how the rows became points, these in the order of their first rows."""
        self._left_out = self._is_given = self._numbers = None
        # What is asked for later is computed once, and kept here.
        self._derived: dict[str, Any] = {}
        self._prediction = Prediction.of(chosen, prepared, posed, solution.labels, self.n_jobs)
        self._prepared = prepared
        self._affinity = chosen.affinity
        if chosen.selection is not None:
            self.selection_ = chosen.selection
        self.n_clusters_ = chosen.n_clusters
        self.feature_scale_ = prepared.divisor
        order = prepared.given_order
        place = np.full(len(order) + 1, -1)
        place[order] = np.arange(len(order))
        self.point_of_row_ = place[prepared.point_of_row]
        self.weights_ = posed.weights[order]

    def _check_points(self, X: Any, kernel: Kernel | None, *, reset: bool) -> Any:
        return check_points(self, X, kernel is not None and kernel.is_pairwise, self.metric, reset=reset)


# Subclasses without parameters of their own inherit it.
Clustering.__init__ = explaining(Clustering.__init__)  # type: ignore[method-assign]
