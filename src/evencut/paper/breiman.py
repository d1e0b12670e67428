"""Theorems 1 and 2: the Gini criterion, discrete and continuous, is best where it isolates the mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plotting import make_figure
from ..theory import (
    breiman_split,
    continuous_gini_criterion,
    entropy_criterion,
    gini_approximation,
    gini_criterion,
    gini_supremum,
    mode_split,
    parzen_energy,
)
from .draw import BLUE, GREY, ORANGE, heading
from .frame import Claim, Figure

__all__ = ["make"]

#: Counts of fourteen feature values, one of them the clear mode.
_COUNTS = np.array([4, 7, 9, 6, 5, 8, 14, 22, 12, 9, 6, 5, 3, 2])
_MODES = ((0.35, 0.05, 0.45), (0.65, 0.12, 0.55))  # mean, deviation, weight


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    counts = _COUNTS[4:12] if small else _COUNTS
    gini, entropy = _best_splits(counts)
    isolates = bool((gini == breiman_split(counts)).all())
    share = counts[entropy == 1].sum() / counts.sum()

    grid = np.linspace(0, 1, 4001)
    density, cell = _density(grid), float(grid[1] - grid[0])
    epsilons = density.max() * np.geomspace(1, 1e-4, 60)
    value = np.array([1 - continuous_gini_criterion(density, mode_split(density, e), cell) for e in epsilons])
    bound = gini_supremum(density, cell)
    others = _random_values(density, cell, 50 if small else 400)
    gap = 1 - value[-1] / bound

    n_samples = 1000 if small else 4000
    cuts, kernel, gini_line = _kernel_against_gini(grid, density, cell, n_samples)
    agreement = float(np.corrcoef(kernel, gini_line)[0, 1])

    picture, axes = make_figure(1, 3, size=(12, 3.8))
    _draw_histogram(axes[0], counts, gini, entropy)
    _draw_curve(axes[1], epsilons / density.max(), value, bound, others)
    _draw_agreement(axes[2], cuts, kernel, gini_line)
    return Figure(
        "breiman",
        "Theorems 1 and 2: the Gini criterion isolates the mode",
        "(a) The best of all splits of a histogram in two, by the Gini and by the entropy criterion. (b) The "
        "objective L(s) = 1 − Gini of a density with two bumps: the split that keeps what is within ε of the highest "
        "density, and random splits. (c) Kernel k-means energy of a sample beside its Gini approximation.",
        picture,
        [
            Claim.judge(
                "Theorem 1: of all splits of a histogram the Gini criterion prefers the one that isolates the mode.",
                f"found by trying all {2 ** (len(counts) - 1) - 1} splits: value "
                f"{', '.join(map(str, np.flatnonzero(gini) + 1))} stands alone; "
                f"the entropy criterion puts {share:.0%} of the points there",
                isolates,
                at="Theorem 1",
            ),
            Claim.judge(
                "Theorem 2: L(s_ε) tends to Eρ + sup ρ as ε tends to 0.",
                f"{value[-1]:.3f} at ε = {epsilons[-1] / density.max():.0e} sup ρ, against {bound:.3f}",
                0 <= gap < 0.01,
                at="Theorem 2",
            ),
            Claim.judge(
                "No split exceeds that value.",
                f"best of {len(others)} random splits {others.max():.2f}; best of the curve {value.max():.3f}",
                max(others.max(), value.max()) <= bound * (1 + 1e-12),
                at="Lemma 2",
            ),
            Claim.judge(
                "Lemma 1: the ratio of sums lies between two ratios.",
                f"largest violation {_ratio_violation():.0e} for 10 000 random quadruples",
                _ratio_violation() <= 1e-12,
                at="Lemma 1",
            ),
            Claim.judge(
                "Kernel k-means with a bandwidth good for density estimation follows the Gini criterion.",
                f"correlation {agreement:.3f} over {len(cuts)} splits of {n_samples} points (Scott's bandwidth for "
                "the narrower bump)",
                agreement > 0.9,
                at="eq. 25",
            ),
        ],
        {"counts": counts, "epsilon": epsilons, "L": value, "supremum": bound, "correlation": agreement},
    )


def _best_splits(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The splits in two of lowest Gini and of lowest entropy criterion, by trying all; the mode is in cluster 1."""
    features = np.repeat(np.arange(len(counts)), counts)
    codes = np.arange(1, 2 ** (len(counts) - 1))
    splits = (codes[:, None] >> np.arange(len(counts))) & 1
    found = []
    for criterion in (gini_criterion, entropy_criterion):
        values = _criterion_of_splits(criterion, counts, splits)
        best = splits[int(np.argmin(values))]
        # The chosen value must be what the criterion itself says of these points.
        assert np.isclose(values.min(), criterion(features, best[features]))
        found.append(best if best[counts.argmax()] else 1 - best)
    return found[0], found[1]


def _criterion_of_splits(criterion: Any, counts: NDArray, splits: NDArray) -> NDArray[np.float64]:
    """Values for all splits at once: thousands of them, so the histograms are kept as tables."""
    total = np.zeros(len(splits))
    for member in (splits, 1 - splits):
        histogram = member * counts
        size = histogram.sum(axis=1)
        if criterion is gini_criterion:
            total += size - (histogram**2).sum(axis=1) / size
        else:
            seen = np.where(histogram > 0, histogram, 1)
            total += size * np.log(size) - (histogram * np.log(seen)).sum(axis=1)
    return total


def _density(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return sum(w / (s * np.sqrt(2 * np.pi)) * np.exp(-(((x - m) / s) ** 2) / 2) for m, s, w in _MODES)


def _random_values(density: NDArray, cell: float, n_splits: int) -> NDArray[np.float64]:
    """L of random splits into a few intervals."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(n_splits):
        ends = np.sort(rng.integers(1, len(density) - 1, rng.integers(1, 6)))
        labels = np.searchsorted(ends, np.arange(len(density)), side="right") % 2
        values.append(1 - continuous_gini_criterion(density, labels, cell))
    return np.array(values)


def _ratio_violation() -> float:
    """By how much (a + c)/(b + d) leaves the interval of a/b and c/d at most, over the larger one."""
    a, b, c, d = np.random.default_rng(0).uniform(1e-3, 1, size=(4, 10_000))
    low, high, middle = np.minimum(a / b, c / d), np.maximum(a / b, c / d), (a + c) / (b + d)
    return float(np.max(np.maximum(low - middle, middle - high) / high, initial=0.0))


def _kernel_against_gini(
    grid: NDArray, density: NDArray, cell: float, n_samples: int
) -> tuple[NDArray, list[float], list[float]]:
    """Energies of splits by an interval about the mode, of a sample and of the density itself."""
    rng = np.random.default_rng(0)
    bump = rng.choice(2, n_samples, p=[w for _, _, w in _MODES])
    mean, deviation = np.array([m for m, _, _ in _MODES])[bump], np.array([s for _, s, _ in _MODES])[bump]
    X = (mean + deviation * rng.normal(size=n_samples))[:, None]
    mode = grid[density.argmax()]
    halves = np.linspace(0.04, 0.4, 16)
    # Scott's rule for all points together would smooth the narrower bump away; this is the rule for that bump.
    bandwidth = min(s for _, s, _ in _MODES) * n_samples ** (-1 / 5)
    kernel = [parzen_energy(X, (np.abs(X[:, 0] - mode) < h).astype(int), bandwidth) for h in halves]
    gini = [gini_approximation(density, (np.abs(grid - mode) < h).astype(int), n_samples, cell) for h in halves]
    return halves, kernel, gini


def _draw_histogram(ax: Any, counts: NDArray, gini: NDArray, entropy: NDArray) -> None:
    place = np.arange(1, len(counts) + 1)
    ax.bar(place, counts, color=np.where(gini == 1, ORANGE, BLUE), edgecolor="white")
    for x, count, mine in zip(place, counts, entropy):
        ax.text(x, count + 0.4, "▲" if mine else "△", ha="center", fontsize=8)
    ax.set(xlabel="feature value", ylabel="number of points", ylim=(0, counts.max() * 1.3), xticks=place[::2])
    ax.text(
        0.02, 0.97, "colours: best Gini split\n▲ △: best entropy split", transform=ax.transAxes, va="top", fontsize=9
    )
    heading(ax, "(a) Theorem 1: the best of all splits")


def _draw_curve(ax: Any, epsilon: NDArray, value: NDArray, bound: float, others: NDArray) -> None:
    ax.plot(epsilon, value, color=BLUE, label="L(s$_ε$)")
    ax.axhline(bound, color=ORANGE, ls="--", label="Eρ + sup ρ")
    spread = np.geomspace(epsilon[-1], epsilon[0], len(others))
    ax.plot(spread, others, ".", color=GREY, ms=3, alpha=0.6, label="random splits")
    ax.set(xscale="log", xlabel="ε / sup ρ", ylabel="L")
    ax.invert_xaxis()
    ax.legend(fontsize=9, loc="center right", bbox_to_anchor=(1, 0.62))
    heading(ax, "(b) Theorem 2: the mode alone is best")


def _draw_agreement(ax: Any, cuts: NDArray, kernel: list[float], gini: list[float]) -> None:
    ax.plot(cuts, kernel, "o-", ms=4, color=BLUE, label="kernel k-means, Scott's bandwidth")
    ax.plot(cuts, gini, "s--", ms=4, color=ORANGE, label="Gini approximation")
    ax.set(xlabel="half width of the cluster about the mode", ylabel="energy")
    ax.legend(fontsize=9, loc="lower right")
    heading(ax, "(c) kernel k-means follows Gini")
