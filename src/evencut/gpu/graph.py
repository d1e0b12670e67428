"""Graphs of neighbours on their device: the lists joined with their mirror image, and what neighbours share."""

from __future__ import annotations

import torch
from torch import Tensor

from . import naive
from .arrays import is_fused, launch_options
from .nearest import pair_distances


def union_of_lists(indices: Tensor, one_sided: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """Every pair of which one has the other on its list, or each the other, as rows in order, both ways.

    Parameters
    ----------
    indices : Tensor of shape (n, K)
        No point twice in a row.
    one_sided : bool
        Whether it is enough that one has the other.

    Returns
    -------
    indptr, columns : Tensors of whole numbers
        32-bit where they fit.
    both : Tensor of bool
        For each entry, whether each has the other.

    Examples
    --------
    >>> import torch
    >>> union_of_lists(torch.tensor([[0, 1], [1, 0], [2, 1]]))[:2]
    (tensor([0, 2, 5, 7], dtype=torch.int32), tensor([0, 1, 0, 1, 2, 1, 2], dtype=torch.int32))
    """
    n_points, n_near = indices.shape
    rows = torch.arange(n_points, device=indices.device)[:, None].expand(-1, n_near)
    low, high = torch.minimum(rows, indices), torch.maximum(rows, indices)
    keys, sides = torch.unique(low * n_points + high, return_counts=True)
    low, high = keys // n_points, keys % n_points
    both = (sides == 2) | (low == high)
    if not one_sided:
        low, high, both = low[both], high[both], both[both]
    apart = low != high
    keys, order = torch.cat([low * n_points + high, (high * n_points + low)[apart]]).sort()
    ends = torch.searchsorted(keys, torch.arange(n_points + 1, device=keys.device) * n_points)
    index = torch.int32 if len(keys) < 2**31 else torch.int64
    return ends.to(index), (keys % n_points).to(index), torch.cat([both, both[apart]])[order]


def shared_affinities(
    queries: Tensor,
    points: Tensor,
    pairs: tuple[Tensor, Tensor],
    lists: tuple[Tensor, Tensor],
    radius: tuple[Tensor, Tensor],
    shape: tuple[float, float],
) -> Tensor:
    r"""Affinities of the shared-neighbour kernel for listed pairs of queries and points.

    .. math:: \exp\left(-s\,\frac{d_{pq}^2}{R_p R_q}\right) \left(\frac{|N_p \cap N_q|}{K + 1}\right)^{\gamma}

    Parameters
    ----------
    queries, points : Tensors of shapes (m, n_features) and (n, n_features)
    pairs : two Tensors of whole numbers
        The number of the query and that of the point.
    lists, radius : two Tensors each
        Neighbours of queries and points, and the radius about them.
    shape : two float
        s and gamma.

    Examples
    --------
    >>> import torch
    >>> x, lists, radius = torch.tensor([[0.0], [1.0]]), torch.tensor([[0, 1], [1, 0]]), torch.ones(2)
    >>> pairs = torch.tensor([0]), torch.tensor([1])
    >>> shared_affinities(x, x, pairs, (lists, lists), (radius, radius), (0.5, 6.0)).round(decimals=3)
    tensor([0.6070], dtype=torch.float64)
    """
    p, q = pairs
    n_near = lists[1].shape[1]
    share = (torch.arange(n_near + 1, dtype=torch.float64, device=points.device) / n_near) ** shape[1]
    exponent = pair_distances(queries, points, p, q) / (radius[0][p] * radius[1][q])
    return torch.exp(-shape[0] * exponent) * share[common_counts(*lists, p, q).long()]


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
    small = lists.to(torch.int32).contiguous()
    theirs = small if other is lists else other.to(torch.int32).contiguous()
    fused[(-(-len(left) // 64),)](small, theirs, left, right, counts, len(left), **how, **launch_options(lists, 4, 2))
    return counts
