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
from .tensors import to_array

__all__ = ["Graph", "common_counts", "half_radius", "neighbor_graph", "shared_neighbor_graph"]

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
        return sparse.csr_array(tuple(to_array(part) for part in parts), shape=(n_points, n_points))

    def taken(self, order: Tensor) -> Graph:
        """The same graph with its points in another order.

        Examples
        --------
        >>> import torch
        >>> graph = Graph(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.tensor([2.0, 3.0]))
        >>> graph.taken(torch.tensor([1, 0])).values
        tensor([3., 2.])
        """
        n_points = len(self.indptr) - 1
        place = torch.empty_like(order)
        place[order] = torch.arange(n_points, device=order.device)
        rows = torch.arange(n_points, device=order.device).repeat_interleave(self.indptr.diff())
        return _in_order(place[rows] * n_points + place[self.indices], self.values, n_points)

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
    p, q, _ = _pairs(indices)
    squared = pair_distances(X, X, p, q)
    radius = half_radius(distances)
    share = (torch.arange(n_near + 1, dtype=torch.float64, device=X.device) / n_near) ** power
    common = common_counts(indices, indices, p, q)
    affinity = torch.exp(-sharpness * squared / (radius[p] * radius[q])) * share[common.long()]
    return _symmetric(p, q, affinity.to(X.dtype), n_points)


def neighbor_graph(indices: Tensor, symmetrize: str, dtype: torch.dtype) -> Graph:
    """The graph of ones between neighbours, and on the diagonal, as the kernel of neighbours has it on the CPU.

    Parameters
    ----------
    indices : Tensor of shape (n, K)
        Each point first among its own neighbours.
    symmetrize : {"mean", "union", "mutual"}
        One-sided neighbours have an affinity of 1/2, 1 or 0.
    dtype : torch.dtype

    Examples
    --------
    >>> import torch
    >>> indices = torch.tensor([[0, 1], [1, 0], [2, 1]])
    >>> neighbor_graph(indices, "mean", torch.float32).values
    tensor([1.0000, 1.0000, 1.0000, 1.0000, 0.5000, 0.5000, 1.0000])
    """
    one_sided = {"mean": 0.5, "union": 1.0, "mutual": 0.0}
    if symmetrize not in one_sided:
        raise ValueError(f"symmetrize={symmetrize!r} is not known; choose one of {tuple(one_sided)}.")
    p, q, sides = _pairs(indices)
    if symmetrize == "mutual":
        both = sides == 2
        p, q, sides = p[both], q[both], sides[both]
    values = torch.where(sides == 2, 1.0, one_sided[symmetrize]).to(dtype)
    return _symmetric(p, q, values, len(indices), alone=1.0)


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


def _pairs(indices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Every pair of neighbours once, the smaller number first, in order, and whether it is from one side or two."""
    n_points, n_near = indices.shape
    rows = torch.arange(n_points, device=indices.device)[:, None].expand(-1, n_near)
    low, high = torch.minimum(rows, indices), torch.maximum(rows, indices)
    keys, sides = torch.unique((low * n_points + high)[low < high], return_counts=True)
    return keys // n_points, keys % n_points, sides


def _symmetric(p: Tensor, q: Tensor, values: Tensor, n_points: int, alone: float = _ALONE) -> Graph:
    """Both directions of every pair and the diagonal, as rows in order."""
    own = torch.arange(n_points, device=p.device)
    keys = torch.cat([p * n_points + q, q * n_points + p, own * (n_points + 1)])
    diagonal = torch.full((n_points,), alone, dtype=values.dtype, device=values.device)
    return _in_order(keys, torch.cat([values, values, diagonal]), n_points)


def _in_order(keys: Tensor, values: Tensor, n_points: int) -> Graph:
    """The graph of entries given by their places, row times n plus column."""
    keys, order = keys.sort()
    ends = torch.searchsorted(keys, torch.arange(n_points + 1, device=keys.device) * n_points)
    return Graph(ends, keys % n_points, values[order])


def half_radius(distances: Tensor) -> Tensor:
    """Distance to the (K/2)-th other neighbour; where copies of the point fill that place, to the next one apart.

    Examples
    --------
    >>> import torch
    >>> half_radius(torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0]]))
    tensor([2.], dtype=torch.float64)
    """
    half = max((distances.shape[1] - 1) // 2, 1)
    radius = distances[:, min(half, distances.shape[1] - 1)].double()
    apart = torch.where(distances > 0, distances.double(), torch.inf).amin(dim=1)
    apart = torch.where(torch.isfinite(apart), apart, 1.0)
    return torch.where(radius > 0, radius, apart)
