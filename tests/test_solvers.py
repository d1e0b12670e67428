"""Solvers lower the energy at every step, empty no cluster, and find what can be found."""

import numpy as np
import pytest
from scipy import sparse

from evencut.criteria import CRITERIA, average_association, normalized_cut
from evencut.kernels import KNN, Gaussian
from evencut.solvers import solve
from evencut.solvers.descent import improve_by_moves, lloyd_descent
from evencut.solvers.spectral import spectral_embedding

POINTS = np.random.default_rng(0).normal(size=(120, 2)) + np.repeat([[0, 0], [3, 3], [6, 0]], 40, axis=0)
AFFINITIES = {
    "dense": Gaussian(0.7).affinity(POINTS),
    "float32": Gaussian(0.7).affinity(POINTS.astype(np.float32)),
    "sparse": KNN(8).affinity(POINTS),
    "indefinite": (lambda B: B + B.T)(np.random.default_rng(1).normal(size=(120, 120))) + 20,
}
START = np.random.default_rng(2).permutation(np.arange(120) % 3)


def improve_by_lloyd(problem, labels, n_clusters):
    end = lloyd_descent(problem, labels, n_clusters)
    return end.step.labels, end.trace[1:], end.converged


def falls(trace, slack=1e-6):
    return all(b <= a + slack * abs(a) for a, b in zip(trace, trace[1:]))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("refine", [improve_by_moves, improve_by_lloyd])
def test_refinement_never_raises_the_energy_nor_empties_a_cluster(criterion, affinity, refine):
    problem = CRITERIA[criterion](AFFINITIES[affinity])
    labels, trace, converged = refine(problem, START, 3)
    energies = [problem.energy(START), *trace]
    assert falls(energies)
    assert problem.energy(labels) == pytest.approx(energies[-1], rel=1e-5)
    assert np.bincount(labels, minlength=3).all()
    assert converged


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("affinity", ["dense", "sparse", "indefinite"])
def test_no_single_move_is_left(criterion, affinity):
    problem = CRITERIA[criterion](AFFINITIES[affinity])
    labels, trace, _ = improve_by_moves(problem, START, 3)
    for p in range(0, 120, 7):
        for k in range(3):
            other = labels.copy()
            other[p] = k
            if np.bincount(other, minlength=3).all():
                assert problem.energy(other) >= trace[-1] - 1e-9


def test_dense_and_sparse_moves_are_the_same():
    A = AFFINITIES["sparse"]
    one = improve_by_moves(normalized_cut(A), START, 3)[0]
    other = improve_by_moves(normalized_cut(A.toarray()), START, 3)[0]
    np.testing.assert_array_equal(one, other)


def test_lloyd_on_a_linear_kernel_is_k_means():
    from sklearn.cluster import KMeans

    centres = np.array([POINTS[START == k].mean(axis=0) for k in range(3)])
    theirs = KMeans(3, init=centres, n_init=1).fit_predict(POINTS)
    ours, _, _ = improve_by_lloyd(average_association(POINTS @ POINTS.T), START, 3)
    np.testing.assert_array_equal(ours, theirs)


def test_moves_reach_the_optimum_of_small_problems():
    from itertools import product

    X = np.r_[POINTS[:4], POINTS[40:44], POINTS[80:82]]
    problem = normalized_cut(Gaussian(1.0).affinity(X))
    best = min(problem.energy(labels) for labels in product(range(2), repeat=10) if len(set(labels)) == 2)
    assert solve(problem, 2, random_state=0).energy == pytest.approx(best)


@pytest.mark.parametrize("solver", ["spectral", "lloyd"])
@pytest.mark.parametrize("affinity", ["dense", "sparse"])
def test_clear_clusters_are_found(solver, affinity):
    solution = solve(normalized_cut(AFFINITIES[affinity]), 3, solver=solver, random_state=0)
    truth = np.repeat(np.arange(3), 40)
    agreement = max(np.mean(truth == np.array(p)[solution.labels]) for p in permutations())
    assert agreement > 0.9
    assert falls(solution.trace)
    assert solution.converged


def permutations():
    from itertools import permutations as every

    return every(range(3))


def test_more_starts_are_never_worse():
    problem = average_association(AFFINITIES["indefinite"])
    energies = [solve(problem, 5, solver="lloyd", n_init=n, random_state=0).energy for n in (1, 4, 16)]
    assert energies[0] >= energies[1] >= energies[2]


@pytest.mark.parametrize("n", [60, 900])
def test_repeated_eigenvalues_of_components_are_all_found(n):
    blocks = [KNN(6).affinity(np.random.default_rng(c).normal(size=(n, 2))) for c in range(4)]
    graph = sparse.csr_array(sparse.block_diag(blocks))
    values, _ = spectral_embedding(graph, 4, np.random.default_rng(0))
    np.testing.assert_allclose(values, 1, atol=1e-8)
    labels = solve(normalized_cut(graph), 4, random_state=0).labels
    for block in np.split(labels, 4):
        assert len(set(block)) == 1
    assert len(set(labels)) == 4


def test_eigenvectors_are_accurate():
    graph = KNN(10).affinity(np.random.default_rng(0).normal(size=(1500, 2)))
    d = np.sqrt(graph.sum(axis=1))
    values, vectors = spectral_embedding(graph, 6, np.random.default_rng(0))
    residual = graph.toarray() / np.outer(d, d) @ vectors - vectors * values
    assert np.abs(residual).max() < 1e-8
    exact = np.linalg.eigvalsh(graph.toarray() / np.outer(d, d))[::-1][:6]
    np.testing.assert_allclose(values, exact, atol=1e-9)


def test_more_components_than_clusters():
    graph = sparse.csr_array(sparse.block_diag([np.ones((3, 3))] * 50))
    solution = solve(normalized_cut(graph), 4, random_state=0)
    assert len(set(solution.labels)) == 4
    assert solution.energy == pytest.approx(-4)


@pytest.mark.parametrize("n_clusters", [1, 2, 119, 120])
def test_extreme_numbers_of_clusters(n_clusters):
    for affinity in ("dense", "sparse"):
        solution = solve(normalized_cut(AFFINITIES[affinity]), n_clusters, random_state=0)
        assert len(set(solution.labels)) == n_clusters


def test_clusters_are_numbered_by_falling_weight():
    blocks = sparse.csr_array(sparse.block_diag([np.ones((size, size)) for size in (3, 9, 5)]))
    labels = solve(average_association(blocks), 3).labels
    np.testing.assert_array_equal(np.bincount(labels), [9, 5, 3])


def test_points_without_links_are_no_obstacle_to_average_association():
    A = AFFINITIES["sparse"].toarray()
    A[5] = A[:, 5] = 0
    for matrix in (A, sparse.csr_array(A)):
        assert len(set(solve(average_association(matrix), 3, random_state=0).labels)) == 3


def test_wrong_arguments_are_named():
    problem = normalized_cut(AFFINITIES["dense"])
    with pytest.raises(ValueError, match="solver='magic' is not known"):
        solve(problem, 3, solver="magic")
    with pytest.raises(ValueError, match="n_clusters=121"):
        solve(problem, 121)


@pytest.mark.parametrize("solver", ["auto", "spectral", "multilevel", "lloyd"])
@pytest.mark.parametrize("n_points", [300, 1500])
def test_more_starts_never_end_higher(solver, n_points):
    X = np.random.default_rng(5).normal(size=(n_points, 2))
    problem = normalized_cut(KNN(8).affinity(X))
    for seed in range(3):
        energies = [
            solve(problem, 7, solver=solver, n_init=n_init, random_state=seed).energy for n_init in (1, 2, 4, 10)
        ]
        assert (np.diff(energies) <= 1e-12).all(), energies
