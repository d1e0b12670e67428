"""One call that says whether a clustering, made by any tool, is biased by density."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.base import clone

from ..affinity import Affinity, AffinityLike, as_affinity, check_affinity
from ..criteria import average_association, normalized_cut
from ..io import as_rows
from ..kernels import KERNELS, KNN, Kernel
from ..landmarks.blocks import RowBlocks, RowSample, is_lazy, sample
from ..neighbors import kneighbors, squared_distances
from ..points import PreparedPoints
from ..tensors import AnyFloats, AnyInts, Floats, Ints, Mask, Places, is_tensor, to_array, to_tensor
from ..valley import Splits
from .borders import Measures, measure_clusters
from .cures import final_findings, try_cures
from .html import pictures_of
from .labelled import LabelledPoints, fitted_points, labelled_points
from .neighbor_table import GRAPH_NEIGHBORS, NeighborTable, measure_points
from .report import BiasReport, ClusterReport, TriedCure, advise
from .verdicts import (
    MIN_POINTS,
    OK,
    TOO_FEW,
    UNRELATED,
    Finding,
    calibrated,
    judge,
    overall_verdict,
    probability_unrelated,
    splits_of,
)

_MIN_POINTS = 100
# Two groups six deviations apart in one column are missed where the deviation of another is three times as large.
_UNEQUAL = 3.0


class DensityBiasWarning(UserWarning):
    """A clustering shows a density bias; `evencut.diagnose` reports more."""


def diagnose_labels(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    cure: Any = None,
    sample_weight: ArrayLike | None = None,
    scale: str | None = "auto",
    metric: str = "euclidean",
    max_points: int = 20_000,
    random_state: int = 0,
    **options: Any,
) -> BiasReport:
    """As :func:`evencut.diagnose`, with any estimator to try as a cure, or none."""
    affinity = options.pop("affinity", None)
    if is_tensor(X) or is_tensor(labels):
        X, labels, sample_weight, affinity = _arrays_of(X, (labels, sample_weight), affinity, max_points, random_state)
    if is_lazy(X) or is_lazy(labels) or isinstance(X, np.memmap | RowBlocks):
        if sample_weight is not None:
            raise ValueError("sample_weight needs X in memory; draw a sample of X, labels and weights first.")
        X, labels = sample(X, labels, n_samples=max_points, random_state=random_state)
    rows = as_rows(X)
    given = labelled_points(rows, labels, sample_weight, scale, metric)
    options |= {"affinity": affinity, "max_points": max_points, "random_state": random_state}
    report = _report(given, cure, **options)
    spread = given.column_spread
    if cure is None or scale != "auto" or report.verdict in (OK, TOO_FEW) or spread < _UNEQUAL:
        return report
    standardized = labelled_points(rows, labels, sample_weight, "standard", metric)
    scaled = _report(standardized, clone(cure).set_params(scale="standard"), **options)
    if scaled.verdict == OK or scaled.code:
        why = f"Deviations of the columns differ by {spread:.3g} times; unscaled, the wider ones hide the others."
        return replace(scaled, preparation=[why, *scaled.preparation])
    tried = [*scaled.cures, *report.cures]
    advice, code = advise(report.verdict, report.clusters, tried, report.n_distinct)
    return replace(report, cures=tried, advice=advice, code=code)


def diagnose_fitted(prepared: PreparedPoints, labels: Ints, *, cure: Any = None, **options: Any) -> BiasReport:
    """Diagnose a fitted model on its prepared points, one label for each; options as in `diagnose`."""
    return _report(fitted_points(prepared, labels), cure, **options)


def _report(
    given: LabelledPoints,
    cure: Any,
    *,
    kernel: str | Kernel | None = None,
    affinity: AffinityLike | None = None,
    max_points: int = 20_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasReport:
    if max_points < _MIN_POINTS:
        raise ValueError(f"max_points={max_points} is too few to judge by; use {_MIN_POINTS} or more.")
    drawn = _draw(len(given.points), max_points, random_state)
    table = measure_points(given.points, given.prepared.weights, drawn, n_jobs)
    measures = measure_clusters(table, given.codes, len(given.names))
    splits = splits_of(table, given.codes, given.names)
    findings, tried = _judged(given, table, measures, cure, splits)
    verdict, clarity = overall_verdict(findings, measures.sizes)
    rows = [_row(k, given, measures, finding) for k, finding in enumerate(findings)]
    advice, code = advise(verdict, rows, tried, len(given.points))
    kernel_name, matrix = _kernel_matrix(given, drawn, kernel, affinity, n_jobs)
    pieces = joining_neighbors(given.points[drawn], table.graph, table.indices[:, 1:], table.n_neighbors)
    return BiasReport(
        verdict=verdict,
        confidence=calibrated(verdict, clarity, tried, len(drawn)),
        clusters=rows,
        splits=splits,
        advice=advice,
        code=code,
        cures=tried,
        preparation=given.preparation(),
        n_points=given.n_given,
        n_noise=given.n_noise,
        n_distinct=len(given.points),
        n_judged=len(drawn),
        degree_spread=_degree_spread(matrix),
        criteria_gap=_criteria_gap(matrix, given.codes if matrix.shape[0] == len(given.points) else given.codes[drawn]),
        kernel=kernel_name,
        n_components=pieces[0],
        joining_neighbors=pieces[1],
        n_neighbors=table.n_neighbors,
        dimension=table.dimension,
        pictures=pictures_of(given.points[drawn], measures, findings),
    )


def _judged(
    given: LabelledPoints, table: NeighborTable, measures: Measures, cure: Any, splits: Splits
) -> tuple[list[Finding], list[TriedCure]]:
    """A finding for each cluster, and the cures that were tried."""
    borders_say = judge(measures)
    if len(table.drawn) < MIN_POINTS:
        # Of so few points every border, and every lack of one, may be chance: only gaps are told.
        return [f if f.verdict == OK else Finding(TOO_FEW, 0.5, f.border) for f in borders_say], []
    unrelated = probability_unrelated(table, measures)
    if unrelated > 0.5:
        return [Finding(UNRELATED, unrelated, finding.border) for finding in borders_say], []
    if cure is None:
        return borders_say, []
    tried = try_cures(given, table, borders_say, cure)
    return final_findings(borders_say, given.names, tried, splits), tried


def _draw(n_points: int, max_points: int, random_state: int) -> Places:
    if n_points <= max_points:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(random_state).choice(n_points, max_points, replace=False))


def _row(k: int, given: LabelledPoints, measures: Measures, finding: Finding) -> ClusterReport:
    border = finding.border
    weight = float(given.sizes[k])
    return ClusterReport(
        label=given.names[k],
        size=int(weight) if weight.is_integer() else weight,
        share=weight / float(given.sizes.sum()),
        density=float(measures.density[k]),
        border_density=0.0 if border is None else float(np.exp(border.height - measures.middle[k])),
        conductance=float(measures.conductance[k]),
        neighbor=None if border is None else given.names[border.other(k)],
        verdict=finding.verdict,
        confidence=float(finding.confidence),
    )


def _arrays_of(X: Any, by_row: tuple[Any, Any], affinity: Any, max_points: int, random_state: int) -> tuple[Any, ...]:
    """Tensors as arrays: all of them where they are few or in the memory of the CPU, else the rows of a sample.

    `by_row` are labels and weights.
    """
    if not is_tensor(X) or X.device.type == "cpu" or len(X) <= max_points:
        every = (X, *by_row, affinity)
        return tuple(to_array(value) if is_tensor(value) else value for value in every)
    if len(by_row[0]) != len(X):
        raise ValueError(f"labels has {len(by_row[0])} entries, but X has {len(X)} rows; give one label for each row.")
    if affinity is not None:
        raise ValueError(f"an affinity of {len(X)} points does not go with a sample of them; leave it out.")
    drawn = RowSample.of(max_points, len(X), random_state).places(len(X), 0)
    rows = to_tensor(drawn, X)
    some = [to_array(part[rows]) if is_tensor(part) else np.asarray(part)[drawn] for part in by_row if part is not None]
    return (to_array(X[rows]), *some, *([None] * (3 - len(some))))


def _kernel_matrix(
    given: LabelledPoints,
    drawn: Places,
    kernel: Any,
    affinity: AffinityLike | None,
    n_jobs: int | None,
) -> tuple[str, Affinity]:
    """The affinity that degrees are read off, and its name."""
    if affinity is not None:
        matrix = as_affinity(check_affinity(affinity))
        if matrix.shape[0] <= given.rows.max():
            raise ValueError(f"affinity is of {matrix.shape[0]} points, but there are more labels; give all rows.")
        # Points are in an order of their own; copies are seen by the first of them.
        return "given", matrix.submatrix(given.rows)
    if kernel is None:
        kernel = KNN(n_neighbors=GRAPH_NEIGHBORS)
    elif isinstance(kernel, str):
        known = sorted(set(KERNELS) - {"precomputed"})
        if kernel not in known:
            raise ValueError(f"kernel={kernel!r} is not known; choose one of {known}, or pass affinity=.")
        kernel = KERNELS[kernel]()
    return type(kernel).__name__, as_affinity(kernel.affinity(given.points[drawn], n_jobs=n_jobs))


def _degree_spread(matrix: Affinity) -> float:
    degree = matrix.degrees()
    return float(degree.std() / degree.mean()) if degree.mean() > 0 else float("inf")


def _criteria_gap(matrix: Affinity, codes: Ints) -> float:
    """Average association in units of the mean degree against normalised cut, as a share of the latter."""
    degree = matrix.degrees()
    if not (degree > 0).all():
        return float("inf")
    codes = np.unique(codes, return_inverse=True)[1]
    association = average_association(matrix).energy(codes) / degree.mean()
    cut = normalized_cut(matrix).energy(codes)
    return float(abs(association - cut) / abs(cut)) if cut else 0.0


#: Distances computed to rank the points nearest to another piece; above it only the nearest are ranked.
_DISTANCES = 2_000_000
#: More pieces than this, all beyond the neighbours known, are not ranked one by one.
_MANY = 32


def joining_neighbors(X: AnyFloats, graph: sparse.csr_array, neighbors: AnyInts, used: int) -> tuple[int, int | None]:
    """Number of connected pieces of `graph`, and the smallest neighbour count that joins them all.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    graph : CSR array
        Its graph with `used` neighbours a point, seen from either side.
    neighbors : ndarray of shape (n_samples, n_known)
        Neighbours of each point, nearest first, the point itself not among them; more of them than `used`.
    used : int

    Returns
    -------
    n_pieces : int
    n_neighbors : int or None
        `used` where there is one piece; None where many pieces lie beyond all the neighbours known. For very
        large data it is an upper bound, for it ranks only the points nearest to other pieces.
    """
    n_pieces, piece = connected_components(graph, directed=False)
    if n_pieces == 1:
        return 1, used
    first, second, rank = _known_links(piece, neighbors)
    joined, count = _tree(first, second, rank, n_pieces)
    n_left, group = connected_components(joined, directed=False)
    piece, count = group[piece], max(count, used)
    if n_left > _MANY:
        return n_pieces, None
    while n_left > 1:
        # The largest piece waits to be reached: every other one finds the cheapest way out of itself.
        waiting = np.delete(np.arange(n_left), np.bincount(piece).argmax())
        links = [_cheapest_link(X, piece == k, piece) for k in waiting]
        count = max(count, *(rank for rank, _ in links))
        ends = (waiting, np.array([to for _, to in links]))
        joined = sparse.csr_array((np.ones(len(waiting)), ends), shape=(n_left, n_left))
        n_left, group = connected_components(joined, directed=False)
        piece = group[piece]
    return n_pieces, int(count)


def _known_links(piece: AnyInts, neighbors: AnyInts) -> tuple[AnyInts, AnyInts, AnyInts]:
    """Pairs of pieces that see each other among the neighbours known, and the rank at which they do."""
    p, rank = np.nonzero(piece[neighbors] != piece[:, None])
    return piece[p], piece[neighbors[p, rank]], rank + 1


def _tree(first: AnyInts, second: AnyInts, rank: AnyInts, n_pieces: int) -> tuple[sparse.csr_array, int]:
    """The links of least rank that join what can be joined, and the largest rank among them."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((rank, high, low))
    low, high, rank = low[order], high[order], rank[order]
    cheapest = np.r_[True, (np.diff(low) > 0) | (np.diff(high) > 0)][: len(rank)]
    ends = (low[cheapest], high[cheapest])
    tree = minimum_spanning_tree(sparse.csr_array((rank[cheapest].astype(float), ends), shape=(n_pieces,) * 2))
    return tree, int(tree.data.max()) if tree.nnz else 0


def _cheapest_link(X: AnyFloats, inside: Mask, piece: AnyInts) -> tuple[int, int]:
    """Fewest neighbours by which the piece `inside` and another one see each other, and that other piece."""
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    gap, nearest = kneighbors(X[others], 1, at=X[members], method="exact")
    order = np.argsort(gap[:, 0], kind="stable")[: max(16, _DISTANCES // len(X))]
    gap, near, far = gap[order, 0], members[order], others[nearest[order, 0]]
    ranks = np.minimum(_rank(X, near, gap), _rank(X, far, gap))
    best = int(np.argmin(ranks))
    return int(ranks[best]), int(piece[far[best]])


def _rank(X: AnyFloats, centres: AnyInts, radius: Floats) -> AnyInts:
    """How many other points lie as near to each centre as `radius`."""
    step = max(1, _DISTANCES // len(X))
    counts = [
        np.sum(squared_distances(X, X[centres[i : i + step]]) <= radius[i : i + step] ** 2 * (1 + 1e-9), axis=0)
        for i in range(0, len(centres), step)
    ]
    return np.concatenate(counts) - 1
