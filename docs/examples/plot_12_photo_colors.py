"""
The colours of a photograph
===========================

A sample of pixels is clustered by colour, and all pixels then join the clusters with
``predict``; each of five clusters is painted in its mean colour. With a Gaussian kernel,
kernel k-means spends its clusters on shades of the most frequent colours. A KNN kernel
with equal degrees finds the colours that differ.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.color import rgb2lab
from skimage.data import astronaut
from sklearn.datasets import load_sample_image

from evencut import KernelKMeans
from evencut.kernels import KNN, Gaussian

photos = [astronaut()[::4, ::4], load_sample_image("flower.jpg")[::4, ::4]]
asked = {"Gaussian": (Gaussian(5.0), None), "KNN, equal degrees": (KNN(40), "exact")}

figure, axes = plt.subplots(2, 3, figsize=(8.4, 5.2), layout="constrained")
for row, photo in zip(axes, photos):
    row[0].imshow(photo)
    row[0].set_title("photo")
    pixels, colors = photo.reshape(-1, 3), rgb2lab(photo).reshape(-1, 3)
    sample = np.random.default_rng(0).choice(len(colors), 1500, replace=False)
    for ax, (name, (kernel, equalize)) in zip(row[1:], asked.items()):
        model = KernelKMeans(5, kernel=kernel, equalize=equalize, random_state=0)
        labels = model.fit(colors[sample]).predict(colors)
        means = np.array([pixels[labels == k].mean(axis=0) for k in range(5)])
        ax.imshow(means.astype(np.uint8)[labels].reshape(photo.shape))
        ax.set_title(name)
    for ax in row:
        ax.set_axis_off()
