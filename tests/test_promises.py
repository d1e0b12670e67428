"""What a new user takes for granted, one promise for each test."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import check_estimator

from evencut import EvenCut, KernelClustering, KernelKMeans, LandmarkClustering, NormalizedCut, diagnose, save


def linked_moons():
    """Moons that touch, and links after which another candidate is first."""
    for seed in range(20):
        X, y = make_moons(300, noise=0.2, random_state=seed)
        free = EvenCut(2, random_state=0).fit(X)
        rows = np.random.default_rng(seed).permutation(len(X))[:60]
        cannot = [(int(p), int(q)) for p, q in rows.reshape(-1, 2) if y[p] != y[q]]
        must = [(int(p), int(q)) for p, q in rows.reshape(-1, 2) if y[p] == y[q]]
        linked = EvenCut(2, random_state=0).fit(X, must_link=must, cannot_link=cannot)
        if linked.selection_.best.kind != free.selection_.best.kind:
            return free, linked
    raise AssertionError("no links put another candidate first")


def test_confidence_means_the_same_after_links_chose_another_candidate():
    free, linked = linked_moons()
    for model in (free, linked):
        agreements, votes = model.selection_.agreements[0], model.selection_.votes
        expected = (np.maximum(agreements, 0) ** 2 @ votes) ** 0.75
        assert model.confidence_ == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_no_surer_than_the_confidence(seed):
    X = np.random.default_rng(seed).normal(size=(400, 6))
    model = EvenCut(2, random_state=0).fit(X)
    # The share of right labels at which two clusters have this adjusted Rand index.
    expected = (1 + np.sqrt(model.confidence_)) / 2
    assert model.confidence_ < 0.6
    assert model.predict_proba(X).max(axis=1).mean() < expected + 0.05
    assert model.probabilities_.mean() < expected + 0.05


def unit_rows(n_columns):
    rng = np.random.default_rng(0)
    X = 0.4 * rng.normal(size=(3, n_columns))[np.repeat([0, 1, 2], 100)] + 0.3 * rng.normal(size=(300, n_columns))
    return X / np.linalg.norm(X, axis=1)[:, None]


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_a_bandwidth_that_makes_the_kernel_an_identity_is_warned_of(rule):
    from evencut.kernels import Gaussian

    X = unit_rows(256)
    message = rf"bandwidth='{rule}' is too narrow for these 256 columns.*bandwidth='median'"
    with pytest.warns(UserWarning, match=message):
        KernelClustering(3, kernel=Gaussian(rule), equalize="exact", random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = KernelClustering(3, kernel=Gaussian("median"), equalize="exact", random_state=0).fit_predict(X)
        KernelClustering(2, kernel=Gaussian(rule), random_state=0).fit(X[:, :3])
    assert adjusted_rand_score(np.repeat([0, 1, 2], 100), labels) == 1


def test_every_estimator_passes_the_checks_of_scikit_learn_but_two_that_are_documented():
    failed = {}
    for model in (EvenCut(2), KernelClustering(2), LandmarkClustering(2)):
        results = check_estimator(model, on_fail=None, on_skip=None)
        failed[type(model).__name__] = {r["check_name"] for r in results if r["status"] == "failed"}
    documented = {"check_estimator_sparse_array", "check_estimator_sparse_matrix"}
    assert failed == dict.fromkeys(failed, documented)


@pytest.mark.parametrize(
    "points",
    [make_moons(300, noise=0.06, random_state=1), make_circles(400, noise=0.05, factor=0.5, random_state=0)],
    ids=["moons", "circles"],
)
@pytest.mark.parametrize("n_neighbors", [10, 30])
def test_a_sparse_graph_of_few_neighbours_gives_the_clusters_of_all_distances(points, n_neighbors):
    X, y = points
    graph = kneighbors_graph(X, n_neighbors, mode="distance")
    model = EvenCut(metric="precomputed", random_state=0).fit(graph)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(4))
def test_a_tenth_of_the_rows_ten_deviations_away_is_a_cluster(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [1000, 100])
    X = rng.normal(size=(1100, 10)) + 10 * np.eye(10)[0] * y[:, None]
    model = EvenCut(random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) == 1


@pytest.mark.parametrize("seed", range(4))
def test_twenty_rows_twelve_deviations_from_sixty_thousand_are_a_cluster(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60_020) >= 60_000
    X = rng.normal(size=(len(y), 2)) + 12 * np.eye(2)[0] * y[:, None]
    assert adjusted_rand_score(y, EvenCut(2, random_state=0).fit_predict(X)) == 1


@pytest.mark.parametrize(
    ("values", "n_copies"),
    [(np.repeat([[False], [True]], 5, axis=1), 60), (np.array([[0.0, 0.0], [5.0, 1.0]]), 50)],
    ids=["truth values", "two points"],
)
def test_two_groups_of_equal_rows_are_two_clusters(values, n_copies):
    y = np.repeat([0, 1], n_copies)
    model = EvenCut(random_state=0).fit(values[y])
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(values[y]), model.labels_)
    assert EvenCut(random_state=0).fit(values[[0, 0, 1, 1]]).n_clusters_ == 1


@pytest.mark.long
def test_a_million_points_are_clustered_like_fewer(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    worms = pytest.importorskip("benchmarks.data").worms
    for seed in (0, 2):
        X, y = worms(1_000_000, 20, random_state=seed)
        assert adjusted_rand_score(y, EvenCut(20, random_state=0).fit_predict(X)) > 0.95


@pytest.mark.parametrize("n_clusters", [2, "auto"])
def test_clusters_of_equal_rows_are_certain(n_clusters):
    rows = np.repeat([[0.0, 0.0], [5.0, 1.0]], 50, axis=0)
    model = EvenCut(n_clusters, random_state=0).fit(rows)
    assert model.confidence_ == 1
    assert model.probabilities_.min() > 0.95
    assert np.isnan(EvenCut(random_state=0).fit(np.ones((50, 2))).confidence_)


@pytest.mark.parametrize("estimator", [EvenCut, KernelClustering, KernelKMeans, NormalizedCut, LandmarkClustering])
def test_a_plain_fit_warns_of_nothing(estimator):
    X, _ = make_moons(120, noise=0.05, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(2, random_state=0).fit(X).predict(X)


def test_bad_weights_are_named():
    X, _ = make_moons(60, random_state=0)
    for estimator in (EvenCut(2), KernelClustering(2), LandmarkClustering(2, n_landmarks=20)):
        for weights, message in (
            (np.ones(3), r"sample_weight has shape \(3,\); give one weight for each of 60 rows"),
            (np.full(60, np.nan), "sample_weight must be finite and not negative"),
            (-np.ones(60), "sample_weight must be finite and not negative"),
            (np.zeros(60), "sample_weight is zero for every point; give at least one non-zero weight"),
        ):
            with pytest.raises(ValueError, match=message):
                estimator.fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ("points.csv", "X is the text 'points.csv'; read the file first"),
        (Path("points.csv"), "X is the text 'points.csv'; read the file first"),
        ({"a": [1, 2, 9]}, "X is a dict; give an array"),
        (None, "X is a NoneType; give an array"),
        (iter([[1, 2], [3, 4]]), "X is a list_iterator; give an array"),
    ],
)
def test_what_is_no_table_is_named(X, said):
    for call in (EvenCut(2).fit, KernelClustering(2).fit, LandmarkClustering(2).fit, lambda X: diagnose(X, [0, 1])):
        with pytest.raises(TypeError, match=said):
            call(X)


def test_a_model_is_not_saved_to_a_folder_that_does_not_exist(tmp_path):
    model = EvenCut(2, random_state=0).fit(make_moons(60, random_state=0)[0])
    with pytest.raises(FileNotFoundError, match=r"its folder does not exist.*model\.skops"):
        save(model, tmp_path / "absent" / "model.skops")
