"""The same results in a few lines of plain torch, in float64: what the fused kernels are tested against.

They also serve tensors on the CPU, in blocks of bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .arrays import block_rows


def squared_distances(X: Tensor, Y: Tensor) -> Tensor:
    """Squared distances between all rows in float64, about the middle of Y, where they do not cancel.

    Examples
    --------
    >>> import torch
    >>> squared_distances(torch.tensor([[0.0]]), torch.tensor([[3.0]]))
    tensor([[9.]], dtype=torch.float64)
    """
    X, Y = X.double(), Y.double()
    centre = Y.mean(dim=0)
    X, Y = X - centre, Y - centre
    squared = (X * X).sum(dim=1)[:, None] + (Y * Y).sum(dim=1) - 2 * (X @ Y.T)
    return squared.clamp_(min=0)


def affinities(squared: Tensor, form: str, x_bandwidth: Tensor, y_bandwidth: Tensor) -> Tensor:
    """Affinities at squared distances, given the bandwidths of rows and columns.

    Examples
    --------
    >>> import torch
    >>> one = torch.ones(1, dtype=torch.float64)
    >>> affinities(torch.tensor([[2.0]], dtype=torch.float64), "mean", one, one).round(decimals=3)
    tensor([[0.3680]], dtype=torch.float64)
    """
    if form == "mean":
        by_row = torch.exp(-0.5 * squared / x_bandwidth[:, None] ** 2)
        return 0.5 * (by_row + torch.exp(-0.5 * squared / y_bandwidth**2))
    return torch.exp(-0.5 * squared / (x_bandwidth[:, None] * y_bandwidth))


def kernel_sums(X: Tensor, Y: Tensor, V: Tensor, form: str, x_bandwidth: Tensor, y_bandwidth: Tensor) -> Tensor:
    """K(X, Y) V in float64, a block of rows at a time.

    Examples
    --------
    >>> import torch
    >>> x, one = torch.zeros(2, 1), torch.ones(2, dtype=torch.float64)
    >>> kernel_sums(x, x, torch.ones(2, 1), "product", one, one)
    tensor([[2.],
            [2.]], dtype=torch.float64)
    """
    V = V.double()
    sums = torch.empty((len(X), V.shape[1]), dtype=torch.float64, device=X.device)
    step = block_rows(len(X), 40 * len(Y), X.device, what="a sum of kernels")
    for first in range(0, len(X), step):
        rows = slice(first, first + step)
        sums[rows] = affinities(squared_distances(X[rows], Y), form, x_bandwidth[rows], y_bandwidth) @ V
    return sums


def nearest(X: Tensor, n_neighbors: int, queries: Tensor) -> tuple[Tensor, Tensor]:
    """Distances and indices of the nearest points in float64, ties by index.

    Candidates come from products; rows where their rounding might hide a neighbour are searched again by differences.

    Examples
    --------
    >>> import torch
    >>> nearest(torch.tensor([[0.0], [1.0], [3.0]]), 2, torch.tensor([[0.9]]))[1]
    tensor([[1, 0]])
    """
    X, queries = X.double(), queries.double()
    norms = torch.linalg.vector_norm(queries - X.mean(dim=0), dim=1)
    ranked = _ranked(X, n_neighbors, queries, squared_distances)
    reach, beyond = ranked.distances[:, -1], ranked.beyond
    # All points within reach are at most this far from the middle, so its product is off by no more than the doubt.
    doubt = (X.shape[1] + 8) * torch.finfo(torch.float64).eps * (2 * norms + reach) ** 2
    unsure = ((reach > 0) & ~(reach**2 <= beyond - doubt)).nonzero()[:, 0]
    if len(unsure):
        again = _ranked(X, n_neighbors, queries[unsure], _squared_differences)
        ranked.distances[unsure], ranked.indices[unsure] = again.distances, again.indices
    return ranked.distances, ranked.indices


class _Ranked(NamedTuple):
    """The nearest points, and the least rough squared distance of those that were not looked at."""

    distances: Tensor
    indices: Tensor
    beyond: Tensor


def _ranked(X: Tensor, n_neighbors: int, queries: Tensor, distances_by: Callable[[Tensor, Tensor], Tensor]) -> _Ranked:
    """The nearest by rough squared distances and a few more, ranked by differences, a block of queries at a time."""
    spare = min(n_neighbors + 4, len(X))
    distances = torch.empty((len(queries), n_neighbors), dtype=torch.float64, device=X.device)
    indices = torch.empty((len(queries), n_neighbors), dtype=torch.int64, device=X.device)
    beyond = torch.full((len(queries),), torch.inf, dtype=torch.float64, device=X.device)
    step = block_rows(len(queries), 32 * len(X), X.device, most=4096, what="a search for neighbours")
    for first in range(0, len(queries), step):
        rows = slice(first, first + step)
        candidates = torch.topk(distances_by(queries[rows], X), min(spare + 1, len(X)), largest=False)
        if candidates.values.shape[1] > spare:
            beyond[rows] = candidates.values[:, spare]
        chosen = candidates.indices[:, :spare].sort(dim=1).values
        offsets = queries[rows][:, None] - X[chosen]
        squared, order = torch.sort((offsets * offsets).sum(dim=2), dim=1, stable=True)
        distances[rows] = squared[:, :n_neighbors].sqrt()
        indices[rows] = chosen.gather(1, order[:, :n_neighbors])
    return _Ranked(distances, indices, beyond)


def _squared_differences(X: Tensor, Y: Tensor) -> Tensor:
    return torch.cdist(X, Y, compute_mode="donot_use_mm_for_euclid_dist").square_()


def pair_distances(X: Tensor, Y: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Squared distances of the rows of X at `left` to those of Y at `right`, in float64.

    Examples
    --------
    >>> import torch
    >>> x = torch.tensor([[0.0], [2.0]])
    >>> pair_distances(x, x, torch.tensor([0]), torch.tensor([1]))
    tensor([4.], dtype=torch.float64)
    """
    squared = torch.empty(len(left), dtype=torch.float64, device=X.device)
    step = block_rows(len(left), 32 * X.shape[1], X.device, what="a list of distances")
    for first in range(0, len(left), step):
        place = slice(first, first + step)
        offsets = X[left[place]].double() - Y[right[place]].double()
        squared[place] = (offsets * offsets).sum(dim=1)
    return squared


def common_counts(lists: Tensor, other: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """How many entries row `left` of `lists` and row `right` of `other` have in common.

    Examples
    --------
    >>> import torch
    >>> lists = torch.tensor([[0, 1], [1, 2]])
    >>> common_counts(lists, lists, torch.tensor([0]), torch.tensor([1]))
    tensor([1], dtype=torch.int32)
    """
    counts = torch.empty(len(left), dtype=torch.int32, device=lists.device)
    step = block_rows(len(left), lists.shape[1] * (other.shape[1] * 2 + 24), lists.device, what="a list of pairs")
    for first in range(0, len(left), step):
        place = slice(first, first + step)
        same = lists[left[place]][:, :, None] == other[right[place]][:, None, :]
        counts[place] = same.sum(dim=(1, 2), dtype=torch.int32)
    return counts


#: One over the natural logarithm of two: exponents of e become exponents of two.
LOG2_E = 1 / math.log(2)
