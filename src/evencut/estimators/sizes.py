"""`min_size` and `max_size` of an estimator: what they allow, and a number of clusters that they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..points import PreparedPoints
from ..solvers.bounds import Bounds
from ..tensors import Floats
from .hierarchy import hierarchy_of

__all__ = ["fewest_clusters", "has_bounds", "size_bounds", "with_most_clusters"]


def has_bounds(estimator: Any) -> bool:
    """Whether the sizes of its clusters are bounded."""
    return estimator.min_size is not None or estimator.max_size is not None


def size_bounds(estimator: Any, weights: Floats, is_supervised: bool) -> Bounds | None:
    """The limits on the weight of a cluster, checked; None without any."""
    if not has_bounds(estimator):
        return None
    smallest, largest = estimator.min_size, estimator.max_size
    for name, value in (("min_size", smallest), ("max_size", largest)):
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if value is not None and not (is_number and np.isfinite(value) and value > 0):
            raise ValueError(f"{name}={value!r} must be a positive number of rows (their weight), or None.")
    if smallest is not None and largest is not None and smallest > largest:
        raise ValueError(f"min_size={smallest!r} is more than max_size={largest!r}; exchange them.")
    if is_supervised:
        raise ValueError(
            "min_size and max_size cannot be combined with partial labels, must_link or cannot_link; leave one out."
        )
    bounds = Bounds(weights, float(smallest or 0.0), float(largest or np.inf))
    if not isinstance(estimator.n_clusters, str):
        bounds.check(estimator.n_clusters)
    elif fewest_clusters(bounds) > _most_clusters(bounds):
        raise ValueError(
            f"no number of clusters fits min_size={smallest!r} and max_size={largest!r} for {weights.sum():g} rows; "
            "widen the limits."
        )
    return bounds


def fewest_clusters(bounds: Bounds | None) -> int:
    """The smallest number of clusters within the limits."""
    return 1 if bounds is None else max(1, int(np.ceil(bounds.sizes.sum() / bounds.largest - 1e-9)))


def _most_clusters(bounds: Bounds) -> float:
    return bounds.sizes.sum() // bounds.smallest if bounds.smallest > 0 else np.inf


def with_most_clusters(chosen: Any, prepared: PreparedPoints, bounds: Bounds | None) -> Any:
    """What was chosen, with fewer clusters if the limits do not allow as many: those of the tree above them."""
    if bounds is None or chosen.n_clusters <= _most_clusters(bounds):
        return chosen
    n_clusters, solution = int(_most_clusters(bounds)), chosen.solution
    if solution is not None:
        tree = hierarchy_of(chosen.affinity, prepared.weights, solution.labels, 0, points=prepared.points)
        solution = replace(solution, labels=tree.cut(n_clusters)[tree.leaf_of_point])
    return replace(chosen, n_clusters=n_clusters, solution=solution)
