"""Gaussian kernels of all pairs: one bandwidth for all points, or one for each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._runtime import keeps_in_memory, warn_user
from ..affinity import AffinityLike, BlockwiseAffinity, GaussianBlocks, density_law, knn_density, knn_radius, whiten
from ..affinity.lazy import gaussian_pairs
from ..neighbors import is_dense, squared_distances
from ..tensors import AnyFloats, Floats, array_namespace, is_tensor
from .base import NEIGHBORS, Extension, FixedBandwidth, Kernel, Points, check_neighbors, exp_half, for_tensors


class Gaussian(FixedBandwidth):
    r"""Gaussian kernel of one bandwidth for all points (eqs 1, 13), radial (eq. 45).

    .. math:: A_{pq} = \exp\left(-\tfrac12 (f_p-f_q)^T \Sigma^{-1} (f_p-f_q)\right)

    Bandwidths far beyond the data make k-means of kernel k-means (eq. 44).

    Parameters
    ----------
    bandwidth : float, array or {"scott", "silverman", "median"}, default="scott"
        One sigma, one sigma a feature, a full matrix Sigma, or a rule.
    memory : float, optional
        Bytes the affinity may take, by default a quarter of the free memory; above, rows are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(bandwidth=1.0).affinity(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    title = "Gaussian, one bandwidth"

    @for_tensors
    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The affinity of all pairs."""
        if not is_dense(X):
            return self._rows_elsewhere(X, None, X)
        return self._affinity(whiten(X, self.bandwidth)[0], X.dtype, n_jobs)

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, at the bandwidth of `X`."""
        if not is_dense(X):
            return partial(self._rows_elsewhere, X, self._length(X))
        return partial(_rows_at_one_bandwidth, X, None, whiten(X, self.bandwidth)[0], self.bandwidth)

    def affinity_and_extension(
        self, X: Points, *, weights: Floats | None = None, n_jobs: int | None = None
    ) -> tuple[AffinityLike, Extension | None]:
        """Both at the bandwidth that the rule gives for weighted points."""
        if not is_dense(X) or type(self).affinity is not Gaussian.affinity or type(self).extend is not Gaussian.extend:
            return super().affinity_and_extension(X, n_jobs=n_jobs)
        points = whiten(X, self.bandwidth, weights=weights)[0]
        extension = partial(_rows_at_one_bandwidth, X, weights, points, self.bandwidth)
        return self._affinity(points, X.dtype, n_jobs), extension

    def _rows_elsewhere(self, X: Any, length: float | None, Y: Any) -> AnyFloats:
        """Affinities by distances alone, of points that are not rows of one array."""
        _holds_all(X, self.memory)
        squared = squared_distances(Y, None if Y is X else X)
        squared /= (self._length(X) if length is None else length) ** 2
        return exp_half(squared)

    def _affinity(self, points: Points, dtype: Any, n_jobs: int | None) -> AffinityLike:
        if is_tensor(points):
            return gaussian_pairs(points, 1.0, "gaussian")
        points = points.astype(dtype, copy=False)
        if not keeps_in_memory(len(points), points.dtype, self.memory):
            return BlockwiseAffinity(GaussianBlocks(points), len(points), points.dtype, n_jobs=n_jobs)
        affinity = exp_half(squared_distances(points))
        if isinstance(self.bandwidth, str) and len(points) > 1:
            degree = float(np.median(affinity.sum(axis=1) - 1))
            # Below this the affinity is close to an identity matrix.
            if degree < 0.01:
                warn_user(
                    f"bandwidth={self.bandwidth!r} is too narrow for these {points.shape[1]} columns: half of the "
                    f"points have an affinity of at most {degree:.2g} with all others together, so clusters depend "
                    "on a few pairs; use bandwidth='median', or kernel='knn'."
                )
        return affinity


@dataclass(eq=False, repr=False)
class AdaptiveGaussian(Kernel):
    r"""Gaussian kernel with a bandwidth for each point (eq. 48).

    .. math:: \kappa_p(f_p, f_q) = \exp\left(-\tfrac12 (f_p-f_q)^T \Sigma_p^{-1} (f_p-f_q)\right)

    The affinity is the mean of :math:`\kappa_p` and :math:`\kappa_q`, near the geodesic kernel's (eq. 49).
    Bandwidths come from the density law (eq. 59) on nearest-neighbour densities; with the constant transform they are
    the distances to the K-th nearest other point (eq. 61).

    Parameters
    ----------
    n_neighbors : int, default=7
        K, for the density.
    transform : {"constant", "log", "identity"} or callable, default="constant"
        The density wanted, as in :func:`evencut.affinity.density_law`.
    alpha : float, default=1.0
        Of the `"log"` transform.
    memory : float, optional
        Bytes the affinity may take, by default a quarter of the free memory; above, rows are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> AdaptiveGaussian(n_neighbors=1).affinity(np.array([[0.0], [1.0], [3.0]])).round(3)
    array([[1.   , 0.607, 0.168],
           [0.607, 1.   , 0.371],
           [0.168, 0.371, 1.   ]])
    """

    title = "Gaussian, adaptive bandwidth"
    settings = (NEIGHBORS,)

    n_neighbors: int = 7
    transform: str | Callable[[Floats], ArrayLike] = "constant"
    alpha: float = 1.0
    memory: float | None = None

    @property
    def needs_coordinates(self) -> bool:
        """Densities need a dimension; distances to neighbours do not."""
        return self.transform != "constant"

    def bandwidths(self, X: Points, n_jobs: int | None = None) -> Floats:
        """The bandwidth of each point, in the mean (of logarithms) its distance to the K-th neighbour."""
        check_neighbors(self, len(X))
        radius = knn_radius(X, self.n_neighbors, n_jobs=n_jobs)
        if self.transform == "constant":
            return radius
        density = knn_density(X, self.n_neighbors, n_jobs=n_jobs)
        law = density_law(density, self.transform, X.shape[1], alpha=self.alpha)
        xp = array_namespace(radius)
        return law * xp.exp(xp.log(radius).mean() - xp.log(law).mean())

    @for_tensors
    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The affinity of all pairs."""
        if is_tensor(X):
            return gaussian_pairs(X, self.bandwidths(X), "mean")
        fits = _holds_all(X, self.memory)
        sigma = self.bandwidths(X, n_jobs)
        if not fits:
            return BlockwiseAffinity(GaussianBlocks(X, sigma, "mean"), len(X), X.dtype, n_jobs=n_jobs)
        one_way = self._from_centres(X, X, sigma)
        one_way += one_way.T.copy()
        one_way *= 0.5
        return one_way

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, at the bandwidths of the points of `X`."""
        return partial(self._rows, X, self.bandwidths(X, n_jobs))

    def _rows(self, X: Points, sigma: Floats, Y: Points) -> AffinityLike:
        if is_tensor(X):
            # A new point is seen from the points alone, at their own bandwidths: a product with any constant.
            middle = float(array_namespace(sigma).log(sigma).mean().exp())
            return gaussian_pairs(Y, sigma.new_full((len(Y),), middle), "product", X, sigma**2 / middle)  # type: ignore
        return self._from_centres(X, np.asarray(Y) if is_dense(Y) else Y, sigma).T

    def _from_centres(self, X: Points, Y: Points, sigma: Floats) -> AnyFloats:
        """Row p: the kernel at point p of X, at its own bandwidth, for all points of Y."""
        # Points known by their distances know those to the fitted ones only.
        squared = squared_distances(X) if Y is X else squared_distances(Y, X).T
        squared /= (sigma**2).astype(squared.dtype)[:, None]
        return exp_half(squared)


@dataclass(eq=False, repr=False)
class LocalScaling(Kernel):
    r"""Kernel of Zelnik-Manor and Perona, each pair at the geometric mean of two bandwidths.

    .. math:: A_{pq} = \exp\left(-\frac{\|f_p-f_q\|^2}{2\sigma_p\sigma_q}\right), \qquad \sigma_p = R_p^K

    Parameters
    ----------
    n_neighbors : int, default=7
        K: the bandwidth is the distance to the K-th nearest other point.
    memory : float, optional
        Bytes the affinity may take, by default a quarter of the free memory; above, rows are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> LocalScaling(n_neighbors=1).affinity(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    title = "Local scaling"
    settings = (NEIGHBORS,)

    n_neighbors: int = 7
    memory: float | None = None

    @for_tensors
    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The affinity of all pairs."""
        check_neighbors(self, len(X))
        sigma = knn_radius(X, self.n_neighbors, n_jobs=n_jobs)
        if is_tensor(X):
            return gaussian_pairs(X, sigma, "product")
        sigma = sigma.astype(X.dtype, copy=False)
        if not _holds_all(X, self.memory):
            return BlockwiseAffinity(GaussianBlocks(X, sigma, "product"), len(X), X.dtype, n_jobs=n_jobs)
        squared = squared_distances(X)
        squared /= sigma[:, None] * sigma
        return exp_half(squared)

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, each at its own distance to the K-th point of `X`."""
        return partial(self._rows, X, knn_radius(X, self.n_neighbors, n_jobs=n_jobs), n_jobs)

    def _rows(self, X: Points, sigma: Floats, n_jobs: int | None, Y: Points) -> AffinityLike:
        own = knn_radius(X, self.n_neighbors, at=Y, n_jobs=n_jobs)
        if is_tensor(X):
            return gaussian_pairs(Y, own, "product", X, sigma)
        return exp_half(squared_distances(np.asarray(Y, dtype=float) if is_dense(Y) else Y, X) / (own[:, None] * sigma))


def _holds_all(X: Any, memory: float | None) -> bool:
    """Whether all pairs fit in memory; points that are not rows of one array have no other way."""
    fits = keeps_in_memory(len(X), X.dtype, memory)
    if not fits and not is_dense(X):
        raise MemoryError(f"all pairs of {len(X)} points that are not rows of one array must be held")
    return fits


def _rows_at_one_bandwidth(
    X: Points, weights: Floats | None, points: Points, bandwidth: float | str | ArrayLike, Y: Points
) -> AffinityLike:
    white = whiten(Y, bandwidth, like=X, weights=weights)[0]
    if is_tensor(Y):
        return gaussian_pairs(white, 1.0, "gaussian", points)
    return exp_half(squared_distances(white, points))
