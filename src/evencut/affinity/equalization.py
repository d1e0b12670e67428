"""Making the density even: the transforms tau, the density law, and exact equalisation of an affinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .. import tensors
from ..tensors import Floats
from .matrix import Affinity, AffinityLike, as_affinity, scale_affinity


def density_law(
    density: ArrayLike,
    transform: str | Callable[[Floats], ArrayLike] = "constant",
    dimension: int = 1,
    *,
    alpha: float = 1.0,
) -> Floats:
    r"""Bandwidths, or weights, that turn the density :math:`\rho` into :math:`\tau(\rho)`.

    .. math:: \sigma_p \propto \sqrt[N]{\tau(\rho_p) / \rho_p}

    With the dimension N of the data these are adaptive bandwidths (eq. 59); with
    `dimension=1` they are adaptive point weights (eq. 43).

    Parameters
    ----------
    density : array of shape (n_samples,)
        Positive densities.
    transform : {"constant", "log", "identity"} or callable
        The density wanted: even, :math:`\frac1\alpha\log(1+\alpha\rho)`, unchanged, or any function.
    dimension : int
        Dimension N of the data, or 1 for weights.
    alpha : float
        Of the `"log"` transform: the larger, the more even.

    Examples
    --------
    >>> density_law([1.0, 4.0], "constant", dimension=2)
    array([1. , 0.5])
    """
    if tensors.is_tensor(density):
        return tensors.asarray_like(density, density_law(tensors.to_array(density), transform, dimension, alpha=alpha))
    rho = np.asarray(density, dtype=np.float64)
    if not (np.isfinite(rho).all() and (rho > 0).all()):
        raise ValueError(f"density must be positive and finite, but the smallest value is {rho.min():g}.")
    if dimension < 1:
        raise ValueError(f"dimension={dimension} must be at least 1.")
    if callable(transform):
        tau = np.asarray(transform(rho), dtype=np.float64)
    elif transform == "constant":
        tau = np.ones_like(rho)
    elif transform == "log":
        if not alpha > 0:
            raise ValueError(f"alpha={alpha} must be positive.")
        tau = np.log1p(alpha * rho) / alpha
    elif transform == "identity":
        tau = rho
    else:
        raise ValueError(
            f"transform={transform!r} is not known; choose 'constant', 'log', 'identity' or give a function."
        )
    if tau.shape != rho.shape or not (np.isfinite(tau).all() and (tau > 0).all()):
        raise ValueError("transform must give one positive, finite density for each point.")
    return (tau / rho) ** (1.0 / dimension)


def equalize(affinity: AffinityLike, *, weights: ArrayLike | None = None, tol: float = 1e-10) -> Any:
    r"""Exact equalisation: the affinity :math:`s_p s_q A_{pq}` in which all degrees are one.

    On it average association, normalised cut and average cut are the same criterion (eq. 68): no density is
    left to be biased by. The scaling is that of Sinkhorn; Zass and Shashua (2006) use it for
    spectral clustering.

    Parameters
    ----------
    affinity : ndarray or CSR array of shape (n, n)
        Symmetric and non-negative.
    weights, tol
        As in :func:`equalizing_scale`.

    Examples
    --------
    >>> import numpy as np
    >>> even = equalize(np.array([[1.0, 0.5], [0.5, 3.0]]))
    >>> even.sum(axis=1).round(8)
    array([1., 1.])
    """
    return scale_affinity(affinity, equalizing_scale(affinity, weights=weights, tol=tol))


@tensors.cpu_tensors_as_arrays
def equalizing_scale(
    affinity: AffinityLike, *, weights: ArrayLike | None = None, tol: float = 1e-10, start: Floats | None = None
) -> Floats:
    r"""The scale s with :math:`s_p (A s)_p = w_p`, to a relative error of `tol`.

    Parameters
    ----------
    affinity : ndarray, CSR array, lazy affinity, tensor or `evencut.gpu.sums.KernelSums` of shape (n, n)
        Symmetric and non-negative, with a positive diagonal (enough for s to exist) or at least
        total support.
    weights : array of shape (n,), optional
        The degrees wanted; one by default.
    tol : float
        Largest relative error of a degree; of a lazy affinity in float32, 1e-5 at least.
    start : array of shape (n,), optional
        A first guess, such as the scale of a similar affinity.

    Notes
    -----
    Damped sweeps :math:`s \leftarrow \sqrt{s w / (A s)}` remove the smooth errors at once; the
    oscillating ones that remain on nearly bipartite graphs are left to Newton steps.

    Examples
    --------
    >>> import numpy as np
    >>> equalizing_scale(4 * np.eye(2))
    array([0.5, 0.5])
    """
    affinity = as_affinity(affinity)
    smallest, own, degree = affinity.least(), affinity.diagonal(), affinity.degrees()
    _check_scalable(affinity, smallest, own)
    xp = np if isinstance(degree, np.ndarray) else tensors.array_namespace(degree)
    matrix: Any = affinity.array if affinity.graph is None else affinity.graph
    if matrix is None:
        # Rows computed on the fly are summed in their own precision, which sets a floor.
        tol = max(tol, 100 * float(xp.finfo(affinity.dtype).eps))
        matrix = affinity

    def product(vector: Any) -> Any:
        return xp.asarray(matrix @ vector, dtype=xp.float64)

    target = xp.ones_like(degree) if weights is None else tensors.as_float64(affinity.asarray(weights))
    scale = (target / degree) ** 0.5 if start is None else tensors.as_float64(affinity.asarray(start))
    for _ in range(100):
        degree = scale * product(scale)
        if _error(degree, target) <= tol:
            return scale
        scale = scale * (target / degree) ** 0.5
    scale = _newton(product, target, scale, tol)
    error = _error(scale * product(scale), target)
    if not error <= tol:
        raise ValueError(
            f"no scaling to equal degrees was found (relative error {error:.1e}, asked for {tol:.1e}); "
            "keep the diagonal of the affinity or add a small positive one."
        )
    return scale


def _newton(product: Callable[[Any], Any], target: NDArray, scale: NDArray, tol: float) -> Floats:
    """Newton's method on log s, matrix-free: each step solves (diag(r) + S A S) x = w - r."""
    for _ in range(60):
        degree = scale * product(scale)
        error = _error(degree, target)
        if error <= tol:
            break
        root = degree**0.5
        # Scaled by its diagonal the system is one plus a matrix of spectrum in (-1, 1], which is what CG wants.
        step = _conjugate_gradients(product, scale / root, (target - degree) / root, min(0.1, error)) / root
        scale = scale * tensors.array_namespace(step).exp(step.clip(-2, 2))
    return scale


def _conjugate_gradients(product: Callable[[Any], Any], scale: NDArray, right: NDArray, rtol: float) -> Floats:
    """The solution x of (1 + S A S) x = right, to a residual of `rtol` times the right side."""
    solution, residual = 0 * right, right
    direction, squared = residual, float(residual @ residual)
    target = rtol**2 * squared
    for _ in range(500):
        if squared <= target:
            break
        image = direction + scale * product(scale * direction)
        length = squared / float(direction @ image)
        solution, residual = solution + length * direction, residual - length * image
        squared, previous = float(residual @ residual), squared
        direction = residual + squared / previous * direction
    return solution


def _error(degree: Floats, target: Floats) -> float:
    return float(abs(degree / target - 1).max())


def _check_scalable(affinity: Affinity, smallest: float, own: Any) -> None:
    """Raise where no scaling exists: it does exactly for matrices of total support."""
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    cure = "keep the diagonal of the affinity or add a small positive one."
    if affinity.is_lazy:
        return
    if smallest < 0:
        raise ValueError(
            f"exact equalisation needs non-negative affinities, but the smallest is {smallest:g}; "
            "use equalize=None or 'weights'."
        )
    if (own > 0).all():
        return
    affinity = as_affinity(affinity.entries if affinity.array is None else tensors.to_array(affinity.array))
    empty = np.flatnonzero(affinity.degrees() == 0)
    if empty.size:
        raise ValueError(f"point {empty[0]} has no affinity to any point, so its degree cannot be scaled; {cure}")
    pattern = sparse.csr_array(affinity.entries)
    pattern.eliminate_zeros()
    match = maximum_bipartite_matching(pattern, perm_type="column")
    if (match < 0).any():
        raise ValueError(f"no scaling to equal degrees exists: the affinity has no support (such as a star); {cure}")
    # Total support: each entry lies on a full matching, that is inside one strong component of
    # the graph in which every row is glued to the column it is matched with.
    _, component = connected_components(pattern[:, match], directed=True, connection="strong")
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    glued = np.empty_like(match)
    glued[match] = np.arange(len(match))
    if (component[rows] != component[glued[pattern.indices]]).any():
        raise ValueError(f"no scaling to equal degrees exists: the affinity lacks total support; {cure}")
