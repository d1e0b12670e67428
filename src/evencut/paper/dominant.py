"""Section 2.3: maximal cliques of disc graphs and dominant sets are modes of the density, like Breiman's bias."""

from __future__ import annotations

import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import knn_density, parzen_density
from ..datasets import make_clumped_moons
from ..diagnosis import DensityBiasWarning
from ..estimators import DominantSets, dominant_set, is_maximal_clique
from ..kernels import Disc, Gaussian
from ..plotting import make_figure
from .draw import clusters, heading
from .frame import Claim, Figure
from .moons import SEED, split
from .photos import load_photo

__all__ = ["make"]

# Of Figures 1c, 2a and 7d.
_MOONS_SIGMA = 0.2
_FIG2_SIGMA = 5.0


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed, but scikit-image."""
    X, _ = make_clumped_moons(300 if small else 600, clump=0.5, random_state=SEED)
    disc = Disc(0.12)
    graph: Any = disc.affinity(X)
    clique = dominant_set(graph)
    is_clique = is_maximal_clique(graph, clique.members)
    height = _share_below(knn_density(X, 10), clique.members)
    fullest = float(len(clique.members) / np.asarray(graph.sum(axis=1)).max())
    isolated = split(X, disc).labels_
    contrast = _contrast(knn_density(X, 10), isolated == np.bincount(isolated).argmin())
    cliques, densest = _small_graphs(20 if small else 100)

    sample = 800 if small else 2000
    first, second = load_photo("astronaut", 160, sample), load_photo("immunohistochemistry", 160, sample)
    pairs = {
        "Figure 1c": (X, Gaussian(_MOONS_SIGMA)),
        "Figure 2a": (first.sample, Gaussian(_FIG2_SIGMA)),
        "Figure 7d": (second.sample, Gaussian("scott")),
    }
    compared = {name: _compare(points, kernel) for name, (points, kernel) in pairs.items()}

    picture, axes = make_figure(1, 3, size=(12, 3.6))
    inside = np.isin(np.arange(len(X)), clique.members).astype(int)
    clusters(axes[0], X, inside, f"(a) clique of {len(clique.members)} in the disc graph")
    clusters(axes[1], X, isolated, "(b) kernel k-means, disc kernel")
    clusters(axes[2], X, compared["Figure 1c"]["set"].astype(int), "(c) dominant set, Gaussian kernel")
    for ax, text in zip(axes, ("orange: the clique", "radius 0.12", f"σ = {_MOONS_SIGMA}")):
        ax.set_xlabel(text)
    heading(axes[1], "(b) kernel k-means, disc kernel")
    return Figure(
        "dominant",
        "Section 2.3: maximal cliques and dominant sets",
        "The moons with a clump: a maximal clique of the disc graph, kernel k-means with the disc kernel, and the "
        "dominant set under the Gaussian kernel of Figure 1c.",
        picture,
        [
            Claim.judge(
                "The largest clique of a disc graph lies where a disc holds most points, at the mode of the density.",
                f"a maximal clique ({'yes' if is_clique else 'no'}) of {len(clique.members)} points, {fullest:.0%} of "
                f"the fullest disc; its members are denser than {height:.0%} of all points in the median",
                is_clique and height > 0.9,
            ),
            Claim.judge(
                "Kernel k-means with the disc kernel isolates the mode.",
                f"smaller cluster of {np.bincount(isolated).min()} points, {contrast:.1f} times as dense as the rest",
                contrast > 2 and np.bincount(isolated).min() < 0.5 * len(X),
            ),
            Claim.judge(
                "Maximum cliques minimise the association of one cluster over its size.",
                f"they do on {cliques} of {densest} random graphs of ten points, all subsets tried",
                cliques == densest,
                "over its size once, the best subset is the densest subgraph, mostly larger than any clique; cliques "
                "are best over the square of the size, which is what the dynamics on the simplex maximise (Motzkin and "
                "Straus). The density argument holds for both",
                at="eq. 39",
            ),
            *(
                Claim.judge(
                    f"The dominant set is similar to the cluster isolated in {name}.",
                    f"{found['inside']:.0%} of its {found['size']} points are in that cluster, of {found['other']}; "
                    "they "
                    f"are {found['contrast']:.1f} times as dense as the rest, that cluster's {found['isolated']:.1f}",
                    found["inside"] > 0.9 and found["contrast"] > 0.9 * found["isolated"],
                    at=name,
                )
                for name, found in compared.items()
            ),
            Claim.judge(
                "(Not in the paper.) They hold as many points.",
                "; ".join(f"{name}: {found['size']} against {found['other']}" for name, found in compared.items()),
                all(0.5 < found["size"] / found["other"] < 2 for found in compared.values()),
                "a dominant set is the very top of the mode: nothing pulls the rest of the points together, so it "
                "stays smaller than the cluster that kernel k-means cuts off",
            ),
        ],
        {name: {key: value for key, value in found.items() if key != "set"} for name, found in compared.items()},
    )


def _compare(X: NDArray, kernel: Any) -> dict[str, Any]:
    """The first dominant set beside the smaller cluster of kernel k-means."""
    labels = split(X, kernel).labels_
    smaller = labels == np.bincount(labels).argmin()
    with warnings.catch_warnings():
        # That it isolates a mode is what is to be seen.
        warnings.simplefilter("ignore", DensityBiasWarning)
        model = DominantSets(1, kernel=kernel, assign_rest=False, random_state=SEED).fit(X)
    own = model.labels_ == 0
    return {
        "set": own,
        "size": int(own.sum()),
        "other": int(smaller.sum()),
        "inside": float(np.mean(smaller[own])),
        "contrast": _contrast(parzen_density(X), own),
        "isolated": _contrast(parzen_density(X), smaller),
    }


def _contrast(density: NDArray, inside: NDArray[np.bool_]) -> float:
    """Median density inside over that outside."""
    return float(np.median(density[inside]) / np.median(density[~inside]))


def _share_below(density: NDArray, members: NDArray) -> float:
    """Share of all points that are less dense than the members in the median."""
    return float(np.mean(density < np.median(density[members])))


def _small_graphs(n_graphs: int) -> tuple[int, int]:
    """On how many random graphs a maximum clique is a best subset of eq. 39, and of how many."""
    agree = 0
    for seed in range(n_graphs):
        rng = np.random.default_rng(seed)
        upper = np.triu(rng.random((10, 10)) < 0.5, 1)
        graph = (upper | upper.T).astype(float)
        subsets = [list(s) for size in range(1, 11) for s in combinations(range(10), size)]
        inside = np.array([graph[np.ix_(s, s)].sum() for s in subsets])
        size = np.array([len(s) for s in subsets])
        is_clique = inside == size * (size - 1)
        agree += bool(size[is_clique].max() - 1 >= (inside / size).max() - 1e-12)
    return agree, n_graphs
