"""
Outliers split off by normalised cut
====================================

The opposite bias: with a Gaussian kernel of one bandwidth, normalised cut splits off the
end of a thin tail. A KNN kernel keeps the tail with the moon it belongs to.
"""

import matplotlib.pyplot as plt
import numpy as np

from evencut import NormalizedCut
from evencut.datasets import make_sparse_subset
from evencut.kernels import KNN, Gaussian
from evencut.plotting import ClusterDisplay

X, y = make_sparse_subset(600, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(8.4, 2.7), layout="constrained")
for ax, kernel, name in zip(axes, (Gaussian(0.3), KNN(10)), ("Gaussian", "KNN")):
    model = NormalizedCut(2, kernel=kernel, random_state=0).fit(X)
    smaller = np.bincount(model.labels_).min()
    title = f"{name} kernel: smaller cluster of {smaller}"
    ClusterDisplay.from_estimator(model, X, ax=ax, title=title, legend=False, s=9)
    ax.set(aspect="equal", xticks=[], yticks=[])
