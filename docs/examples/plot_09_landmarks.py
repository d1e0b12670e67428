"""
Landmarks for rare clusters
===========================

``LandmarkClustering`` reads large data in blocks and clusters a few hundred landmarks.
Drawn like the data, landmarks concentrate in dense regions, and rare clusters get too
few. Chosen by the density law, they cover all clusters. Titles show the adjusted Rand
index of the rare cluster that is found worst.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from evencut import LandmarkClustering
from evencut.plotting import ClusterDisplay

rng = np.random.default_rng(0)
sizes = [60_000, 38_000, 300, 300, 300]
centres = np.array([[0, 0], [7, 0], [0, 6], [3.5, 5], [7, 6]])
spreads = np.array([1.2, 0.9, 0.35, 0.35, 0.35])
y = np.repeat(np.arange(5), sizes)
X = centres[y] + spreads[y, None] * rng.normal(size=(len(y), 2))

figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
few = rng.permutation(len(X))[:4000]
few = np.concatenate([few, np.flatnonzero(y > 1)])
for ax, drawn in zip(axes, ("identity", "constant")):
    model = LandmarkClustering(
        5, n_landmarks=300, landmark_density=drawn, random_state=0
    ).fit(X)
    rare = min(
        adjusted_rand_score(y == k, model.labels_ == model.labels_[y == k][0])
        for k in (2, 3, 4)
    )
    ClusterDisplay.from_labels(X[few], model.labels_[few], ax=ax, legend=False, s=3)
    ax.scatter(*model.landmarks_.T, s=12, color="#e8e8e8", edgecolor="#333333", lw=0.6)
    title = "drawn like the data" if drawn == "identity" else "by the density law"
    ax.set(title=f"{title}: worst rare cluster {rare:.2f}", xticks=[], yticks=[])
