"""An affinity that is given in place of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime import warn_user
from ..affinity import AffinityLike, check_affinity
from ..tensors import AnyFloats, Floats
from .base import Extension, Kernel

# Points of which all triangles are looked at, and what rounding leaves of a distance of zero or of a triangle.
_SAMPLE = 40
_ROUNDING = 1e-6


class Precomputed(Kernel):
    """Use a given affinity instead of points: a square, symmetric array or sparse matrix.

    An array that looks like distances, zero on the diagonal and with no side of a triangle longer than the other two
    together, is taken as it is, with a warning: distances go with `metric="precomputed"`.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed().affinity(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    is_pairwise = True

    def affinity(self, X: Any, *, n_jobs: int | None = None) -> AffinityLike:
        """The matrix given, checked and in canonical form."""
        affinity = check_affinity(X)
        if isinstance(affinity, np.ndarray) and _looks_like_distances(affinity):
            warn_user(
                "the matrix given as kernel='precomputed' looks like distances: its diagonal is zero, and other "
                "entries grow as distances do, while an affinity is largest where points are near; if they are "
                "distances, use metric='precomputed' instead.",
            )
        return affinity

    def extend(self, X: Any, *, n_jobs: int | None = None) -> Extension:
        """New rows are given as they are: one row a new point, one column a fitted point."""
        return _as_given


def _looks_like_distances(affinity: AnyFloats) -> bool:
    """Whether entries are zero between a point and itself only, and keep to the triangle inequality, or their roots do.

    Evenly spaced points are looked at. Affinities without a diagonal fail: near points have large ones, and each of
    them small ones with a third that is far. Entries that are all equal say nothing.
    """
    if len(affinity) < 3 or np.abs(affinity.diagonal()).max() > _ROUNDING * np.abs(affinity[0]).max():
        return False
    some = np.unique(np.linspace(0, len(affinity) - 1, _SAMPLE).astype(int))
    table = affinity[np.ix_(some, some)].astype(np.float64)
    apart = table[~np.eye(len(some), dtype=bool)]
    if not apart.min() > 0 or np.ptp(apart) <= _ROUNDING * apart.max():
        return False
    np.fill_diagonal(table, 0.0)
    return any(_keeps_to_triangles(lengths) for lengths in (table, np.sqrt(table)))


def _keeps_to_triangles(lengths: Floats) -> bool:
    detours = (lengths[:, :, None] + lengths[None, :, :]).min(axis=1)
    return bool((lengths <= detours * (1 + _ROUNDING)).all())


def _as_given(rows: Any) -> Any:
    return rows
