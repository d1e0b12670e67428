"""Dominant sets: clusters peeled off one by one as maximisers of cohesion, and where that isolates a density mode.

They generalise maximal cliques to weighted graphs, and share the mode isolation of kernel k-means.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._runtime import warn_user
from ..diagnosis import MODE_ISOLATION, DensityBiasWarning, diagnose_labels
from ..kernels import Kernel, affinity_of
from ..neighbors.metrics import Metric
from ..points import prepare_points
from ..tensors import Floats, Ints, Mask, Places
from .cohesion import DYNAMICS, DominantSet, Matrix, dominant_set, is_maximal_clique, is_zero_one
from .fitting import whole_or_nothing
from .inputs import check_choice, check_count, check_metric, check_points, check_space, kernel_from, tags_of_inputs
from .partial_labels import refuse_partial

# What the dynamics leaves of equality between payoffs and cohesion.
_ALMOST = 1e-2


@dataclass(eq=False, repr=False)
class DominantSets(ClusterMixin, BaseEstimator):
    r"""Dominant sets, found one after the other.

    Each is a local maximum of :math:`x^T A x` over the simplex among the points left (Pavan and Pelillo); for
    small bandwidths it is a mode of the density (Section "Connection to maximal cliques and dominant sets"). A
    :class:`~evencut.diagnosis.DensityBiasWarning` reports that, unless the affinity is precomputed.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of sets; by default all that are found.
    kernel : str or kernel object, default="gaussian"
        As in :class:`~evencut.KernelClustering`; affinities must not be negative, and may be sparse.
    metric : str, default="euclidean"
        As in :class:`~evencut.KernelClustering`.
    dynamics : {"infection", "replicator"}, default="infection"
        As in :func:`dominant_set`.
    assign_rest : bool, default=True
        If `n_clusters` is set, the remaining points join the set to which their affinity, relative to its cohesion, is
        largest. Otherwise they are noise, labelled -1.
    min_size : int, default=2
        If `n_clusters` is None, a smaller set ends the search, and the remaining points are noise.
    tol : float, default=1e-5
    max_iter : int, default=10000
        Maximum number of steps for each set.
    random_state : int, RandomState or None, default=None
        Of a start slightly off the centre of the simplex, where a symmetric graph would not move.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Set of each row, in the order found; -1 for noise.
    cohesions_ : ndarray of shape (n_sets,)
        Cohesion of each set.
    set_sizes_ : ndarray of shape (n_sets,)
        Size of each set when it was found, before other points joined.
    maximal_cliques_ : ndarray of bool of shape (n_sets,), or None
        For a 0-1 affinity, whether each set is a maximal clique of the points that were left; None for others.
    n_iter_ : int
        Total number of steps.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the columns have names.

    Examples
    --------
    >>> from evencut import DominantSets
    >>> DominantSets(n_clusters=2, random_state=0).fit_predict([[0.0], [0.1], [0.2], [5.0], [5.1]])
    array([0, 0, 0, 1, 1])
    """

    n_clusters: int | None = None
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    metric: Metric = "euclidean"
    dynamics: str = "infection"
    assign_rest: bool = True
    min_size: int = 2
    tol: float = 1e-5
    max_iter: int = 10_000
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    @whole_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> DominantSets:
        """Find the dominant sets.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or affinity of shape (n_samples, n_samples)
            Points; or, with `kernel="precomputed"`, a dense or sparse affinity.
        y : complete labels are ignored, partial ones refused

        Returns
        -------
        self
        """
        kernel = self._check_parameters()
        refuse_partial(self, y)
        given = kernel.is_pairwise
        rows = check_points(self, X, given, self.metric, reset=True, dtype=np.float64)
        prepared = None if given else prepare_points(rows, **self._how_prepared(kernel))
        points = rows if prepared is None else prepared.points
        check_space(kernel, points, self.metric)
        if self.n_clusters is not None and self.n_clusters > points.shape[0]:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {points.shape[0]} points given; ask for fewer."
            )
        affinity: Any = affinity_of(kernel, points, n_jobs=self.n_jobs)[0]
        if hasattr(affinity, "rescaled"):
            raise ValueError(
                f"dominant sets need the affinity of all {points.shape[0]} points in memory, and it does not fit; use "
                "kernel='knn' or fewer points."
            )
        sets, labels = self._peel(affinity)
        self.cohesions_ = np.array([one.cohesion for one, _ in sets])
        self.set_sizes_ = np.array([len(members) for _, members in sets], dtype=np.int64)
        self.n_iter_ = sum(one.n_iter for one, _ in sets)
        self.maximal_cliques_ = _cliques(affinity, sets) if is_zero_one(affinity) else None
        if self.n_clusters is not None and self.assign_rest:
            labels = _join(affinity, sets, labels)
        self.labels_ = labels
        self._fitted_sets = kernel, points, prepared, _pulls(len(labels), sets)
        self._warn(sets, points, given)
        return self

    def fit_predict(self, X: ArrayLike, y: Any = None) -> Ints:
        """Find the dominant sets and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> Ints:
        r"""Sets of new points.

        With `n_clusters` and `assign_rest`, the set with the largest mean affinity per unit of cohesion. Otherwise only
        points that would join a set: the payoff :math:`\sum_q x_q a_{pq}` is at least its cohesion; -1 for others.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            New points; or, with a precomputed kernel, their affinities with the fitted points.

        Returns
        -------
        ndarray of shape (n_queries,)

        Examples
        --------
        >>> from evencut import DominantSets
        >>> model = DominantSets(2, random_state=0).fit([[0.0], [0.1], [0.2], [5.0], [5.1]])
        >>> model.predict([[0.15], [5.05]])
        array([0, 1])
        """
        check_is_fitted(self)
        kernel, points, prepared, (joining, resting) = self._fitted_sets
        rows = check_points(self, X, kernel.is_pairwise, self.metric, reset=False, dtype=np.float64)
        new = rows if prepared is None else prepared.scaled(rows)
        affinity = kernel.extend(points, n_jobs=self.n_jobs)(new)
        takes_all = self.n_clusters is not None and self.assign_rest
        pull = np.asarray(affinity @ (resting if takes_all else joining))
        least = 0.0 if takes_all else 1 - _ALMOST
        return np.where(pull.max(axis=1) > least, pull.argmax(axis=1), -1).astype(np.int64)

    def _how_prepared(self, kernel: Kernel) -> dict[str, Any]:
        """Every row is a point as it is; only immense or tiny values are rescaled."""
        names = getattr(self, "feature_names_in_", None)
        return {"scale": None, "merge": False, "has_units": kernel.has_units, "metric": self.metric, "names": names}

    def _peel(self, affinity: Matrix) -> tuple[list[tuple[DominantSet, Places]], Ints]:
        """The sets, each with its members as points of the data, and the labels without those left over."""
        rng = check_random_state(self.random_state)
        labels = np.full(affinity.shape[0], -1, dtype=np.int64)
        wanted = affinity.shape[0] if self.n_clusters is None else int(self.n_clusters)
        sets: list[tuple[DominantSet, Places]] = []
        left = np.arange(affinity.shape[0])
        while len(sets) < wanted and len(left):
            part = affinity[left][:, left]
            start = 1 + 1e-3 * rng.uniform(size=len(left))
            one = dominant_set(part, dynamics=self.dynamics, start=start, tol=self.tol, max_iter=self.max_iter)
            members = one.members
            if self.n_clusters is None and len(members) < self.min_size:
                break
            if self.n_clusters is not None:
                members = _leave_some(one, len(left) - (wanted - len(sets) - 1))
            labels[left[members]] = len(sets)
            sets.append((one, left[members]))
            left = np.delete(left, members)
        return sets, labels

    def _warn(self, sets: list[tuple[DominantSet, Places]], points: Any, given: bool) -> None:
        if not all(one.converged for one, _ in sets):
            warn_user(
                f"a dominant set was not reached in max_iter={self.max_iter} steps; raise max_iter or tol.",
                ConvergenceWarning,
            )
        if given or len(np.unique(self.labels_[self.labels_ >= 0])) < 2:
            return
        rows = diagnose_labels(points, self.labels_, n_jobs=self.n_jobs).clusters
        isolated = [row.label for row in rows if row.verdict == MODE_ISOLATION]
        if isolated:
            warn_user(
                f"dominant sets isolated a density mode (clusters {', '.join(map(str, isolated))}); see "
                "evencut.diagnose(X, labels), and use an adaptive kernel such as kernel='local_scaling'.",
                DensityBiasWarning,
            )

    def _check_parameters(self) -> Kernel:
        for name in ("n_clusters", "min_size", "max_iter"):
            if name != "n_clusters" or self.n_clusters is not None:
                check_count(name, getattr(self, name))
        check_choice("dynamics", self.dynamics, DYNAMICS)
        kernel = kernel_from(self.kernel)
        assert kernel is not None
        check_metric(self.metric, kernel)
        return kernel

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), self.kernel, self.metric)


def _leave_some(one: DominantSet, most: int) -> Places:
    """The members with the largest shares, at most so many that later sets have a point each."""
    order = np.argsort(-one.weights[one.members], kind="stable")
    return np.sort(one.members[order[: max(1, most)]])


def _cliques(affinity: Matrix, sets: list[tuple[DominantSet, Places]]) -> Mask:
    """Whether each set is a maximal clique among the points that no earlier set had taken."""
    left = np.arange(affinity.shape[0])
    answers = []
    for _, members in sets:
        answers.append(is_maximal_clique(affinity[left][:, left], np.searchsorted(left, members)))
        left = np.setdiff1d(left, members)
    return np.array(answers, dtype=bool)


def _pulls(n_points: int, sets: list[tuple[DominantSet, Places]]) -> tuple[Floats, Floats]:
    """Weights whose products with affinities are payoffs of the sets, and mean affinities with them, over cohesion."""
    joining, resting = np.zeros((n_points, len(sets))), np.zeros((n_points, len(sets)))
    for k, (one, members) in enumerate(sets):
        cohesion = max(one.cohesion, np.finfo(float).tiny)
        whole = len(one.members) == len(members)
        joining[members, k] = (one.weights[one.members] if whole else 1 / len(members)) / cohesion
        resting[members, k] = 1.0 / (len(members) * cohesion)
    return joining, resting


def _join(affinity: Matrix, sets: list[tuple[DominantSet, Places]], labels: Ints) -> Ints:
    """Give each point without a set to the one with the largest affinity per unit of cohesion."""
    rest = np.flatnonzero(labels < 0)
    pull = np.asarray(affinity[rest] @ _pulls(len(labels), sets)[1])
    joined = labels.copy()
    joined[rest] = np.where(pull.max(axis=1) > 0, pull.argmax(axis=1), -1)
    return joined
