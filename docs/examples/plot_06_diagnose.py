"""
Diagnose a clustering, and try the cure
=======================================

k-means cuts both moons through the middle. ``diagnose`` needs the points and the labels
only, finds the borders that lie where the data are dense, and tries a cure before it
offers one.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from evencut import diagnose
from evencut.datasets import make_clumped_moons
from evencut.plotting import DensityDisplay

X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
labels = KMeans(2, n_init=10, random_state=0).fit_predict(X)
report = diagnose(X, labels)
print(report)

# %%
# The labels of the cure are part of the report.

cure = report.cures[0]
pictures = {f"k-means: {report.verdict}": labels}
pictures[f"the cure: {diagnose(X, cure.labels).verdict}"] = cure.labels
figure, axes = plt.subplots(1, 2, figsize=(8.4, 2.6), layout="constrained")
for ax, (title, shown) in zip(axes, pictures.items()):
    DensityDisplay.from_labels(X, shown, ax=ax, title=title, legend=False, s=9)
    ax.set(aspect="equal", xticks=[], yticks=[])
