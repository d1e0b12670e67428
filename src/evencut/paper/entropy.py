"""Section 1.2.1: probabilistic k-means, the entropy it bounds, and clusters of equal size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from ..estimators import ProbabilisticKMeans
from ..plotting import make_figure
from ..theory import entropy_criterion, gini_criterion
from .draw import BLUE, GREEN, ORANGE, heading
from .frame import Claim, Figure
from .moons import SEED, score

__all__ = ["make"]

_BINS = 40


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    rng = np.random.default_rng(SEED)
    n_samples = 600 if small else 2000
    X = np.concatenate([rng.normal(-2, 0.5, (n_samples // 2, 2)), rng.normal(2, 1.5, (n_samples // 2, 2))])
    same = _like_k_means(X)
    two_bumps = np.concatenate([rng.normal(-3, 1, n_samples), rng.normal(3, 1, n_samples)])
    energies, true = _energies_of_one_cluster(two_bumps)
    identity = _histogram_identity(two_bumps[:, None])
    even = rng.uniform(size=n_samples)
    shares = np.linspace(0.05, 0.95, 37)
    curves = _criteria_of_splits(even, shares)
    unequal = _unequal(rng)
    sizes = {name: float(np.bincount(labels).min() / len(labels)) for name, labels in unequal["labels"].items()}

    picture, axes = make_figure(1, 3, size=(12, 3.8))
    _draw_energies(axes[0], energies, true)
    _draw_curves(axes[1], shares, curves)
    _draw_sizes(axes[2], sizes, unequal["share"])
    best = {name: float(shares[np.argmin(curve)]) for name, curve in curves.items()}
    return Figure(
        "entropy",
        "Section 1.2.1: probabilistic k-means and entropy",
        "(a) Minus the log-likelihood per point of data with two bumps under ever richer models of one cluster, beside "
        "the entropy of the true distribution. (b) Entropy and Gini criteria of splits of an even density, by the "
        "share of the smaller part. (c) Two clusters of which one has a tenth of the points: the share found.",
        picture,
        [
            Claim.judge(
                "With Gaussians of one fixed width probabilistic k-means is k-means.",
                f"ARI {same:.3f} with scikit-learn's KMeans on {n_samples} points",
                same > 0.999,
                at="eqs 2, 16",
            ),
            Claim.judge(
                "For histograms its energy is the entropy criterion.",
                f"relative difference {identity:.1e} (at maximum likelihood)",
                identity < 1e-9,
                at="eqs 16, 17",
            ),
            Claim.judge(
                "It is bounded by the entropy of the data, and highly descriptive models come near it.",
                f"nats a point: one Gaussian {energies['one Gaussian']:.3f}, mixture of two "
                f"{energies['mixture of two']:.3f}, histogram {energies['histogram']:.3f}; true entropy {true:.3f}",
                energies["one Gaussian"] > true + 0.1
                and abs(energies["mixture of two"] - true) < 0.05
                and abs(energies["histogram"] - true) < 0.05,
                at="eqs 16, 17",
            ),
            Claim.judge(
                "The entropy criterion is biased to clusters of equal size.",
                f"best share of a part of an even density {best['entropy']:.2f}",
                abs(best["entropy"] - 0.5) < 0.03,
            ),
            Claim.judge(
                "The Gini criterion is not: it has no preference on an even density.",
                f"spread of its values over all splits {np.ptp(curves['Gini']):.1e}, of the entropy criterion's "
                f"{np.ptp(curves['entropy']):.2f} (relative)",
                np.ptp(curves["Gini"]) < 0.1 * np.ptp(curves["entropy"]),
            ),
            Claim.judge(
                "K-means is biased to clusters of equal size too.",
                f"smaller cluster has {unequal['share']:.0%} of the points, k-means finds {sizes['k-means']:.0%}",
                sizes["k-means"] > 2 * unequal["share"],
                at="Section 4.1",
            ),
            Claim.judge(
                "So is probabilistic k-means, here with Gaussians of any shape.",
                f"of the same points it finds {sizes['Gaussians']:.0%}",
                sizes["Gaussians"] > 2 * unequal["share"],
            ),
        ],
        {"energies": energies | {"true": true}, "best_share": best, "share_found": sizes, "ari_with_k_means": same},
    )


def _like_k_means(X: NDArray) -> float:
    """Agreement with k-means."""
    plain = KMeans(3, n_init=20, tol=0, random_state=SEED).fit_predict(X)
    return score(plain, ProbabilisticKMeans(3, covariance="fixed", n_init=20, random_state=SEED).fit(X).labels_)


def _energies_of_one_cluster(x: NDArray) -> tuple[dict[str, float], float]:
    """Minus mean log-likelihood of all points as one cluster under three models, and the true entropy."""
    column = x[:, None]
    gaussian = ProbabilisticKMeans(1, random_state=SEED).fit(column)
    histogram = ProbabilisticKMeans(1, model="histogram", n_bins=_BINS, smoothing=0.0, random_state=SEED).fit(column)
    mixture = GaussianMixture(2, random_state=SEED).fit(column)
    grid = np.linspace(-12, 12, 4801)
    density = (np.exp(-((grid - 3) ** 2) / 2) + np.exp(-((grid + 3) ** 2) / 2)) / (2 * np.sqrt(2 * np.pi))
    true = -float(np.sum(density * np.log(density)) * (grid[1] - grid[0]))
    return {
        "one Gaussian": gaussian.energy_ / len(x),
        "mixture of two": -float(mixture.score(column)),
        "histogram": histogram.energy_ / len(x),
    }, true


def _histogram_identity(X: NDArray) -> float:
    """Relative difference of eq. 16 for histograms and of eq. 17 of the numbers of the bins."""
    model = ProbabilisticKMeans(2, model="histogram", n_bins=_BINS, smoothing=0.0, random_state=SEED).fit(X)
    edges = np.linspace(X.min(), X.max(), _BINS + 1)
    bins = np.searchsorted(edges[1:-1], X[:, 0], side="right")
    width = edges[1] - edges[0]
    return abs((entropy_criterion(bins, model.labels_) + len(X) * np.log(width)) / model.energy_ - 1)


def _criteria_of_splits(x: NDArray, shares: NDArray) -> dict[str, NDArray[np.float64]]:
    """Both criteria of splits of points by a threshold, over the value of no split."""
    bins = (x * _BINS).astype(int)
    found: dict[str, list[float]] = {"entropy": [], "Gini": []}
    none = np.zeros(len(x), dtype=int)
    for share in shares:
        # Thresholds between bins, so that no bin is cut.
        labels = (bins >= round(share * _BINS)).astype(int)
        found["entropy"].append(entropy_criterion(bins, labels) / entropy_criterion(bins, none))
        found["Gini"].append(gini_criterion(bins, labels) / gini_criterion(bins, none))
    return {name: np.array(values) for name, values in found.items()}


def _unequal(rng: np.random.Generator) -> dict[str, Any]:
    """A wide cluster beside one of a tenth of the points, and what two methods make of them."""
    X = np.concatenate([rng.normal(size=(900, 2)) * [2.0, 1.0], rng.normal([5.5, 0.0], 0.3, size=(100, 2))])
    return {
        "share": 0.1,
        "labels": {
            "k-means": KMeans(2, n_init=10, random_state=SEED).fit_predict(X),
            "Gaussians": ProbabilisticKMeans(2, random_state=SEED).fit(X).labels_,
        },
    }


def _draw_energies(ax: Any, energies: dict[str, float], true: float) -> None:
    ax.bar(range(3), list(energies.values()), color=BLUE)
    ax.axhline(true, color=ORANGE, ls="--", label="true entropy")
    ax.set_xticks(range(3), [name.replace(" ", "\n", 1) for name in energies])
    ax.set(ylabel="energy a point, nats", ylim=(0, 1.3 * max(energies.values())))
    ax.legend(fontsize=9)
    heading(ax, "(a) the entropy it bounds")


def _draw_curves(ax: Any, shares: NDArray, curves: dict[str, NDArray]) -> None:
    for (name, curve), color, style in zip(curves.items(), (BLUE, ORANGE), ("-", "--")):
        ax.plot(shares, curve, style, color=color, lw=2, label=name)
    ax.set(xlabel="share of one part", ylabel="criterion over that of no split")
    ax.legend(fontsize=9)
    heading(ax, "(b) entropy wants equal sizes")


def _draw_sizes(ax: Any, sizes: dict[str, float], share: float) -> None:
    ax.bar(range(len(sizes)), list(sizes.values()), color=GREEN)
    ax.axhline(share, color="black", ls=":", label="true share")
    ax.set_xticks(range(len(sizes)), list(sizes))
    ax.set(ylabel="share of the smaller cluster", ylim=(0, 0.55))
    ax.legend(fontsize=9)
    heading(ax, "(c) so does k-means")
