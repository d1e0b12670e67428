"""What the pictures of a report are drawn from: a thinned view of the points in the plane, and profiles of borders."""

from __future__ import annotations

import numpy as np

from ..tensors import AnyFloats, Floats, Places
from .evidence import Evidence
from .report import Pictures
from .verdicts import Finding

#: Points drawn in the maps of a report.
_DRAWN = 1500


def pictures(points: AnyFloats, evidence: Evidence, findings: list[Finding]) -> Pictures:
    """A picture of the points looked at, and of the border that each finding rests on."""
    step = max(1, -(-len(points) // _DRAWN))
    thinned = np.arange(0, len(points), step)
    # Clusters too small to survive the thinning are what one wants to see: draw some points of each.
    some = max(5, min(50, _DRAWN // len(evidence.sizes)))
    few = [np.flatnonzero(evidence.codes == k)[:some] for k in range(len(evidence.sizes))]
    shown = np.union1d(thinned, np.concatenate(few))
    return Pictures(
        plane=_plane(points, shown),
        density=evidence.log_density[shown],
        codes=evidence.codes[shown],
        projected=points.shape[1] > 2,
        profiles=[_profile(k, finding) for k, finding in enumerate(findings)],
    )


def _plane(points: AnyFloats, shown: Places) -> Floats:
    """The points as they are in the plane; spread along a line; or their two leading principal components."""
    if points.shape[1] == 2:
        return points[shown].astype(np.float64)
    if points.shape[1] == 1:
        jitter = np.random.default_rng(0).uniform(-0.1, 0.1, len(shown)) * np.ptp(points)
        return np.column_stack([points[shown, 0], jitter])
    from sklearn.decomposition import PCA

    return PCA(2, svd_solver="full", random_state=0).fit(points).transform(points[shown])


def _profile(k: int, finding: Finding) -> tuple[Floats, Floats] | None:
    """Layers of the cluster from its border inwards, then those of its neighbour."""
    border = finding.border
    if border is None:
        return None
    return border.profile if border.first == k else border.profile[::-1]
