"""Figures 1, 5 and 9: two moons, one with a dense clump; for Figure 9 the other one has a thin tail.

The paper uses one data set for all three and describes only the clump. Without sparse points normalised cut finds the
moons at many bandwidths, so that Figure 9 needs some; with them weights fail. Both figures are judged on both sets.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.cluster import KMeans

from evencut.affinity import degrees, knn_density, scott_bandwidth
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian, LocalScaling
from evencut.plotting import PALETTE, make_figure
from evencut.theory import normalized_affinity

from .draw import GREEN, canvas, clusters, curves, ink
from .frame import Both, Named, Run
from .solver import (
    SEED,
    WELL,
    Solver,
    Sweep,
    adaptive_gaussian,
    contrast,
    cures_of,
    make_moons,
    score,
    share_below,
    smaller,
    sweep,
)

# Separates the moons of uniform density; smaller ones isolate a chance mode even there.
_SIGMA = 0.2
# Bandwidths of the adaptive Gaussian kernel over the distance to the seventh neighbour.
_FACTORS = (0.5, 0.6, 0.7, 0.8, 1.0, 1.4)
# Far below the distance of the nearest two points.
_ALONE = 1e-7
_NC = "normalized_cut"
_OVER_SIGMA: dict[str, Any] = {"xscale": "log", "xlabel": "bandwidth σ", "ylabel": "ARI", "yticks": [0, 0.5, 1]}


def fig1(run: Run) -> Any:
    """Figure 1: kernel k-means isolates a dense clump; adaptive kernels do not."""
    sigmas = np.geomspace(0.02, 2, 12 if run.small else 40)
    even, halves = make_clumped_moons(600, clump=0, random_state=SEED)
    X, truth = make_clumped_moons(600, clump=0.5, random_state=SEED)
    tailed, of_tailed = make_moons()
    # The clump is normal around the top of the upper moon: three of its deviations to either side.
    clump = (truth == 0) & (np.abs(np.arctan2(X[:, 1], X[:, 0]) - np.pi / 2) < 0.09 * np.pi)
    k_means = KMeans(2, n_init=10, random_state=SEED).fit_predict(even)

    def measure(solver: Solver) -> SimpleNamespace:
        m = SimpleNamespace(even=solver.cut(even, Gaussian(_SIGMA)), isolated=solver.cut(X, Gaussian(_SIGMA)))
        m.of_even, m.of_isolated = score(halves, m.even), score(truth, m.isolated)
        isolated = smaller(m.isolated)
        m.size, m.share, m.found = isolated.sum(), np.mean(clump[isolated]), np.mean(isolated[clump])
        m.uniform, m.uneven = sweep(solver, even, halves, sigmas), sweep(solver, X, truth, sigmas)
        m.cured = {name: solver.cut(X, kernel, equalize=way) for name, (kernel, way) in cures_of(X, _SIGMA).items()}
        m.ari = Named({name: score(truth, labels) for name, labels in m.cured.items()})
        m.factors = Named({str(f): score(truth, solver.cut(X, adaptive_gaussian(X, factor=f))) for f in _FACTORS})
        m.kernels = Named({name: m.ari[name] for name in ("local scaling", "KNN kernel")})
        m.draws = _draws(solver, 2 if run.small else 5)
        tail = {n: solver.cut(tailed, kernel, equalize=way) for n, (kernel, way) in cures_of(tailed, _SIGMA).items()}
        m.tail = Named({name: score(of_tailed, labels) for name, labels in tail.items()})
        return m

    by = run.both(measure)
    run.words = {"k_means": score(halves, k_means), "sigma": _SIGMA, "n": len(sigmas)}
    run.words |= {"low": sigmas[0], "high": sigmas[-1], "points": int(clump.sum())}
    for name in by.steps.tail:
        ari = Both(*(SimpleNamespace(ari=m.tail[name]) for m in (by.steps, by.lowest)))
        run.judge("tail", ari, name=name)
    for name, m in vars(by).items():
        of_sweeps = {"sigma": sigmas, "uniform": m.uniform.score, "uneven": m.uneven.score}
        run.numbers[name] = {"ari": m.ari, "tail": m.tail, "factor": m.factors, "draws": m.draws, "sweep": of_sweeps}
    return _draw_fig1(even, halves, k_means, X, truth, by.steps)


def _draws(solver: Solver, n_draws: int) -> Named:
    """Share of the draws on which the moons are separated: uniform ones, and clumped ones by each cure."""
    well: Counter[str] = Counter()
    for seed in range(n_draws):
        even, halves = make_clumped_moons(600, clump=0, random_state=seed)
        well["uniform, Gaussian"] += score(halves, solver.cut(even, Gaussian(_SIGMA))) > WELL
        X, truth = make_clumped_moons(600, clump=0.5, random_state=seed)
        for name, (kernel, way) in cures_of(X, _SIGMA).items():
            well[name] += score(truth, solver.cut(X, kernel, equalize=way)) > WELL
    return Named({name: count / n_draws for name, count in well.items()})


def _draw_fig1(even: NDArray, halves: NDArray, k_means: NDArray, X: NDArray, truth: NDArray, m: SimpleNamespace) -> Any:
    picture, axes = make_figure(2, 4, size=(12, 4.6))
    uniform = {"(a) uniform: k-means": k_means, "(b) uniform: kernel k-means": m.even}
    uneven = {
        "(c) uneven: kernel k-means": m.isolated,
        f"(c′) the same, σ = {m.uneven.sigma[-1]:g}": m.uneven.labels[-1],
        "(d) uneven: KNN kernel": m.cured["KNN kernel"],
        "(e) uneven: adaptive Gaussian": m.cured["adaptive Gaussian"],
        "(f) uneven: adaptive weights": m.cured["adaptive weights"],
    }
    for ax, (title, labels) in zip(axes.flat, (uniform | uneven).items()):
        points, right = (even, halves) if title in uniform else (X, truth)
        clusters(ax, points, labels, f"{title}, ARI {score(right, labels):.2f}", size=4)
    shown = {"fixed σ, uniform": m.uniform.score, "fixed σ, uneven": m.uneven.score}
    shown["KNN kernel, uneven"] = np.full(len(m.uneven.sigma), m.ari["KNN kernel"])
    style = {"fontsize": 8, "loc": "upper right", "frameon": False}
    curves(axes[1, 3], m.uneven.sigma, shown, "(g) no fixed σ is right", style, ylim=(-0.05, 1.75), **_OVER_SIGMA)
    return picture


def sigma(run: Run) -> Any:
    """Figure 5: the biases of kernel k-means over the range of bandwidth."""
    X, truth = make_clumped_moons(600, clump=0.5, random_state=SEED)
    diameter, scott, density = float(pdist(X).max()), float(scott_bandwidth(X).mean()), knn_density(X, 10)
    sigmas = np.geomspace(0.03, 3 * diameter, 14 if run.small else 40)
    narrow, wide = sigmas <= scott / 2, sigmas >= diameter
    k_means = KMeans(2, n_init=10, random_state=SEED).fit_predict(X)

    def measure(solver: Solver) -> SimpleNamespace:
        swept = sweep(solver, X, truth, sigmas)
        ratio = np.array([contrast(density, smaller(labels)) for labels in swept.labels])
        sizes = swept.smallest
        like = np.array([score(k_means, labels) for labels in swept.labels])
        return SimpleNamespace(
            sweep=swept,
            ratio=ratio,
            like=like,
            linear=like[wide].min(),
            densities=(ratio[narrow].min(), ratio[narrow].max()),
            sizes=(sizes[narrow].min(), sizes[narrow].max()),
            share=sizes[wide].min() / len(X),
            fading=spearmanr(sigmas[~wide], ratio[~wide]).statistic,
        )

    by = run.both(measure)
    run.words = {"low": sigmas[0], "scott": scott, "n": len(X), "diameter": diameter, "sigma": _ALONE}
    run.words["alone"] = _spread_of_energies(X)
    run.numbers = {"sigma": sigmas, "scott": scott, "diameter": diameter}
    for name, m in vars(by).items():
        run.numbers[name] = {"ari": m.sweep.score, "ari_with_k_means": m.like, "density_ratio": m.ratio}
    return _draw_sigma(X, by.steps, scott, diameter)


def _spread_of_energies(X: NDArray) -> float:
    """How much the energies of random partitions differ where no two points are within reach of each other."""
    affinity, rng = Gaussian(_ALONE).affinity(X), np.random.default_rng(SEED)
    return float(np.ptp([energy(affinity, rng.integers(0, 2, len(X)), "average_association") for _ in range(50)]))


def _draw_sigma(X: NDArray, m: SimpleNamespace, scott: float, diameter: float) -> Any:
    swept: Sweep = m.sweep
    picture = canvas(10, 5.6)
    halves: Any = picture.subfigures(2, 1, height_ratios=(1, 1.7))
    for ax, at in zip(halves[0].subplots(1, 4), (0.06, scott / 2, scott * 2, diameter)):
        place = int(np.argmin(np.abs(np.log(swept.sigma / at))))
        labels = swept.labels[place]
        # The cluster of the densest point has one colour in all pictures.
        clusters(ax, X, labels == labels[knn_density(X, 10).argmax()], f"σ = {swept.sigma[place]:.2f}", size=3)
    ax = halves[1].subplots()
    shown = {"ARI with the truth": swept.score, "ARI with k-means": m.like}
    shown["share of the smaller cluster"] = swept.smallest / len(X)
    where = {"fontsize": 9, "loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 3, "frameon": False}
    low, high = swept.sigma[[0, -1]]
    curves(ax, swept.sigma, shown, "", where, xscale="log", xlim=(low, high), ylim=(-0.03, 1.25), xlabel="bandwidth σ")
    for at, name in ((scott, "Scott's rule"), (diameter, "diameter of the data")):
        ax.axvline(at, color=ink(), lw=0.8)
        ax.text(at * 0.97, 1.17, name, fontsize=9, ha="right", va="center")
    spans = ((low, scott / 2, PALETTE[5], "mode isolation", 1.04), (diameter, high, PALETTE[4], "plain\nk-means", 0.62))
    for left, right, color, name, y in spans:
        ax.axvspan(left, right, color=color, alpha=0.18, lw=0)
        ax.text(np.sqrt(left * right), y, name, ha="center", va="center")
    return picture


def ncut(run: Run) -> Any:
    """Figure 9: normalised cut isolates sparse points at smaller bandwidths and loses the moons at larger ones."""
    X, truth = make_moons()
    plain, of_plain = make_clumped_moons(600, clump=0.5, random_state=SEED)
    sigmas = np.geomspace(0.05, 3, 40)

    def measure(solver: Solver) -> SimpleNamespace:
        swept = sweep(solver, X, truth, sigmas, _NC)
        kernels = {"KNN kernel": KNN(10), "local scaling": LocalScaling(7), "adaptive Gaussian": adaptive_gaussian(X)}
        m = SimpleNamespace(sweep=swept, cured={name: solver.cut(X, one, _NC) for name, one in kernels.items()})
        m.ari = Named({name: score(truth, labels) for name, labels in m.cured.items()})
        m.sparse = Named({name: m.ari[name] for name in ("KNN kernel", "local scaling")})
        ends = _turning_point(solver, X, swept, steps=5)
        m.sigma, m.labels = zip(*ends)
        m.value = [2 + energy(Gaussian(s).affinity(X), labels, _NC) for s, labels in ends]
        m.change, m.rise = m.sigma[1] / m.sigma[0] - 1, m.value[1] / m.value[0] - 1
        m.plain = sweep(solver, plain, of_plain, sigmas, _NC).score
        m.right = int(np.sum(m.plain > WELL))
        m.size, m.lost = [smaller(labels).sum() for labels in m.labels], score(truth, m.labels[1])
        m.jump = m.size[1] / m.size[0]
        return m

    by = run.both(measure)
    run.words = {"n": len(X), "bandwidths": len(sigmas), "low": sigmas[0], "high": sigmas[-1]}
    for name, m in vars(by).items():
        run.numbers[name] = {"sigma": sigmas, "ari": m.sweep.score, "without a tail": m.plain, "cures": m.ari}
    m = by.lowest
    picture, axes = make_figure(2, 2, size=(9, 6))
    for ax, letter, at, labels, value in zip(axes[0], "ab", m.sigma, m.labels, m.value):
        clusters(ax, X, labels, f"({letter}) σ = {at:.3f}: NC = {value:.3f}, ARI {score(truth, labels):.2f}", size=10)
    clusters(axes[1, 0], X, m.cured["KNN kernel"], f"(c) NC, KNN kernel: ARI {m.ari['KNN kernel']:.2f}", size=10)
    shown = {"fixed σ": m.sweep.score, "KNN kernel": np.full(len(sigmas), m.ari["KNN kernel"])}
    style = {"fontsize": 9, "loc": "upper left", "ncols": 2, "frameon": False}
    curves(axes[1, 1], sigmas, shown, "(d) no fixed σ is right", style, ylim=(-0.05, 1.35), **_OVER_SIGMA)
    axes[1, 1].axvline(m.sigma[0], color=ink(), lw=0.8)
    for factor, side, name in ((0.93, "right", "sparse subset"), (1.07, "left", "no moons")):
        axes[1, 1].text(m.sigma[0] * factor, 0.75, name, ha=side, fontsize=9)
    return picture


def _turning_point(solver: Solver, X: NDArray, swept: Sweep, steps: int) -> tuple[tuple[float, NDArray], ...]:
    """Bandwidths right below and right above the last change from a tiny cut to a balanced one, with their clusters."""
    last = int(np.flatnonzero(swept.smallest[:-1] <= 0.2 * len(X))[-1])
    ends = [(float(swept.sigma[i]), swept.labels[i]) for i in (last, last + 1)]
    for _ in range(steps):
        middle = float(np.sqrt(ends[0][0] * ends[1][0]))
        labels = solver.cut(X, Gaussian(middle), _NC)
        ends[int(smaller(labels).sum() > 0.2 * len(X))] = middle, labels
    return tuple(ends)


def pairs(run: Run) -> Any:
    """Section 5.1: normalised cut with isolated points, isolated pairs and sparse tails, and what cures it."""
    away = np.linspace(0.5, 6, 23)
    costs = {n: np.array([_cost_of_leaving(n, d) for d in away]) for n in (1, 2)}
    X, truth = make_moons()
    clumped, _ = make_clumped_moons(600, clump=0.5, random_state=SEED)
    sigmas = np.geomspace(0.05, 3, 8 if run.small else 16)
    inverted = normalized_affinity(Gaussian(_SIGMA).affinity(X))
    spreads = [float(d.std() / d.mean()) for d in (degrees(Gaussian(s).affinity(X)) for s in sigmas[[0, -1]])]

    def measure(solver: Solver) -> SimpleNamespace:
        labels = solver.cut(X, Gaussian(_SIGMA), _NC), solver.cut(inverted, "precomputed")
        cut, other = (smaller(one) for one in labels)
        ways: dict[str, str | None] = {"as it is": None, "weights": "weights", "exact": "exact"}
        cures = {name: sweep(solver, X, truth, sigmas, _NC, equalize=way).score for name, way in ways.items()}
        of_clump = [solver.cut(clumped, Gaussian(s), _NC) for s in sigmas]
        return SimpleNamespace(
            inverted=labels[1],
            sizes=(cut.sum(), other.sum()),
            overlap=np.sum(cut & other) / np.sum(cut | other),
            sparser=1 - share_below(knn_density(X, 10), other),
            cures=cures,
            well=Named({name: int(np.sum(ari > WELL)) for name, ari in cures.items()}),
            mode=max(share_below(knn_density(clumped, 10), smaller(one)) for one in of_clump),
            alike=score(*(solver.cut(X, Gaussian(sigmas[-1]), name) for name in (_NC, "average_association"))),
            knn=score(truth, solver.cut(X, KNN(10), _NC)),
        )

    by = run.both(measure)
    run.words = {"far": away[-1], "costs": [costs[1][-1], costs[2][-1], _cost_of_leaving(1, 6, 1.0)], "sigma": _SIGMA}
    run.words |= {"n": len(sigmas), "spreads": spreads, "low": sigmas[0], "high": sigmas[-1]}
    run.words["points"] = len(X)
    run.numbers = {"cost": costs, "sigma": sigmas}
    run.numbers |= {name: {"ari": m.cures, "separated": m.well} for name, m in vars(by).items()}
    picture, axes = make_figure(1, 3, size=(12, 3.6))
    named = {"an isolated point": costs[1], "an isolated pair": costs[2]}
    where: dict[str, Any] = {"xlabel": "distance from the others", "ylabel": "normalised cut", "ylim": (0, 1.2)}
    curves(axes[0], away, named, "(a) cost of isolating, zero diagonal", **where)
    clusters(axes[1], X, by.lowest.inverted, "(b) AA with A/(d d'): sparse points are isolated", size=8)
    style = {"fontsize": 8, "ncols": 2, "loc": "upper left", "frameon": False}
    title = "(c) what cures a fixed bandwidth"
    curves(axes[2], sigmas, by.lowest.cures, title, style, ylim=(-0.05, 1.6), **_OVER_SIGMA)
    axes[2].axhline(by.lowest.knn, color=GREEN, lw=3, alpha=0.6)
    return picture


def _cost_of_leaving(n_leaving: int, away: float, own: float = 0.0) -> float:
    """Shi and Malik's normalised cut of isolating one or two points from a blob; `own` stands on the diagonal."""
    blob = 0.5 * np.random.default_rng(SEED).normal(size=(50, 2))
    leaving = np.array([[away + 1.0, 0.0], [away + 1.0, 0.1]])[:n_leaving]
    affinity: Any = Gaussian(1.0).affinity(np.concatenate([blob, leaving]))
    np.fill_diagonal(affinity, own)
    return 2 + energy(affinity, np.repeat([0, 1], [50, n_leaving]), _NC)
