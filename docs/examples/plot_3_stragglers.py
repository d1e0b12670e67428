"""
Stragglers stolen by normalised cut
===================================

The opposite bias: with a Gaussian kernel of one bandwidth, normalised cut splits off the end of a thin tail. A KNN
kernel keeps the tail with the moon it belongs to.
"""

import matplotlib.pyplot as plt

from evencut import NormalizedCut
from evencut.datasets import make_sparse_subset
from evencut.kernels import KNN, Gaussian
from evencut.plotting import ClusterDisplay

X, y = make_sparse_subset(600, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, kernel, name in zip(axes, (Gaussian(0.3), KNN(10)), ("Gaussian", "KNN")):
    model = NormalizedCut(2, kernel=kernel, random_state=0).fit(X)
    ClusterDisplay.from_estimator(model, X, ax=ax, title=f"normalised cut, {name} kernel", s=12)
    ax.set(aspect="equal", xticks=[], yticks=[])
