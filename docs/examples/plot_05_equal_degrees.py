"""
Equal degrees: three criteria become one
========================================

Energies of many random splits under average association, normalised cut and average cut.
On a Gaussian affinity they disagree; on the exactly equalised one they lie on a line.
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
splits = [
    (side > np.quantile(side, rng.uniform(0.1, 0.9))).astype(int) for side in sides
]

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
compared = {"as it is": affinity, "exactly equalised": equalize(affinity)}
for ax, (title, matrix) in zip(axes, compared.items()):
    mean = matrix.sum(axis=1).mean()
    cut = [energy(matrix, labels, "normalized_cut") for labels in splits]
    association = [
        energy(matrix, labels, "average_association") / mean for labels in splits
    ]
    average = [energy(matrix, labels, "average_cut") / mean - 2 for labels in splits]
    dots, crosses = dict(color=PALETTE[0], ms=4), dict(color=PALETTE[1], ms=5)
    ax.plot(cut, association, "o", **dots, label="average association / mean degree")
    ax.plot(cut, average, "x", **crosses, label="average cut / mean degree − 2")
    ax.axline((-2, -2), slope=1, color="grey", lw=0.8)
    ax.set(xlabel="normalised cut", title=title)
axes[0].legend(fontsize=8)
