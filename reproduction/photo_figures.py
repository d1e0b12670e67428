"""Figure 8 and Table 1: objects cut out of the GrabCut photos, and what explains the Gaussian columns of the table."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.affinity import parzen_density
from evencut.plotting import make_figure
from evencut.segmentation import segment
from evencut.tensors import Floats, Mask

from . import table1 as measured
from .contact_sheet import painted
from .draw import BLUE, GREEN, GREY, ORANGE, heading, ink, photo
from .frame import Named, Run
from .grabcut import Photo, error_rate, find_photos, read_photo
from .sampled_knn import SampledKNN
from .solver import SEED, contrast
from .table1 import BANDWIDTH, CELLS, OTHER_BANDWIDTHS, OTHER_WEIGHTS, OURS, PEER, Method, choose_photos

_KERNELS = ("fixed Gaussian", "KNN")
_TERMS = {"none": "no boundary term", "length": "length", "contrast": "contrast-sensitive"}
_AA, _NC = "average_association", "normalized_cut"
_KERNELS_NAMED, _CRITERIA_NAMED = {"gaussian": "Gaussian", "knn": "KNN"}, {_AA: "AA", _NC: "NC"}
_NAMES = {(k, c): f"{a} {b}" for k, a in _KERNELS_NAMED.items() for c, b in _CRITERIA_NAMED.items()}
_COLUMNS = {name: pair for pair, name in _NAMES.items()}
_ALL_PHOTOS = 50
# Points of error by which a cell may differ, and by which AA and NC differ at most in the paper's KNN columns.
_NEAR, _APART = 2.0, 0.8


def grabcut(run: Run) -> Any:
    """Figure 8: objects by average association with a fixed and with a KNN kernel, on photos spread over the list."""
    folder = run.find("grabcut", "boxes.csv").parents[1]
    photos = [read_photo(folder, name) for name in choose_photos(find_photos(folder), 2 if run.small else 12)]
    masks = {kernel: [_cut(one, kernel) for one in photos] for kernel in _KERNELS}
    errors = {k: [error_rate(m, p.truth, p.box) for m, p in zip(of, photos)] for k, of in masks.items()}
    ratios = [_mode_ratio(one, _cut(one, "fixed Gaussian", regularizer=None)) for one in photos]
    fixed, adaptive = (float(np.mean(errors[kernel])) for kernel in _KERNELS)
    better = int(np.sum(np.array(errors["KNN"]) < errors["fixed Gaussian"]))
    run.words = {"fixed": fixed, "adaptive": adaptive, "better": better, "n": len(photos), "median": np.median(ratios)}
    run.words["ratios"] = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    run.numbers = {"photos": [one.name for one in photos], "error": errors, "density_ratio": ratios}
    shown = range(0, len(photos), 2) if len(photos) > 6 else range(len(photos))
    picture, axes = make_figure(3, len(shown), size=(2.1 * len(shown), 5.4))
    for column, i in enumerate(shown):
        photo(axes[0, column], _boxed(photos[i]), photos[i].name)
        for ax, kernel in zip(axes[1:, column], _KERNELS):
            photo(ax, painted(photos[i], masks[kernel][i], (0, 114, 178)), f"{kernel}: {errors[kernel][i]:.1f} %")
    return picture


def _cut(one: Photo, kernel: str, regularizer: str | None = "contrast") -> Mask:
    with warnings.catch_warnings():
        # A cut that takes all or nothing is part of what the figure is to show.
        warnings.simplefilter("ignore")
        boundary: dict[str, Any] = {"regularizer": regularizer, "smoothness": 0.08 if regularizer else 0.0}
        chosen: dict[str, Any] = {"kernel": SampledKNN() if kernel == "KNN" else "gaussian", "criterion": _AA}
        return segment(one.image, box=one.box, start="box", max_iter=100, **chosen, **boundary).mask


def _mode_ratio(one: Photo, mask: Mask) -> float:
    """Median colour density of the denser side of a cut over that of the other, from a sample of pixels."""
    colors = one.image.reshape(-1, 3).astype(float)
    rows = np.random.default_rng(SEED).choice(len(colors), 2000, replace=False)
    ratio = contrast(parzen_density(colors[rows]), mask.ravel()[rows])
    return max(ratio, 1 / ratio)


def _boxed(one: Photo) -> NDArray[np.uint8]:
    """The photo with its box in orange."""
    x0, y0, x1, y1 = one.box
    frame = np.zeros(one.image.shape[:2], dtype=bool)
    frame[y0:y1, x0:x1] = True
    width = max(3, one.image.shape[1] // 100)
    frame[y0 + width : y1 - width, x0 + width : x1 - width] = False
    return np.where(frame[..., None], np.array([213, 94, 0], dtype=np.uint8), one.image)


def _errors(run: Run, folder: Path | None, subset: int | None) -> dict[Method, Floats]:
    """Errors of all methods; photos measured before, in `folder`, are not measured again. A small run takes three."""
    data = run.find("grabcut", "boxes.csv").parents[1]
    with TemporaryDirectory() as scratch:
        errors = measured.run(data, folder or scratch, subset=3 if run.small else subset)
    n_photos = len(errors[OURS])
    run.words = {"n": n_photos, "all": _ALL_PHOTOS, "bandwidth": BANDWIDTH}
    return errors


def _judge_on_all(run: Run, key: str, holds: Any, why: str = "", **words: Any) -> None:
    """Claims are judged on the paper's fifty photos; on fewer they are only measured."""
    n_photos = run.words["n"]
    if n_photos < _ALL_PHOTOS:
        holds, why = None, f"only {n_photos} of the {_ALL_PHOTOS} photos were measured"
    run.decide(key, holds, why, **words)


def table1(run: Run, folder: Path | None = None, subset: int | None = None) -> Any:
    """Table 1: our errors beside the paper's."""
    errors = _errors(run, folder, subset)
    means = {method: float(values.mean()) for method, values in errors.items()}
    run.words |= {"near": _NEAR, "peer": " and OpenCV's grabCut" if PEER in means else ""}
    for cell, paper in CELLS.items():
        fitted = cell[::2] == ("gaussian", "none")
        why = run.text["fitted"] if fitted else run.text["lower"] if cell == ("gaussian", _NC, "contrast") else ""
        words = {"name": f"{_NAMES[cell[:2]]}, {_TERMS[cell[2]]}", "paper": paper, "mean": means[cell]}
        gap = means[cell] - paper
        _judge_on_all(run, "cell", None if fitted else abs(gap) <= _NEAR, why, gap=gap, **words)
    rows_of = {f"{term} {short}": (c, term) for term in _TERMS for c, short in _CRITERIA_NAMED.items()}
    gaps = {name: means["gaussian", *row] - means["knn", *row] for name, row in rows_of.items()}
    _judge_on_all(run, "kernels", min(gaps.values()) > 0, gaps=Named(gaps))
    paired = {term: errors["knn", _AA, term] - errors["knn", _NC, term] for term in _TERMS}
    intervals = {term: _interval(difference) for term, difference in paired.items()}
    told = "; ".join(f"{t} {paired[t].mean():+.1f} ({low:+.1f} to {high:+.1f})" for t, (low, high) in intervals.items())
    best = {}
    for term in _TERMS:
        of_term = {name: means[*pair, term] for name, pair in _COLUMNS.items()}
        best[term] = min(of_term, key=of_term.__getitem__)
    # One row in which NC is better beyond chance refutes it; to hold, AA must be better beyond chance in every row.
    beaten, ahead = (any(low > 0 for low, _ in intervals.values()), all(high < 0 for _, high in intervals.values()))
    holds = False if beaten else all(name == "KNN AA" for name in best.values()) if ahead else None
    _judge_on_all(run, "best", holds, best="; ".join(f"{_TERMS[t]}: {name}" for t, name in best.items()), paired=told)
    within = all(-_APART <= low and high <= _APART for low, high in intervals.values())
    beyond = any(low > _APART or high < -_APART for low, high in intervals.values())
    _judge_on_all(run, "criterion", within or (False if beyond else None), paired=told)
    rows = {name: [means[*pair, term] for term in _TERMS] for name, pair in _COLUMNS.items()}
    rows_told = "; ".join(f"{name} " + ", ".join(f"{v:.1f}" for v in row) for name, row in rows.items())
    _judge_on_all(run, "terms", all(c < b <= a for a, b, c in rows.values()), rows=rows_told)
    run.numbers = {"photos": run.words["n"], "mean": _named(means)}
    run.numbers["median"] = _named({m: float(np.median(v)) for m, v in errors.items()})
    return _draw_table(means)


def _interval(difference: Floats) -> tuple[float, float]:
    """95 % interval of the mean of paired differences, by the bootstrap."""
    rng = np.random.default_rng(SEED)
    means = difference[rng.integers(0, len(difference), (10_000, len(difference)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _named(numbers: dict[Method, float]) -> dict[str, float]:
    return {" ".join(method): value for method, value in numbers.items()}


def _draw_table(means: dict[Method, float]) -> Any:
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
            ax.axhline(means[PEER], color=ink(), ls=":", label="OpenCV grabCut")
        ax.set_xticks(range(4), [column.replace(" ", "\n") for column in _COLUMNS], fontsize=9)
        heading(ax, name, ylim=(0, highest), ylabel="mean error, %" if term == "none" else "")
    axes[2].legend(fontsize=8, loc="upper right")
    return picture


def photo_bandwidth(run: Run, folder: Path | None = None, subset: int | None = None) -> Any:
    """The bandwidth behind the Gaussian columns of Table 1, which the paper does not state."""
    errors = _errors(run, folder, subset)
    widths: list[float | str] = ["scott", *sorted([BANDWIDTH, *OTHER_BANDWIDTHS[1:]])]
    methods = {
        c: [("gaussian", c, "none") if w == BANDWIDTH else measured.other_bandwidth(c, w) for w in widths]
        for c in (_AA, _NC)
    }
    means = {c: np.array([errors[method].mean() for method in of]) for c, of in methods.items()}
    paper = {c: CELLS["gaussian", c, "none"] for c in means}
    gaps = np.max([np.abs(means[c] - paper[c]) for c in means], axis=0)
    largest = Named({f"{width}:": gap for width, gap in zip(widths, gaps)})
    ours = widths.index(BANDWIDTH)
    _judge_on_all(run, "one", gaps[ours] <= _NEAR, largest=largest)
    _judge_on_all(run, "scott", means[_AA][0] > means[_AA][ours] + 5, at_scott=means[_AA][0], ours=means[_AA][ours])
    run.numbers = {"photos": run.words["n"], "bandwidths": widths, "error": means}
    picture, ax = make_figure(size=(6.5, 3.8))
    # Scott's rule is about 0.2 for photos of 100 000 pixels.
    at = [0.2, *widths[1:]]
    for (criterion, values), name, color in zip(means.items(), ("AA", "NC"), (BLUE, ORANGE)):
        ax.plot(at[1:], values[1:], "o-", color=color, label=name)
        ax.plot(at[0], values[0], "s", color=color)
        ax.axhline(paper[criterion], color=color, ls="--", lw=1)
    ax.text(0.2, ax.get_ylim()[1], " Scott", va="top", fontsize=9)
    _finish(ax, at, "errors of the Gaussian kernel, no boundary term", "bandwidth, deviations of the colours")
    return picture


def photo_weight(run: Run, folder: Path | None = None, subset: int | None = None) -> Any:
    """The boundary weight behind the one cell of Table 1 that is far from the paper's, at half and at twice ours."""
    errors = _errors(run, folder, subset)
    cell = ("gaussian", _NC, "contrast")
    methods = {w: measured.other_weight(w) for w in OTHER_WEIGHTS} | {0.08: cell}
    means = {w: float(errors[methods[w]].mean()) for w in sorted(methods)}
    worth = max(means.values()) - min(means.values())
    _judge_on_all(run, "factor", worth > 1.2, means=Named({f"{w:g}:": mean for w, mean in means.items()}))
    run.numbers = {"photos": run.words["n"], "error": means}
    picture, ax = make_figure(size=(5.5, 3.4))
    ax.plot(list(means), list(means.values()), "o-", color=BLUE, label="evencut")
    ax.axhline(CELLS[cell], color=ORANGE, ls="--", label="the paper")
    _finish(ax, list(means), "Gaussian NC, contrast-sensitive term", "weight of the boundary term")
    return picture


def _finish(ax: Any, ticks: list[Any], title: str, xlabel: str) -> None:
    heading(ax, title, xscale="log", xlabel=xlabel, ylabel="mean error, %")
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.legend(fontsize=9)
