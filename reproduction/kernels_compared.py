"""Sections 1.1.2 and 4: bandwidths for densities and for clusters, adaptive kernels, and footnote 3."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import norm

from evencut.affinity import density_law, knn_density, knn_radius, parzen_density, scott_bandwidth
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons, make_rings, make_sparse_subset
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian, LocalScaling
from evencut.plotting import make_figure
from evencut.tensors import Floats

from .draw import GREEN, bars, clusters, curves, heading, ink
from .frame import Named, Run
from .solver import SEED, Solver, adaptive_gaussian, contrast, score, smaller
from .variable_kernels import VariableGaussian, variable_density

_GRID = np.linspace(-6, 6, 601)
_FACTORS = np.geomspace(0.25, 4, 17)
# A disc of radius r has the variance of a Gaussian of bandwidth r / sqrt(3), in one dimension.
_DISC = np.sqrt(3)
_CRITERIA = {"AA": "average_association", "NC": "normalized_cut"}
_ALPHAS = (1, 1e2, 1e4, 1e6)
# Mean and width of the bumps on a line.
_BUMPS = ((0.0, 0.05), (2.0, 1.0))


def bandwidth(run: Run) -> Any:
    """Section 1.1.2: bandwidths for estimating a density, which are not bandwidths for clustering."""
    draws = 5 if run.small else 30
    errors = {shape: _density_errors(shape, 500, draws) for shape in ("Gaussian", "disc")}
    lowest, best = errors["Gaussian"].min(), float(_FACTORS[np.argmin(errors["Gaussian"])])
    sizes = [100, 1000, 10_000, 100_000]
    ranges = np.array([_scott_over_range(n) for n in sizes])
    X, truth = make_clumped_moons(600, clump=0.5, random_state=SEED)
    scott = float(scott_bandwidth(X).mean())
    parts = (1, 0.5, 0.25)
    by = run.both(lambda s: Named({f"{p:g}:": score(truth, s.cut(X, Gaussian(p * scott))) for p in parts}))
    run.words = {"draws": draws, "best": best, "loss": np.interp(1.0, _FACTORS, errors["Gaussian"]) / lowest}
    run.words |= {"minor": errors["disc"].min() / lowest, "wrong": errors["Gaussian"][0] / lowest, "scott": scott}
    run.words["growth"] = np.diff(ranges)
    run.words["ranges"] = Named({f"{n} points": share for n, share in zip(sizes, ranges)})
    run.numbers = {"factor": _FACTORS, "error": errors, "over_range": run.words["ranges"], "ari": vars(by)}
    picture, axes = make_figure(1, 2, size=(9.5, 3.6))
    words = {"xlabel": "bandwidth over Scott's", "ylabel": "mean integrated squared error"}
    title = "(a) the bandwidth matters, the shape hardly"
    curves(axes[0], _FACTORS, errors, title, xscale="log", yscale="log", **words)
    axes[0].axvline(1, color=ink(), lw=0.8)
    axes[1].plot(sizes, ranges, "o-", color=GREEN)
    words = {"xlabel": "number of points", "ylabel": "Scott's bandwidth over the range"}
    heading(axes[1], "(b) a small part of the range", xscale="log", ylim=(0, None), **words)
    return picture


def _density_errors(shape: str, n_samples: int, draws: int) -> Floats:
    """Mean integrated squared errors of a kernel's estimates at the factors of Scott's bandwidth."""
    true, cell = norm.pdf(_GRID), _GRID[1] - _GRID[0]
    total = np.zeros(len(_FACTORS))
    for seed in range(draws):
        X = np.random.default_rng(seed).normal(size=(n_samples, 1))
        away = np.abs(_GRID[:, None] - X[:, 0])
        for i, width in enumerate(_FACTORS * float(scott_bandwidth(X)[0])):
            if shape == "Gaussian":
                estimate = parzen_density(X, width, at=_GRID[:, None])
            else:
                estimate = (away <= _DISC * width).mean(axis=1) / (2 * _DISC * width)
            total[i] += np.sum((estimate - true) ** 2) * cell
    return total / draws


def _scott_over_range(n_samples: int) -> float:
    X = np.random.default_rng(SEED).normal(size=(n_samples, 1))
    return float(scott_bandwidth(X)[0] / np.ptp(X))


def normalized(run: Run) -> Any:
    """Footnote 3: variable kernels of equal volume estimate densities well, and bring Breiman's bias back."""
    rng, half = np.random.default_rng(SEED), (1000 if run.small else 4000) // 2
    line = np.concatenate([rng.normal(mean, width, (half, 1)) for mean, width in _BUMPS])
    grid = np.linspace(-2, 5, 1401)
    rho = sum(0.5 * norm.pdf(grid, mean, width) for mean, width in _BUMPS)
    estimates = {"fixed": parzen_density(line, at=grid[:, None]), "variable": variable_density(line, at=grid[:, None])}
    errors = {name: float(np.abs(one - rho).sum() * (grid[1] - grid[0])) for name, one in estimates.items()}
    X, truth = make_clumped_moons(600, clump=0.5, random_state=SEED)
    volumes = {"as in Figure 1": False, "equal volume": True}
    kernels = {name: adaptive_gaussian(X, normalize=equal) for name, equal in volumes.items()}

    def measure(solver: Solver) -> SimpleNamespace:
        labels = {name: solver.cut(X, kernel) for name, kernel in kernels.items()}
        inside = smaller(labels["equal volume"])
        ratio, ari = contrast(variable_density(X), inside), {name: score(truth, one) for name, one in labels.items()}
        return SimpleNamespace(labels=labels, ari=ari, size=inside.sum(), ratio=ratio)

    by = run.both(measure)
    splits = [truth, by.steps.labels["equal volume"], (X[:, 0] > np.median(X[:, 0])).astype(int)]
    identity = [_parzen_identity(X, splits, kernels[name]) for name in ("equal volume", "as in Figure 1")]
    run.words = {"errors": errors, "identity": identity}
    run.numbers = {"error": errors, "identity": identity}
    run.numbers |= {name: {"ari": m.ari, "density_ratio": m.ratio} for name, m in vars(by).items()}
    picture, axes = make_figure(1, 3, size=(12, 3.6))
    shown = {"variable, equal volume": estimates["variable"], "fixed": estimates["fixed"], "true": rho}
    curves(axes[0], grid, shown, "estimates of a density", yscale="log", xlabel="x", ylabel="density")
    for ax, (name, labels) in zip(axes[1:], by.steps.labels.items()):
        clusters(ax, X, labels, f"{name}: ARI {by.steps.ari[name]:.2f}")
    return picture


def _parzen_identity(X: NDArray, splits: list[NDArray], kernel: Any) -> float:
    """Relative difference of kernel k-means and of minus the sum of variable kernel densities, up to a constant."""
    sigma = np.sqrt(kernel.covariances[:, 0, 0])
    one_way = np.exp(-0.5 * (cdist(X, X) / sigma) ** 2) / (2 * np.pi * sigma**2)
    affinity = kernel.affinity(X)
    values = np.array([energy(affinity, labels, "average_association") for labels in splits])
    densities = np.array([energy(one_way + one_way.T, labels, "average_association") for labels in splits])
    return float(np.abs(values / values[0] / (densities / densities[0]) - 1).max())


def adaptive(run: Run) -> Any:
    """Examples 1 to 3 and Section 4.3: adaptive Gaussian, local scaling and KNN kernels beside each other."""
    n_draws = 2 if run.small else 4
    X, _ = make_clumped_moons(400, clump=0.5, random_state=SEED)
    by_law = density_law(knn_density(X, 7), "constant", dimension=2) / knn_radius(X, 7)
    scaling, gaussian = (np.asarray(kernel.affinity(X)) for kernel in (LocalScaling(7), AdaptiveGaussian(7)))
    near = (scaling > np.exp(-0.5)) & ~np.eye(len(X), dtype=bool)
    stored = _stored(500 if run.small else 2000)

    def measure(solver: Solver) -> SimpleNamespace:
        ari = _scores(solver, n_draws)
        means = Named({name: float(np.mean(list(of.values()))) for name, of in ari.items()})
        behind = max(means.values()) - means["KNN"]
        alpha, judged, others = _by_transform(solver, 2 if run.small else 5)
        told = ", ".join(f"{value:.2f}" for value in judged)
        of_log = {"alpha": alpha, "judged": judged, "others": others, "judged_text": told}
        return SimpleNamespace(ari=ari, means=means, behind=behind, **of_log)

    by = run.both(measure)
    run.words = {"varies": float(by_law.std() / by_law.mean()), "stored": stored, "n": 6 * n_draws}
    run.words["differ"] = float(np.median(np.abs(scaling[near] - gaussian[near])))
    run.numbers = {name: {"ari": m.ari, "mean": m.means, "transforms": m.others} for name, m in vars(by).items()}
    run.numbers["stored"] = stored
    picture, axes = make_figure(1, 3, size=(12, 3.8))
    for ax, (name, m) in zip(axes, (("by Lloyd's steps", by.steps), ("at the lowest energy", by.lowest))):
        groups = {kernel: _by_set(of) for kernel, of in m.ari.items()}
        bars(ax, groups, f"ARI {name}", ylabel="mean ARI", ylim=(0, 1.35), yticks=[0, 0.5, 1])
    bars(axes[2], {"": stored}, "a sparse and a full affinity", yscale="log", ylabel="stored, share of all pairs")
    return picture


def _scores(solver: Solver, n_draws: int) -> dict[str, dict[str, float]]:
    """ARI by kernel and problem."""
    scores: dict[str, dict[str, float]] = {"KNN": {}, "adaptive Gaussian": {}, "local scaling": {}}
    for seed in range(n_draws):
        sets = {
            "moons": make_clumped_moons(500, clump=0.5, random_state=seed),
            "rings": make_rings(500, clump=0.5, random_state=seed),
            "tail": make_sparse_subset(500, random_state=seed),
        }
        for where, (X, truth) in sets.items():
            for name, kernel in zip(scores, (KNN(10), adaptive_gaussian(X), LocalScaling(7))):
                for short, criterion in _CRITERIA.items():
                    scores[name][f"{where} {short} {seed}"] = score(truth, solver.cut(X, kernel, criterion))
    return scores


def _by_set(scores: dict[str, float]) -> dict[str, float]:
    """Means over the draws."""
    keys = dict.fromkeys(name.rsplit(" ", 1)[0] for name in scores)
    return {key: float(np.mean([v for name, v in scores.items() if name.startswith(key)])) for key in keys}


def _stored(n_samples: int) -> dict[str, float]:
    """Share of the pairs that each kernel stores."""
    X, _ = make_clumped_moons(n_samples, clump=0.5, random_state=SEED)
    affinities: dict[str, Any] = {"KNN": KNN(10).affinity(X), "adaptive Gaussian": AdaptiveGaussian(7).affinity(X)}
    sizes = {name: a.nnz if sparse.issparse(a) else a.size for name, a in affinities.items()}
    return {name: size / n_samples**2 for name, size in sizes.items()}


def _by_transform(solver: Solver, n_draws: int) -> tuple[float, list[float], Named]:
    """The alpha of the logarithmic transform that is best on one draw, its ARI on others, and both other transforms'.

    Bandwidths have the factor of Figure 1; alpha is in units of the highest density.
    """

    def ari(seed: int, transform: str, alpha: float = 1.0) -> float:
        X, truth = make_clumped_moons(600, clump=0.5, random_state=seed)
        kernel = VariableGaussian(7, transform, alpha / float(knn_density(X, 7).max()))
        variance = (0.7 * kernel.bandwidths(X)) ** 2
        kernel.set_params(covariances=variance[:, None, None] * np.eye(2))
        return score(truth, solver.cut(X, kernel))

    alpha = max(_ALPHAS, key=lambda a: ari(SEED, "log", a))
    seeds = range(SEED + 1, SEED + 1 + n_draws)
    others = Named({name: float(np.mean([ari(seed, name) for seed in seeds])) for name in ("constant", "identity")})
    return alpha, [ari(seed, "log", alpha) for seed in seeds], others
