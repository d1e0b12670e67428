"""Probabilistic k-means: its reduction to k-means, the entropy it equals or bounds, and energies that never rise."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from evencut import ProbabilisticKMeans
from evencut.theory import entropy_criterion


@pytest.fixture
def blobs(rng):
    sizes, centres, widths = (120, 60, 90), ([0, 0], [4, 0], [0, 5]), (1.0, 0.4, 0.7)
    X = np.concatenate([c + w * rng.normal(size=(n, 2)) for n, c, w in zip(sizes, centres, widths)])
    return X, np.repeat([0, 2, 1], sizes)


MODELS = [
    {"covariance": "full"},
    {"covariance": "diagonal"},
    {"covariance": "spherical"},
    {"covariance": "fixed", "width": 0.7},
    {"model": "histogram", "n_bins": 8},
    {"model": "histogram", "n_bins": 8, "smoothing": 0.0},
]


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_energies_never_rise_and_the_last_is_kept(options, blobs):
    model = ProbabilisticKMeans(3, random_state=0, **options).fit(blobs[0])
    assert (np.diff(model.energy_trace_) <= 1e-9).all()
    if options.get("smoothing", 1.0) == 0 or "model" not in options:
        assert model.energy_trace_[-1] == pytest.approx(model.energy_)
    assert sorted(np.bincount(model.labels_), reverse=True) == np.bincount(model.labels_).tolist()


@pytest.mark.parametrize("options", [*MODELS[:3], MODELS[5]], ids=str)
def test_at_maximum_likelihood_the_energy_is_the_entropy_of_the_models(options, blobs):
    model = ProbabilisticKMeans(3, random_state=0, **options).fit(blobs[0])
    assert model.energy_ == pytest.approx(model.entropy_, rel=1e-4)


def test_histograms_have_the_discrete_entropy_criterion(rng):
    x = rng.normal(size=(300, 1))
    model = ProbabilisticKMeans(2, model="histogram", n_bins=10, smoothing=0.0, random_state=0).fit(x)
    edges = np.linspace(x.min(), x.max(), 11)
    bins = np.clip(np.digitize(x[:, 0], edges) - 1, 0, 9)
    discrete = entropy_criterion(bins, model.labels_) + len(x) * np.log(edges[1] - edges[0])
    assert model.energy_ == pytest.approx(discrete)


def test_a_model_that_does_not_fit_has_more_energy_than_the_entropy_of_the_data(rng):
    x = np.concatenate([rng.normal(-4, 1, (2000, 1)), rng.normal(4, 1, (2000, 1))])
    true = np.log(2) + 0.5 * np.log(2 * np.pi * np.e)
    assert ProbabilisticKMeans(1).fit(x).energy_ / len(x) > true + 0.3
    assert ProbabilisticKMeans(1, model="histogram", n_bins=40).fit(x).energy_ / len(x) == pytest.approx(true, abs=0.05)


def test_one_fixed_width_is_k_means_whatever_the_width(blobs):
    plain = KMeans(3, n_init=10, tol=0, random_state=0).fit(blobs[0])
    for width in (0.5, 2.0):
        model = ProbabilisticKMeans(3, covariance="fixed", width=width, random_state=0).fit(blobs[0])
        assert adjusted_rand_score(plain.labels_, model.labels_) == 1
        constant = blobs[0].size * np.log(width * np.sqrt(2 * np.pi))
        assert 2 * width**2 * (model.energy_ - constant) == pytest.approx(plain.inertia_)


def test_full_gaussians_are_those_of_scipy_and_find_the_blobs(blobs):
    X, truth = blobs
    model = ProbabilisticKMeans(3, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    own = X[model.labels_ == 1]
    wanted = multivariate_normal(own.mean(axis=0), np.cov(own.T, bias=True)).logpdf(X)
    np.testing.assert_allclose(model.model_.log_likelihood(X)[:, 1], wanted, rtol=1e-3)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_entropy_wants_equal_sizes_where_the_density_is_even(rng):
    x = rng.uniform(size=(2000, 1))
    labels = ProbabilisticKMeans(2, model="histogram", n_bins=20, random_state=0).fit(x).labels_
    assert np.bincount(labels).min() > 0.45 * len(x)


def test_clusters_never_lose_their_last_point():
    x = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [9.0]])
    assert len(set(ProbabilisticKMeans(3, random_state=0).fit(x).labels_)) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "gamma"}, "model='gamma'"),
        ({"covariance": "round"}, "covariance='round'"),
        ({"width": 0}, "width=0 must be a number, positive"),
        ({"smoothing": -1}, "smoothing=-1"),
        ({"n_bins": 0}, "n_bins=0"),
        ({"n_clusters": 9}, "9 is more than the 2 distinct points"),
    ],
)
def test_mistakes_are_named(options, said):
    with pytest.raises(ValueError, match=said):
        ProbabilisticKMeans(**{"n_clusters": 2} | options).fit([[0.0], [1.0], [1.0]])
