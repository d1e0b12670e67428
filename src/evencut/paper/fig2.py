"""Figure 2: a photo's colours cut in two by a fixed and by an adaptive kernel, in colour space and in the image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..kernels import KNN, Gaussian
from .draw import BLUE, ORANGE, bare, heading
from .frame import Claim, Figure
from .photos import Cut, Photo, cut_in_two, load_photo

__all__ = ["make"]


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed, but scikit-image."""
    photo = load_photo("astronaut", 160 if small else 240, 1200 if small else 2500)
    fixed = cut_in_two(photo, Gaussian(5.0))
    adaptive = cut_in_two(photo, KNN(40 if small else 60))
    return Figure(
        "fig2",
        "Figure 2: the most frequent colour stolen",
        "LAB colours of a photograph (from NASA, bundled with scikit-image; the paper's is not to be had) cut in two "
        "by kernel k-means, after noise of half a level that undoes their rounding to eight bits. Points: a "
        "sample of pixels in colour space. Pictures: the larger cluster is removed.",
        _draw(photo, fixed, adaptive),
        [
            Claim.judge(
                "A fixed-width Gaussian isolates a small dense group of colours.",
                f"{fixed.share:.0%} of the pixels, {fixed.contrast:.1f} times as dense as the rest, with "
                f"{fixed.of_mode:.0%} of the densest twentieth",
                fixed.share < 0.25 and fixed.contrast > 2 and fixed.of_mode > 0.9,
            ),
            Claim.judge(
                "An adaptive kernel separates an object by colour instead of the densest group.",
                f"{adaptive.share:.0%} of the pixels, {adaptive.contrast:.1f} times as dense as the rest, with "
                f"{adaptive.of_mode:.0%} of the densest twentieth",
                adaptive.contrast < 0.5 * fixed.contrast and adaptive.of_mode < 0.1,
            ),
        ],
        {
            "share": {"fixed": fixed.share, "adaptive": adaptive.share},
            "density_ratio": {"fixed": fixed.contrast, "adaptive": adaptive.contrast},
        },
    )


def _draw(photo: Photo, fixed: Cut, adaptive: Cut) -> Any:
    from matplotlib.figure import Figure as Canvas

    picture = Canvas(figsize=(12.5, 3), layout="constrained")
    grid = picture.add_gridspec(1, 5)
    shown = picture.add_subplot(grid[0])
    shown.imshow(photo.pixels)
    shown.set_axis_off()
    heading(shown, "photo")
    for place, (cut, name) in enumerate(((fixed, "(a) fixed Gaussian"), (adaptive, "(b) KNN kernel"))):
        solid = picture.add_subplot(grid[1 + 2 * place], projection="3d")
        lightness, red_green, blue_yellow = photo.sample.T
        for k, color in enumerate((BLUE, ORANGE)):
            one = cut.labels == k
            solid.scatter(red_green[one], blue_yellow[one], lightness[one], s=2, color=color, linewidths=0)
        bare(solid)
        solid.set(xlabel="a", ylabel="b", zlabel="L")
        for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
            axis.labelpad = -12
        heading(solid, name)
        ax = picture.add_subplot(grid[2 + 2 * place])
        ax.imshow(cut.picture)
        ax.set_axis_off()
        heading(ax, f"{cut.share:.0%} of the pixels")
    return picture
