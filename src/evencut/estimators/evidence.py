"""The valley test on the tree of a fitted clustering: evidence for every join, and clusters that it keeps apart."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ..neighbors import coordinates
from ..points import PreparedPoints
from ..tensors import Ints
from ..valley import MIN_SIDE, Splits, tree_evidence
from .hierarchy import Hierarchy

__all__ = ["check_significance", "evidence_of", "real_clusters", "steady_clusters"]


def check_significance(significance: Any) -> None:
    """Raise unless it is None or a level between 0 and 1."""
    is_number = isinstance(significance, int | float | np.number) and not isinstance(significance, bool)
    if significance is not None and not (is_number and 0 < significance < 1):
        raise ValueError(
            f"significance={significance!r} must be a level between 0 and 1, such as 0.05, at which splits are tested; "
            "or None."
        )


def evidence_of(prepared: PreparedPoints, hierarchy: Hierarchy) -> Splits:
    """The test of every join of a tree over prepared points."""
    return tree_evidence(coordinates(prepared.points), prepared.weights, hierarchy.leaf_of_point, hierarchy.linkage)


def real_clusters(prepared: PreparedPoints, hierarchy: Hierarchy, labels: Ints, significance: float) -> Ints:
    """Labels in which clusters are apart only where the test shows it, at this level for all joins of them together.

    A cluster too small for the test goes to the nearest one.
    """
    n_clusters = int(labels.max()) + 1
    joins = _joins_of_clusters(hierarchy, labels)
    points = coordinates(prepared.points)
    splits = tree_evidence(points, prepared.weights, labels, joins)
    real = splits.is_real(significance)
    n_points = np.bincount(labels)
    means = np.array([np.average(points[labels == k], axis=0) for k in range(n_clusters)])
    parts: list[list[list[int]]] = [[[k]] for k in range(n_clusters)]
    for split, is_real, (a, b) in zip(splits, real, joins):
        small, large = sorted((parts[a], parts[b]), key=lambda groups: _size(groups, n_points))
        if is_real:
            parts.append(small + large)
        elif split.verdict == "cannot say" and _size(small, n_points) < MIN_SIDE:
            joined = list(chain.from_iterable(small))
            centre = np.average(means[joined], axis=0, weights=n_points[joined])
            gaps = [min(np.linalg.norm(means[k] - centre) for k in group) for group in large]
            nearest = int(np.argmin(gaps))
            parts.append([group + joined if i == nearest else group for i, group in enumerate(large)])
        else:
            parts.append([list(chain.from_iterable(small + large))])
    group_of = np.empty(n_clusters, dtype=np.int64)
    for number, group in enumerate(parts[-1]):
        group_of[group] = number
    return group_of[labels]


def steady_clusters(prepared: PreparedPoints, hierarchy: Hierarchy, labels: Ints, n_usual: int) -> Ints:
    """Labels with the usual number of clusters, unless the test of splits is against it.

    Of the number found and the usual one, the larger is taken if the test shows all of its splits, else the smaller.
    """
    n_found = int(labels.max()) + 1
    if n_found == n_usual or n_usual > hierarchy.n_leaves:
        return labels
    usual = hierarchy.cut(n_usual)[hierarchy.leaf_of_point]
    few, many = (usual, labels) if n_usual < n_found else (labels, usual)
    joins = _joins_of_clusters(hierarchy, many)
    splits = tree_evidence(coordinates(prepared.points), prepared.weights, many, joins)
    return many if splits.is_real().all() else few


def _size(groups: list[list[int]], n_points: Ints) -> int:
    return int(sum(n_points[group].sum() for group in groups))


def _joins_of_clusters(hierarchy: Hierarchy, labels: Ints) -> Ints:
    """The joins above the clusters, in the linkage format with one leaf a cluster."""
    n_leaves, n_clusters = hierarchy.n_leaves, int(labels.max()) + 1
    cluster = np.empty(2 * n_leaves - 1, dtype=np.int64)
    cluster[hierarchy.leaf_of_point] = labels
    first = n_leaves - n_clusters
    pairs = hierarchy.linkage[:, :2].astype(int)
    for step, (a, _) in enumerate(pairs):
        cluster[n_leaves + step] = cluster[a] if step < first else n_clusters + step - first
    return cluster[pairs[first:]]
