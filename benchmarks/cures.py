"""Which cure works when: bias x cure x kernel x bandwidth, on several draws of the points, failures included.

`python -m benchmarks cures` measures, keeps every score in `cures.json` and writes `CURES.md`; the documentation draws
the same file. A cure works on a draw where the two moons are found (adjusted Rand index above 0.95).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .records import publish, read_record

HERE = Path(__file__).parent
RESULTS = HERE / "cures.json"

#: The biases: a data set, and the criterion that falls for it.
BIASES = {
    "a dense clump, average association": ("make_clumped_moons", {"clump": 0.5}, "average_association"),
    "outliers, normalised cut": ("make_sparse_subset", {}, "normalized_cut"),
}
CURES = (None, "weights", "exact")
BANDWIDTHS = tuple(float(value) for value in np.geomspace(0.03, 3, 16).round(3))
NEIGHBORS = (5, 7, 10, 15, 20, 30)
#: Kernels with the values of the parameter that sets their reach.
KERNELS: dict[str, tuple[Any, ...]] = {
    "Gaussian": BANDWIDTHS,
    "KNN": NEIGHBORS,
    "LocalScaling": NEIGHBORS,
    "AdaptiveGaussian": NEIGHBORS,
    "SharedNeighbors": NEIGHBORS,
    "default": ("auto",),
}
FOUND = 0.95
#: Dark blue is a mean ARI of 1.
COLORMAP = "cividis_r"


def cells() -> Iterator[tuple[str, str, str | None, Any]]:
    """Every combination that is measured; the default makes its own choices and takes no cure."""
    for bias in BIASES:
        for kernel, reaches in KERNELS.items():
            for cure in CURES if kernel != "default" else (None,):
                for reach in reaches:
                    yield bias, kernel, cure, reach


def measure(draws: int, points: int) -> list[dict[str, Any]]:
    """The scores of every combination on every draw of the points."""
    rows = []
    for bias, kernel, cure, reach in cells():
        scores = [score(bias, kernel, cure, reach, seed, points) for seed in range(draws)]
        rows.append({"bias": bias, "kernel": kernel, "cure": cure, "reach": reach, "scores": scores})
    return rows


def score(bias: str, kernel: str, cure: str | None, reach: Any, seed: int, points: int) -> float:
    """Agreement with the two moons of one combination on one draw: their adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    from evencut import EvenCut, KernelClustering, datasets, kernels

    make, options, criterion = BIASES[bias]
    X, y = getattr(datasets, make)(points, random_state=seed, **options)
    model = EvenCut(2, random_state=0)
    if kernel != "default":
        kernel = getattr(kernels, kernel)(reach)
        model = KernelClustering(2, kernel=kernel, criterion=criterion, equalize=cure, random_state=0)
    return round(float(adjusted_rand_score(y, model.fit_predict(X))), 3)


def read() -> dict[str, Any]:
    """What was measured last."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def works(row: dict[str, Any]) -> float:
    """The share of draws on which the moons are found."""
    return float(np.mean([score > FOUND for score in row["scores"]]))


def page(result: dict[str, Any]) -> str:
    """The table of the measurements: at how many reaches a cure works on every draw, and where."""
    lines = [
        "# Which cure works when",
        "",
        f"Written by `python -m benchmarks cures`. Two moons of {result['points']} points "
        f"in all, {result['draws']} draws; a cure works where both moons are found (ARI above {FOUND}). The reach of "
        f"a kernel is the bandwidth of the Gaussian, {BANDWIDTHS[0]:g} to {BANDWIDTHS[-1]:g}, and the number of "
        f"neighbours of the others, {NEIGHBORS[0]} to {NEIGHBORS[-1]}.",
    ]
    for bias in BIASES:
        lines += ["", f"## {bias[0].upper()}{bias[1:]}", ""]
        lines += ["| kernel | cure | works on all draws at | best mean ARI | at |", "|---|---|---|---|---|"]
        for kernel in KERNELS:
            for cure in CURES:
                rows = [r for r in result["rows"] if (r["bias"], r["kernel"], r["cure"]) == (bias, kernel, cure)]
                if rows:
                    lines.append(line(kernel, cure, rows))
    return "\n".join(lines) + "\n"


def line(kernel: str, cure: str | None, rows: list[dict[str, Any]]) -> str:
    """One kernel under one cure."""
    good = [row["reach"] for row in rows if works(row) == 1]
    best = max(rows, key=lambda row: np.mean(row["scores"]))
    where = f"{len(good)} of {len(rows)}" + (f": {', '.join(map(str, good))}" if good and kernel != "default" else "")
    return f"| {kernel} | {cure or 'none'} | {where} | {np.mean(best['scores']):.2f} | {best['reach']} |"


def draw(result: dict[str, Any]) -> Any:
    """The matrix as a picture: a cell a combination, dark blue where the moons are found on every draw."""
    import matplotlib.pyplot as plt
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    rows = [(kernel, cure) for kernel in KERNELS for cure in (CURES if kernel != "default" else (None,))]
    figure, axes = plt.subplots(len(BIASES), 1, figsize=(7.4, 9.6), layout="constrained")
    for ax, bias in zip(axes, BIASES):
        ax.set(xlim=(0, len(BANDWIDTHS)), ylim=(len(rows), 0), title=bias, xticks=[])
        ax.set_yticks(
            np.arange(len(rows)) + 0.5,
            [kernel if kernel == "default" else f"{kernel}, {cure or 'no cure'}" for kernel, cure in rows],
        )
        for place, (kernel, cure) in enumerate(rows):
            found = [r for r in result["rows"] if (r["bias"], r["kernel"], r["cure"]) == (bias, kernel, cure)]
            width = len(BANDWIDTHS) / len(found)
            for column, row in enumerate(found):
                _cell(ax, column * width, place, width, row)
        ax.tick_params(length=0)
        for side in ax.spines.values():
            side.set_visible(False)
    figure.colorbar(ScalarMappable(Normalize(0, 1), COLORMAP), ax=axes, location="bottom", shrink=0.5, label="mean ARI")
    (measured,) = read_record("cures")["sections"].values()
    figure.supxlabel(f"measured with evencut {measured['version']}, {measured['date']}", fontsize=8)
    return figure


def _cell(ax: Any, left: float, top: float, width: float, row: dict[str, Any]) -> None:
    """One combination: its colour is the mean ARI, its number the reach."""
    import matplotlib
    from matplotlib.patches import Rectangle

    mean = float(np.mean(row["scores"]))
    color = matplotlib.colormaps[COLORMAP](float(np.clip(mean, 0, 1)))
    ax.add_patch(Rectangle((left + 0.03, top + 0.05), width - 0.06, 0.9, color=color, linewidth=0))
    ink = "white" if mean > 0.55 else "black"
    reach = row["reach"]
    text = reach if isinstance(reach, str) else f"{reach:.2g}".lstrip("0")
    weight = "bold" if works(row) == 1 else "normal"
    ax.text(left + width / 2, top + 0.52, text, ha="center", va="center", fontsize=7, color=ink, weight=weight)


def main(arguments: list[str] | None = None) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--points", type=int, default=600)
    asked = parser.parse_args(arguments)
    result = {"draws": asked.draws, "points": asked.points, "rows": measure(asked.draws, asked.points)}
    RESULTS.write_text(json.dumps(result).replace('{"bias"', '\n{"bias"') + "\n", encoding="utf-8")
    print(publish("cures", {"all": page(read())}))


if __name__ == "__main__":
    main()
