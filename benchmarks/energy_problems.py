"""The problems whose energies are compared: data sets x kernels x criteria, from 400 to 3000 points.

Pictures of scenes are among them where EVENCUT_DATA names a folder that has them; the rest is generated or comes with
scikit-learn.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.decomposition import PCA

from evencut.affinity import scott_bandwidth
from evencut.criteria import RatioProblem, pose
from evencut.datasets import make_clumped_moons, make_rings, make_sparse_subset
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian, LocalScaling, SharedNeighbors

__all__ = ["DRAWS", "Problem", "count_draws", "problems", "scenes_file"]

GRAPHS = {"KNN 10": KNN(10), "KNN 20": KNN(20), "shared neighbours": SharedNeighbors(20)}
FIXED = {"Gaussian, Scott": 1.0, "Gaussian, half Scott": 0.5}
ADAPTIVE = {"adaptive Gaussian": AdaptiveGaussian(), "local scaling": LocalScaling()}
CRITERIA = {
    "normalised cut": ("normalized_cut", None),
    "average association": ("average_association", None),
    "equalised": ("normalized_cut", "exact"),
}
#: Draws of two moons with a clump that the default must solve, one by one.
DRAWS = range(10)


class Problem(NamedTuple):
    """A problem, its truth where it is known, and what peers take."""

    name: str
    posed: RatioProblem
    n_clusters: int
    truth: np.ndarray | None
    is_cut: bool
    is_fixed_gaussian: bool


def data_sets():
    """Name, points, true labels (or None) and number of clusters."""
    digits = load_digits()
    yield "clumped moons, 80 %", *make_clumped_moons(600, clump=0.8, random_state=0), 2
    yield "clumped moons, 50 %", *make_clumped_moons(600, clump=0.5, random_state=1), 2
    yield "clumped moons, 1500 points", *make_clumped_moons(1500, clump=0.8, random_state=2), 2
    yield "stragglers", *make_sparse_subset(600, random_state=0), 2
    yield "rings", *make_rings(random_state=0), 2
    yield "moons", *make_moons(500, noise=0.08, random_state=0), 2
    yield "circles", *make_circles(500, noise=0.05, factor=0.5, random_state=0), 2
    yield "blobs", *make_blobs(700, centers=5, cluster_std=1.6, random_state=3), 5
    yield "unequal blobs", *make_blobs([500, 60, 20], centers=[[0, 0], [6, 0], [3, 5]], random_state=0), 3
    yield "one Gaussian, 7 clusters", np.random.default_rng(0).normal(size=(400, 2)), None, 7
    yield "digits, 10 clusters", digits.data[:900].astype(float), digits.target[:900], 10
    yield "blobs, 3000 points", *make_blobs(3000, centers=12, cluster_std=1.2, random_state=5), 12
    scenes = scenes_file()
    if scenes is not None:
        stored = np.load(scenes)
        kept = np.isin(stored["category"], ("coast", "forest", "highway", "inside_city"))
        X = PCA(5, random_state=0).fit_transform(stored["features"][kept]).astype(np.float64)
        yield "scenes, 2 clusters", X, None, 2
        yield "scenes, 4 clusters", X, np.unique(stored["category"][kept], return_inverse=True)[1], 4


def scenes_file() -> Path | None:
    """Features of pictures of scenes, where the data folder has them."""
    folder = os.environ.get("EVENCUT_DATA")
    path = Path(folder) / "labelme" / "features.npz" if folder else None
    return path if path is not None and path.exists() else None


def problems(only: str = ""):
    """Every problem whose name contains `only`."""
    for data, X, y, k in data_sets():
        sigma = scott_bandwidth(X)
        sigma = np.where(sigma > 0, sigma, 1.0)
        # In many dimensions narrow Gaussians link nothing: every partition has the same energy.
        factors = {name: factor for name, factor in FIXED.items() if factor == 1 or X.shape[1] <= 10}
        fixed = {name: Gaussian(factor * sigma) for name, factor in factors.items()}
        # All pairs of many points are slow for the peers: there one kernel stands for its kind.
        many = {} if len(X) > 2000 else {"Gaussian, Scott": fixed["Gaussian, Scott"]}
        kernels = {**GRAPHS, **(many if len(X) > 1000 else fixed | ADAPTIVE)}
        if data == "stragglers":
            # A narrow and a wide fixed Gaussian under which a few stragglers are the best cut.
            kernels |= {f"Gaussian, {width}": Gaussian(width) for width in (0.3, 0.99)}
        yield from _posed(data, X, y, k, kernels, only)


def _posed(data, X, y, k, kernels, only):
    for kernel_name, kernel in kernels.items():
        names = {name: f"{data} | {kernel_name} | {name}" for name in CRITERIA}
        if not any(only in name for name in names.values()):
            continue
        affinity = kernel.affinity(np.asarray(X, dtype=float))
        for short, (criterion, equalize) in CRITERIA.items():
            if only in names[short]:
                posed = pose(affinity, np.ones(len(X)), criterion, equalize).problem
                is_cut = criterion == "normalized_cut"
                yield Problem(names[short], posed, k, y, is_cut, isinstance(kernel, Gaussian))


def count_draws(solver, n_neighbors, equalize):
    """Of ten draws of two moons, one with a clump of 80 %, how many a solver ends at or below the truth's energy."""
    solved = 0
    for draw in DRAWS:
        X, y = make_clumped_moons(600, clump=0.8, random_state=draw)
        problem = pose(KNN(n_neighbors).affinity(X), np.ones(len(X)), "normalized_cut", equalize).problem
        truth = problem.energy(y)
        solved += solver(problem, 2) <= truth + 1e-9 * abs(truth)
    return solved
