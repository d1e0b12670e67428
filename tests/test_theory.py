"""Every equation and theorem of the paper that evencut states as code, checked as a statement."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evencut import theory
from evencut.affinity import knn_density, scott_bandwidth
from evencut.criteria import average_association, energy
from evencut.kernels import Gaussian
from evencut.neighbors import squared_distances


def points_of(histogram):
    return np.repeat(np.arange(len(histogram)), histogram)


def all_splits(n_bins):
    """Every split of the bins in two non-empty parts, up to the names of the parts."""
    for rest in product([0, 1], repeat=n_bins - 1):
        if any(rest):
            yield np.array([0, *rest])


histograms = st.lists(st.integers(1, 30), min_size=2, max_size=7)


@given(histograms)
@settings(max_examples=60, deadline=None)
def test_breiman_split_is_the_best_of_all_splits(histogram):
    features = points_of(histogram)
    best = min(theory.gini_criterion(features, split[features]) for split in all_splits(len(histogram)))
    split = theory.breiman_split(histogram)
    assert theory.gini_criterion(features, split[features]) == pytest.approx(best, abs=1e-9)
    assert sorted(np.bincount(split))[0] == 1


def test_breiman_split_beats_labellings_that_cut_through_bins():
    # Theorem 1 speaks of data points, not of bins: all 2-partitions of nine points.
    histogram = [2, 4, 3]
    features = points_of(histogram)
    best = theory.gini_criterion(features, theory.breiman_split(histogram)[features])
    for labels in all_splits(len(features)):
        assert theory.gini_criterion(features, labels) >= best - 1e-9


def test_gini_criterion_is_the_weighted_impurity_and_entropy_prefers_equal_sizes():
    features = points_of([5, 1, 1, 1, 1, 1])
    mode = (features == 0).astype(int)
    assert theory.gini_criterion(features, mode) == pytest.approx(5 * theory.gini_impurity([1] * 5))
    assert theory.gini_impurity([7]) == 0
    # Ten equal bins: the Gini criterion is the same for every split, entropy takes five and five.
    features = points_of([3] * 10)
    entropies = {m: theory.entropy_criterion(features, (features < m).astype(int)) for m in range(1, 10)}
    assert min(entropies, key=entropies.get) == 5


@given(st.lists(st.floats(0.01, 5), min_size=3, max_size=8), st.floats(0.1, 2))
@settings(max_examples=60, deadline=None)
def test_no_labelling_of_a_grid_exceeds_the_supremum(density, cell):
    bound = theory.gini_supremum(density, cell)
    for labels in all_splits(len(density)):
        assert 1 - theory.continuous_gini_criterion(density, labels, cell) <= bound * (1 + 1e-9)


def test_the_mode_split_tends_to_the_supremum():
    x = np.linspace(-6, 6, 200_001)
    cell = x[1] - x[0]
    density = 0.7 * np.exp(-(x**2) / 2) + 0.3 * np.exp(-2 * (x - 3) ** 2)
    bound = theory.gini_supremum(density, cell)
    gaps = [
        bound - (1 - theory.continuous_gini_criterion(density, theory.mode_split(density, eps), cell))
        for eps in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    ]
    assert all(later < earlier for earlier, later in pairwise(gaps))
    assert 0 <= gaps[-1] < 0.02 * bound


def test_the_supremum_holds_for_a_density_in_the_plane():
    rng = np.random.default_rng(0)
    density = rng.random((20, 20))
    bound = theory.gini_supremum(density, 0.1)
    for _ in range(50):
        labels = rng.integers(0, 2, density.shape)
        assert 1 - theory.continuous_gini_criterion(density, labels, 0.1) <= bound


@pytest.mark.parametrize("n_features", [1, 3])
def test_parzen_energy_is_average_association_of_the_normalised_kernel(n_features):
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, n_features)), rng.integers(0, 3, 60)
    sigma = 0.7
    height = (2 * np.pi * sigma**2) ** (-n_features / 2)
    expected = height * energy(Gaussian(sigma).affinity(X), labels, criterion="average_association")
    assert theory.parzen_energy(X, labels, sigma) == pytest.approx(expected)
    scott = theory.parzen_energy(X, labels, "scott")
    assert scott == pytest.approx(theory.parzen_energy(X, labels, scott_bandwidth(X)))


def gini_error(n_samples, widen, seed):
    """Relative error of the Gini approximation for a split at zero of a known density."""
    rng = np.random.default_rng(seed)
    second = rng.random(n_samples) < 0.4
    X = np.where(second, 1.0, -1.0)[:, None] + np.where(second, 0.3, 0.6)[:, None] * rng.normal(size=(n_samples, 1))
    x = np.linspace(-6, 5, 20_001)
    normal = lambda m, s: np.exp(-((x - m) ** 2) / (2 * s**2)) / s  # noqa: E731
    density = 0.6 * normal(-1, 0.6) + 0.4 * normal(1, 0.3)
    limit = theory.gini_approximation(density, x > 0, n_samples, x[1] - x[0])
    found = theory.parzen_energy(X, X[:, 0] > 0, widen * scott_bandwidth(X) * 0.4)
    return abs(found / limit - 1)


def test_gini_approximation_improves_with_n_and_breaks_for_large_bandwidths():
    mean = lambda n, widen: np.mean([gini_error(n, widen, seed) for seed in range(5)])  # noqa: E731
    small, large = mean(100, 1), mean(3000, 1)
    assert large < small
    assert large < 0.05
    assert mean(3000, 10) > 0.3


def test_sample_gini_criterion_estimates_the_grid_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 1))
    x = np.linspace(-6, 6, 10_001)
    grid = theory.continuous_gini_criterion(np.exp(-(x**2) / 2), x > 0.5, x[1] - x[0])
    assert theory.sample_gini_criterion(X, X[:, 0] > 0.5, 0.05) == pytest.approx(grid, abs=0.03)


def test_normalised_cut_is_weighted_association_of_the_normalised_affinity():
    rng = np.random.default_rng(3)
    affinity = Gaussian(0.5).affinity(rng.normal(size=(40, 2)))
    labels = rng.integers(0, 3, 40)
    degree = affinity.sum(axis=1)
    weighted = average_association(theory.normalized_affinity(affinity), weights=degree)
    assert weighted.energy(labels) == pytest.approx(energy(affinity, labels, criterion="normalized_cut"))


def test_modified_distances_give_the_normalised_affinity():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 2))
    sigma = 0.6
    modified = theory.modified_distances(squared_distances(X), sigma)
    expected = theory.normalized_affinity(Gaussian(sigma).affinity(X))
    np.testing.assert_allclose(np.exp(-modified / (2 * sigma**2)), expected, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dimension", [12, 20, 40])
@pytest.mark.parametrize("sigma", [0.5, 0.8])
def test_density_inversion_is_least_where_the_formula_says(weighted, dimension, sigma):
    lowest = theory.density_inversion_minimum(embedding_dimension=dimension, sigma=sigma, weighted=weighted)
    x = np.exp(np.linspace(0, 2 * np.log(lowest), 4001))
    values = theory.density_inversion(x, embedding_dimension=dimension, sigma=sigma, weighted=weighted)
    assert x[np.argmin(values)] == pytest.approx(lowest, rel=0.02)
    below = x < lowest * 0.99
    assert np.all(np.diff(values[below]) < 0)


def test_inversion_grows_exponentially_with_the_dimension_and_weights_weaken_it():
    at = lambda n, w: theory.density_inversion_minimum(embedding_dimension=n, weighted=w)  # noqa: E731
    assert at(40, False) / at(20, False) == pytest.approx(np.exp(10))
    assert at(20, True) < at(20, False)
    # The paper's figure: x/(1+log x)^10 and x^2/(1+log x)^10.
    np.testing.assert_allclose(
        theory.density_inversion([5.0], embedding_dimension=20, weighted=True), 25 / (1 + np.log(5)) ** 10
    )


def test_density_law_on_samples_of_known_density():
    # A map y = f(x) with Jacobian J is the embedding of the metric J'J: the law gives the density of y.
    rng = np.random.default_rng(5)
    X = rng.uniform(0.3, 1.0, size=(20_000, 2))
    Y = np.column_stack([np.exp(1.5 * X[:, 0]), X[:, 1] ** 2 + 0.5 * X[:, 0]])
    jacobian = np.zeros((len(X), 2, 2))
    jacobian[:, 0, 0] = 1.5 * Y[:, 0]
    jacobian[:, 1, 0] = 0.5
    jacobian[:, 1, 1] = 2 * X[:, 1]
    metric = np.swapaxes(jacobian, 1, 2) @ jacobian
    law = theory.transformed_density(np.full(len(X), 1 / 0.49), metric)
    inside = np.all((X > 0.4) & (X < 0.9), axis=1)
    error = np.log(knn_density(Y, 100)[inside] / law[inside])
    assert abs(np.mean(error)) < 0.02
    assert np.std(error) < 0.15


def test_isotropic_density_law_is_the_bandwidth_to_the_dimension():
    rng = np.random.default_rng(6)
    rho, sigma = rng.random(10) + 0.1, rng.random(10) + 0.5
    metric = np.eye(3) / sigma[:, None, None] ** 2
    np.testing.assert_allclose(theory.transformed_density(rho, metric), rho * sigma**3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.breiman_split([3, 0]), "fewer than 2"),
        (lambda: theory.gini_impurity([-1, 2]), "negative"),
        (lambda: theory.gini_criterion([1, 2], [0]), "one entry for each of 2"),
        (lambda: theory.continuous_gini_criterion([1.0], [0, 1]), "shape"),
        (lambda: theory.continuous_gini_criterion([0.0, 0.0], [0, 1]), "zero"),
        (lambda: theory.mode_split([1.0], -1), "epsilon"),
        (lambda: theory.parzen_energy([[0.0]], [0], "best"), "not a rule"),
        (lambda: theory.transformed_density([1.0], [[1.0]]), "square matrix"),
        (lambda: theory.transformed_density([1.0], [[[-1.0]]]), "positive definite"),
        (lambda: theory.modified_distances([[0.0]], 0), "sigma"),
        (lambda: theory.normalized_affinity(np.zeros((2, 2))), "degree"),
        (lambda: theory.density_inversion([0.01], embedding_dimension=4), "raise offset"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_pair_of_clusters_of_the_best_split_is_itself_biased():
    # The multi-cluster remark after Theorem 2: three clusters of a histogram, any two optimal for their union.
    histogram = np.array([6, 4, 3, 2])
    features = points_of(histogram)
    labellings = [np.array(row) for row in product(range(3), repeat=4) if len(set(row)) == 3]
    best = min(labellings, key=lambda row: theory.gini_criterion(features, row[features]))
    for pair in combinations(range(3), 2):
        bins = np.flatnonzero(np.isin(best, pair))
        features_of_pair = features[np.isin(features, bins)]
        value = theory.gini_criterion(features_of_pair, best[features_of_pair])
        optimum = theory.breiman_split(histogram[bins])
        place = np.searchsorted(bins, features_of_pair)
        assert value == pytest.approx(theory.gini_criterion(features_of_pair, optimum[place]))
