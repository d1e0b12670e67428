"""Section 1.1.2: bandwidths for estimating a density, which are not bandwidths for clustering."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ..affinity import parzen_density, scott_bandwidth
from ..datasets import make_clumped_moons
from ..kernels import Gaussian
from ..plotting import make_figure
from .draw import BLUE, GREEN, ORANGE, heading
from .frame import Claim, Figure
from .moons import SEED, score, split

__all__ = ["make"]

_GRID = np.linspace(-6, 6, 601)
_FACTORS = np.geomspace(0.25, 4, 17)
# A disc of radius r has the variance of a Gaussian of bandwidth r / sqrt(3), in one dimension.
_DISC = np.sqrt(3)


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    draws = 5 if small else 30
    errors = {shape: _errors(shape, 500, draws) for shape in ("Gaussian", "disc")}
    best = {shape: float(_FACTORS[np.argmin(error)]) for shape, error in errors.items()}
    loss = float(np.interp(1.0, _FACTORS, errors["Gaussian"]) / errors["Gaussian"].min())
    minor = float(errors["disc"].min() / errors["Gaussian"].min())
    wrong = float(errors["Gaussian"][0] / errors["Gaussian"].min())
    sizes = np.array([100, 1000, 10_000, 100_000])
    ranges = np.array([_scott_over_range(n) for n in sizes])
    X, truth = make_clumped_moons(600, clump=0.5, random_state=SEED)
    scott = float(scott_bandwidth(X).mean())
    ari = {part: score(truth, split(X, Gaussian(part * scott)).labels_) for part in (1.0, 0.5, 0.25)}

    picture, axes = make_figure(1, 2, size=(9.5, 3.6))
    _draw_errors(axes[0], errors)
    axes[1].plot(sizes, ranges, "o-", color=GREEN)
    axes[1].set(xscale="log", xlabel="number of points", ylabel="Scott's bandwidth over the range", ylim=(0, None))
    heading(axes[1], "(b) a small part of the range")
    return Figure(
        "bandwidth",
        "Section 1.1.2: bandwidths for density estimation",
        f"(a) Mean integrated squared error of Parzen's estimate of a normal density from 500 points, mean of {draws} "
        "draws, by the bandwidth over Scott's; the disc's radius is scaled to the same variance. (b) Scott's bandwidth "
        "over the range of normal data.",
        picture,
        [
            Claim.judge(
                "Scott's rule gives the least mean integrated squared error for normal data.",
                f"least at {best['Gaussian']:.2f} times Scott's; there the error is smaller by a factor of {loss:.2f}",
                0.7 < best["Gaussian"] < 1.5 and loss < 1.1,
                at="eq. 14",
            ),
            Claim.judge(
                "The bandwidth is crucial, the shape of the kernel plays a minor role.",
                f"a quarter of Scott's bandwidth costs a factor of {wrong:.1f}, a disc for a Gaussian {minor:.2f}",
                minor < 1.25 and wrong > 2 * minor,
                at="eq. 12",
            ),
            Claim.judge(
                "For large data the best bandwidth is a small fraction of the range.",
                "; ".join(f"{share:.3f} for {n} points" for n, share in zip(sizes, ranges)),
                bool((np.diff(ranges) < 0).all()) and ranges[-1] < 0.03,
            ),
            Claim.judge(
                "Bandwidths good for density estimation cluster poorly.",
                "ARI on the moons with a clump: "
                + "; ".join(f"{value:.2f} at {part:g} times Scott's {scott:.2f}" for part, value in ari.items()),
                max(ari.values()) < 0.6,
                at="Section 4",
            ),
        ],
        {"factor": _FACTORS, "error": errors, "over_range": dict(zip(map(str, sizes), ranges)), "ari": ari},
    )


def _errors(shape: str, n_samples: int, draws: int) -> NDArray[np.float64]:
    """Mean integrated squared errors of a kernel's estimates at the factors of Scott's bandwidth."""
    true, cell = norm.pdf(_GRID), _GRID[1] - _GRID[0]
    total = np.zeros(len(_FACTORS))
    for seed in range(draws):
        X = np.random.default_rng(seed).normal(size=(n_samples, 1))
        for i, factor in enumerate(_FACTORS):
            width = factor * float(scott_bandwidth(X)[0])
            if shape == "Gaussian":
                found = parzen_density(X, width, at=_GRID[:, None])
            else:
                radius = _DISC * width
                found = (np.abs(_GRID[:, None] - X[:, 0]) <= radius).mean(axis=1) / (2 * radius)
            total[i] += np.sum((found - true) ** 2) * cell
    return total / draws


def _scott_over_range(n_samples: int) -> float:
    X = np.random.default_rng(SEED).normal(size=(n_samples, 1))
    return float(scott_bandwidth(X)[0] / np.ptp(X))


def _draw_errors(ax: Any, errors: dict[str, NDArray]) -> None:
    for (name, error), color, style in zip(errors.items(), (BLUE, ORANGE), ("-", "--")):
        ax.plot(_FACTORS, error, style, color=color, lw=2, label=name)
    ax.axvline(1, color="black", lw=0.8)
    ax.set(xscale="log", yscale="log", xlabel="bandwidth over Scott's", ylabel="mean integrated squared error")
    ax.legend(fontsize=9)
    heading(ax, "(a) the bandwidth matters, the shape hardly")
