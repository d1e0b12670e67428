"""Every clustering criterion of the paper as one problem: a symmetric matrix M and positive weights w.

A criterion is a small function from an affinity to a `RatioProblem`; solvers see nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .affinity import Affinity, degrees, scale_affinity

__all__ = [
    "CRITERIA",
    "RatioProblem",
    "average_association",
    "average_cut",
    "energy",
    "link_table",
    "normalized_cut",
]

_ENTRIES_PER_BLOCK = 100_000


@dataclass(frozen=True, eq=False)
class RatioProblem:
    r"""Maximise the ratio association of a partition.

    .. math:: \max_S \sum_k \frac{M(S_k, S_k)}{w(S_k)}

    where M is `matrix` with `diagonal` added to its diagonal.

    Parameters
    ----------
    matrix : ndarray, CSR array or lazy affinity of shape (n, n)
        The symmetric part that links points; spectral starts are taken from it.
    weights : ndarray of shape (n,)
        Positive point weights w.
    diagonal : ndarray of shape (n,), optional
        Added to the diagonal of `matrix`, kept apart so that a cut needs no second matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.criteria import average_association
    >>> average_association(np.ones((4, 4))).energy([0, 0, 1, 1])
    -4.0
    """

    matrix: Affinity
    weights: NDArray[np.floating]
    diagonal: NDArray[np.floating] | None = None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.weights)

    def associations(
        self, labels: NDArray[np.integer], n_clusters: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """M(S_k, S_k) and w(S_k) of each cluster."""
        inside = _within(self.matrix, labels, n_clusters)
        if self.diagonal is not None:
            inside += np.bincount(labels, self.diagonal, n_clusters)
        return inside, np.bincount(labels, self.weights, n_clusters).astype(float)

    def energy(self, labels: ArrayLike) -> float:
        """Minus the ratio association: the paper's sign and scale, lower is better."""
        names, codes = np.unique(np.asarray(labels), return_inverse=True)
        inside, weight = self.associations(codes, len(names))
        return float(-np.sum(inside / weight))


def average_association(affinity: Affinity, weights: ArrayLike | None = None) -> RatioProblem:
    r"""Average association, that is kernel k-means (eq. AA; with weights, eq. wAA).

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} w_p w_q A_{pq}}{\sum_{p \in S_k} w_p}

    Examples
    --------
    >>> import numpy as np
    >>> average_association(np.eye(3)).energy([0, 0, 1])
    -2.0
    """
    weights = _point_weights(affinity, weights)
    return RatioProblem(scale_affinity(affinity, weights), weights)


def normalized_cut(affinity: Affinity, weights: ArrayLike | None = None) -> RatioProblem:
    r"""Normalised cut (eq. NC); weights count each point as that many copies of itself.

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p}, \qquad d_p = \sum_q A_{pq}

    The value is Shi and Malik's cut ratio minus the number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> normalized_cut(np.ones((4, 4))).energy([0, 0, 1, 1])
    -1.0
    """
    scaled = scale_affinity(affinity, _point_weights(affinity, weights))
    degree = degrees(scaled)
    bad = np.flatnonzero(~(degree > 0))
    if bad.size:
        raise ValueError(
            f"normalized_cut needs positive degrees, but the affinities of point {bad[0]} sum to "
            f"{degree[bad[0]]:g} ({bad.size} such points); use criterion='average_association', or keep "
            "the diagonal of a non-negative affinity."
        )
    return RatioProblem(scaled, degree)


def average_cut(affinity: Affinity, weights: ArrayLike | None = None) -> RatioProblem:
    r"""Average cut, also called ratio cut.

    .. math:: \sum_k \frac{\sum_{p \in S_k, q \notin S_k} A_{pq}}{|S_k|}

    Examples
    --------
    >>> import numpy as np
    >>> average_cut(np.ones((4, 4))).energy([0, 0, 1, 1])
    4.0
    """
    weights = _point_weights(affinity, weights)
    scaled = scale_affinity(affinity, weights)
    return RatioProblem(scaled, weights, -degrees(scaled))


#: The criteria by the names the estimators take.
CRITERIA: dict[str, Callable[..., RatioProblem]] = {
    "average_association": average_association,
    "normalized_cut": normalized_cut,
    "average_cut": average_cut,
}


def energy(
    affinity: Affinity,
    labels: ArrayLike,
    criterion: str = "normalized_cut",
    weights: ArrayLike | None = None,
) -> float:
    """Energy of a labelling in the paper's sign and scale (eqs AA, NC, wAA): lower is better.

    Examples
    --------
    >>> import numpy as np
    >>> energy(np.ones((4, 4)), [0, 0, 1, 1], criterion="average_cut")
    4.0
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {sorted(CRITERIA)}.")
    return CRITERIA[criterion](affinity, weights).energy(labels)


def link_table(matrix: Affinity, labels: NDArray[np.integer], n_clusters: int) -> NDArray[np.float64]:
    """Sum of the affinities of each point (row) with each cluster (column).

    Examples
    --------
    >>> import numpy as np
    >>> link_table(np.ones((3, 3)), np.array([0, 0, 1]), 2)
    array([[2., 1.],
           [2., 1.],
           [2., 1.]])
    """
    if sparse.issparse(matrix):
        # Entry by entry: a table of all members would cost as much for a few rows as for all.
        matrix = sparse.csr_array(matrix)
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        cells = rows * n_clusters + labels[matrix.indices]
        links = np.bincount(cells, matrix.data, matrix.shape[0] * n_clusters).astype(np.float64, copy=False)
        return links.reshape(-1, n_clusters)
    members = np.zeros((matrix.shape[1], n_clusters), dtype=matrix.dtype)
    members[np.arange(len(labels)), labels] = 1
    return np.asarray(matrix @ members, dtype=np.float64)


def _point_weights(affinity: Affinity, weights: ArrayLike | None) -> NDArray[np.float64]:
    n_points = affinity.shape[0]
    if weights is None:
        return np.ones(n_points)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_points,):
        raise ValueError(f"weights has shape {weights.shape}; give one weight for each of {n_points} points.")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"weights must be positive and finite, but the smallest is {weights.min():g}.")
    return weights


def _within(matrix: Affinity, labels: NDArray[np.integer], n_clusters: int) -> NDArray[np.float64]:
    """Sum of the matrix entries inside each cluster, in blocks of bounded size."""
    inside = np.zeros(n_clusters)
    if sparse.issparse(matrix):
        indptr = matrix.indptr
        first = 0
        while first < len(labels):
            full = int(np.searchsorted(indptr, indptr[first] + _ENTRIES_PER_BLOCK, "right")) - 1
            last = max(full, first + 1)
            entries = slice(indptr[first], indptr[last])
            row_labels = np.repeat(labels[first:last], np.diff(indptr[first : last + 1]))
            same = row_labels == labels[matrix.indices[entries]]
            inside += np.bincount(row_labels[same], matrix.data[entries][same], n_clusters)
            first = last
        return inside
    own = link_table(matrix, labels, n_clusters)[np.arange(len(labels)), labels]
    return np.bincount(labels, own, n_clusters).astype(float)
