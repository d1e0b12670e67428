"""
An isolated clump, and its cures
================================

Kernel k-means with a Gaussian kernel isolates the dense clump. A kernel that adapts to
the density, weights, and exact equalisation each find the moons.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import adjusted_rand_score

from evencut import KernelKMeans
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian
from evencut.plotting import ClusterDisplay

X, y = make_clumped_moons(600, clump=0.5, random_state=0)
asked = {
    "Gaussian": (Gaussian(0.1), None),
    "Gaussian, weights": (Gaussian(0.1), "weights"),
    "Gaussian, exact": (Gaussian(0.1), "exact"),
    "KNN": (KNN(10), None),
}

figure, axes = plt.subplots(2, 2, figsize=(8.4, 5.0), layout="constrained")
for ax, (name, (kernel, equalize)) in zip(axes.flat, asked.items()):
    model = KernelKMeans(2, kernel=kernel, equalize=equalize, random_state=0)
    labels = model.fit_predict(X)
    title = f"{name}: ARI {adjusted_rand_score(y, labels):.2f}"
    ClusterDisplay.from_labels(X, labels, ax=ax, title=title, legend=False, s=10)
    ax.set(aspect="equal", xticks=[], yticks=[])
