"""A result of our own: lower energies are more biased. Which of the paper's cures survive a better optimiser."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from evencut.datasets import make_clumped_moons, make_rings, make_sparse_subset
from evencut.kernels import Gaussian
from evencut.plotting import make_figure
from evencut.tensors import Floats

from .draw import BLUE, ORANGE, bars, heading, ink
from .frame import Named, Run
from .solver import WELL, Solver, cures_of, make_moons, score

_SETS: dict[str, Any] = {
    "clump and tail": make_moons,
    "clump": lambda n, random_state: make_clumped_moons(n, clump=0.5, random_state=random_state),
    "tail": make_sparse_subset,
    "rings, clump": lambda n, random_state: make_rings(n, clump=0.5, random_state=random_state),
}
_CRITERIA = {"AA": "average_association", "NC": "normalized_cut"}
_SIGMA = 0.2
# Relative differences of energies below it are rounding.
_SAME = 1e-6


def lower_energies(run: Run) -> Any:
    """The same problems by Lloyd's steps and at the lowest energy found: what the energy gains, and the ARI loses."""
    draws = range(2 if run.small else 3)
    by = run.both(lambda solver: _solve_all(solver, 300 if run.small else 600, draws))
    steps, lowest = by.steps, by.lowest
    gain = np.array([(steps[key].energy - lowest[key].energy) / abs(steps[key].energy) for key in steps])
    change = np.array([lowest[key].ari - steps[key].ari for key in steps])
    lower = gain > _SAME
    outcomes = {short: _outcome(change[lower & np.array([key[2] == short for key in steps])]) for short in _CRITERIA}
    by_cure = {name: _table(one) for name, one in vars(by).items()}
    means = {
        name: Named({cure: float(np.mean(list(of.values()))) for cure, of in table.items()})
        for name, table in by_cure.items()
    }
    # A cure survives where the lowest energy separates the clusters on all draws.
    well = {cure: [s for s, ari in of.items() if ari > WELL] for cure, of in by_cure["lowest"].items()}
    run.words = {"n": len(gain), "lower": int(lower.sum()), "higher": int(np.sum(gain < -_SAME))}
    run.words |= outcomes | {"means": means, "draws": len(draws)}
    run.words["well"] = "; ".join(f"{cure} on {len(sets)} of {len(_SETS) * 2}" for cure, sets in well.items())
    run.words["knn"] = by_cure["lowest"]["KNN kernel"]
    others = [name for name in by_cure["lowest"] if name not in ("KNN kernel", "fixed Gaussian")]
    run.decide("others", all(len(well[name]) < 2 * len(_SETS) for name in others))
    run.numbers = {"problems": run.words["n"], "lower": run.words["lower"]}
    run.numbers |= {short: vars(one) for short, one in outcomes.items()}
    run.numbers |= {"steps": by_cure["steps"], "lowest": by_cure["lowest"]}
    picture, axes = make_figure(1, 2, size=(12, 4.2))
    for short, marker, color in (("AA", "o", BLUE), ("NC", "s", ORANGE)):
        own, one = lower & np.array([key[2] == short for key in steps]), outcomes[short]
        told = f"{short}: {one.worse} worse, {one.better} better"
        axes[0].plot(100 * gain[own], change[own], marker, ms=4, color=color, alpha=0.5, label=told)
    axes[0].legend(fontsize=8)
    axes[0].axhline(0, color=ink(), lw=0.8)
    words = {"xlabel": "how much lower the energy is, %", "ylabel": "change of ARI"}
    heading(axes[0], f"(a) {int(lower.sum())} problems with a lower energy", xscale="log", **words)
    shown = {"Lloyd's steps": means["steps"], "lowest energy": means["lowest"]}
    bars(axes[1], shown, "(b) mean ARI over all data sets and criteria", ylabel="ARI", ylim=(0, 1.2))
    return picture


def _outcome(change: Floats) -> SimpleNamespace:
    """On how many problems the ARI is worse and better, how likely as many worse ones are by chance, and the mean."""
    worse, better = int(np.sum(change < -0.01)), int(np.sum(change > 0.01))
    chance = float(binomtest(worse, max(worse + better, 1), alternative="greater").pvalue)
    return SimpleNamespace(worse=worse, better=better, chance=chance, mean=float(change.mean()))


def _solve_all(solver: Solver, n_samples: int, draws: Any) -> dict[tuple[str, str, str, int], SimpleNamespace]:
    """Energy and ARI by cure, data set, criterion and draw."""
    solved = {}
    for where, make in _SETS.items():
        for seed in draws:
            X, truth = make(n_samples, random_state=seed)
            for cure, (kernel, way) in {"fixed Gaussian": (Gaussian(_SIGMA), None), **cures_of(X, _SIGMA)}.items():
                for short, criterion in _CRITERIA.items():
                    model = solver.fit(X, kernel, criterion, way)
                    one = SimpleNamespace(energy=float(model.energy_), ari=score(truth, model.labels_))
                    solved[cure, where, short, seed] = one
    return solved


def _table(solved: dict[tuple[str, str, str, int], SimpleNamespace]) -> dict[str, dict[str, float]]:
    """Mean ARI over the draws, by cure and by data set with its criterion."""
    table: dict[str, dict[str, list[float]]] = {}
    for (cure, where, short, _), one in solved.items():
        table.setdefault(cure, {}).setdefault(f"{where}, {short}", []).append(one.ari)
    return {cure: {key: float(np.mean(ari)) for key, ari in of.items()} for cure, of in table.items()}
