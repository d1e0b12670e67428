"""
Data sets and tools, with times
===============================

Eight tools on six data sets of 600 points. All get the number of clusters except
HDBSCAN, which takes none. Left corner: adjusted Rand index with the true clusters (1 is
perfect). Right corner: CPU seconds on one thread, measured while this page was built. No
tool was tuned: Gaussian kernels have Scott's bandwidth, the others their defaults. Grey
points are HDBSCAN's noise.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import (
    HDBSCAN,
    AgglomerativeClustering,
    KMeans,
    SpectralClustering,
)
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from evencut import EvenCut, KernelKMeans
from evencut.affinity import scott_bandwidth
from evencut.datasets import make_clumped_moons, make_rings, make_sparse_subset
from evencut.plotting import ClusterDisplay

plain = make_blobs(600, centers=4, cluster_std=0.8, random_state=8)
uneven = make_blobs([520, 50, 30], cluster_std=[2.0, 0.5, 0.4], random_state=3)
sheared, kinds = make_blobs(600, centers=3, random_state=170)
data = {
    "moons with\na clump": make_clumped_moons(600, clump=0.5, random_state=0),
    "rings with\na clump": make_rings(600, clump=0.5, random_state=0),
    "moons with\noutliers": make_sparse_subset(600, random_state=0),
    "one large,\ntwo small": uneven,
    "stretched": (sheared @ [[0.6, -0.64], [-0.41, 0.85]], kinds),
    "round": plain,
}


def tools(X, k):
    """The clusterers; scikit-learn's Gaussian affinity gets the bandwidth of ours."""
    gamma = 0.5 / np.mean(np.square(scott_bandwidth(X)))
    return {
        "KMeans": KMeans(k, n_init=10, random_state=0),
        "Ward": AgglomerativeClustering(k),
        "Gaussian\nmixture": GaussianMixture(k, random_state=0),
        "HDBSCAN": HDBSCAN(copy=True),
        "Spectral,\nGaussian": SpectralClustering(k, gamma=gamma, random_state=0),
        "Spectral,\nneighbours": SpectralClustering(
            k, affinity="nearest_neighbors", random_state=0
        ),
        "kernel k-means\n(evencut)": KernelKMeans(k, kernel="gaussian", random_state=0),
        "evencut,\ndefault": EvenCut(k, random_state=0),
    }


# SpectralClustering warns of graphs in several pieces, which are what we want to see.
warnings.filterwarnings("ignore", message="Graph is not fully connected")

# The first fit compiles; it is not what a user waits for the second time.
for model in tools(plain[0], 4).values():
    model.fit_predict(plain[0])

figure, axes = plt.subplots(6, 8, figsize=(12.8, 9.4), layout="constrained")
for place, (name, (X, y)) in enumerate(data.items()):
    k = len(np.unique(y))
    for ax, (tool, model) in zip(axes[place], tools(X, k).items()):
        start = time.process_time()
        labels = model.fit_predict(X)
        seconds = time.process_time() - start
        ClusterDisplay.from_labels(X, labels, ax=ax, legend=False, s=4)
        ax.set(xticks=[], yticks=[])
        ax.margins(y=0.18)
        score = adjusted_rand_score(y, labels)
        corner = dict(transform=ax.transAxes, fontsize=9)
        ax.text(0.02, 0.02, f"{score:.2f}", weight="bold", **corner)
        ax.text(0.98, 0.02, f"{seconds:.2f} s", ha="right", **corner)
        if place == 0:
            ax.set_title(tool)
    axes[place, 0].set_ylabel(name)
