"""
A few labels change the clustering
==================================

Four groups of points, two clusters: rows or columns? The points alone do not decide.
``fit(X, y)`` takes known labels (the stars) and -1 elsewhere. Labelled rows keep their
labels, and the other rows are clustered to match.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from evencut import EvenCut
from evencut.plotting import PALETTE, ClusterDisplay

corners = np.array([[0, 0], [3, 0], [0, 3], [3, 3]])
X, corner = make_blobs(400, centers=corners, cluster_std=0.55, random_state=0)
nearest = [np.linalg.norm(X - place, axis=1).argmin() for place in corners]
rows, columns = np.full(len(X), -1), np.full(len(X), -1)
rows[nearest], columns[nearest] = [0, 0, 1, 1], [0, 1, 0, 1]

figure, axes = plt.subplots(1, 3, figsize=(8.4, 3.0), layout="constrained")
asked = {"no labels": None, "rows": rows, "columns": columns}
for ax, (title, y) in zip(axes, asked.items()):
    model = EvenCut(2, random_state=0).fit(X, y)
    ClusterDisplay.from_estimator(model, X, ax=ax, title=title, legend=False, s=8)
    ax.set(aspect="equal", xticks=[], yticks=[])
    if y is not None:
        colors = [PALETTE[label] for label in y[nearest]]
        stars = dict(s=180, marker="*", edgecolor="white", linewidth=1.2, zorder=5)
        ax.scatter(*X[nearest].T, c=colors, **stars)
