"""The inset of Section 5.2: node degrees of a Gaussian kernel follow the density, from 1 up to the number of points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import degrees
from ..datasets import make_growing_density
from ..kernels import Gaussian
from ..plotting import make_figure
from .draw import BLUE, GREEN, GREY, ORANGE, heading
from .frame import Claim, Figure

__all__ = ["make"]

_SIGMAS = (0.002, 0.02, 0.2)


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    n_samples = 300 if small else 1000
    samples = [_peak(n_samples, seed) for seed in range(3 if small else 10)]
    rho = np.concatenate([density for _, density in samples])
    found = {s: np.concatenate([degrees(Gaussian(s).affinity(X)) for X, _ in samples]) for s in _SIGMAS}
    # The degree an even density rho would give: rho n times the integral of the kernel.
    ideal = {sigma: n_samples * rho * sigma * np.sqrt(2 * np.pi) for sigma in _SIGMAS}
    thin, dense = rho < np.quantile(rho, 0.05), rho > np.quantile(rho, 0.95)
    X = samples[0][0]
    over = {s: float(np.median(found[s][thin] / ideal[s][thin])) for s in _SIGMAS}
    under = {s: float(np.median(found[s][dense] / ideal[s][dense])) for s in _SIGMAS}
    follow = float(np.corrcoef(found[0.02], ideal[0.02])[0, 1])
    alone = float(degrees(Gaussian(1e-6).affinity(X)).max())
    together = float(degrees(Gaussian(1e3).affinity(X)).min())

    picture, ax = make_figure(size=(7, 5))
    first = slice(0, n_samples)
    _draw(ax, rho[first], {s: d[first] for s, d in found.items()}, {s: d[first] for s, d in ideal.items()}, n_samples)
    return Figure(
        "degrees",
        "Section 5.2: node degree against density",
        "Points on a line, 200 times denser in the middle than at the ends. Node degrees for three bandwidths beside "
        "the degree a locally even density would give (thin lines).",
        picture,
        [
            Claim.judge(
                "A degree is at least 1 (an isolated point) and at most N (a dense graph).",
                f"all within [{min(map(np.min, found.values())):.3f}, {max(map(np.max, found.values())):.0f}], N = "
                f"{n_samples}; at most {alone:.2f} at σ = 1e-6, at least {together:.0f} at σ = 1e3",
                min(map(np.min, found.values())) >= 1 and together > n_samples - 1 and alone < 2.01,
            ),
            Claim.judge(
                "For a moderate bandwidth degrees are proportional to the density.",
                f"correlation {follow:.3f} at σ = 0.02",
                follow > 0.9,
            ),
            Claim.judge(
                "Sparse regions are overestimated.",
                "degree over the density's: " + "; ".join(f"{v:.2f} at σ = {s}" for s, v in over.items()),
                min(over.values()) > 1,
            ),
            Claim.judge(
                "Dense regions are underestimated, the more the larger the bandwidth.",
                "degree over the density's: " + "; ".join(f"{v:.2f} at σ = {s}" for s, v in under.items()),
                under[0.2] < under[0.02] < under[0.002] and under[0.02] < 1,
            ),
        ],
        {"over": over, "under": under, "correlation": follow},
    )


def _peak(n_samples: int, seed: int) -> tuple[NDArray, NDArray]:
    """Points that grow denser towards the middle of [0, 2], and their true density."""
    left, rho_left = make_growing_density(n_samples // 2, ratio=200, random_state=2 * seed)
    right, rho_right = make_growing_density(n_samples - n_samples // 2, ratio=200, random_state=2 * seed + 1)
    return np.vstack([left, 2 - right]), np.concatenate([rho_left, rho_right]) / 2


def _draw(ax: Any, rho: Any, found: dict, ideal: dict, n_samples: int) -> None:
    for (sigma, degree), color in zip(found.items(), (BLUE, ORANGE, GREEN)):
        ax.plot(rho, degree, ".", ms=3, color=color, label=f"σ = {sigma}")
        order = np.argsort(rho)
        ax.plot(rho[order], ideal[sigma][order], "-", lw=0.8, color=color)
    for level, name, va in ((0.8, "1: an isolated point", "top"), (1.1 * n_samples, f"N = {n_samples}", "bottom")):
        ax.text(rho.min() * 1.6, level, name, fontsize=9, color=GREY, va=va)
    for level in (1, n_samples):
        ax.axhline(level, color=GREY, ls="--", lw=1)
    ax.set(xscale="log", yscale="log", xlabel="density ρ", ylabel="node degree d", ylim=(0.3, n_samples * 4))
    ax.legend(fontsize=9, markerscale=4, loc="lower right")
    heading(ax, "node degrees follow the density, between 1 and N")
