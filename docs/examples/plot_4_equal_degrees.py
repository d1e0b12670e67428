"""
Equal degrees: three criteria become one
========================================

Energies of many random splits under average association, normalised cut and average cut. On a Gaussian affinity they
disagree; on the exactly equalised one they lie on a line.
"""

import matplotlib.pyplot as plt
import numpy as np

from evencut.affinity import equalize
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons
from evencut.kernels import Gaussian
from evencut.plotting import PALETTE

X, _ = make_clumped_moons(400, clump=0.5, random_state=0)
affinity = Gaussian(0.1).affinity(X)
rng = np.random.default_rng(0)
sides = [X @ rng.normal(size=2) for _ in range(80)]
splits = [(side > np.quantile(side, rng.uniform(0.1, 0.9))).astype(int) for side in sides]

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, matrix, title in zip(axes, (affinity, equalize(affinity)), ("as it is", "exactly equalised")):
    mean = matrix.sum(axis=1).mean()
    cut = [energy(matrix, labels, "normalized_cut") for labels in splits]
    association = [energy(matrix, labels, "average_association") / mean for labels in splits]
    average = [energy(matrix, labels, "average_cut") / mean - 2 for labels in splits]
    ax.plot(cut, association, "o", color=PALETTE[0], ms=4, label="average association / mean degree")
    ax.plot(cut, average, "x", color=PALETTE[1], ms=5, label="average cut / mean degree − 2")
    ax.axline((-2, -2), slope=1, color="black", lw=0.8)
    ax.set(xlabel="normalised cut", title=title)
axes[0].legend(fontsize=8)
