"""Figure 4: the density transforms, and an even density by replicating points or by moving them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import density_law, knn_radius, parzen_density
from ..criteria import energy
from ..datasets import make_growing_density
from ..kernels import Gaussian, Geodesic
from ..plotting import make_figure
from ..theory import classical_mds
from .draw import BLUE, GREEN, GREY, ORANGE, heading
from .frame import Claim, Figure

__all__ = ["make"]

_TRANSFORMS = {"identity": (GREY, ":"), "log": (ORANGE, "--"), "constant": (BLUE, "-")}


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    n_samples = 150 if small else 400
    X, _ = make_growing_density(n_samples, ratio=20, random_state=0)
    rho = parzen_density(X, 0.04)
    weights = density_law(rho, "constant", dimension=1)
    copies = np.maximum(1, np.round(weights / weights.min())).astype(int)
    replicated = np.repeat(X, copies, axis=0)
    after_weights = parzen_density(replicated, 0.04, at=X)
    moved = _embed(X)
    after_kernel = parzen_density(moved, 0.04)
    identity = _replication_error(X, copies)
    spreads = {name: _variation(r) for name, r in (("data", rho), ("weights", after_weights), ("kernel", after_kernel))}

    picture, axes = make_figure(1, 3, size=(12, 3.8))
    _draw_transforms(axes[0])
    _draw_replication(axes[1], X[:, 0], copies, rho, after_weights)
    _draw_embedding(axes[2], X[:, 0], moved[:, 0], rho, after_kernel)
    return Figure(
        "weights",
        "Figure 4: density transforms and equalisation",
        "(a) Three transforms τ. Points on a line that grow 20 times denser are made even by copies of the sparse ones "
        "(b) or by an adaptive kernel's embedding that moves them apart (c).",
        picture,
        [
            Claim.judge(
                "A weight is a replication: the weighted criterion is that of the replicated data.",
                f"relative difference of the energies {identity:.1e}",
                identity < 1e-10,
            ),
            Claim.judge(
                "Weights 1/ρ make the density even.",
                f"coefficient of variation {spreads['data']:.2f} before, {spreads['weights']:.2f} after",
                spreads["weights"] < 0.5 * spreads["data"],
            ),
            Claim.judge(
                "Bandwidths from the density law make the density of the embedded points even.",
                f"coefficient of variation {spreads['data']:.2f} before, {spreads['kernel']:.2f} after",
                spreads["kernel"] < 0.5 * spreads["data"],
            ),
            Claim.judge(
                "Of the transforms the constant evens the density out, the logarithm in part, the identity not at all.",
                "; ".join(f"{name}: {value:.2f}" for name, value in _transformed_spreads(rho).items()),
                _falls(list(_transformed_spreads(rho).values())),
            ),
        ],
        {"variation": spreads, "identity_error": identity, "transformed_variation": _transformed_spreads(rho)},
    )


def _embed(X: NDArray) -> NDArray:
    """Points on a line whose distances are the geodesic ones of the metric I/R², scaled to the length of the data."""
    tensor = knn_radius(X, 12) ** -2.0
    squared = Geodesic(n_neighbors=25, metric=tensor).distances(X) ** 2
    moved = classical_mds(squared, 1)
    moved *= np.sign(moved[-1] - moved[0])
    return (moved - moved.min()) / np.ptp(moved) * np.ptp(X) + X.min()


def _replication_error(X: NDArray, copies: NDArray[np.int64]) -> float:
    """Relative difference of eq. 42 and of eq. 9 on the replicated points, for one split."""
    labels = (X[:, 0] > np.median(X)).astype(int)
    kernel = Gaussian(0.1)
    weighted = energy(kernel.affinity(X), labels, "average_association", copies)
    repeated = kernel.affinity(np.repeat(X, copies, axis=0))
    return abs(energy(repeated, np.repeat(labels, copies), "average_association") / weighted - 1)


def _variation(density: NDArray) -> float:
    """Coefficient of variation, away from the ends of the line, where every estimate falls off."""
    inner = density[len(density) // 20 : -len(density) // 20]
    return float(inner.std() / inner.mean())


def _transformed_spreads(rho: NDArray) -> dict[str, float]:
    """Spread of the density wanted, rho times the weights of the law, for each transform."""
    return {name: _variation(rho * density_law(rho, name)) for name in _TRANSFORMS}


def _falls(values: list[float]) -> bool:
    return all(a > b for a, b in zip(values, values[1:]))


def _draw_transforms(ax: Any) -> None:
    rho = np.linspace(0.01, 3.5, 200)
    formula = {"identity": "τ(ρ) = ρ", "log": "τ(ρ) = log(1 + αρ)/α", "constant": "τ(ρ) = const"}
    for name, (color, style) in _TRANSFORMS.items():
        ax.plot(rho, rho * density_law(rho, name), style, color=color, lw=2, label=formula[name])
    ax.set(xlabel="density ρ", ylabel="new density τ(ρ)", xlim=(0, 3.5), ylim=(0, 2.6))
    ax.legend(fontsize=9, loc="upper left")
    heading(ax, "(a) density transforms")


def _draw_replication(ax: Any, x: NDArray, copies: NDArray, rho: NDArray, after: NDArray) -> None:
    ax.plot(x, rho, color=GREY, ls=":", lw=2, label="density before")
    ax.plot(x, after / np.mean(after), color=BLUE, lw=2, label="after (mean 1)")
    shown = np.arange(0, len(x), max(1, len(x) // 60))
    ax.plot(x[shown], np.full(len(shown), -1.6), "|", ms=9, color="black")
    for p in shown:
        ax.plot(np.full(copies[p], x[p]), -2.3 - 0.22 * np.arange(copies[p]), ".", ms=2.5, color=ORANGE)
    ax.text(0.3, -1.15, "data (every 7th)" if len(x) > 300 else "data", fontsize=9, ha="center")
    ax.text(0.62, -4.6, "copies: wₚ ∝ 1/ρₚ", fontsize=9, color=ORANGE)
    ax.set(xlabel="x", yticks=[0, 1, 2, 3, 4])
    ax.legend(fontsize=9, loc="upper left")
    heading(ax, "(b) adaptive weights: replication")


def _draw_embedding(ax: Any, x: NDArray, moved: NDArray, rho: NDArray, after: NDArray) -> None:
    ax.plot(x, rho, color=GREY, ls=":", lw=2, label="density before")
    ax.plot(moved, after, color=GREEN, lw=2, label="density after")
    shown = np.arange(0, len(x), max(1, len(x) // 60))
    for p in shown:
        ax.plot([x[p], moved[p]], [-1.6, -4.4], color="#cccccc", lw=0.5, zorder=0)
    ax.plot(x[shown], np.full(len(shown), -1.6), "|", ms=9, color="black")
    ax.plot(moved[shown], np.full(len(shown), -4.4), "|", ms=9, color=GREEN)
    ax.text(0.3, -1.15, "data", fontsize=9, ha="center")
    ax.text(0.3, -5.3, "embedded", fontsize=9, color=GREEN, ha="center")
    ax.set(xlabel="x", yticks=[0, 1, 2, 3, 4], ylim=(-5.8, None))
    ax.legend(fontsize=9, loc="upper left")
    heading(ax, "(c) adaptive kernels: embedding")
