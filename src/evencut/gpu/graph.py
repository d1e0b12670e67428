r"""The shared-neighbour graph from neighbours already found, built where they are.

The same affinity as the kernel of that name on the CPU: locally scaled distance times a power of the share of
neighbours in common.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import naive
from .arrays import is_fused, launch_options
from .nearest import pair_distances

__all__ = ["Graph", "common_counts", "shared_neighbor_graph"]

# Affinity of a point with itself: too little to matter beside any neighbour.
_ALONE = 1e-10


class Graph(NamedTuple):
    """A symmetric sparse affinity: the columns and values of row p lie between indptr[p] and indptr[p + 1]."""

    indptr: Tensor
    indices: Tensor
    values: Tensor

    def to_scipy(self) -> Any:
        """The same as a scipy CSR array on the CPU.

        Examples
        --------
        >>> import torch
        >>> Graph(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([2.0])).to_scipy().toarray()
        array([[2.]], dtype=float32)
        """
        from scipy import sparse

        n_points = len(self.indptr) - 1
        small = len(self.indices) < 2**31
        index = torch.int32 if small else torch.int64
        parts = (self.values, self.indices.to(index), self.indptr.to(index))
        return sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=(n_points, n_points))

    def to_torch(self) -> Tensor:
        """The same as a sparse tensor on its device.

        Examples
        --------
        >>> import torch
        >>> Graph(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([2.0])).to_torch() @ torch.ones(1, 1)
        tensor([[2.]])
        """
        import warnings

        n_points = len(self.indptr) - 1
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse", category=UserWarning)
            return torch.sparse_csr_tensor(self.indptr, self.indices, self.values, size=(n_points, n_points))


def shared_neighbor_graph(
    X: Tensor, distances: Tensor, indices: Tensor, *, sharpness: float = 0.5, power: float = 6.0
) -> Graph:
    r"""Affinities of the union of all neighbourhoods.

    .. math:: A_{pq} = \exp\left(-s\,\frac{d_{pq}^2}{R_p R_q}\right)
              \left(\frac{|N_p \cap N_q|}{K + 1}\right)^{\gamma}, \qquad q \in N_p \text{ or } p \in N_q

    Parameters
    ----------
    X : Tensor of shape (n, n_features)
    distances, indices : Tensors of shape (n, K + 1)
        Each point first among its own neighbours, as :func:`evencut.gpu.nearest.nearest_to_points` gives them.
    sharpness, power : float
        s and gamma.

    Examples
    --------
    >>> import torch
    >>> from evencut.gpu.nearest import nearest_to_points
    >>> X = torch.arange(4.0)[:, None]
    >>> shared_neighbor_graph(X, *nearest_to_points(X, 2)).indptr
    tensor([ 0,  2,  5,  8, 10])
    """
    n_points, n_near = indices.shape
    indices = indices.contiguous()
    p, q = _pairs(indices)
    squared = pair_distances(X, X, p, q)
    radius = _radius(distances)
    share = (torch.arange(n_near + 1, dtype=torch.float64, device=X.device) / n_near) ** power
    common = common_counts(indices, indices, p, q)
    affinity = torch.exp(-sharpness * squared / (radius[p] * radius[q])) * share[common.long()]
    return _symmetric(p, q, affinity.to(X.dtype), n_points)


def common_counts(lists: Tensor, other: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """How many entries row `left` of `lists` and row `right` of `other` have in common; no row repeats an entry.

    Examples
    --------
    >>> import torch
    >>> lists = torch.tensor([[0, 1], [1, 2]])
    >>> common_counts(lists, lists, torch.tensor([0]), torch.tensor([1]))
    tensor([1], dtype=torch.int32)
    """
    if not is_fused(lists):
        return naive.common_counts(lists, other, left, right)
    from ._graph_triton import common_counts as fused

    counts = torch.empty(len(left), dtype=torch.int32, device=lists.device)
    length = lists.shape[1]
    how = {"LENGTH": length, "BLOCK_LENGTH": max(2, 1 << (length - 1).bit_length()), "BLOCK": 64}
    small = lists.to(torch.int32)
    theirs = small if other is lists else other.to(torch.int32)
    fused[(-(-len(left) // 64),)](small, theirs, left, right, counts, len(left), **how, **launch_options(lists, 4, 2))
    return counts


def _pairs(indices: Tensor) -> tuple[Tensor, Tensor]:
    """Every pair of neighbours once, the smaller number first, in order."""
    n_points, n_near = indices.shape
    rows = torch.arange(n_points, device=indices.device)[:, None].expand(-1, n_near)
    low, high = torch.minimum(rows, indices), torch.maximum(rows, indices)
    keys = torch.unique((low * n_points + high)[low < high])
    return keys // n_points, keys % n_points


def _symmetric(p: Tensor, q: Tensor, values: Tensor, n_points: int) -> Graph:
    """Both directions of every pair and the diagonal, as rows in order."""
    own = torch.arange(n_points, device=p.device)
    keys = torch.cat([p * n_points + q, q * n_points + p, own * (n_points + 1)])
    alone = torch.full((n_points,), _ALONE, dtype=values.dtype, device=values.device)
    keys, order = keys.sort()
    every = torch.cat([values, values, alone])[order]
    ends = torch.searchsorted(keys, torch.arange(n_points + 1, device=p.device) * n_points)
    return Graph(ends, keys % n_points, every)


def _radius(distances: Tensor) -> Tensor:
    """Distance to the (K/2)-th other neighbour; where copies of the point fill that place, to the next one apart."""
    half = max((distances.shape[1] - 1) // 2, 1)
    radius = distances[:, min(half, distances.shape[1] - 1)].double()
    apart = torch.where(distances > 0, distances.double(), torch.inf).amin(dim=1)
    apart = torch.where(torch.isfinite(apart), apart, 1.0)
    return torch.where(radius > 0, radius, apart)
