"""Makes the pictures of the how-to guides: `python docs/pictures.py` writes those of embeddings, documents and cells.

They are kept in docs/images, so that the documentation is built without scanpy, which only the cells need.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from evencut.plotting import PALETTE, ClusterDisplay

IMAGES = Path(__file__).parent / "images"


def embeddings():
    """Vectors in 384 dimensions, laid out by t-SNE: k-means beside evencut."""
    import matplotlib.pyplot as plt
    from sklearn.cluster import KMeans
    from sklearn.manifold import TSNE
    from sklearn.metrics import adjusted_rand_score

    from evencut import EvenCut

    X, y = patches()
    places = TSNE(metric="cosine", init="pca", random_state=0).fit_transform(X)
    found = {
        "k-means": KMeans(8, n_init=10, random_state=0).fit_predict(X),
        "evencut, cosine": EvenCut(8, metric="cosine", random_state=0).fit_predict(X),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for ax, (name, labels) in zip(axes, found.items()):
        score = adjusted_rand_score(y, labels)
        ClusterDisplay.from_labels(places, labels, ax=ax, title=f"{name}: ARI {score:.2f}", s=6)
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    return figure


def patches(n_rows=1500, n_features=384, n_directions=12):
    """Unit vectors in eight clusters of very unequal size, each on a patch of a few directions."""
    rng = np.random.default_rng(0)
    share = np.array([0.35, 0.25, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02])
    y = rng.choice(8, n_rows, p=share)
    centres = rng.normal(size=(8, n_features)) / np.sqrt(n_features)
    along = rng.normal(size=(8, n_directions, n_features)) / np.sqrt(n_features)
    X = centres[y] + np.einsum("pd,pdi->pi", 0.6 * rng.uniform(-1, 1, (n_rows, n_directions)), along[y])
    X += 0.01 * rng.normal(size=X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def documents():
    """The terms that tell the topics of the page apart."""
    import matplotlib.pyplot as plt

    page = (IMAGES.parent / "how_to" / "cluster_documents.md").read_text(encoding="utf-8")
    names: dict = {"print": lambda *_: None}
    exec(page.split("```python\n")[1].split("```")[0], names)
    terms = names["vectorizer"].get_feature_names_out()
    topics = names["describe"](names["model"].labels_, names["X"], terms, n_terms=6)
    figure, axes = plt.subplots(1, len(topics), figsize=(9, 2.6), layout="constrained", sharex=True)
    for ax, topic, colour in zip(axes, topics, PALETTE):
        ax.barh(topic.terms[::-1], topic.weights[::-1], color=colour)
        ax.set(title=f"cluster {topic.label}: {topic.size} documents", xlabel="mean weight inside less outside")
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def cells():
    """Cells of blood on their map: types, Leiden and evencut, with two rare types named."""
    import matplotlib.pyplot as plt
    import scanpy

    from evencut.anndata import cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = scanpy.datasets.pbmc68k_reduced()
        scanpy.tl.leiden(adata)
    cluster(adata, 10)
    types = np.asarray(adata.obs["bulk_labels"].astype(str))
    shown = {"types": types, "Leiden": adata.obs["leiden"], "evencut, 10 clusters": adata.obs["evencut"]}
    places = adata.obsm["X_umap"]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    for ax, (name, labels) in zip(axes, shown.items()):
        values = np.asarray(labels.astype(str))
        display = ClusterDisplay.from_labels(places, values, ax=ax, title=name, s=12)
        if display.ax_.get_legend() is not None:
            display.ax_.get_legend().remove()
        for kind in ("CD56+ NK", "CD34+"):
            middle = np.median(places[types == kind], axis=0)
            ax.annotate(kind, middle, middle + (2, 3), arrowprops={"arrowstyle": "->", "shrinkB": 9}, ha="center")
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    return figure


PICTURES = {"embeddings": embeddings, "documents": documents, "cells": cells}


def main(names):
    """Write the pictures named, or all."""
    import matplotlib

    matplotlib.use("agg")
    for name in names or PICTURES:
        figure = PICTURES[name]()
        # No date and no version: the same picture is the same file.
        figure.savefig(IMAGES / f"{name}.png", dpi=80, metadata={"Software": None})
        print(f"wrote {IMAGES / name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
