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
from ..landmarks.blocks import RowBlocks, is_lazy, sample
from ..landmarks.choosing import RowSample
from ..points import PreparedPoints
from ..tensors import Ints, Places, is_tensor, to_array, to_tensor
from .advice import advise
from .bodies import count_bodies
from .chance import FEWEST_JUDGED, chance_unrelated
from .confidence import calibrated
from .connectivity import joining_neighbors
from .cures import after_trying, try_cures
from .evidence import GRAPH_NEIGHBORS, Evidence, Surroundings, gather, survey
from .pictures import pictures
from .points import LabelledPoints, fitted_points, labelled_points
from .report import BiasReport, ClusterReport, TriedCure
from .verdicts import OK, TOO_FEW, UNRELATED, Finding, gravest, judge

_FEWEST_JUDGED = 100
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
    if max_points < _FEWEST_JUDGED:
        raise ValueError(f"max_points={max_points} is too few to judge by; use {_FEWEST_JUDGED} or more.")
    drawn = _draw(len(given.points), max_points, random_state)
    around = survey(given.points, given.prepared.weights, drawn, n_jobs)
    evidence = gather(around, given.codes, len(given.names))
    findings, tried = _judged(given, around, evidence, cure)
    verdict, clarity = gravest(findings, evidence.sizes)
    rows = [_row(k, given, evidence, finding) for k, finding in enumerate(findings)]
    advice, code = advise(verdict, rows, tried, len(given.points))
    kernel_name, matrix = _kernel_matrix(given, drawn, kernel, affinity, n_jobs)
    pieces = joining_neighbors(given.points[drawn], around.graph, around.indices[:, 1:], around.n_neighbors)
    return BiasReport(
        verdict=verdict,
        confidence=calibrated(verdict, clarity, tried, len(drawn)),
        clusters=rows,
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
        n_neighbors=around.n_neighbors,
        dimension=around.dimension,
        pictures=pictures(given.points[drawn], evidence, findings),
    )


def _judged(
    given: LabelledPoints, around: Surroundings, evidence: Evidence, cure: Any
) -> tuple[list[Finding], list[TriedCure]]:
    """A finding for each cluster, and the cures that were tried."""
    borders_say = judge(evidence)
    if len(around.drawn) < FEWEST_JUDGED:
        # Of so few points every border, and every lack of one, may be chance: only gaps are told.
        return [f if f.verdict == OK else Finding(TOO_FEW, 0.5, f.border) for f in borders_say], []
    unrelated = chance_unrelated(around, evidence)
    if unrelated > 0.5:
        return [Finding(UNRELATED, unrelated, finding.border) for finding in borders_say], []
    if cure is None:
        return borders_say, []
    tried = try_cures(given, around, borders_say, cure)
    return after_trying(borders_say, given.names, tried, count_bodies(around, evidence)), tried


def _draw(n_points: int, max_points: int, random_state: int) -> Places:
    if n_points <= max_points:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(random_state).choice(n_points, max_points, replace=False))


def _row(k: int, given: LabelledPoints, evidence: Evidence, finding: Finding) -> ClusterReport:
    border = finding.border
    weight = float(given.sizes[k])
    return ClusterReport(
        label=given.names[k],
        size=int(weight) if weight.is_integer() else weight,
        share=weight / float(given.sizes.sum()),
        density=float(evidence.density[k]),
        border_density=0.0 if border is None else float(np.exp(border.height - evidence.middle[k])),
        conductance=float(evidence.conductance[k]),
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
        return "given", matrix.among(given.rows)
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
