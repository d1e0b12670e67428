"""Section 6: equalised densities make average association, normalised cut and average cut one criterion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import Affinity, degrees, density_law, equalize
from ..criteria import energy
from ..datasets import make_clumped_moons
from ..estimators import KernelClustering
from ..kernels import KNN, Gaussian
from ..plotting import make_figure
from .draw import BLUE, GREEN, GREY, ORANGE, heading
from .frame import Claim, Figure
from .moons import SEED, score

__all__ = ["line_splits", "make"]

Case = tuple[Affinity, NDArray[np.float64]]
_NAMES = ("average_association", "normalized_cut", "average_cut")
_LOOKS = {
    "fixed Gaussian": (GREY, "x"),
    "adaptive weights": (ORANGE, "s"),
    "KNN kernel": (BLUE, "o"),
    "exact equalisation": (GREEN, "D"),
}


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X, truth = make_clumped_moons(300 if small else 600, clump=0.5, random_state=SEED)
    cases = _cases(X)
    splits = line_splits(X, truth, 20 if small else 60)
    tables = {name: _energies(case, splits) for name, case in cases.items()}
    gaps = {name: float(np.ptp(table, axis=1).max()) for name, table in tables.items()}
    spreads = {name: _spread(case) for name, case in cases.items()}
    found = {name: _partitions(case) for name, case in cases.items()}
    apart = {name: min(score(a, b) for a in labels for b in labels) for name, labels in found.items()}
    right = {name: [score(truth, one) for one in labels] for name, labels in found.items()}

    picture, axes = make_figure(1, 3, size=(12.5, 4))
    _draw_energies(axes[0], tables)
    _draw_bars(axes[1], gaps, spreads)
    _draw_table(axes[2], right, apart)
    near = ("adaptive weights", "KNN kernel")
    return Figure(
        "equivalence",
        "Section 6: one criterion",
        "Moons with a clump, split in two in many ways. Values of the criteria per unit of mean degree, so that on "
        "equal degrees all three would be equal: AA/d̄, NC, and AC/d̄ − 2.",
        picture,
        [
            Claim.judge(
                "Adaptive weights and KNN kernels make degrees nearly constant.",
                "coefficient of variation of the degrees: " + "; ".join(f"{n} {v:.2g}" for n, v in spreads.items()),
                all(spreads[name] < 0.5 * spreads["fixed Gaussian"] for name in near),
            ),
            Claim.judge(
                "Then AA, NC and AC are nearly equal.",
                "largest gap between them over all splits: " + "; ".join(f"{n} {v:.2g}" for n, v in gaps.items()),
                all(gaps[name] < 0.5 * gaps["fixed Gaussian"] for name in near),
            ),
            Claim.judge(
                "(Not in the paper.) Exact equalisation makes equal what weights and kernels make nearly equal.",
                f"gap {gaps['exact equalisation']:.1e}, degrees equal to {spreads['exact equalisation']:.1e}",
                gaps["exact equalisation"] < 1e-8,
            ),
            Claim.judge(
                "On equalised densities the criterion does not matter: the three find the same clusters.",
                "lowest ARI between them: " + "; ".join(f"{n} {v:.2f}" for n, v in apart.items()),
                all(apart[name] > 0.98 for name in (*near, "exact equalisation")) and apart["fixed Gaussian"] < 0.9,
            ),
        ],
        {"degree_variation": spreads, "largest_gap": gaps, "agreement": apart, "ari": right},
    )


def _cases(X: NDArray) -> dict[str, Case]:
    """An affinity and point weights for each way to even the density out."""
    gaussian = Gaussian(0.1).affinity(X)
    ones = np.ones(len(X))
    return {
        "fixed Gaussian": (gaussian, ones),
        "adaptive weights": (gaussian, density_law(degrees(gaussian), "constant")),
        "KNN kernel": (KNN(10).affinity(X), ones),
        "exact equalisation": (equalize(gaussian), ones),
    }


def _degrees(case: Case) -> NDArray[np.float64]:
    """Degree of each point among the replicated points."""
    affinity, weights = case
    return np.asarray(affinity @ weights)


def line_splits(X: NDArray, truth: NDArray, n_splits: int) -> list[NDArray[np.int64]]:
    """The truth, and splits by random lines that leave at least a tenth of the points on each side."""
    rng = np.random.default_rng(0)
    found = [truth]
    while len(found) < n_splits:
        side = X @ rng.normal(size=2)
        labels = (side > np.quantile(side, rng.uniform(0.1, 0.9))).astype(np.int64)
        found.append(labels)
    return found


def _energies(case: Case, splits: list) -> NDArray[np.float64]:
    """AA/d, NC and AC/d - 2 of each split: three columns that are equal where all degrees are d."""
    affinity, weights = case
    mean = np.average(_degrees(case), weights=weights)
    rows = []
    for labels in splits:
        association, normalized, cut = (energy(affinity, labels, name, weights) for name in _NAMES)
        rows.append([association / mean, normalized, cut / mean - 2])
    return np.array(rows)


def _spread(case: Case) -> float:
    degree = _degrees(case)
    return float(degree.std() / degree.mean())


def _partitions(case: Case) -> list[NDArray[np.int64]]:
    """The clusters each criterion finds."""
    affinity, weights = case
    return [
        KernelClustering(2, kernel="precomputed", criterion=name, random_state=SEED)
        .fit(affinity, sample_weight=weights)
        .labels_
        for name in _NAMES
    ]


def _draw_energies(ax: Any, tables: dict[str, NDArray]) -> None:
    for name, (color, marker) in _LOOKS.items():
        ax.plot(tables[name][:, 1], tables[name][:, 0], marker, ms=4, color=color, label=name, alpha=0.8)
    ends = [min(t[:, 1].min() for t in tables.values()), max(t[:, 1].max() for t in tables.values())]
    ax.plot(ends, ends, color="black", lw=0.8)
    ax.set(xlabel="NC", ylabel="AA / mean degree")
    ax.legend(fontsize=8)
    heading(ax, "(a) two criteria, many splits")


def _draw_bars(ax: Any, gaps: dict[str, float], spreads: dict[str, float]) -> None:
    place = np.arange(len(gaps))
    floor = 1e-16
    for shift, values, color, name in (
        (-0.2, spreads, BLUE, "spread of degrees"),
        (0.2, gaps, ORANGE, "gap of criteria"),
    ):
        ax.bar(place + shift, np.maximum(list(values.values()), floor), 0.38, color=color, label=name)
    ax.set(yscale="log", ylim=(floor, 1e3), xticks=place)
    ax.set_xticklabels([name.replace(" ", "\n") for name in gaps], fontsize=9)
    ax.legend(fontsize=8, ncols=2, loc="upper center")
    heading(ax, "(b) nearly equal, and equal")


def _draw_table(ax: Any, right: dict[str, list[float]], apart: dict[str, float]) -> None:
    ax.set_axis_off()
    heading(ax, "(c) ARI with the truth, and between criteria")
    cells = [[*(f"{value:.2f}" for value in right[name]), f"{apart[name]:.2f}"] for name in right]
    table = ax.table(
        cells,
        rowLabels=list(right),
        colLabels=["AA", "NC", "AC", "lowest\nbetween"],
        loc="center",
        cellLoc="center",
        bbox=(0.38, 0.2, 0.6, 0.6),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9)
