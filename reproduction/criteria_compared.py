"""Sections 1.1.1 and 6: equalised densities make one criterion of three, its bounds, and Lloyd's local minima."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from evencut.affinity import degrees, density_law, equalize
from evencut.criteria import RatioProblem, average_association, energy
from evencut.datasets import make_clumped_moons, make_sparse_subset
from evencut.kernels import KNN, Gaussian
from evencut.neighbors import squared_distances
from evencut.plotting import make_figure
from evencut.solvers import refine, solve
from evencut.solvers.descent import bound_costs
from evencut.tensors import Floats, Ints
from evencut.theory import cheeger_bounds, cheeger_set, isoperimetric_number, kernel_pca

from .draw import BLUE, GREEN, GREY, ORANGE, bars, heading, ink
from .equation_table import matrix_of
from .frame import Named, Run
from .solver import SEED, Solver, score

_NAMES = ("average_association", "normalized_cut", "average_cut")
_CLUSTERS = 5


def equivalence(run: Run) -> Any:
    """Section 6: equalised densities make average association, normalised cut and average cut one criterion."""
    X, truth = make_clumped_moons(300 if run.small else 600, clump=0.5, random_state=SEED)
    gaussian, ones = Gaussian(0.1).affinity(X), np.ones(len(X))
    cases = {
        "fixed Gaussian": (gaussian, ones),
        "adaptive weights": (gaussian, density_law(degrees(gaussian), "constant")),
        "KNN kernel": (KNN(10).affinity(X), ones),
        "exact equalisation": (equalize(gaussian), ones),
    }
    splits = _line_splits(X, truth, 20 if run.small else 60)
    # The degree of each point among the replicated points.
    degree = {name: np.asarray(affinity @ weights) for name, (affinity, weights) in cases.items()}
    spreads = Named({name: float(d.std() / d.mean()) for name, d in degree.items()})
    tables = {name: _energies(*case, splits, degree[name]) for name, case in cases.items()}
    gaps = Named({name: float(np.ptp(table, axis=1).max()) for name, table in tables.items()})

    def measure(solver: Solver) -> SimpleNamespace:
        labels = {
            name: [solver.cut(affinity, "precomputed", criterion, sample_weight=w) for criterion in _NAMES]
            for name, (affinity, w) in cases.items()
        }
        apart = Named({name: min(score(a, b) for a in of for b in of) for name, of in labels.items()})
        ari = {name: [score(truth, one) for one in of] for name, of in labels.items()}
        return SimpleNamespace(apart=apart, ari=ari, cured=[apart[name] for name in list(cases)[1:]])

    by = run.both(measure)
    run.words = {"spreads": spreads, "gaps": gaps}
    run.numbers = {"degree_variation": spreads, "largest_gap": gaps}
    run.numbers |= {name: {"agreement": m.apart, "ari": m.ari} for name, m in vars(by).items()}
    picture, axes = make_figure(1, 3, size=(12.5, 4))
    for (name, table), color, marker in zip(tables.items(), (GREY, ORANGE, BLUE, GREEN), "xsoD"):
        axes[0].plot(table[:, 1], table[:, 0], marker, ms=4, color=color, label=name, alpha=0.8)
    every = np.concatenate([table[:, 1] for table in tables.values()])
    axes[0].plot([every.min(), every.max()], [every.min(), every.max()], color=ink(), lw=0.8)
    axes[0].legend(fontsize=8)
    heading(axes[0], "(a) two criteria, many splits", xlabel="NC", ylabel="AA / mean degree")
    shown = {"spread of degrees": spreads, "gap of criteria": gaps}
    bars(axes[1], shown, "(b) nearly equal, and equal", floor=1e-16, yscale="log", ylim=(1e-16, 1e3))
    agreement = {"Lloyd's steps": by.steps.apart, "lowest energy": by.lowest.apart}
    bars(axes[2], agreement, "(c) lowest ARI between the criteria", ylim=(0, 1.3), yticks=[0, 0.5, 1])
    return picture


def _line_splits(X: NDArray, truth: NDArray, n_splits: int) -> list[Ints]:
    """The truth, and splits by random lines that leave at least a tenth of the points on each side."""
    rng, splits = np.random.default_rng(0), [truth]
    while len(splits) < n_splits:
        side = X @ rng.normal(size=2)
        splits.append((side > np.quantile(side, rng.uniform(0.1, 0.9))).astype(np.int64))
    return splits


def _energies(affinity: Any, weights: NDArray, splits: list, degree: NDArray) -> Floats:
    """AA/d, NC and AC/d - 2 of each split: three columns that are equal where all degrees are d."""
    mean = np.average(degree, weights=weights)
    table = np.array([[energy(affinity, labels, name, weights) for name in _NAMES] for labels in splits])
    return table / [mean, 1, mean] - [0, 0, 2]


def cheeger(run: Run) -> Any:
    """Section 6: average cut, isoperimetric number, and the second eigenvalue that bounds it."""
    X, truth = make_clumped_moons(300 if run.small else 600, clump=0.5, random_state=SEED)
    # Enough neighbours to join the moons by a few edges: the numbers of a graph in two parts are all zero.
    graph = matrix_of(KNN(len(X) // 15), X)
    splits = _line_splits(X, truth, 40)
    number = np.array([isoperimetric_number(graph, labels) for labels in splits])
    cut = np.array([energy(graph, labels, "average_cut") for labels in splits])
    ratio = cut / number
    kinds = {"isoperimetric": False, "conductance": True}
    bounds = {name: cheeger_bounds(graph, normalized=kind) for name, kind in kinds.items()}
    sets = {name: cheeger_set(graph, normalized=kind) for name, kind in kinds.items()}
    best = {name: isoperimetric_number(graph, sets[name], normalized=kind) for name, kind in kinds.items()}
    right = score(truth, sets["isoperimetric"])
    n_graphs = 20 if run.small else 100
    within = sum(_is_within_bounds(seed) for seed in range(n_graphs))
    even = equalize(graph, tol=1e-12)
    both = np.array([[isoperimetric_number(even, s, normalized=kind) for kind in (False, True)] for s in splits])
    same = float(np.abs(both[:, 0] / both[:, 1] - 1).max())
    tail, _ = make_sparse_subset(300 if run.small else 600, random_state=SEED)
    run.both(lambda solver: int(np.bincount(solver.cut(tail, Gaussian(0.2), "average_cut")).min()))
    run.words = {"low": ratio.min(), "high": ratio.max(), "splits": len(splits), "within": within, "graphs": n_graphs}
    run.words |= {"best": best, "bounds": bounds, "right": right, "same": same, "n": len(tail)}
    run.decide("set", all(low - 1e-12 <= best[name] <= high + 1e-12 for name, (low, high) in bounds.items()))
    run.numbers = {"number": best, "bounds": bounds, "ratio": [ratio.min(), ratio.max()]}
    picture, axes = make_figure(1, 2, size=(10, 3.8))
    line = np.array([number.min(), number.max()])
    for factor in (1, 2):
        axes[0].plot(line, factor * line, color=ink(), lw=0.8)
    axes[0].plot(number[1:], cut[1:], "o", ms=4, color=BLUE, label="random cuts")
    axes[0].plot(number[0], cut[0], "D", color=ORANGE, label="the moons")
    axes[0].legend(fontsize=9)
    words = {"xlabel": "isoperimetric number h", "ylabel": "average cut"}
    heading(axes[0], "(a) h ≤ AC ≤ 2 h", xscale="log", yscale="log", **words)
    for place, (name, (low, high)) in enumerate(bounds.items()):
        axes[1].plot([place, place], [low, high], color=GREEN, lw=8, alpha=0.5, solid_capstyle="butt")
        axes[1].plot(place, best[name], "D", color=ORANGE)
    axes[1].set_xticks(range(len(bounds)), list(bounds))
    limits, told = (-0.7, 1.7), "bounds (bar) and Cheeger set"
    heading(axes[1], "(b) bounds by the second eigenvalue", yscale="log", xlim=limits, ylabel=told)
    return picture


def _is_within_bounds(seed: int) -> bool:
    """Whether the lowest number of all subsets of a random graph is within both pairs of bounds."""
    subsets = [np.array([0, *((code >> np.arange(8)) & 1)]) for code in range(1, 2**8)]
    upper = np.triu(np.random.default_rng(seed).random((9, 9)) ** 3, 1)
    graph = upper + upper.T
    for normalized in (False, True):
        lowest = min(isoperimetric_number(graph, labels, normalized=normalized) for labels in subsets)
        low, high = cheeger_bounds(graph, normalized=normalized)
        if not low - 1e-12 <= lowest <= high + 1e-12:
            return False
    return True


def minima(run: Run) -> Any:
    """Sections 1.1.1 and 6: Lloyd's algorithm on kernels, where it may climb, and its local minima."""
    X, _ = make_clumped_moons(300, clump=0.3, random_state=SEED)
    problem = average_association(Gaussian(0.25).affinity(X))
    n_starts = 10 if run.small else 60
    starts = [_random_start(problem, seed) for seed in range(n_starts)]
    exact = [_lloyd(problem, start) for start in starts]
    reduced = kernel_pca(problem, _CLUSTERS)
    # The same steps on few coordinates, from the same starts.
    low = [_lloyd(average_association(reduced @ reduced.T), start)[0] for start in starts]
    ends = {
        "exact embedding": np.array([trace[-1] for _, trace in exact]),
        "kernel PCA": np.array([problem.energy(labels) for labels in low]),
        "kernel PCA, then exact": np.array([_lloyd(problem, labels)[1][-1] for labels in low]),
    }
    plus = KMeans(_CLUSTERS, n_init=10, random_state=SEED).fit_predict(reduced).astype(np.int64)
    solved = solve(problem, _CLUSTERS, n_init=20, random_state=SEED).energy
    best = float(min(solved, _lloyd(problem, plus)[1][-1], *(of.min() for of in ends.values())))
    loss = Named({name: float(np.mean(1 - of / best)) for name, of in ends.items()})
    graph = average_association(KNN(10).affinity(X))
    on_graph = Named({name: _mean_loss(graph, start, n_starts) for name, start in _STARTS.items()})
    rises = float(max(np.max(np.diff(trace), initial=0.0) for _, trace in exact))
    climbs, constant = sum(_climbs(X, seed) for seed in range(20)), _shift_error(X)
    run.words = {"starts": n_starts, "rises": rises, "climbs": climbs, "constant": constant, "loss": loss}
    run.words |= {"plus": 1 - problem.energy(plus) / best, "solved": 1 - solved / best, "on_graph": on_graph}
    run.numbers = {"loss": loss, "ends": ends, "best": best, "on_graph": on_graph}
    picture, axes = make_figure(1, 2, size=(10, 3.8))
    for place, of in enumerate(ends.values()):
        axes[0].plot(place + np.linspace(-0.2, 0.2, len(of)), np.sort(of), ".", color=BLUE)
        axes[0].plot(place, of.mean(), "D", color=GREY)
    axes[0].set_xticks(range(len(ends)), [name.replace(", ", ",\n") for name in ends], fontsize=9)
    for _, trace in exact[:12]:
        axes[1].plot(trace, color=BLUE, lw=1, alpha=0.6)
    for ax, title in zip(axes, ("(a) where random starts end", "(b) Lloyd's steps never climb here")):
        ax.axhline(best, color=ORANGE, ls="--", label="best known")
        ax.legend(fontsize=9)
        heading(ax, title, ylabel="average association")
    axes[1].set_xlabel("step")
    return picture


def _lloyd(problem: RatioProblem, start: NDArray) -> tuple[Ints, list[float]]:
    """Labels at which no Lloyd step lowers the energy, and the energies on the way."""
    end = refine(problem, start.astype(np.int64), _CLUSTERS, by_moves=False)
    return end.labels, list(end.trace)


def _random_start(problem: RatioProblem, seed: int) -> Ints:
    return np.random.default_rng(seed).integers(0, _CLUSTERS, len(problem.weights))


def _pca_start(problem: RatioProblem, seed: int) -> Ints:
    return KMeans(_CLUSTERS, n_init=1, random_state=seed).fit_predict(kernel_pca(problem, _CLUSTERS)).astype(np.int64)


_STARTS = {"random": _random_start, "kernel PCA": _pca_start}


def _mean_loss(problem: RatioProblem, make_start: Any, n_starts: int) -> float:
    """How far above the best known energy Lloyd ends in the mean, as a share of it."""
    ends = [_lloyd(problem, make_start(problem, seed))[1][-1] for seed in range(n_starts)]
    best = min(solve(problem, _CLUSTERS, n_init=20, random_state=SEED).energy, *ends)
    return float(np.mean(1 - np.array(ends) / best))


def _climbs(X: NDArray, seed: int) -> bool:
    """Whether a plain Lloyd step on an indefinite affinity, without any shift of the diagonal, raises the energy."""
    improper = np.random.default_rng(SEED).normal(size=(len(X), len(X)))
    problem = average_association(improper + improper.T)
    labels = np.random.default_rng(seed).integers(0, 3, len(X))
    links, inside, weight = problem.cluster_links(labels, 3)
    moved = bound_costs(links, problem.weights, inside, weight).argmin(axis=1)
    return len(np.unique(moved)) == 3 and problem.energy(moved) > problem.energy(labels)


def _shift_error(X: NDArray) -> float:
    """Spread of the difference of energies on an indefinite affinity and on the same with a shifted diagonal."""
    improper = 1 - squared_distances(X)
    proper = improper - float(np.linalg.eigvalsh(improper)[0]) * np.eye(len(X))
    splits = [np.random.default_rng(seed).integers(0, 3, len(X)) for seed in range(50)]
    gaps = [energy(proper, s, _NAMES[0]) - energy(improper, s, _NAMES[0]) for s in splits]
    return float(np.ptp(gaps) / np.max(np.abs(gaps)))
