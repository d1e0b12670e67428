"""
Density, borders, energy: three displays
========================================

Is a cluster only the densest region? Where would a new point go? Did the solver converge?
Each display makes its own figure, or draws on your axes.
"""

import matplotlib.pyplot as plt

from evencut import KernelKMeans
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian
from evencut.plotting import BorderDisplay, DensityDisplay, EnergyDisplay

X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
biased = KernelKMeans(2, kernel=Gaussian(0.1), random_state=0).fit(X)
even = KernelKMeans(2, kernel=KNN(10), random_state=0).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(8.8, 2.6), layout="constrained")
style = dict(legend=False, s=5)
DensityDisplay.from_estimator(biased, X, ax=axes[0], title="the mode", **style)
BorderDisplay.from_estimator(even, X, ax=axes[1], title="even borders", **style)
EnergyDisplay.from_estimator(biased, ax=axes[2])
axes[2].set_title("energy")
for ax in axes[:2]:
    ax.set(xticks=[], yticks=[])
