"""What an affinity is: a symmetric matrix, dense, CSR or lazy, and the few things all rooms do with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Affinity", "check_affinity", "degrees", "scale_affinity"]

#: A symmetric affinity: a dense array, a scipy CSR array, or anything with `shape`, `dtype`, `@` and `rescaled`.
Affinity = Any

_SYMMETRY_TOLERANCE = {4: 1e-4, 8: 1e-8}


def degrees(affinity: Affinity) -> NDArray[np.float64]:
    r"""Node degrees :math:`d_p = \sum_q A_{pq}`.

    Examples
    --------
    >>> import numpy as np
    >>> degrees(np.ones((2, 2)))
    array([2., 2.])
    """
    if sparse.issparse(affinity) or isinstance(affinity, np.ndarray):
        return np.asarray(affinity.sum(axis=1, dtype=np.float64)).ravel()
    return np.asarray(affinity @ np.ones(affinity.shape[0]), dtype=np.float64)


def scale_affinity(affinity: Affinity, scale: NDArray[np.floating]) -> Affinity:
    r"""The affinity :math:`s_p s_q A_{pq}`; the affinity itself where every scale is one.

    Examples
    --------
    >>> import numpy as np
    >>> scale_affinity(np.ones((2, 2)), np.array([1.0, 2.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    if np.all(scale == 1):
        return affinity
    if sparse.issparse(affinity):
        scale = scale.astype(affinity.dtype, copy=False)
        data = affinity.data * np.repeat(scale, np.diff(affinity.indptr)) * scale[affinity.indices]
        return sparse.csr_array((data, affinity.indices, affinity.indptr), shape=affinity.shape)
    if isinstance(affinity, np.ndarray):
        scale = scale.astype(affinity.dtype, copy=False)
        return affinity * scale * scale[:, None]
    return affinity.rescaled(scale)


def check_affinity(affinity: Affinity) -> Affinity:
    """A given matrix as an affinity: square, finite, symmetric, CSR rows sorted and free of duplicates.

    The matrix passed in is never changed. Integers become floats; indices become 32-bit where they fit.

    Examples
    --------
    >>> check_affinity([[1, 0], [0, 1]]).dtype
    dtype('float64')
    """
    affinity = _canonical_csr(affinity) if sparse.issparse(affinity) else _float_array(affinity)
    if affinity.ndim != 2 or affinity.shape[0] != affinity.shape[1]:
        raise ValueError(f"a precomputed affinity must be square, but its shape is {affinity.shape}.")
    values = affinity.data if sparse.issparse(affinity) else affinity
    if not np.isfinite(values).all():
        raise ValueError("a precomputed affinity must be finite, but it contains NaN or infinity.")
    gap = abs(affinity - affinity.T)
    largest = float(gap.max()) if values.size else 0.0
    if largest > _SYMMETRY_TOLERANCE[affinity.dtype.itemsize] * float(np.abs(values).max(initial=0)):
        p, q = np.unravel_index(int(gap.argmax()), affinity.shape)
        raise ValueError(
            f"a precomputed affinity must be symmetric, but A[{p}, {q}] = {affinity[p, q]:g} and "
            f"A[{q}, {p}] = {affinity[q, p]:g}; pass (A + A.T) / 2."
        )
    return affinity


def _float_array(affinity: Affinity) -> NDArray[np.floating]:
    affinity = np.asarray(affinity)
    return affinity if affinity.dtype in (np.float32, np.float64) else affinity.astype(np.float64)


def _canonical_csr(affinity: Affinity) -> sparse.csr_array:
    dtype = affinity.dtype if affinity.dtype in (np.float32, np.float64) else np.float64
    csr = sparse.csr_array(affinity, dtype=dtype)
    # Neither duplicates nor explicit zeros, sorted: on a copy wherever something must change.
    if not csr.has_canonical_format or (csr.data == 0).any():
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    if csr.indices.dtype != np.int32 and max(csr.nnz, csr.shape[0]) < np.iinfo(np.int32).max:
        parts = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        csr = sparse.csr_array(parts, shape=csr.shape)
    return csr
