"""
Cut out an object from a box
============================

``segment`` takes a box around the object or clicks on it; ``refine`` takes
corrections. The photos come with scikit-learn and scikit-image.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from skimage.data import astronaut
from sklearn.datasets import load_sample_image

from evencut.plotting import paint_labels
from evencut.segmentation import segment

flower = load_sample_image("flower.jpg")[::2, ::2]
person = astronaut()[::2, ::2]
boxes = [(flower, (60, 10, 255, 210)), (person, (0, 0, 165, 256))]

figure, axes = plt.subplots(2, 3, figsize=(8.4, 5.4), layout="constrained")
for row, (photo, (x0, y0, x1, y1)) in zip(axes, boxes):
    result = segment(photo, box=(x0, y0, x1, y1))
    row[0].imshow(photo)
    row[0].add_patch(
        Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, color="#ffe600", lw=2)
    )
    row[1].imshow(paint_labels(photo, result.mask.astype(int), 2))
    row[2].imshow(np.dstack([photo, 255 * result.mask.astype(np.uint8)]))
    for ax, title in zip(row, ("photo and box", "what is found", "cut out")):
        ax.set_title(title)
        ax.set_axis_off()
