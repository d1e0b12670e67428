"""The synthetic sets have the shape, the density and the repeatability they promise."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut, KernelClustering, datasets

MAKERS = [
    datasets.make_clumped_moons,
    datasets.make_rings,
    datasets.make_sparse_subset,
    datasets.make_growing_density,
]


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_seed_gives_the_same_points(make):
    X, y = make(101, random_state=3)
    again, y_again = make(101, random_state=np.random.RandomState(3))
    other, _ = make(101, random_state=4)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, other)
    assert len(X) == len(y) == 101
    assert np.isfinite(X).all()


@pytest.mark.parametrize("clump", [0.0, 0.5, 0.8, 1.0])
def test_moons_are_half_circles_of_radius_one_with_the_clump_asked_for(clump):
    X, y = datasets.make_clumped_moons(2000, clump=clump, noise=0, random_state=0)
    assert np.bincount(y).tolist() == [1000, 1000]
    upper, lower = X[y == 0], X[y == 1]
    np.testing.assert_allclose(np.linalg.norm(upper, axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(lower - [1, 0.5], axis=1), 1)
    assert upper[:, 1].min() >= 0
    assert lower[:, 1].max() <= 0.5
    angle = np.arctan2(upper[:, 1], upper[:, 0])
    near = np.abs(angle - np.pi / 2) < 3 * 0.03 * np.pi
    expected = clump * 0.9973 + (1 - clump) * 6 * 0.03
    assert near.mean() == pytest.approx(expected, abs=0.04)
    assert np.std(angle[near]) < 0.06 * np.pi


def test_moons_without_a_clump_are_uniform_along_the_arc():
    X, y = datasets.make_clumped_moons(20_000, clump=0, noise=0, random_state=0)
    share, _ = np.histogram(np.arccos(X[y == 0, 0]), bins=10, range=(0, np.pi))
    np.testing.assert_allclose(share / 1000, 1, atol=0.15)


def test_noise_has_the_deviation_asked_for():
    X, y = datasets.make_clumped_moons(20_000, noise=0.05, random_state=0)
    distance_off = np.linalg.norm(X[y == 1] - [1, 0.5], axis=1) - 1
    assert distance_off.std() == pytest.approx(0.05, rel=0.05)


def test_rings_have_their_radii_and_their_clump_on_the_outer_one():
    X, y = datasets.make_rings(1001, clump=0.6, factor=0.3, noise=0, random_state=0)
    assert np.bincount(y).tolist() == [501, 500]
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), np.where(y == 0, 1, 0.3))
    near_top = X[:, 1] > 0.9 * np.where(y == 0, 1, 0.3)
    assert near_top[y == 0].mean() > 0.6
    assert near_top[y == 1].mean() < 0.25


def test_the_tail_is_sparse_far_and_part_of_the_lower_moon():
    X, y = datasets.make_sparse_subset(600, sparse=0.03, length=2, noise=0, random_state=0)
    tail = X[:, 0] > 2
    assert tail.sum() == 18
    assert (y[tail] == 1).all()
    assert np.linalg.norm(X[tail] - [2, 0.5], axis=1).max() > 1.8
    assert np.bincount(y).tolist() == [300, 300]


def test_the_tail_is_cut_off_by_a_fixed_bandwidth_and_not_by_the_default():
    X, y = datasets.make_sparse_subset(random_state=0)
    fixed = KernelClustering(2, kernel="gaussian", random_state=0).fit_predict(X)
    even = EvenCut(2, random_state=0).fit_predict(X)
    assert np.bincount(fixed).min() <= 0.015 * 600
    assert adjusted_rand_score(y, fixed) < 0.1
    assert adjusted_rand_score(y, even) >= 0.95


def test_growing_density_is_sorted_and_y_is_its_density():
    X, rho = datasets.make_growing_density(50_000, ratio=20, random_state=0)
    assert X.shape == (50_000, 1)
    assert (np.diff(X[:, 0]) >= 0).all()
    assert rho[-1] / rho[0] == pytest.approx(20, rel=0.01)
    counts, edges = np.histogram(X[:, 0], bins=10, range=(0, 1), density=True)
    np.testing.assert_allclose(counts, np.interp((edges[1:] + edges[:-1]) / 2, X[:, 0], rho), rtol=0.1)


@pytest.mark.parametrize(
    ("make", "wrong", "error", "says"),
    [
        (datasets.make_clumped_moons, {"n_samples": 1}, ValueError, "n_samples=1 is too few"),
        (
            datasets.make_clumped_moons,
            {"n_samples": 10.0},
            TypeError,
            "n_samples=10.0 must be a whole number",
        ),
        (datasets.make_clumped_moons, {"n_samples": True}, TypeError, "n_samples=True"),
        (datasets.make_clumped_moons, {"clump": 1.5}, ValueError, r"clump=1.5 is outside \[0, 1\]"),
        (datasets.make_clumped_moons, {"clump": "all"}, TypeError, "clump='all' must be a number"),
        (datasets.make_clumped_moons, {"noise": -1}, ValueError, r"noise=-1 is outside \[0, inf\)"),
        (datasets.make_clumped_moons, {"noise": float("nan")}, ValueError, "noise=nan"),
        (datasets.make_clumped_moons, {"random_state": "x"}, ValueError, "seed"),
        (datasets.make_rings, {"factor": 1.0}, ValueError, r"factor=1.0 is outside \(0, 1\)"),
        (datasets.make_rings, {"clump": -0.1}, ValueError, "clump=-0.1"),
        (datasets.make_sparse_subset, {"sparse": 0.6}, ValueError, r"sparse=0.6 is outside \[0, 0.5\]"),
        (datasets.make_sparse_subset, {"length": 0}, ValueError, "length=0"),
        (datasets.make_growing_density, {"ratio": 1}, ValueError, r"ratio=1 is outside \(1, inf\)"),
        (datasets.make_growing_density, {"n_samples": 0}, ValueError, "n_samples=0"),
    ],
)
def test_wrong_values_are_named(make, wrong, error, says):
    with pytest.raises(error, match=says):
        make(**wrong)
