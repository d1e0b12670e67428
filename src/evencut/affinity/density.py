"""How dense the data are at a point: Parzen and nearest-neighbour estimates, and rules for the bandwidth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..neighbors import is_dense, kneighbors, squared_distances
from ..points.scale import column_moments
from ..tensors import Floats, array_namespace, as_float64, asarray_like, cpu_tensors_as_arrays, is_tensor, to_array


def scott_bandwidth(X: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    r"""Scott's rule of thumb, one bandwidth for each feature (eq. 14).

    .. math:: \sqrt{\Sigma_{ii}} = r_i \, n^{-1/(N+4)}

    with :math:`r_i` the standard deviation of feature i, n points and N features. A point of weight w counts as w
    points.

    Examples
    --------
    >>> scott_bandwidth([[0.0], [2.0]]).round(3)
    array([1.231])
    """
    X = _points(X)
    n_samples = float(len(X))
    if weights is not None:
        # Weights below one are shares of a point, not fewer points.
        n_samples = max(float(as_float64(weights).sum()), n_samples)
    variance = column_moments(X, weights)[1]
    spread = np.sqrt(variance * (n_samples / (n_samples - 1) if n_samples > 1 else 1.0))
    return np.asarray(spread * n_samples ** (-1.0 / (len(variance) + 4)))


def silverman_bandwidth(X: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    r"""Silverman's rule of thumb, one bandwidth for each feature.

    .. math:: \sqrt{\Sigma_{ii}} = r_i \left(\frac{4}{(N+2)\,n}\right)^{1/(N+4)}

    Examples
    --------
    >>> silverman_bandwidth([[0.0], [2.0]]).round(3)
    array([1.304])
    """
    X = _points(X)
    return scott_bandwidth(X, weights) * (4.0 / (X.shape[1] + 2)) ** (1.0 / (X.shape[1] + 4))


def whiten(
    X: ArrayLike, bandwidth: float | str | ArrayLike, *, like: ArrayLike | None = None, weights: ArrayLike | None = None
) -> tuple[Floats, float]:
    r"""Points measured in bandwidths, :math:`\Sigma^{-1/2} x`, and :math:`\log \det \Sigma^{1/2}` (eq. 12).

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    bandwidth : float, array of shape (n_features,), array of shape (n_features, n_features), or a rule
        One sigma, one a feature, a full matrix Sigma, or `"scott"`, `"silverman"`, `"median"`
        (the median distance between points).
    like : array, optional
        The data a rule is applied to, where not `X` itself.
    weights : array, optional
        How many points each of the data stands for.

    Examples
    --------
    >>> points, log_volume = whiten([[0.0, 0.0], [2.0, 4.0]], [1.0, 2.0])
    >>> points
    array([[0., 0.],
           [2., 2.]])
    """
    X = _points(X)
    sigma = bandwidth_of(X if like is None else _points(like), bandwidth, weights)
    xp = array_namespace(X)
    if sigma.ndim < 2:
        sigma = np.broadcast_to(sigma, X.shape[1:])
        return X / xp.asarray(asarray_like(X, sigma), dtype=X.dtype), float(np.log(sigma).sum())
    factor = np.linalg.cholesky(sigma)
    white = xp.linalg.solve(xp.asarray(asarray_like(X, factor), dtype=X.dtype), X.T).T
    return white, float(np.log(np.diag(factor)).sum())


@cpu_tensors_as_arrays
def parzen_density(X: ArrayLike, bandwidth: float | str | ArrayLike = "scott", at: ArrayLike | None = None) -> Floats:
    r"""Parzen estimate with a Gaussian kernel of unit volume (eqs 11, 12), near the density where it suits (eq. 24).

    .. math:: \rho(x) = \frac1n \sum_q |2\pi\Sigma|^{-1/2} \exp\left(-\tfrac12 (x-f_q)^T\Sigma^{-1}(x-f_q)\right)

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    bandwidth : float, array or rule
        As in :func:`whiten`.
    at : array of shape (n_queries, n_features), optional
        Where to estimate; at the points themselves by default.

    Examples
    --------
    >>> parzen_density([[0.0], [0.0]], bandwidth=1.0).round(3)
    array([0.399, 0.399])
    """
    points, log_volume = whiten(X, bandwidth)
    queries = points if at is None else whiten(asarray_like(points, at), bandwidth, like=X)[0]
    norm = float(np.exp(-log_volume - 0.5 * points.shape[1] * np.log(2 * np.pi))) / len(points)
    if is_tensor(points):
        from .lazy import gaussian_pairs

        return norm * gaussian_pairs(queries, 1.0, "gaussian", points).degrees()
    return norm * gaussian_sums(queries, points)


def gaussian_sums(queries: Any, points: Any, sigma: Any = 1.0, log_volume: Any = 0.0) -> Floats:
    """Sums of Gaussian kernels at the points, of any bandwidths and volumes, a block of queries at a time."""
    step = max(1, 4_000_000 // len(points))
    blocks = (queries[first : first + step] for first in range(0, len(queries), step))
    exponents = (-0.5 * squared_distances(block, points) / sigma**2 - log_volume for block in blocks)
    return np.concatenate([np.exp(exponent).sum(axis=1) for exponent in exponents])


@cpu_tensors_as_arrays
def knn_radius(X: ArrayLike, n_neighbors: int, at: ArrayLike | None = None, n_jobs: int | None = None) -> Floats:
    r"""Distance :math:`R_p^K` to the K-th nearest other point; never zero.

    Where K or more points coincide the radius is the smallest positive one found, so that
    densities and bandwidths stay finite. Tensors give a tensor, on their device.

    Examples
    --------
    >>> knn_radius([[0.0], [1.0], [3.0]], 1)
    array([1., 1., 2.])
    """
    points: Any = _points(X) if is_dense(X) else X
    if at is None:
        radius = kneighbors(points, n_neighbors + 1, n_jobs=n_jobs)[0][:, -1]
    else:
        queries: Any = _points(asarray_like(points, at)) if is_dense(at) else at
        radius = kneighbors(points, n_neighbors, at=queries, n_jobs=n_jobs)[0][:, -1]
    # Distances between sparse rows of equal values, and those somebody computed, may be rounding errors.
    spread = float(np.sqrt(column_moments(points)[1].sum())) if is_dense(X) else float(radius.max())
    positive = radius > 1e-7 * spread
    smallest = float(radius[positive].min()) if positive.any() else (1e-7 * spread or 1.0)
    return array_namespace(radius).where(positive, radius, smallest)


@cpu_tensors_as_arrays
def knn_density(X: ArrayLike, n_neighbors: int, at: ArrayLike | None = None, n_jobs: int | None = None) -> Floats:
    r"""Nearest-neighbour estimate of the density (eq. 60).

    .. math:: \rho_p \approx \frac{K}{n V_K}

    with :math:`V_K` the volume of the ball that reaches the K-th nearest other point.

    Examples
    --------
    >>> knn_density([[0.0], [1.0], [3.0]], 1).round(3)
    array([0.167, 0.167, 0.083])
    """
    from scipy.special import gammaln

    X = _points(X)
    n_samples, n_features = X.shape
    radius = knn_radius(X, n_neighbors, at, n_jobs)
    log_ball = 0.5 * n_features * np.log(np.pi) - float(gammaln(0.5 * n_features + 1))
    used = min(n_neighbors, n_samples - (at is None))
    xp = array_namespace(radius)
    log_density = float(np.log(max(used, 1) / n_samples) - log_ball) - n_features * xp.log(radius)
    # In hundreds of dimensions the value itself leaves the range of floats; keep it finite.
    return xp.exp(log_density.clip(-700, 700))


def bandwidth_of(X: Floats, bandwidth: float | str | ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """A rule, number, vector or matrix as an array; spreads of constant features count as one."""
    if isinstance(bandwidth, str):
        rules = {"scott": scott_bandwidth, "silverman": silverman_bandwidth, "median": _median_distance}
        if bandwidth not in rules:
            raise ValueError(f"bandwidth={bandwidth!r} is not a rule; give a number, array or one of {sorted(rules)}.")
        sigma = np.asarray(rules[bandwidth](X, weights), dtype=np.float64)
        return np.where(sigma > 0, sigma, 1.0)
    sigma = as_float64(to_array(bandwidth))
    n_features = X.shape[1]
    if sigma.shape not in ((), (n_features,), (n_features, n_features)):
        raise ValueError(
            f"bandwidth has shape {sigma.shape}; with {n_features} features give one number, "
            f"{n_features} numbers or a {n_features} x {n_features} matrix."
        )
    if sigma.ndim == 2:
        if not np.allclose(sigma, sigma.T) or np.linalg.eigvalsh(sigma)[0] <= 0:
            raise ValueError("bandwidth must be a symmetric positive definite matrix Sigma.")
    elif not (np.isfinite(sigma).all() and (sigma > 0).all()):
        raise ValueError(f"bandwidth={bandwidth!r} must be positive and finite.")
    return sigma


def _median_distance(X: Floats, weights: ArrayLike | None = None) -> float:
    """Of distinct points; how often one occurs says nothing about lengths."""
    from scipy.spatial.distance import pdist

    step = -(-len(X) // 2000)
    return float(np.median(pdist(as_float64(to_array(X[::step]))))) if len(X) > 1 else 1.0


def _points(X: Any) -> Floats:
    """Points in double precision; tensors unchanged, whose kernels keep their precision."""
    if is_tensor(X):
        from ..gpu.arrays import check_tensor

        return check_tensor(X)
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"points must be a 2-D array (n_samples, n_features), but the array has shape {X.shape}.")
    return X.astype(np.float64, copy=False)
