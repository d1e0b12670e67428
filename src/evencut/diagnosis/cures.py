"""Cures are tried before they are advised: run on the points, and judged by the same measures as what was given.

A cure is better where much less of it lies in clusters without a valley, and where its borders are others than the
given ones. It is offered where, besides, little is left and no crumbs are split off. The limits were chosen on one half
of the labelled public sets of `benchmarks/diagnosis_sets.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..tensors import Floats, Ints, Places
from ..valley import Splits
from .borders import Measures, measure_clusters
from .labelled import LabelledPoints
from .neighbor_table import NeighborTable, measure_points
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

# Less of the clustering must lie in clusters without a valley, by so much, and no more than so much may be left.
_LESS, _LEFT = 0.3, 0.3
# A border of a cure that is no clearer than this may have its valley by chance.
_CLEAR = 0.7
# Two clusters are the same where they share so much of the points that either has.
_SAME = 0.8
# A cluster below this share of all points, and of an average cluster, is a crumb: outliers more often than a class.
_CRUMB, _CRUMB_OF_AVERAGE = 0.02, 0.1


def try_cures(
    given: LabelledPoints, table: NeighborTable, findings: Sequence[Finding], cure: Any
) -> list[TriedCure]:
    """Try an estimator with as many clusters; nothing is tried where there is nothing to cure.

    A neighbour kernel scaled to equal degrees was another cure once: where the default is not offered, it never helped.
    """
    n_clusters, place = len(given.names), table.drawn
    if all(finding.verdict == OK for finding in findings) or n_clusters >= len(place):
        return []
    before, judged = list(findings), table
    if len(place) < len(given.points):
        judged = measure_points(given.points[place], given.prepared.weights[place], np.arange(len(place)), table.n_jobs)
        before = judge(measure_clusters(judged, given.codes[place], n_clusters))
    model = clone(cure).set_params(n_clusters=n_clusters)
    codes = clone(model).set_params(n_jobs=table.n_jobs).label_points(given.prepared.taken(place))
    return [_compared(given, place, judged, before, codes, model)]


def final_findings(
    findings: Sequence[Finding], names: Sequence[object], cures: Sequence[TriedCure], splits: Splits
) -> list[Finding]:
    """The findings on a clustering with these splits, in the light of what was tried.

    Where a cure is offered they stand. Where none is, a cut through a body is an overlap, for nothing better is known;
    so is any border that a cure draws again. A mode cut out of a body stays what it is, and so do a few stragglers,
    whoever splits them off. Where the valley test shows no split, neither here nor in a cure, all the rest is one body.
    """
    if any(cure.offered for cure in cures):
        return list(findings)
    one_body = is_one_body(splits) and all(cure.n_bodies <= 1 for cure in cures)
    # A border that looks like a valley is one by chance if the test sees nothing at all.
    even = all(not split.adjusted <= 0.5 for split in splits)
    moved = set.intersection(*(set(cure.moved) for cure in cures)) if cures else set(names)
    better = any(cure.better for cure in cures)

    # A piece behind a valley of its own is no mode and no rim, whatever its border looks like.
    real = [side[0] for split in splits if split.adjusted <= 0.05 for side in split.sides if len(side) == 1]

    def told(finding: Finding, name: object) -> str:
        if finding.verdict == OK:
            unclear = finding.border is not None and (finding.confidence < _CLEAR or even)
            return ONE_BODY if one_body and unclear else OK
        if finding.border is not None and not finding.border.ignores_gap and name in real:
            return OVERLAP
        stands = finding.border is None or name in moved or better
        if finding.verdict not in BIASES or (finding.verdict != EQUAL_SIZES and stands):
            return finding.verdict
        return ONE_BODY if one_body else OVERLAP

    return [replace(finding, verdict=told(finding, name)) for finding, name in zip(findings, names)]


def _compared(
    given: LabelledPoints,
    place: Places,
    judged: NeighborTable,
    before: list[Finding],
    codes: Ints,
    model: Any,
) -> TriedCure:
    """The cure beside what was given, on the same points."""
    n_clusters = len(given.names)
    old, weights = given.codes[place], given.prepared.weights[place]
    measures = measure_clusters(judged, codes, n_clusters)
    after = judge(measures)
    old_sizes = np.bincount(old, weights, n_clusters).astype(np.float64)
    wrong = share_without_valley(before, old_sizes)
    left = share_without_valley(after, measures.sizes)
    same = _overlap_of_clusters(old, codes, weights, n_clusters) >= _SAME
    moved = [given.names[k] for k in range(n_clusters) if before[k].verdict != OK and not same[k]]
    n_bodies = 1 + int(splits_of(judged, codes, range(n_clusters)).is_real().sum())
    better = bool(moved) and wrong - left > _LESS and n_bodies > 1
    unclear = any(finding.verdict == OK and finding.border and finding.confidence < _CLEAR for finding in after)
    refusal = _refusal(left > _LEFT or unclear, better, bool(moved), _crumb(measures, after))
    labels = None
    if len(place) == len(given.points):
        labels = np.where(given.prepared.point_of_row >= 0, codes[given.prepared.point_of_row], -1)
    return TriedCure(
        model=model,
        code=_line(given, model),
        verdict=overall_verdict(after, measures.sizes)[0],
        before=wrong,
        after=left,
        moved=moved,
        better=better,
        n_bodies=n_bodies,
        offered=not refusal,
        reason=refusal or "its borders lie in valleys",
        n_tried=len(place),
        labels=labels,
    )


def _refusal(unclear: bool, better: bool, moves: bool, crumb: float) -> str:
    """Why a cure is not offered; nothing where it is."""
    if not moves:
        return "it draws nearly the same borders"
    if not better:
        return "its borders do not lie in valleys either"
    if unclear:
        return "some of its own borders do not lie in valleys"
    return f"it splits off {crumb:.1%} of the points as a cluster of their own" if crumb else ""


def _crumb(measures: Measures, findings: Sequence[Finding]) -> float:
    """Share of the smallest cluster in all points where it is a crumb, or a few stragglers; otherwise 0."""
    shares = measures.sizes / measures.sizes.sum()
    stragglers = any(findings[k].verdict != OK for k in measures.tiny)
    return float(shares.min()) if stragglers or shares.min() < min(_CRUMB, _CRUMB_OF_AVERAGE * shares.mean()) else 0.0


def _overlap_of_clusters(old: Ints, new: Ints, weights: Floats, n_clusters: int) -> Floats:
    """For each old cluster, the largest share of common points with a new one in the points that either has."""
    common = np.bincount(old * n_clusters + new, weights, n_clusters**2).reshape(n_clusters, -1).astype(np.float64)
    either = common.sum(axis=1)[:, None] + common.sum(axis=0)[None, :] - common
    return np.divide(common, either, out=np.zeros_like(common), where=either > 0).max(axis=1)


def _line(given: LabelledPoints, model: Any) -> str:
    """The cure as a line of code that makes it from X, and from the other things that were given."""
    kept = "[labels != -1]" if given.n_noise else ""
    weights = f", sample_weight=sample_weight{kept}" if given.weighted else ""
    return f"import evencut; labels = evencut.{model!r}.fit_predict(X{kept}{weights})"
