"""Some labels known: they are kept, they steer the rest, and margins tell how sure each label is."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut, NormalizedCut
from evencut.datasets import make_clumped_moons


@pytest.fixture
def moons():
    return make_clumped_moons(600, clump=0.5, random_state=0)


@pytest.mark.parametrize("model", [EvenCut(2), NormalizedCut(2, kernel="knn")])
def test_labelled_rows_keep_their_label_and_steer_the_rest(moons, model):
    X, _ = moons
    half = (X[:, 0] > 0.5).astype(int)  # not what anyone would find without labels
    known = np.random.default_rng(0).choice(600, 24, replace=False)
    y = np.full(600, -1)
    y[known] = half[known]
    without = model.set_params(random_state=0).fit(X).labels_
    steered = model.fit(X, y).labels_
    np.testing.assert_array_equal(steered[known], half[known])
    assert adjusted_rand_score(half, steered) > 0.6 > adjusted_rand_score(half, without)


def test_numbers_of_clusters_follow_the_labels(moons):
    X, moon = moons
    y = np.full(600, -1)
    y[:10] = 1 - moon[:10]
    labels = EvenCut(2, random_state=0).fit(X, y).labels_
    assert (labels == 1 - moon).mean() > 0.98


def test_clusters_without_any_label_are_found_too():
    X, truth = make_blobs(400, centers=4, cluster_std=0.5, random_state=4)
    y = np.full(400, -1)
    y[np.flatnonzero(truth == 2)[:5]] = 0
    labels = EvenCut(4, random_state=0).fit(X, y).labels_
    assert adjusted_rand_score(truth, labels) > 0.97
    assert (labels[truth == 2] == 0).mean() > 0.97


def test_complete_labels_are_ignored_as_scikit_learn_passes_them_for_scoring(moons):
    X, _ = moons
    model = EvenCut(2, random_state=0)
    np.testing.assert_array_equal(model.fit(X).labels_, model.fit(X, np.arange(600)).labels_)


def test_wrong_partial_labels_are_named(moons):
    X, _ = moons
    y = np.full(600, -1)
    y[0] = 5
    with pytest.raises(ValueError, match=r"the label 5, but n_clusters=2 allows labels from 0 to 1"):
        EvenCut(2).fit(X, y)
    with pytest.raises(ValueError, match="y has shape"):
        EvenCut(2).fit(X, y[:10])
    y[1] = -7
    with pytest.raises(ValueError, match="y holds -7"):
        EvenCut(2).fit(X, y)


def test_margins_are_small_at_borders_and_large_inside():
    X, truth = make_blobs([400, 400], centers=[[0, 0], [4, 0]], random_state=0)
    model = EvenCut(2, random_state=0).fit(X)
    assert ((model.margin_ >= 0) & (model.margin_ <= 1)).all()
    middle, inside = np.abs(X[:, 0] - 2) < 0.5, (X[:, 0] < 0) | (X[:, 0] > 4)
    assert model.margin_[middle].mean() + 0.1 < model.margin_[inside].mean()
    assert model.margin_.min() < 0.3
    sure = model.margin_ > 0.9
    assert adjusted_rand_score(truth[sure], model.labels_[sure]) > adjusted_rand_score(truth, model.labels_)
    border, core = model.predict_margin([[2.0, 0.0], [-1.0, 0.0]])
    assert border < core
