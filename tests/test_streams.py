"""Streams: batches in any order give the same labels, memory stays, and a bad batch changes nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import evencut
from evencut import DominantSets, LandmarkClustering

CENTRES = [[0, 0], [9, 0], [0, 9], [9, 9], [18, 0], [18, 9]]
X, TRUTH = make_blobs(4000, centers=CENTRES, random_state=3)
MODEL = LandmarkClustering(6, n_landmarks=200, random_state=0)


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
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))
        assert model.stream_.n_seen == 4000
    at_once = LandmarkClustering(**MODEL.get_params()).fit(X)
    assert adjusted_rand_score(whole.predict(X), at_once.labels_) > 0.99


def test_more_rows_than_the_sample_may_come_in_any_order(rng):
    """A sample of 20 000 of 60 000 rows without clusters: any other sample would part them otherwise."""
    many = rng.normal(size=(60_000, 2)) * 3
    options = {"n_clusters": 7, "n_landmarks": 300, "random_state": 0}
    whole = LandmarkClustering(**options).partial_fit(many)
    model = LandmarkClustering(**options)
    for batch in np.array_split(rng.permutation(60_000), 5):
        model.partial_fit(many[batch])
    assert len(model.stream_.rows) == 20_000
    np.testing.assert_array_equal(model.predict(many), whole.predict(many))
    np.testing.assert_allclose(model.landmark_weights_.sum(), 60_000, rtol=1e-5)


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
    for _ in range(4):
        model.partial_fit(rng.normal(size=(15_000, 2)) + 9 * rng.integers(0, 2, (15_000, 1)))
        sizes.append(model.stream_.nbytes)
    assert sizes[1] == sizes[2] == sizes[3]
    assert model.stream_.n_seen == 60_000 and len(model.stream_.rows) == 20_000
    assert model.labels_.shape == (15_000,)


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
    np.testing.assert_array_equal(again.partial_fit(X[2000:]).predict(X), streamed([X]).predict(X))


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
