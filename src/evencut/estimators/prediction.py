"""Clusters for new points: the bound of the Lloyd step, evaluated against a fitted labelling, block by block."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import Affinity, AffinityLike, NeighborSearch, as_affinity, is_dense, shrink_far
from ..affinity.notices import warn_user
from ..criteria import Criterion, PosedProblem, RatioProblem
from ..kernels import Extension, Kernel
from ..selection.leaks import mixing_rates, separation
from ..solvers.lloyd import bound_costs

__all__ = ["Prediction", "margins", "mean_separation", "summary"]

_ROWS_PER_BLOCK = 4096
_TINY = 1e-300


@dataclass(eq=False)
class Prediction:
    r"""What it takes to label a new point p: its affinities with the fitted points, and the cost of each cluster.

    .. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (n, ...)
        The fitted points, or the affinity given in their place.
    kept : ndarray of shape (n,)
        Their first rows in what was given to `fit`: of an affinity, the columns that count.
    extension : callable or None
        From new points to their affinities; made from the kernel when first needed where it is None.
    fitted_labels, fitted_margins : ndarrays of shape (n,)
    point_scale : ndarray of shape (n,)
        Weight times equalising scale of the fitted points.
    inside, weight : ndarrays of shape (n_clusters,)
        Association and weight of each cluster.
    criterion : Criterion
        Tells the weight of a new point.
    is_even : bool
        Whether the degree of a new point is scaled to one first.
    n_jobs : int or None
    """

    kernel: Kernel
    points: Any
    kept: NDArray[np.intp]
    extension: Extension | None
    fitted_labels: NDArray[np.int64]
    fitted_margins: NDArray[np.float64]
    point_scale: NDArray[np.float64]
    inside: NDArray[np.float64]
    weight: NDArray[np.float64]
    criterion: Criterion
    is_even: bool
    n_jobs: int | None = None
    #: How fast each cluster mixes, once it was asked for.
    _mixing: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, chosen: Any, prepared: Any, posed: PosedProblem, labels: NDArray[np.int64], n_jobs: int | None) -> Any:
        """The prediction that belongs to a solved problem."""
        inside, weight, own_margins = summary(posed.problem, labels, int(labels.max()) + 1)
        return cls(
            kernel=chosen.kernel,
            points=prepared.points,
            kept=prepared.first_row,
            extension=chosen.extension,
            fitted_labels=labels,
            fitted_margins=own_margins,
            point_scale=posed.weights * posed.scale,
            inside=inside,
            weight=weight,
            criterion=posed.criterion,
            is_even=posed.is_even,
            n_jobs=n_jobs,
        )

    def labels(self, X: Any) -> NDArray[np.int64]:
        """Clusters of new points.

        A point without any affinity takes the label of the nearest fitted point; where only affinities are known it
        goes to the first cluster, with a warning.
        """
        return self._assigned(X)[0]

    def margins(self, X: Any) -> NDArray[np.float64]:
        """How much dearer the second-best cluster is for new points; zero for points without any affinity."""
        return self._assigned(X)[1]

    def averaged(self, X: Any, field: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of a field of the fitted points, by the affinity of new points with them; zero where there is none."""
        X = self._within_reach(X)
        found = np.zeros((X.shape[0], field.shape[1]))
        for block, rows in self._affinities(X):
            total = np.asarray(rows @ self.point_scale, dtype=np.float64)
            sums = np.asarray(rows @ (self.point_scale[:, None] * field), dtype=np.float64)
            found[block] = sums / np.where(total > 0, total, 1.0)[:, None]
        return found

    def nearest_distances(self, X: Any, n_nearest: int) -> NDArray[np.float64]:
        """Mean distance of new points to the nearest fitted ones; of affinities, one over their sum."""
        X = self._within_reach(X)
        if self.kernel.is_pairwise:
            degree = np.concatenate([np.asarray(rows @ self.point_scale) for _, rows in self._affinities(X)])
            return 1 / np.maximum(degree.astype(np.float64), _TINY)
        return self._search.query(X, min(n_nearest, len(self.points)))[0].mean(axis=1)

    def nearest_points(self, X: Any) -> NDArray[np.integer]:
        """The fitted point that is nearest to each new one."""
        X = self._within_reach(X)
        if self.kernel.is_pairwise:
            found = [np.asarray(rows.part(slice(None))).argmax(axis=1) for _, rows in self._affinities(X)]
            return np.concatenate(found)
        return self._search.query(X, 1)[1][:, 0]

    def own_distances(self, affinity: Affinity, n_nearest: int) -> NDArray[np.float64]:
        """The same of the fitted points to each other."""
        if self.kernel.is_pairwise:
            degree = np.asarray(affinity @ self.point_scale) - affinity.diagonal() * self.point_scale
            return 1 / np.maximum(degree.astype(np.float64), _TINY)
        if len(self.points) == 1:
            return np.zeros(1)
        return self._search.query_self(min(n_nearest + 1, len(self.points)))[0][:, 1:].mean(axis=1)

    def distances(self, X: Any) -> NDArray[np.float64]:
        """Squared distances of new points to the clusters, less their own squared length.

        A point without any affinity has those of the fitted point nearest to it.
        """
        X = self._within_reach(X)
        found = np.empty((X.shape[0], len(self.weight)))
        linked = np.empty(X.shape[0], dtype=bool)
        for block, links in self._linked(X):
            found[block] = self._costs(links) / self._point_weights(links)[:, None]
            linked[block] = links.any(axis=1)
        far = np.flatnonzero(~linked)
        if far.size and not self.kernel.is_pairwise:
            nearest = self._search.query(X[far], 1)[1][:, 0]
            for block, links in self._linked(self.points[nearest]):
                found[far[block]] = self._costs(links) / self._point_weights(links)[:, None]
        return found

    def separation(self, X: Any, affinity: AffinityLike | None = None) -> float:
        """How well the clusters of new points are each one and apart; `affinity` is that of the fitted points."""
        X = self._within_reach(X)
        n_clusters = len(self.weight)
        leaving, counts = np.zeros(n_clusters), np.zeros(n_clusters)
        for _, links in self._linked(X):
            linked = links[links.any(axis=1)]
            own = self._costs(linked).argmin(axis=1)
            away = 1 - linked[np.arange(len(own)), own] / linked.sum(axis=1)
            leaving += np.bincount(own, away, n_clusters)
            counts += np.bincount(own, minlength=n_clusters)
        if self._mixing is None:
            whole = self.kernel.affinity(self.points, n_jobs=self.n_jobs) if affinity is None else affinity
            self._mixing = mixing_rates(as_affinity(whole).rescaled(self.point_scale), self.fitted_labels, n_clusters)
        return mean_separation(leaving, counts, self.weight, self._mixing, X.shape[0])

    def _assigned(self, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Labels and margins, a block of rows at a time."""
        X = self._within_reach(X)
        found, margin = np.empty(X.shape[0], dtype=np.int64), np.empty(X.shape[0])
        linked = np.empty(X.shape[0], dtype=bool)
        for block, links in self._linked(X):
            costs = self._costs(links)
            found[block] = costs.argmin(axis=1)
            margin[block] = margins(costs, self._even(links), self.weight, found[block])
            linked[block] = links.any(axis=1)
        self._place_far(X, np.flatnonzero(~linked), found, margin)
        return found, margin

    def _within_reach(self, X: Any) -> Any:
        """New points where distances to the fitted ones can be computed; of affinities, the columns that count."""
        if self.kernel.is_pairwise:
            return X[:, self.kept]
        if not is_dense(X):
            return X
        centre = self.points.mean(axis=0)
        return shrink_far(X, centre, float(np.abs(self.points - centre).max()))

    def _linked(self, X: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Block by block, the affinity of new points (rows) with each cluster (columns), as the problem has it."""
        for block, rows in self._affinities(X):
            yield block, rows.links(self.fitted_labels, len(self.weight), self.point_scale)

    def _affinities(self, X: Any) -> Iterator[tuple[slice, Affinity]]:
        """Block by block, the affinity of new points (rows) with the fitted ones (columns)."""
        if self.extension is None:
            self.extension = self.kernel.extend(self.points, n_jobs=self.n_jobs)
        for first in range(0, X.shape[0], _ROWS_PER_BLOCK):
            block = slice(first, first + _ROWS_PER_BLOCK)
            yield block, as_affinity(self.extension(X[block]))

    def _place_far(
        self, X: Any, far: NDArray[np.intp], found: NDArray[np.int64], margin: NDArray[np.float64]
    ) -> None:
        """Label the points without any affinity, in place."""
        margin[far] = 0.0
        if far.size and not self.kernel.is_pairwise:
            found[far] = self.fitted_labels[self._search.query(X[far], 1)[1][:, 0]]
        elif far.size:
            found[far] = 0
            warn_user(
                f"{far.size} new points have no affinity with any fitted point and go to cluster 0."
            )

    def _point_weights(self, links: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights of new points in the problem; one where they would be zero."""
        degree = links.sum(axis=1)
        weights = self.criterion.point_weight(np.where(degree > 0, 1.0, 0.0) if self.is_even else degree)
        return np.where(weights > 0, weights, 1.0)

    def _costs(self, links: NDArray[np.float64]) -> NDArray[np.float64]:
        links = self._even(links)
        return bound_costs(links, self.criterion.point_weight(links.sum(axis=1)), self.inside, self.weight)

    def _even(self, links: NDArray[np.float64]) -> NDArray[np.float64]:
        """The links scaled to a degree of one, where all degrees were made equal."""
        if not self.is_even:
            return links
        degree = links.sum(axis=1)
        return links / np.where(degree > 0, degree, 1.0)[:, None]

    @functools.cached_property
    def _search(self) -> NeighborSearch:
        return NeighborSearch(self.points, n_jobs=self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        # A function made inside another cannot be pickled; it is made again from the kernel when needed.
        if isinstance(self.extension, FunctionType) and "<" in self.extension.__qualname__:
            state["extension"] = None
        return state


def mean_separation(
    leaving: NDArray[Any],
    counts: NDArray[Any],
    weight: NDArray[Any],
    mixing: NDArray[np.float64],
    n_rows: int,
) -> float:
    """The mean over rows of the separation of their cluster; rows without any affinity count zero.

    Parameters
    ----------
    leaving : ndarray of shape (n_clusters,)
        Sum over the rows of a cluster of the share of their affinity that goes to others.
    counts, weight, mixing : ndarrays of shape (n_clusters,)
        Rows of each cluster, weight and mixing of the fitted ones.
    n_rows : int
    """
    # Chance alone sends this share elsewhere.
    chance = 1 - weight / weight.sum()
    leak = np.clip(leaving / np.maximum(counts, 1) / np.where(chance > 0, chance, 1.0), 0.0, None)
    return float(counts @ separation(leak, mixing) / n_rows)


def summary(
    problem: RatioProblem, labels: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Association and weight of each cluster, and the margin of each point."""
    inside, weight = problem.associations(labels, n_clusters)
    links = problem.matrix.links(labels, n_clusters)
    if problem.diagonal is not None:
        links[np.arange(len(labels)), labels] += problem.diagonal
    costs = bound_costs(links, problem.weights, inside, weight)
    return inside, weight, margins(costs, links, weight, labels)


def margins(
    costs: NDArray[np.float64], links: NDArray[np.float64], weight: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    r"""How much dearer the best other cluster is than the one taken, from 0 at a border to 1 deep inside.

    .. math:: \frac{c_{pl} - c_{pk}}{2 \sum_j (M S_j)_p / w(S_j)}, \qquad l = \arg\min_{j \ne k} c_{pj}

    kept within 0 and 1. Between clusters of equal weight and association it is the share of the point's affinity that
    goes to its own cluster less the share that goes to the other.

    Examples
    --------
    >>> import numpy as np
    >>> links = np.array([[4.0, 0.0], [2.0, 2.0]])
    >>> margins(1 - 2 * links / 4, links, np.array([4.0, 4.0]), np.array([0, 0]))
    array([1., 0.])
    """
    if costs.shape[1] == 1:
        return np.ones(len(costs))
    rows = np.arange(len(costs))
    others = costs.copy()
    others[rows, labels] = np.inf
    unit = 2 * np.sum(np.abs(links) / weight, axis=1)
    return np.clip((others.min(axis=1) - costs[rows, labels]) / np.where(unit > 0, unit, 1.0), 0.0, 1.0)
