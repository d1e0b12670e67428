"""Answers at once, at any number of rows: a sample is clustered while the user drags, and every row follows the sample.

The sample and each row's nearest point of it are found once for a table and its columns, and kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.points import feature_scale

from ..methods import Method, estimator, scaled
from .points import rows_without_gaps

__all__ = ["NOBODY", "neighbors", "preview", "sample"]

# A Gaussian kernel of so many points is clustered in some 20 ms, which leaves room for ten pictures a second.
_SAMPLE, _ALL = 400, 500
_TREE_DIMENSION = 16
_NEIGHBORS = 8
#: In place of a sample's point: the row has gaps and follows none.
NOBODY = -1


def _kept_sample(kept: dict[str, Any], arguments: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.int16]]:
    """The sample's points, and for each row of the table the sample's point nearest to it."""
    key = (arguments["table"], tuple(arguments["columns"]))
    if kept.get("sample", (None,))[0] != key:
        X, complete = rows_without_gaps(kept[arguments["table"]], arguments["columns"])
        rng = np.random.default_rng(0)
        chosen = np.arange(len(X)) if len(X) <= _ALL else np.sort(rng.choice(len(X), _SAMPLE, replace=False))
        nearest = np.full(len(complete), NOBODY, dtype=np.int16)
        nearest[complete] = _nearest(X, X[chosen])
        kept["sample"] = (key, X[chosen], nearest)
    _, some, nearest = kept["sample"]
    return some, nearest


def _nearest(X: NDArray[Any], some: NDArray[Any]) -> NDArray[np.int16]:
    """The place in `some` of the point nearest to each row, on the scale of a fit."""
    spread = feature_scale(some, "auto")
    if X.shape[1] <= _TREE_DIMENSION:
        from scipy.spatial import cKDTree

        return cKDTree(some / spread).query(X / spread)[1].astype(np.int16)
    from sklearn.metrics import pairwise_distances_argmin

    return pairwise_distances_argmin(X / spread, some / spread).astype(np.int16)


def sample(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int16]:
    """For each row, the place of the sample's point it follows."""
    return _kept_sample(kept, arguments)[1]


def preview(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int32]:
    """Labels of the sample by a method."""
    some, _ = _kept_sample(kept, arguments)
    method = Method(**arguments["method"])
    model = estimator(method)
    if method.tool == "kernel":
        # A third of the time, and energies within a thousandth of the best of all solvers.
        model.set_params(solver="multilevel", n_init=1)
    return np.asarray(model.fit(scaled(method, some)).labels_, dtype=np.int32)


def neighbors(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> list[int]:
    """The rows nearest to one row, nearest first; none where it has gaps."""
    X, complete = rows_without_gaps(kept[arguments["table"]], arguments["columns"])
    if not complete[arguments["row"]]:
        return []
    rows = np.flatnonzero(complete)
    scaled = X / feature_scale(X, "auto")
    far = ((scaled - scaled[np.searchsorted(rows, arguments["row"])]) ** 2).sum(axis=1)
    order = np.argsort(far, kind="stable")[: _NEIGHBORS + 1]
    return [int(row) for row in rows[order] if row != arguments["row"]][:_NEIGHBORS]
