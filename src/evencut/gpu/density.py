r"""How dense the data are at a point, on the device of the points: distances to neighbours and sums of kernels."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .arrays import check_points
from .nearest import nearest
from .sums import KernelSums

__all__ = ["knn_density", "knn_radius", "parzen_density"]


def knn_radius(X: Tensor, n_neighbors: int, at: Tensor | None = None) -> Tensor:
    r"""Distance :math:`R_p^K` to the K-th nearest other point, never zero.

    Examples
    --------
    >>> import torch
    >>> knn_radius(torch.tensor([[0.0], [1.0], [3.0]]), 1)
    tensor([1., 1., 2.], dtype=torch.float64)
    """
    X = check_points(X)
    wanted = n_neighbors + (at is None)
    radius = nearest(X, min(wanted, len(X)), at)[0][:, -1]
    spread = float(X.double().var(dim=0, correction=0).sum().sqrt())
    positive = radius > 1e-7 * spread
    smallest = float(torch.where(positive, radius, torch.inf).min())
    if not math.isfinite(smallest):
        smallest = 1e-7 * spread or 1.0
    return torch.where(positive, radius, smallest)


def knn_density(X: Tensor, n_neighbors: int, at: Tensor | None = None) -> Tensor:
    r"""Nearest-neighbour estimate :math:`K / (n V_K)` of the density.

    Examples
    --------
    >>> import torch
    >>> knn_density(torch.tensor([[0.0], [1.0], [3.0]]), 1).round(decimals=3)
    tensor([0.1670, 0.1670, 0.0830], dtype=torch.float64)
    """
    X = check_points(X)
    n_points, n_features = X.shape
    radius = knn_radius(X, n_neighbors, at)
    log_ball = 0.5 * n_features * math.log(math.pi) - math.lgamma(0.5 * n_features + 1)
    used = max(min(n_neighbors, n_points - (at is None)), 1)
    log_density = math.log(used / n_points) - log_ball - n_features * radius.log()
    # In hundreds of dimensions the value itself leaves the range of floats; keep it finite.
    return log_density.clamp(-700, 700).exp()


def parzen_density(X: Tensor, bandwidth: float | Tensor, at: Tensor | None = None) -> Tensor:
    r"""Parzen estimate with a Gaussian kernel (eq. 11) of one bandwidth, or one for each feature.

    Examples
    --------
    >>> import torch
    >>> parzen_density(torch.zeros(2, 1), 1.0).round(decimals=3)
    tensor([0.3990, 0.3990], dtype=torch.float64)
    """
    X = check_points(X)
    sigma = torch.as_tensor(bandwidth, dtype=torch.float64, device=X.device).expand(X.shape[1])
    points = X / sigma.to(X.dtype)
    sums = KernelSums(points if at is None else at / sigma.to(X.dtype), 1.0, Y=None if at is None else points)
    log_norm = -float(sigma.log().sum()) - 0.5 * X.shape[1] * math.log(2 * math.pi) - math.log(len(X))
    return sums(torch.ones(len(X), device=X.device)) * math.exp(log_norm)
