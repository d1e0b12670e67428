"""Streams: batches in any order give the same labels, memory stays, and a bad batch changes nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import evencut
from evencut import DominantSets, LandmarkClustering

CENTRES = [[0, 0], [9, 0], [0, 9], [9, 9], [18, 0], [18, 9]]
X, TRUTH = make_blobs(4000, centers=CENTRES, random_state=3)
MODEL = LandmarkClustering(6, n_landmarks=200, random_state=0)


def assert_same_clusters(first, second):
    """The partition is the same; its numbers are those of the batch in which a cluster was first seen."""
    assert adjusted_rand_score(first, second) == 1.0


def streamed(batches):
    model = LandmarkClustering(**MODEL.get_params())
    for batch in batches:
        model.partial_fit(batch)
    return model


def test_batches_in_any_order_are_one_fit(rng):
    whole = streamed([X])
    halves = streamed(np.array_split(X, 7))
    shuffled = streamed(np.array_split(X[rng.permutation(4000)], 3))
    for model in (halves, shuffled):
        assert_same_clusters(model.predict(X), whole.predict(X))
        assert model.stream_.n_seen == 4000
    at_once = LandmarkClustering(**MODEL.get_params()).fit(X)
    np.testing.assert_array_equal(whole.predict(X), at_once.labels_)
    np.testing.assert_array_equal(whole.landmarks_, at_once.landmarks_)


def test_more_rows_than_the_sample_may_come_in_any_order(rng):
    """A sample of 200 000 of 300 000 rows without clusters: any other sample would part them otherwise."""
    many = rng.normal(size=(300_000, 2)) * 3
    options = {"n_clusters": 7, "n_landmarks": 300, "random_state": 0}
    at_once = LandmarkClustering(**options).fit(many)
    model = LandmarkClustering(**options)
    for batch in np.array_split(rng.permutation(300_000), 3):
        model.partial_fit(many[batch])
    assert len(model.stream_.rows) == 200_000
    assert_same_clusters(model.predict(many), at_once.labels_)
    np.testing.assert_array_equal(at_once.predict(many[::-1]), at_once.labels_[::-1])
    np.testing.assert_allclose(model.landmark_weights_.sum(), 300_000, rtol=1e-5)


def test_the_order_of_the_rows_changes_nothing(rng):
    order = rng.permutation(4000)
    fitted = LandmarkClustering(**MODEL.get_params()).fit(X)
    again = LandmarkClustering(**MODEL.get_params()).fit(X[order])
    np.testing.assert_array_equal(again.labels_, fitted.labels_[order])


def test_more_copies_than_the_sample_has_rows(rng):
    """A sample among the smallest hashes of 500 000 copies of 100 rows would miss most of the 100."""
    table = np.vstack([np.repeat(rng.normal(size=(100, 2)), 5000, axis=0), 50 + rng.normal(size=(1000, 2))])
    model = LandmarkClustering(2, n_landmarks=50, random_state=0).fit(table)
    np.testing.assert_array_equal(np.bincount(model.labels_), [500_000, 1000])
    np.testing.assert_allclose(model.landmark_weights_.sum(), 501_000, rtol=1e-5)


def test_sparse_batches_are_those_of_one_fit(rng):
    for n_columns in (700, 1500):
        rows = sparse.csr_array(
            sparse.random_array((600, n_columns), density=0.02, rng=rng) + sparse.eye_array(600, n_columns)
        )
        options = {"n_clusters": 3, "n_landmarks": 100, "metric": "cosine", "random_state": 0}
        at_once = LandmarkClustering(**options).fit(rows)
        model = LandmarkClustering(**options)
        for batch in (rows[400:], rows[:400]):
            model.partial_fit(batch)
        assert_same_clusters(model.predict(rows), at_once.labels_)


def test_a_stream_of_few_values_keeps_all_of_them(rng):
    """Repeated rows count, but take one place: a sample of 20 000 rows of 100 values would hold two of them."""
    grid = rng.integers(0, 10, (100_000, 2)).astype(float)
    grid[:, 0] += 20 * (grid[:, 0] >= 5)
    model = LandmarkClustering(2, n_landmarks=50, random_state=0)
    for batch in np.array_split(grid, 4):
        model.partial_fit(batch)
    assert len(model.stream_.rows) == 100 and model.stream_.counts.sum() == 100_000
    assert adjusted_rand_score(grid[:, 0] >= 5, model.predict(grid)) == 1.0


def test_memory_stays(rng):
    model = LandmarkClustering(2, n_landmarks=50, random_state=0)
    sizes = []
    for _ in range(3):
        model.partial_fit(rng.normal(size=(150_000, 2)) + 9 * rng.integers(0, 2, (150_000, 1)))
        sizes.append(model.stream_.nbytes)
    assert sizes[1] == sizes[2]
    assert model.stream_.n_seen == 450_000 and len(model.stream_.rows) == 200_000
    assert model.labels_.shape == (150_000,)


def test_a_bad_batch_changes_nothing(tmp_path):
    model = streamed([X[:2000]])
    before = model.predict(X)
    for batch, message in ((X[:5, :1], "1 features"), (np.full((3, 2), np.nan), "NaN")):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(batch)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.stream_.n_seen == 2000
    evencut.save(model, tmp_path / "m.skops")
    again = evencut.load(tmp_path / "m.skops")
    assert_same_clusters(again.partial_fit(X[2000:]).predict(X), streamed([X]).predict(X))


def test_a_fit_ends_a_stream_and_tables_keep_their_words():
    model = streamed([X[:2000]]).fit(X)
    assert not hasattr(model, "stream_")
    frame = pd.DataFrame({"x": X[:, 0], "city": np.where(TRUTH < 3, "Rome", "Bonn")})
    words = streamed([frame[:2000], frame[2000:]])
    assert words.feature_names_in_.tolist() == ["x", "city"] and len(words.predict(frame)) == 4000


def test_dominant_sets_label_new_points(rng):
    points = np.vstack([rng.normal(0, 0.3, (30, 2)), rng.normal(4, 0.3, (30, 2))])
    model = DominantSets(2, random_state=0).fit(points)
    np.testing.assert_array_equal(model.predict(points), model.labels_)
    new = model.predict([[0.0, 0.0], [4.0, 4.0]])
    assert new[0] == model.labels_[0] and new[1] == model.labels_[-1]
    peeled = DominantSets(min_size=5, random_state=0).fit(points)
    core = peeled.labels_ >= 0
    assert (peeled.predict(points)[core] >= 0).mean() > 0.95
    assert peeled.predict([[50.0, 50.0]])[0] == -1
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0]])


def test_clusters_keep_their_numbers_while_the_stream_grows(rng):
    def batch(sizes):
        return np.vstack([rng.normal(size=(n, 2)) + centre for n, centre in zip(sizes, CENTRES)])

    model = LandmarkClustering(3, n_landmarks=100, random_state=0).partial_fit(batch((900, 500, 200)))
    first = model.predict(CENTRES[:3])
    model.partial_fit(batch((100, 500, 3000)))
    np.testing.assert_array_equal(model.predict(CENTRES[:3]), first)
    assert np.bincount(model.labels_).argmax() == first[2]
