r"""The whole fit for all pairs of a kernel, points to labels, without the matrix and without leaving the device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .arrays import check_points
from .density import knn_radius
from .lloyd import improve_by_lloyd
from .problem import AllPairs, cluster_totals, pose
from .starts import sample_start, spectral_start
from .sums import KernelSums

__all__ = ["AllPairsFit", "adaptive_sums", "fit_all_pairs", "solve_all_pairs"]


@dataclass(frozen=True, eq=False)
class AllPairsFit:
    """Labels of the points, clusters by falling weight, and how they were found.

    Parameters
    ----------
    labels : Tensor of shape (n,), int64
    energy : float
    trace : tuple of float
        Energy of the start and after each step.
    converged : bool
    problem : AllPairs
        The problem solved, with the scale and the weights of the points.
    """

    labels: Tensor
    energy: float
    trace: tuple[float, ...]
    converged: bool
    problem: AllPairs


def adaptive_sums(X: Tensor, n_neighbors: int = 7, form: str = "mean") -> KernelSums:
    """Sums of the adaptive Gaussian kernel whose bandwidths are distances to the K-th nearest other point.

    Examples
    --------
    >>> import torch
    >>> adaptive_sums(torch.tensor([[0.0], [1.0], [3.0]]), 1).dense().round(decimals=3)
    tensor([[1.0000, 0.6070, 0.1680],
            [0.6070, 1.0000, 0.3710],
            [0.1680, 0.3710, 1.0000]], dtype=torch.float64)
    """
    X = check_points(X)
    return KernelSums(X, knn_radius(X, n_neighbors), form=form)


def fit_all_pairs(
    X: Tensor,
    n_clusters: int,
    *,
    n_neighbors: int = 7,
    form: str = "mean",
    criterion: str = "average_association",
    equalize: str | None = None,
    n_init: int = 4,
    max_iter: int = 100,
    seed: int = 0,
) -> AllPairsFit:
    """Cluster points with all pairs of the adaptive Gaussian kernel.

    Parameters
    ----------
    X : Tensor of shape (n, n_features)
    n_clusters : int
    n_neighbors : int
        Of the bandwidths.
    form : {"mean", "product"}
        The mean of the kernels of both points, or one at the geometric mean of their bandwidths.
    criterion : {"average_association", "normalized_cut", "average_cut"}
    equalize : {None, "weights", "exact"}
    n_init : int
        Cuts of each spectrum.
    max_iter : int
    seed : int

    Examples
    --------
    >>> import torch
    >>> X = torch.tensor([[0.0], [1.0], [2.0], [20.0], [21.0], [22.0]])
    >>> fit_all_pairs(X, 2, n_neighbors=1, criterion="normalized_cut").labels
    tensor([0, 0, 0, 1, 1, 1])
    """
    problem = pose(adaptive_sums(X, n_neighbors, form), criterion, equalize)
    return solve_all_pairs(problem, n_clusters, n_init=n_init, max_iter=max_iter, seed=seed)


def solve_all_pairs(
    problem: AllPairs, n_clusters: int, *, n_init: int = 4, max_iter: int = 100, seed: int = 0
) -> AllPairsFit:
    """The better of the labellings found by Lloyd steps from the spectrum of a sample and from that of all points.

    Examples
    --------
    >>> import torch
    >>> problem = pose(KernelSums(torch.tensor([[0.0], [1.0], [10.0], [11.0]]), 1.0))
    >>> solve_all_pairs(problem, 2).labels
    tensor([0, 0, 1, 1])
    """
    if not 1 <= n_clusters <= problem.n_points:
        raise ValueError(f"n_clusters={n_clusters} must be between 1 and the number of points, {problem.n_points}.")
    generator = torch.Generator().manual_seed(seed)
    starts = (start(problem, n_clusters, n_init, generator) for start in (sample_start, spectral_start))
    ends = [improve_by_lloyd(problem, start, n_clusters, max_iter=max_iter) for start in starts if start is not None]
    found = min(ends, key=lambda end: end.trace[-1])
    labels = _heaviest_first(found.labels, problem.weights, n_clusters)
    return AllPairsFit(labels, found.trace[-1], found.trace, found.converged, problem)


def _heaviest_first(labels: Tensor, weights: Tensor, n_clusters: int) -> Tensor:
    """The same clusters numbered by falling weight; of equal ones, the one that appears first comes first."""
    total = cluster_totals(weights, labels, n_clusters)
    places = torch.arange(len(labels), device=labels.device)
    first = torch.full((n_clusters,), len(labels), device=labels.device)
    first.scatter_reduce_(0, labels, places, reduce="amin")
    # Rounding must not decide between equal clusters.
    order = first.argsort(stable=True)
    order = order[(-(total / total.max()).round(decimals=9))[order].argsort(stable=True)]
    rank = torch.empty_like(order)
    rank[order] = torch.arange(n_clusters, device=labels.device)
    return rank[labels]
