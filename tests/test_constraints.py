"""Pairs of rows that must be together, or cannot be: all are kept, neighbours follow, and contradictions are named."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut, KernelClustering, KernelKMeans

MODELS = [
    EvenCut(3, random_state=0),
    KernelClustering(3, kernel="gaussian", random_state=0),
    KernelKMeans(3, kernel="knn", equalize="exact", random_state=0),
    KernelClustering(3, kernel="knn", criterion="average_cut", random_state=0),
]


def true_pairs(truth, n_pairs, seed):
    pairs = np.random.default_rng(seed).permutation(len(truth))[: 2 * n_pairs].reshape(-1, 2)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return pairs[same], pairs[~same]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_pair_is_kept(model):
    X, truth = load_iris(return_X_y=True)
    must, cannot = true_pairs(truth, 30, 0)
    labels = model.fit(X, must_link=must, cannot_link=cannot).labels_
    assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
    assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
    assert set(labels) == {0, 1, 2}


def test_true_pairs_help():
    X, truth = load_breast_cancer(return_X_y=True)
    before = adjusted_rand_score(truth, EvenCut(2, random_state=0).fit(X).labels_)
    must, cannot = true_pairs(truth, 40, 0)
    model = EvenCut(2, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    assert adjusted_rand_score(truth, model.labels_) > before


def test_pairs_that_hold_already_change_nothing():
    X, truth = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    must, cannot = true_pairs(truth, 20, 0)
    plain = EvenCut(3, random_state=0).fit(X).labels_
    np.testing.assert_array_equal(EvenCut(3, random_state=0).fit(X, must_link=must, cannot_link=cannot).labels_, plain)
    np.testing.assert_array_equal(EvenCut(3, random_state=0).fit_predict(X, must_link=[]), plain)


def test_pairs_go_with_partial_labels_and_names():
    X, _ = load_iris(return_X_y=True)
    y = np.full(150, None, dtype=object)
    y[[0, 60, 120]] = ["setosa", "versicolor", "virginica"]
    model = EvenCut(3, random_state=0).fit(X, y, must_link=[(60, 130)], cannot_link=[(0, 1)])
    assert model.labels_[130] == model.labels_[60] == 1 and model.labels_[1] != 0
    with pytest.raises(ValueError, match=r"joins rows that y gives the labels [01] and [01]"):
        EvenCut(3, random_state=0).fit(X, y, must_link=[(0, 60)])


def test_equal_rows_can_be_kept_apart_and_their_copies_stay(rng):
    points = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 9])
    twice = np.vstack([points, points[:1], points[:1]])
    plain = EvenCut(2, random_state=0).fit(twice).labels_
    labels = EvenCut(2, random_state=0).fit(twice, cannot_link=[(0, 80)]).labels_
    assert labels[0] != labels[80]
    np.testing.assert_array_equal(np.delete(labels, [0, 80]), np.delete(plain, [0, 80]))


X = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        (X, {"must_link": [(0, 1), (1, 2)], "cannot_link": [(2, 0)]}, r"rows 2 and 0 .* joins them: 2 - 1 - 0"),
        (X, {"cannot_link": [(3, 3)]}, "row 3 with itself"),
        (X, {"must_link": [(0, 40)]}, "holds row 40, but rows are numbered from 0 to 39"),
        (X, {"must_link": [0, 1]}, r"must_link has shape \(2,\)"),
        (X, {"cannot_link": [(0.5, 1)]}, "give pairs of row numbers"),
        (X, {"cannot_link": [(0, 1), (0, 2), (1, 2)]}, "keeps more rows apart than n_clusters=2 allows"),
    ],
)
def test_contradictions_and_mistakes_are_named(points, options, message):
    with pytest.raises(ValueError, match=message):
        EvenCut(2, random_state=0).fit(points, **options)


def test_pairs_choose_among_the_candidates():
    """Pairs that speak for a candidate which the consensus has not chosen."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)) * [1, 0.3], rng.normal([3, 0.9], [1, 0.3], (300, 2))])
    plain = EvenCut(3, random_state=0).fit(X)
    other = next(
        place
        for place, candidate in enumerate(plain.selection_.candidates)
        if len(np.unique(candidate.labels)) == 3 and plain.selection_.agreements[0, place] < 0.9
    )
    wanted = plain.selection_.candidates[other].labels
    pairs = rng.integers(0, 600, (400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = wanted[pairs[:, 0]] == wanted[pairs[:, 1]]
    model = EvenCut(3, random_state=0).fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    assert adjusted_rand_score(wanted, model.labels_) == 1.0 > adjusted_rand_score(wanted, plain.labels_)
    # What was chosen is told: the candidate stands first, with the confidence that the others have in it.
    assert adjusted_rand_score(model.selection_.best.labels, wanted) == 1.0
    assert model.confidence_ != plain.confidence_
    assert np.all(np.diag(model.selection_.agreements) == 1)


@pytest.mark.parametrize(("gaps", "column", "system"), [((3, 6), 0, "as given"), ((4, 4), 1, "one deviation")])
def test_new_points_follow_the_system_of_the_candidate_that_pairs_choose(gaps, column, system):
    """Two groups along a column in large units, two others along one in small units; pairs speak for the others."""
    rng = np.random.default_rng(0)
    sides = rng.integers(0, 2, (400, 2))
    X = (rng.normal(size=(400, 2)) + sides * gaps) * [300, 1]
    assert EvenCut(2, random_state=0).fit(X).selection_.system != system
    must, cannot = true_pairs(sides[:, column], 60, 0)
    model = EvenCut(2, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    assert model.selection_.system == system
    # The columns were divided as the system says, and new points like the rows are labelled like them.
    assert (np.ptp(model.feature_scale_) == 0) == (system == "as given")
    assert adjusted_rand_score(model.predict(X), model.labels_) > 0.9
    X_new = (rng.normal(size=(400, 2)) + sides * gaps) * [300, 1]
    assert adjusted_rand_score(model.predict(X_new), sides[:, column]) > 0.6


def test_few_pairs_do_not_overrule_the_consensus(rng):
    X, _ = make_blobs([100, 100], centers=[[0, 0], [6, 0]], random_state=0)
    plain = EvenCut(2, random_state=0).fit(X)
    model = EvenCut(2, random_state=0).fit(X, cannot_link=[(0, 1), (2, 3)])
    assert (model.labels_ != plain.labels_).sum() <= 4
