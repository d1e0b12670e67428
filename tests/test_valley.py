"""Is a split real? One population is rarely called two, two populations are, and what cannot be said is said so."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from evencut import EvenCut, diagnose
from evencut.datasets import make_rings
from evencut.valley import find_valley, tree_evidence


def halves(X):
    return KMeans(2, n_init=2, random_state=0).fit_predict(X) == 1


def pair(rng, sizes, apart, n_features=2):
    X = rng.normal(size=(sum(sizes), n_features))
    X[: sizes[0], 0] += apart
    return X, np.arange(sum(sizes)) < sizes[0]


def arc(rng, n, turns):
    angle = np.sqrt(rng.uniform(0, 1, n)) * turns * 2 * np.pi + 0.5
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]) + 0.3 * rng.normal(size=(n, 2))


ONE = {
    "Gaussian": lambda rng: rng.normal(size=(200, 3)),
    "box": lambda rng: rng.uniform(size=(200, 2)),
    "heavy tails": lambda rng: rng.standard_t(3, size=(200, 3)),
    "skewed": lambda rng: rng.gamma(1.5, size=(200, 4)),
    "counts": lambda rng: rng.poisson(5, size=(200, 2)).astype(float),
    "rounded": lambda rng: np.round(2 * rng.normal(size=(200, 2))),
    "spiral": lambda rng: arc(rng, 200, 2),
}


@pytest.mark.parametrize("kind", ONE)
def test_one_population_is_rarely_called_two(kind):
    p_values = []
    for draw in range(15):
        X = ONE[kind](np.random.default_rng([17, draw]))
        p_values.append(find_valley(X, halves(X)).p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.14


@pytest.mark.parametrize("n_features", [2, 5, 10])
@pytest.mark.parametrize(("sizes", "apart"), [((150, 150), 4), ((100, 200), 4.5), ((60, 600), 7)])
def test_two_populations_are_found(sizes, apart, n_features):
    found = [find_valley(*pair(np.random.default_rng(draw), sizes, apart, n_features)).p_value for draw in range(8)]
    assert np.mean(np.array(found) <= 0.05) >= 0.75


@pytest.mark.parametrize("n_features", [2, 10, 50])
def test_a_side_a_tenth_of_the_other_is_found_in_many_columns(n_features):
    found = [find_valley(*pair(np.random.default_rng(draw), (27, 273), 6, n_features)).p_value for draw in range(8)]
    assert np.mean(np.array(found) <= 0.05) >= 0.75


def test_curved_populations_are_found():
    for X, y in (make_moons(400, noise=0.06, random_state=0), make_rings(400, random_state=0)):
        assert find_valley(X, y == 1).p_value < 0.01


def test_it_says_where_it_cannot_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    assert np.isnan(find_valley(X, np.arange(100) < 7).p_value)  # a side of seven
    assert np.isnan(find_valley((X > 0).astype(float), X[:, 0] > 0).p_value)  # two truth values a row
    assert np.isnan(find_valley(np.zeros((100, 2)), X[:, 0] > 0).p_value)


def test_many_truth_values_tell_two_populations_apart():
    rng = np.random.default_rng(0)
    side = np.arange(200) < 100
    X = (rng.uniform(size=(200, 20)) < np.where(side[:, None], 0.1, 0.9)).astype(float)
    assert find_valley(X, side).p_value < 0.001


def test_a_rare_group_among_many_points_is_seen():
    X, side = pair(np.random.default_rng(0), (40, 20_000), 12)
    assert find_valley(X, side).p_value < 0.01


def test_unit_place_order_and_repetition_do_not_matter():
    X, side = pair(np.random.default_rng(1), (150, 150), 4)
    first = find_valley(X, side).p_value
    assert find_valley(1e-9 * X + 3e-9, side).p_value == pytest.approx(first, rel=1e-3)
    order = np.random.default_rng(2).permutation(300)
    assert find_valley(X[order], side[order]).p_value == pytest.approx(first, rel=1e-6)
    assert find_valley(X, side, weights=np.full(300, 2.0)).p_value < 0.05


def test_joins_are_corrected_from_the_top_down():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(100, 2)) + centre for centre in ([0, 0], [4.2, 0], [0, 30])])
    leaf = np.repeat([0, 1, 2], 100)
    splits = tree_evidence(X, np.ones(300), leaf, np.array([[0, 1], [2, 3]]))
    assert splits.is_real().tolist() == [True, True]
    assert splits[0].adjusted >= splits[0].p_value
    assert splits[0].adjusted >= splits[1].adjusted
    # A wrong tree: the first split of the whole is none, and what lies below is not tested.
    side = np.where(X[:, 1] > 15, 2, rng.integers(0, 2, 300))
    shuffled = tree_evidence(X, np.ones(300), side, np.array([[1, 2], [0, 3]]))
    assert [split.verdict for split in shuffled] == ["not tested", "not shown"]
    assert "not tested" not in str(shuffled)
    assert shuffled[0].to_dict()["p_value"] is None


def test_a_diagnosis_tests_the_splits_of_any_labels():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)) + centre for centre in ([0, 0], [9, 0])])
    labels = np.where(X[:, 0] > 4.5, "right", np.where(X[:, 1] > 0, "left above", "left below"))
    splits = diagnose(X, labels).splits
    assert splits.is_real().tolist() == [False, True]
    assert splits[1].verdict == "two populations"
    assert splits[0].sides == (["left above"], ["left below"])
    assert "two populations" in str(splits)


def test_the_default_and_its_own_diagnosis_give_one_answer():
    for draw in range(4):
        X, _ = pair(np.random.default_rng(draw), (150, 150), 4, 3)
        model = EvenCut(2, random_state=0).fit(X)
        found = model.evidence_.is_real()[-1]
        assert found == model.diagnose().splits.is_real()[-1]
        assert (model.diagnose().verdict == "one body") <= (not found)


def test_every_join_of_the_tree_has_evidence():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)) + centre for centre in ([0, 0], [9, 0], [0, 30])])
    model = EvenCut(3, random_state=0).fit(X)
    assert len(model.evidence_) == len(model.tree_)
    assert model.evidence_.is_real().sum() == 2
    assert model.evidence_[-1].sides == tuple(model.tree_[-1, :2].astype(int))
    assert model.evidence_[-1].sizes == (100, 200) or model.evidence_[-1].sizes == (200, 100)


def test_with_a_significance_only_real_splits_are_cut():
    rng = np.random.default_rng(0)
    two = np.vstack([rng.normal(size=(200, 3)), rng.normal(size=(200, 3)) + 6])
    model = EvenCut(4, significance=0.05, random_state=0).fit(two)
    assert model.n_clusters_ == 2
    assert np.bincount(model.labels_).tolist() == [200, 200]
    assert model.predict(two).tolist() == model.labels_.tolist()
    assert model.predict_proba(two).shape == (400, 2)
    one = EvenCut(3, significance=0.05, random_state=0).fit(rng.normal(size=(300, 3)))
    assert one.n_clusters_ == 1
    with pytest.raises(ValueError, match="significance=2"):
        EvenCut(significance=2).fit(two)
