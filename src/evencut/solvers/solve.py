"""The front door of the solvers: from a problem to the best labelling of several starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..criteria import RatioProblem
from .lloyd import improve_by_lloyd
from .moves import improve_by_moves
from .multilevel import improve_border, multilevel
from .sampling import sample_problem, spread_labels
from .starts import random_starts, spectral_starts

__all__ = ["SOLVERS", "Solution", "refine", "solve"]

#: The solvers by the names the estimators take.
SOLVERS = ("auto", "spectral", "multilevel", "lloyd")

# Larger sparse graphs go to the multilevel solver, which is faster there and finds lower energies.
_MANY_NODES = 1000
# Larger dense problems start from samples, whose spectrum costs less.
_MANY_POINTS = 3000
# Larger sparse graphs are refined along the borders of their clusters: sweeps over all points would take longer.
_MANY_TO_SWEEP = 20_000


@dataclass(frozen=True, eq=False)
class Solution:
    """A labelling and how it was found.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Clusters numbered by falling weight.
    energy : float
    n_iter : int
        Sweeps or steps of the start that won, the last one that found nothing to do included.
    trace : tuple of float
        Energy of that start and after each of its steps; it never rises.
    converged : bool
        Whether no step was left to make.
    """

    labels: NDArray[np.int64]
    energy: float
    n_iter: int
    trace: tuple[float, ...]
    converged: bool


def solve(
    problem: RatioProblem,
    n_clusters: int,
    *,
    solver: str = "auto",
    n_init: int = 4,
    max_iter: int = 100,
    random_state: np.random.Generator | int | None = None,
) -> Solution:
    """The labelling of lowest energy over several starts.

    Parameters
    ----------
    problem : RatioProblem
    n_clusters : int
    solver : {"auto", "spectral", "multilevel", "lloyd"}
        `"spectral"`: cuts of the spectral embedding refined by single-point moves. `"multilevel"`, for sparse
        graphs: shrink, solve, refine (:func:`evencut.solvers.multilevel.multilevel`). `"lloyd"`: spectral
        starts refined by the steps of kernel k-means, all points at once. `"auto"` takes multilevel for sparse
        graphs of more than 1000 points, spectral elsewhere.
    n_init : int
        Number of starts, judged by their energy; of cycles, for multilevel.
    max_iter : int
        Most sweeps or steps a start.
    random_state : Generator or int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> solve(normalized_cut(np.kron(np.eye(2), np.ones((2, 2)))), 2, random_state=0).labels
    array([0, 0, 1, 1])
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is not known; choose one of {SOLVERS}.")
    if not 1 <= n_clusters <= problem.n_points:
        raise ValueError(f"n_clusters={n_clusters} must be between 1 and the number of points, {problem.n_points}.")
    rng = np.random.default_rng(random_state)
    if n_clusters == 1 or n_clusters == problem.n_points:
        labels = np.arange(problem.n_points) % n_clusters
        energy = problem.energy(labels)
        return Solution(labels, energy, 1, (energy,), True)
    if solver == "multilevel" or (solver == "auto" and _is_large_graph(problem)):
        labels, path, converged = multilevel(problem, n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng)
        return Solution(_heaviest_first(labels, problem.weights), path[-1], len(path), tuple(path), converged)
    best: Solution | None = None
    can_move = sparse.issparse(problem.matrix) or isinstance(problem.matrix, np.ndarray)
    for start in _starts(problem, n_clusters, n_init, max_iter, solver, rng):
        found = refine(problem, start, n_clusters, can_move and solver != "lloyd", max_iter, rng)
        if best is None or found.energy < best.energy:
            best = found
    assert best is not None
    return best


def _starts(problem, n_clusters, n_init, max_iter, solver, rng):
    """Spectral starts of small or sparse problems; of large dense ones, the start from a solved sample."""
    matrix = problem.matrix
    is_dense = isinstance(matrix, np.ndarray)
    if sparse.issparse(matrix) or (is_dense and (solver == "spectral" or problem.n_points <= _MANY_POINTS)):
        yield from spectral_starts(problem, n_clusters, n_init, rng)
    elif is_dense or hasattr(matrix, "part"):
        rows, sample = sample_problem(problem, n_clusters, rng)
        found = solve(sample, n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng)
        yield spread_labels(problem, rows, sample, found.labels, n_clusters)
    else:
        yield from random_starts(problem, n_clusters, n_init, rng)


def _is_large_graph(problem: RatioProblem) -> bool:
    return sparse.issparse(problem.matrix) and problem.n_points > _MANY_NODES


def refine(
    problem: RatioProblem,
    start: NDArray[np.int64],
    n_clusters: int,
    by_moves: bool = True,
    max_iter: int = 100,
    rng: np.random.Generator | None = None,
) -> Solution:
    """A start brought to where no single-point move, or no Lloyd step, lowers its energy.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> pairs = normalized_cut(np.kron(np.eye(2), np.ones((2, 2))))
    >>> refine(pairs, np.array([0, 1, 1, 1]), 2).labels
    array([0, 0, 1, 1])
    """
    first = problem.energy(start)
    if by_moves and sparse.issparse(problem.matrix) and problem.n_points > _MANY_TO_SWEEP:
        labels, trace, converged = improve_border(problem, start, n_clusters, max_iter=max_iter)
    elif by_moves:
        labels, trace, converged = improve_by_moves(problem, start, n_clusters, max_iter=max_iter, rng=rng)
    else:
        labels, trace, converged = improve_by_lloyd(problem, start, n_clusters, max_iter=max_iter)
    labels = _heaviest_first(labels, problem.weights)
    energies = (first, *trace)
    return Solution(labels, energies[-1], len(trace) + converged, energies, converged)


def _heaviest_first(labels: NDArray[np.int64], weights: NDArray[np.floating]) -> NDArray[np.int64]:
    """The same clusters numbered by falling weight, so that numbers do not hang on the order of the points."""
    total = np.bincount(labels, weights)
    # Rounding must not decide between equal clusters; the one that appears first does.
    first = np.full(len(total), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, -np.round(total / total.max(), 9)))
    rank = np.empty(len(total), dtype=np.int64)
    rank[order] = np.arange(len(total))
    return rank[labels]
