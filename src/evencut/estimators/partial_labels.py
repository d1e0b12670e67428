r"""Clustering with some labels known: labelled points keep their label, and steer the rest.

The labelled points of a cluster count together as at least half an average cluster, so that their neighbours follow
them; then free points move as in every other fit, and labelled ones stay where they are.
"""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import some
from ..affinity import Affinity, AffinityLike
from ..criteria import PosedProblem, RatioProblem, pose
from ..points import PreparedPoints
from ..solvers import Solution, solve
from ..solvers.moves import improve_by_moves
from ..tensors import AnyFloats, Floats, Ints, Mask

if TYPE_CHECKING:
    from ..landmarks import LandmarkGraph, RowBlocks

#: What stands for a label that is not known.
UNKNOWN = -1

# The labelled points of a cluster count as at least this share of an average cluster.
_SHARE = 0.5
# Steps of the walk that spreads labels over the graph, and the chance to go on.
_STEPS = 60
_GO_ON = 0.95


def check_partial(estimator: Any, y: Any, n_rows: int) -> Ints | None:
    """Partial labels as numbers of clusters, -1 where unknown; None where there are none, or where none is missing.

    Unknown are -1, NaN, None and the missing values of pandas. Names are numbered in their order (categories in
    theirs), and kept as `classes_` of the estimator. Complete labels say nothing about what to find: scikit-learn
    hands them to every estimator, for scoring.
    """
    if y is None:
        return None
    given, order = _listed(y)
    if given.shape != (n_rows,):
        raise ValueError(f"y has shape {given.shape}; give one label for each of {n_rows} rows, -1 where unknown.")
    unknown = _unknown(given)
    if not unknown.any() or unknown.all():
        return None
    labels = np.full(n_rows, UNKNOWN, dtype=np.int64)
    known = given[~unknown]
    if any(isinstance(value, str) for value in known.tolist()) or order is not None:
        estimator.classes_ = _names(known, order, estimator.n_clusters)
        number = {name: place for place, name in enumerate(estimator.classes_.tolist())}
        labels[~unknown] = [number[name] for name in known.tolist()]
    else:
        labels[~unknown] = _numbers(known)
    return labels


def refuse_partial(estimator: Any, y: Any) -> None:
    """Raise for partial labels where nothing can be done with them; complete labels are ignored."""
    if y is None:
        return
    unknown = _unknown(_listed(y)[0])
    if unknown.any() and not unknown.all():
        raise ValueError(
            f"y has no label for {unknown.sum()} of {len(unknown)} rows, but {type(estimator).__name__} cannot use "
            "partial labels; use KernelClustering or LandmarkClustering, or leave y out."
        )


def _listed(y: Any) -> tuple[NDArray[Any], list[Any] | None]:
    """Labels as an array, and their order where they are categories of pandas."""
    categorical = y if hasattr(y, "categories") else getattr(y, "cat", None)
    order = getattr(categorical, "categories", None)
    return np.asarray(y), None if order is None else list(order)


def _unknown(given: NDArray[Any]) -> Mask:
    """Where a label is not known."""
    if given.dtype.kind in "iub":
        return given == UNKNOWN
    if given.dtype.kind == "f":
        return np.isnan(given) | (given == UNKNOWN)
    return np.array([_is_unknown(value) for value in given.ravel().tolist()], dtype=bool).reshape(given.shape)


def _is_unknown(value: Any) -> bool:
    # The missing values of pandas answer no comparison, and are told by their type.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and (value != value or value == UNKNOWN)


def _names(known: NDArray[Any], order: list[Any] | None, n_clusters: Any) -> NDArray[Any]:
    """The names among the labels, in their order."""
    if (
        order is None
        and (odd := next((value for value in known.tolist() if not isinstance(value, str)), None)) is not None
    ):
        raise ValueError(f"y holds words and {odd!r}; give words only, or whole numbers from 0, and -1 where unknown.")
    present = set(known.tolist())
    names = sorted(present) if order is None else [name for name in order if name in present]
    if not isinstance(n_clusters, str) and len(names) > n_clusters:
        raise ValueError(
            f"y names {len(names)} clusters ({some([str(name) for name in names])}), but n_clusters={n_clusters}; "
            f"ask for at least {len(names)}."
        )
    return np.array(names)


def _numbers(known: NDArray[Any]) -> Ints:
    """Labels that are whole numbers from 0."""
    for value in np.unique(known).tolist() if known.dtype.kind != "O" else known.tolist():
        if not isinstance(value, Real) or not float(value).is_integer() or value < 0:
            raise ValueError(
                f"y holds {value!r}; labels are whole numbers from 0 or words, and -1 (or NaN, or None) where unknown."
            )
    return known.astype(np.int64)


def labels_of_points(labels: Ints, prepared: PreparedPoints, n_clusters: int) -> Ints:
    """The label of each point: that of most of its labelled rows, -1 where none is labelled."""
    _check_largest(labels, n_clusters)
    known = np.flatnonzero((labels >= 0) & (prepared.of_row >= 0))
    n_points = len(prepared.weights)
    votes = np.bincount(prepared.of_row[known] * n_clusters + labels[known], minlength=n_points * n_clusters)
    votes = votes.reshape(n_points, n_clusters)
    return np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)


def labels_of_landmarks(labels: Ints, rows: RowBlocks, graph: LandmarkGraph, n_clusters: int) -> Ints:
    """The label of each landmark in use: that of most labelled rows it is nearest to, -1 where there are none."""
    _check_largest(labels, n_clusters)
    votes = rows.total(partial(graph.attachment.votes, labels=labels, n_clusters=n_clusters))[graph.used]
    return np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)


def solve_steered(
    affinity: AffinityLike,
    weights: Floats,
    held: Ints,
    n_clusters: int,
    criterion: str,
    equalize: str | None,
    seed: int,
    *,
    start: Ints | None = None,
    **effort: Any,
) -> tuple[PosedProblem, Solution]:
    """The problem in which labelled points count more, and its solution with these held.

    It begins at `start`, or at the solution without labels; `effort` goes on to :func:`evencut.solvers.solve`.
    """
    posed = pose(affinity, weights * emphasis(held, weights, n_clusters), criterion, equalize)
    if start is None:
        start = solve(posed.problem, n_clusters, random_state=seed, **effort).labels
    return posed, steer(posed.problem, start, held, n_clusters, effort["max_iter"], seed)


def emphasis(held: Ints, weights: Floats, n_clusters: int) -> Floats:
    """By how much each labelled point counts more; one for the others."""
    factor = np.ones(len(held))
    for label in np.unique(held[held >= 0]):
        members = held == label
        factor[members] = max(1.0, _SHARE * weights.sum() / n_clusters / weights[members].sum())
    return factor


def steer(problem: RatioProblem, start: Ints, held: Ints, n_clusters: int, max_iter: int, seed: int) -> Solution:
    """The better of two starts with labelled points held: clusters found without labels, and labels spread along the
    graph."""
    if problem.matrix.is_lazy:
        raise ValueError(
            "partial labels need an affinity in memory; use a neighbour kernel, or give the kernel more memory."
        )
    matched = _matched(start, held, problem.weights, n_clusters)
    free = np.flatnonzero(held < 0)
    found = []
    for labels in (matched, _spread(problem.matrix, matched, held, n_clusters)):
        labels = _every_cluster(np.where(held >= 0, held, labels), held, n_clusters)
        first = problem.energy(labels)
        how: dict[str, Any] = {"max_iter": max_iter, "rng": np.random.default_rng(seed), "movable": free}
        refined, trace, converged = improve_by_moves(problem, labels, n_clusters, **how)
        energies = (first, *trace)
        found.append(Solution(refined, energies[-1], len(trace) + converged, energies, converged))
    return min(found, key=lambda solution: solution.energy)


def _check_largest(labels: Ints, n_clusters: int) -> None:
    if labels.max() >= n_clusters:
        raise ValueError(
            f"y holds the label {labels.max()}, but n_clusters={n_clusters} allows labels from 0 to {n_clusters - 1}; "
            "ask for more clusters or number the labels from 0."
        )


def _matched(start: Ints, held: Ints, weights: AnyFloats, n_clusters: int) -> Ints:
    """The clusters renumbered so that they hold as much labelled weight of their own number as they can."""
    from scipy.optimize import linear_sum_assignment

    overlap = np.zeros((n_clusters, n_clusters))
    known = np.flatnonzero(held >= 0)
    np.add.at(overlap, (start[known], held[known]), weights[known])
    clusters, numbers = linear_sum_assignment(overlap, maximize=True)
    number = np.empty(n_clusters, dtype=np.int64)
    number[clusters] = numbers
    return number[start]


def _spread(matrix: Affinity, matched: Ints, held: Ints, n_clusters: int) -> Ints:
    """Where a walk that starts at the labelled points is most likely to come by; clusters without any start whole."""
    labelled = np.isin(np.arange(n_clusters), held)
    source = np.where(held >= 0, held, np.where(labelled[matched], UNKNOWN, matched))
    seeds = np.zeros((len(held), n_clusters))
    known = np.flatnonzero(source >= 0)
    seeds[known, source[known]] = 1.0
    seeds /= np.maximum(seeds.sum(axis=0), 1.0)
    degree = np.maximum(matrix.degrees(), np.finfo(float).tiny)
    reached = seeds
    for _ in range(_STEPS):
        reached = (1 - _GO_ON) * seeds + _GO_ON * np.asarray(matrix @ (reached / degree[:, None]), dtype=np.float64)
    return np.where(reached.max(axis=1) > 0, reached.argmax(axis=1), matched)


def _every_cluster(labels: Ints, held: Ints, n_clusters: int) -> Ints:
    """The labels with every empty cluster given a free point of the largest."""
    labels = labels.copy()
    for k in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        size = np.bincount(labels[held < 0], minlength=n_clusters)
        candidates = np.flatnonzero((labels == size.argmax()) & (held < 0))
        if not candidates.size:
            raise ValueError(f"all points are labelled, and none as cluster {k}; ask for fewer clusters.")
        labels[candidates[-1]] = k
    return labels
