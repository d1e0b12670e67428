"""What to do about a bias: in words, and as a line of code to paste."""

from __future__ import annotations

from collections.abc import Sequence

from .report import ClusterReport, named_clusters
from .verdicts import EQUAL_SIZES, MODE_ISOLATION, OK, SPARSE_SUBSET

__all__ = ["advise"]

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
}
_CURE = {
    MODE_ISOLATION: "Even the density out: use an adaptive kernel, or scale a given affinity to equal degrees.",
    SPARSE_SUBSET: "Even the density out with an adaptive kernel, or remove the outliers before clustering.",
    EQUAL_SIZES: "Use a kernel that follows the data, with neighbours instead of a bandwidth for all points.",
}


def advise(verdict: str, rows: Sequence[ClusterReport], has_noise: bool) -> tuple[str, str]:
    """Words and code for the verdict on a clustering with these rows."""
    if verdict == OK:
        return "Nothing to cure: every border lies in a valley of the density or a gap between the points.", ""
    guilty = [row for row in rows if row.verdict == verdict]
    who = f"Cluster {guilty[0].label} is" if len(guilty) == 1 else f"Each of the {named_clusters(guilty)} is"
    others = sorted({row.verdict for row in rows} - {OK, verdict})
    lines = [_WHY[verdict].format(who=who, whose=named_clusters(guilty)), _CURE[verdict]]
    if others:
        lines.append(f"Other clusters show: {', '.join(others)}.")
    if has_noise:
        lines.append("Noise points were left out; leave them out of X before the line below, too.")
    model = f'KernelClustering({len(rows)}, kernel="knn", equalize="exact")'
    code = f"import evencut; labels = evencut.{model}.fit_predict(X)"
    return "\n".join(lines), code

