"""
The colours of a photograph
===========================

A sample of pixels is clustered by colour; all pixels then join the clusters with ``predict``.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.color import rgb2lab
from skimage.data import astronaut

from evencut import KernelKMeans
from evencut.kernels import KNN, Gaussian

image = astronaut()[::4, ::4]
colors = rgb2lab(image).reshape(-1, 3)
sample = colors[np.random.default_rng(0).choice(len(colors), 1500, replace=False)]

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
axes[0].imshow(image)
axes[0].set_title("photo")
for ax, kernel, name in zip(axes[1:], (Gaussian(5.0), KNN(40)), ("Gaussian", "KNN")):
    labels = KernelKMeans(2, kernel=kernel, random_state=0).fit(sample).predict(colors)
    smaller = (labels == 1).reshape(image.shape[:2])  # clusters are numbered by falling weight
    ax.imshow(np.where(smaller[..., None], image, 255))
    ax.set_title(f"{name}: smaller cluster")
for ax in axes:
    ax.set_axis_off()
