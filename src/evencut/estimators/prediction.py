"""Clusters for new points: the bound of the Lloyd step, evaluated against a fitted labelling, block by block.

New points are arrays or tensors, as the fitted ones are, and so are the answers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._runtime import warn_user
from ..affinity import Affinity, AffinityLike, as_affinity
from ..criteria import Criterion, PosedProblem, RatioProblem
from ..kernels import Extension, Kernel
from ..neighbors import NeighborSearch, is_dense, shrink_far
from ..solvers.lloyd import bound_costs, cluster_links
from ..tensors import AnyInts, Floats, Ints, Places, array_namespace, beside, group_sums, is_tensor, numbered, to_array
from .leaks import mixing_rates, separation

_ROWS_PER_BLOCK = 4096
# On a device a block is as long as its memory allows: links to clusters, and neighbours with what is said of them.
_BYTES_PER_CLUSTER = 64
_BYTES_PER_ROW = 8192
_TINY = 1e-300


@dataclass(eq=False)
class Prediction:
    r"""What it takes to label a new point p: its affinities with the fitted points, and the cost of each cluster.

    .. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

    Parameters
    ----------
    kernel : Kernel
    points : array or tensor of shape (n, ...)
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
    kept: Places
    extension: Extension | None
    fitted_labels: Ints
    fitted_margins: Floats
    point_scale: Floats
    inside: Floats
    weight: Floats
    criterion: Criterion
    is_even: bool
    n_jobs: int | None = None
    #: How fast each cluster mixes, once it was asked for.
    _mixing: Floats | None = None

    @classmethod
    def of(cls, chosen: Any, prepared: Any, posed: PosedProblem, labels: Ints, n_jobs: int | None) -> Any:
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

    def labels(self, X: Any) -> Ints:
        """Clusters of new points.

        A point without any affinity takes the label of the nearest fitted point; where only affinities are known it
        goes to the first cluster, with a warning.
        """
        return self._assigned(X)[0]

    def margins(self, X: Any) -> Floats:
        """How much dearer the second-best cluster is for new points; zero for points without any affinity."""
        return self._assigned(X)[1]

    def averaged(self, X: Any, field: Floats) -> Floats:
        """Means of a field of the fitted points, by the affinity of new points with them; zero where there is none."""
        X = self._within_reach(X)
        found = np.zeros((X.shape[0], field.shape[1]))
        for block, rows in self._affinities(X):
            total = np.asarray(rows @ self.point_scale, dtype=np.float64)
            sums = np.asarray(rows @ (self.point_scale[:, None] * field), dtype=np.float64)
            found[block] = sums / np.where(total > 0, total, 1.0)[:, None]
        return found

    def nearest_distances(self, X: Any, n_nearest: int) -> Floats:
        """Mean distance of new points to the nearest fitted ones; of affinities, one over their sum."""
        X = self._within_reach(X)
        if self.kernel.is_pairwise:
            degree = np.concatenate([np.asarray(rows @ self.point_scale) for _, rows in self._affinities(X)])
            return 1 / np.maximum(degree.astype(np.float64), _TINY)
        return self._search.query(X, min(n_nearest, len(self.points)))[0].mean(axis=1)

    def nearest_points(self, X: Any) -> AnyInts:
        """The fitted point that is nearest to each new one."""
        X = self._within_reach(X)
        if self.kernel.is_pairwise:
            found = [np.asarray(rows.part(slice(None))).argmax(axis=1) for _, rows in self._affinities(X)]
            return np.concatenate(found)
        return self._search.query(X, 1)[1][:, 0]

    def own_distances(self, affinity: Affinity, n_nearest: int) -> Floats:
        """The same of the fitted points to each other."""
        if self.kernel.is_pairwise:
            degree = np.asarray(affinity @ self.point_scale) - affinity.diagonal() * self.point_scale
            return 1 / np.maximum(degree.astype(np.float64), _TINY)
        if len(self.points) == 1:
            return np.zeros(1)
        return self._search.query_self(min(n_nearest + 1, len(self.points)))[0][:, 1:].mean(axis=1)

    def distances(self, X: Any) -> Floats:
        """Squared distances of new points to the clusters, less their own squared length.

        A point without any affinity has those of the fitted point nearest to it.
        """
        X = self._within_reach(X)

        def measure(links: Any) -> tuple[Any]:
            return (self._costs(links) / self._point_weights(links)[:, None],)

        away, linked = self._gathered(X, measure)
        far = array_namespace(linked).where(~linked)[0]
        if len(far) and not self.kernel.is_pairwise:
            nearest = self._search.query(X[far], 1)[1][:, 0]
            away[far] = self._gathered(self.points[nearest], measure)[0]
        return away

    def separation(self, X: Any, affinity: AffinityLike | None = None) -> float:
        """How well the clusters of new points are each one and apart; `affinity` is that of the fitted points."""
        X = self._within_reach(X)
        n_clusters = len(self.weight)
        leaving, counts = np.zeros(n_clusters), np.zeros(n_clusters)
        for links in self._linked(X):
            linked = links[(links != 0).any(axis=1)]
            own = self._costs(linked).argmin(axis=1)
            away = 1 - linked[numbered(own), own] / linked.sum(axis=1)
            leaving += to_array(group_sums(away, own, n_clusters))
            counts += to_array(array_namespace(own).bincount(own, minlength=n_clusters))
        if self._mixing is None:
            whole = self.kernel.affinity(self.points, n_jobs=self.n_jobs) if affinity is None else affinity
            self._mixing = mixing_rates(as_affinity(whole).rescaled(self.point_scale), self.fitted_labels, n_clusters)
        return mean_separation(leaving, counts, self.weight, self._mixing, X.shape[0])

    def _assigned(self, X: Any) -> tuple[Ints, Floats]:
        """Labels and margins, a block of rows at a time."""
        X = self._within_reach(X)

        def assign(links: Any) -> tuple[Any, Any]:
            costs = self._costs(links)
            labels = costs.argmin(axis=1)
            return labels, margins(costs, self._even(links), beside(links, self.weight), labels)

        labels, margin, linked = self._gathered(X, assign)
        self._place_far(X, array_namespace(linked).where(~linked)[0], labels, margin)
        return labels, margin

    def _within_reach(self, X: Any) -> Any:
        """New points where distances to the fitted ones can be computed; of affinities, the columns that count."""
        if self.kernel.is_pairwise:
            return X[:, self.kept]
        if not is_dense(X):
            return X
        centre = self.points.mean(axis=0)
        return shrink_far(X, centre, float(abs(self.points - centre).max()))

    def _gathered(self, X: Any, of_links: Callable[[Any], tuple]) -> tuple:
        """What a function makes of the links of each block, put together, and whether points have any affinity."""
        blocks = [(*of_links(links), (links != 0).any(axis=1)) for links in self._linked(X)]
        return tuple(array_namespace(parts[0]).concatenate(parts) for parts in zip(*blocks))

    def _linked(self, X: Any) -> Iterator[Floats]:
        """Block by block, the affinity of new points (rows) with each cluster (columns), as the problem has it."""
        like = X if is_tensor(X) else self.fitted_labels
        labels, scale = beside(like, self.fitted_labels), beside(like, self.point_scale)
        for _, rows in self._affinities(X):
            yield rows.links(labels, len(self.weight), scale)

    def _affinities(self, X: Any) -> Iterator[tuple[slice, Affinity]]:
        """Block by block, the affinity of new points (rows) with the fitted ones (columns)."""
        if self.extension is None:
            self.extension = self.kernel.extend(self.points, n_jobs=self.n_jobs)
        step = self._rows_per_block(X)
        for first in range(0, X.shape[0], step):
            block = slice(first, first + step)
            yield block, as_affinity(self.extension(X[block]))

    def _rows_per_block(self, X: Any) -> int:
        if not is_tensor(X):
            return _ROWS_PER_BLOCK
        from ..gpu.arrays import block_rows, same_device

        same_device(X=X, **{"the fitted points": self.points})
        bytes_per_row = _BYTES_PER_CLUSTER * len(self.weight) + _BYTES_PER_ROW
        return block_rows(len(X), bytes_per_row, X.device, what="a prediction")

    def _place_far(
        self, X: Any, far: Places, labels: Ints, margin: Floats
    ) -> None:
        """Label the points without any affinity, in place."""
        if not len(far):
            return
        margin[far] = 0.0
        if not self.kernel.is_pairwise:
            nearest = self._search.query(X[far], 1)[1][:, 0]
            labels[far] = beside(nearest, self.fitted_labels)[nearest]
        else:
            labels[far] = 0
            warn_user(
                f"{len(far)} new points have no affinity with any fitted point and go to cluster 0."
            )

    def _point_weights(self, links: Floats) -> Floats:
        """The weights of new points in the problem; one where they would be zero."""
        degree = links.sum(axis=1)
        weights = self.criterion.point_weight(1.0 * (degree > 0) if self.is_even else degree)
        return array_namespace(weights).where(weights > 0, weights, 1.0)

    def _costs(self, links: Floats) -> Floats:
        links = self._even(links)
        inside, weight = beside(links, self.inside), beside(links, self.weight)
        return bound_costs(links, self.criterion.point_weight(links.sum(axis=1)), inside, weight)

    def _even(self, links: Floats) -> Floats:
        """The links scaled to a degree of one, where all degrees were made equal."""
        if not self.is_even:
            return links
        degree = links.sum(axis=1)
        return links / array_namespace(links).where(degree > 0, degree, 1.0)[:, None]

    @functools.cached_property
    def _search(self) -> NeighborSearch:
        return NeighborSearch(self.points, n_jobs=self.n_jobs)

    def beside(self, X: Any) -> Prediction:
        """The same for new points that are tensors: the fitted ones go to their device, which extends the kernel."""
        if not is_tensor(X) or is_tensor(self.points):
            return self
        there = getattr(self, "_there", None)
        if there is None or there.points.device != X.device:
            there = self._there = replace(self, points=beside(X, self.points), extension=None)
        return there

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "_there"}
        # A function made inside another cannot be pickled; it is made again from the kernel when needed.
        if isinstance(self.extension, FunctionType) and "<" in self.extension.__qualname__:
            state["extension"] = None
        return state


def mean_separation(
    leaving: NDArray[Any],
    counts: NDArray[Any],
    weight: NDArray[Any],
    mixing: Floats,
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


def summary(problem: RatioProblem, labels: Ints, n_clusters: int) -> tuple[Floats, Floats, Floats]:
    """Association and weight of each cluster, and the margin of each point."""
    labels = problem.matrix.beside(labels)
    links, inside, weight = cluster_links(problem, labels, n_clusters)
    costs = bound_costs(links, problem.weights, inside, weight)
    return to_array(inside), to_array(weight), to_array(margins(costs, links, weight, labels))


def margins(costs: Floats, links: Floats, weight: Floats, labels: Ints) -> Floats:
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
    xp = array_namespace(costs)
    if costs.shape[1] == 1:
        return xp.ones_like(costs[:, 0])
    rows, others = numbered(costs), costs + 0
    others[rows, labels] = np.inf
    unit = 2 * (abs(links) / weight).sum(axis=1)
    gap = xp.amin(others, axis=1) - costs[rows, labels]
    return (gap / xp.where(unit > 0, unit, 1.0)).clip(0.0, 1.0)
