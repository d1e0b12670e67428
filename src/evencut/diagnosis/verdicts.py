"""From measures to verdicts: one for every border and every cluster, with a confidence.

The constants of borders were chosen on generated clusterings of known truth (`benchmarks/diagnosis.py`) and judged on
others. The confidence of a report was measured on the tuning half of the labelled public sets by seven methods
(`benchmarks/diagnosis_trust.py`); the other half tests it. A bias is right where the reference labels disagree with the
clustering, ok and overlap where it agrees with them or nothing better is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from ..criteria import normalized_cut
from ..neighbors import squared_distances
from ..solvers.exchange import merges, part_links
from ..tensors import AnyFloats, Ints
from ..valley import Splits, tree_evidence
from .borders import TINY, Border, Measures, TinyCluster
from .neighbor_table import NeighborTable

if TYPE_CHECKING:
    from .report import TriedCure


#: Every border lies in a valley of the density, or in a gap.
OK = "ok"
#: A dense piece cut out of a larger body (Breiman's bias).
MODE_ISOLATION = "mode isolation"
#: A few sparse or isolated points split off.
SPARSE_SUBSET = "sparse subset"
#: A body cut through into parts of like size.
EQUAL_SIZES = "equal sizes"
#: A border through a dense region where nothing that was tried finds a valley: density cannot tell.
OVERLAP = "overlap"
#: A part of one body: no border has a valley, neither a given one nor any that was tried.
ONE_BODY = "one body"
#: Labels that neither the neighbours of a point nor its density tell anything about.
UNRELATED = "unrelated"
#: Not ok, but of so few points that chance makes such borders, too.
TOO_FEW = "too few points"
#: The verdicts that call a clustering biased.
BIASES = (MODE_ISOLATION, SPARSE_SUBSET, EQUAL_SIZES)
#: What a cluster can be.
VERDICTS = (OK, *BIASES, OVERLAP, ONE_BODY, UNRELATED, TOO_FEW)

# Distance decides between pairs of clusters that no edge joins.
_TIE_BREAK = 1e-6
# A border has no valley when its score passes this; the steepness turns the distance from it into a confidence.
_THRESHOLD, _STEEPNESS = -0.67, 5.0
# Chance that a border is wrong that cuts a connected piece while a cluster spans two.
_IGNORED_GAP = 0.9
# A border that touches less than this share of a cluster is one with an island of strays.
_ISLAND = 0.1
# A cluster of this share of its neighbour, or more, is a part of like size.
_LIKE_SIZE = 0.5
# A difference of log density that a cut through an even body does not have.
_CONTRAST = 0.5
# A piece of this share of its neighbour is no part of like size, whatever its density.
_TINY = 0.1
# A difference of log density that makes the denser of two parts of like size a mode.
_STARK = 1.5


@dataclass(frozen=True)
class Finding:
    """The verdict on one cluster, its confidence from 0.5 to 1, and the border it rests on."""

    verdict: str
    confidence: float
    border: Border | None = None


def judge(measures: Measures) -> list[Finding]:
    """A finding for each cluster: the worst of its borders, or of its isolation where it is very small."""
    findings = []
    for cluster in range(len(measures.sizes)):
        if cluster in measures.shadowed:
            findings.append(Finding(OVERLAP, 1.0))
            continue
        if cluster in measures.tiny:
            findings.append(_judge_tiny(measures.tiny[cluster]))
            continue
        mine = [border for border in measures.borders if cluster in (border.first, border.second)]
        findings.append(_worst([_judge_border(border, cluster, measures.sizes) for border in mine]))
    return findings


def overall_verdict(findings: Sequence[Finding], sizes: AnyFloats) -> tuple[str, float]:
    """The verdict that touches most points, each counted by its confidence; a bias before overlap, ok last.

    A few stragglers as a cluster of their own come first: they cost the others a cluster, and so a border. The
    confidence is that of the surest cluster; of ok, that of the least sure one.
    """
    stragglers = [f.confidence for f in findings if f.verdict == SPARSE_SUBSET and f.border is None]
    if stragglers:
        return SPARSE_SUBSET, max(stragglers)
    for kinds in (BIASES, (OVERLAP,), (ONE_BODY,), (UNRELATED,), (TOO_FEW,)):
        weight = dict.fromkeys(kinds, 0.0)
        for finding, size in zip(findings, sizes):
            if finding.verdict in kinds:
                weight[finding.verdict] += size * finding.confidence
        verdict = max(weight, key=lambda kind: weight[kind])
        found = [finding.confidence for finding in findings if finding.verdict == verdict]
        if found:
            return verdict, max(found)
    return OK, min(finding.confidence for finding in findings)


def share_without_valley(findings: Sequence[Finding], sizes: AnyFloats) -> float:
    """How much of the clustering is not ok, in points or in clusters, whichever is more; each by its confidence.

    A few stragglers as a cluster of their own are few points, but half of two clusters.
    """
    wrong = np.array([finding.confidence * (finding.verdict != OK) for finding in findings])
    return float(max(wrong @ sizes / sizes.sum(), wrong.mean()))


def without_valley(border: Border) -> float:
    """Chance, from 0 to 1, that the border runs through a body instead of a valley of the density.

    It adds up how wide the border is against cuts parallel to it, how much of its surroundings is sparser than
    its highest pass, and how little the density climbs from that pass to the nearest peak on the flatter side.
    """
    if border.reach < _ISLAND:
        return 0.0  # a few strays of one cluster beside the other say nothing about either
    score = max(border.bottleneck, -5.0) + 0.5 * max(border.level) - 0.25 * min(border.climb)
    chance = float(1 / (1 + np.exp(-_STEEPNESS * (score - _THRESHOLD))))
    # A gap elsewhere would have been the better border.
    return max(chance, _IGNORED_GAP) if border.ignores_gap else chance


def kind_of(border: Border, sizes: AnyFloats) -> tuple[str, tuple[int, ...]]:
    """What a border without a valley means, and the clusters to blame.

    The smaller cluster is the piece cut out: of a denser kind it is a mode, of a sparser kind a rim. Parts of
    like size and like density share the blame.
    """
    small, large = border.first, border.second
    contrast = border.contrast
    if sizes[small] > sizes[large]:
        small, large, contrast = large, small, -contrast
    ratio = sizes[small] / sizes[large]
    if ratio < _LIKE_SIZE:
        # The smaller the piece, the less contrast is needed to tell a mode or a rim from a part of like size.
        needed = _CONTRAST * np.clip((ratio - _TINY) / (_LIKE_SIZE - _TINY), 0, 1)
        if abs(contrast) >= needed:
            return (MODE_ISOLATION if contrast > 0 else SPARSE_SUBSET), (small,)
    elif abs(contrast) > _STARK:
        return MODE_ISOLATION, (small if contrast > 0 else large,)
    return EQUAL_SIZES, (small, large)


def _judge_border(border: Border, cluster: int, sizes: AnyFloats) -> Finding:
    chance = without_valley(border)
    if chance <= 0.5:
        return Finding(OK, 1 - chance, border)
    kind, blamed = kind_of(border, sizes)
    if cluster not in blamed:
        return Finding(OK, chance, border)
    return Finding(kind, chance, border)


def _judge_tiny(tiny: TinyCluster) -> Finding:
    """A few points: sparse, dense within a denser neighbourhood, or a small clump with a gap around it."""
    if tiny.density < 0.5:
        return Finding(SPARSE_SUBSET, 1 - tiny.density)
    if tiny.gap > 3.0:
        return Finding(OK, 0.6)
    return Finding(MODE_ISOLATION, tiny.density)


def _worst(findings: list[Finding]) -> Finding:
    """The surest bias; where there is none, the least sure acquittal."""
    biased = [finding for finding in findings if finding.verdict != OK]
    if biased:
        return max(biased, key=lambda finding: finding.confidence)
    return min(findings, key=lambda finding: finding.confidence, default=Finding(OK, 1.0))


def splits_of(table: NeighborTable, codes: Ints, names: Sequence[Any]) -> Splits:
    """The valley test for the joins of a tree over the clusters, the least separate ones joined first.

    Joined is the pair of least loss of normalised cut on the neighbour graph; without edges between them, the nearest.
    """
    kept, cluster = np.unique(codes[table.drawn], return_inverse=True)
    if len(kept) < 2:
        return Splits()
    X, weights, n_clusters = table.X[table.drawn], table.weights[table.drawn], len(kept)
    problem = normalized_cut(table.graph)
    means = np.array([np.average(X[cluster == k], axis=0, weights=weights[cluster == k]) for k in range(n_clusters)])
    apart = np.sqrt(squared_distances(means, means))
    links, volume = part_links(problem, cluster, n_clusters), np.bincount(cluster, problem.weights).astype(np.float64)
    node, joins = np.arange(n_clusters), []
    steps = merges(links, volume, 1, _TIE_BREAK * apart / max(float(apart.max()), np.finfo(float).tiny))
    for step, (stays, joined, _) in enumerate(steps):
        joins.append((node[stays], node[joined]))
        node[stays] = n_clusters + step
    return tree_evidence(X, weights * table.mean_weight, cluster, np.array(joins), [names[k] for k in kept])


def is_one_body(splits: Splits) -> bool:
    """Whether the test could say something and shows no split."""
    return not splits.is_real().any() and any(split.verdict == "not shown" for split in splits)


#: Two clusters with an inside, or nothing is told but gaps.
MIN_POINTS = 2 * TINY
# Labels are related to the points if the clusters have a tenth fewer edges between them than chance would give.
_RELATED = 0.1
# Standard errors by which chance may miss what it gives in the mean, and quantiles of density by which it may.
_ERRORS, _DENSITY = 3.0, 0.1


def probability_unrelated(table: NeighborTable, measures: Measures) -> float:
    r"""Chance, from 0 to 1, that labels have nothing to do with the points: neither with neighbours nor with density.

    The weight of the edges between clusters, in the neighbour graph, is compared with that of labels in random order,
    :math:`\sum_k v_k (1 - v_k / v)` for volumes v: the agreement is 1 where no edge leaves a cluster, 0 by chance.
    Scattered outliers agree with no neighbour either, but are sparse; so the median density of every cluster must be
    that of all points, too. Clusters of very few points are left out; 0 where fewer than two others are left.
    """
    counts = np.bincount(measures.codes, minlength=len(measures.sizes))
    asked = counts >= TINY
    if not asked.any():
        asked = counts > 0
    if asked.sum() < 2:
        return 0.0
    volume = np.bincount(measures.codes, table.graph.sum(axis=1), len(counts))
    cut = float(measures.conductance[asked] @ volume[asked])
    by_chance = float(volume[asked] @ (1 - volume[asked] / volume.sum()))
    agreement = 1 - cut / by_chance
    share = by_chance / volume[asked].sum()
    error = np.sqrt((1 - share) / share / (table.graph.nnz / 2 * asked @ volume / volume.sum()))
    off = np.abs(measures.density[asked] - 0.5) - 0.5 * _ERRORS / np.sqrt(counts[asked])
    if off.max() > _DENSITY:
        return 0.0
    return float(norm.cdf((max(_RELATED, _ERRORS * error) - agreement) / error))


# Of a bias: a cure is offered; one is better but not offered; none is better; none was tried.
_OFFERED, _BETTER, _HELPLESS, _UNTRIED = 0.98, 0.93, 0.94, 0.82
# Of ok: offset, and slope over how clear its least clear border is.
_OK = (2.39, 0.88)
# Of overlap, and of one body, which is too rare in the sets for a curve of its own: offset, slope over
# how clearly a border has no valley, and what it adds that the cure draws it again.
_OVERLAP, _AGAIN = (4.54, -5.00), 0.32


def calibrated(verdict: str, clarity: float, cures: Sequence[TriedCure], n_points: int) -> float:
    """The confidence of a verdict whose borders are so clear (0.5 to 1), after these cures were tried.

    Examples
    --------
    >>> round(calibrated("ok", 1.0, [], 500), 2)
    0.96
    """
    if n_points < MIN_POINTS:
        return 0.5
    if verdict == UNRELATED:
        return clarity
    if verdict == OK:
        return _logistic(_OK[0] + _OK[1] * clarity)
    if verdict in (OVERLAP, ONE_BODY):
        again = _AGAIN if cures and not any(cure.moved for cure in cures) else 0.0
        return _logistic(_OVERLAP[0] + _OVERLAP[1] * clarity + again)
    if not cures:
        return _UNTRIED
    if any(cure.offered for cure in cures):
        return _OFFERED
    return _BETTER if any(cure.better for cure in cures) else _HELPLESS


def _logistic(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))
