"""Grids as rows of pixels: the rows that touch a row, before it and after it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grid import Shape, directions


def rows_beside(shape: Shape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows beside each row that come before it, and those that come after; -1 where there is none.

    Both are of shape (n_rows, n_before), one in a plane and four in space, in the order of :func:`directions`; the row
    that is `k`-th before another has that one `k`-th after it.

    Examples
    --------
    >>> before, after = rows_beside((3, 5))
    >>> before.ravel(), after.ravel()
    (array([-1,  0,  1]), array([ 1,  2, -1]))
    """
    outer = shape[:-1]
    places = np.indices(outer).reshape(len(outer), -1).T
    steps = [step for step in directions(len(outer)) if step < (0,) * len(outer)]
    before = np.full((len(places), len(steps)), -1, dtype=np.int64)
    after = before.copy()
    for k, step in enumerate(steps):
        beside = places + step
        inside = ((beside >= 0) & (beside < outer)).all(axis=1)
        before[inside, k] = np.ravel_multi_index(tuple(beside[inside].T), outer)
        after[before[inside, k], k] = np.flatnonzero(inside)
    return before, after
