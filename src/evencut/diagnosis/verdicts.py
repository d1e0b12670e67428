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
from .labelled import NeighborTable

if TYPE_CHECKING:
    from .report import TriedCure


#: Every border lies in a valley of the density, or in a gap.
OK = "ok"
#: A dense piece cut out of a larger body (Breiman's bias).
MODE_ISOLATION = "mode isolation"
#: A few sparse or isolated points split off.
SPARSE_SUBSET = "sparse subset"
#: A body cut through into halves of similar size.
EQUAL_SIZES = "equal sizes"
#: A border through a dense region where nothing that was tried finds a valley: density cannot tell.
OVERLAP = "overlap"
#: A part of one body: no border has a valley, neither a given one nor any that was tried.
ONE_BODY = "one body"
#: Labels that depend neither on the neighbours of a point nor on its density.
UNRELATED = "unrelated"
#: Not ok, but of so few points that chance makes such borders, too.
TOO_FEW = "too few points"
#: The verdicts that call a clustering biased.
BIASES = (MODE_ISOLATION, SPARSE_SUBSET, EQUAL_SIZES)
#: What a cluster can be.
VERDICTS = (OK, *BIASES, OVERLAP, ONE_BODY, UNRELATED, TOO_FEW)


@dataclass(frozen=True)
class Finding:
    """The verdict on one cluster, its confidence from 0.5 to 1, and the border it rests on."""

    verdict: str
    confidence: float
    border: Border | None = None


def judge(measures: Measures) -> list[Finding]:
    """A finding for each cluster: the worst of its borders, or of its isolation where it is very small."""
    return [_judge_cluster(cluster, measures) for cluster in range(len(measures.sizes))]


def overall_verdict(findings: Sequence[Finding], sizes: AnyFloats) -> tuple[str, float]:
    """The verdict of the largest weight of points, times its confidence; a bias before overlap, ok last.

    A cluster of a few outliers comes first: it costs the others a cluster, and so a border. The confidence is the
    highest of all clusters with the verdict; of ok, the lowest.
    """
    outliers = [f.confidence for f in findings if f.verdict == SPARSE_SUBSET and f.border is None]
    if outliers:
        return SPARSE_SUBSET, max(outliers)
    weight = dict.fromkeys(VERDICTS, 0.0)
    for finding, size in zip(findings, sizes):
        weight[finding.verdict] += size * finding.confidence
    by_rank = [*sorted(BIASES, key=lambda bias: -weight[bias]), OVERLAP, ONE_BODY, UNRELATED, TOO_FEW, OK]
    verdict = min((finding.verdict for finding in findings), key=by_rank.index)
    confidences = [finding.confidence for finding in findings if finding.verdict == verdict]
    return verdict, min(confidences) if verdict == OK else max(confidences)


def share_without_valley(findings: Sequence[Finding], sizes: AnyFloats) -> float:
    """How much of the clustering is not ok, in points or in clusters, whichever is more; each by its confidence.

    A cluster of a few outliers has few points, but is half of two clusters.
    """
    wrong = np.array([finding.confidence * (finding.verdict != OK) for finding in findings])
    return float(max(wrong @ sizes / sizes.sum(), wrong.mean()))


def without_valley(border: Border) -> float:
    """Chance, from 0 to 1, that the border runs through a body instead of a valley of the density.

    It adds up how wide the border is against cuts parallel to it, how much of its surroundings is sparser than
    its highest pass, and how little the density climbs from that pass to the nearest peak on the flatter side.
    """
    if border.reach < 0.1:
        return 0.0  # a few strays of one cluster beside the other say nothing about either
    score = max(border.bottleneck, -5.0) + 0.5 * max(border.level) - 0.25 * min(border.climb)
    chance = _logistic(5.0 * (score + 0.67))
    # A gap elsewhere would have been the better border.
    return max(chance, 0.9) if border.ignores_gap else chance


def kind_of(border: Border, sizes: AnyFloats) -> tuple[str, tuple[int, ...]]:
    """What a border without a valley means, and the clusters to blame.

    The smaller cluster is the piece cut out: a denser one is a mode, a sparser one a rim. Two of similar size and
    density are both biased.
    """
    small, large = border.first, border.second
    contrast = border.contrast
    if sizes[small] > sizes[large]:
        small, large, contrast = large, small, -contrast
    ratio = sizes[small] / sizes[large]
    if ratio < 0.5:
        # The smaller the piece, the less contrast of log density distinguishes a mode or a rim from half of a body.
        if abs(contrast) >= 0.5 * np.clip((ratio - 0.1) / 0.4, 0, 1):
            return (MODE_ISOLATION if contrast > 0 else SPARSE_SUBSET), (small,)
    elif abs(contrast) > 1.5:
        return MODE_ISOLATION, (small if contrast > 0 else large,)
    return EQUAL_SIZES, (small, large)


def _judge_cluster(cluster: int, measures: Measures) -> Finding:
    """The surest bias among its borders; without one, the least sure acquittal."""
    if cluster in measures.shadowed:
        return Finding(OVERLAP, 1.0)
    if cluster in measures.tiny:
        return _judge_tiny(measures.tiny[cluster])
    borders = [border for border in measures.borders if cluster in (border.first, border.second)]
    findings = [_judge_border(border, cluster, measures.sizes) for border in borders]
    biased = [finding for finding in findings if finding.verdict != OK]
    if biased:
        return max(biased, key=lambda finding: finding.confidence)
    return min(findings, key=lambda finding: finding.confidence, default=Finding(OK, 1.0))


def _judge_border(border: Border, cluster: int, sizes: AnyFloats) -> Finding:
    chance = without_valley(border)
    if chance <= 0.5:
        return Finding(OK, 1 - chance, border)
    kind, biased = kind_of(border, sizes)
    return Finding(kind if cluster in biased else OK, chance, border)


def _judge_tiny(tiny: TinyCluster) -> Finding:
    """A few points: sparse, dense within a denser neighbourhood, or a small clump with a gap around it."""
    if tiny.density < 0.5:
        return Finding(SPARSE_SUBSET, 1 - tiny.density)
    return Finding(OK, 0.6) if tiny.gap > 3.0 else Finding(MODE_ISOLATION, tiny.density)


def splits_of(table: NeighborTable, codes: Ints, names: Sequence[Any]) -> Splits:
    """The valley test for the joins of a tree over the clusters, the least separate ones joined first.

    The pair with the least loss of normalised cut on the neighbour graph is joined; without edges, the nearest.
    """
    present, cluster = np.unique(codes[table.drawn], return_inverse=True)
    if len(present) < 2:
        return Splits()
    X, weights, n_clusters = table.X[table.drawn], table.weights[table.drawn], len(present)
    problem = normalized_cut(table.graph)
    means = np.array([np.average(X[cluster == k], axis=0, weights=weights[cluster == k]) for k in range(n_clusters)])
    distances = np.sqrt(squared_distances(means, means))
    links, volume = part_links(problem, cluster, n_clusters), np.bincount(cluster, problem.weights).astype(np.float64)
    node, joins = np.arange(n_clusters), []
    # Distance decides between pairs of clusters that no edge joins.
    steps = merges(links, volume, 1, 1e-6 * distances / max(float(distances.max()), np.finfo(float).tiny))
    for step, (stays, joined, _) in enumerate(steps):
        joins.append((node[stays], node[joined]))
        node[stays] = n_clusters + step
    return tree_evidence(X, weights * table.mean_weight, cluster, np.array(joins), [names[k] for k in present])


def is_one_body(splits: Splits) -> bool:
    """Whether the test could say something and shows no split."""
    return not splits.is_real().any() and any(split.verdict == "not shown" for split in splits)


#: Two clusters with an inside, or nothing is told but gaps.
MIN_POINTS = 2 * TINY


def probability_unrelated(table: NeighborTable, measures: Measures) -> float:
    r"""Chance, from 0 to 1, that labels have nothing to do with the points: neither with neighbours nor with density.

    The weight of the edges between clusters, in the neighbour graph, is compared with that of labels in random order,
    :math:`\sum_k v_k (1 - v_k / v)` for volumes v: the agreement is 1 where no edge leaves a cluster, 0 by chance.
    Scattered outliers agree with no neighbour either, but are sparse; so the median density of every cluster must be
    that of all points, too. Clusters of very few points are left out; 0 where fewer than two others are left.
    """
    counts = np.bincount(measures.codes, minlength=len(measures.sizes))
    is_large = counts >= (TINY if (counts >= TINY).any() else 1)
    if is_large.sum() < 2:
        return 0.0
    volume = np.bincount(measures.codes, table.graph.sum(axis=1), len(counts))
    cut = float(measures.conductance[is_large] @ volume[is_large])
    by_chance = float(volume[is_large] @ (1 - volume[is_large] / volume.sum()))
    agreement = 1 - cut / by_chance
    share = by_chance / volume[is_large].sum()
    error = np.sqrt((1 - share) / share / (table.graph.nnz / 2 * is_large @ volume / volume.sum()))
    # Chance may miss its mean by three standard errors; quantiles of density, by another tenth.
    if (np.abs(measures.density[is_large] - 0.5) - 1.5 / np.sqrt(counts[is_large])).max() > 0.1:
        return 0.0
    # Labels are related to the points if the clusters have a tenth fewer edges between them than chance would give.
    return float(norm.cdf((max(0.1, 3.0 * error) - agreement) / error))


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
    # Logistic curves over how clear the least clear border is, or how clearly a border has no valley.
    if verdict == OK:
        return _logistic(2.39 + 0.88 * clarity)
    if verdict in (OVERLAP, ONE_BODY):
        # The cure draws the border again. One body is too rare in the sets for a separate curve.
        again = 0.32 if cures and not any(cure.moved for cure in cures) else 0.0
        return _logistic(4.54 - 5.00 * clarity + again)
    # A bias: none was tried; a cure is offered; one is better but not offered; none is better.
    if not cures:
        return 0.82
    if any(cure.offered for cure in cures):
        return 0.98
    return 0.93 if any(cure.better for cure in cures) else 0.94


def _logistic(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))
