"""Density estimates integrate to one, follow known densities, and respect scaling."""

import numpy as np
import pytest
from scipy import stats

from evencut.affinity import knn_density, knn_radius, parzen_density, scott_bandwidth, silverman_bandwidth, whiten
from evencut.neighbors import squared_distances


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", "median", 0.3, [0.3]])
def test_parzen_integrates_to_one(bandwidth, rng):
    X = rng.normal(size=(200, 1))
    grid = np.linspace(-12, 12, 4001)[:, None]
    assert np.trapezoid(parzen_density(X, bandwidth, at=grid), grid[:, 0]) == pytest.approx(1, abs=1e-4)


def test_parzen_is_scipys_estimate_where_both_use_a_full_matrix(rng):
    X = rng.normal(size=(100, 2)) @ [[1.0, 0.4], [0.0, 0.7]]
    theirs = stats.gaussian_kde(X.T)
    np.testing.assert_allclose(parzen_density(X, theirs.covariance), theirs(X.T), rtol=1e-10)


def test_rules_have_their_formulas(rng):
    X = rng.normal(size=(500, 3)) * [1.0, 2.0, 0.0]
    spread = X.std(axis=0, ddof=1)
    np.testing.assert_allclose(scott_bandwidth(X), spread * 500 ** (-1 / 7))
    np.testing.assert_allclose(silverman_bandwidth(X), spread * (4 / (5 * 500)) ** (1 / 7))


def test_estimates_follow_a_known_density(rng):
    X = rng.normal(size=(8000, 2))
    truth = stats.multivariate_normal.pdf(X, [0, 0])
    inner = truth > 0.02
    for estimate in (parzen_density(X), knn_density(X, 100)):
        assert np.median(np.abs(estimate[inner] / truth[inner] - 1)) < 0.1


def test_knn_density_scales_with_the_dimension(rng):
    X = rng.normal(size=(300, 3))
    np.testing.assert_allclose(knn_density(2 * X, 5) * 8, knn_density(X, 5))


def test_knn_density_at_other_points_counts_them_not_as_neighbours(rng):
    X = rng.normal(size=(50, 2))
    np.testing.assert_allclose(knn_density(X, 3, at=X), knn_density(X, 2) * 3 / 2)


def test_coinciding_points_stay_finite(rng):
    X = np.repeat(rng.normal(size=(5, 2)), 10, axis=0)
    assert np.isfinite(knn_density(X, 3)).all()
    assert (knn_radius(X, 3) > 0).all()
    assert np.isfinite(knn_density(np.zeros((10, 2)), 3)).all()


def test_constant_columns_change_nothing(rng):
    X = rng.normal(size=(100, 1))
    with_constant = np.c_[X, np.ones(100)]
    sigma = scott_bandwidth(with_constant)[0]
    np.testing.assert_allclose(whiten(with_constant, "scott")[0][:, 0], X[:, 0] / sigma)


def test_squared_distances_are_symmetric_and_survive_an_offset(rng):
    X = rng.normal(size=(50, 4))
    D = squared_distances(X + 1e6)
    assert (D == D.T).all()
    np.testing.assert_allclose(D, squared_distances(X), atol=1e-6)


@pytest.mark.parametrize(
    ("bandwidth", "message"),
    [
        ("scot", "'scot' is not a rule.*scott"),
        (-1.0, "must be positive"),
        ([1.0, 2.0, 3.0], r"shape \(3,\); with 2 features"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive definite"),
    ],
)
def test_wrong_bandwidths_are_named(bandwidth, message, rng):
    with pytest.raises(ValueError, match=message):
        parzen_density(rng.normal(size=(10, 2)), bandwidth)
