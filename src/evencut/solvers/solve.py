"""The front door of the solvers: from a problem to the best labelling of several starts.

A solver is an object in one registry: its name, whether it can go on from labels found elsewhere, and how it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from .. import _runtime
from ..affinity import DenseAffinity
from ..criteria import RatioProblem
from ..tensors import AnyFloats, Ints, Places, is_tensor, to_array
from .descent import bound_costs, improve_by_moves, lloyd_descent
from .exchange import exchange_cycles
from .multilevel import improve_border, multilevel
from .spectral import fill_empty, spectral_start, spectral_starts

# Larger dense problems start from samples, whose spectrum costs less.
_MANY_DENSE = 3000
# Of so many starts one is a spectral cut, or a sample; cycles of the others.
_STARTS_PER_CUT = 4
_SAMPLE = 1500
# Eigenvectors of a larger sample cost a device little.
_SAMPLE_ON_DEVICE = 4000
_SAMPLE_PER_CLUSTER = 40


@dataclass(frozen=True, eq=False)
class Solution:
    """A labelling and how it was found.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Clusters numbered by falling weight; an array wherever the problem is.
    energy : float
    n_iter : int
        Sweeps or steps of the start that won, the last one that found nothing to do included.
    trace : tuple of float
        Energy of that start and after each of its steps; it never rises.
    converged : bool
        Whether no step was left to make.
    """

    labels: Ints
    energy: float
    n_iter: int
    trace: tuple[float, ...]
    converged: bool

    @classmethod
    def after(
        cls, problem: RatioProblem, labels: Ints, trace: list[float], converged: bool, n_iter: int | None = None
    ) -> Solution:
        """The solution that ends with these labels, their clusters renumbered."""
        weights = problem.weights
        if not isinstance(labels, np.ndarray):
            labels, weights = to_array(labels), to_array(weights)
        labels = heaviest_first(labels, weights)
        return cls(labels, trace[-1], len(trace) if n_iter is None else n_iter, tuple(trace), converged)


def heaviest_first(labels: Ints, weights: AnyFloats) -> Ints:
    """Renumber the clusters by decreasing weight.

    Among equal clusters the one with the first point leads.

    Examples
    --------
    >>> import numpy as np
    >>> heaviest_first(np.array([0, 1, 1]), np.ones(3))
    array([1, 0, 0])
    """
    total = np.bincount(labels, weights)
    # Rounding must not decide between equal clusters; the one that appears first does.
    first = np.full(len(total), np.iinfo(np.int64).max)
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, -np.round(total / total.max(), 9)))
    rank = np.empty(len(total), dtype=np.int64)
    rank[order] = np.arange(len(total))
    return rank[labels]


@dataclass(frozen=True)
class Effort:
    """Effort of a solver: the number of starts, and of sweeps or steps for each start."""

    n_init: int = 4
    max_iter: int = 100


#: A way of solving a problem: the number of clusters, the effort and a random generator are the rest of what it takes.
Solver: TypeAlias = Callable[[RatioProblem, int, Effort, np.random.Generator], Solution]


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
        `"spectral"`: cuts of the spectral embedding refined by single-point moves. `"multilevel"`: shrink, exchange
        clusters, refine (:func:`evencut.solvers.multilevel.multilevel` for sparse graphs, for dense matrices
        :func:`evencut.solvers.exchange.exchange_cycles`). `"lloyd"`: spectral starts refined by the steps of
        kernel k-means, all points at once. `"auto"` takes the best of all but Lloyd; multilevel alone for sparse
        graphs of over 3000 points. Where the entries are not in the memory of the CPU, all refine by Lloyd steps.
    n_init : int
        Number of starts, judged by their energy; of cycles, for multilevel. More never end higher.
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
        raise ValueError(f"solver={solver!r} is not known; choose one of {tuple(SOLVERS)}.")
    n_points = len(problem.weights)
    if not 1 <= n_clusters <= n_points:
        raise ValueError(f"n_clusters={n_clusters} must be between 1 and the number of points, {n_points}.")
    if n_clusters in (1, n_points):
        labels = np.arange(n_points) % n_clusters
        energy = problem.energy(labels)
        return Solution(labels, energy, 1, (energy,), True)
    run = _solve_by_lloyd if is_tensor(problem.weights) else SOLVERS[solver]
    return run(problem, n_clusters, Effort(n_init, max_iter), np.random.default_rng(random_state))


def refine(
    problem: RatioProblem,
    start: Ints,
    n_clusters: int,
    by_moves: bool = True,
    max_iter: int = 100,
    rng: np.random.Generator | None = None,
) -> Solution:
    """Refine a start until no single-point move, or no Lloyd step, lowers its energy.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> pairs = normalized_cut(np.kron(np.eye(2), np.ones((2, 2))))
    >>> refine(pairs, np.array([0, 1, 1, 1]), 2).labels
    array([0, 0, 1, 1])
    """
    # No cluster of the start may be empty; no step empties one.
    start = fill_empty(start, n_clusters)
    matrix = problem.matrix
    if not by_moves or matrix.is_lazy:
        end = lloyd_descent(problem, start, n_clusters, max_iter=max_iter)
        n_iter = len(end.trace) - 1 + end.converged
        return Solution.after(problem, end.step.labels, list(end.trace), end.converged, n_iter)
    first = problem.energy(start)
    if matrix.is_graph and len(problem.weights) > _runtime.MANY_POINTS:
        labels, trace, converged = improve_border(problem, start, n_clusters, max_iter=max_iter)
    else:
        labels, trace, converged = improve_by_moves(problem, start, n_clusters, max_iter=max_iter, rng=rng)
    return Solution.after(problem, labels, [first, *trace], converged, len(trace) + converged)


def _solve_automatically(problem: RatioProblem, n_clusters: int, effort: Effort, rng: np.random.Generator) -> Solution:
    """The best of all solvers where they are quick; multilevel alone for larger graphs, a sample for all pairs."""
    matrix = problem.matrix
    if matrix.is_graph and len(problem.weights) > 3000:
        return _solve_multilevel(problem, n_clusters, effort, rng)
    if not matrix.is_graph and (matrix.is_lazy or len(problem.weights) > _MANY_DENSE):
        return _solve_from_starts(problem, n_clusters, effort, rng)
    return _solve_all_ways(problem, n_clusters, effort, rng)


def _solve_all_ways(problem: RatioProblem, n_clusters: int, effort: Effort, rng: np.random.Generator) -> Solution:
    """The best of spectral cuts, exchanges of clusters and, for graphs, multilevel cycles."""
    # Counts rise with `n_init` and every start draws separate random numbers, so that more starts never end higher.
    n_cuts = -(-effort.n_init // _STARTS_PER_CUT)
    of_cuts, of_exchanges, of_cycles = rng.spawn(3)
    solutions = [_solve_spectral(problem, n_clusters, Effort(n_cuts, effort.max_iter), of_cuts)]
    # Modes, outliers and small pieces are what some criteria like best, and only exchanges look for them.
    n_exchanges = n_cuts if problem.matrix.is_graph else effort.n_init
    options = {"n_init": 3, "n_runs": n_exchanges, "max_iter": effort.max_iter}
    end = exchange_cycles(problem, n_clusters, random_state=of_exchanges, **options)
    solutions.append(Solution.after(problem, *end))
    if problem.matrix.is_graph and effort.n_init > n_cuts:
        options |= {"n_init": 4, "n_runs": effort.n_init - n_cuts}
        end = multilevel(problem, n_clusters, random_state=of_cycles, **options)
        solutions.append(Solution.after(problem, *end))
    return min(solutions, key=attrgetter("energy"))


def _solve_from_starts(
    problem: RatioProblem, n_clusters: int, effort: Effort, rng: np.random.Generator, *, by_moves: bool = True,
    sample_large: bool = True,
) -> Solution:
    """Spectral starts, those of large dense problems from a sample, refined by single-point moves or by Lloyd steps."""
    starts = _starts(problem, n_clusters, effort, rng, sample_large)
    refined = (refine(problem, start, n_clusters, by_moves, effort.max_iter, rng) for start in starts)
    return min(refined, key=attrgetter("energy"))


_solve_spectral = partial(_solve_from_starts, sample_large=False)
_solve_by_lloyd = partial(_solve_from_starts, by_moves=False)
_solve_by_cuts = partial(_solve_spectral, by_moves=False)


def _solve_multilevel(problem: RatioProblem, n_clusters: int, effort: Effort, rng: np.random.Generator) -> Solution:
    """Shrink, exchange clusters, refine."""
    cycles = exchange_cycles if not problem.matrix.is_graph else multilevel
    options = {"n_init": effort.n_init, "max_iter": effort.max_iter}
    return Solution.after(problem, *cycles(problem, n_clusters, random_state=rng, **options))


#: The solvers by the names the estimators take.
SOLVERS: dict[str, Solver] = {
    "auto": _solve_automatically,
    "spectral": _solve_spectral,
    "multilevel": _solve_multilevel,
    "lloyd": _solve_by_lloyd,
}


def _starts(
    problem: RatioProblem, n_clusters: int, effort: Effort, rng: np.random.Generator, sample_large: bool
) -> Iterator[Ints]:
    """Spectral starts of small or sparse problems; of large dense ones, starts from solved samples."""
    matrix = problem.matrix
    small = not sample_large or len(problem.weights) <= _MANY_DENSE
    if matrix.is_graph or (matrix.is_array and small):
        yield from spectral_starts(problem, n_clusters, effort.n_init, rng)
        return
    on_device = is_tensor(problem.weights)
    for _ in range(-(-effort.n_init // _STARTS_PER_CUT)):
        rows, sample = sample_problem(problem, n_clusters, rng)
        # Compiled loops do not reach a device.
        solve_sample = _solve_by_cuts if on_device else _solve_all_ways
        solution = solve_sample(sample, n_clusters, Effort(_STARTS_PER_CUT, effort.max_iter), rng)
        yield spread_labels(problem, rows, sample, solution.labels, n_clusters)
    if on_device and len(rows) < len(problem.weights):
        yield spectral_start(problem, n_clusters, effort.n_init, rows, rng)


def sample_problem(problem: RatioProblem, n_clusters: int, rng: np.random.Generator) -> tuple[Places, RatioProblem]:
    """Rows of a random sample, and the problem among them, dense.

    Parameters
    ----------
    problem : RatioProblem
        With a matrix whose method `block(rows, columns)` gives dense blocks.
    n_clusters : int
    rng : Generator
    """
    n_points = len(problem.weights)
    min_size = _SAMPLE_ON_DEVICE if is_tensor(problem.weights) else _SAMPLE
    size = min(n_points, max(min_size, _SAMPLE_PER_CLUSTER * n_clusters))
    rows = problem.matrix.asarray(np.sort(rng.choice(n_points, size, replace=False)))
    # Degrees count all points; among the sample they are smaller by its share.
    share = size / n_points
    diagonal = None if problem.diagonal is None else share * problem.diagonal[rows]
    return rows, RatioProblem(DenseAffinity(problem.matrix.block(rows, rows)), share * problem.weights[rows], diagonal)


def spread_labels(problem: RatioProblem, rows: Places, sample: RatioProblem, labels: Ints, n_clusters: int) -> Ints:
    """Labels of all points: each goes to the cluster of the sample that the bound of the Lloyd step makes cheapest."""
    share, labels = len(rows) / len(problem.weights), sample.matrix.asarray(labels)
    inside, weight = sample.associations(labels, n_clusters)
    links = problem.matrix.links_to_some(rows, labels, n_clusters)
    spread = bound_costs(links, share * problem.weights, inside, weight).argmin(axis=1)
    spread[rows] = labels
    return spread
