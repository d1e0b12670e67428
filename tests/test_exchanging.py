"""Exchange of clusters: true energies that never rise, any matrix and criterion, and what single moves do not find."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_moons

from evencut.criteria import CRITERIA, average_association, normalized_cut, pose
from evencut.datasets import make_clumped_moons, make_sparse_subset
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian
from evencut.solvers import solve
from evencut.solvers.exchange import exchange_cycles

POINTS = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[0, 0], [3, 3], [6, 0]], 100, axis=0)
SYMMETRIC = (lambda B: B + B.T)(np.random.default_rng(1).normal(size=(300, 300)))
AFFINITIES = {
    "dense": Gaussian(0.7).affinity(POINTS),
    "float32": Gaussian(0.7).affinity(POINTS.astype(np.float32)),
    "hardly linked": Gaussian(1e-3).affinity(POINTS),
    "indefinite": SYMMETRIC + 30,
    "sparse": KNN(8).affinity(POINTS),
    "sparse, in pieces": sparse.csr_array(sparse.block_diag([np.ones((3, 3))] * 100)),
}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("n_clusters", [2, 7])
def test_energies_are_true_and_never_rise(criterion, affinity, n_clusters):
    problem = CRITERIA[criterion](AFFINITIES[affinity])
    labels, trace, converged = exchange_cycles(problem, n_clusters, n_init=3, n_runs=2, random_state=0)
    slack = (1e-5 if affinity == "float32" else 1e-9) * max(1.0, np.abs(trace).max())
    assert trace[-1] == pytest.approx(problem.energy(labels), abs=slack)
    assert (np.diff(trace) <= slack).all()
    assert np.array_equal(np.unique(labels), np.arange(n_clusters))
    assert converged


@pytest.mark.parametrize("affinity", ["dense", "sparse", "hardly linked"])
@pytest.mark.parametrize("n_clusters", [1, 2, 150, 299, 300])
def test_any_number_of_clusters(affinity, n_clusters):
    labels, _, _ = exchange_cycles(normalized_cut(AFFINITIES[affinity]), n_clusters, random_state=0)
    assert len(np.unique(labels)) == n_clusters


def test_points_without_any_link():
    for nothing in (np.zeros((300, 300)), np.eye(300), sparse.csr_array((300, 300))):
        assert len(np.unique(exchange_cycles(average_association(nothing), 4, random_state=0)[0])) == 4


def test_the_seed_decides():
    problem = normalized_cut(AFFINITIES["dense"])
    one, other = (exchange_cycles(problem, 5, random_state=4)[0] for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_the_mode_of_a_fixed_gaussian_is_found():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(400, 5)) * 3, rng.normal(size=(60, 5)) * 0.3 + 2])
    problem = average_association(Gaussian(0.8).affinity(X))
    mode = (np.arange(460) >= 400).astype(int)
    assert solve(problem, 2, random_state=0).energy <= problem.energy(mode)


@pytest.mark.parametrize("sigma", [0.3, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_stragglers_are_cut_off_where_that_is_cheapest(sigma, seed):
    X, y = make_sparse_subset(600, random_state=0)
    problem = normalized_cut(Gaussian(sigma).affinity(X))
    tail = np.argsort(-X.sum(axis=1))
    few = min(problem.energy(np.isin(np.arange(600), tail[:size]).astype(int)) for size in range(1, 10))
    energy = solve(problem, 2, random_state=seed).energy
    assert energy <= min(few, problem.energy(y)) + 1e-9


@pytest.mark.parametrize("equalize", [None, "exact"])
def test_moons_end_at_or_below_the_truth_where_spectral_starts_do_not(equalize):
    X, y = make_moons(500, noise=0.08, random_state=0)
    problem = pose(AdaptiveGaussian().affinity(X), np.ones(500), "normalized_cut", equalize).problem
    assert solve(problem, 2, random_state=0).energy <= problem.energy(y)
    assert solve(problem, 2, solver="spectral", random_state=0).energy > problem.energy(y)


@pytest.mark.parametrize("equalize", [None, "exact"])
@pytest.mark.parametrize("n_neighbors", [10, 20])
def test_clumped_moons_end_at_or_below_the_truth(n_neighbors, equalize):
    for draw in range(10):
        X, y = make_clumped_moons(600, clump=0.8, random_state=draw)
        problem = pose(KNN(n_neighbors).affinity(X), np.ones(600), "normalized_cut", equalize).problem
        truth = problem.energy(y)
        assert solve(problem, 2, random_state=0).energy <= truth + 1e-9 * abs(truth)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_points=st.integers(12, 250),
    n_clusters=st.integers(2, 9),
    dense=st.booleans(),
    criterion=st.sampled_from(sorted(CRITERIA)),
    solver=st.sampled_from(["auto", "spectral", "multilevel", "lloyd"]),
    counts=st.lists(st.integers(1, 20), min_size=2, max_size=3, unique=True),
)
def test_more_starts_never_end_higher(seed, n_points, n_clusters, dense, criterion, solver, counts):
    X = np.random.default_rng(seed).normal(size=(n_points, 2))
    problem = CRITERIA[criterion](Gaussian(0.4).affinity(X) if dense else KNN(6).affinity(X))
    energies = [solve(problem, n_clusters, solver=solver, n_init=n, random_state=seed).energy for n in sorted(counts)]
    assert (np.diff(energies) <= 1e-9 * np.abs(energies).max()).all(), energies


def test_more_cycles_never_end_higher_on_a_graph_that_is_shrunk_first():
    for seed in (0, 3):
        X = np.random.default_rng(seed).normal(size=(12_000, 2))
        problem = normalized_cut(KNN(8).affinity(X))
        for n_clusters in (7, 30):
            energies = [
                solve(problem, n_clusters, solver="multilevel", n_init=n, random_state=seed).energy
                for n in (1, 2, 3, 4, 6, 8, 9)
            ]
            assert (np.diff(energies) <= 1e-12).all(), energies


def test_more_starts_never_end_higher_from_samples(monkeypatch):
    monkeypatch.setattr(importlib.import_module("evencut.solvers.solve"), "_MANY_DENSE", 200)
    monkeypatch.setattr(importlib.import_module("evencut.solvers.solve"), "_SAMPLE", 150)
    # The sample, 40 points a cluster, is itself larger than what is solved without one.
    problem = normalized_cut(AFFINITIES["dense"])
    energies = [solve(problem, 6, n_init=n, random_state=0).energy for n in (1, 4, 8, 16, 40)]
    assert (np.diff(energies) <= 1e-12).all(), energies
    assert energies[-1] < energies[0]


def test_rows_computed_when_needed_are_refused_by_name():
    lazy = Gaussian(0.7, memory=1.0).affinity(POINTS)
    with pytest.raises(ValueError, match="rows of BlockwiseAffinity are computed when needed"):
        solve(average_association(lazy), 3, solver="multilevel")
