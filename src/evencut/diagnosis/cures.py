"""Cures are tried before they are advised: run on the points, and measured as the labels of the user are.

A cure is better if much less of it lies in clusters without a valley, and if it draws other borders. It is offered if,
besides, little is left and no small fragments are split off. The limits were chosen on one half of the labelled public
sets of `benchmarks/diagnosis_sets.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..tensors import Floats, Ints
from ..valley import Splits
from .borders import Measures, large_pieces, measure_clusters
from .labelled import LabelledPoints, NeighborTable, measure_points
from .report import TriedCure
from .verdicts import (
    BIASES,
    EQUAL_SIZES,
    OK,
    ONE_BODY,
    OVERLAP,
    Finding,
    is_one_body,
    judge,
    overall_verdict,
    share_without_valley,
    splits_of,
)

# A border of at most this confidence may have its valley by chance.
_CLEAR = 0.7


def try_cures(
    labelled: LabelledPoints, table: NeighborTable, findings: Sequence[Finding], cure: Any
) -> list[TriedCure]:
    """Try an estimator with the same number of clusters; nothing is tried if all clusters are ok."""
    n_clusters, drawn = len(labelled.names), table.drawn
    if all(finding.verdict == OK for finding in findings) or n_clusters >= len(drawn):
        return []
    old, weights = labelled.codes[drawn], labelled.prepared.weights[drawn]
    is_sample = len(drawn) < len(labelled.points)
    if is_sample:
        table = measure_points(labelled.points[drawn], weights, np.arange(len(drawn)), table.n_jobs)
        findings = judge(measure_clusters(table, old, n_clusters))
    model = clone(cure).set_params(n_clusters=n_clusters)
    codes = clone(model).set_params(n_jobs=table.n_jobs).label_points(labelled.prepared.taken(drawn))
    measures = measure_clusters(table, codes, n_clusters)
    new_findings = judge(measures)
    wrong = share_without_valley(findings, np.bincount(old, weights, n_clusters).astype(np.float64))
    left = share_without_valley(new_findings, measures.sizes)
    same = _overlap_of_clusters(old, codes, weights, n_clusters) >= 0.8
    moved = [labelled.names[k] for k in range(n_clusters) if findings[k].verdict != OK and not same[k]]
    n_real = int(splits_of(table, codes, range(n_clusters)).is_real().sum())
    n_bodies = max(1 + n_real, min(n_clusters, len(large_pieces(table.graph)[2])))
    better = bool(moved) and wrong - left > 0.3 and n_bodies > 1
    refusal = _refusal(measures, new_findings, bool(moved), better, left)
    point_of_row = labelled.prepared.point_of_row
    tried = TriedCure(
        model=model,
        code=_line(labelled, model),
        verdict=overall_verdict(new_findings, measures.sizes)[0],
        before=wrong,
        after=left,
        moved=moved,
        better=better,
        n_bodies=n_bodies,
        offered=not refusal,
        reason=refusal or "its borders lie in valleys",
        n_tried=len(drawn),
        labels=None if is_sample else np.where(point_of_row >= 0, codes[point_of_row], -1),
    )
    return [tried]


def final_findings(
    findings: Sequence[Finding], names: Sequence[object], cures: Sequence[TriedCure], splits: Splits, dimension: float
) -> list[Finding]:
    """The findings on a clustering with these splits, after these cures were tried.

    If a cure is offered they stand. If none is, a cut through a body is an overlap, for nothing better is known;
    so is any border that a cure draws again. A mode cut out of a body stays a mode, and a few outliers stay outliers,
    even if the cure splits them off, too. But in many dimensions, as in vectors of texts, densities are too noisy for
    either without a better clustering. If no split is shown, neither of these labels nor of a cure, all the rest is one
    body.
    """
    if any(cure.offered for cure in cures):
        return list(findings)
    one_body = is_one_body(splits) and all(cure.n_bodies <= 1 for cure in cures)
    # A border that looks like a valley is one by chance if the test sees nothing at all.
    even = all(not split.adjusted <= 0.5 for split in splits)
    moved = set.intersection(*(set(cure.moved) for cure in cures)) if cures else set(names)
    better = any(cure.better for cure in cures)

    # A piece that a valley separates is neither a mode nor a rim, for any border.
    real = [side[0] for split in splits if split.adjusted <= 0.05 for side in split.sides if len(side) == 1]

    def final_verdict(finding: Finding, name: object) -> str:
        if finding.verdict == OK:
            unclear = finding.border is not None and (finding.confidence < _CLEAR or even)
            return ONE_BODY if one_body and unclear else OK
        if finding.border is not None and not finding.border.ignores_gap and name in real:
            return OVERLAP
        stands = better or (dimension < 8 and (finding.border is None or name in moved))
        if finding.verdict not in BIASES or (finding.verdict != EQUAL_SIZES and stands):
            return finding.verdict
        return ONE_BODY if one_body else OVERLAP

    return [replace(finding, verdict=final_verdict(finding, name)) for finding, name in zip(findings, names)]


def _refusal(measures: Measures, findings: Sequence[Finding], moves: bool, better: bool, left: float) -> str:
    """Why a cure with these measures and findings is not offered; empty if it is."""
    if not moves:
        return "it draws nearly the same borders"
    if not better:
        return "its borders do not lie in valleys either"
    if left > 0.3 or any(f.verdict == OK and f.border and f.confidence < _CLEAR for f in findings):
        return "some of its own borders do not lie in valleys"
    shares = measures.sizes / measures.sizes.sum()
    has_outliers = any(findings[k].verdict != OK for k in measures.tiny)
    # A cluster of a few outliers, or too small for a class.
    if has_outliers or shares.min() < min(0.02, 0.1 * shares.mean()):
        return f"it splits off {shares.min():.1%} of the points as a cluster of their own"
    return ""


def _overlap_of_clusters(old: Ints, new: Ints, weights: Floats, n_clusters: int) -> Floats:
    """For each old cluster, the largest share of common points with a new one in the points that either has."""
    common = np.bincount(old * n_clusters + new, weights, n_clusters**2).reshape(n_clusters, -1).astype(np.float64)
    either = common.sum(axis=1)[:, None] + common.sum(axis=0)[None, :] - common
    return np.divide(common, either, out=np.zeros_like(common), where=either > 0).max(axis=1)


def _line(labelled: LabelledPoints, model: Any) -> str:
    """The cure as a line of code for the arguments of the user."""
    rows = "[labels != -1]" if labelled.n_noise else ""
    weights = f", sample_weight=sample_weight{rows}" if labelled.weighted else ""
    return f"import evencut; labels = evencut.{model!r}.fit_predict(X{rows}{weights})"
