"""Section 6, spectral graph theory: average cut, isoperimetric number, and the second eigenvalue that bounds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import equalize
from ..criteria import energy
from ..datasets import make_clumped_moons, make_sparse_subset
from ..kernels import KNN, Gaussian
from ..plotting import make_figure
from ..theory import cheeger_bounds, cheeger_set, isoperimetric_number
from .draw import BLUE, GREEN, ORANGE, heading
from .equation_table import matrix_of
from .equivalence import line_splits
from .frame import Claim, Figure
from .moons import SEED, score, split

__all__ = ["make"]


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X, truth = make_clumped_moons(300 if small else 600, clump=0.5, random_state=SEED)
    # Enough neighbours to join the moons by a few edges: the numbers of a graph in two parts are all zero.
    graph = matrix_of(KNN(len(X) // 15), X)
    splits = line_splits(X, truth, 40)
    number = np.array([isoperimetric_number(graph, labels) for labels in splits])
    cut = np.array([energy(graph, labels, "average_cut") for labels in splits])
    ratio = cut / number
    kinds = ("isoperimetric", "conductance")
    bounds = {name: cheeger_bounds(graph, normalized=name == "conductance") for name in kinds}
    sets = {name: cheeger_set(graph, normalized=name == "conductance") for name in bounds}
    best = {n: isoperimetric_number(graph, labels, normalized=n == "conductance") for n, labels in sets.items()}
    small_graphs = _all_subsets(20 if small else 100)
    even = equalize(graph, tol=1e-12)
    same = max(
        abs(isoperimetric_number(even, labels) / isoperimetric_number(even, labels, normalized=True) - 1)
        for labels in splits
    )
    tail, _ = make_sparse_subset(300 if small else 600, random_state=SEED)
    cut_off = int(np.bincount(split(tail, Gaussian(0.2), "average_cut").labels_).min())

    picture, axes = make_figure(1, 2, size=(10, 3.8))
    _draw_ratio(axes[0], number, cut)
    _draw_bounds(axes[1], bounds, best)
    return Figure(
        "cheeger",
        "Section 6: average cut and the isoperimetric number",
        "KNN graph of the moons with a clump. (a) Average cut of the truth and of random cuts against their "
        "isoperimetric "
        "number: always within a factor of two. (b) The number of the best level set of the second eigenvector, "
        "between the bounds by its eigenvalue.",
        picture,
        [
            Claim.judge(
                "Average cut is closely related to the isoperimetric number.",
                f"between {ratio.min():.2f} and {ratio.max():.2f} times it on {len(splits)} splits",
                ratio.min() >= 1 - 1e-9 and ratio.max() <= 2 + 1e-9,
                at="eq. 68",
            ),
            Claim.judge(
                "The second eigenvalue bounds the lowest number from both sides (Cheeger).",
                f"holds for {small_graphs[0]} of {small_graphs[1]} random weighted graphs of nine points, all "
                "subsets tried",
                small_graphs[0] == small_graphs[1],
            ),
            Claim.judge(
                "A level set of its eigenvector (a Cheeger set) is within the bounds.",
                "; ".join(
                    f"{name}: {best[name]:.4f} in [{low:.4f}, {high:.4f}]" for name, (low, high) in bounds.items()
                ),
                all(low - 1e-12 <= best[name] <= high + 1e-12 for name, (low, high) in bounds.items()),
            ),
            Claim.judge(
                "It is the clustering that equalised criteria look for.",
                f"ARI of the Cheeger set with the truth {score(truth, sets['isoperimetric']):.2f}",
                score(truth, sets["isoperimetric"]) > 0.98,
            ),
            Claim.judge(
                "(Not in the paper.) On exactly equal degrees isoperimetric number and conductance are one.",
                f"largest relative difference {same:.1e}",
                same < 1e-8,
            ),
            Claim.judge(
                "Ratio cut (average cut) isolates sparsest subsets too.",
                f"it splits {cut_off} of {len(tail)} points off the moons with a sparse tail (Gaussian, σ = 0.2)",
                cut_off <= 0.02 * len(tail),
                at="Section 7",
            ),
        ],
        {"number": best, "bounds": bounds, "ratio": [float(ratio.min()), float(ratio.max())]},
    )


def _all_subsets(n_graphs: int) -> tuple[int, int]:
    """For how many random graphs the lowest number of all subsets is within both pairs of bounds."""
    agree = 0
    subsets = [np.array([0, *((code >> np.arange(8)) & 1)]) for code in range(1, 2**8)]
    for seed in range(n_graphs):
        upper = np.triu(np.random.default_rng(seed).random((9, 9)) ** 3, 1)
        graph = upper + upper.T
        within = True
        for normalized in (False, True):
            lowest = min(isoperimetric_number(graph, labels, normalized=normalized) for labels in subsets)
            low, high = cheeger_bounds(graph, normalized=normalized)
            within &= low - 1e-12 <= lowest <= high + 1e-12
        agree += within
    return agree, n_graphs


def _draw_ratio(ax: Any, number: NDArray, cut: NDArray) -> None:
    line = np.array([number.min(), number.max()])
    ax.plot(line, line, color="black", lw=0.8)
    ax.plot(line, 2 * line, color="black", lw=0.8)
    ax.plot(number[1:], cut[1:], "o", ms=4, color=BLUE, label="random cuts")
    ax.plot(number[0], cut[0], "D", color=ORANGE, label="the moons")
    ax.set(xlabel="isoperimetric number h", ylabel="average cut", xscale="log", yscale="log")
    ax.legend(fontsize=9)
    heading(ax, "(a) h ≤ AC ≤ 2 h")


def _draw_bounds(ax: Any, bounds: dict[str, tuple[float, float]], best: dict[str, float]) -> None:
    for place, (name, (low, high)) in enumerate(bounds.items()):
        ax.plot([place, place], [low, high], color=GREEN, lw=8, alpha=0.5, solid_capstyle="butt")
        ax.plot(place, best[name], "D", color=ORANGE)
    ax.set_xticks(range(len(bounds)), list(bounds))
    ax.set(yscale="log", xlim=(-0.7, 1.7), ylabel="bounds (bar) and Cheeger set")
    heading(ax, "(b) bounds by the second eigenvalue")
