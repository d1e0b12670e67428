"""
Embeddings: pictures of digits by angle
=======================================

Rows of many dimensions are compared by their angle with ``metric="cosine"``. Each picture
is the mean of one cluster of the 1797 digits of scikit-learn, 64 numbers each. Titles
show its size and the share of its most frequent digit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut

X, y = load_digits(return_X_y=True)
model = EvenCut(10, metric="cosine", random_state=0).fit(X)

figure, axes = plt.subplots(2, 5, figsize=(7.6, 3.9), layout="constrained")
for k, ax in enumerate(axes.flat):
    members = model.labels_ == k
    counts = np.bincount(y[members], minlength=10)
    ax.imshow(X[members].mean(axis=0).reshape(8, 8), cmap="cividis")
    purity = counts.max() / members.sum()
    ax.set_title(f"{members.sum()}: {purity:.0%} are {counts.argmax()}")
    ax.set_axis_off()
figure.suptitle(f"ARI with the digits {adjusted_rand_score(y, model.labels_):.2f}")
