"""Figure 7: a photo's colours cut in two by a fixed and by an adaptive kernel, which evens their density."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import knn_radius, parzen_density, squared_distances
from ..kernels import AdaptiveGaussian, Gaussian
from ..plotting import make_figure
from .draw import BLUE, COLORMAP, ORANGE, heading
from .frame import Claim, Figure
from .photos import Cut, Photo, cut_in_two, load_photo

__all__ = ["make"]


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed, but scikit-image."""
    photo = load_photo("immunohistochemistry", 80 if small else 240, 800 if small else 2500)
    n_neighbors = 20 if small else 60
    fixed = cut_in_two(photo, Gaussian("scott"))
    adaptive = cut_in_two(photo, AdaptiveGaussian(n_neighbors))
    before = parzen_density(photo.sample)
    after = _embedded_density(photo.sample, n_neighbors)
    spreads = {name: float(rho.std() / rho.mean()) for name, rho in (("data", before), ("embedding", after))}
    return Figure(
        "nash",
        "Figure 7: an adaptive kernel evens the density of colours",
        "A stained tissue section (bundled with scikit-image; the paper's photo is not to be had), its colours, and "
        "its cuts in two by kernel k-means with Scott's bandwidth and with bandwidths from the density law. (e) "
        "Density at each sampled pixel, in colour space and in the adaptive kernel's embedding, each over its mean.",
        _draw(photo, fixed, adaptive, before, after),
        [
            Claim.judge(
                "A fixed bandwidth isolates the mode of the colours.",
                f"{fixed.share:.0%} of the pixels, {fixed.contrast:.1f} times as dense as the rest, with "
                f"{fixed.of_mode:.0%} of the densest twentieth",
                fixed.share < 0.35 and fixed.contrast > 2 and fixed.of_mode > 0.9,
            ),
            Claim.judge(
                "The adaptive bandwidth makes the density even.",
                f"coefficient of variation {spreads['data']:.2f} in colour space, {spreads['embedding']:.2f} embedded",
                spreads["embedding"] < 0.5 * spreads["data"],
            ),
            Claim.judge(
                "With it the mode is no longer cut off from colours like it.",
                f"{adaptive.share:.0%} of the pixels, {adaptive.contrast:.1f} times as dense as the rest",
                adaptive.share > 1.3 * fixed.share and adaptive.contrast < fixed.contrast,
            ),
        ],
        {
            "variation": spreads,
            "share": {"fixed": fixed.share, "adaptive": adaptive.share},
            "density_ratio": {"fixed": fixed.contrast, "adaptive": adaptive.contrast},
        },
    )


def _embedded_density(X: NDArray, n_neighbors: int) -> NDArray[np.float64]:
    """Parzen density where distances are those of the adaptive kernel: one fixed Gaussian of d_pq = |x - y|/R."""
    radius = knn_radius(X, n_neighbors)
    return np.exp(-0.5 * squared_distances(X) / (radius[:, None] * radius)).mean(axis=1)


def _draw(photo: Photo, fixed: Cut, adaptive: Cut, before: NDArray, after: NDArray) -> Any:
    picture, axes = make_figure(2, 3, size=(10, 6.4))
    for ax, image, title in (
        (axes[0, 0], photo.pixels, "(a) input"),
        (axes[1, 0], fixed.picture, f"(c) fixed kernel: {fixed.share:.0%} of the pixels"),
        (axes[1, 2], adaptive.picture, f"(f) adaptive kernel: {adaptive.share:.0%} of the pixels"),
    ):
        ax.imshow(image)
        ax.set_axis_off()
        heading(ax, title)
    a, b = photo.colors[:, 1], photo.colors[:, 2]
    axes[0, 1].hist2d(a, b, bins=60, cmap=COLORMAP, norm="log", cmin=1)
    heading(axes[0, 1], "(b) histogram of colours (log)")
    for k, color in enumerate((BLUE, ORANGE)):
        one = fixed.labels == k
        axes[1, 1].scatter(photo.sample[one, 1], photo.sample[one, 2], s=3, color=color, linewidths=0)
    axes[1, 1].set(xlim=axes[0, 1].get_xlim(), ylim=axes[0, 1].get_ylim())
    heading(axes[1, 1], "(d) fixed kernel, in colours")
    for ax in (axes[0, 1], axes[1, 1]):
        ax.set(xlabel="a (green to red)", ylabel="b (blue to yellow)")
    axes[0, 2].scatter(before / before.mean(), after / after.mean(), s=3, color=BLUE, linewidths=0, alpha=0.6)
    top = float((before / before.mean()).max()) * 1.05
    axes[0, 2].plot([0, top], [0, top], color="black", lw=0.8, ls="--")
    axes[0, 2].set(xlabel="density of the colours", ylabel="density, embedded", xlim=(0, top), ylim=(0, top))
    heading(axes[0, 2], "(e) density mapping")
    return picture
