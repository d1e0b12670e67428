"""The bandwidth behind the Gaussian columns of Table 1, which the paper does not tell: errors over a range of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Gaussian
from ..plotting import make_figure
from ..segmentation import segment
from .draw import BLUE, ORANGE, heading
from .frame import Claim, Figure, find_data
from .grabcut import Photo, error_rate, find_photos, read_photo
from .table1 import BANDWIDTH, CELLS, choose_photos, noisy_lab

__all__ = ["error_with", "make"]

_BANDWIDTHS = (0.35, BANDWIDTH, 1.4)
_CRITERIA = {"average_association": ("AA", BLUE), "normalized_cut": ("NC", ORANGE)}
_ALL_PHOTOS = 50


def make(data: Path | None = None, small: bool = False, subset: int | None = None) -> Figure:
    """Make the figure from `grabcut/` of the data folder; `small` takes three photos."""
    find_data(data, "grabcut", "boxes.csv")
    assert data is not None
    names = choose_photos(find_photos(data), 3 if small else subset)
    widths: tuple[float | str, ...] = ("scott", *_BANDWIDTHS)
    errors: dict[tuple[str, float | str], list[float]] = {(c, width): [] for c in _CRITERIA for width in widths}
    for name in names:
        photo = read_photo(data, name)
        for criterion, width in errors:
            errors[criterion, width].append(error_with(photo, criterion, width))
    means = {cell: float(np.mean(values)) for cell, values in errors.items()}
    paper = {criterion: CELLS["gaussian", criterion, "none"] for criterion in _CRITERIA}
    gaps = {c: {width: means[c, width] - paper[c] for width in widths} for c in _CRITERIA}
    largest = {width: max(abs(gaps[c][width]) for c in _CRITERIA) for width in widths}
    on_all = len(names) == _ALL_PHOTOS
    where = f"on {len(names)} of the {_ALL_PHOTOS} photos"
    few = "" if on_all else f"only {len(names)} of the {_ALL_PHOTOS} photos were measured"
    return Figure(
        "photo_bandwidth",
        "Table 1: the bandwidth of its Gaussian columns",
        f"Mean error without a boundary term {where}, by the bandwidth of the Gaussian kernel in standard deviations "
        "of the colours; dashed: the paper's errors. Scott's rule is about 0.2 for photos of 100 000 pixels.",
        _draw(means, paper),
        [
            Claim.judge(
                "(Not in the paper.) One bandwidth gives both Gaussian errors without a boundary term.",
                f"largest gap {where}: "
                + "; ".join(f"{gap:.1f} at {width}" for width, gap in largest.items()),
                (largest[BANDWIDTH] <= 2) if on_all else None,
                few,
            ),
            Claim.judge(
                "(Not in the paper.) Scott's bandwidth, good for density estimation, has the larger errors of AA.",
                f"{means['average_association', 'scott']:.1f} % at Scott's, "
                f"{means['average_association', BANDWIDTH]:.1f} % at {BANDWIDTH} {where}",
                (gaps["average_association"]["scott"] > gaps["average_association"][BANDWIDTH] + 5) if on_all else None,
                few,
            ),
        ],
        {"photos": len(names), "error": {f"{c} {w}": value for (c, w), value in means.items()}},
    )


def error_with(photo: Photo, criterion: str, width: float | str, **boundary: Any) -> float:
    """Error in percent of a Gaussian kernel, started from the box; without a boundary term unless one is given."""
    with warnings.catch_warnings():
        # Trivial cuts and early stops count, as errors.
        warnings.simplefilter("ignore")
        result = segment(
            photo.image,
            box=photo.box,
            kernel=Gaussian(width),
            criterion=criterion,
            start="box",
            features=noisy_lab,
            max_iter=100,
            **{"regularizer": None, **boundary},
        )
    return error_rate(result.mask, photo.truth, photo.box)


def _draw(means: dict[tuple[str, Any], float], paper: dict[str, float]) -> Any:
    picture, ax = make_figure(size=(6.5, 3.8))
    for criterion, (name, color) in _CRITERIA.items():
        values: NDArray = np.array([means[criterion, width] for width in _BANDWIDTHS])
        ax.plot(_BANDWIDTHS, values, "o-", color=color, label=name)
        ax.axhline(paper[criterion], color=color, ls="--", lw=1)
        ax.plot(0.2, means[criterion, "scott"], "s", color=color)
    ax.text(0.2, ax.get_ylim()[1], " Scott", va="top", fontsize=9)
    ax.set(xscale="log", xlabel="bandwidth, deviations of the colours", ylabel="mean error, %")
    ax.set_xticks((0.2, *_BANDWIDTHS), [str(w) for w in (0.2, *_BANDWIDTHS)])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    heading(ax, "errors of the Gaussian kernel, no boundary term")
    return picture
