"""Sections 1.2.1 and 2: entropy and Gini criteria, Breiman's bias, and Theorems 1 and 2, by trying all splits."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from evencut import theory
from evencut.affinity import knn_density
from evencut.estimators import ProbabilisticKMeans
from evencut.kernels import Gaussian
from evencut.plotting import PALETTE, make_figure
from evencut.tensors import Floats, Ints

from .draw import BLUE, GREY, ORANGE, bars, clusters, curves, heading, ink
from .equations_gini import CELL, DENSITY, GRID, N_SAMPLES, SAMPLE, objective, random_splits
from .frame import Named, Run
from .solver import SEED, Solver, contrast, score

#: Counts of fourteen feature values, one of them the clear mode.
_COUNTS = np.array([4, 7, 9, 6, 5, 8, 14, 22, 12, 9, 6, 5, 3, 2])
_BINS = 40
_SIGMA = 0.15


def breiman(run: Run) -> Any:
    """Theorems 1 and 2: the Gini criterion, discrete and continuous, is best where it isolates the mode."""
    counts = _COUNTS[4:12] if run.small else _COUNTS
    gini, entropic = (_best_split(criterion, counts) for criterion in (theory.gini_criterion, theory.entropy_criterion))
    epsilons = DENSITY.max() * np.geomspace(1, 1e-4, 60)
    value = np.array([objective(theory.mode_split(DENSITY, e) == 1) for e in epsilons])
    bound, others = theory.gini_supremum(DENSITY, CELL), np.array([objective(split) for split in random_splits()])
    centres = np.linspace(-2, 4, 16)
    splits = [[(np.abs(x - c) < 0.8).astype(int) for c in centres] for x in (SAMPLE[:, 0], GRID)]
    energies = {
        "kernel k-means, Scott's bandwidth": [theory.parzen_energy(SAMPLE, split, "scott") for split in splits[0]],
        "Gini approximation": [theory.gini_approximation(DENSITY, split, N_SAMPLES, CELL) for split in splits[1]],
    }
    agreement = float(np.corrcoef(np.array(list(energies.values())))[0, 1])
    run.words = {"splits": 2 ** (len(counts) - 1) - 1, "alone": ", ".join(map(str, np.flatnonzero(gini) + 1))}
    run.words |= {"share": counts[entropic == 1].sum() / counts.sum(), "value": value[-1], "bound": bound}
    run.words |= {"epsilon": epsilons[-1] / DENSITY.max(), "best": value.max(), "wider": value[:-1].max()}
    run.words |= {"violation": _ratio_violation(), "agreement": agreement, "cuts": len(centres), "n": N_SAMPLES}
    run.words |= {"isolates": (gini == theory.breiman_split(counts)).all(), "gap": 1 - value[-1] / bound}
    run.words |= {"top": others.max(), "n_random": len(others), "highest": max(others.max(), value.max()) / bound}
    run.numbers = {"counts": counts, "epsilon": epsilons, "L": value, "supremum": bound, "correlation": agreement}
    picture, axes = make_figure(1, 3, size=(12, 3.8))
    place = np.arange(1, len(counts) + 1)
    axes[0].bar(place, counts, color=np.where(gini == 1, ORANGE, BLUE))
    for x, count, mine in zip(place, counts, entropic):
        axes[0].text(x, count + 0.4, "▲" if mine else "△", ha="center", fontsize=8)
    words = {"xlabel": "feature value", "ylabel": "number of points", "xticks": place[::2]}
    heading(axes[0], "(a) Theorem 1: the best of all splits", ylim=(0, counts.max() * 1.3), **words)
    told = "colours: best Gini split\n▲ △: best entropy split"
    axes[0].text(0.02, 0.97, told, transform=axes[0].transAxes, va="top", fontsize=9)
    across = np.geomspace(epsilons[-1], epsilons[0], len(others)) / DENSITY.max()
    axes[1].plot(across, others, ".", color=GREY, ms=3, alpha=0.6, label="random splits")
    shown = {"L(s$_ε$)": value, "Eρ + sup ρ": np.full(len(value), bound)}
    where = {"fontsize": 9, "loc": "upper right"}
    title = "(b) Theorem 2: the mode alone is best"
    curves(axes[1], epsilons / DENSITY.max(), shown, title, where, xscale="log", xlabel="ε / sup ρ", ylabel="L")
    axes[1].invert_xaxis()
    # Room above the curves for the legend.
    axes[1].set_ylim(top=bound + 0.4 * (bound - min(others)))
    words = {"xlabel": "centre of an interval cut off", "ylabel": "energy"}
    curves(axes[2], centres, energies, "(c) kernel k-means follows Gini", marks="o", **words)
    return picture


def _best_split(criterion: Any, counts: Ints) -> Ints:
    """The split in two of lowest criterion, by trying all at once; the mode is in cluster 1."""
    splits = (np.arange(1, 2 ** (len(counts) - 1))[:, None] >> np.arange(len(counts))) & 1
    total = np.zeros(len(splits))
    for member in (splits, 1 - splits):
        histogram = member * counts
        size = histogram.sum(axis=1)
        if criterion is theory.gini_criterion:
            total += size - (histogram**2).sum(axis=1) / size
        else:
            total += size * np.log(size) - (histogram * np.log(np.maximum(histogram, 1))).sum(axis=1)
    best = splits[int(np.argmin(total))]
    features = np.repeat(np.arange(len(counts)), counts)
    # The value of the table must be what the criterion itself says of these points.
    assert np.isclose(total.min(), criterion(features, best[features]))
    return best if best[counts.argmax()] else 1 - best


def _ratio_violation() -> float:
    """By how much (a + c)/(b + d) leaves the interval of a/b and c/d at most, over the larger one."""
    a, b, c, d = np.random.default_rng(0).uniform(1e-3, 1, size=(4, 10_000))
    low, high, middle = np.minimum(a / b, c / d), np.maximum(a / b, c / d), (a + c) / (b + d)
    return float(np.max(np.maximum(low - middle, middle - high) / high, initial=0.0))


def clusters_of_many(run: Run) -> Any:
    """Section 2.2: with more than two clusters the best partitions by the Gini criterion isolate the highest modes."""
    rng = np.random.default_rng(SEED)
    trials = [rng.integers(1, 40, 6 if run.small else 7) for _ in range(10 if run.small else 40)]
    best = {k: [(counts, best_partition(counts, k)) for counts in trials] for k in (3, 4)}
    alone = {k: sum(_isolates(*one, k) for one in of) for k, of in best.items()}
    pairwise = {k: sum(_pairs_are_best(*one) for one in of) for k, of in best.items()}
    X = _bumps(rng, 400 if run.small else 800)

    def measure(solver: Solver) -> SimpleNamespace:
        labels = solver.cut(X, Gaussian(_SIGMA), n_clusters=3)
        rest = int(np.bincount(labels).argmax())
        density, others = knn_density(X, 10), [k for k in range(3) if k != rest]
        either = [(labels == k) | (labels == rest) for k in others]
        ratio = [contrast(density[two], labels[two] == k) for k, two in zip(others, either)]
        return SimpleNamespace(labels=labels, share=[np.mean(labels == k) for k in others], ratio=ratio)

    by = run.both(measure)
    named = {"alone": alone, "pairwise": pairwise}
    run.words = {key: Named({f"{k} clusters": n for k, n in of.items()}) for key, of in named.items()}
    run.words["n"] = len(trials)
    run.numbers = {"isolated": alone, "pairwise": pairwise, "trials": len(trials)}
    run.numbers |= {name: {"density_ratio": m.ratio} for name, m in vars(by).items()}
    picture, axes = make_figure(1, 3, size=(12, 3.8))
    for ax, k in zip(axes, (3, 4)):
        counts, partition = best[k][0]
        # One colour for the cluster of several values, then by falling number of points: the same in all panels.
        ranks = np.lexsort((-np.bincount(partition, counts), -np.bincount(partition)))
        ax.bar(range(1, len(counts) + 1), counts, color=[PALETTE[np.flatnonzero(ranks == one)[0]] for one in partition])
        heading(ax, f"{k} clusters of lowest Gini criterion", xlabel="feature value", ylabel="number of points")
    clusters(axes[2], X, by.steps.labels, f"kernel k-means, 3 clusters, σ = {_SIGMA}")
    return picture


def _criterion(counts: NDArray, labels: NDArray) -> float:
    groups = [counts[labels == k] for k in np.unique(labels)]
    return sum(group.sum() * theory.gini_impurity(group) for group in groups)


def best_partition(counts: Ints, n_clusters: int) -> Ints:
    """The partition of a histogram's values of lowest Gini criterion, by trying all.

    Examples
    --------
    >>> import numpy as np
    >>> best_partition(np.array([2, 5, 3]), 2)
    array([0, 1, 0])
    """
    every = (np.array([0, *rest]) for rest in product(range(n_clusters), repeat=len(counts) - 1))
    # Each partition once: new clusters in the order of their numbers.
    firsts = ((labels, *np.unique(labels, return_index=True)) for labels in every)
    once = [labels for labels, names, at in firsts if len(names) == n_clusters and (np.diff(at) > 0).all()]
    return min(once, key=lambda labels: _criterion(counts, labels))


def _isolates(counts: NDArray, best: NDArray, n_clusters: int) -> bool:
    """Whether all clusters but one are single values, none less frequent than any value of the last."""
    alone = [k for k in range(n_clusters) if np.sum(best == k) == 1]
    rest = np.isin(best, alone, invert=True)
    if len(alone) != n_clusters - 1:
        return False
    return bool(counts[~rest].min() >= counts[rest].max())


def _pairs_are_best(counts: NDArray, best: NDArray) -> bool:
    """Whether every two clusters are the best split of their union (a tie may be cut otherwise)."""
    for one, other in combinations(np.unique(best), 2):
        both = (best == one) | (best == other)
        again = best_partition(counts[both], 2)
        if not np.isclose(_criterion(counts[both], best[both]), _criterion(counts[both], again)):
            return False
    return True


def _bumps(rng: np.random.Generator, n_samples: int) -> Floats:
    centres = np.array([[-1.5, 0.0], [1.5, 0.0], [0.0, 1.5]])
    sizes = [round(share * n_samples) for share in (0.2, 0.15, 0.1)]
    dense = [centre + 0.12 * rng.normal(size=(size, 2)) for centre, size in zip(centres, sizes)]
    return np.concatenate([*dense, rng.uniform([-3, -1.5], [3, 3], size=(n_samples - sum(sizes), 2))])


def entropy(run: Run) -> Any:
    """Section 1.2.1: probabilistic k-means, the entropy it bounds, and clusters of equal size."""
    rng = np.random.default_rng(SEED)
    n_samples = 600 if run.small else 2000
    X = np.concatenate([rng.normal(-2, 0.5, (n_samples // 2, 2)), rng.normal(2, 1.5, (n_samples // 2, 2))])
    two_bumps = np.concatenate([rng.normal(-3, 1, n_samples), rng.normal(3, 1, n_samples)])[:, None]
    energies, true = _energies_of_one_cluster(two_bumps)
    shares = np.linspace(0.05, 0.95, 37)
    of_splits = _criteria_of_splits(rng.uniform(size=n_samples), shares)
    best = float(shares[np.argmin(of_splits["entropy"])])
    spans = {name: float(np.ptp(curve)) for name, curve in of_splits.items()}
    uneven = np.concatenate([rng.normal(size=(900, 2)) * [2.0, 1.0], rng.normal([5.5, 0.0], 0.3, size=(100, 2))])
    tools = {
        "k-means": KMeans(2, n_init=10, random_state=SEED).fit_predict(uneven),
        "Gaussians": ProbabilisticKMeans(2, random_state=SEED).fit(uneven).labels_,
    }
    sizes = {name: float(np.bincount(labels).min() / len(labels)) for name, labels in tools.items()}
    plain = KMeans(3, n_init=20, tol=0, random_state=SEED).fit_predict(X)
    same = score(plain, ProbabilisticKMeans(3, covariance="fixed", n_init=20, random_state=SEED).fit(X).labels_)
    run.words = {"n": n_samples, "true": true, "energies": Named(energies), "spans": spans, "sizes": sizes}
    run.words |= {"same": same, "identity": _histogram_identity(two_bumps), "best": best}
    misfits = [abs(energies[name] - true) for name in ("mixture of two", "histogram")]
    run.words |= {"excess": energies["one Gaussian"] - true, "misfits": misfits}
    run.numbers = {"energies": energies | {"true": true}, "best_share": best, "share": sizes, "ari_with_k_means": same}
    picture, axes = make_figure(1, 3, size=(12, 3.8))
    bars(axes[0], {"": energies}, "(a) the entropy it bounds", ylabel="energy a point, nats")
    axes[0].axhline(true, color=ORANGE, ls="--", label="true entropy")
    words = {"xlabel": "share of one part", "ylabel": "criterion over that of no split"}
    curves(axes[1], shares, of_splits, "(b) entropy prefers equal sizes", **words)
    bars(axes[2], {"": sizes}, "(c) so does k-means", ylabel="share of the smaller cluster", ylim=(0, 0.55))
    axes[2].axhline(0.1, color=ink(), ls=":", label="true share")
    for ax in (axes[0], axes[2]):
        ax.legend(*([one[-1:] for one in ax.get_legend_handles_labels()]), fontsize=9)
    return picture


def _energies_of_one_cluster(X: NDArray) -> tuple[dict[str, float], float]:
    """Minus mean log-likelihood of all points as one cluster under three models, and the true entropy."""
    gaussian = ProbabilisticKMeans(1, random_state=SEED).fit(X)
    histogram = ProbabilisticKMeans(1, model="histogram", n_bins=_BINS, smoothing=0.0, random_state=SEED).fit(X)
    mixture = GaussianMixture(2, random_state=SEED).fit(X)
    grid = np.linspace(-12, 12, 4801)
    density = (np.exp(-((grid - 3) ** 2) / 2) + np.exp(-((grid + 3) ** 2) / 2)) / (2 * np.sqrt(2 * np.pi))
    true = -float(np.sum(density * np.log(density)) * (grid[1] - grid[0]))
    values = (gaussian.energy_ / len(X), -float(mixture.score(X)), histogram.energy_ / len(X))
    return dict(zip(("one Gaussian", "mixture of two", "histogram"), values)), true


def _histogram_identity(X: NDArray) -> float:
    """Relative difference of eq. 16 for histograms and of eq. 17 of the numbers of the bins."""
    model = ProbabilisticKMeans(2, model="histogram", n_bins=_BINS, smoothing=0.0, random_state=SEED).fit(X)
    edges = np.linspace(X.min(), X.max(), _BINS + 1)
    bins_of = np.searchsorted(edges[1:-1], X[:, 0], side="right")
    constant = len(X) * np.log(edges[1] - edges[0])
    return abs((theory.entropy_criterion(bins_of, model.labels_) + constant) / model.energy_ - 1)


def _criteria_of_splits(x: NDArray, shares: NDArray) -> dict[str, Floats]:
    """Both criteria of splits of points by a threshold between bins, over the value of no split."""
    bins_of = (x * _BINS).astype(int)
    splits = [(bins_of >= round(share * _BINS)).astype(int) for share in shares]
    none = np.zeros(len(x), dtype=int)
    tools = {"entropy": theory.entropy_criterion, "Gini": theory.gini_criterion}
    return {name: np.array([of(bins_of, s) / of(bins_of, none) for s in splits]) for name, of in tools.items()}
