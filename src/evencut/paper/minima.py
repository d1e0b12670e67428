"""Sections 1.1.1 and 6: Lloyd's algorithm on kernels, where it may climb, and its local minima beside kernel PCA's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from ..affinity import squared_distances
from ..criteria import RatioProblem, average_association, energy
from ..datasets import make_clumped_moons
from ..kernels import KNN, Gaussian
from ..plotting import make_figure
from ..solvers import refine, solve
from ..solvers.lloyd import bound_costs, cluster_links
from ..theory import kernel_pca
from .draw import BLUE, GREY, ORANGE, heading
from .frame import Claim, Figure
from .moons import SEED

__all__ = ["make"]

_CLUSTERS = 5


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X, _ = make_clumped_moons(300, clump=0.3, random_state=SEED)
    problem = average_association(Gaussian(0.25).affinity(X))
    n_starts = 10 if small else 60
    starts = [np.random.default_rng(seed).integers(0, _CLUSTERS, len(X)) for seed in range(n_starts)]
    exact = [_lloyd(problem, start) for start in starts]
    reduced = kernel_pca(problem, _CLUSTERS)
    # The same steps on few coordinates, from the same starts.
    low = [_lloyd(average_association(reduced @ reduced.T), start) for start in starts]
    ends = {
        "exact embedding": np.array([trace[-1] for _, trace in exact]),
        "kernel PCA": np.array([problem.energy(labels) for labels, _ in low]),
        "kernel PCA, then exact": np.array([_lloyd(problem, labels)[1][-1] for labels, _ in low]),
    }
    plus = KMeans(_CLUSTERS, n_init=10, random_state=SEED).fit_predict(reduced).astype(np.int64)
    solved = solve(problem, _CLUSTERS, n_init=20, random_state=SEED).energy
    best = float(min(solved, _lloyd(problem, plus)[1][-1], *(values.min() for values in ends.values())))
    loss = {name: float(np.mean(1 - values / best)) for name, values in ends.items()}
    rises = float(max(np.max(np.diff(trace), initial=0.0) for _, trace in exact))
    climbs, n_improper = _climbs(X)
    constant = _shift_error(X)
    graph = average_association(KNN(10).affinity(X))
    on_graph = {name: _mean_loss(graph, make_start, n_starts) for name, make_start in _STARTS.items()}

    picture, axes = make_figure(1, 2, size=(10, 3.8))
    _draw_ends(axes[0], ends, best)
    for _, trace in exact[:12]:
        axes[1].plot(trace, color=BLUE, lw=1, alpha=0.6)
    axes[1].axhline(best, color=ORANGE, ls="--", label="best known")
    axes[1].set(xlabel="step", ylabel="average association")
    axes[1].legend(fontsize=9)
    heading(axes[1], "(b) Lloyd's steps never climb here")
    return Figure(
        "minima",
        "Section 6: Lloyd's algorithm and its local minima",
        f"(a) Where {n_starts} random starts of Lloyd's algorithm end (five clusters of the moons with a clump, "
        "Gaussian "
        "kernel): in the exact embedding, in five coordinates of kernel PCA, and there first. (b) Energies on the way.",
        picture,
        [
            Claim.judge(
                "Lloyd's algorithm lowers the kernel k-means energy step by step (p.s.d. kernel).",
                f"largest rise over {n_starts} starts {rises:.1e}",
                rises < 1e-9,
                at="Section 6",
            ),
            Claim.judge(
                "For improper kernels it is not guaranteed to.",
                f"plain Lloyd steps raise the energy on {climbs} of {n_improper} starts of an indefinite affinity",
                climbs > 0,
                at="Section 1.1.1",
            ),
            Claim.judge(
                "For any affinity there is a p.s.d. kernel of the same criterion up to a constant.",
                "a diagonal shift makes it so; energies of 50 partitions then differ by a constant up to "
                f"{constant:.1e}",
                constant < 1e-9,
                at="Section 1.1.1",
            ),
            Claim.judge(
                "The exact embedding is more sensitive to local minima than k-means on kernel PCA.",
                "mean loss against the best known energy: " + "; ".join(f"{n} {v:.1%}" for n, v in loss.items()),
                loss["kernel PCA, then exact"] < loss["exact embedding"],
                "from one random start both end in local minima, and which is better depends on the data; coordinates "
                "of low rank help because many starts of k-means on them cost little (next claim)",
                at="Section 6",
            ),
            Claim.judge(
                "(Not in the paper.) K-means++ on kernel PCA, ten starts, is near the best energy.",
                f"loss {1 - problem.energy(plus) / best:.1%} before any refinement ({1 - solved / best:.1%} of "
                "evencut's own solver, 20 starts)",
                1 - problem.energy(plus) / best < 0.05,
            ),
            Claim.judge(
                "The same on the KNN kernel.",
                "mean loss: " + "; ".join(f"{name} {value:.0%}" for name, value in on_graph.items()),
                on_graph["kernel PCA"] < on_graph["random"],
                at="Section 6",
            ),
        ],
        {"loss": loss, "ends": ends, "best": best, "on_graph": on_graph},
    )


def _lloyd(problem: RatioProblem, start: NDArray) -> tuple[NDArray[np.int64], list[float]]:
    """Labels at which no Lloyd step lowers the energy, and the energies on the way."""
    found = refine(problem, start.astype(np.int64), _CLUSTERS, by_moves=False)
    return found.labels, list(found.trace)


def _random_start(problem: RatioProblem, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, _CLUSTERS, problem.n_points)


def _pca_start(problem: RatioProblem, seed: int) -> NDArray[np.int64]:
    return KMeans(_CLUSTERS, n_init=1, random_state=seed).fit_predict(kernel_pca(problem, _CLUSTERS)).astype(np.int64)


_STARTS = {"random": _random_start, "kernel PCA": _pca_start}


def _mean_loss(problem: RatioProblem, make_start: Any, n_starts: int) -> float:
    """How far above the best known energy Lloyd ends in the mean, as a share of it."""
    ends = [_lloyd(problem, make_start(problem, seed))[1][-1] for seed in range(n_starts)]
    best = min(solve(problem, _CLUSTERS, n_init=20, random_state=SEED).energy, *ends)
    return float(np.mean(1 - np.array(ends) / best))


def _climbs(X: NDArray) -> tuple[int, int]:
    """On how many starts a plain Lloyd step, without any shift of the diagonal, raises the energy; of how many."""
    rng = np.random.default_rng(SEED)
    improper = rng.normal(size=(len(X), len(X)))
    problem = average_association(improper + improper.T)
    raised = 0
    for seed in range(20):
        labels = np.random.default_rng(seed).integers(0, 3, len(X))
        links, inside, weight = cluster_links(problem, labels, 3)
        moved = bound_costs(links, problem.weights, inside, weight).argmin(axis=1)
        raised += len(np.unique(moved)) == 3 and problem.energy(moved) > problem.energy(labels)
    return raised, 20


def _shift_error(X: NDArray) -> float:
    """Spread of the difference of energies on an indefinite affinity and on the same with a shifted diagonal."""
    improper = 1 - squared_distances(X)
    lowest = float(np.linalg.eigvalsh(improper)[0])
    proper = improper - lowest * np.eye(len(X))
    gaps = []
    for seed in range(50):
        labels = np.random.default_rng(seed).integers(0, 3, len(X))
        gaps.append(
            energy(proper, labels, "average_association") - energy(improper, labels, "average_association")
        )
    return float(np.ptp(gaps) / np.abs(gaps).max())


def _draw_ends(ax: Any, ends: dict[str, NDArray], best: float) -> None:
    for place, values in enumerate(ends.values()):
        across = place + np.linspace(-0.2, 0.2, len(values))
        ax.plot(across, np.sort(values), ".", color=BLUE)
        ax.plot(place, values.mean(), "D", color=GREY)
    ax.axhline(best, color=ORANGE, ls="--", label="best known")
    ax.set_xticks(range(len(ends)), [name.replace(", ", ",\n") for name in ends], fontsize=9)
    ax.set_ylabel("average association")
    ax.legend(fontsize=9)
    heading(ax, "(a) where random starts end")
