"""Diagnosis of real tables: points prepared as the estimators do it, overlap told from bias, and cures tried first."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import evencut
from evencut import EvenCut, KernelKMeans, diagnose
from evencut.datasets import make_clumped_moons
from evencut.kernels import Gaussian


@pytest.fixture(scope="module")
def moons():
    return make_clumped_moons(600, clump=0.5, random_state=0)


def two_blobs(n_each):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(n_each, 2)), rng.normal(size=(n_each, 2)) + 8]), np.repeat([0, 1], n_each)


# ---- the points as the estimator sees them --------------------------------------------------------------------


def wine():
    data = load_wine()
    return data.data, data.target


def test_columns_are_scaled_as_the_estimator_does_and_the_report_says_so():
    X, _ = wine()
    labels = EvenCut(3, random_state=0).fit_predict(X)
    report = diagnose(X, labels)
    assert "standard deviations" in "\n".join(report.preparation)
    assert "standard deviations" in str(report)
    by_hand = diagnose(X / X.std(axis=0), labels, scale=None)
    assert by_hand.preparation == []
    assert [row.verdict for row in by_hand.clusters] == [row.verdict for row in report.clusters]
    assert by_hand.clusters[0].density == pytest.approx(report.clusters[0].density)
    assert diagnose(X, labels, scale=None).clusters[0].density != pytest.approx(report.clusters[0].density, abs=0.01)


def test_a_good_clustering_of_raw_wine_is_not_called_biased():
    X, truth = wine()
    labels = EvenCut(3, random_state=2).fit_predict(X)
    assert adjusted_rand_score(truth, labels) > 0.8
    report = diagnose(X, labels)
    assert report.verdict == "overlap"
    assert report.code == ""


@pytest.mark.parametrize("times", [2, 9])
def test_repetition_and_weights_mean_the_same(moons, times):
    X, _ = moons
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
    counts = np.where(X[:, 0] > 0.5, times, 1)
    repeated = diagnose(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    weighted = diagnose(X, labels, sample_weight=counts)
    assert repeated.n_points == counts.sum()
    assert repeated.n_distinct == weighted.n_distinct == 600
    assert f"{counts.sum() - 600} repeated rows were merged" in str(repeated)
    assert repeated.clusters == weighted.clusters
    assert repeated.confidence == weighted.confidence
    assert weighted.clusters[0].size == counts[labels == 0].sum()


def test_equal_weights_change_nothing(moons):
    X, y = moons
    plain = diagnose(X, y)
    weighted = diagnose(X, y, sample_weight=np.full(600, 2.0))
    assert [row.density for row in weighted.clusters] == pytest.approx([row.density for row in plain.clusters])
    assert weighted.verdict == plain.verdict
    assert diagnose(X, y, sample_weight=np.r_[0.0, np.ones(599)]).clusters[y[0]].size == (y == y[0]).sum() - 1


def test_the_truth_of_repeated_moons_is_ok_and_a_spoilt_one_is_not(moons):
    X, y = moons
    rows = np.repeat(np.arange(600), 30)
    assert diagnose(X[rows], y[rows]).verdict == "ok"
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
    assert diagnose(X[rows], labels[rows]).verdict == "equal sizes"


def test_heaps_of_copies_are_clusters():
    X = np.repeat(np.eye(6), 10, axis=0)
    report = diagnose(X, np.repeat([0, 1, 2], 20))
    assert report.verdict == "ok"
    assert report.n_distinct == 6


def test_copies_with_different_labels_count_as_most_of_them():
    X, y = two_blobs(200)
    rows, labels = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    labels[::3] = 1 - labels[::3]  # one of three copies says otherwise
    report = diagnose(rows, labels)
    assert report.verdict == "ok"
    assert "400 rows have a copy with another label" in str(report)
    assert [row.size for row in report.clusters] == [600, 600]


def test_a_cluster_that_only_shares_points_of_others_is_an_overlap():
    X, y = two_blobs(100)
    rows, labels = np.vstack([X, X, X[:30]]), np.concatenate([y, y, np.full(30, 2)])
    report = diagnose(rows, labels)
    assert [row.verdict for row in report.clusters] == ["ok", "ok", "overlap"]
    assert report.clusters[2].size == 30
    assert report.verdict == "overlap"
    assert not report.biased


def test_immense_and_tiny_values_are_no_trouble(moons):
    X, y = moons
    for unit in (1e200, 1e-200):
        assert diagnose(X * unit, y).verdict == "ok"


# ---- overlap, and cures that were tried ------------------------------------------------------------------------


def test_one_body_cut_in_two_is_no_bias():
    X = np.random.default_rng(0).normal(size=(500, 2))
    report = diagnose(X, X[:, 0] > 0)
    assert report.verdict == "one body"
    assert not report.biased
    assert report.code == ""
    assert report.cures[0].after > 0.4
    assert report.cures[0].n_bodies == 1
    alone = diagnose(X, X[:, 0] > 0, cures=False)
    assert alone.verdict == "equal sizes"
    assert alone.cures == []


@pytest.mark.parametrize("kind", ["moons", "repeated", "wine", "weights", "noise", "float32", "unscaled"])
def test_the_advised_line_makes_what_was_tried(moons, kind):
    X, _ = moons
    options: dict = {}
    if kind == "wine":
        X = wine()[0]
    elif kind == "unscaled":
        options = {"scale": None}
    elif kind == "repeated":
        X = np.repeat(X, np.random.default_rng(0).integers(1, 5, len(X)), axis=0)
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "weights":
        options = {"sample_weight": np.random.default_rng(0).integers(1, 5, len(X)).astype(float)}
    k = 3 if X.shape[1] > 2 else 2
    labels = KMeans(k, n_init=5, random_state=0).fit_predict(X)
    if kind == "noise":
        labels[::7] = -1
    cure = diagnose(X, labels, **options).cures[0]
    found: dict = {"labels": labels}
    exec(cure.code, {"evencut": evencut, "X": X, **options}, found)
    np.testing.assert_array_equal(found["labels"], cure.labels[labels != -1])
    assert (cure.labels[labels == -1] == -1).all()


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "precomputed"])
def test_the_advised_line_keeps_the_metric(metric):
    X, _ = make_clumped_moons(200, random_state=0)
    X = X + 3
    given = cdist(X, X) if metric == "precomputed" else X
    cure = diagnose(given, X[:, 0] > np.median(X[:, 0]), metric=metric).cures[0]
    assert f"metric={metric!r}" in cure.code
    found: dict = {}
    exec(cure.code, {"evencut": evencut, "X": given}, found)
    np.testing.assert_array_equal(found["labels"], cure.labels)


def test_the_advised_line_makes_what_was_tried_where_points_are_condensed():
    X, _ = make_clumped_moons(6000, clump=0.5, random_state=0)
    labels = KMeans(2, n_init=2, random_state=0).fit_predict(X)
    report = diagnose(X, labels)
    assert report.cures[0].offered
    np.testing.assert_array_equal(EvenCut(2, random_state=0).fit_predict(X), report.cures[0].labels)


def test_a_cure_is_judged_before_and_after(moons):
    X, _ = moons
    biased_report = diagnose(X, KernelKMeans(2, kernel=Gaussian(0.1), random_state=0).fit_predict(X))
    (cure,) = biased_report.cures
    assert cure.offered
    assert cure.better
    assert cure.verdict == "ok"
    assert cure.before >= 0.45
    assert cure.after == 0
    assert cure.moved
    assert "into a valley" in biased_report.advice
    assert f"before {cure.before:.0%}, after 0%" in str(biased_report)
    assert biased_report.code == cure.code
    assert biased_report.to_dict()["cures"] == [cure.to_dict()]
    assert "labels" not in cure.to_dict()


def test_a_cure_on_a_sample_says_so():
    X, _ = make_clumped_moons(3000, clump=0.5, random_state=0)
    report = diagnose(X, KMeans(2, n_init=2, random_state=0).fit_predict(X), max_points=1000)
    assert report.cures[0].n_tried == 1000
    assert report.cures[0].labels is None
    assert "on a random sample of 1000 points" in report.advice
    assert report.biased


def test_a_fitted_model_is_diagnosed_on_its_own_points():
    X, _ = wine()
    rows = np.repeat(X, 2, axis=0)
    model = EvenCut(3, random_state=0).fit(rows)
    report = model.diagnose()
    assert report.n_points == 356
    assert report.n_distinct == 178
    assert sum(row.size for row in report.clusters) == 356
    assert [row.size for row in report.clusters] == np.bincount(model.labels_).tolist()
    assert "standard deviations" in str(report)
    given = diagnose(rows, model.labels_)
    assert [row.verdict for row in given.clusters] == [row.verdict for row in report.clusters]
    raw = KernelKMeans(3, kernel="gaussian", scale=None, random_state=0).fit(X)
    (cure,) = raw.diagnose().cures
    assert "scale=None" in cure.code
    found: dict = {}
    exec(cure.code, {"evencut": evencut, "X": X}, found)
    np.testing.assert_array_equal(found["labels"], cure.labels)
