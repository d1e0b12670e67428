"""Figures 10 and 11: normalisation turns densities upside down where points are sparse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from ..affinity import degrees, knn_radius, squared_distances
from ..criteria import energy
from ..datasets import make_growing_density
from ..kernels import Gaussian
from ..theory import (
    density_inversion,
    density_inversion_minimum,
    euclidean_embedding,
    metric_mds,
    modified_distances,
    normalized_affinity,
)
from .draw import BLUE, COLORMAP, ORANGE, bare, heading
from .frame import Claim, Figure

__all__ = ["make"]

_DIMENSION = 20
_NEIGHBORS = 8


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X, rho = make_growing_density(150 if small else 300, ratio=100, random_state=0)
    squared, sigma = squared_distances(X), 0.1
    hat = modified_distances(squared, sigma)
    embedded = metric_mds(hat, 3)
    np.fill_diagonal(hat, 0.0)
    full, _ = euclidean_embedding(hat)
    reach = {name: knn_radius(points, _NEIGHBORS) for name, points in (("full", full), ("three", embedded))}
    # Far neighbours are sparse ones: a rank correlation above zero turns the density upside down.
    order = {name: float(spearmanr(rho, radius).statistic) for name, radius in reach.items()}
    minima = {
        weighted: density_inversion_minimum(embedding_dimension=_DIMENSION, weighted=weighted)
        for weighted in (False, True)
    }
    identity = _identity_error(X, sigma)
    steps = [density_inversion_minimum(embedding_dimension=d) for d in (20, 40, 60)]

    picture = _draw(X, rho, embedded, reach["full"], minima)
    return Figure(
        "inversion",
        "Figures 10 and 11: density inversion",
        "(a, b) The density that normalised cut sees, as a function of the true one, for an embedding of 20 "
        "dimensions. (c) Points on a line, ever denser, (d) their embedding by the modified distances, scaled to three "
        f"dimensions, and (e) the distance to the {_NEIGHBORS}th neighbour in the full embedding: larger where the "
        "data are dense.",
        picture,
        [
            Claim.judge(
                "NC is weighted average association with the affinity A/(d d') and the weights d.",
                f"relative difference of the energies {identity:.1e}",
                identity < 1e-10,
                at="Section 5.2",
            ),
            Claim.judge(
                "Both transforms fall, up to a minimum, where the density rises; weights weaken the inversion.",
                f"minima at x* = {minima[False]:.0f} without and {minima[True]:.0f} with weights, "
                f"{_slope_changes(minima)} changes of slope seen on the curves",
                _slope_changes(minima) == 2 and minima[True] < minima[False],
                at="Figure 10",
            ),
            Claim.judge(
                "The minimum moves away exponentially with the dimension of the embedding.",
                "x* = " + ", ".join(f"{x:.3g}" for x in steps) + " for 20, 40 and 60 dimensions",
                np.isclose(np.log(steps[2] / steps[1]), np.log(steps[1] / steps[0])) and steps[1] > 100 * steps[0],
                at="Figure 10",
            ),
            Claim.judge(
                "In the embedding the density is inverted: sparse regions become the denser ones.",
                f"rank correlation {order['full']:.2f} of the density of the data and the distance to the "
                f"{_NEIGHBORS}th neighbour in the full embedding of {full.shape[1]} dimensions",
                order["full"] > 0.5,
                at="Figure 11",
            ),
            Claim.judge(
                "Three dimensions of the embedding show it.",
                f"the same rank correlation in three dimensions: {order['three']:.2f}",
                order["three"] > 0.5,
                "in three dimensions the sparse end stays stretched out; the distances that invert the density are "
                "spread over all the others",
                at="Figure 11",
            ),
        ],
        {"minima": {"kernel only": minima[False], "with weights": minima[True]}, "rank_correlation": order},
    )


def _identity_error(X: NDArray, sigma: float) -> float:
    """Relative difference of eq. 10 and of eq. 42 on normalised affinities, for one split."""
    affinity = Gaussian(sigma).affinity(X)
    labels = (X[:, 0] > 0.5).astype(int)
    weighted = energy(normalized_affinity(affinity), labels, "average_association", degrees(affinity))
    return abs(weighted / energy(affinity, labels, "normalized_cut") - 1)


def _slope_changes(minima: dict[bool, float]) -> int:
    """How many of the curves fall below their x* and rise above it."""
    found = 0
    for weighted, lowest in minima.items():
        x = lowest * np.array([0.3, 1.0, 3.0])
        y = density_inversion(x, embedding_dimension=_DIMENSION, weighted=weighted)
        found += bool(y[0] > y[1] < y[2])
    return found


def _draw(X: NDArray, rho: NDArray, embedded: NDArray, reach: NDArray, minima: dict[bool, float]) -> Any:
    from matplotlib.figure import Figure as Canvas

    picture = Canvas(figsize=(11, 6.4), layout="constrained")
    grid = picture.add_gridspec(2, 6, height_ratios=(1, 1.1))
    spans = {False: (1500, 60_000, "x/(1 + log x)¹⁰", BLUE), True: (20, 400, "x²/(1 + log x)¹⁰", ORANGE)}
    for place, (weighted, (low, high, formula, color)) in enumerate(spans.items()):
        ax = picture.add_subplot(grid[0, 3 * place : 3 * place + 3])
        x = np.linspace(low, high, 300)
        ax.plot(x, density_inversion(x, embedding_dimension=_DIMENSION, weighted=weighted), color=color, lw=2)
        ax.axvline(minima[weighted], color="black", lw=0.8, ls="--")
        ax.text(0.5, 0.85, f"τ(x) = {formula}", transform=ax.transAxes, ha="center")
        ax.annotate(
            f"x* = {minima[weighted]:.0f}",
            (minima[weighted], 0.6),
            (4, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=9,
        )
        ax.set(xlabel="density x", yticks=[], ylabel="density seen")
        heading(ax, "(b) with point weights: normalised cut" if weighted else "(a) kernel normalisation only")
    line = picture.add_subplot(grid[1, :2])
    shown = line.scatter(X[:, 0], np.zeros(len(X)), c=np.log10(rho), cmap=COLORMAP, marker="|", s=500, linewidths=0.8)
    line.set(yticks=[], ylim=(-1, 1), xlabel="x")
    heading(line, "(c) data, ever denser")
    solid = picture.add_subplot(grid[1, 2:4], projection="3d")
    solid.scatter(*embedded.T, c=np.log10(rho), cmap=COLORMAP, s=9, linewidths=0, depthshade=False)
    bare(solid)
    solid.set_box_aspect(None, zoom=1.2)
    heading(solid, "(d) embedding in three dimensions")
    spread = picture.add_subplot(grid[1, 4:])
    spread.scatter(rho, reach, c=np.log10(rho), cmap=COLORMAP, s=9, linewidths=0)
    spread.set(xscale="log", xlabel="density in (c)", ylabel=f"distance to neighbour {_NEIGHBORS}")
    heading(spread, "(e) in the full embedding")
    picture.colorbar(shown, ax=[line, solid, spread], label="log₁₀ of the density in (c)", shrink=0.8)
    return picture
