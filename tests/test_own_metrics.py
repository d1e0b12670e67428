"""Metrics of one's own: functions, places on the globe, sets, other names of the same, and neighbour graphs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from evencut import EvenCut, KernelClustering, diagnose

X, TRUTH = make_blobs(120, centers=[[0, 0], [9, 0]], random_state=0)


def taxi(one, other):
    return np.abs(one - other).sum()


def test_a_function_of_two_rows_is_a_metric():
    named = EvenCut(2, metric="manhattan", random_state=0).fit(X)
    own = EvenCut(2, metric=taxi, random_state=0).fit(X)
    np.testing.assert_array_equal(own.labels_, named.labels_)
    np.testing.assert_array_equal(own.predict(X[:5]), own.labels_[:5])
    assert own.predict_proba(X[:3]).shape == (3, 2)
    assert diagnose(X, own.labels_, metric=taxi).verdict == "ok"


@pytest.mark.parametrize(("name", "same"), [("l1", "manhattan"), ("cityblock", "manhattan"), ("l2", "euclidean")])
def test_other_names_mean_the_same(name, same):
    found = [EvenCut(2, metric=metric, random_state=0).fit(X) for metric in (name, same)]
    assert adjusted_rand_score(found[0].labels_, found[1].labels_) == 1


def test_places_are_compared_across_the_date_line(rng):
    fiji = np.column_stack([rng.normal(-17, 2, 60), 180 + rng.normal(0, 3, 60)])
    fiji[:, 1] = (fiji[:, 1] + 180) % 360 - 180
    assert fiji[:, 1].min() < -170 and fiji[:, 1].max() > 170
    chile = np.column_stack([rng.normal(-33, 2, 60), rng.normal(-70, 3, 60)])
    places = np.radians(np.vstack([fiji, chile]))
    model = EvenCut(2, metric="haversine", random_state=0).fit(places)
    assert adjusted_rand_score(model.labels_, np.arange(120) // 60) == 1
    assert model.predict(np.radians([[-17.0, 179.0], [-17.0, -179.0]])).tolist() == [model.labels_[0]] * 2
    with pytest.raises(ValueError, match=r"latitude -3.*takes radians.*np\.radians\(X\)"):
        EvenCut(2, metric="haversine").fit(np.vstack([chile, fiji]))
    with pytest.raises(ValueError, match="takes latitude and longitude, but X has 3 columns"):
        EvenCut(2, metric="haversine").fit(rng.normal(size=(20, 3)))


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "dice"])
def test_sets_and_words_are_compared(metric, rng):
    group = np.arange(80) // 40
    has = rng.random((80, 12)) < np.where((np.arange(12) < 6) == (group[:, None] == 0), 0.8, 0.1)
    model = EvenCut(2, metric=metric, random_state=0).fit(has.astype(float))
    assert adjusted_rand_score(model.labels_, group) > 0.8
    model.fit(pd.DataFrame(np.where(has, "yes", "no")))
    assert adjusted_rand_score(model.labels_, group) > 0.7


def test_a_neighbour_graph_is_sparse_distances():
    graph = kneighbors_graph(X, 30, mode="distance")
    model = EvenCut(2, metric="precomputed", random_state=0).fit(graph)
    assert adjusted_rand_score(model.labels_, TRUTH) == 1
    np.testing.assert_array_equal(model.predict(graph[:4]), model.labels_[:4])
    kernel = KernelClustering(2, kernel="knn", metric="precomputed", random_state=0).fit(graph)
    assert adjusted_rand_score(kernel.labels_, TRUTH) == 1


@pytest.mark.parametrize("value", [-1.0, np.nan])
def test_what_is_no_distance_is_named(value):
    with pytest.raises(ValueError, match=r"metric='broken' gives (-1|nan) for rows"):

        def broken(one, other):
            return value

        EvenCut(2, metric=broken).fit(X)
