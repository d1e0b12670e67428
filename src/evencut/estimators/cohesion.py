"""One dominant set: the maximum of cohesion on the simplex that a dynamics leads to (eq. 39)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..tensors import AnyFloats, Floats, Places

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
