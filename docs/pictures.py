"""Makes pictures of the documentation: `python docs/pictures.py [NAME ...]` writes those named, or all.

They are kept in docs/images, so that the documentation is built without scanpy, which only the cells need. Those of
how EvenCut works come from its own steps.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from evencut.plotting import PALETTE, ClusterDisplay

IMAGES = Path(__file__).parent / "images"


def front():
    """Four methods on three data sets, one of them real: what the front page shows first."""
    import matplotlib.pyplot as plt
    from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
    from sklearn.datasets import load_wine, make_blobs
    from sklearn.decomposition import PCA
    from sklearn.metrics import adjusted_rand_score

    from evencut import EvenCut
    from evencut.datasets import make_clumped_moons

    moons, wine = make_clumped_moons(600, clump=0.5, random_state=0), load_wine(return_X_y=True)
    blobs = make_blobs([520, 50, 30], cluster_std=[2.0, 0.5, 0.4], random_state=3)
    components = PCA(2).fit_transform((wine[0] - wine[0].mean(axis=0)) / wine[0].std(axis=0))
    data = {
        "Two moons, one\nwith a dense clump": (*moons, moons[0]),
        "One large cluster,\ntwo small ones": (*blobs, blobs[0]),
        "178 wines,\n13 unscaled columns,\ndrawn in two components": (*wine, components),
    }
    figure, axes = plt.subplots(3, 4, figsize=(11, 6.6), layout="constrained")
    for row, (name, (X, y, places)) in zip(axes, data.items(), strict=True):
        k = len(np.unique(y))
        methods = {
            "k-means": KMeans(k, n_init=10, random_state=0),
            "HDBSCAN": HDBSCAN(copy=True),
            "Spectral clustering": SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
            "EvenCut": EvenCut(k, random_state=0),
        }
        for ax, (method, model) in zip(row, methods.items()):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Graph is not fully connected")
                labels = model.fit_predict(X)
            noise, score = labels < 0, adjusted_rand_score(y, labels)
            ax.scatter(*places[noise].T, s=5, color="#aaaaaa")
            # A cluster has the colour of the class that it shares most rows with.
            colours = _matched(labels[~noise], y[~noise])
            ax.scatter(*places[~noise].T, s=5, color=[PALETTE[k % len(PALETTE)] for k in colours])
            weight = "bold" if method == "EvenCut" else "normal"
            title = f"{method}\n{score:.2f}" if row[0] is axes[0, 0] else f"{score:.2f}"
            ax.set_title(title, fontsize=12, fontweight=weight)
            _bare(ax)
        row[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11, labelpad=8)
    return figure


def _matched(labels, classes):
    """Clusters numbered as the classes they share most rows with, each class once; others come after."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    common = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(-common)
    number = np.full(common.shape[1], -1)
    number[columns] = rows
    others = np.flatnonzero(number < 0)
    number[others] = len(common) + np.arange(len(others))
    return number[np.unique(labels, return_inverse=True)[1]]


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
        shown = _matched(labels, y)  # the same colours on both sides
        ClusterDisplay.from_labels(places, shown, ax=ax, title=f"{name}: ARI {score:.2f}", s=6)
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
    """Blood cells on a 2-D map: types, Leiden and evencut, with two rare types named."""
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


PRINCIPLES = ("cut", "tree", "mixture", "centre", "smoothed", "spectral")


def shapes():
    """Two thick moons and a wide blob beside them, and a third column of noise; principles differ here."""
    from sklearn.datasets import make_moons

    rng = np.random.default_rng(3)
    moons, sides = make_moons(360, noise=0.13, random_state=3)
    X = np.concatenate([moons, [2.9, 0.9] + 0.42 * rng.normal(size=(160, 2))])
    rng = np.random.default_rng(5)
    return np.column_stack([X, 0.3 * rng.normal(size=len(X))]), np.concatenate([sides, np.full(160, 2)])


def nested_blobs():
    """Eight blobs in three groups, which are farther apart than the blobs."""
    rng = np.random.default_rng(0)
    corners = 2 * np.pi * np.arange(3) / 3 + np.pi / 6
    centres = []
    for corner, n_blobs, turn in zip(corners, (3, 2, 3), (0.0, 0.5, 1.0)):
        angles = turn + 2 * np.pi * np.arange(n_blobs) / n_blobs
        middle = 11 / 3**0.5 * np.array([np.cos(corner), np.sin(corner)])
        centres += [middle + 2.6 * np.array([np.cos(angle), np.sin(angle)]) for angle in angles]
    return np.repeat(centres, 80, axis=0) + 0.8 * rng.normal(size=(640, 2))


def _graphs(X):
    """The graphs of points in their first coordinate system."""
    from evencut.points import prepare_points
    from evencut.selection import neighbor_graphs

    prepared = prepare_points(X, scale="standard")
    graphs = neighbor_graphs(prepared.points, prepared.weights, feature_scale=prepared.feature_scale)[0]
    return graphs, prepared.point_of_row


def _bare(ax, **more):
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="", **more)


def systems():
    """One table in three coordinate systems, and a table with columns of two values in components."""
    import matplotlib.pyplot as plt

    from evencut.points import coordinate_systems, prepare_points

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    table = np.column_stack([4 * y, 0 * y, 0 * y, 0 * y]) + rng.normal(size=(300, 4))
    table[:, 1] = np.exp(1.2 * table[:, 1]) * 4
    answers = np.column_stack([(rng.random((300, 4)) < np.where(y, 0.9, 0.1)[:, None]), rng.random((300, 1)) < 0.5])
    mixed = np.column_stack([answers, table[:, :2]])
    panels = []
    for X in (table, mixed):
        prepared = prepare_points(X, scale="standard")
        points, units = prepared.points, prepared.feature_scale
        for system in coordinate_systems(points, prepared.weights, units):
            panels.append((system.name, system(points)[prepared.point_of_row]))
    figure, axes = plt.subplots(1, len(panels), figsize=(12, 3.1), layout="constrained")
    for ax, (name, points) in zip(axes, panels):
        words = name == "components"
        ClusterDisplay.from_labels(points[:, :2], y, ax=ax, title=name, legend=False, s=6)
        ax.set_xlabel("first component" if words else "first column")
        ax.set_ylabel("second component" if words else "second column")
        ax.tick_params(labelsize=7)
        if name == "as given":
            ax.set_aspect("equal", adjustable="datalim")
    return figure


def neighbors():
    """The shared-neighbour graph of the same points at three scales."""
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    from evencut.selection import neighborhood_sizes

    X = shapes()[0][:, :2]
    graphs, of_row = _graphs(X)
    places = np.empty((graphs.n_points, 2))
    places[of_row] = X
    figure, axes = plt.subplots(1, 3, figsize=(12, 2.7), layout="constrained")
    for ax, size in zip(axes, neighborhood_sizes(graphs.n_points, 3)):
        edges = graphs.affinities([size])[0].tocoo()
        once = edges.row < edges.col
        ends, strength = np.stack([places[edges.row[once]], places[edges.col[once]]], axis=1), edges.data[once]
        shade = np.zeros((len(strength), 4))
        shade[:, 3] = np.clip(0.6 * strength / np.quantile(strength, 0.95), 0.02, 0.6)
        ax.add_collection(LineCollection(ends, colors=shade, linewidths=0.6))
        ax.scatter(*X.T, s=3, color=PALETTE[0], zorder=2)
        _bare(ax, aspect="equal", title=f"{size} neighbours")
    return figure


def principles():
    """Of each principle the candidate of highest consensus for three clusters, and the votes of the principle."""
    import matplotlib.pyplot as plt

    from evencut.selection import propose, rank_candidates

    X, _ = shapes()
    graphs, of_row = _graphs(X)
    selection = rank_candidates([propose(graphs, 3, seed=0)], 3)
    figure, axes = plt.subplots(2, 3, figsize=(10, 4.4), layout="constrained")
    for ax, principle in zip(axes.flat, PRINCIPLES):
        own = [i for i, candidate in enumerate(selection.candidates) if candidate.principle == principle]
        best, share = selection.candidates[own[0]], selection.votes[own].sum()
        title = f"{principle}: {best.kind} ({share:.0%} of the votes)"
        ClusterDisplay.from_labels(X[:, :2], best.point_labels[of_row], ax=ax, title=title, legend=False, s=5)
        ax.title.set_fontsize(10)
        _bare(ax, aspect="equal")
    return figure


def votes():
    """The votes of the principles over the intrinsic dimension, without mixtures and with them."""
    import matplotlib.pyplot as plt

    from evencut.selection.propose import centre_weight, principle_votes

    dimensions = np.geomspace(1, 16, 200)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
    titles = ("neighbours predict points better", "a mixture predicts points as well or better")
    for ax, gain, title in zip(axes, (0.0, 1.0), titles):
        shares = [principle_votes(list(PRINCIPLES), np.ones(6), centre_weight(d), gain) for d in dimensions]
        ax.stackplot(dimensions, np.transpose(shares), labels=PRINCIPLES, colors=PALETTE[:6], alpha=0.85)
        ax.set(xscale="log", xlim=(1, 16), ylim=(0, 1), xlabel="intrinsic dimension", title=title)
        ax.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
        ax.minorticks_off()
    axes[0].set_ylabel("share of the votes")
    handles, names = axes[1].get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside right center", frameon=False)
    return figure


def election():
    """The agreement of the candidates, their votes and consensus, and the one that is taken."""
    import matplotlib.pyplot as plt

    from evencut.selection import propose, rank_candidates

    X, _ = shapes()
    graphs, of_row = _graphs(X)
    selection = rank_candidates([propose(graphs, 3, seed=0)], 3)
    names = [f"{c.principle}, {c.kind}" + f", {c.scale}" * bool(c.scale) for c in selection.candidates]
    rows = np.arange(len(names))
    figure, axes = plt.subplots(
        1, 4, figsize=(12, 4.8), layout="constrained", gridspec_kw={"width_ratios": [2.2, 0.7, 0.7, 2]}
    )
    image = axes[0].imshow(selection.agreements, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    axes[0].set_yticks(rows, names, fontsize=7)
    axes[0].set(xticks=[], title="adjusted Rand index of two candidates")
    figure.colorbar(image, ax=axes[0], location="bottom", shrink=0.6)
    for ax, values, title in ((axes[1], selection.votes, "votes"), (axes[2], selection.consensus, "consensus")):
        ax.barh(rows, values, color=PALETTE[0])
        ax.set(yticks=[], ylim=(len(rows) - 0.5, -0.5), title=title)
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    title = f"the first is taken: confidence {selection.confidence:.2f}"
    labels = selection.best.point_labels[of_row]
    ClusterDisplay.from_labels(X[:, :2], labels, ax=axes[3], title=title, legend=False, s=6)
    _bare(axes[3], aspect="equal")
    return figure


def number():
    """The curve of agreement beside that by chance: eight blobs in three groups, and one Gaussian."""
    import matplotlib.pyplot as plt

    from evencut import EvenCut

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    alone = np.random.default_rng(0).normal(size=(640, 2))
    for (points, curve), X in zip((axes[:2], axes[2:]), (nested_blobs(), alone)):
        model = EvenCut(random_state=0).fit(X)
        ClusterDisplay.from_labels(X, model.labels_, ax=points, title=f"{model.n_clusters_} found", legend=False, s=5)
        _bare(points, aspect="equal")
        tried = sorted((n for n in model.selection_.numbers if n.n_clusters > 1), key=lambda n: n.n_clusters)
        ks, agreement, chance = np.transpose([(n.n_clusters, n.agreement, n.chance) for n in tried])
        curve.fill_between(ks, chance, agreement, color=PALETTE[0], alpha=0.15)
        curve.plot(ks, agreement, "o-", color=PALETTE[0], markersize=3, label="$C_k$: agreement")
        curve.plot(ks, chance, "--", color=PALETTE[1], label="$C^0_k$: by chance")
        best = max(tried, key=lambda n: n.gain * (1 - 1 / n.n_clusters) ** 0.5)
        curve.set_title(f"gain {best.gain:.2f} at {best.n_clusters}", fontsize=10)
        curve.set(xscale="log", ylim=(0, 1), xlabel="number of clusters k")
        curve.set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
        curve.minorticks_off()
        curve.legend(fontsize=8, frameon=False)
        curve.spines[["top", "right"]].set_visible(False)
    return figure


PICTURES = {
    "front": front,
    "embeddings": embeddings,
    "documents": documents,
    "cells": cells,
    "how_systems": systems,
    "how_neighbors": neighbors,
    "how_principles": principles,
    "how_votes": votes,
    "how_election": election,
    "how_number": number,
}


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
