r"""The ratio problem of all pairs of a kernel, :math:`M_{pq} = s_p s_q K_{pq}`, and its exact equalisation.

It knows sums of kernels only; the matrix is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .sums import KernelSums

__all__ = ["AllPairs", "DenseSums", "cluster_totals", "equalizing_scale", "pose"]

_SWEEPS = 200
_LEAST_TOLERANCE = 1e-5
_CRITERIA = ("average_association", "normalized_cut", "average_cut")
_EQUALIZE = (None, "weights", "exact")


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Maximise the ratio association of M, which is K with rows and columns scaled, for point weights.

    Parameters
    ----------
    sums : KernelSums
    scale : Tensor of shape (n,), float64
    weights : Tensor of shape (n,), float64
    diagonal : Tensor of shape (n,), optional
        Added to the diagonal of M.
    """

    sums: KernelSums
    scale: Tensor
    weights: Tensor
    diagonal: Tensor | None = None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.weights)

    def links(self, members: Tensor, precision: str = "fast", columns: Tensor | None = None) -> Tensor:
        """M times a table of members, or times a table for some of the points only; the diagonal is not in it."""
        if members.ndim == 1:
            return self.links(members[:, None], precision, columns)[:, 0]
        if columns is None:
            return self.scale[:, None] * self.sums(members * self.scale[:, None], precision)
        part = self.sums.part(columns=columns)
        return self.scale[:, None] * part(members * self.scale[columns][:, None], precision)

    def sample(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The dense matrix among some points, and their weights and diagonal at the sample's share of them."""
        share = len(rows) / self.n_points
        matrix = self.sums.part(rows, rows).dense() * self.scale[rows][:, None] * self.scale[rows]
        diagonal = None if self.diagonal is None else share * self.diagonal[rows]
        return matrix, share * self.weights[rows], diagonal


class DenseSums:
    """A symmetric matrix in memory with the manners of :class:`KernelSums`: called with a vector, it is multiplied.

    Examples
    --------
    >>> import torch
    >>> DenseSums(torch.eye(2))(torch.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """

    def __init__(self, matrix: Tensor):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"the affinity has shape {tuple(matrix.shape)}; it must be square.")
        if matrix.layout == torch.strided and not bool((torch.isfinite(matrix) & (matrix >= 0)).all()):
            raise ValueError("exact equalisation needs finite, non-negative affinities; use equalize='weights'.")
        self.matrix, self.shape, self.device = matrix.detach().double(), tuple(matrix.shape), matrix.device

    def __call__(self, vector: Tensor, precision: str = "exact") -> Tensor:
        """The product; there is one precision only."""
        return torch.as_tensor(self.matrix @ vector.double())

    @property
    def like(self) -> Tensor:
        """A tensor on the device."""
        return self.matrix


def pose(
    sums: KernelSums, criterion: str = "normalized_cut", equalize: str | None = None, weights: Tensor | None = None
) -> AllPairs:
    """The problem of a criterion, as on the CPU.

    Examples
    --------
    >>> import torch
    >>> pose(KernelSums(torch.zeros(2, 1), 1.0), "normalized_cut").weights
    tensor([2., 2.], dtype=torch.float64)
    """
    if criterion not in _CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {_CRITERIA}.")
    if equalize not in _EQUALIZE:
        raise ValueError(f"equalize={equalize!r} is not known; choose one of {_EQUALIZE}.")
    device = sums.device
    own = torch.ones(sums.shape[0], dtype=torch.float64, device=device) if weights is None else weights.double()
    if equalize == "exact":
        scale = equalizing_scale(sums, weights=own)
        return AllPairs(sums, scale, own, -own if criterion == "average_cut" else None)
    if equalize == "weights":
        density = sums(own)
        own = own * (1 / density) / (1 / density).mean()
    if criterion == "average_association":
        return AllPairs(sums, own, own)
    degree = own * sums(own)
    return AllPairs(sums, own, degree) if criterion == "normalized_cut" else AllPairs(sums, own, own, -degree)


def equalizing_scale(
    sums: KernelSums | DenseSums, *, weights: Tensor | None = None, tol: float = 1e-5, start: Tensor | None = None
) -> Tensor:
    r"""The scale s with :math:`s_p (K s)_p = w_p`, to a relative error of `tol`, by damped Sinkhorn sweeps.

    Examples
    --------
    >>> import torch
    >>> equalizing_scale(KernelSums(torch.zeros(4, 1), 1.0))
    tensor([0.5000, 0.5000, 0.5000, 0.5000], dtype=torch.float64)
    """
    if isinstance(sums, KernelSums):
        # Sums on the fly are exact to so many digits.
        tol = max(tol, _LEAST_TOLERANCE)
    one = torch.ones(sums.shape[0], dtype=torch.float64, device=sums.device)
    target = one if weights is None else weights.double()
    scale = (target / sums(one)).sqrt() if start is None else start.double()
    error = float("inf")
    for _ in range(_SWEEPS):
        degree = scale * sums(scale)
        error = float((degree / target - 1).abs().max())
        if error <= tol:
            return scale
        scale = scale * (target / degree).sqrt()
    raise ValueError(
        f"no scaling to equal degrees was found in {_SWEEPS} sweeps (relative error {error:.1e}, asked for {tol:.1e}); "
        "use a smoother kernel or equalize='weights'."
    )


def cluster_totals(values: Tensor, labels: Tensor, n_clusters: int) -> Tensor:
    """Sum of the values in each cluster, always in the same order, so that the same labels give the same bits.

    Examples
    --------
    >>> import torch
    >>> cluster_totals(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0, 1, 0]), 2)
    tensor([5., 2.])
    """
    names = torch.arange(n_clusters, device=labels.device)
    return torch.where(labels[:, None] == names, values[:, None], 0).sum(dim=0)
