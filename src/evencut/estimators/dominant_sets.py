"""Dominant sets: clusters peeled off one by one as maximisers of cohesion, and where that isolates a density mode.

They generalise maximal cliques to weighted graphs, and share the mode isolation of kernel k-means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..affinity import prepare
from ..affinity.notices import warn_user
from ..diagnosis import MODE_ISOLATION, DensityBiasWarning, diagnose_labels
from ..kernels import Kernel, affinity_of
from .fitting import whole_or_nothing
from .inputs import check_metric, check_points, check_space, kernel_from, tags_of_inputs
from .partial_labels import refuse_partial

__all__ = ["DominantSets", "dominant_set", "is_maximal_clique"]


#: A dense or sparse affinity in memory.
Matrix: TypeAlias = "NDArray[np.floating] | sparse.csr_array"


@dataclass(frozen=True, eq=False)
class DominantSet:
    """A local maximum of cohesion on the simplex.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        The characteristic vector x: how much each point belongs; sums to one.
    members : ndarray of int
        The points with a share in x.
    cohesion : float
        :math:`x^T A x`.
    n_iter : int
    converged : bool
    """

    weights: NDArray[np.float64]
    members: NDArray[np.intp]
    cohesion: float
    n_iter: int
    converged: bool


def dominant_set(
    affinity: Matrix,
    *,
    dynamics: str = "infection",
    start: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 10_000,
) -> DominantSet:
    r"""The dominant set that a dynamics on the simplex leads to (eq. 39 and its relaxation).

    .. math:: \max_x x^T A x \quad \text{over} \quad x \ge 0, \; \sum_p x_p = 1

    Parameters
    ----------
    affinity : ndarray or CSR array of shape (n_samples, n_samples)
        Symmetric and not negative. Of a weighted graph the diagonal is not used; of a 0-1 graph it is set to
        one half, after which every strict maximum is a maximal clique (Motzkin and Straus; Bomze).
    dynamics : {"infection", "replicator"}, default="infection"
        Infection-immunisation moves along one coordinate a step and reads one row of the affinity; the
        replicator :math:`x_p \leftarrow x_p (Ax)_p / x^T A x` reads all of it. Both only ever raise cohesion.
    start : array of shape (n_samples,), optional
        A point of the simplex; its centre by default.
    tol : float, default=1e-5
        Largest root mean violation of the conditions of a maximum, in units of cohesion.
    max_iter : int, default=10000
        Most steps; `converged` says whether they sufficed.

    Examples
    --------
    >>> import numpy as np
    >>> triangle_and_tail = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    >>> found = dominant_set(triangle_and_tail)
    >>> found.members
    array([0, 1, 2])
    >>> round(1 / (2 - 2 * found.cohesion), 6)  # the size of the clique, by Motzkin and Straus
    3.0
    """
    if dynamics not in _DYNAMICS:
        raise ValueError(f"dynamics={dynamics!r} is not known; choose one of {sorted(_DYNAMICS)}.")
    affinity = _without_loops(affinity if sparse.issparse(affinity) else np.asarray(affinity))
    n_points = affinity.shape[0]
    x = np.full(n_points, 1.0 / n_points) if start is None else np.array(start, dtype=np.float64)
    if x.shape != (n_points,) or not (x >= 0).all() or not x.sum() > 0:
        raise ValueError(f"start must hold {n_points} numbers, none negative and not all zero.")
    x, n_iter, converged = _DYNAMICS[dynamics](affinity, x / x.sum(), tol, max_iter)
    # Shares far below the largest belong to points still leaving when the dynamics stopped.
    members = np.flatnonzero(x > 1e-3 * x.max())
    return DominantSet(x, members, float(x @ (affinity @ x)), n_iter, converged)


def is_maximal_clique(affinity: Matrix, members: ArrayLike) -> bool:
    """Whether the members are pairwise joined in a 0-1 affinity, and no other point is joined to them all.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> is_maximal_clique(path, [0, 1]), is_maximal_clique(path, [0, 1, 2]), is_maximal_clique(path, [0])
    (True, False, False)
    """
    members = np.unique(np.asarray(members, dtype=np.intp))
    rows = affinity[members]
    rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    joined = rows != 0
    joined[np.arange(len(members)), members] = True
    everyone = joined.all(axis=0)
    return bool(everyone[members].all() and everyone.sum() == len(members))


class DominantSets(ClusterMixin, BaseEstimator):
    r"""Clusters as dominant sets, peeled off one after the other.

    Each is a local maximum of :math:`x^T A x` over the simplex among the points left (Pavan and Pelillo); for
    small bandwidths it is a mode of the density (Section "Connection to maximal cliques and dominant sets"),
    and a :class:`~evencut.diagnosis.DensityBiasWarning` says so where it happens to points (of a precomputed
    affinity the points are not known).

    Parameters
    ----------
    n_clusters : int or None, default=None
        How many sets to peel; all there are by default.
    kernel : str or kernel object, default="gaussian"
        As in :class:`~evencut.KernelClustering`; affinities must not be negative, and may be sparse.
    metric : str, default="euclidean"
        As in :class:`~evencut.KernelClustering`.
    dynamics : {"infection", "replicator"}, default="infection"
        As in :func:`dominant_set`.
    assign_rest : bool, default=True
        With `n_clusters` given, points left after the last set join the set to which their affinity, in units
        of its cohesion, is largest. Otherwise they are noise, labelled -1.
    min_size : int, default=2
        Smaller sets end the peeling when `n_clusters` is not given, and what is left is noise.
    tol : float, default=1e-5
    max_iter : int, default=10000
        Most steps of the dynamics a set.
    random_state : int, RandomState or None, default=None
        A start slightly off the centre of the simplex, where a symmetric graph would hold the dynamics still.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        In the order of peeling; -1 for noise.
    cohesions_ : ndarray of shape (n_sets,)
        Cohesion of each set.
    set_sizes_ : ndarray of shape (n_sets,)
        Points of each set as it was peeled, before others joined.
    maximal_cliques_ : ndarray of bool of shape (n_sets,), or None
        For a 0-1 affinity, whether each set is a maximal clique of the points that were left; None for others.
    n_iter_ : int
        Steps of the dynamics in all.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where the columns have names.

    Examples
    --------
    >>> from evencut import DominantSets
    >>> DominantSets(n_clusters=2, random_state=0).fit_predict([[0.0], [0.1], [0.2], [5.0], [5.1]])
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: str | Kernel = "gaussian",
        metric: str = "euclidean",
        dynamics: str = "infection",
        assign_rest: bool = True,
        min_size: int = 2,
        tol: float = 1e-5,
        max_iter: int = 10_000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.metric = metric
        self.dynamics = dynamics
        self.assign_rest = assign_rest
        self.min_size = min_size
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @whole_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> DominantSets:
        """Peel the dominant sets.

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
        prepared = None if given else prepare(rows, **self._how_prepared(kernel))
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
        self.maximal_cliques_ = _cliques(affinity, sets) if _is_zero_one(affinity) else None
        if self.n_clusters is not None and self.assign_rest:
            labels = _join(affinity, sets, labels)
        self.labels_ = labels
        self._fitted_sets = kernel, points, prepared, _pulls(len(labels), sets)
        self._warn(sets, points, given)
        return self

    def fit_predict(self, X: ArrayLike, y: Any = None) -> NDArray[np.int64]:
        """Peel the dominant sets and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> NDArray[np.int64]:
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

    def _peel(self, affinity: Matrix) -> tuple[list[tuple[DominantSet, NDArray[np.intp]]], NDArray[np.int64]]:
        """The sets, each with its members as points of the data, and the labels without those left over."""
        rng = check_random_state(self.random_state)
        labels = np.full(affinity.shape[0], -1, dtype=np.int64)
        wanted = affinity.shape[0] if self.n_clusters is None else int(self.n_clusters)
        sets: list[tuple[DominantSet, NDArray[np.intp]]] = []
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

    def _warn(self, sets: list[tuple[DominantSet, NDArray[np.intp]]], points: Any, given: bool) -> None:
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
        for name, least, none in (("n_clusters", 1, True), ("min_size", 1, False), ("max_iter", 1, False)):
            value = getattr(self, name)
            if none and value is None:
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")
        if self.dynamics not in _DYNAMICS:
            raise ValueError(f"dynamics={self.dynamics!r} is not known; choose one of {sorted(_DYNAMICS)}.")
        kernel = kernel_from(self.kernel)
        assert kernel is not None
        check_metric(self.metric, kernel)
        return kernel

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), self.kernel, self.metric)


def _replicator(
    affinity: Matrix, x: NDArray[np.float64], tol: float, max_iter: int
) -> tuple[NDArray[np.float64], int, bool]:
    for step in range(max_iter):
        payoff = affinity @ x
        cohesion = float(x @ payoff)
        if cohesion <= 0 or _violation(x, payoff, cohesion) <= tol:
            return x, step, True
        x = x * payoff / cohesion
        x /= x.sum()
    return x, max_iter, False


def _infection(
    affinity: Matrix, x: NDArray[np.float64], tol: float, max_iter: int
) -> tuple[NDArray[np.float64], int, bool]:
    """Infection and immunisation: at each step the point that gains, or loses, most moves; the step is exact."""
    x = x.copy()
    row = _row_reader(affinity)
    own = affinity.diagonal()
    payoff = np.asarray(affinity @ x)
    for step in range(max_iter):
        if step % 1000 == 999:
            payoff = np.asarray(affinity @ x)  # sweep rounding errors out
        cohesion = float(x @ payoff)
        if cohesion <= 0 or _violation(x, payoff, cohesion) <= tol:
            return x, step, True
        gain = payoff - cohesion
        loss = np.where(x > 0, -gain, -np.inf)
        up, down = int(np.argmax(gain)), int(np.argmax(loss))
        moving = up if gain[up] >= loss[down] else down
        towards = 1.0 if moving == up else x[moving] / (x[moving] - 1.0)
        curve = own[moving] - 2 * payoff[moving] + cohesion
        slope = towards * gain[moving]
        length = min(1.0, -slope / (towards**2 * curve)) if curve < 0 else 1.0
        share = length * towards
        x *= 1 - share
        x[moving] = max(0.0, x[moving] + share) if share > 0 or length < 1 else 0.0
        payoff *= 1 - share
        columns, values = row(moving)
        payoff[columns] += share * values
    return x, max_iter, False


# What the dynamics leaves of equality between payoffs and cohesion.
_ALMOST = 1e-2
_DYNAMICS = {"infection": _infection, "replicator": _replicator}


def _violation(x: NDArray[np.float64], payoff: NDArray[np.float64], cohesion: float) -> float:
    """How far x is from a maximum: no point outside pays more than cohesion, none inside pays less."""
    short = np.minimum(x, (cohesion - payoff) / cohesion)
    return float(np.sqrt(np.sum(short**2)))


def _row_reader(affinity: Any) -> Callable[[int], tuple[Any, NDArray[np.floating]]]:
    if sparse.issparse(affinity):
        indptr, indices, data = affinity.indptr, affinity.indices, affinity.data
        return lambda p: (indices[indptr[p] : indptr[p + 1]], data[indptr[p] : indptr[p + 1]])
    return lambda p: (slice(None), affinity[p])


def _is_zero_one(affinity: Any) -> bool:
    """Whether all affinities between different points are 0 or 1."""
    if sparse.issparse(affinity):
        entries = affinity.tocoo()
        return bool(np.isin(entries.data[entries.row != entries.col], (0, 1)).all())
    return bool(np.isin(affinity[~np.eye(len(affinity), dtype=bool)], (0, 1)).all())


def _without_loops(affinity: Matrix) -> Matrix:
    """The affinity as floats, its diagonal one half for a 0-1 graph and zero for a weighted one."""
    loop = 0.5 if _is_zero_one(affinity) else 0.0
    if sparse.issparse(affinity):
        affinity = sparse.csr_array(affinity, dtype=np.float64)
        values = affinity.data
        affinity = sparse.csr_array(affinity + sparse.diags_array(loop - affinity.diagonal()))
    else:
        affinity = np.array(affinity, dtype=np.float64)
        np.fill_diagonal(affinity, loop)
        values = affinity
    if values.size and values.min() < 0:
        raise ValueError(f"the affinity has a negative entry, {values.min():g}; dominant sets need none below zero.")
    return affinity


def _leave_some(one: DominantSet, most: int) -> NDArray[np.intp]:
    """The members with the largest shares, at most so many that later sets have a point each."""
    order = np.argsort(-one.weights[one.members], kind="stable")
    return np.sort(one.members[order[: max(1, most)]])


def _cliques(affinity: Matrix, sets: list[tuple[DominantSet, NDArray[np.intp]]]) -> NDArray[np.bool_]:
    """Whether each set is a maximal clique among the points that no earlier set had taken."""
    left = np.arange(affinity.shape[0])
    answers = []
    for _, members in sets:
        answers.append(is_maximal_clique(affinity[left][:, left], np.searchsorted(left, members)))
        left = np.setdiff1d(left, members)
    return np.array(answers, dtype=bool)


def _pulls(
    n_points: int, sets: list[tuple[DominantSet, NDArray[np.intp]]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights whose products with affinities are payoffs of the sets, and mean affinities with them, over cohesion."""
    joining, resting = np.zeros((n_points, len(sets))), np.zeros((n_points, len(sets)))
    for k, (one, members) in enumerate(sets):
        cohesion = max(one.cohesion, np.finfo(float).tiny)
        whole = len(one.members) == len(members)
        joining[members, k] = (one.weights[one.members] if whole else 1 / len(members)) / cohesion
        resting[members, k] = 1.0 / (len(members) * cohesion)
    return joining, resting


def _join(
    affinity: Matrix, sets: list[tuple[DominantSet, NDArray[np.intp]]], labels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give each point without a set to the one with the largest affinity per unit of cohesion."""
    rest = np.flatnonzero(labels < 0)
    pull = np.asarray(affinity[rest] @ _pulls(len(labels), sets)[1])
    joined = labels.copy()
    joined[rest] = np.where(pull.max(axis=1) > 0, pull.argmax(axis=1), -1)
    return joined
