r"""How points hang on landmarks, on their device: weights of the nearest ones, pairs of them, votes.

Weights are whole numbers, as in the compiled loops for arrays, so that their products add up exactly in any order.
"""

from __future__ import annotations

import torch
from torch import Tensor


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
