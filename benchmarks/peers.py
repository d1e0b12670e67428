"""Every method that is measured, ours and others', as a function from points (or a graph) to labels.

Imports stand inside the functions: the process that measures one method loads no other.
"""

from __future__ import annotations

import numpy as np

__all__ = ["METHODS", "N_NEIGHBORS", "graph_of"]

N_NEIGHBORS = 15


def graph_of(X):
    """The symmetric graph of 15 nearest neighbours that all graph methods share."""
    from evencut.kernels import KNN

    return KNN(N_NEIGHBORS).affinity(X, n_jobs=-1)


def evencut(X, n_clusters, n_jobs):
    from evencut import NormalizedCut
    from evencut.kernels import KNN

    model = NormalizedCut(n_clusters, kernel=KNN(N_NEIGHBORS), random_state=0, n_jobs=n_jobs)
    return model.fit_predict(X)


def evencut_default(X, n_clusters, n_jobs):
    from evencut import EvenCut

    return EvenCut(n_clusters, random_state=0, n_jobs=n_jobs).fit_predict(X)


def evencut_exact(X, n_clusters, n_jobs):
    from evencut import NormalizedCut
    from evencut.kernels import KNN

    kernel = KNN(N_NEIGHBORS, neighbors="exact")
    return NormalizedCut(n_clusters, kernel=kernel, equalize="exact", random_state=0, n_jobs=n_jobs).fit_predict(X)


def spectral_amg(X, n_clusters, n_jobs):
    return _spectral(X, n_clusters, n_jobs, "amg")


def spectral_arpack(X, n_clusters, n_jobs):
    return _spectral(X, n_clusters, n_jobs, "arpack")


def _spectral(X, n_clusters, n_jobs, eigen_solver):
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        n_clusters,
        affinity="nearest_neighbors",
        n_neighbors=N_NEIGHBORS,
        eigen_solver=eigen_solver,
        n_jobs=n_jobs,
        random_state=0,
    )
    return model.fit_predict(X)


def kmeans(X, n_clusters, n_jobs):
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=4, random_state=0).fit_predict(X)


def hdbscan(X, n_clusters, n_jobs):
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=max(5, len(X) // 1000), n_jobs=n_jobs, copy=True).fit_predict(X)


def genie(X, n_clusters, n_jobs):
    from genieclust import Genie

    return Genie(n_clusters=n_clusters).fit_predict(X)


def lumbermark(X, n_clusters, n_jobs):
    from lumbermark import Lumbermark

    return Lumbermark(n_clusters=n_clusters).fit_predict(X)


def multilevel_on_graph(A, n_clusters, n_jobs):
    from evencut.criteria import normalized_cut
    from evencut.solvers import solve

    return solve(normalized_cut(A), n_clusters, solver="multilevel", random_state=0).labels


def pymetis_on_graph(A, n_clusters, n_jobs):
    import pymetis

    adjacency, weights = A
    return np.array(pymetis.part_graph(n_clusters, adjacency, eweights=weights)[1])


def amg_on_graph(A, n_clusters, n_jobs):
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(n_clusters, affinity="precomputed", eigen_solver="amg", random_state=0).fit_predict(A)


def evencut_gaussian(X, n_clusters, n_jobs):
    from evencut import KernelKMeans
    from evencut.kernels import Gaussian

    return KernelKMeans(n_clusters, kernel=Gaussian(GAUSSIAN_BANDWIDTH), random_state=0, n_jobs=n_jobs).fit_predict(X)


def evencut_gaussian_blocks(X, n_clusters, n_jobs):
    from evencut import KernelKMeans
    from evencut.kernels import Gaussian

    kernel = Gaussian(GAUSSIAN_BANDWIDTH, memory=2e8)
    return KernelKMeans(n_clusters, kernel=kernel, random_state=0, n_jobs=n_jobs).fit_predict(X.astype(np.float32))


def tslearn_gaussian(X, n_clusters, n_jobs):
    from tslearn.clustering import KernelKMeans

    gamma = 0.5 / GAUSSIAN_BANDWIDTH**2
    model = KernelKMeans(n_clusters, kernel="rbf", kernel_params={"gamma": gamma}, n_init=1, random_state=0)
    return model.fit_predict(X)


GAUSSIAN_BANDWIDTH = 0.05

#: Name in the table, the function, and what it takes.
METHODS = {
    "evencut NormalizedCut": (evencut, "points"),
    "evencut EvenCut": (evencut_default, "points"),
    "evencut NormalizedCut, equalised": (evencut_exact, "points"),
    "scikit-learn SpectralClustering amg": (spectral_amg, "points"),
    "scikit-learn SpectralClustering arpack": (spectral_arpack, "points"),
    "scikit-learn KMeans": (kmeans, "points"),
    "scikit-learn HDBSCAN": (hdbscan, "points"),
    "genieclust Genie": (genie, "points"),
    "lumbermark": (lumbermark, "points"),
    "evencut multilevel, solve alone": (multilevel_on_graph, "graph"),
    "pymetis, partition alone": (pymetis_on_graph, "metis"),
    "scikit-learn amg, solve alone": (amg_on_graph, "graph"),
    "evencut KernelKMeans, Gaussian": (evencut_gaussian, "points"),
    "evencut KernelKMeans, Gaussian by blocks": (evencut_gaussian_blocks, "points"),
    "tslearn KernelKMeans, rbf": (tslearn_gaussian, "points"),
}
