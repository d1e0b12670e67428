"""Section 2.3: cliques of disc graphs and dominant sets are modes of the density, like Breiman's bias."""

from __future__ import annotations

import warnings
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist

from evencut.affinity import knn_density, parzen_density
from evencut.datasets import make_clumped_moons
from evencut.diagnosis import DensityBiasWarning
from evencut.estimators import DominantSets, dominant_set, is_maximal_clique
from evencut.kernels import Disc, Gaussian
from evencut.plotting import make_figure
from evencut.tensors import Floats, Ints, Mask

from .draw import clusters
from .frame import Both, Run
from .photos import FIG2_SIGMA, load_photo
from .solver import SEED, Solver, contrast, share_below, smaller

_RADIUS = 0.12


def dominant(run: Run) -> Any:
    """The largest clique of a disc graph, kernel k-means with the disc kernel, and dominant sets beside clusters."""
    X, _ = make_clumped_moons(300 if run.small else 600, clump=0.5, random_state=SEED)
    graph: Any = Disc(_RADIUS).affinity(X)
    density = knn_density(X, 10)
    maximal, largest = dominant_set(graph).members, largest_clique(X, _RADIUS)
    inside = np.isin(np.arange(len(X)), largest)
    n_graphs = 20 if run.small else 100
    cliques = sum(_clique_is_densest(seed) for seed in range(n_graphs))
    sample = 800 if run.small else 1500
    sets = {
        "Figure 1c": (X, Gaussian(0.2)),
        "Figure 2a": (load_photo("astronaut", 160, sample).sample, Gaussian(FIG2_SIGMA)),
        "Figure 7d": (load_photo("immunohistochemistry", 160, sample).sample, Gaussian("scott")),
    }
    dominants = {name: _dominant(points, kernel) for name, (points, kernel) in sets.items()}

    def measure(solver: Solver) -> SimpleNamespace:
        labels = solver.cut(X, Disc(_RADIUS))
        own = smaller(labels)
        compared = {name: _compare(solver, *sets[name], dominants[name]) for name in sets}
        return SimpleNamespace(labels=labels, size=own.sum(), ratio=contrast(density, own), compared=compared)

    by = run.both(measure)
    run.words = {"size": len(largest), "maximal": len(maximal), "height": share_below(density, inside)}
    run.words |= {"fullest": len(largest) / np.asarray(graph.sum(axis=1)).max(), "cliques": cliques, "n": n_graphs}
    is_clique = is_maximal_clique(graph, maximal) and is_maximal_clique(graph, largest)
    run.words |= {"is_clique": is_clique, "points": len(X)}
    for name in sets:
        run.judge("similar", Both(by.steps.compared[name], by.lowest.compared[name]), name=name)
    run.numbers = {key: {name: vars(one) for name, one in m.compared.items()} for key, m in vars(by).items()}
    picture, axes = make_figure(1, 3, size=(12, 3.6))
    clusters(axes[0], X, inside.astype(int), f"(a) the largest clique, {len(largest)} points")
    clusters(axes[1], X, by.steps.labels, "(b) kernel k-means, disc kernel")
    clusters(axes[2], X, dominants["Figure 1c"].astype(int), "(c) dominant set, Gaussian kernel")
    for ax, text in zip(axes, (f"disc graph, radius {_RADIUS}", f"radius {_RADIUS}", "σ = 0.2")):
        ax.set_xlabel(text)
    return picture


def _dominant(X: NDArray, kernel: Any) -> Mask:
    """The first dominant set."""
    with warnings.catch_warnings():
        # That it isolates a mode is what is to be seen.
        warnings.simplefilter("ignore", DensityBiasWarning)
        return DominantSets(1, kernel=kernel, assign_rest=False, random_state=SEED).fit(X).labels_ == 0


def _compare(solver: Solver, X: NDArray, kernel: Any, own: Mask) -> SimpleNamespace:
    """The dominant set beside the smaller cluster of kernel k-means."""
    other, density = smaller(solver.cut(X, kernel)), parzen_density(X)
    return SimpleNamespace(
        size=int(own.sum()),
        other=int(other.sum()),
        inside=float(np.mean(other[own])),
        overlap=float(np.sum(own & other) / np.sum(own | other)),
        ratios=[contrast(density, own), contrast(density, other)],
    )


def largest_clique(X: Floats, radius: float) -> Ints:
    """The largest set of points of the plane of which no two are further apart than the radius.

    Of its two points furthest apart, all others lie within their distance; on either side of the line through them
    all are near each other, so that what is left to choose is an independent set of a bipartite graph (Clark,
    Colbourn and Johnson, 1990).

    Examples
    --------
    >>> largest_clique(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [5.0, 5.0]]), 1.0)
    array([0, 1, 2])
    """
    distances = cdist(X, X)
    first, second = np.nonzero(np.triu((distances <= radius) & (distances > 0)))
    both = (np.maximum(distances[p], distances[q]) <= distances[p, q] for p, q in zip(first, second))
    lens = [np.flatnonzero(near) for near in both]
    best = np.zeros(0, dtype=np.int64)
    for i in np.argsort([-len(one) for one in lens], kind="stable"):
        if len(lens[i]) <= len(best):
            break
        p, q, points = first[i], second[i], lens[i]
        dx, dy = X[q] - X[p]
        side = dx * (X[points, 1] - X[p, 1]) - dy * (X[points, 0] - X[p, 0]) > 0
        kept = _independent(distances[np.ix_(points[side], points[~side])] > distances[p, q])
        if kept.sum() > len(best):
            best = np.sort(np.concatenate([points[side], points[~side]])[kept])
    return best


def _independent(edges: Mask) -> Mask:
    """A largest independent set of a bipartite graph, rows first: what König's cover of the matching leaves."""
    matching = maximum_bipartite_matching(sparse.csr_matrix(edges), perm_type="column")
    rows, columns = matching < 0, np.zeros(edges.shape[1], dtype=bool)
    while True:
        reached = edges[rows].any(axis=0)
        if (reached == columns).all():
            return np.concatenate([rows, ~columns])
        columns = reached
        rows = rows | (np.isin(matching, np.flatnonzero(columns)) & (matching >= 0))


def _clique_is_densest(seed: int) -> bool:
    """Whether a maximum clique of a random graph of ten points is a best subset of eq. 39, by trying all."""
    upper = np.triu(np.random.default_rng(seed).random((10, 10)) < 0.5, 1)
    graph = (upper | upper.T).astype(float)
    subsets = [list(s) for size in range(1, 11) for s in combinations(range(10), size)]
    inside = np.array([graph[np.ix_(s, s)].sum() for s in subsets])
    size = np.array([len(s) for s in subsets])
    is_clique = inside == size * (size - 1)
    return bool(size[is_clique].max() - 1 >= (inside / size).max() - 1e-12)
