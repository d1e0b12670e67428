r"""The model of a fitted clustering: the cost of every cluster for a new point, and how well clusters are separated.

New points are arrays or tensors, as the fitted ones are, and so are the results.

The conductance :math:`\ell_k` of a cluster is the share of its links that leave it. It is compared with the rate
:math:`m_k` at which a random walk inside the cluster mixes, one minus its second eigenvalue: a part of a cluster mixes
fast but has a high conductance, and two clusters joined to one mix slowly. Sizes have no influence.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from .. import tensors
from .._runtime import warn_user
from ..affinity import Affinity, AffinityLike, as_affinity
from ..criteria import Criterion, PosedProblem
from ..kernels import Extension, Kernel
from ..neighbors import NeighborSearch, clip_radially, is_dense
from ..points import PreparedPoints
from ..solvers.descent import bound_costs
from ..tensors import AnyInts, Floats, Ints, Places

_ROWS_PER_BLOCK = 4096


@dataclass(eq=False)
class FittedModel:
    r"""The affinities of a new point p with the fitted points, and the cost of each cluster.

    .. math:: c_{pk} = -\frac{2 (M S_k)_p}{w(S_k)} + w_p \frac{M(S_k, S_k)}{w(S_k)^2}

    Parameters
    ----------
    kernel : Kernel
    points : array or tensor of shape (n, ...)
        The fitted points, or the affinity given instead of them.
    columns : ndarray of shape (n,)
        Their first rows in the `X` of `fit`: the columns of an affinity that are used.
    extension : callable or None
        From new points to their affinities; made from the kernel when first needed if None.
    fitted_labels : ndarray of shape (n,)
    point_scale : ndarray of shape (n,)
        Weight times equalising scale of the fitted points.
    inside, weight : ndarrays of shape (n_clusters,)
        Association and weight of each cluster.
    criterion : Criterion
        Gives the weight of a new point.
    is_even : bool
        Whether the degree of a new point is scaled to one first.
    n_jobs : int or None
    """

    kernel: Kernel
    points: Any
    columns: Places
    extension: Extension | None
    fitted_labels: Ints
    point_scale: Floats
    inside: Floats
    weight: Floats
    criterion: Criterion
    is_even: bool
    n_jobs: int | None = None
    #: The mixing rate of each cluster, once computed.
    _mixing: Floats | None = None

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        extension: Extension | None,
        prepared: PreparedPoints,
        posed: PosedProblem,
        labels: Ints,
        n_jobs: int | None,
    ) -> FittedModel:
        """The model of a solved problem."""
        codes = posed.problem.matrix.asarray(labels)
        _, inside, weight = posed.problem.cluster_links(codes, int(labels.max()) + 1)
        return cls(
            kernel, prepared.points, prepared.first_row, extension, labels, posed.weights * posed.scale,
            tensors.to_array(inside), tensors.to_array(weight), posed.criterion, posed.is_even, n_jobs,
        )  # fmt: skip

    def labels(self, X: Any) -> Ints:
        """Clusters of new points.

        A point without any affinity gets the label of the nearest fitted point; if only affinities are known it goes to
        the first cluster, with a warning.
        """
        X = self._within_reach(X)
        labels, has_links = self._in_blocks(X, lambda links: self._costs(links).argmin(axis=1))
        alone = tensors.array_namespace(has_links).where(~has_links)[0]
        if len(alone) and self.kernel.is_pairwise:
            labels[alone] = 0
            warn_user(f"{len(alone)} new points have no affinity with any fitted point and go to cluster 0.")
        elif len(alone):
            nearest = self._search.query(X[alone], 1)[1][:, 0]
            labels[alone] = tensors.asarray_like(nearest, self.fitted_labels)[nearest]
        return labels

    def averaged(self, X: Any, values: Floats) -> Floats:
        """Affinity-weighted means of values of the fitted points for new ones; zero without affinity."""
        X = self._within_reach(X)
        means = np.zeros((X.shape[0], values.shape[1]))
        for block, rows in self._affinities(X):
            scaled = np.column_stack([self.point_scale, self.point_scale[:, None] * values])
            sums = tensors.to_array(rows @ tensors.asarray_like(X, scaled)).astype(np.float64)
            means[block] = sums[:, 1:] / np.where(sums[:, :1] > 0, sums[:, :1], 1.0)
        return means

    def nearest_distances(self, X: Any, n_nearest: int) -> Floats:
        """Mean distance of new points to the nearest fitted ones; of affinities, the reciprocal of their sum."""
        X = self._within_reach(X)
        if self.kernel.is_pairwise:
            return _reciprocal(np.concatenate([np.asarray(rows @ self.point_scale) for _, rows in self._affinities(X)]))
        return tensors.to_array(self._search.query(X, min(n_nearest, len(self.points)))[0].mean(axis=1))

    def nearest_points(self, X: Any) -> AnyInts:
        """The nearest fitted point to each new one."""
        X = self._within_reach(X)
        if self.kernel.is_pairwise:
            nearest = [np.asarray(rows.block(slice(None))).argmax(axis=1) for _, rows in self._affinities(X)]
            return np.concatenate(nearest)
        return self._search.query(X, 1)[1][:, 0]

    def own_distances(self, affinity: Affinity, n_nearest: int) -> Floats:
        """As `nearest_distances`, between the fitted points."""
        if self.kernel.is_pairwise:
            return _reciprocal(np.asarray(affinity @ self.point_scale) - affinity.diagonal() * self.point_scale)
        if len(self.points) == 1:
            return np.zeros(1)
        return tensors.to_array(self._search.query_self(min(n_nearest + 1, len(self.points)))[0][:, 1:].mean(axis=1))

    def distances(self, X: Any) -> Floats:
        """Squared distances of new points to the clusters, without their own squared length.

        A point without any affinity gets those of the nearest fitted point.
        """
        X = self._within_reach(X)

        def to_clusters(links: Any) -> Any:
            degree = links.sum(axis=1)
            weights = self.criterion.point_weight(1.0 * (degree > 0) if self.is_even else degree)
            return self._costs(links) / tensors.array_namespace(weights).where(weights > 0, weights, 1.0)[:, None]

        distances, has_links = self._in_blocks(X, to_clusters)
        alone = tensors.array_namespace(has_links).where(~has_links)[0]
        if len(alone) and not self.kernel.is_pairwise:
            nearest = self._search.query(X[alone], 1)[1][:, 0]
            distances[alone] = self._in_blocks(self.points[nearest], to_clusters)[0]
        return distances

    def separation(self, X: Any, affinity: AffinityLike | None = None) -> float:
        """How well the clusters of new points are connected and separated; `affinity` is that of the fitted points."""
        X = self._within_reach(X)
        n_clusters = len(self.weight)
        leaving, counts = np.zeros(n_clusters), np.zeros(n_clusters)
        for links in self._links(X):
            linked = links[(links != 0).any(axis=1)]
            own = self._costs(linked).argmin(axis=1)
            outside = 1 - linked[tensors.arange_like(own), own] / linked.sum(axis=1)
            leaving += tensors.to_array(tensors.group_sums(outside, own, n_clusters))
            counts += tensors.to_array(tensors.array_namespace(own).bincount(own, minlength=n_clusters))
        if self._mixing is None:
            matrix = as_affinity(
                self.kernel.affinity(self.points, n_jobs=self.n_jobs) if affinity is None else affinity
            )
            self._mixing = mixing_rates(matrix.rescaled(self.point_scale), self.fitted_labels, n_clusters)
        return mean_separation(leaving, counts, self.weight, self._mixing, X.shape[0])

    def _within_reach(self, X: Any) -> Any:
        """New points clipped so that distances to the fitted ones can be computed; of affinities, the columns used."""
        if self.kernel.is_pairwise:
            return X[:, self.columns]
        if not is_dense(X):
            return X
        centre = self.points.mean(axis=0)
        return clip_radially(X, centre, float(abs(self.points - centre).max()))

    def _in_blocks(self, X: Any, of_links: Callable[[Any], Any]) -> tuple[Any, Any]:
        """The results of a function of links, computed in blocks, and whether points have any affinity."""
        blocks = [(of_links(links), (links != 0).any(axis=1)) for links in self._links(X)]
        results, has_links = (tensors.array_namespace(parts[0]).concatenate(parts) for parts in zip(*blocks))
        return results, has_links

    def _links(self, X: Any) -> Iterator[Floats]:
        """The affinity of new points (rows) with each cluster (columns), scaled as in the problem, in blocks."""
        like = X if tensors.is_tensor(X) else self.fitted_labels
        labels, scale = tensors.asarray_like(like, self.fitted_labels), tensors.asarray_like(like, self.point_scale)
        for _, rows in self._affinities(X):
            yield rows.links(labels, len(self.weight), scale)

    def _affinities(self, X: Any) -> Iterator[tuple[slice, Affinity]]:
        """The affinity of new points (rows) with the fitted ones (columns), in blocks."""
        if self.extension is None:
            self.extension = self.kernel.extend(self.points, n_jobs=self.n_jobs)
        step = _ROWS_PER_BLOCK
        if tensors.is_tensor(X):
            from ..gpu.arrays import block_rows, same_device

            same_device(X=X, **{"the fitted points": self.points})
            # Bytes of a row: its links to the clusters, and its neighbours with their labels.
            step = block_rows(len(X), 64 * len(self.weight) + 8192, X.device, what="a prediction")
        for first in range(0, X.shape[0], step):
            block = slice(first, first + step)
            yield block, as_affinity(self.extension(X[block]))

    def _costs(self, links: Floats) -> Floats:
        degree = links.sum(axis=1)
        if self.is_even:
            links = links / tensors.array_namespace(links).where(degree > 0, degree, 1.0)[:, None]
            degree = links.sum(axis=1)
        inside, weight = tensors.asarray_like(links, self.inside), tensors.asarray_like(links, self.weight)
        return bound_costs(links, self.criterion.point_weight(degree), inside, weight)

    @functools.cached_property
    def _search(self) -> NeighborSearch:
        return NeighborSearch(self.points, n_jobs=self.n_jobs)

    def on_device_of(self, X: Any) -> FittedModel:
        """The model for new points that are tensors, with the fitted points on their device."""
        if not tensors.is_tensor(X) or tensors.is_tensor(self.points):
            return self
        copied = getattr(self, "_on_device", None)
        if copied is None or copied.points.device != X.device:
            copied = self._on_device = replace(self, points=tensors.asarray_like(X, self.points), extension=None)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "_on_device"}
        # A function made inside another cannot be pickled; it is made again from the kernel when needed.
        if isinstance(self.extension, FunctionType) and "<" in self.extension.__qualname__:
            state["extension"] = None
        return state


def _reciprocal(degree: Floats) -> Floats:
    return 1 / np.maximum(degree.astype(np.float64), 1e-300)


def mean_separation(
    leaving: NDArray[Any], counts: NDArray[Any], weight: NDArray[Any], mixing: Floats, n_rows: int
) -> float:
    """The mean over rows of the separation of their cluster; rows without any affinity count zero.

    Parameters
    ----------
    leaving : ndarray of shape (n_clusters,)
        Sum over the rows of a cluster of the share of their affinity that goes to other clusters.
    counts, weight, mixing : ndarrays of shape (n_clusters,)
        Rows of each cluster, weight and mixing of the fitted ones.
    n_rows : int
    """
    # Of a random subset of this size, this share of the affinity goes to others.
    expected = 1 - weight / weight.sum()
    conductance = np.clip(leaving / np.maximum(counts, 1) / np.where(expected > 0, expected, 1.0), 0.0, None)
    return float(counts @ separation(conductance, mixing) / n_rows)


def separation(conductance: Floats, mixing: Floats) -> Floats:
    r"""How well each cluster is connected and separated, from -1 to 1: :math:`(c - \ell) / (c + \ell + 2\delta)`.

    The conductance of a cluster is compared with :math:`c = \sqrt m`, by Cheeger's inequality of the order of the
    conductance of its best cut in two. Values are comparable between numbers of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> separation(np.array([0.0, 0.0, 0.5]), np.array([1.0, 0.0, 0.25])).round(2)
    array([0.98, 0.  , 0.  ])
    """
    inside = np.sqrt(mixing)
    # Conductances below 0.01 count as equal. Of .003 to .1, on 36 random data sets of two, three and five blobs, .01
    # finds 26 right numbers; .03 finds 28, but distinguishes kernels less.
    return np.asarray((inside - conductance) / (inside + conductance + 2 * 0.01))


def mixing_rates(affinity: AffinityLike, labels: AnyInts, n_clusters: int) -> Floats:
    """The rate at which a random walk mixes inside each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> mixing_rates(np.ones((4, 4)), np.array([0, 0, 1, 1]), 2)
    array([1., 1.])
    """
    matrix = as_affinity(affinity)
    return np.array([_mixing_rate(matrix.submatrix(np.flatnonzero(labels == k))) for k in range(n_clusters)])


def _mixing_rate(affinity: Affinity) -> float:
    """One minus the second eigenvalue of the walk on an affinity; 0 for one that is not connected, 1 for a point."""
    n_points = affinity.shape[0]
    if n_points < 2:
        return 1.0

    def product(vector: Floats) -> Floats:
        return tensors.as_float64(tensors.to_array(affinity @ affinity.asarray(vector)))

    degrees = product(np.ones(n_points))
    if (degrees <= 0).any():
        return 0.0
    scale, first = 1 / np.sqrt(degrees), np.sqrt(degrees / degrees.sum())

    def walk(vector: Floats) -> Floats:
        vector = vector.ravel()
        return scale * product(scale * vector) - first * (first @ vector)

    if n_points <= 50:
        matrix = np.column_stack([walk(column) for column in np.eye(n_points)])
        second = float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1])
    else:
        operator = LinearOperator((n_points, n_points), matvec=walk, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n_points)
        try:
            second = float(eigsh(operator, 1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)[0])
        except ArpackNoConvergence:
            # Too many eigenvalues near one to be distinguished: it hardly mixes.
            second = 1.0
    return float(np.clip(1 - second, 0.0, 1.0))
