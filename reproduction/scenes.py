"""Figure 3: categories of scenes, lost by Scott's Gaussian kernel and found by nearest neighbours."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from evencut.affinity import parzen_density
from evencut.kernels import KNN, Gaussian
from evencut.neighbors import squared_distances
from evencut.theory import metric_mds

from .draw import BLUE, ORANGE, canvas, heading, solid, values
from .frame import Both, Run
from .solver import SEED, STEPS, Solver, contrast, smaller

#: The four categories that are drawn.
_DRAWN = ("coast", "forest", "highway", "inside_city")
_PAPER = {"gaussian": 0.38, "knn": 0.90, "k_means": 0.89}
_VIEW = {"elev": 25, "azim": 40}


class _Spread(list[float]):
    """Numbers that show themselves as their mean and range."""

    @property
    def average(self) -> float:
        return float(np.mean(self))

    def __format__(self, form: str) -> str:
        return f"{self.average:.2f} ({min(self):.2f} to {max(self):.2f})"


def labelme(run: Run) -> Any:
    """Make the figure from `labelme/features.npz` of the data folder, on every second choice of four categories."""
    stored = np.load(run.find("labelme", "features.npz"))
    features, category = stored["features"], stored["category"]
    every = list(combinations(np.unique(category).tolist(), 4))
    chosen = every[:: 7 if run.small else 2]
    sets = [_points(features, category, names) for names in chosen]
    k_means = _Spread(_nmi(truth, KMeans(4, n_init=10, random_state=SEED).fit_predict(X)) for X, truth in sets)

    def measure(solver: Solver) -> SimpleNamespace:
        rows = [_measure(solver, X, truth) for X, truth in sets]
        m = SimpleNamespace(**{key: _Spread(row[key] for row in rows) for key in rows[0]})
        m.k_means, m.ahead = k_means, float(np.mean(np.array(m.knn) > k_means))
        m.better = int(np.sum(np.array(m.knn) > m.gaussian))
        return m

    by = run.both(measure)
    run.words = {"where": f"over {len(chosen)} of the {len(every)} choices of four categories"}
    run.words |= {"drawn": ", ".join(_DRAWN).replace("_", " "), "n": len(chosen)}
    run.numbers = {name: vars(m) for name, m in vars(by).items()}
    return _draw(run, *_points(features, category, _DRAWN), by)


def _measure(solver: Solver, X: NDArray, truth: NDArray) -> dict[str, float]:
    """NMI of Scott's Gaussian and of the KNN kernel, and where the Gaussian's clusters lie."""
    four, two = (solver.cut(X, Gaussian("scott"), n_clusters=k) for k in (4, 2))
    return {
        "gaussian": _nmi(truth, four),
        "knn": _nmi(truth, solver.cut(X, KNN(20), n_clusters=4)),
        "largest": float(np.bincount(four).max() / len(X)),
        "size": float(smaller(two).mean()),
        "ratio": contrast(parzen_density(X), smaller(two)),
    }


def _nmi(truth: NDArray, labels: NDArray) -> float:
    return float(normalized_mutual_info_score(truth, labels))


def _points(features: NDArray, category: NDArray, chosen: tuple[str, ...]) -> tuple[NDArray, NDArray]:
    kept = np.isin(category, chosen)
    return PCA(5, random_state=SEED).fit_transform(features[kept]).astype(np.float64), category[kept]


def _draw(run: Run, X: NDArray, truth: NDArray, by: Both[SimpleNamespace]) -> Any:
    shown = np.random.default_rng(SEED).permutation(len(X))[: 300 if run.small else 800]
    placed = metric_mds(squared_distances(X[shown]), 3, max_iter=100)
    picture = canvas(13, 7.4)
    grid = picture.add_gridspec(2, 3, width_ratios=(1, 1, 0.7))
    first = solid(picture, grid[0, 0], placed, "(a) density", **_VIEW)
    bar = values(first, placed, parzen_density(X)[shown], "(a) density", size=8)
    picture.colorbar(bar, ax=first, shrink=0.6, label="Parzen density, Scott's bandwidth")
    for place, name, kernel, k in (
        (grid[0, 1], "(b) Gaussian", Gaussian("scott"), 2),
        (grid[1, 0], "(c) Gaussian", Gaussian("scott"), 4),
        (grid[1, 1], "(d) KNN", KNN(20), 4),
    ):
        labels = STEPS.cut(X, kernel, n_clusters=k)
        share = np.bincount(labels).max() / len(X)
        told = f"NMI {_nmi(truth, labels):.2f}" if k == 4 else "Lloyd's steps"
        solid(picture, place, placed, f"{name}, {k} clusters: {share:.0%} in one, {told}", labels[shown], 8, **_VIEW)
    ax = picture.add_subplot(grid[:, 2])
    for place, (name, paper) in enumerate(_PAPER.items()):
        for m, marker, color, shift in ((by.steps, "o", BLUE, -0.15), (by.lowest, "x", ORANGE, 0.15)):
            nmi = vars(m)[name]
            ax.plot(place + shift + np.linspace(-0.12, 0.12, len(nmi)), nmi, marker, ms=4, color=color)
        ax.plot([place - 0.3, place + 0.3], [paper, paper], color=BLUE, lw=2, alpha=0.5)
    ax.set_xticks(range(3), ["Gaussian", "KNN", "k-means"])
    heading(ax, "(e) choices of categories\n(lines: the paper)", ylim=(0, 1), ylabel="NMI")
    return picture
