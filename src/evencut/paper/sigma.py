"""Figure 5: the biases of kernel k-means over the range of bandwidth, from isolated modes to plain k-means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.cluster import KMeans

from ..affinity import knn_density, scott_bandwidth
from ..criteria import energy
from ..datasets import make_clumped_moons
from ..kernels import Gaussian
from ..plotting import PALETTE
from .draw import BLUE, GREEN, ORANGE, clusters
from .frame import Claim, Figure
from .moons import SEED, score, sweep

__all__ = ["make"]

# Far below the distance of the nearest two points.
_ALONE = 1e-7


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X, truth = make_clumped_moons(300 if small else 600, clump=0.5, random_state=SEED)
    diameter = float(pdist(X).max())
    scott = float(scott_bandwidth(X).mean())
    sigmas = np.geomspace(0.03, 3 * diameter, 14 if small else 50)
    found = sweep(X, truth, sigmas)
    k_means = KMeans(2, n_init=10, random_state=SEED).fit_predict(X)
    like_k_means = np.array([score(k_means, labels) for labels in found.labels])
    contrast = np.array([_contrast(X, labels) for labels in found.labels])
    small_sigma, large_sigma = sigmas <= scott / 2, sigmas >= diameter
    fading = float(spearmanr(sigmas[~large_sigma], contrast[~large_sigma]).statistic)
    alone = _spread_of_energies(X)

    picture = _draw(X, found, like_k_means, scott, diameter)
    isolating, linear = contrast[small_sigma], like_k_means[large_sigma]
    return Figure(
        "sigma",
        "Figure 5: biases over the range of bandwidth",
        "Kernel k-means on the moons with a clump, for bandwidths from far below Scott's rule to three times the "
        "diameter of the data. Top: the clusters at four bandwidths.",
        picture,
        [
            Claim.judge(
                "At small bandwidths the smaller cluster is the mode of the density.",
                f"its points are {isolating.min():.1f} to {isolating.max():.1f} times as dense as the rest "
                f"(σ from {sigmas[0]:.2f} to half of Scott's {scott:.2f})",
                isolating.min() > 2,
            ),
            Claim.judge(
                "In practice the cluster is a little wider than the mode, since its shrinking ends the approximation.",
                f"{found.smallest[small_sigma].min()} to {found.smallest[small_sigma].max()} of {len(X)} points there",
                found.smallest[small_sigma].min() > 1,
                at="Section 2.2",
            ),
            Claim.judge(
                "The bias disappears gradually as the bandwidth grows.",
                f"rank correlation {fading:.2f} of the bandwidth and how much denser the smaller cluster is, up to the "
                "diameter",
                fading < -0.5,
                at="Section 4.1",
            ),
            Claim.judge(
                "Far smaller bandwidths leave points that do not interact, and kernel k-means without a clue.",
                f"energies of 50 random partitions differ by {alone:.0e} at σ = {_ALONE:g}",
                alone < 1e-12,
            ),
            Claim.judge(
                "Large bandwidths inherit the bias of k-means to equal sizes.",
                f"the smaller cluster has at least {found.smallest[large_sigma].min() / len(X):.0%} of the points "
                "from the diameter on",
                found.smallest[large_sigma].min() > 0.35 * len(X),
            ),
            Claim.judge(
                "From the diameter of the data on, the clusters are those of k-means.",
                f"ARI with k-means at least {linear.min():.2f} for σ ≥ {diameter:.2f}",
                linear.min() > 0.9,
            ),
            Claim.judge(
                "There may be no good bandwidth in between.",
                f"best ARI with the truth {found.best:.2f}",
                found.best < 0.9,
            ),
        ],
        {
            "sigma": sigmas,
            "ari": found.score,
            "ari_with_k_means": like_k_means,
            "density_ratio": contrast,
            "scott": scott,
            "diameter": diameter,
        },
    )


def _spread_of_energies(X: Any) -> float:
    """How much the energies of random partitions differ where no two points are within reach of each other."""
    affinity = Gaussian(_ALONE).affinity(X)
    rng = np.random.default_rng(SEED)
    values = [energy(affinity, rng.integers(0, 2, len(X)), "average_association") for _ in range(50)]
    return float(np.ptp(values))


def _contrast(X: Any, labels: Any) -> float:
    """Median density of the smaller cluster over that of the larger one."""
    density = knn_density(X, 10)
    smaller = labels == np.bincount(labels).argmin()
    return float(np.median(density[smaller]) / np.median(density[~smaller]))


def _draw(X: Any, found: Any, like_k_means: Any, scott: float, diameter: float) -> Any:
    from matplotlib.figure import Figure as Canvas

    picture = Canvas(figsize=(10, 5.6), layout="constrained")
    halves: Any = picture.subfigures(2, 1, height_ratios=(1, 1.7))
    top, bottom = halves
    for ax, sigma in zip(top.subplots(1, 4), (0.06, scott / 2, scott * 2, diameter)):
        place = int(np.argmin(np.abs(np.log(found.sigma / sigma))))
        clusters(ax, X, found.labels[place], f"σ = {found.sigma[place]:.2f}", size=3)
    ax = bottom.subplots()
    size = found.smallest / len(X)
    ax.plot(found.sigma, found.score, color=BLUE, label="ARI with the truth")
    ax.plot(found.sigma, like_k_means, "--", color=ORANGE, label="ARI with k-means")
    ax.plot(found.sigma, size, ":", color=GREEN, lw=2, label="share of the smaller cluster")
    for at, name in ((scott, "Scott's rule"), (diameter, "diameter of the data")):
        ax.axvline(at, color="black", lw=0.8)
        ax.text(at * 0.97, 1.17, name, fontsize=9, ha="right", va="center")
    ax.axvspan(found.sigma[0], scott / 2, color=PALETTE[5], alpha=0.18, lw=0)
    ax.axvspan(diameter, found.sigma[-1], color=PALETTE[4], alpha=0.18, lw=0)
    ax.text(np.sqrt(found.sigma[0] * scott / 2), 1.04, "mode isolation", ha="center", va="center")
    ax.text(np.sqrt(diameter * found.sigma[-1]), 0.62, "plain\nk-means", ha="center", va="center")
    ax.set(xscale="log", xlim=found.sigma[[0, -1]], ylim=(-0.03, 1.25), xlabel="bandwidth σ")
    ax.legend(fontsize=9, loc="center left", bbox_to_anchor=(0.02, 0.7))
    return picture
