"""Table 1 as a figure: our errors beside the paper's, with a verdict for each of its statements."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plotting import make_figure
from .draw import BLUE, GREEN, GREY, ORANGE, heading
from .frame import Claim, Figure, find_data
from .table1 import CELLS, OURS, PEER, run

__all__ = ["make"]

_TERMS = {"none": "no boundary term", "length": "length", "contrast": "contrast-sensitive"}
_COLUMNS = {
    "Gaussian AA": ("gaussian", "average_association"),
    "Gaussian NC": ("gaussian", "normalized_cut"),
    "KNN AA": ("knn", "average_association"),
    "KNN NC": ("knn", "normalized_cut"),
}
_ALL_PHOTOS = 50
Errors = dict[tuple[str, str, str], NDArray[np.float64]]


def make(
    data: Path | None = None, small: bool = False, folder: Path | None = None, subset: int | None = None
) -> Figure:
    """Make the table from `grabcut/` of the data folder.

    Photos measured before, in `folder`, are not measured again; `small` takes three photos.
    """
    find_data(data, "grabcut", "boxes.csv")
    assert data is not None
    with TemporaryDirectory() as scratch:
        errors = run(data, folder or scratch, subset=3 if small else subset)
    n_photos = len(errors[OURS])
    means = {method: float(values.mean()) for method, values in errors.items()}
    return Figure(
        "table1",
        "Table 1: interactive segmentation errors",
        f"Mean errors in percent of the box on {n_photos} GrabCut photos; bars: evencut, marks: the paper. Lines: "
        "evencut's own default (entropy criterion) and OpenCV's grabCut.",
        _draw(means),
        _claims(means, n_photos),
        {
            "photos": n_photos,
            "mean": _named(means),
            "median": _named({m: float(np.median(v)) for m, v in errors.items()}),
        },
    )


def _claims(means: dict[tuple[str, str, str], float], n_photos: int) -> list[Claim]:
    """The claims judged on the paper's fifty photos; on fewer, only measured."""

    def judge(says: str, measured: str, holds: bool, why: str = "") -> Claim:
        if n_photos < _ALL_PHOTOS:
            return Claim.judge(says, measured, None, f"only {n_photos} of the {_ALL_PHOTOS} photos were measured")
        return Claim.judge(says, measured, holds, why)

    untold = (
        "the paper does not tell its number of neighbours, its bandwidth and its boundary weights; the order of the "
        "methods, which is its point, is judged apart"
    )
    gaps = {term: _gap(means, term) for term in _TERMS}
    close = {cell: means[cell] - paper for cell, paper in CELLS.items()}
    plain = [close[*_COLUMNS[name], "none"] for name in ("KNN AA", "KNN NC")]
    adaptive = [abs(means["knn", "average_association", t] - means["knn", "normalized_cut", t]) for t in _TERMS]
    return [
        judge(
            "KNN kernels have smaller errors than Gaussian ones, in every row and for both criteria.",
            "Gaussian minus KNN: " + "; ".join(f"{t} {a:.1f} (AA), {n:.1f} (NC)" for t, (a, n) in gaps.items()),
            min(min(pair) for pair in gaps.values()) > 0,
        ),
        judge(
            "Without a boundary term: 12.2 and 12.4 % for the KNN kernel.",
            ", ".join(f"{means[*_COLUMNS[name], 'none']:.1f} %" for name in ("KNN AA", "KNN NC")),
            max(map(abs, plain)) <= 1.5,
            untold,
        ),
        judge(
            "With a KNN kernel the criterion hardly matters.",
            "AA and NC differ by " + ", ".join(f"{gap:.1f}" for gap in adaptive) + " points",
            max(adaptive) <= 1.5,
        ),
        judge(
            "All twelve numbers of the table.",
            f"ours differ from the paper's by {min(close.values()):+.1f} to {max(close.values()):+.1f} points",
            max(map(abs, close.values())) <= 1.5,
            untold,
        ),
    ]


def _gap(means: dict, term: str) -> tuple[float, float]:
    """Gaussian minus KNN, for AA and for NC."""
    association = means["gaussian", "average_association", term] - means["knn", "average_association", term]
    return association, means["gaussian", "normalized_cut", term] - means["knn", "normalized_cut", term]


def _named(numbers: dict) -> dict[str, float]:
    return {" ".join(method): value for method, value in numbers.items()}


def _draw(means: dict) -> Any:
    picture, axes = make_figure(1, 3, size=(11, 3.8))
    highest = 1.1 * max(*CELLS.values(), *(means[cell] for cell in CELLS))
    for ax, (term, name) in zip(axes, _TERMS.items()):
        values = [means[*pair, term] for pair in _COLUMNS.values()]
        ax.bar(range(4), values, color=[GREY, GREY, BLUE, BLUE], label="evencut")
        ax.plot(range(4), [CELLS[*pair, term] for pair in _COLUMNS.values()], "D", color=ORANGE, label="the paper")
        for place, value in enumerate(values):
            ax.text(place, 0.3, f"{value:.1f}", ha="center", va="bottom", color="white", fontsize=9)
        ax.axhline(means[OURS], color=GREEN, ls="--", label="evencut's default")
        if PEER in means:
            ax.axhline(means[PEER], color="black", ls=":", label="OpenCV grabCut")
        ax.set(ylim=(0, highest), ylabel="mean error, %" if term == "none" else "")
        ax.set_xticks(range(4), [column.replace(" ", "\n") for column in _COLUMNS], fontsize=9)
        heading(ax, name)
    axes[2].legend(fontsize=8, loc="upper right")
    return picture
