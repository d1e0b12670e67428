"""Figure 9: normalised cut splits off sparse points at smaller bandwidths and loses the moons at larger ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..criteria import energy
from ..datasets import make_clumped_moons, make_sparse_subset
from ..kernels import KNN, AdaptiveGaussian, Gaussian, LocalScaling
from ..plotting import make_figure
from .draw import BLUE, GREEN, clusters, heading
from .frame import Claim, Figure
from .moons import SEED, score, split, sweep

__all__ = ["make"]

_CURES = {"KNN kernel": KNN(10), "Zelnik-Manor-Perona": LocalScaling(7)}


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X, truth = make_sparse_subset(400 if small else 600, random_state=SEED)
    sigmas = np.geomspace(0.05, 3, 14 if small else 45)
    found = sweep(X, truth, sigmas, "normalized_cut")
    below, above = _turning_point(X, found, steps=4)
    cured = {name: split(X, kernel, "normalized_cut").labels_ for name, kernel in _CURES.items()}
    scores = {name: score(truth, labels) for name, labels in cured.items()}
    clumped, halves = make_clumped_moons(400 if small else 600, clump=0.5, random_state=SEED)
    on_fig1 = sweep(clumped, halves, sigmas[::3], "normalized_cut")
    spread_out = score(truth, split(X, AdaptiveGaussian(7), "normalized_cut").labels_)

    picture, axes = make_figure(2, 2, size=(9, 6))
    for ax, letter, (sigma, labels) in zip(axes[0], "ab", (below, above)):
        outcome = f"NC = {_value(X, labels, sigma):.3f}, ARI {score(truth, labels):.2f}"
        clusters(ax, X, labels, f"({letter}) σ = {sigma:.3f}: {outcome}", size=10)
    clusters(axes[1, 0], X, cured["KNN kernel"], f"(c) NC with KNN kernel: ARI {scores['KNN kernel']:.2f}", size=10)
    _draw_sweep(axes[1, 1], found, below[0], min(scores.values()))

    smallest = int(np.bincount(below[1]).min())
    return Figure(
        "ncut",
        "Figure 9: sparse subsets stolen by normalised cut",
        "Two moons, one with a thin tail. Panels (a) and (b) stand right below and right above the bandwidth at which "
        "the optimum changes; values are those of Shi and Malik's normalised cut.",
        picture,
        [
            Claim.judge(
                "At a smaller bandwidth NC splits off a few sparse points.",
                f"{smallest} of {len(X)} points at σ = {below[0]:.3f}, NC = {_value(X, below[1], below[0]):.3f}",
                smallest <= 0.02 * len(X),
            ),
            Claim.judge(
                "At the first larger bandwidth that overcomes this, the moons can no longer be parted.",
                f"ARI {score(truth, above[1]):.2f} at σ = {above[0]:.3f}, NC = {_value(X, above[1], above[0]):.3f}",
                score(truth, above[1]) < 0.6 and np.bincount(above[1]).min() > 0.2 * len(X),
            ),
            Claim.judge(
                "No fixed bandwidth is right.",
                f"best ARI {found.best:.2f} over {len(sigmas)} bandwidths from {sigmas[0]:g} to {sigmas[-1]:g}",
                found.best < 0.9,
            ),
            Claim.judge(
                "NC with an adaptive kernel is right.",
                "; ".join(f"{name} {value:.2f}" for name, value in scores.items())
                + f" (mean of adaptive Gaussians {spread_out:.2f}: the wide kernels of the tail reach the moons)",
                min(scores.values()) > 0.98,
            ),
            Claim.judge(
                "All this on the data of Figure 1.",
                f"best ARI of NC over fixed bandwidths {on_fig1.best:.2f} on our moons with a clump",
                on_fig1.best < 0.9,
                "our moons with a clump have no weakly linked points to split, so NC parts them at many a bandwidth; "
                "the bias needs a sparse subset, and the moons above have one",
            ),
        ],
        {
            "ari": scores | {"adaptive Gaussian": spread_out, "fixed, Figure 1": on_fig1.best},
            "sweep": {"sigma": sigmas, "ari": found.score},
        },
    )


def _value(X: Any, labels: Any, sigma: float) -> float:
    """Shi and Malik's normalised cut, which is eq. 10 plus the number of clusters."""
    return 2 + energy(Gaussian(sigma).affinity(X), labels, "normalized_cut")


def _turning_point(X: Any, found: Any, steps: int) -> tuple[tuple[float, Any], tuple[float, Any]]:
    """Bandwidths right below and right above the change from a tiny cut to a balanced one, with their optima."""
    balanced = found.smallest > 0.2 * len(X)
    last = int(np.flatnonzero(~balanced)[-1])
    low, high = last, last + 1
    below, above = (found.sigma[low], found.labels[low]), (found.sigma[high], found.labels[high])
    for _ in range(steps):
        sigma = float(np.sqrt(below[0] * above[0]))
        best = split(X, Gaussian(sigma), "normalized_cut").labels_
        if np.bincount(best).min() > 0.2 * len(X):
            above = sigma, best
        else:
            below = sigma, best
    return below, above


def _draw_sweep(ax: Any, found: Any, turn: float, adaptive: float) -> None:
    ax.plot(found.sigma, found.score, color=BLUE, label="fixed σ")
    ax.axhline(adaptive, color=GREEN, lw=3, alpha=0.6, label="adaptive kernel")
    ax.axvline(turn, color="black", lw=0.8)
    ax.text(turn * 0.93, 0.75, "sparse subset", ha="right", fontsize=9)
    ax.text(turn * 1.07, 0.75, "no moons", ha="left", fontsize=9)
    ax.set(xscale="log", xlabel="bandwidth σ", ylabel="ARI", ylim=(-0.05, 1.35), yticks=[0, 0.5, 1])
    ax.legend(fontsize=9, loc="upper left", ncols=2, frameon=False)
    heading(ax, "(d) no fixed σ is right")
