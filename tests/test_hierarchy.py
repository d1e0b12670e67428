"""A tree over the clusters: scipy reads it, its levels are nested, and the fitted clusters are one of them."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import evencut
from evencut import EvenCut, KernelClustering


@pytest.fixture(scope="module")
def nested():
    """Two pairs of blobs, near in a pair and far from the other."""
    centres = [[0, 0], [7, 0], [60, 0], [67, 0]]
    X, truth = make_blobs(400, centers=centres, random_state=0)
    return X, truth, EvenCut(4, random_state=0).fit(X)


def test_the_linkage_is_one_of_scipy(nested):
    _, _, model = nested
    assert is_valid_linkage(model.tree_)
    assert model.leaf_of_row_.max() == len(model.tree_)
    by_scipy = fcluster(model.tree_, 4, criterion="maxclust")[model.leaf_of_row_]
    assert adjusted_rand_score(by_scipy, model.cut(4)) == 1
    assert model.tree_[-1, 3] == len(model.tree_) + 1


def test_levels_are_nested_and_hold_the_fitted_clusters(nested):
    _, truth, model = nested
    np.testing.assert_array_equal(model.cut(4), model.labels_)
    assert adjusted_rand_score(truth // 2, model.cut(2)) == 1
    assert (model.cut(1) == 0).all()
    for k in range(1, 12):
        coarse, fine = model.cut(k), model.cut(k + 1)
        assert len(np.unique(coarse)) == k
        assert len(np.unique(np.stack([coarse, fine]), axis=1).T) == k + 1
        assert (np.diff(np.bincount(coarse)) <= 0).all() or k == 4


def test_a_cut_is_about_as_good_as_a_fit(nested):
    X, _, model = nested
    for k in (2, 3, 6):
        fitted = EvenCut(k, random_state=0).fit(X)
        problem = evencut.criteria.normalized_cut(fitted.affinity_)
        assert problem.energy(model.cut(k)) <= problem.energy(fitted.labels_) + 0.05 * k


def test_rows_of_no_weight_and_affinities_have_leaves(nested):
    X, _, _ = nested
    weight = np.ones(400)
    weight[::50] = 0
    model = EvenCut(4, random_state=0).fit(X, sample_weight=weight)
    assert (model.leaf_of_row_ >= 0).all()
    assert adjusted_rand_score(model.cut(2), X[:, 0] > 33) == 1
    affinity = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 8)
    given = KernelClustering(4, kernel="precomputed", random_state=0).fit(affinity)
    assert adjusted_rand_score(given.cut(2), model.cut(2)) == 1


def test_a_saved_model_keeps_its_tree(nested, tmp_path):
    _, _, model = nested
    evencut.save(model, tmp_path / "m.skops")
    again = evencut.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.cut(3), model.cut(3))
    np.testing.assert_array_equal(again.tree_, model.tree_)


def test_stable_numbers_are_marked(nested):
    plt = pytest.importorskip("matplotlib.pyplot")
    _, _, model = nested
    ax = model.plot_tree()
    assert "4 clusters" in {text.get_text() for text in ax.texts}
    assert model.plot_tree(ax) is ax
    plt.close("all")


@pytest.mark.parametrize(("k", "message"), [(0, "whole number of at least 1"), (1000, "more than the .* leaves")])
def test_a_wrong_number_is_named(nested, k, message):
    with pytest.raises(ValueError, match=message):
        nested[2].cut(k)
