"""Theorem 3's embedding, scaling to few dimensions, and kernel PCA."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from evencut.criteria import CRITERIA, average_association
from evencut.kernels import KNN, Gaussian, Geodesic
from evencut.neighbors import squared_distances
from evencut.solvers import solve
from evencut.solvers.spectral import leading_of_dense
from evencut.theory import embedding, modified_distances


def table(seed=0, n_points=25):
    """Symmetric squared distances that are far from Euclidean."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 4, (n_points, n_points))
    values = values + values.T
    np.fill_diagonal(values, 0)
    return values


def off_diagonal(n_points):
    return ~np.eye(n_points, dtype=bool)


@pytest.mark.parametrize("seed", range(3))
def test_embedding_has_the_shifted_distances(seed):
    squared = table(seed)
    points, shift = embedding.euclidean_embedding(squared)
    found = squared_distances(points)
    np.testing.assert_allclose(found, squared + shift * off_diagonal(25), rtol=1e-8, atol=1e-8)


def test_the_shift_is_the_smallest():
    squared = table()
    shift = embedding.euclidean_shift(squared)
    centre = np.eye(25) - 1 / 25
    lowest = lambda h2: np.linalg.eigvalsh(-0.5 * centre @ (squared + h2 * off_diagonal(25)) @ centre)[0]  # noqa: E731
    assert shift > 0
    assert lowest(shift) > -1e-9
    assert lowest(0.999 * shift) < -1e-6


def test_euclidean_distances_need_no_shift():
    X = np.random.default_rng(1).normal(size=(30, 4))
    points, shift = embedding.euclidean_embedding(squared_distances(X))
    assert shift == 0
    assert points.shape == (30, 4)


def test_geodesic_kernel_equals_the_embedded_fixed_kernel():
    # Theorem 3: psi(d) = psi'(d~), so the clustering energies agree too.
    X = np.random.default_rng(2).normal(size=(60, 2))
    distances = Geodesic(n_neighbors=12).distances(X)
    psi = lambda t: np.exp(-(t**2) / 2)  # noqa: E731
    points, shift = embedding.euclidean_embedding(distances**2)
    assert shift > 0
    fixed = embedding.embedded_profile(psi, shift)(np.sqrt(squared_distances(points)))
    np.testing.assert_allclose(fixed, psi(distances), atol=1e-8)


def test_shift_of_modified_distances_of_normalised_cut():
    X = np.random.default_rng(3).normal(size=(40, 1))
    modified = modified_distances(squared_distances(X), 0.5)
    points, shift = embedding.euclidean_embedding(modified)
    mask = off_diagonal(40)
    np.testing.assert_allclose(squared_distances(points)[mask], (modified + shift)[mask], rtol=1e-7)


@pytest.mark.parametrize("n_components", [2, 3])
def test_mds_recovers_points_of_few_dimensions(n_components):
    X = np.random.default_rng(4).normal(size=(30, n_components))
    squared = squared_distances(X)
    for method in (embedding.classical_mds, embedding.metric_mds):
        np.testing.assert_allclose(squared_distances(method(squared, n_components)), squared, atol=1e-5)


def test_metric_mds_improves_on_classical_and_heeds_weights():
    squared = table(5, 20)
    misfit = lambda y, w=1.0: np.sum(w * (squared - squared_distances(y)) ** 2)  # noqa: E731
    assert misfit(embedding.metric_mds(squared, 2)) < misfit(embedding.classical_mds(squared, 2))
    weights = np.full_like(squared, 0.01)
    weights[:5, :5] = 1.0
    heeded = embedding.metric_mds(squared, 2, weights=weights)
    assert misfit(heeded, weights) < misfit(embedding.metric_mds(squared, 2), weights)


@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut"])
def test_full_rank_kernel_pca_turns_the_criterion_into_weighted_k_means(criterion):
    rng = np.random.default_rng(6)
    affinity = Gaussian(0.8).affinity(rng.normal(size=(40, 2)))
    problem = CRITERIA[criterion](affinity)
    points = embedding.kernel_pca(problem, 40)
    w = problem.weights

    def k_means_energy(labels):
        total = 0.0
        for k in np.unique(labels):
            inside = labels == k
            mean = np.average(points[inside], axis=0, weights=w[inside])
            total += np.sum(w[inside] * np.sum((points[inside] - mean) ** 2, axis=1))
        return total

    constant = np.sum(np.diag(affinity) / w)
    for _ in range(3):
        labels = rng.integers(0, 3, 40)
        assert k_means_energy(labels) == pytest.approx(problem.energy(labels) + constant, rel=1e-7)


def test_k_means_on_kernel_pca_is_near_the_best_energy():
    rng = np.random.default_rng(7)
    X = np.vstack([rng.normal(size=(40, 2)) + centre for centre in ([0, 0], [6, 0], [0, 6])])
    for criterion in ("average_association", "normalized_cut"):
        problem = CRITERIA[criterion](Gaussian(2.0).affinity(X))
        points = embedding.kernel_pca(problem, 3)
        start = KMeans(3, n_init=10, random_state=0).fit(points, sample_weight=problem.weights).labels_
        best = solve(problem, 3, random_state=0).energy
        assert problem.energy(start) <= best + 0.01 * abs(best)


def test_kernel_pca_of_a_large_sparse_graph_matches_the_dense_answer():
    X = np.random.default_rng(8).normal(size=(700, 2))
    affinity = KNN(10).affinity(X)
    sparse_points = embedding.kernel_pca(average_association(affinity), 4)
    dense_points = embedding.kernel_pca(average_association(affinity.toarray()), 4)
    np.testing.assert_allclose(sparse_points @ sparse_points.T, dense_points @ dense_points.T, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: embedding.euclidean_shift([[0.0, 1.0]]), "square table"),
        (lambda: embedding.euclidean_shift([[0.0, np.inf], [np.inf, 0.0]]), "finite"),
        (lambda: embedding.euclidean_shift([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (lambda: embedding.classical_mds([[0.0]], 2), "n_components=2"),
        (lambda: embedding.metric_mds([[0.0]], 1, weights=[[-1.0]]), "negative"),
        (lambda: embedding.embedded_profile(np.exp, -1.0), "shift"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_leading_eigenpairs_are_never_short():
    # Points that hardly see each other: many eigenvalues agree to the last bit, where LAPACK may return none.
    for seed in range(130, 145):
        X = np.random.default_rng(seed).normal(size=(150, 2))
        affinity = Gaussian(0.02 + 0.001 * (seed % 30)).affinity(X)
        degree = affinity.sum(axis=1)
        normalized = affinity / np.sqrt(degree[:, None] * degree)
        values, vectors = leading_of_dense(normalized, 2)
        assert values.shape == (2,)
        np.testing.assert_allclose(normalized @ vectors, vectors * values, atol=1e-10)
        assert solve(CRITERIA["normalized_cut"](affinity), 2, random_state=0).labels.max() == 1
