"""From what was measured to what it means: a verdict for every border and every cluster, with a confidence.

The constants were chosen on generated clusterings of known truth (`benchmarks/diagnosis.py`), and judged on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..tensors import AnyFloats
from .borders import Border
from .evidence import Evidence, Lone

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

# A border has no valley when its score passes this; the steepness turns the distance from it into a confidence.
_THRESHOLD, _STEEPNESS = -0.67, 5.0
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


def judge(evidence: Evidence) -> list[Finding]:
    """A finding for each cluster: the worst of its borders, or of its isolation where it is very small."""
    findings = []
    for cluster in range(len(evidence.sizes)):
        if cluster in evidence.unseen:
            findings.append(Finding(OVERLAP, 1.0))
            continue
        if cluster in evidence.lone:
            findings.append(_judge_lone(evidence.lone[cluster]))
            continue
        mine = [border for border in evidence.borders if cluster in (border.first, border.second)]
        findings.append(_worst([_judge_border(border, cluster, evidence.sizes) for border in mine]))
    return findings


def gravest(findings: Sequence[Finding], sizes: AnyFloats) -> tuple[str, float]:
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
    return float(1 / (1 + np.exp(-_STEEPNESS * (score - _THRESHOLD))))


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


def _judge_lone(lone: Lone) -> Finding:
    """A few points: sparse, dense within a denser neighbourhood, or a small clump with a gap around it."""
    if lone.density < 0.5:
        return Finding(SPARSE_SUBSET, 1 - lone.density)
    if lone.gap > 3.0:
        return Finding(OK, 0.6)
    return Finding(MODE_ISOLATION, lone.density)


def _worst(findings: list[Finding]) -> Finding:
    """The surest bias; where there is none, the least sure acquittal."""
    biased = [finding for finding in findings if finding.verdict != OK]
    if biased:
        return max(biased, key=lambda finding: finding.confidence)
    return min(findings, key=lambda finding: finding.confidence, default=Finding(OK, 1.0))
