"""Figures 2 and 7: a photo's colours, cut in two by fixed and adaptive kernels, in colour space and in the image."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut._lazy import require
from evencut.affinity import knn_radius, parzen_density
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian
from evencut.neighbors import squared_distances
from evencut.plotting import make_figure
from evencut.tensors import Floats, Ints

from .draw import BLUE, COLORMAP, ORANGE, canvas, heading, ink, photo, solid
from .frame import Run
from .solver import SEED, Solver, contrast, smaller

FIG2_SIGMA = 5.0


@dataclass(frozen=True)
class Photo:
    """A photograph: its pixels (values 0 to 1), their LAB colours, and the colours of a sample of pixels."""

    pixels: Floats
    colors: Floats
    sample: Floats


@dataclass(frozen=True)
class Cut:
    """Two clusters of a photo's colours: of the sample (1 the smaller), and the picture with the larger one removed.

    `share` of the pixels is in the smaller cluster, whose colours are `contrast` times as dense as the others (in the
    median). Of its colours the share `densest` is among as many densest ones: 1 for a mode of the density.
    """

    labels: Ints
    picture: Floats
    share: float
    contrast: float
    densest: float


def load_photo(name: str, height: int, n_sample: int) -> Photo:
    """A photograph that comes with scikit-image, shrunk, in LAB colours.

    Noise of half a level undoes the rounding of colours to eight bits. Without it a tenth of the astronaut's pixels
    are the very same black: one point of the colour space, whose density no bandwidth can make even.
    """
    parts = ("color", "data", "transform")
    color, data, transform = (require(f"skimage.{part}", "photos need scikit-image", "vision") for part in parts)
    full = getattr(data, name)()
    pixels = transform.resize(full, (height, round(height * full.shape[1] / full.shape[0])), anti_aliasing=True)
    rng = np.random.default_rng(SEED)
    rows = rng.choice(pixels.shape[0] * pixels.shape[1], n_sample, replace=False)
    noisy = np.abs(pixels + rng.uniform(-0.5, 0.5, pixels.shape) / 255)
    colors = color.rgb2lab(np.minimum(noisy, 1.0)).reshape(-1, 3)
    return Photo(pixels, colors, colors[rows])


def cut_in_two(solver: Solver, shown: Photo, kernel: Any) -> Cut:
    """Kernel k-means of the sampled colours in two; all pixels are then labelled as new points."""
    model = solver.fit(shown.sample, kernel)
    inside = smaller(model.labels_)
    kept = model.predict(shown.colors).reshape(shown.pixels.shape[:2]) == model.labels_[inside][0]
    density = parzen_density(shown.sample, 5.0)
    densest = float(np.mean(inside[np.argsort(-density)[: inside.sum()]]))
    picture = np.where(kept[..., None], shown.pixels, 1.0)
    return Cut(inside.astype(np.int64), picture, float(kept.mean()), contrast(density, inside), densest)


def _both_cuts(run: Run, shown: Photo, fixed: Any, adaptive: Any) -> SimpleNamespace:
    """Both cuts by both solvers, their numbers kept; what the steps found is drawn."""
    kernels = {"fixed": fixed, "adaptive": adaptive}
    by = run.both(lambda s: SimpleNamespace(**{name: cut_in_two(s, shown, one) for name, one in kernels.items()}))
    for name, m in vars(by).items():
        run.numbers[name] = {
            kind: {"share": cut.share, "density_ratio": cut.contrast, "densest": cut.densest}
            for kind, cut in vars(m).items()
        }
    return by.steps


def fig2(run: Run) -> Any:
    """Figure 2: a small dense group of colours isolated."""
    shown = load_photo("astronaut", 160, 1200 if run.small else 2000)
    m = _both_cuts(run, shown, Gaussian(FIG2_SIGMA), KNN(40 if run.small else 50))
    picture = canvas(12.5, 3)
    grid = picture.add_gridspec(1, 5)
    photo(picture.add_subplot(grid[0]), shown.pixels, "photo")
    for place, (cut, name) in enumerate(((m.fixed, "(a) fixed Gaussian"), (m.adaptive, "(b) KNN kernel"))):
        ax = solid(picture, grid[1 + 2 * place], shown.sample[:, [1, 2, 0]], name, cut.labels, size=2)
        ax.set(xlabel="a", ylabel="b", zlabel="L")
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.labelpad = -12
        photo(picture.add_subplot(grid[2 + 2 * place]), cut.picture, f"{cut.share:.0%} of the pixels")
    return picture


def nash(run: Run) -> Any:
    """Figure 7: an adaptive kernel makes the density of colours uniform."""
    shown = load_photo("immunohistochemistry", 80 if run.small else 160, 800 if run.small else 2000)
    n_neighbors = 20 if run.small else 50
    m = _both_cuts(run, shown, Gaussian("scott"), AdaptiveGaussian(n_neighbors))
    before, after = parzen_density(shown.sample), _embedded_density(shown.sample, n_neighbors)
    spreads = [float(rho.std() / rho.mean()) for rho in (before, after)]
    run.words["spreads"] = spreads
    run.numbers["variation"] = spreads
    picture, axes = make_figure(2, 3, size=(10, 6.4))
    photo(axes[0, 0], shown.pixels, "(a) input")
    photo(axes[1, 0], m.fixed.picture, f"(c) fixed kernel: {m.fixed.share:.0%} of the pixels")
    photo(axes[1, 2], m.adaptive.picture, f"(f) adaptive kernel: {m.adaptive.share:.0%} of the pixels")
    names = {"xlabel": "a (green to red)", "ylabel": "b (blue to yellow)"}
    axes[0, 1].hist2d(*shown.colors[:, 1:].T, bins=60, cmap=COLORMAP, norm="log", cmin=1)
    heading(axes[0, 1], "(b) histogram of colours (log)", **names)
    colors = np.where(m.fixed.labels == 1, ORANGE, BLUE)
    axes[1, 1].scatter(*shown.sample[:, 1:].T, s=3, color=colors, linewidths=0)
    heading(axes[1, 1], "(d) fixed kernel, in colours", xlim=axes[0, 1].get_xlim(), ylim=axes[0, 1].get_ylim(), **names)
    x, y = before / before.mean(), after / after.mean()
    axes[0, 2].scatter(x, y, s=3, color=BLUE, linewidths=0, alpha=0.6)
    ends = (0, float(x.max()) * 1.05)
    axes[0, 2].plot(ends, ends, color=ink(), lw=0.8, ls="--")
    words = {"xlabel": "density of the colours", "ylabel": "density, embedded"}
    heading(axes[0, 2], "(e) density mapping", xlim=ends, ylim=ends, **words)
    return picture


def _embedded_density(X: NDArray, n_neighbors: int) -> Floats:
    """Parzen density where distances are those of the adaptive kernel: one fixed Gaussian of d_pq = |x - y|/R."""
    radius = knn_radius(X, n_neighbors)
    return np.exp(-0.5 * squared_distances(X) / (radius[:, None] * radius)).mean(axis=1)
