"""Cells of blood, as they come with scanpy: agreement with their types, and who finds the rare ones."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

__all__ = ["found_share", "measure_cells"]

_SEEDS = range(5)
_RARE = 0.05


def measure_cells():
    """The rare types with their sizes, and every method's clusters, agreement and recalls, one for each seed."""
    import scanpy

    warnings.simplefilter("ignore")
    adata = scanpy.datasets.pbmc68k_reduced()
    types = np.asarray(adata.obs["bulk_labels"].astype(str))
    names, sizes = np.unique(types, return_counts=True)
    rare = [str(name) for name in names[np.argsort(-sizes)] if np.mean(types == name) < _RARE]
    rows = []
    for method, labels_of in _methods(len(names)).items():
        found = [np.asarray(labels_of(adata, seed)) for seed in _SEEDS]
        rows.append(
            {
                "method": method,
                "clusters": [len(np.unique(labels)) for labels in found],
                "ari": [adjusted_rand_score(types, labels) for labels in found],
                "found": [[found_share(types, labels, kind) for kind in rare] for labels in found],
            }
        )
    return {
        "n_cells": len(types),
        "n_types": len(names),
        "rare": rare,
        "sizes": [int(np.sum(types == kind)) for kind in rare],
        "rows": rows,
    }


def _methods(n_types):
    from evencut.anndata import cluster

    def leiden(adata, seed):
        import scanpy

        scanpy.tl.leiden(adata, random_state=seed)
        return adata.obs["leiden"].astype(str)

    def means(adata, seed):
        return KMeans(n_types, n_init=10, random_state=seed).fit_predict(adata.obsm["X_pca"])

    def even(n_clusters, **options):
        def labels(adata, seed):
            cluster(adata, n_clusters, random_state=seed, **options)
            return adata.obs["evencut"].astype(str)

        return labels

    on_graph = {"neighbors_key": "neighbors", "equalize": "exact"}
    return {
        "Leiden, default resolution": leiden,
        f"k-means, {n_types} clusters": means,
        f"evencut, {n_types} clusters": even(n_types),
        "evencut, auto": even("auto"),
        f"evencut, {n_types} clusters, noise left in": even(n_types, denoise=False),
        "evencut, auto, noise left in": even("auto", denoise=False),
        f"evencut on Leiden's graph, equalised, {n_types} clusters": even(n_types, **on_graph),
        "evencut on Leiden's graph, equalised, auto": even("auto", **on_graph),
    }


def found_share(types, labels, kind):
    """Share of a type's cells in the cluster that holds most of them, and share of that cluster that is of the type."""
    names, counts = np.unique(labels[types == kind], return_counts=True)
    inside = labels == names[counts.argmax()]
    return [float(counts.max() / np.sum(types == kind)), float(counts.max() / inside.sum())]
