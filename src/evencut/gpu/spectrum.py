r"""The spectrum of all pairs of a kernel: leading eigenvectors by products alone, and the cuts they start.

Blocks of vectors are improved together (LOBPCG without a preconditioner); a step is one sum of kernels for all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .density import knn_radius
from .problem import AllPairs

__all__ = ["leading_vectors", "normalized_spectrum"]

# Vectors beyond those asked for, which let the last ones converge.
_SPARE_VECTORS = 4
_STEPS = 20
# No start changes for being more exact than this, and fast sums are hardly better.
_TOLERANCE = 1e-3
# Neighbours in the sample that a kernel must reach.
_NEIGHBORS = 7
# Directions shorter than this beside the longest are rounding.
_LEAST_LENGTH = 1e-12


def leading_vectors(
    multiply: Callable[[Tensor], Tensor],
    start: Tensor,
    n_wanted: int,
    *,
    tol: float = _TOLERANCE,
    n_steps: int = _STEPS,
) -> tuple[Tensor, Tensor]:
    """Largest eigenvalues of a symmetric matrix and their eigenvectors, largest first.

    Parameters
    ----------
    multiply : callable
        From a table of columns to the matrix times the table.
    start : Tensor of shape (n, n_block), float64
        Where the iteration starts; a few more columns than are wanted speed it up.
    n_wanted : int
    tol : float
        Largest length of a residual, of eigenvectors of length one.
    n_steps : int

    Examples
    --------
    >>> import torch
    >>> matrix = torch.diag(torch.tensor([3.0, 1.0, 2.0, 0.5], dtype=torch.float64))
    >>> leading_vectors(lambda V: matrix @ V, torch.ones(4, 1, dtype=torch.float64), 1, tol=1e-9)[0].round(decimals=6)
    tensor([3.], dtype=torch.float64)
    """
    block = torch.linalg.qr(start).Q
    n_block = block.shape[1]
    image = multiply(block)
    step = image_of_step = block[:, :0]
    for _ in range(n_steps):
        values, turn = torch.linalg.eigh(block.T @ image)
        block, image = block @ turn, image @ turn
        residual = image - block * values
        if float(torch.linalg.vector_norm(residual, dim=0)[-n_wanted:].max()) <= tol:
            break
        # A direction already in the block would only bring rounding.
        residual = torch.linalg.qr(residual - block @ (block.T @ residual)).Q
        basis = torch.cat([block, residual, step], dim=1)
        images = torch.cat([image, multiply(residual), image_of_step], dim=1)
        mixture = _best_mixture(basis, images, n_block)
        step, image_of_step = basis[:, n_block:] @ mixture[n_block:], images[:, n_block:] @ mixture[n_block:]
        block, image = basis @ mixture, images @ mixture
    values, turn = torch.linalg.eigh(block.T @ image)
    order = values.argsort(descending=True)[:n_wanted]
    return values[order], block @ turn[:, order]


def _best_mixture(basis: Tensor, images: Tensor, n_wanted: int) -> Tensor:
    """Mixtures of the basis, orthonormal, with the largest Rayleigh quotients."""
    lengths, axes = torch.linalg.eigh(basis.T @ basis)
    kept = lengths > _LEAST_LENGTH * lengths[-1]
    upright = axes[:, kept] * lengths[kept].rsqrt()
    inner = upright.T @ (basis.T @ images) @ upright
    return upright @ torch.linalg.eigh(0.5 * (inner + inner.T)).eigenvectors[:, -n_wanted:]


def normalized_spectrum(problem: AllPairs, n_vectors: int, rows: Tensor) -> Tensor:
    r"""Leading eigenvectors of :math:`D^{-1/2} M D^{-1/2}` for all points, started from those of a sample.

    Parameters
    ----------
    problem : AllPairs
    n_vectors : int
    rows : Tensor of shape (n_sample,)
        The sample.

    Examples
    --------
    >>> import torch
    >>> from evencut.gpu.problem import pose
    >>> from evencut.gpu.sums import KernelSums
    >>> problem = pose(KernelSums(torch.tensor([[0.0], [0.1], [9.0], [9.1]]), 1.0))
    >>> vectors = normalized_spectrum(problem, 2, torch.tensor([0, 2]))
    >>> bool((vectors.abs().sum(dim=1) > 0.5).all())
    True
    """
    root = problem.links(torch.ones_like(problem.weights), "exact").rsqrt()[:, None]
    start = _from_sample(problem, n_vectors + _SPARE_VECTORS, rows) / root
    return leading_vectors(lambda V: root * problem.links(root * V), start, n_vectors)[1]


def _from_sample(problem: AllPairs, n_vectors: int, rows: Tensor) -> Tensor:
    """Smooth functions on all points: a sample's eigenvectors averaged by a kernel as wide as the sample is thin.

    At the bandwidths of all points the sample would be lonely, and its matrix diagonal.
    """
    near = problem.sums.part(rows, rows)
    sample_radius = knn_radius(near.like, min(_NEIGHBORS, max(len(rows) - 1, 1)))
    factor = max(1.0, float((sample_radius / near.bandwidth).log().mean().exp()))
    wide = problem.sums.widened(factor).part(columns=rows)
    scale = problem.scale[rows]
    matrix = wide.part(rows=rows).dense() * scale[:, None] * scale
    root = matrix.sum(dim=1).rsqrt()
    vectors = torch.linalg.eigh(matrix * root[:, None] * root).eigenvectors[:, -n_vectors:]
    # The first column is what the averages are divided by.
    sums = wide(torch.cat([scale[:, None], vectors * (root * scale)[:, None]], dim=1), "fast")
    return sums[:, 1:] / sums[:, :1].clamp(min=torch.finfo(torch.float32).tiny)
