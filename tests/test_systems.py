"""Tables in any units: candidates are found in several coordinate systems, and new points follow the one chosen."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import norm, rankdata
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut
from evencut.points import COMPONENTS, GIVEN, ONE_DEVIATION, RANKS, coordinate_systems, prepare_points
from evencut.selection import NeighborGraphs
from evencut.selection.mixtures import KINDS, fit_mixture, n_parameters, neighbor_log_density


def ages_and_incomes(seed=0, n=150):
    """Three groups of people in years and in money."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n)
    age = rng.normal(np.array([25, 45, 70])[y], 4)
    income = rng.normal(np.array([20_000, 60_000, 30_000])[y], 5000)
    return np.column_stack([age, income]), y


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_age_and_income_are_clustered_whatever_their_units(unit):
    X, y = ages_and_incomes()
    assert adjusted_rand_score(y, EvenCut(3, random_state=0).fit_predict(X * [1, unit])) > 0.95


def test_units_are_evened_out_before_many_rows_are_condensed():
    X, y = ages_and_incomes(n=3000)
    assert adjusted_rand_score(y, EvenCut(3, random_state=0).fit_predict(X)) > 0.95


def test_ranks_are_normal_scores_and_know_ties_and_weights(rng):
    X = np.column_stack([rng.normal(size=(40, 3)), rng.integers(4, size=40), np.ones(40)]).astype(float)
    *_, ranks = coordinate_systems(X, np.ones(40), np.array([1.0, 1.0, 5.0, 1.0, 1.0]))
    assert ranks.name == RANKS
    # The constant column is left out, and coordinates are rounded to a small part of a usual length.
    expected = norm.ppf((np.apply_along_axis(rankdata, 0, X[:, :4]) - 0.5) / 40)
    np.testing.assert_allclose(ranks(X), expected, atol=1e-4)
    repeated = np.repeat(np.arange(40), rng.integers(1, 4, 40))
    counts = np.bincount(repeated).astype(float)
    *_, weighted = coordinate_systems(X, counts, np.ones(5))
    *_, copied = coordinate_systems(X[repeated], np.ones(len(repeated)), np.ones(5))
    np.testing.assert_allclose(weighted(X), copied(X), atol=1e-4)


def test_new_points_follow_the_system_that_was_chosen(monkeypatch):
    """Long tails: as given, most of the spread of either column is in a few values."""
    monkeypatch.setattr("evencut.selection.graphs.coordinate_systems", lambda *table: [coordinate_systems(*table)[-1]])
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 300)
    X = np.exp(rng.normal(size=(600, 4)) * 0.8 + 4 * np.column_stack([y, 1 - y, y, y])) ** 2
    model = EvenCut(2, random_state=0).fit(X[::2])
    assert model.selection_.system == RANKS
    assert adjusted_rand_score(y[1::2], model.predict(X[1::2])) > 0.95
    assert adjusted_rand_score(model.labels_, model.predict(X[::2])) > 0.95
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    # Rows of weight zero are labelled as new points are.
    weights = (np.arange(600) % 2 == 0).astype(float)
    left_out = EvenCut(2, random_state=0).fit(X, sample_weight=weights)
    assert adjusted_rand_score(y, left_out.labels_) > 0.95


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_are_brought_to_a_system_as_arrays_are(rng, dtype):
    torch = pytest.importorskip("torch", reason="make test-gpu installs torch")
    X = np.column_stack([rng.normal(size=(40, 2)), rng.integers(4, size=40), np.ones(40)]).astype(dtype)
    new = np.vstack([X, 3 * rng.normal(size=(9, 4))]).astype(dtype)
    for system in coordinate_systems(X, np.ones(40), np.array([1.0, 30.0, 5.0, 1.0])):
        there = system(torch.as_tensor(new)).numpy()
        assert there.dtype == dtype
        np.testing.assert_allclose(there, system(new), rtol=1e-5, atol=1e-5)


def test_overlapping_blobs_are_found_about_as_well_as_by_kmeans():
    ours, theirs = [], []
    for seed in range(6, 12):
        X, y = make_blobs(300, centers=3, cluster_std=2, random_state=seed)
        ours.append(adjusted_rand_score(y, EvenCut(3, random_state=0).fit_predict(X)))
        theirs.append(adjusted_rand_score(y, KMeans(3, n_init=10, random_state=0).fit_predict(X)))
    assert np.mean(ours) > np.mean(theirs) - 0.05


def test_systems_start_from_one_deviation_and_lead_back_to_the_table(rng):
    X = rng.normal(size=(60, 3)) * [1, 30, 5]
    table = prepare_points(X, scale="standard")
    given, one = coordinate_systems(table.points, table.weights, table.feature_scale)
    assert (given.name, one.name) == (GIVEN, ONE_DEVIATION)
    rows = table.point_of_row
    # About the median, and rounded to a small part of a usual length.
    back = given(table.points)[rows] * table.feature_scale.max()
    np.testing.assert_allclose(back, X - np.median(X, axis=0), atol=1e-4 * X.std())
    np.testing.assert_allclose(one(table.points)[rows].std(axis=0), 1, rtol=1e-4)


def test_only_the_system_asked_for_is_compared():
    X, _ = ages_and_incomes()
    wider = np.hstack([X, X[:, ::-1]])
    for table, scale, expected in (
        (wider, "standard", 1),
        (wider, None, 1),
        (wider, "auto", 3),
        (X, "auto", 2),
    ):
        selection = EvenCut(3, scale=scale, random_state=0).fit(table).selection_
        assert len({candidate.system for candidate in selection.candidates}) == expected
    # Coordinates of one unit are one system with both votes.
    selection = EvenCut(3, random_state=0).fit(wider / wider.std(axis=0)).selection_
    votes = dict.fromkeys((GIVEN, RANKS), 0.0)
    for candidate, vote in zip(selection.candidates, selection.votes):
        votes[candidate.system] += vote
    assert votes == pytest.approx({GIVEN: 2 / 3, RANKS: 1 / 3})


def test_columns_that_would_be_lost_beside_another_are_not_compared_as_given(rng):
    X = rng.normal(size=(30, 3))
    lost = coordinate_systems(X, np.ones(30), np.array([1.0, 1.0, 1e300]))
    assert [(system.name, system.votes) for system in lost] == [("one deviation", 2)]
    kept = coordinate_systems(X, np.ones(30), np.array([1.0, 1.0, 1e9]))
    assert [(system.name, system.votes) for system in kept] == [("as given", 1), ("one deviation", 1)]


def test_a_constant_column_is_left_out_of_every_system(rng):
    X = np.column_stack([rng.normal(size=(40, 4)), np.ones(40)])
    for system in coordinate_systems(X, np.ones(40), np.array([1.0, 30.0, 5.0, 1.0, 1.0])):
        assert system(X).shape == (40, 4)


@pytest.mark.parametrize("n_values", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_what_only_one_column_says_is_no_cluster(n_values, seed):
    """Three clear groups in two columns, beside one of a few values that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 3
    X = np.array([[0, 0], [8, 0], [4, 7]])[y] + rng.normal(size=(300, 2))
    noise = rng.integers(n_values, size=300)
    columns = noise[:, None] if n_values == 2 else np.eye(n_values)[noise]
    model = EvenCut(3, random_state=0).fit(np.column_stack([X, columns]))
    assert model.selection_.system == COMPONENTS
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(y, EvenCut(random_state=0).fit_predict(np.column_stack([X, columns]))) > 0.95


def test_what_several_columns_of_two_values_say_together_is_a_cluster():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = (rng.random((300, 12)) < np.where(np.arange(12) % 3 == y[:, None], 0.9, 0.1)).astype(float)
    model = EvenCut(3, random_state=0).fit(X)
    assert model.selection_.system == COMPONENTS
    assert adjusted_rand_score(y, model.labels_) > 0.85
    # New rows are brought to the components too.
    assert adjusted_rand_score(model.labels_, model.predict(X)) > 0.9


def test_rows_of_unit_length_are_compared_by_cosine():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 8
    X = rng.normal(size=(8, 64))[y] + 0.8 * rng.normal(size=(400, 64))
    X *= rng.uniform(0.1, 10, 400)[:, None]
    model = EvenCut(metric="cosine", random_state=0).fit(X)
    assert (model.n_clusters_, model.selection_.system) == (8, GIVEN)
    assert adjusted_rand_score(y, model.labels_) > 0.98


def test_neighbours_predict_a_density_as_its_formula_says(rng):
    X = rng.normal(size=(60, 2))
    graphs = NeighborGraphs.of(X)
    away = np.linalg.norm(X[:, None] - X[None], axis=2)
    radius = np.sort(away, axis=1)[:, 10]
    by_hand = []
    for width in (0.25, 0.5, 1.0, 2.0, 4.0):
        variance = width * radius**2 / 2
        seen = np.exp(-(away**2) / (2 * variance)) / (2 * np.pi * variance) / 60
        near = np.zeros_like(seen, dtype=bool)
        np.put_along_axis(near, graphs.indices[:, 1:], True, axis=1)
        by_hand.append(np.log(np.where(near, seen, 0).sum(axis=1)))
    best = max(by_hand, key=np.mean)
    np.testing.assert_allclose(neighbor_log_density(graphs, np.arange(60)), best, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_of_every_kind_are_those_of_scikit_learn(kind, rng):
    from sklearn.mixture import GaussianMixture

    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 3)) * [1, 2, 3] + 5 * y[:, None]
    found = fit_mixture(X, np.full(400, 1 / 400), y, 2, kind)
    names = {"full": "full", "tied": "tied", "diagonal": "diag"}
    peer = GaussianMixture(2, covariance_type=names[kind], means_init=[X[y == k].mean(axis=0) for k in (0, 1)])
    peer.fit(X)
    assert found.log_likelihood == pytest.approx(peer.score(X), abs=0.01)
    assert n_parameters(kind, 2, 3) == peer._n_parameters()
    order = np.argsort(found.means[:, 0]), np.argsort(peer.means_[:, 0])
    np.testing.assert_allclose(found.means[order[0]], peer.means_[order[1]], atol=0.1)


@pytest.mark.parametrize("far", [False, True])
def test_systems_side_by_side_find_what_they_find_one_after_another(far):
    X, _ = make_blobs(300, n_features=5, centers=4, cluster_std=3.0, random_state=1)
    X *= [1, 10, 100, 1, 1]
    if far:
        X[7] *= 1e6
    models = [EvenCut(4, n_jobs=n, random_state=0).fit(X) for n in (1, 3)]
    ours, theirs = ([candidate.labels.tolist() for candidate in model.selection_.candidates] for model in models)
    assert ours == theirs
    assert models[0].selection_.consensus.tolist() == models[1].selection_.consensus.tolist()


def test_threads_leave_the_filters_of_warnings_as_they_were():
    X, _ = make_blobs(200, n_features=5, centers=3, random_state=1)
    before = list(warnings.filters)
    for seed in range(5):
        EvenCut(3, n_jobs=3, random_state=seed).fit(X * [1, 10, 100, 1, 1])
    assert warnings.filters == before


@pytest.mark.parametrize("n_words", [2, 3])
def test_a_random_word_beside_clear_groups_in_a_frame_is_no_cluster(n_words, rng):
    pd = pytest.importorskip("pandas")
    X, y = make_blobs(300, centers=[[0, 0], [7, 0], [0, 7]], random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(word=np.array(["x", "y", "z"])[rng.integers(0, n_words, 300)])
    for n_clusters in (3, "auto"):
        labels = EvenCut(n_clusters, random_state=0).fit(frame).labels_
        assert adjusted_rand_score(y, labels) > 0.85


def test_a_filled_word_is_still_a_word():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    words = np.where(rng.random((120, 6)) < 0.9, y[:, None], 1 - y[:, None]).astype(str).astype(object)
    words[rng.random((120, 6)) < 0.1] = None
    with pytest.warns(UserWarning, match="filled from the nearest rows"):
        model = EvenCut(2, random_state=0).fit(pd.DataFrame(words, columns=list("abcdef")))
    assert adjusted_rand_score(y, model.labels_) > 0.85
