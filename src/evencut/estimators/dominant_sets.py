"""Dominant sets: clusters peeled off one by one as maximisers of cohesion, and where that isolates a density mode.

They generalise maximal cliques to weighted graphs, and share the mode isolation of kernel k-means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._runtime import warn_user
from ..diagnosis import MODE_ISOLATION, DensityBiasWarning, diagnose_labels
from ..kernels import Kernel, affinity_of
from ..neighbors.metrics import Metric
from ..points import prepare_points
from ..tensors import AnyFloats, Floats, Ints, Mask, Places
from . import inputs
from .fitting import atomic_fit

#: A dense or sparse affinity in memory.
Matrix: TypeAlias = "AnyFloats | sparse.csr_array"


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

    weights: Floats
    members: Places
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
    r"""The dominant set that a dynamics on the simplex leads to (Motzkin and Straus; not the maximum of eq. 39).

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
    if dynamics not in DYNAMICS:
        raise ValueError(f"dynamics={dynamics!r} is not known; choose one of {sorted(DYNAMICS)}.")
    affinity = without_loops(affinity if sparse.issparse(affinity) else np.asarray(affinity))
    n_points = affinity.shape[0]
    x = np.full(n_points, 1.0 / n_points) if start is None else np.array(start, dtype=np.float64)
    if x.shape != (n_points,) or not (x >= 0).all() or not x.sum() > 0:
        raise ValueError(f"start must hold {n_points} numbers, none negative and not all zero.")
    x, n_iter, converged = DYNAMICS[dynamics](affinity, x / x.sum(), tol, max_iter)
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


def _replicator(affinity: Matrix, x: Floats, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
    for step in range(max_iter):
        payoff = affinity @ x
        cohesion = float(x @ payoff)
        if cohesion <= 0 or _violation(x, payoff, cohesion) <= tol:
            return x, step, True
        x = x * payoff / cohesion
        x /= x.sum()
    return x, max_iter, False


def _infection(affinity: Matrix, x: Floats, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
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


DYNAMICS = {"infection": _infection, "replicator": _replicator}


def _violation(x: Floats, payoff: Floats, cohesion: float) -> float:
    """How far x is from a maximum: no point outside pays more than cohesion, none inside pays less."""
    short = np.minimum(x, (cohesion - payoff) / cohesion)
    return float(np.sqrt(np.sum(short**2)))


def _row_reader(affinity: Any) -> Callable[[int], tuple[Any, AnyFloats]]:
    if sparse.issparse(affinity):
        indptr, indices, data = affinity.indptr, affinity.indices, affinity.data
        return lambda p: (indices[indptr[p] : indptr[p + 1]], data[indptr[p] : indptr[p + 1]])
    return lambda p: (slice(None), affinity[p])


def is_zero_one(affinity: Any) -> bool:
    """Whether all affinities between different points are 0 or 1."""
    if sparse.issparse(affinity):
        entries = affinity.tocoo()
        return bool(np.isin(entries.data[entries.row != entries.col], (0, 1)).all())
    return bool(np.isin(affinity[~np.eye(len(affinity), dtype=bool)], (0, 1)).all())


def without_loops(affinity: Matrix) -> Matrix:
    """The affinity as floats, its diagonal one half for a 0-1 graph and zero for a weighted one."""
    loop = 0.5 if is_zero_one(affinity) else 0.0
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

    @atomic_fit
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
        inputs.refuse_partial(self, y)
        points, prepared = inputs.check_points(self, X, kernel, reset=True, dtype=np.float64), None
        if not kernel.is_pairwise:
            # Every row is a point, unscaled; only immense or tiny values are rescaled.
            names = getattr(self, "feature_names_in_", None)
            prepared = prepare_points(
                points, scale=None, has_units=kernel.has_units, merge=False, names=names, metric=self.metric
            )
            points = prepared.points
        inputs.check_space(kernel, points, self.metric)
        inputs.check_n_clusters(self.n_clusters, points.shape[0], points.shape[0])
        affinity: Any = affinity_of(kernel, points, n_jobs=self.n_jobs)[0]
        if hasattr(affinity, "rescaled"):
            raise ValueError(
                f"dominant sets need the affinity of all {points.shape[0]} points in memory, and it does not fit; use "
                "kernel='knn' or fewer points."
            )
        sets, labels = self._peel(affinity)
        self.cohesions_ = np.array([each.cohesion for each, _ in sets])
        self.set_sizes_ = np.array([len(members) for _, members in sets], dtype=np.int64)
        self.n_iter_ = sum(each.n_iter for each, _ in sets)
        self.maximal_cliques_ = _cliques(affinity, sets) if is_zero_one(affinity) else None
        joining, resting = _pulls(len(labels), sets)
        if self._assigns_all:
            rest = np.flatnonzero(labels < 0)
            labels[rest] = _strongest(affinity[rest] @ resting, 0.0)
        self.labels_ = labels
        self._fitted_sets = kernel, points, prepared, (joining, resting)
        if not all(each.converged for each, _ in sets):
            warn_user(
                f"a dominant set was not reached in max_iter={self.max_iter} steps; raise max_iter or tol.",
                ConvergenceWarning,
            )
        if not kernel.is_pairwise and self.labels_.max() > 0:
            self._warn_of_isolation(points)
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
        rows = inputs.check_points(self, X, kernel, reset=False, dtype=np.float64)
        new = rows if prepared is None else prepared.scaled(rows)
        affinity = kernel.extend(points, n_jobs=self.n_jobs)(new)
        if self._assigns_all:
            return _strongest(affinity @ resting, 0.0)
        # A set stops when payoffs and cohesion are nearly equal.
        return _strongest(affinity @ joining, 0.99)

    @property
    def _assigns_all(self) -> bool:
        """Whether points outside of the sets join the nearest one."""
        return self.n_clusters is not None and self.assign_rest

    def _peel(self, affinity: Matrix) -> tuple[list[tuple[DominantSet, Places]], Ints]:
        """The sets, each with its members as points of the data, and the labels without those left over."""
        rng = check_random_state(self.random_state)
        labels = np.full(affinity.shape[0], -1, dtype=np.int64)
        max_sets = affinity.shape[0] if self.n_clusters is None else int(self.n_clusters)
        sets: list[tuple[DominantSet, Places]] = []
        left = np.arange(affinity.shape[0])
        while len(sets) < max_sets and len(left):
            start = 1 + 1e-3 * rng.uniform(size=len(left))
            peeled = dominant_set(
                affinity[left][:, left], dynamics=self.dynamics, start=start, tol=self.tol, max_iter=self.max_iter
            )
            members = peeled.members
            if self.n_clusters is None and len(members) < self.min_size:
                break
            if self.n_clusters is not None:
                # The members with the largest shares, at most so many that later sets have a point each.
                order = np.argsort(-peeled.weights[members], kind="stable")
                members = np.sort(members[order[: max(1, len(left) - (max_sets - len(sets) - 1))]])
            labels[left[members]] = len(sets)
            sets.append((peeled, left[members]))
            left = np.delete(left, members)
        return sets, labels

    def _warn_of_isolation(self, points: Any) -> None:
        rows = diagnose_labels(points, self.labels_, n_jobs=self.n_jobs).clusters
        isolated = [row.label for row in rows if row.verdict == MODE_ISOLATION]
        if isolated:
            warn_user(
                f"dominant sets isolated a density mode (clusters {', '.join(map(str, isolated))}); see "
                "evencut.diagnose(X, labels), and use an adaptive kernel such as kernel='local_scaling'.",
                DensityBiasWarning,
            )

    def _check_parameters(self) -> Kernel:
        for name in ("min_size", "max_iter", *(["n_clusters"] if self.n_clusters is not None else [])):
            inputs.check_count(name, getattr(self, name))
        inputs.check_choice("dynamics", self.dynamics, DYNAMICS)
        kernel = inputs.kernel_from(self.kernel)
        inputs.check_metric(self.metric, kernel)
        return kernel

    def __sklearn_tags__(self) -> Tags:
        return inputs.tags_of_inputs(super().__sklearn_tags__(), self.kernel, self.metric)


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
    for k, (peeled, members) in enumerate(sets):
        cohesion = max(peeled.cohesion, np.finfo(float).tiny)
        is_complete = len(peeled.members) == len(members)
        joining[members, k] = (peeled.weights[peeled.members] if is_complete else 1 / len(members)) / cohesion
        resting[members, k] = 1.0 / (len(members) * cohesion)
    return joining, resting


def _strongest(pulls: Any, threshold: float) -> Ints:
    """The set (column) with the largest pull on each point, -1 if none is above the threshold."""
    pulls = np.asarray(pulls)
    return np.where(pulls.max(axis=1) > threshold, pulls.argmax(axis=1), -1).astype(np.int64)
