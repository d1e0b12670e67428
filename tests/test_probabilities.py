"""How sure a label is: probabilities are calibrated, far rows are outliers, and what is unknown is told."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import confusion_matrix, roc_auc_score

import evencut
from evencut import EvenCut, KernelClustering, LandmarkClustering
from evencut.landmarks import row_blocks


def is_right(truth, labels):
    """Whether each row is in the cluster that holds most of its class, each cluster for one class."""
    from scipy.optimize import linear_sum_assignment

    clusters, classes = linear_sum_assignment(-confusion_matrix(labels, truth))
    return truth == classes[np.argsort(clusters)][labels]


@pytest.fixture(scope="module")
def blobs():
    X, truth = make_blobs([400, 400], centers=[[0, 0], [3, 0]], random_state=0)
    return X, truth, EvenCut(2, random_state=0).fit(X)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_wrong_points_are_less_sure(load):
    X, truth = load(return_X_y=True)
    models = [EvenCut(len(np.unique(truth)), random_state=seed).fit(X) for seed in range(3)]
    # Which few points are wrong is a matter of the seed.
    assert np.mean([roc_auc_score(is_right(truth, one.labels_), one.probabilities_) for one in models]) >= 0.75


def test_probabilities_are_those_of_the_densities(blobs):
    X, truth, model = blobs
    # The chance of each class where two unit Gaussians 3 apart overlap.
    real = 1 / (1 + np.exp(-np.abs(3 * X[:, 0] - 4.5)))
    assert np.abs(model.probabilities_ - real).mean() < 0.08
    right = is_right(truth, model.labels_)
    assert abs(model.probabilities_.mean() - right.mean()) < 0.05


def test_rows_sum_to_one_and_borders_are_open(blobs):
    _, _, model = blobs
    found = model.predict_proba([[0.0, 0.0], [1.5, 0.0], [3.0, 0.0]])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.argmax(axis=1)[0] != found.argmax(axis=1)[2]
    assert found.max(axis=1)[1] < 0.85 < found.max(axis=1)[[0, 2]].min()


def test_far_rows_are_outliers_and_no_sure_members(blobs):
    X, _, model = blobs
    far = [[100.0, 100.0], [0.0, 0.0]]
    assert model.predict_proba(far)[0].max() < 0.6
    assert model.predict(far, noise=0.5)[0] == -1 and model.predict(far, noise=0.5)[1] == model.predict(far)[1]
    assert (model.predict(far) >= 0).all()
    with_far = EvenCut(2, random_state=0).fit(np.vstack([X, [[100.0, 100.0]]]))
    assert with_far.outlier_scores_.argmax() == 800 and with_far.outlier_scores_[-1] > 0.9
    assert with_far.probabilities_[-1] < 0.6
    assert (with_far.outlier_scores_ < 0.5).mean() > 0.95


@pytest.mark.parametrize("options", [{"kernel": "gaussian"}, {"kernel": "knn"}, {"kernel": "knn", "equalize": "exact"}])
def test_every_kernel_tells_how_sure_it_is(options):
    X, _ = make_blobs([100, 60], centers=[[0, 0], [6, 0]], random_state=0)
    model = KernelClustering(2, random_state=0, **options).fit(X)
    assert (model.probabilities_ > 0.5).mean() > 0.95
    assert model.predict(np.array([[0.0, 0.0], [300.0, 0.0]]), noise=0.5).tolist()[1] == -1


def test_a_precomputed_affinity_tells_outliers_by_their_degree(rng):
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 8, [[30.0, 30.0]]])
    affinity = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 8)
    model = KernelClustering(2, kernel="precomputed", random_state=0).fit(affinity)
    assert model.outlier_scores_.argmax() == 80
    assert model.predict_proba(affinity[:3]).shape == (3, 2)


def test_a_given_label_is_certain_and_a_row_of_no_weight_is_judged_as_a_new_one(blobs):
    X, truth, _ = blobs
    y = np.full(800, -1)
    y[:5], y[795:] = truth[:5], truth[795:]
    weight = np.ones(800)
    weight[400] = 0
    model = EvenCut(2, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.probabilities_[y >= 0], 1.0)
    expected = model.predict_proba(X[400:401])[0, model.labels_[400]]
    np.testing.assert_allclose(model.probabilities_[400], expected)


def test_a_refit_forgets_what_was_sure(blobs):
    X, _, _ = blobs
    model = EvenCut(2, random_state=0).fit(X)
    assert model.probabilities_.shape == (800,)
    assert model.fit(X[:300]).probabilities_.shape == (300,)


def test_saved_models_know_how_sure_they_were(blobs, tmp_path):
    X, _, model = blobs
    evencut.save(model, tmp_path / "m.skops")
    again = evencut.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)
    np.testing.assert_array_equal(again.predict(X, noise=0.5), model.predict(X, noise=0.5))


@pytest.mark.parametrize("noise", [-0.1, 1.5, True, "much", np.nan])
def test_a_wrong_threshold_is_named(blobs, noise):
    with pytest.raises(ValueError, match=r"noise=.* must be an outlier score from 0 to 1"):
        blobs[2].predict([[0.0, 0.0]], noise=noise)


@pytest.fixture(scope="module")
def many():
    X, truth = make_blobs([3000, 3000], centers=[[0, 0], [3, 0]], random_state=0)
    return X, truth, LandmarkClustering(2, n_landmarks=200, random_state=0).fit(X)


def test_landmarks_are_calibrated_too(many):
    X, truth, model = many
    # The chance of each class where two unit Gaussians 3 apart overlap.
    real = 1 / (1 + np.exp(-np.abs(3 * X[:, 0] - 4.5)))
    assert np.abs(model.probabilities_ - real).mean() < 0.08
    right = is_right(truth, model.labels_)
    assert abs(model.probabilities_.mean() - right.mean()) < 0.05
    assert roc_auc_score(right, model.probabilities_) > 0.75
    every = model.predict_proba(X)
    np.testing.assert_allclose(every.sum(axis=1), 1.0)
    np.testing.assert_allclose(every[np.arange(6000), model.labels_], model.probabilities_)


def test_landmarks_know_outliers(many, tmp_path):
    X, _, model = many
    far = [[100.0, 100.0], [0.0, 0.0]]
    assert model.predict_proba(far)[0].max() < 0.6
    assert model.predict(far, noise=0.5).tolist() == [-1, model.predict(far)[1]]
    assert model.outlier_scores_.shape == (6000,) and (model.outlier_scores_ < 0.5).mean() > 0.95
    with_far = LandmarkClustering(2, n_landmarks=200, random_state=0).fit(np.vstack([X, [[100.0, 100.0]]]))
    assert with_far.outlier_scores_[-1] >= with_far.outlier_scores_[:-1].max() * 0.99
    evencut.save(model, tmp_path / "m.skops")
    again = evencut.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)
    np.testing.assert_array_equal(again.predict(X, noise=0.5), model.predict(X, noise=0.5))
    with pytest.raises(ValueError, match=r"noise=2 must be an outlier score from 0 to 1"):
        model.predict(far, noise=2)


def test_landmarks_that_are_all_points_and_given_labels_are_judged(rng):
    X = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(60, 2)) + 9])
    y = np.full(160, -1)
    y[:3], y[-3:] = 0, 1
    model = LandmarkClustering(2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.probabilities_[y >= 0], 1.0)
    assert (model.probabilities_ > 0.5).mean() > 0.95
    assert model.predict([[4.0, 90.0]], noise=0.5)[0] == -1


def test_rows_that_are_not_kept_are_judged_when_given(many):
    X, _, model = many
    from_blocks = LandmarkClustering(2, n_landmarks=200, random_state=0).fit(row_blocks(X))
    with pytest.raises(AttributeError, match=r"use predict_proba\(X\) for any rows"):
        _ = from_blocks.probabilities_
    np.testing.assert_array_equal(from_blocks.predict_proba(X[:9]), model.predict_proba(X[:9]))
    streamed = LandmarkClustering(2, n_landmarks=200, random_state=0).partial_fit(X).partial_fit(X[:50])
    assert streamed.probabilities_.shape == (50,)


def test_where_candidates_disagree_no_label_is_sure(rng):
    """An even cloud in six columns: every candidate parts it otherwise."""
    even = EvenCut(3, random_state=0).fit(rng.uniform(size=(400, 6)))
    assert even.confidence_ < 0.6
    assert even.probabilities_.mean() < 0.7
    assert even.predict_proba(rng.uniform(size=(50, 6))).max(axis=1).mean() < 0.7
    X, _ = make_blobs(300, centers=3, n_features=6, random_state=0)
    clear = EvenCut(3, random_state=0).fit(X)
    assert clear.confidence_ > 0.97 and np.median(clear.probabilities_) > 0.95
