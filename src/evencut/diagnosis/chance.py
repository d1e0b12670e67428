"""What chance alone would do: labels that have nothing to do with the points, and points too few to judge by."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from .evidence import LONE, Evidence, Surroundings

#: Two clusters with an inside, or nothing is told but gaps.
FEWEST_JUDGED = 2 * LONE
# Labels are related to the points if the clusters have a tenth fewer edges between them than chance would give.
_RELATED = 0.1
# Standard errors by which chance may miss what it gives in the mean, and quantiles of density by which it may.
_ERRORS, _DENSITY = 3.0, 0.1


def chance_unrelated(around: Surroundings, evidence: Evidence) -> float:
    r"""Chance, from 0 to 1, that labels have nothing to do with the points: neither with neighbours nor with density.

    The weight of the edges between clusters, in the neighbour graph, is compared with that of labels in random order,
    :math:`\sum_k v_k (1 - v_k / v)` for volumes v: the agreement is 1 where no edge leaves a cluster, 0 by chance.
    Scattered outliers agree with no neighbour either, but are sparse; so the median density of every cluster must be
    that of all points, too. Clusters of very few points are left out; 0 where fewer than two others are left.
    """
    counts = np.bincount(evidence.codes, minlength=len(evidence.sizes))
    asked = counts >= LONE
    if not asked.any():
        asked = counts > 0
    if asked.sum() < 2:
        return 0.0
    volume = np.bincount(evidence.codes, around.graph.sum(axis=1), len(counts))
    cut = float(evidence.conductance[asked] @ volume[asked])
    by_chance = float(volume[asked] @ (1 - volume[asked] / volume.sum()))
    agreement = 1 - cut / by_chance
    share = by_chance / volume[asked].sum()
    error = np.sqrt((1 - share) / share / (around.graph.nnz / 2 * asked @ volume / volume.sum()))
    off = np.abs(evidence.density[asked] - 0.5) - 0.5 * _ERRORS / np.sqrt(counts[asked])
    if off.max() > _DENSITY:
        return 0.0
    return float(norm.cdf((max(_RELATED, _ERRORS * error) - agreement) / error))
