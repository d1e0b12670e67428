"""The isoperimetric (Cheeger) number of a partition, its bounds by the second eigenvalue, and the set they promise.

The average cut, which density equalisation makes of every criterion, is within a factor of two of it.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from ..affinity import Affinity, AffinityLike, as_affinity
from ..tensors import Floats, Ints

__all__ = ["cheeger_bounds", "cheeger_set", "isoperimetric_number"]


def isoperimetric_number(affinity: AffinityLike, labels: ArrayLike, *, normalized: bool = False) -> float:
    r"""Isoperimetric number of a partition (Section 6): the largest of its clusters' boundaries over their size.

    .. math:: h(S) = \max_k \frac{\sum_{p \in S^k, q \notin S^k} A_{pq}}{\min(|S^k|, |\Omega \setminus S^k|)}

    Sizes are numbers of points; with `normalized` they are sums of degrees, and h is Cheeger's number or conductance.
    For two clusters :math:`h \le AC \le 2h` with AC the average cut (the right side of eq. 68, times K), and the same
    of normalised cut (eq. 10) with degrees.

    Parameters
    ----------
    affinity : array, CSR array or affinity of shape (n, n)
        Symmetric and not negative; its diagonal does not matter unless `normalized`.
    labels : array of shape (n,)
        Two clusters or more.
    normalized : bool, default=False

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> isoperimetric_number(path, [0, 0, 1, 1]), isoperimetric_number(path, [0, 1, 1, 1])
    (0.5, 1.0)
    """
    matrix = as_affinity(affinity)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    if codes.shape != (matrix.shape[0],) or len(names) < 2:
        raise ValueError(
            f"labels has shape {np.shape(labels)} and {len(names)} clusters; give one label for each of "
            f"{matrix.shape[0]} points, and at least 2 clusters."
        )
    degree, size = matrix.degrees(), _sizes(matrix, normalized)
    boundary = np.bincount(codes, degree) - matrix.inside(codes, len(names))
    weight = np.bincount(codes, size)
    return float(np.max(boundary / np.minimum(weight, size.sum() - weight)))


def cheeger_bounds(affinity: AffinityLike, *, normalized: bool = False) -> tuple[float, float]:
    r"""Bounds of the lowest isoperimetric number of all splits in two, by the second eigenvalue of the Laplacian.

    .. math:: \frac{\lambda_2}{2} \le \min_S h(S) \le \sqrt{2 d_{\max} \lambda_2}

    with :math:`\lambda_2` of :math:`D - A` and degrees that leave the diagonal out; with `normalized`, of
    :math:`I - D^{-1/2} A D^{-1/2}`, and :math:`\sqrt{2\lambda_2}` on the right (Cheeger's inequality).

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> low, high = cheeger_bounds(path)
    >>> round(low, 3), round(high, 3)
    (0.293, 1.531)
    """
    matrix = as_affinity(affinity)
    second = _second(matrix, normalized)[0]
    largest = 1.0 if normalized else float(np.max(matrix.degrees() - matrix.diagonal()))
    return second / 2, float(np.sqrt(2 * largest * second))


def cheeger_set(affinity: AffinityLike, *, normalized: bool = False) -> Ints:
    r"""The split of lowest isoperimetric number among the level sets of the second eigenvector.

    The proof of the upper bound in :func:`cheeger_bounds` is that one of them is below it.

    Returns
    -------
    ndarray of shape (n,)
        1 in the smaller part, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> np.bincount(cheeger_set(path))
    array([2, 2])
    """
    matrix = as_affinity(affinity)
    vector = _second(matrix, normalized)[1]
    order = np.argsort(vector, kind="stable")
    entries = matrix.block(order, order)
    size = _sizes(matrix, normalized)[order]
    # What the first m points send to the others: their degrees, less twice what is joined inside as each comes.
    inner = np.tril(entries, -1).sum(axis=1)
    boundary = np.cumsum(entries.sum(axis=1) - np.diagonal(entries) - 2 * inner)[:-1]
    weight = np.cumsum(size)[:-1]
    number = boundary / np.minimum(weight, size.sum() - weight)
    m = int(np.argmin(number)) + 1
    split = np.zeros(len(order), dtype=np.int64)
    split[order[:m] if weight[m - 1] <= size.sum() / 2 else order[m:]] = 1
    return split


def _sizes(matrix: Affinity, normalized: bool) -> Floats:
    if not normalized:
        return np.ones(matrix.shape[0])
    degree = matrix.degrees()
    if not (degree > 0).all():
        raise ValueError(f"the smallest degree is {degree.min():g}; with normalized=True all must be positive.")
    return degree


def _second(matrix: Affinity, normalized: bool) -> tuple[float, Floats]:
    """The second eigenvalue of the Laplacian, and its vector in units in which level sets are the clusters."""
    # All eigenvectors of more points take minutes.
    n_points, max_points = matrix.shape[0], 6000
    if not 2 <= n_points <= max_points:
        raise ValueError(f"the affinity has {n_points} points; give 2 to {max_points}, of which all pairs are held.")
    size = _sizes(matrix, normalized)
    laplacian = np.diag(matrix.degrees()) - matrix.block(slice(None))
    laplacian /= np.sqrt(size[:, None] * size)
    values, vectors = scipy.linalg.eigh(laplacian, subset_by_index=[0, 1])
    return max(float(values[1]), 0.0), vectors[:, 1] / np.sqrt(size)
