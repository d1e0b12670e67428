"""Densities and scales of tensors, where they are: on a GPU by fused kernels, in the memory of the CPU as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..gpu.tensors import is_tensor, to_array, to_tensor

__all__ = ["by_arrays", "density_on_device", "runs_on_device", "scale_on_device", "whiten_tensor"]


def runs_on_device(X: Any) -> bool:
    """Whether the fused kernels take this tensor; one in the memory of the CPU is an array as it is.

    Examples
    --------
    >>> import torch
    >>> runs_on_device(torch.zeros(1))
    False
    """
    return bool(X.is_cuda)


def by_arrays(function: Callable[..., Any], X: Any, *args: Any, **options: Any) -> Any:
    """What a function of arrays makes of tensors, as a tensor on their device.

    Examples
    --------
    >>> import numpy as np, torch
    >>> by_arrays(np.sqrt, torch.tensor([4.0]))
    tensor([2.])
    """
    given = [to_array(value) if is_tensor(value) else value for value in args]
    named = {name: to_array(value) if is_tensor(value) else value for name, value in options.items()}
    return to_tensor(function(to_array(X), *given, **named), X)


def density_on_device(function: Callable[..., Any], X: Any, given: Any, at: Any, **options: Any) -> Any:
    """One of the density estimates of tensors; `given` is its second argument, `options` are for the CPU alone.

    The function on the device has the same name and gives the same numbers.
    """
    if not runs_on_device(X):
        return by_arrays(function, X, given, at=at, **options)
    from ..gpu import density

    at = None if at is None else to_tensor(at, X)
    if function.__name__ != "parzen_density":
        return getattr(density, function.__name__)(X, given, at)
    points, log_volume = whiten_tensor(X, given)
    queries = None if at is None else whiten_tensor(at, given, like=X)[0]
    return density.parzen_density(points, 1.0, queries) * np.exp(-log_volume)


def scale_on_device(affinity: Any, weights: Any, tol: float, start: Any) -> Any:
    """The equalising scale of a dense tensor or of sums of kernels on a device."""
    from ..gpu.problem import DenseSums, equalizing_scale

    sums = DenseSums(affinity) if is_tensor(affinity) else affinity
    device = sums.like
    given = {name: None if value is None else to_tensor(value, device) for name, value in
             (("weights", weights), ("start", start))}  # fmt: skip
    return equalizing_scale(sums, tol=tol, **given)


def whiten_tensor(
    X: Any, bandwidth: float | str | ArrayLike, *, like: Any = None, weights: Any = None
) -> tuple[Any, float]:
    r"""Points measured in bandwidths and :math:`\log \det \Sigma^{1/2}`, as :func:`evencut.affinity.whiten`.

    Examples
    --------
    >>> import torch
    >>> whiten_tensor(torch.tensor([[0.0, 0.0], [2.0, 4.0]]), [1.0, 2.0])[0]
    tensor([[0., 0.],
            [2., 2.]])
    """
    import torch

    sigma = _bandwidth_of(X if like is None else like, bandwidth, weights)
    if sigma.ndim < 2:
        sigma = np.broadcast_to(sigma, X.shape[1:]).copy()
        return X / to_tensor(sigma, X).to(X.dtype), float(np.log(sigma).sum())
    factor = np.linalg.cholesky(sigma)
    solved = torch.linalg.solve_triangular(to_tensor(factor, X).to(X.dtype), X.T, upper=False).T
    return solved.contiguous(), float(np.log(np.diag(factor)).sum())


def _bandwidth_of(X: Any, bandwidth: float | str | ArrayLike, weights: Any) -> NDArray[np.float64]:
    """The bandwidth of tensors as a small array; only its rule looks at all points, and that on their device."""
    import torch

    from ..gpu.distinct import column_moments
    from .density import bandwidth_of, scott_from_variance, silverman_factor

    if not isinstance(bandwidth, str) or bandwidth not in ("scott", "silverman"):
        # The median distance takes a sample; numbers are only checked against the number of columns.
        step = -(-len(X) // 2000)
        given = to_array(bandwidth) if is_tensor(bandwidth) else bandwidth
        return bandwidth_of(to_array(X[::step]).astype(np.float64), given)
    counts = torch.ones(len(X), dtype=torch.float64, device=X.device) if weights is None else weights
    n_samples = max(float(counts.sum()), float(len(X)))
    sigma = scott_from_variance(to_array(column_moments(X, counts)[1]), n_samples)
    if bandwidth == "silverman":
        sigma = sigma * silverman_factor(X.shape[1])
    return np.where(sigma > 0, sigma, 1.0)
