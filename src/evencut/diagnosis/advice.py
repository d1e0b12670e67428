"""What to do about a verdict, in words: why it was given, what was tried, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from .chance import FEWEST_JUDGED
from .report import ClusterReport, TriedCure, named_clusters
from .verdicts import EQUAL_SIZES, MODE_ISOLATION, OK, ONE_BODY, OVERLAP, SPARSE_SUBSET, TOO_FEW, UNRELATED

_WHY = {
    MODE_ISOLATION: (
        "{who} a dense piece cut out of a larger body: beyond the border the density only falls, there is no "
        "valley. Kernel k-means with a narrow fixed bandwidth, and dominant sets, isolate modes like this "
        "(Breiman's bias)."
    ),
    SPARSE_SUBSET: (
        "{who} a few sparse or isolated points at the rim of a larger body. Cuts with a narrow fixed bandwidth, "
        "normalised cut among them, split off such subsets because they are cheap to cut."
    ),
    EQUAL_SIZES: (
        "The border of {whose} runs through a dense region, not along a valley. K-means, and kernels of a large "
        "bandwidth, cut a body into parts of like size like this."
    ),
    OVERLAP: (
        "The border of {whose} runs through a dense region, and nothing that was tried finds a valley. The classes "
        "overlap there, or there are fewer bodies than clusters; density cannot tell where to cut."
    ),
    ONE_BODY: (
        "The border of {whose} runs through a dense region, and no valley is to be found elsewhere: the points are one "
        "body. Any method cuts it into as many parts as it is told to."
    ),
}
#: Nothing is tried against these.
_FINAL = {
    OK: "Nothing to cure: every border lies in a valley of the density or a gap between the points.",
    UNRELATED: (
        "The neighbours of a point have its label no more often than chance would have it, and no cluster is denser "
        "than others. Check that labels and points are in the same order, and that the columns are those that were "
        "clustered, in the same units; otherwise the labels say nothing about these points."
    ),
    TOO_FEW: f"Give at least {FEWEST_JUDGED} distinct points: among fewer, chance makes every kind of border.",
}
_UNTRIED = {
    MODE_ISOLATION: "Even the density out: use an adaptive kernel, or scale a given affinity to equal degrees.",
    SPARSE_SUBSET: "Even the density out with an adaptive kernel, or remove the outliers before clustering.",
    EQUAL_SIZES: "Use a kernel that follows the data, with neighbours instead of a bandwidth for all points.",
}
_HELPLESS = {
    MODE_ISOLATION: "Try fewer clusters: the body around the piece may be one.",
    SPARSE_SUBSET: "Remove the outliers before clustering, or try fewer clusters.",
    OVERLAP: "Keep the clusters if their meaning comes from elsewhere, or try fewer.",
    ONE_BODY: "Keep the parts if you wanted parts of one body; there are no clusters.",
}


def advise(
    verdict: str, rows: Sequence[ClusterReport], cures: Sequence[TriedCure], n_points: int
) -> tuple[str, str]:
    """Words and code for the verdict on a clustering of `n_points` distinct points, after these cures were tried."""
    if verdict in _FINAL:
        return _FINAL[verdict], ""
    guilty = [row for row in rows if row.verdict == verdict]
    who = f"Cluster {guilty[0].label} is" if len(guilty) == 1 else f"Each of the {named_clusters(guilty)} is"
    lines = [_WHY[verdict].format(who=who, whose=named_clusters(guilty))]
    others = sorted({row.verdict for row in rows} - {OK, verdict})
    if others:
        lines.append(f"Other clusters show: {', '.join(others)}.")
    lines += [told(cure, rows, n_points) for cure in cures]
    offered = next((cure for cure in cures if cure.offered), None)
    if offered is not None:
        return "\n".join([*lines, "The line that was tried:"]), offered.code
    if not cures:
        lines.append(_UNTRIED.get(verdict) or _HELPLESS[verdict])
    else:
        helps = "is sure to help" if any(cure.better for cure in cures) else "helps"
        lines.append(f"Nothing that was tried {helps}. {_HELPLESS[verdict]}")
    return "\n".join(lines), ""


def told(cure: TriedCure, rows: Sequence[ClusterReport], n_points: int) -> str:
    """What was tried and what came of it, in a sentence."""
    model = repr(cure.model)
    if cure.n_tried < n_points:
        model += f" on a random sample of {cure.n_tried} points"
    change = f"without a valley before {cure.before:.0%}, after {cure.after:.0%}"
    if not cure.offered:
        return f"Tried {model}: {'better, but' if cure.better else 'not better,'} {cure.reason} ({change})."
    moved = [row for row in rows if row.label in cure.moved]
    borders = "border" if len(moved) == 1 else "borders"
    return f"Tried {model}: it moves the {borders} of {named_clusters(moved)} into a valley ({change})."
