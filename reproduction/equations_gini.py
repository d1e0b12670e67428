"""Equations 20 to 40: the continuous Gini criterion, how kernel k-means approximates it, and the proof of the bias."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from evencut.affinity import parzen_density
from evencut.criteria import energy
from evencut.kernels import Gaussian
from evencut.tensors import Floats, Ints, Mask
from evencut.theory import continuous_gini_criterion, gini_approximation, gini_supremum, mode_split, parzen_energy

from .equation_table import Checked, differ, exceed, matrix_of

GRID = np.linspace(-6, 8, 7001)
CELL = float(GRID[1] - GRID[0])
# Two bumps: mean, deviation, weight.
_BUMPS = ((0.0, 1.0, 0.6), (3.0, 0.7, 0.4))
N_SAMPLES = 4000
_SMALLEST = 1e-4


def _density(x: Floats) -> Floats:
    return np.asarray(sum(w * norm.pdf(x, m, s) for m, s, w in _BUMPS))


#: Two bumps, the first the higher one, on the grid.
DENSITY = _density(GRID) / (_density(GRID).sum() * CELL)


def _sample() -> Floats:
    rng = np.random.default_rng(0)
    bump = rng.choice(len(_BUMPS), N_SAMPLES, p=[w for _, _, w in _BUMPS])
    means, deviations, _ = np.array(_BUMPS)[bump].T
    return (means + deviations * rng.normal(size=N_SAMPLES))[:, None]


#: Points drawn from it.
SAMPLE = _sample()


def _split(x: Floats) -> Ints:
    """Cluster 1 near the higher mode, 0 elsewhere."""
    return (np.abs(x) < 0.8).astype(np.int64)


_INSIDE = _split(GRID) == 1


def random_splits() -> Iterator[Mask]:
    """Indicators of unions of a few intervals, of which neither side is empty."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        ends = np.sort(rng.integers(1, len(GRID) - 1, rng.integers(1, 6)))
        yield np.searchsorted(ends, np.arange(len(GRID)), side="right") % 2 == 1


def _expected(values: NDArray) -> float:
    return float(np.sum(values * DENSITY) * CELL)


def _terms(inside: Mask) -> tuple[float, float]:
    """The two terms of L: mean densities in the cluster and outside."""
    rho, weight = DENSITY, _expected(inside.astype(float))
    return _expected(inside * rho) / weight, _expected(~inside * rho) / (1 - weight)


def objective(inside: Mask) -> float:
    """L of a split: one minus the Gini criterion."""
    return 1 - continuous_gini_criterion(DENSITY, inside.astype(int), CELL)


def eq_20() -> Checked:
    """The continuous Gini criterion."""
    rho, labels = DENSITY, _split(GRID)
    parts = [(rho[labels == k], np.sum(rho[labels == k]) * CELL) for k in (0, 1)]
    total = sum(weight * (1 - np.sum((part / weight) ** 2) * CELL) for part, weight in parts)
    return differ(continuous_gini_criterion(rho, labels, CELL), total)


def eq_21() -> Checked:
    """The Gini impurity of a density."""
    # Of a normal density the integral of the square is 1 / (2 sqrt(pi) sigma).
    value = continuous_gini_criterion(norm.pdf(GRID, 1, 0.9), np.zeros(len(GRID)), CELL)
    return differ(value, 1 - 1 / (2 * np.sqrt(np.pi) * 0.9))


def eq_22() -> Checked:
    """A sum over a sample is about an integral (Monte-Carlo)."""
    mean = np.mean(_density(SAMPLE[:, 0]))
    return differ(mean, _expected(DENSITY), 0.02, f"relative difference for {N_SAMPLES} points,")


def eq_23() -> Checked:
    """So is the kernel k-means energy, of estimated and true densities."""
    X, bandwidth, total = SAMPLE, 0.15, 0.0
    labels, cells = _split(X[:, 0]), _split(GRID)
    for k in (0, 1):
        true = np.where(cells == k, DENSITY, 0.0)
        true /= true.sum() * CELL
        estimate = parzen_density(X[labels == k], bandwidth, at=GRID[:, None])
        total -= np.sum(labels == k) * np.sum(estimate * true) * CELL
    what = f"relative difference for {N_SAMPLES} points,"
    return differ(parzen_energy(X, labels, bandwidth), total, 0.03, what)


def eq_24() -> Checked:
    """A bandwidth good for density estimation gives about the true density."""
    error = np.abs(parzen_density(SAMPLE, "scott", at=GRID[:, None]) - DENSITY).sum() * CELL
    return Checked(float(error), 0.1, f"integrated absolute difference, Scott's rule for {N_SAMPLES} points,")


def eq_25() -> Checked:
    """Then the energy is about the Gini criterion."""
    energies = [parzen_energy(SAMPLE, _split(SAMPLE[:, 0] - shift), 0.15) for shift in (0.0, 1.0, 3.0)]
    wanted = [gini_approximation(DENSITY, _split(GRID - shift), N_SAMPLES, CELL) for shift in (0.0, 1.0, 3.0)]
    return differ(energies, wanted, 0.1, f"largest relative difference of three splits for {N_SAMPLES} points,")


def eq_26() -> Checked:
    """One minus the criterion is the objective L."""
    weight = np.sum(DENSITY[_INSIDE]) * CELL
    conditional = [np.where(_INSIDE, DENSITY, 0) / weight, np.where(_INSIDE, 0, DENSITY) / (1 - weight)]
    value = sum(w * np.sum(c**2) * CELL for w, c in zip((weight, 1 - weight), conditional))
    return differ(objective(_INSIDE), value)


def eq_27() -> Checked:
    """The density of a cluster is the density cut to it over its weight."""
    X, inside = SAMPLE, _split(GRID) == 1
    conditional = DENSITY * inside / _expected(inside.astype(float))
    own = np.sort(X[_split(X[:, 0]) == 1, 0])
    # Against the sample: the two distribution functions.
    there = np.interp(own, GRID, np.cumsum(conditional) * CELL)
    error = float(np.abs(there - (np.arange(len(own)) + 0.5) / len(own)).max())
    return Checked(error, 0.05, f"largest difference of distribution functions for {len(own)} points,")


def eq_28() -> Checked:
    """L by integrals of the squared density."""
    weight = _expected(_INSIDE.astype(float))
    value = np.sum(DENSITY[_INSIDE] ** 2) * CELL / weight + np.sum(DENSITY[~_INSIDE] ** 2) * CELL / (1 - weight)
    return differ(objective(_INSIDE), value)


def eq_29() -> Checked:
    """L by expectations."""
    return differ([objective(i) for i in random_splits()], [sum(_terms(i)) for i in random_splits()])


def eq_30() -> Checked:
    """The mean density is between those of the two clusters (by Lemma 1)."""
    mean = _expected(DENSITY)
    both = np.array([sorted(_terms(inside)) for inside in random_splits()])
    return exceed(np.maximum(both[:, 0] - mean, mean - both[:, 1]) + mean, mean)


def eq_31() -> Checked:
    """The split that keeps what is within epsilon of the highest density."""
    return differ(mode_split(DENSITY, 0.05), np.where(DENSITY >= DENSITY.max() - 0.05, 1, 2))


def eq_32() -> Checked:
    """The best value of L is the mean density plus the highest one (Lemma 2)."""
    limit = objective(mode_split(DENSITY, _SMALLEST) == 1)
    return differ(limit, gini_supremum(DENSITY, CELL), 0.02, f"relative gap at epsilon = {_SMALLEST:g},")


def eq_33() -> Checked:
    """The mean density in a cluster is at most the highest one."""
    return exceed([max(_terms(inside)) for inside in random_splits()], DENSITY.max())


def eq_34() -> Checked:
    """No split exceeds the bound."""
    return exceed([objective(inside) for inside in random_splits()], gini_supremum(DENSITY, CELL))


def eq_35() -> Checked:
    """Outside a shrinking mode the mean density tends to that of all."""
    value = _terms(mode_split(DENSITY, _SMALLEST) == 1)[1]
    return differ(value, _expected(DENSITY), 0.02, f"relative gap at epsilon = {_SMALLEST:g},")


def eq_36() -> Checked:
    """Inside it the mean density is at least the highest less epsilon."""
    epsilons = np.geomspace(0.1, _SMALLEST, 20)
    values = np.array([_terms(mode_split(DENSITY, e) == 1)[0] for e in epsilons])
    return exceed(DENSITY.max() - epsilons, values)


def eq_37() -> Checked:
    """So it tends to the highest density."""
    value = _terms(mode_split(DENSITY, _SMALLEST) == 1)[0]
    return differ(value, DENSITY.max(), 0.02, f"relative gap at epsilon = {_SMALLEST:g},")


def eq_38() -> Checked:
    """Both limits together give the bound."""
    gaps = []
    for epsilon in (1e-2, 1e-3, 1e-4):
        gaps.append(gini_supremum(DENSITY, CELL) - sum(_terms(mode_split(DENSITY, epsilon) == 1)))
    falls = gaps[0] > gaps[1] > gaps[2] >= 0
    return Checked(gaps[2] if falls else np.inf, 0.01, "gap at epsilon = 1e-4, falling,")


def eq_39() -> Checked:
    """Average association of one cluster alone: the affinity within a subset over its size."""
    X = np.random.default_rng(0).uniform(size=(60, 2))
    subset = matrix_of(Gaussian(0.3), X)[:20, :20]
    return differ(energy(subset, np.zeros(20, dtype=int), "average_association"), -subset.sum() / 20)


def eq_40() -> Checked:
    """For accurate densities it is the mean density in the cluster."""
    inside = _split(SAMPLE[:, 0]) == 1
    affinity_sum = parzen_density(SAMPLE[inside], 0.15).sum()
    # Per point of all, since a cluster's own density is that of all over its share.
    value = affinity_sum / N_SAMPLES
    return differ(value, _terms(_split(GRID) == 1)[0], 0.1, f"relative difference for {N_SAMPLES} points,")
