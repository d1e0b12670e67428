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
    queries: Tensor, points: Tensor, pairs: tuple[Tensor, Tensor], lists: tuple[Tensor, Tensor],
    radius: tuple[Tensor, Tensor], shape: tuple[float, float],
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
    from ._triton import common_counts as fused

    counts = torch.empty(len(left), dtype=torch.int32, device=lists.device)
    length = lists.shape[1]
    options = {"LENGTH": length, "BLOCK_LENGTH": max(2, 1 << (length - 1).bit_length()), "BLOCK": 64}
    small = lists.to(torch.int32).contiguous()
    theirs = small if other is lists else other.to(torch.int32).contiguous()
    options |= launch_options(lists, 4, 2)
    fused[(-(-len(left) // 64),)](small, theirs, left, right, counts, len(left), **options)
    return counts


def weigh(distances: Tensor, radius: Tensor, indices: Tensor, scale: int) -> Tensor:
    r"""The weights of the landmarks in `indices`, whole numbers that sum to about `scale`.

    .. math:: B_{pj} \propto \exp\left(-\frac{d_{pj}^2}{R_p \, R_j}\right)

    with :math:`R_p` the distance to the farthest of them and :math:`R_j` the radius of the landmark.

    Examples
    --------
    >>> import torch
    >>> weigh(torch.tensor([[0.0, 9.0]]), torch.ones(2), torch.tensor([[0, 1]]), 8)
    tensor([[8, 0]])
    """
    farthest = distances.amax(dim=1, keepdim=True)
    # The two ratios are small where the square of a distance might leave the range of floats.
    exponent = torch.where(farthest > 0, distances / farthest * (distances / radius.double()[indices]), 0.0)
    weight = torch.exp(exponent.amin(dim=1, keepdim=True) - exponent)
    return (weight / weight.sum(dim=1, keepdim=True) * scale).round().long()


def add_pairs(indices: Tensor, units: Tensor, mass: Tensor, n_landmarks: int) -> tuple[Tensor, Tensor]:
    r"""The upper triangle of :math:`B^T B`: pairs of landmarks as i n + j, i <= j, and their sums, whole numbers.

    A row counts as often as its mass says.

    Examples
    --------
    >>> import torch
    >>> add_pairs(torch.tensor([[0, 1]]), torch.tensor([[2, 3]]), torch.tensor([1]), 2)
    (tensor([0, 1, 3]), tensor([4, 6, 9]))
    """
    keys, sums = [], []
    n_near = indices.shape[1]
    for a in range(n_near):
        for b in range(a, n_near):
            low = torch.minimum(indices[:, a], indices[:, b])
            keys.append(low * n_landmarks + torch.maximum(indices[:, a], indices[:, b]))
            sums.append(units[:, a] * units[:, b] * mass)
    return merge_pairs(torch.cat(keys), torch.cat(sums))


def merge_pairs(keys: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
    """Each key once, in order, with the sum of its whole numbers; keys whose sum is zero are left out.

    Examples
    --------
    >>> import torch
    >>> merge_pairs(torch.tensor([5, 2, 5, 7]), torch.tensor([1, 2, 3, 0]))
    (tensor([2, 5]), tensor([2, 4]))
    """
    pairs, place = torch.unique(keys, return_inverse=True)
    total = torch.zeros(len(pairs), dtype=torch.int64, device=keys.device).index_add_(0, place, sums)
    linked = total > 0
    return pairs[linked], total[linked]


def vote(indices: Tensor, units: Tensor, labels: Tensor, n_clusters: int) -> Tensor:
    """Clusters of the points: the one with the most weight among a point's landmarks, of equals the first.

    Examples
    --------
    >>> import torch
    >>> vote(torch.tensor([[0, 1, 2]]), torch.tensor([[3, 2, 2]]), torch.tensor([0, 1, 1]), 2)
    tensor([1])
    """
    weight = torch.zeros((len(indices), n_clusters), dtype=torch.int64, device=indices.device)
    weight.scatter_add_(1, labels[indices], units)
    return weight.argmax(dim=1)
