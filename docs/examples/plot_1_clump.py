"""
A clump stolen, and two moons found
===================================

Kernel k-means with a Gaussian kernel isolates the dense clump. A kernel that adapts to the density, weights, or exact
equalisation find the moons.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import adjusted_rand_score

from evencut import KernelKMeans
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian
from evencut.plotting import ClusterDisplay

X, y = make_clumped_moons(600, clump=0.5, random_state=0)
models = {
    "Gaussian": KernelKMeans(2, kernel=Gaussian(0.1), random_state=0),
    "Gaussian, weights": KernelKMeans(2, kernel=Gaussian(0.1), equalize="weights", random_state=0),
    "Gaussian, exact": KernelKMeans(2, kernel=Gaussian(0.1), equalize="exact", random_state=0),
    "KNN": KernelKMeans(2, kernel=KNN(10), random_state=0),
}

figure, axes = plt.subplots(2, 2, figsize=(9, 5.4), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    labels = model.fit_predict(X)
    title = f"{name}: ARI {adjusted_rand_score(y, labels):.2f}"
    ClusterDisplay.from_labels(X, labels, ax=ax, title=title, legend=False, s=10)
    ax.set(aspect="equal", xticks=[], yticks=[])
