"""Corrections of the user as partial labels of `fit(X, y)`, where the estimator at hand obeys them.

This is the only file that knows whether it does: a small trial tells, once.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .refusals import Refused

__all__ = ["are_obeyed", "check_held"]


@cache
def are_obeyed() -> bool:
    """Whether `KernelClustering.fit(X, y)` keeps the labels given in `y`: tried with names both ways round."""
    from evencut import KernelClustering

    X = np.concatenate([np.arange(8.0), 100 + np.arange(8.0)])[:, None]
    for first in (0, 1):
        y = np.full(16, -1)
        y[0], y[8] = first, 1 - first
        labels = KernelClustering(2, kernel="knn", random_state=0).fit(X, y).labels_
        if labels[0] != first or labels[8] != 1 - first:
            return False
    return True


def check_held(held: NDArray[np.int64], n_clusters: int | str) -> None:
    """Raise unless these labels can be held by a fit with so many clusters."""
    if not are_obeyed():
        raise Refused("this version of evencut cannot hold labels yet: its fit(X, y) ignores y. Install a newer one.")
    if n_clusters != "auto" and held.max() >= int(n_clusters):
        raise Refused(
            f"a correction speaks of cluster {held.max()}, but {n_clusters} clusters (0 to {int(n_clusters) - 1}) are "
            "asked for; raise the number of clusters."
        )
