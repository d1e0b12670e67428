"""A row that occurs c times is one point of weight c, for every kernel; near-copies are copies too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from evencut import KernelClustering, LandmarkClustering, NormalizedCut
from evencut.affinity import condense, distinct_points, prepare
from evencut.kernels import KERNELS


def answers(n_rows, seed):
    """A table like the Wisconsin one: nine answers from 1 to 10, mostly 1 for the benign two thirds."""
    rng = np.random.default_rng(seed)
    n_benign = int(0.65 * n_rows)
    y = np.repeat([0, 1], [n_benign, n_rows - n_benign])
    severity = np.r_[rng.gamma(1.2, 0.35, n_benign), rng.normal(5.5, 1.6, n_rows - n_benign)][:, None]
    noise = rng.normal(0, 0.5, (n_rows, 9)) * (1.5 * y[:, None] + 0.3)
    return np.clip(np.round(1 + severity * rng.uniform(0.5, 1.5, (n_rows, 9)) + noise), 1, 10), y


def cases():
    table, y = answers(683, 0)
    again = np.random.default_rng(0).integers(683, size=3000)
    moons, moons_of = make_moons(200, noise=0.05, random_state=0)
    blobs, blobs_of = make_blobs(1000, centers=3, center_box=(-6, 6), random_state=3)
    pair, pair_of = make_blobs(150, centers=[[0, 0], [8, 0]], random_state=0)
    rng = np.random.default_rng(1)
    binary_of = np.repeat([0, 1], [350, 250])
    binary = (rng.random((600, 12)) < np.where(binary_of, 0.8, 0.15)[:, None]).astype(float)
    # The score that the best of k-means, a mixture and spectral clustering reaches, rounded down.
    return {
        "answers": (table, y, 2, 0.9),
        "resampled answers": (table[again], y[again], 2, 0.9),
        "moons x 30": (np.repeat(moons, 30, axis=0), np.repeat(moons_of, 30), 2, 0.97),
        "blobs x 20": (np.repeat(pair, 20, axis=0), np.repeat(pair_of, 20), 2, 0.97),
        "rounded blobs": (np.round(blobs), blobs_of, 3, 0.89),
        "binary columns": (binary, binary_of, 2, 0.9),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kernel", ["auto", "knn"])
def test_tables_with_repeated_rows_are_clustered_as_well_as_by_others(name, kernel):
    X, y, k, expected = CASES[name]
    assert adjusted_rand_score(y, KernelClustering(k, kernel=kernel, random_state=0).fit_predict(X)) >= expected


@pytest.mark.parametrize("name", ["answers", "moons x 30", "blobs x 20"])
def test_near_copies_behave_as_copies(name):
    X, y, k, expected = CASES[name]
    X = X + 1e-6 * X.std() * np.random.default_rng(0).normal(size=X.shape)
    assert adjusted_rand_score(y, KernelClustering(k, random_state=0).fit_predict(X)) >= expected - 0.02


@pytest.mark.parametrize("kernel", ["auto", *(name for name in KERNELS if name != "precomputed")])
@pytest.mark.parametrize("equalize", [None, "exact"])
def test_weights_and_repetition_mean_the_same(kernel, equalize):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 6])
    counts = rng.integers(1, 4, size=80)
    shuffled = rng.permutation(counts.sum())
    repeated = np.repeat(np.arange(80), counts)[shuffled]
    model = KernelClustering(2, kernel=kernel, equalize=equalize, random_state=0)
    weighted = model.fit(X, sample_weight=counts).labels_
    energy = model.energy_
    copied = model.fit(X[repeated]).labels_
    assert adjusted_rand_score(weighted[repeated], copied) == 1
    assert model.energy_ == pytest.approx(energy, rel=1e-9)


def test_rows_map_to_points_and_back():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0], [0.0, 0.0], [-0.0, 0.0]])
    model = NormalizedCut(2, kernel="knn", random_state=0).fit(X)
    assert model.affinity_.shape == (4, 4)
    np.testing.assert_array_equal(model.point_of_row_, [0, 1, 0, 2, 3, 3])
    np.testing.assert_array_equal(model.weights_, [2, 1, 1, 2])


def test_all_rows_equal_are_one_cluster():
    X = np.ones((50, 2))
    model = KernelClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 1 and not model.labels_.any()
    with pytest.raises(ValueError, match="n_clusters=2 is more than the 1 distinct points among 50 rows"):
        KernelClustering(2).fit(X)


def test_landmarks_of_few_distinct_rows_make_all_clusters_asked_for():
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 2)), 10, axis=0)
    model = LandmarkClustering(3, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == 3
    np.testing.assert_allclose(model.landmark_weights_, 10)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=60), st.randoms())
def test_distinct_points_are_those_of_numpy(rows, random):
    X = np.array(rows, dtype=float)
    table = distinct_points(X)
    expected, counts = np.unique(X, axis=0, return_counts=True)
    order = np.lexsort(table.points.T[::-1])
    np.testing.assert_array_equal(table.points[order], expected)
    np.testing.assert_array_equal(table.weights[order], counts)
    np.testing.assert_array_equal(table.points[table.of_row], X)
    mixed = list(range(len(X)))
    random.shuffle(mixed)
    np.testing.assert_array_equal(distinct_points(X[mixed]).points, table.points)


def test_condensed_points_keep_all_the_weight_and_follow_the_density():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(9000, 2)), rng.normal(size=(1000, 2)) + 20])
    few = condense(distinct_points(X), 200)
    assert few.weights.sum() == 10_000
    assert 10 <= (few.points[:, 0] > 10).sum() <= 40
    np.testing.assert_array_equal(np.bincount(few.of_row), few.weights)


def test_preparation_leaves_out_rows_without_weight():
    table = prepare(np.arange(8.0).reshape(4, 2), np.array([1.0, 0.0, 2.0, 1.0]))
    assert table.of_row[1] == -1
    assert table.weights.sum() == 4
