"""Points in a Euclidean space for what a kernel sees: Theorem 3's embedding, scaling to 2-D or 3-D, kernel PCA.

Adaptive kernels are fixed kernels after such an embedding, and any criterion is k-means after another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.sparse.linalg import eigsh

from ..criteria import RatioProblem
from ..solvers.spectral import leading_of_dense
from ..tensors import Floats

__all__ = [
    "classical_mds", "embedded_profile", "euclidean_embedding", "euclidean_shift", "kernel_pca", "metric_mds",
]  # fmt: skip


def euclidean_shift(squared_distances: ArrayLike) -> float:
    r"""The smallest constant :math:`h^2` that makes distances Euclidean (eq. 50, Theorem 3).

    .. math:: \widetilde d^2_{pq} = d^2_{pq} + h^2 [p \ne q], \qquad
              h^2 = \max(0, -2\lambda_{\min}(-\tfrac12 J D J))

    with D the squared distances and J the centring matrix; zero where they are Euclidean already. Squared
    distances may be negative, as the modified distances of normalised cut can be.

    Examples
    --------
    >>> import numpy as np
    >>> round(euclidean_shift([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]]), 4)
    1.6667
    """
    gram = _centred_gram(_check_squared(squared_distances))
    # The constant vector has the eigenvalue zero; the lowest is one of the others, or none is negative.
    lowest = float(np.linalg.eigvalsh(gram)[0])
    return -2.0 * lowest if lowest < -1e-12 * float(np.abs(gram).max()) else 0.0


def euclidean_embedding(squared_distances: ArrayLike) -> tuple[Floats, float]:
    r"""Points whose distances are :math:`\widetilde d_{pq}`, and the constant :math:`h^2` (eqs 50, 54, 55 and 64).

    Returns
    -------
    points : ndarray of shape (n_samples, n_dimensions)
        :math:`\|f'_p - f'_q\|^2 = d^2_{pq} + h^2[p \ne q]`, in as few dimensions as that needs.
    shift : float
        :math:`h^2`, the smallest possible.

    Examples
    --------
    >>> points, shift = euclidean_embedding([[0.0, 4.0], [4.0, 0.0]])
    >>> shift, abs(points[0, 0] - points[1, 0]).round(6)
    (0.0, np.float64(2.0))
    """
    squared = _check_squared(squared_distances)
    shift = euclidean_shift(squared)
    shifted = squared + shift * (1 - np.eye(len(squared)))
    values, vectors = np.linalg.eigh(_centred_gram(shifted))
    positive = values > 1e-10 * max(values[-1], np.finfo(float).tiny)
    return (vectors[:, positive] * np.sqrt(values[positive]))[:, ::-1], shift


def embedded_profile(profile: Callable[[NDArray], NDArray], shift: float) -> Callable[[ArrayLike], NDArray]:
    r"""The radial function that makes the embedded kernel equal the geodesic one (eq. 51).

    .. math:: \psi'(t) = \psi\left(\sqrt{t^2 - h^2 [t \ge h]}\right)

    Parameters
    ----------
    profile : callable
        :math:`\psi`, of distances.
    shift : float
        :math:`h^2`.

    Examples
    --------
    >>> import numpy as np
    >>> embedded_profile(lambda t: np.exp(-(t**2) / 2), 9.0)(5.0).round(6) == np.exp(-8.0).round(6)
    np.True_
    """
    if not shift >= 0:
        raise ValueError(f"shift={shift!r}, the square of h, must be zero or more.")

    def embedded(t: ArrayLike) -> NDArray:
        squared = np.asarray(t, dtype=np.float64) ** 2
        # Rounding must not push a distance of exactly h below the step.
        return profile(np.sqrt(np.where(squared >= shift * (1 - 1e-9), np.maximum(squared - shift, 0), squared)))

    return embedded


def classical_mds(squared_distances: ArrayLike, n_components: int = 2) -> Floats:
    """Coordinates by classical scaling: the leading eigenvectors of the centred Gram matrix.

    Examples
    --------
    >>> points = classical_mds([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]], n_components=1)
    >>> abs(points[0, 0] - points[2, 0]).round(6)
    np.float64(2.0)
    """
    squared = _check_squared(squared_distances)
    _check_components(n_components, len(squared))
    values, vectors = leading_of_dense(_centred_gram(squared), n_components)
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1]


def metric_mds(
    squared_distances: ArrayLike,
    n_components: int = 2,
    weights: ArrayLike | None = None,
    max_iter: int = 300,
) -> Floats:
    r"""Points in few dimensions with the best fit of squared distances (figure "inverse density embedding").

    .. math:: \min_y \sum_{pq} \omega_{pq} \left(\hat d^2_{pq} - \|y_p - y_q\|^2\right)^2

    It starts at :func:`classical_mds` and descends by L-BFGS; squared distances may be negative.

    Parameters
    ----------
    squared_distances : array of shape (n_samples, n_samples)
    n_components : int, default=2
    weights : array of shape (n_samples, n_samples), optional
        How much each pair counts; symmetric, none negative. By default all count the same.
    max_iter : int, default=300
        The largest number of steps.

    Returns
    -------
    ndarray of shape (n_samples, n_components)

    Examples
    --------
    >>> points = metric_mds([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]], n_components=1)
    >>> abs(points[0, 0] - points[2, 0]).round(4)
    np.float64(2.0)
    """
    squared = _check_squared(squared_distances)
    n_points = len(squared)
    weights = np.ones_like(squared) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != squared.shape or not (weights >= 0).all():
        raise ValueError(f"weights must be a table of {squared.shape} numbers, none negative.")
    weights = 0.5 * (weights + weights.T)
    start = classical_mds(squared, n_components)
    # In units of the data's size the descent's own stopping rule means the same for any data.
    unit = float(np.abs(squared).max()) or 1.0
    target, norm = squared / unit, float(weights.sum()) or 1.0

    def misfit(flat: Floats) -> tuple[float, Floats]:
        y = flat.reshape(n_points, n_components)
        length = np.einsum("pi,pi->p", y, y)
        residual = length[:, None] + length - 2 * y @ y.T - target
        error = weights * residual
        value = float(np.sum(error * residual))
        slope = 8 * (error.sum(axis=1)[:, None] * y - error @ y)
        return value / norm, slope.ravel() / norm

    options = {"maxiter": max_iter, "ftol": 1e-15, "gtol": 1e-10}
    solution = minimize(misfit, start.ravel() / np.sqrt(unit), jac=True, method="L-BFGS-B", options=options)
    return solution.x.reshape(n_points, n_components) * np.sqrt(unit)


def kernel_pca(problem: RatioProblem, n_components: int, random_state: int = 0) -> Floats:
    r"""Low-rank coordinates in which a criterion is weighted k-means (Section 6; eqs 3, 4, 5 and 7).

    .. math:: W^{-1/2} M W^{-1/2} \approx U \Lambda U^T, \qquad \phi_p = w_p^{-1/2}\, U_p \Lambda^{1/2}

    With all positive eigenvalues of a positive semidefinite matrix the k-means energy of :math:`\phi` under
    weights w is the energy of the criterion plus the constant :math:`\sum_p M_{pp}/w_p`; fewer approximate it.

    Parameters
    ----------
    problem : RatioProblem
        Any criterion, from :mod:`evencut.criteria`.
    n_components : int
        The rank; negative eigenvalues are never used.
    random_state : int, default=0
        Start of the iteration for sparse matrices.

    Returns
    -------
    ndarray of shape (n_samples, at most n_components)

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> kernel_pca(average_association(np.eye(3)), n_components=2).shape
    (3, 2)
    """
    n_points = len(problem.weights)
    _check_components(n_components, n_points)
    root = np.sqrt(np.asarray(problem.weights, dtype=np.float64))
    values, vectors = _leading_of(problem, 1.0 / root, n_components, random_state)
    order = np.argsort(values)[::-1]
    order = order[values[order] > 1e-12 * max(float(np.abs(values).max()), np.finfo(float).tiny)]
    return vectors[:, order] * np.sqrt(values[order]) / root[:, None]


def _leading_of(problem: RatioProblem, scale: Floats, n_components: int, seed: int) -> tuple[Floats, Floats]:
    """Leading eigenpairs of the scaled matrix; iteratively only if it is sparse and much larger than the rank."""
    n_points = len(problem.weights)
    own = 0.0 if problem.diagonal is None else problem.diagonal
    array = problem.matrix.array
    if array is not None or n_components >= n_points // 3 or n_points <= 500:
        dense = problem.matrix @ np.eye(n_points) if array is None else array
        full = scale[:, None] * (dense + np.diag(np.broadcast_to(own, n_points))) * scale
        return leading_of_dense(full, n_components)
    from scipy.sparse.linalg import LinearOperator

    def product(x: Floats) -> Floats:
        x = np.ravel(x)
        return scale * (problem.matrix @ (scale * x) + own * scale * x)

    operator = LinearOperator((n_points, n_points), matvec=product, dtype=np.float64)
    start = np.random.default_rng(seed).normal(size=n_points)
    return eigsh(operator, k=n_components, which="LA", v0=start)


def _centred_gram(squared: Floats) -> Floats:
    rows = squared.mean(axis=0)
    return -0.5 * (squared - rows - rows[:, None] + rows.mean())


def _check_squared(squared: ArrayLike) -> Floats:
    squared = np.array(squared, dtype=np.float64)
    if squared.ndim != 2 or squared.shape[0] != squared.shape[1]:
        raise ValueError(f"squared distances must be a square table, but the array has shape {squared.shape}.")
    if not np.isfinite(squared).all():
        raise ValueError("squared distances must be finite; points of different components have no distance.")
    if not np.allclose(squared, squared.T, rtol=1e-8, atol=1e-10 * max(1.0, np.abs(squared).max(initial=0))):
        raise ValueError("squared distances must be symmetric.")
    # Only distances between different points mean anything; a point is at distance zero from itself.
    np.fill_diagonal(squared, 0.0)
    return 0.5 * (squared + squared.T)


def _check_components(n_components: int, n_points: int) -> None:
    if not 1 <= n_components <= n_points:
        raise ValueError(f"n_components={n_components} must be from 1 to the number of points, {n_points}.")
