"""How low the energies are that the default solver finds: `python -m benchmarks.energies` writes ENERGIES.md.

At least sixty problems, kernels x criteria x data. The best known energy of each is kept in energies.json: the lowest
that any solver, any peer or a long search (`--search`) has ever found, and it only ever falls.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

from evencut.affinity import as_affinity, scott_bandwidth
from evencut.criteria import pose
from evencut.datasets import make_clumped_moons, make_rings, make_sparse_subset
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian, LocalScaling, SharedNeighbors
from evencut.solvers import solve

HERE = Path(__file__).parent
KNOWN = HERE / "energies.json"
PAGE = HERE / "ENERGIES.md"


def data_sets():
    """Name, points, true labels (or None) and number of clusters."""
    digits = load_digits()
    grid = np.random.default_rng(0).normal(size=(400, 2))
    return {
        "clumped moons, 80 %": (*make_clumped_moons(600, clump=0.8, random_state=0), 2),
        "clumped moons, 50 %": (*make_clumped_moons(600, clump=0.5, random_state=1), 2),
        "stragglers": (*make_sparse_subset(600, random_state=0), 2),
        "rings": (*make_rings(random_state=0), 2),
        "moons": (*make_moons(500, noise=0.08, random_state=0), 2),
        "circles": (*make_circles(500, noise=0.05, factor=0.5, random_state=0), 2),
        "blobs": (*make_blobs(700, centers=5, cluster_std=1.6, random_state=3), 5),
        "unequal blobs": (*make_blobs([500, 60, 20], centers=[[0, 0], [6, 0], [3, 5]], random_state=0), 3),
        "one Gaussian, 7 clusters": (grid, None, 7),
        "digits, 10 clusters": (digits.data[:900].astype(float), digits.target[:900], 10),
    }


KERNELS = {
    "KNN 10": KNN(10),
    "KNN 20": KNN(20),
    "shared neighbours": SharedNeighbors(20),
    "Gaussian, Scott": Gaussian(),
    "Gaussian, half Scott": None,
    "adaptive Gaussian": AdaptiveGaussian(),
    "local scaling": LocalScaling(),
}
CRITERIA = (("normalized_cut", None), ("average_association", None), ("normalized_cut", "exact"))


def problems():
    """Every problem with its name, its truth and its number of clusters."""
    for data, (X, y, k) in data_sets().items():
        for kernel_name, kernel in KERNELS.items():
            if kernel is None:
                sigma = scott_bandwidth(X)
                kernel = Gaussian(0.5 * np.where(sigma > 0, sigma, 1.0))
            affinity = kernel.affinity(np.asarray(X, dtype=float))
            for criterion, equalize in CRITERIA:
                if criterion == "average_association" and as_affinity(affinity).graph is not None:
                    continue
                posed = pose(affinity, np.ones(len(X)), criterion, equalize)
                name = f"{data} | {kernel_name} | {criterion}{' equalised' if equalize else ''}"
                yield name, posed.problem, affinity, y, k, criterion


def peer(affinity, problem, k, criterion):
    """SpectralClustering's energy on the same affinity."""
    matrix = affinity.toarray() if hasattr(affinity, "toarray") else np.asarray(affinity)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(matrix)
    return problem.energy(labels)


def gap(energy, known, k, criterion):
    """How much worse than the best known: of the cut value for cuts, of the association otherwise."""
    if criterion == "normalized_cut":
        return ((energy + k) - (known + k)) / max(known + k, 1e-3)
    return (energy - known) / abs(known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--search", type=int, default=0, help="seeds of a long search for lower energies")
    options = parser.parse_args()
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    rows = []
    for name, problem, affinity, y, k, criterion in problems():
        start = time.process_time()
        ours = solve(problem, k, random_state=0).energy
        took = time.process_time() - start
        start = time.process_time()
        spectral = solve(problem, k, solver="spectral", random_state=0).energy
        spectral_took = time.process_time() - start
        sklearn = peer(affinity, problem, k, criterion)
        truth = None if y is None else problem.energy(y)
        found = [ours, spectral, sklearn, *([] if truth is None else [truth])]
        for seed in range(1, options.search + 1):
            found.append(solve(problem, k, n_init=16, random_state=seed).energy)
        known[name] = min([*found, known.get(name, np.inf)])
        behind = gap(ours, known[name], k, criterion)
        rows.append((name, ours, known[name], behind, spectral, sklearn, truth, took, spectral_took))
        print(f"{name}: {ours:.6f}, best known {known[name]:.6f}", flush=True)
    KNOWN.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(rows))
    print(f"wrote {PAGE}")


def page(rows):
    """The page as text."""
    close = np.mean([row[3] <= 0.01 for row in rows])
    above = sum(row[6] is not None and row[1] > row[6] + 1e-9 * abs(row[6]) for row in rows)
    ratio = np.median([row[7] / row[8] for row in rows])
    lines = [
        "# Energies",
        "",
        "Made by `python -m benchmarks.energies`. The best known energy is the lowest that any solver, peer or long",
        "search (`--search`) has found, kept in `energies.json`. The gap is relative to the cut value for cuts (the",
        "energy plus the number of clusters), to the association otherwise.",
        "",
        f"- {len(rows)} problems; within 1 % of the best known on {close:.0%}",
        f"- above the energy of the true labels on {above}",
        f"- CPU time against the spectral solver alone, median: {ratio:.1f} times",
        "",
        "| problem | default | best known | gap | spectral solver | SpectralClustering | truth | CPU s | spectral's |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, ours, best, behind, spectral, sklearn, truth, took, spectral_took in rows:
        told = "" if truth is None else f"{truth:.5f}"
        lines.append(
            f"| {name.replace(' | ', ', ')} | {ours:.5f} | {best:.5f} | {behind:.2%} | {spectral:.5f} | {sklearn:.5f} "
            f"| {told} | {took:.2f} | {spectral_took:.2f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
