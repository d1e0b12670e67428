"""The symmetric graph of nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..tensors import AnyInts, is_tensor, to_array
from .search import index_type

_SYMMETRIZE = ("mean", "union", "mutual")


def neighbor_graph(indices: AnyInts, symmetrize: str = "mean", dtype: Any = np.float64) -> sparse.csr_array:
    r"""The symmetric graph of nearest neighbours, rows sorted.

    .. math:: A_{pq} = \tfrac12 [q \in KNN(p)] + \tfrac12 [p \in KNN(q)]

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors)
        As given by :func:`kneighbors`; no point twice in a row.
    symmetrize : {"mean", "union", "mutual"}
        One-sided neighbours get an affinity of 1/2, 1, or none.
    dtype : float type

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_graph(np.array([[0, 1], [1, 0], [2, 1]])).toarray()
    array([[1. , 1. , 0. ],
           [1. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    if symmetrize not in _SYMMETRIZE:
        raise ValueError(f"symmetrize={symmetrize!r} is not known; choose one of {_SYMMETRIZE}.")
    if is_tensor(indices):
        return _graph_of_tensors(indices, symmetrize, str(dtype).removeprefix("torch."))
    n_samples, n_neighbors = indices.shape
    kind = index_type(2 * indices.size)
    ends = np.arange(0, indices.size + 1, n_neighbors, dtype=kind)
    parts = (np.ones(indices.size, dtype=np.int8), indices.ravel().astype(kind, copy=False), ends)
    theirs = sparse.csr_array(parts, shape=(n_samples,) * 2).T.tocsr()
    # Transposed twice, the rows are sorted.
    mine = theirs.T.tocsr()
    graph = sparse.csr_array(mine * theirs if symmetrize == "mutual" else mine + theirs)
    graph.data = (0.5 * graph.data if symmetrize == "mean" else graph.data > 0).astype(dtype)
    return graph


def _graph_of_tensors(indices: Any, symmetrize: str, dtype: str) -> sparse.csr_array:
    """The same from a table on a device, where its entries are put in order."""
    from ..gpu.graph import union_of_lists

    n_samples = len(indices)
    indptr, columns, both = (to_array(part) for part in union_of_lists(indices, one_sided=symmetrize != "mutual"))
    data = np.where(both, 1.0, 0.5 if symmetrize == "mean" else 1.0).astype(dtype)
    return sparse.csr_array((data, columns, indptr), shape=(n_samples,) * 2)
