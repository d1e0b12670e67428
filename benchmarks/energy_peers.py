"""Peers that lower the same energies: SpectralClustering, pymetis (cuts of graphs) and tslearn (Gaussian kernels).

Each takes the matrix of a problem and returns labels. A library that is not installed is left out, and the page says
so.
"""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from scipy import sparse

__all__ = ["PEERS", "labels_of", "missing", "suits"]

# METIS takes whole numbers: the largest entry of a graph becomes this, and those that round to zero are left out.
_LARGEST = 10_000


def spectral_clustering(problem):
    from sklearn.cluster import SpectralClustering

    matrix = problem.posed.matrix.entries
    return SpectralClustering(problem.n_clusters, affinity="precomputed", random_state=0).fit_predict(matrix)


def pymetis(problem):
    """Balanced by degree, which is as near as METIS comes to the normalised cut."""
    import pymetis

    graph = problem.posed.matrix.graph
    scale = _LARGEST / graph.max()
    graph = sparse.csr_array(graph - sparse.diags_array(graph.diagonal()))
    graph.data = np.rint(scale * graph.data)
    graph.eliminate_zeros()
    weights = np.maximum(np.rint(1000 * problem.posed.weights / problem.posed.weights.mean()), 1)
    adjacency = pymetis.CSRAdjacency(graph.indptr.tolist(), graph.indices.tolist())
    whole = {"eweights": graph.data.astype(int).tolist(), "vweights": weights.astype(int).tolist()}
    return np.array(pymetis.part_graph(problem.n_clusters, adjacency, **whole)[1])


def tslearn(problem):
    from tslearn.clustering import KernelKMeans

    model = KernelKMeans(problem.n_clusters, kernel="precomputed", n_init=4, random_state=0)
    return model.fit_predict(problem.posed.matrix.array)


#: Name in the table, the library to import, and the function.
PEERS = {
    "SpectralClustering": ("sklearn", spectral_clustering),
    "pymetis": ("pymetis", pymetis),
    "tslearn": ("tslearn", tslearn),
}


def suits(peer, problem):
    """Whether a peer lowers this energy at all."""
    if peer == "pymetis":
        return problem.is_cut and problem.posed.matrix.graph is not None
    return peer != "tslearn" or (problem.is_fixed_gaussian and not problem.is_cut)


def missing():
    """The peers whose library is not installed."""
    return [name for name, (library, _) in PEERS.items() if importlib.util.find_spec(library) is None]


def labels_of(peer, problem):
    """The peer's labels, its warnings unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PEERS[peer][1](problem)
