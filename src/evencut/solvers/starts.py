"""First labellings for the refinements: spectral ones, and the filling of empty clusters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..affinity import Affinity, as_affinity
from ..criteria import RatioProblem
from ..tensors import Ints, array_namespace
from .spectral import cut_embedding, kernel_coordinates, spectral_embedding, unit_rows


def spectral_starts(problem: RatioProblem, n_clusters: int, n_init: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Cuts by k-means, from different seeds, of the spectrum of the normalised cut.

    Kernel k-means on a dense kernel also starts from the kernel's own principal components, which lead to
    lower energies there; on a sparse graph these sit on its hubs and are of no use.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import normalized_cut
    >>> problem = normalized_cut(np.kron(np.eye(2), np.ones((2, 2))))
    >>> len(list(spectral_starts(problem, 2, 3, np.random.default_rng(0))))
    3
    """
    links = _linking_part(problem)
    _, vectors = spectral_embedding(links, n_clusters, rng)
    embeddings = [unit_rows(vectors)]
    if problem.matrix.is_array and problem.diagonal is None:
        ratio = links.degrees() / problem.weights
        if not array_namespace(ratio).allclose(ratio, ratio[0], rtol=1e-6):
            embeddings.append(unit_rows(kernel_coordinates(problem.matrix, problem.weights, n_clusters, rng)))
    for _ in range(n_init):
        for embedding in embeddings:
            yield fill_empty(cut_embedding(embedding, n_clusters, rng), n_clusters)


def fill_empty(labels: Ints, n_clusters: int) -> Ints:
    """The labels with every empty cluster given one point of the largest.

    Examples
    --------
    >>> import numpy as np
    >>> fill_empty(np.array([0, 0, 0]), 2)
    array([0, 0, 1])
    """
    xp = array_namespace(labels)
    labels = xp.asarray(labels, dtype=xp.int64) + 0
    count = xp.bincount(labels, minlength=n_clusters)
    for k in xp.where(count == 0)[0]:
        largest = int(count.argmax())
        labels[xp.where(labels == largest)[0][-1]] = k
        count[largest] -= 1
        count[k] += 1
    return labels


def _linking_part(problem: RatioProblem) -> Affinity:
    """A matrix with positive degrees to take the spectrum of: the affinity, or one shifted to be non-negative."""
    matrix, lowest = problem.matrix, problem.matrix.least()
    if lowest >= 0:
        isolated = matrix.degrees() <= 0
        if not isolated.any():
            return matrix
        # A point without links has no direction in the spectrum; one of its own keeps it apart.
        alone = 1.0 * isolated
        diagonal = sparse.diags_array(alone) if matrix.is_graph else array_namespace(alone).diag(alone)
        return as_affinity(matrix.entries + diagonal)
    if matrix.is_graph:
        return as_affinity(abs(matrix.entries) + sparse.eye_array(problem.n_points) * 1e-12)
    return as_affinity(matrix.entries - lowest)
