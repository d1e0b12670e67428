r"""The spectrum of affinities that are known by products alone: leading eigenvectors of all points, and their cuts.

Blocks of vectors are improved together (LOBPCG without a preconditioner); a step is one product for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..affinity import Affinity
from ..criteria import RatioProblem
from ..tensors import Ints, array_namespace
from .spectral import cut_embedding, unit_rows
from .starts import fill_empty

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
    multiply: Callable[[Any], Any], start: Any, n_wanted: int, *, tol: float = _TOLERANCE, n_steps: int = _STEPS
) -> tuple[Any, Any]:
    """Largest eigenvalues of a symmetric matrix and their eigenvectors, largest first.

    Parameters
    ----------
    multiply : callable
        From a table of columns to the matrix times the table.
    start : array or tensor of shape (n, n_block), in double precision
        Where the iteration starts; a few more columns than are wanted speed it up.
    n_wanted : int
    tol : float
        Largest length of a residual, of eigenvectors of length one.
    n_steps : int

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.diag([3.0, 1.0, 2.0, 0.5])
    >>> leading_vectors(lambda V: matrix @ V, np.ones((4, 1)), 1, tol=1e-9)[0].round(6)
    array([3.])
    """
    xp = array_namespace(start)
    block = xp.linalg.qr(start)[0]
    n_block = block.shape[1]
    image = multiply(block)
    step = image_of_step = block[:, :0]
    for _ in range(n_steps):
        values, turn = xp.linalg.eigh(block.T @ image)
        block, image = block @ turn, image @ turn
        residual = image - block * values
        if float((residual**2).sum(axis=0)[-n_wanted:].max()) <= tol**2:
            break
        # A direction already in the block would only bring rounding.
        residual = xp.linalg.qr(residual - block @ (block.T @ residual))[0]
        basis = xp.concatenate([block, residual, step], axis=1)
        images = xp.concatenate([image, multiply(residual), image_of_step], axis=1)
        mixture = _best_mixture(basis, images, n_block)
        step, image_of_step = basis[:, n_block:] @ mixture[n_block:], images[:, n_block:] @ mixture[n_block:]
        block, image = basis @ mixture, images @ mixture
    values, turn = xp.linalg.eigh(block.T @ image)
    return xp.flip(values[-n_wanted:], (0,)), xp.flip(block @ turn[:, -n_wanted:], (1,))


def _best_mixture(basis: Any, images: Any, n_wanted: int) -> Any:
    """Mixtures of the basis, orthonormal, with the largest Rayleigh quotients."""
    xp = array_namespace(basis)
    lengths, axes = xp.linalg.eigh(basis.T @ basis)
    kept = lengths > _LEAST_LENGTH * lengths[-1]
    upright = axes[:, kept] * lengths[kept] ** -0.5
    inner = upright.T @ (basis.T @ images) @ upright
    return upright @ xp.linalg.eigh(0.5 * (inner + inner.T))[1][:, -n_wanted:]


def spectral_start(problem: RatioProblem, n_clusters: int, n_init: int, rows: Any, rng: np.random.Generator) -> Ints:
    """Labels of all points from the best of several cuts of the spectrum of the normalised cut.

    Parameters
    ----------
    problem : RatioProblem
    n_clusters, n_init : int
    rows : array or tensor of whole numbers
        A sample, from whose eigenvectors the iteration starts.
    rng : Generator
    """
    root = problem.matrix.degrees()[:, None] ** -0.5
    start = _from_sample(problem.matrix, n_clusters + _SPARE_VECTORS, rows, rng) / root
    vectors = leading_vectors(lambda V: root * problem.matrix.rough(root * V), start, n_clusters)[1]
    embedding = unit_rows(vectors)
    cuts = [fill_empty(cut_embedding(embedding, n_clusters, rng), n_clusters) for _ in range(n_init)]
    return min(cuts, key=problem.energy)


def _from_sample(matrix: Affinity, n_vectors: int, rows: Any, rng: np.random.Generator) -> Any:
    """Smooth functions on all points: a sample's eigenvectors averaged by a kernel as wide as the sample is thin.

    At the bandwidths of all points the sample would be lonely, and its matrix diagonal. An affinity that cannot be made
    wider starts from random functions.
    """
    if not hasattr(matrix, "widened"):
        return matrix.beside(rng.standard_normal((matrix.shape[0], n_vectors)))
    wide, scale = matrix.widened(rows, _NEIGHBORS)
    xp = array_namespace(scale)
    dense = wide.part(rows) * scale[:, None] * scale
    root = dense.sum(axis=1) ** -0.5
    vectors = xp.linalg.eigh(dense * root[:, None] * root)[1][:, -n_vectors:]
    # The first column is what the averages are divided by.
    table = xp.concatenate([scale[:, None], vectors * (root * scale)[:, None]], axis=1)
    sums = wide.rough(table)
    return sums[:, 1:] / sums[:, :1].clip(1e-37)
