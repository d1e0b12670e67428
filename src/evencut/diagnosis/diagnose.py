"""One call that says whether a clustering, made by any tool, is biased by density."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..affinity import Affinity, AffinityLike, as_affinity, check_affinity
from ..criteria import average_association, normalized_cut
from ..io import as_rows
from ..kernels import KERNELS, KNN, Kernel
from ..landmarks.blocks import RowBlocks, RowSample, is_lazy, sample
from ..points import PreparedPoints
from ..tensors import Ints, Places, is_tensor, native, to_array, to_tensor
from ..valley import Splits
from .borders import Measures, measure_clusters
from .cures import final_findings, try_cures
from .html import pictures_of
from .labelled import (
    GRAPH_NEIGHBORS,
    LabelledPoints,
    NeighborTable,
    fitted_points,
    joining_neighbors,
    labelled_points,
    measure_points,
)
from .report import BiasReport, ClusterReport, TriedCure, advise
from .verdicts import (
    MIN_POINTS,
    OK,
    ONE_BODY,
    OVERLAP,
    TOO_FEW,
    UNRELATED,
    Finding,
    calibrated,
    judge,
    overall_verdict,
    probability_unrelated,
    splits_of,
)


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
    X, labels, sample_weight = map(native, (X, labels, sample_weight))
    if is_tensor(X) or is_tensor(labels):
        X, labels, sample_weight, affinity = _arrays_of(X, (labels, sample_weight), affinity, max_points, random_state)
    if is_lazy(X) or is_lazy(labels) or isinstance(X, np.memmap | RowBlocks):
        if sample_weight is not None:
            raise ValueError("sample_weight needs X in memory; draw a sample of X, labels and weights first.")
        X, labels = sample(X, labels, n_samples=max_points, random_state=random_state)
    rows = as_rows(X)
    labelled = labelled_points(rows, labels, sample_weight, scale, metric)
    options |= {"affinity": affinity, "max_points": max_points, "random_state": random_state}
    report = _report(labelled, cure, **options)
    spread = labelled.column_spread
    # Two groups six standard deviations apart in one column are missed if that of another is three times as large.
    if cure is None or scale != "auto" or report.verdict in (OK, TOO_FEW) or spread < 3.0:
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
    """Diagnose a fitted model on its prepared points, one label for each; options as in `diagnose`.

    If the fit found the number of clusters, `agreement` is its confidence: the verdict is then never "one body".
    """
    return _report(fitted_points(prepared, labels), cure, **options)


def _report(
    labelled: LabelledPoints,
    cure: Any,
    *,
    kernel: str | Kernel | None = None,
    affinity: AffinityLike | None = None,
    max_points: int = 20_000,
    random_state: int = 0,
    n_jobs: int | None = None,
    agreement: float | None = None,
) -> BiasReport:
    if max_points < 100:
        raise ValueError(f"max_points={max_points} is too few to judge by; use 100 or more.")
    n_points, drawn = len(labelled.points), np.arange(len(labelled.points))
    if n_points > max_points:
        drawn = np.sort(np.random.default_rng(random_state).choice(n_points, max_points, replace=False))
    table = measure_points(labelled.points, labelled.prepared.weights, drawn, n_jobs)
    measures = measure_clusters(table, labelled.codes, len(labelled.names))
    splits = splits_of(table, labelled.codes, labelled.names)
    findings, tried = _judged(labelled, table, measures, cure, splits)
    verdict, clarity = overall_verdict(findings, measures.sizes)
    is_agreed = agreement is not None and verdict == ONE_BODY
    if is_agreed:
        # The number was found by other evidence: the answer is that of the fit.
        findings = [replace(f, verdict=OVERLAP) if f.verdict == ONE_BODY else f for f in findings]
        verdict = OVERLAP
    rows = [_row(k, labelled, measures, finding) for k, finding in enumerate(findings)]
    advice, code = advise(verdict, rows, tried, n_points)
    if is_agreed:
        advice += (
            f"\nThe number of clusters was found because several methods agree on it (confidence {agreement:.0%}), "
            "although no valley of the density separates them; EvenCut(significance=0.05) cuts only along valleys."
        )
    kernel_name, matrix = _kernel_matrix(labelled, drawn, kernel, affinity, n_jobs)
    codes = labelled.codes if matrix.shape[0] == n_points else measures.codes
    degree_spread, criteria_gap = _degree_effects(matrix, codes)
    n_pieces, n_joining = joining_neighbors(
        labelled.points[drawn], table.graph, table.indices[:, 1:], table.n_neighbors
    )
    return BiasReport(
        verdict=verdict,
        confidence=calibrated(verdict, clarity, tried, len(drawn)),
        clusters=rows,
        splits=splits,
        advice=advice,
        code=code,
        cures=tried,
        preparation=labelled.preparation(),
        n_points=len(labelled.prepared.point_of_row),
        n_noise=labelled.n_noise,
        n_distinct=n_points,
        n_judged=len(drawn),
        degree_spread=degree_spread,
        criteria_gap=criteria_gap,
        kernel=kernel_name,
        n_components=n_pieces,
        joining_neighbors=n_joining,
        n_neighbors=table.n_neighbors,
        dimension=table.dimension,
        pictures=pictures_of(labelled.points[drawn], measures, findings),
    )


def _judged(
    labelled: LabelledPoints, table: NeighborTable, measures: Measures, cure: Any, splits: Splits
) -> tuple[list[Finding], list[TriedCure]]:
    """A finding for each cluster, and the cures that were tried."""
    borders_say = judge(measures)
    if len(table.drawn) < MIN_POINTS:
        # Of so few points every border, and every lack of one, may be chance: only gaps are reported.
        return [f if f.verdict == OK else Finding(TOO_FEW, 0.5, f.border) for f in borders_say], []
    unrelated = probability_unrelated(table, measures)
    if unrelated > 0.5:
        return [Finding(UNRELATED, unrelated, finding.border) for finding in borders_say], []
    if cure is None:
        return borders_say, []
    tried = try_cures(labelled, table, borders_say, cure)
    return final_findings(borders_say, labelled.names, tried, splits, table.dimension), tried


def _row(k: int, labelled: LabelledPoints, measures: Measures, finding: Finding) -> ClusterReport:
    border = finding.border
    weight = float(labelled.sizes[k])
    return ClusterReport(
        label=labelled.names[k],
        size=int(weight) if weight.is_integer() else weight,
        share=weight / float(labelled.sizes.sum()),
        density=float(measures.density[k]),
        border_density=0.0 if border is None else float(np.exp(border.height - measures.middle[k])),
        conductance=float(measures.conductance[k]),
        neighbor=None if border is None else labelled.names[border.other(k)],
        verdict=finding.verdict,
        confidence=float(finding.confidence),
    )


def _arrays_of(X: Any, by_row: tuple[Any, Any], affinity: Any, max_points: int, random_state: int) -> tuple[Any, ...]:
    """Tensors as arrays: all of them if they are few or in the memory of the CPU, else the rows of a sample.

    `by_row` are labels and weights.
    """
    if not is_tensor(X) or X.device.type == "cpu" or len(X) <= max_points:
        return tuple(to_array(value) if is_tensor(value) else value for value in (X, *by_row, affinity))
    if len(by_row[0]) != len(X):
        raise ValueError(f"labels has {len(by_row[0])} entries, but X has {len(X)} rows; give one label for each row.")
    if affinity is not None:
        raise ValueError(f"an affinity of {len(X)} points does not go with a sample of them; leave it out.")
    drawn = RowSample.of(max_points, len(X), random_state).places(len(X), 0)
    rows = to_tensor(drawn, X)
    sampled = [None if v is None else to_array(v[rows]) if is_tensor(v) else np.asarray(v)[drawn] for v in by_row]
    return (to_array(X[rows]), *sampled, None)


def _kernel_matrix(
    labelled: LabelledPoints, drawn: Places, kernel: Any, affinity: AffinityLike | None, n_jobs: int | None
) -> tuple[str, Affinity]:
    """The affinity that degrees are read off, and its name."""
    if affinity is not None:
        matrix = as_affinity(check_affinity(affinity))
        if matrix.shape[0] <= labelled.rows.max():
            raise ValueError(f"affinity is of {matrix.shape[0]} points, but there are more labels; give all rows.")
        # Points have another order than rows; of copies the first row counts.
        return "given", matrix.submatrix(labelled.rows)
    if kernel is None:
        kernel = KNN(n_neighbors=GRAPH_NEIGHBORS)
    elif isinstance(kernel, str):
        known = sorted(set(KERNELS) - {"precomputed"})
        if kernel not in known:
            raise ValueError(f"kernel={kernel!r} is not known; choose one of {known}, or pass affinity=.")
        kernel = KERNELS[kernel]()
    return type(kernel).__name__, as_affinity(kernel.affinity(labelled.points[drawn], n_jobs=n_jobs))


def _degree_effects(matrix: Affinity, codes: Ints) -> tuple[float, float]:
    """Coefficient of variation of the degrees, and the relative difference between the two criteria.

    Average association, in units of the mean degree, is compared with normalised cut.
    """
    degree, codes = matrix.degrees(), np.unique(codes, return_inverse=True)[1]
    spread = float(degree.std() / degree.mean()) if degree.mean() > 0 else float("inf")
    if not (degree > 0).all():
        return spread, float("inf")
    association = average_association(matrix).energy(codes) / degree.mean()
    cut = normalized_cut(matrix).energy(codes)
    return spread, float(abs(association - cut) / abs(cut)) if cut else 0.0
