"""
How many clusters?
==================

``n_clusters="auto"`` takes the number on which methods of different kinds agree most,
beyond what they would agree on by chance. The chance curve is that of one Gaussian.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from evencut import EvenCut
from evencut.plotting import ClusterDisplay, plot_selection

X, _ = make_blobs([300, 150, 80, 40, 20], cluster_std=0.7, random_state=4)
model = EvenCut("auto", random_state=0).fit(X)
print(f"{model.n_clusters_} clusters of {np.bincount(model.labels_)} points")

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
ClusterDisplay.from_estimator(model, X, ax=axes[0], legend=False, s=10)
axes[0].set(title=f"{model.n_clusters_} clusters found", xticks=[], yticks=[])
plot_selection(model.selection_, ax=axes[1])
axes[1].set(title="what was compared")
